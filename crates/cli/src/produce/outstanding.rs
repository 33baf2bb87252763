//! Records that were sent and whose outcome is not known yet.

use std::{
    collections::VecDeque,
    future::Future,
    time::{Duration, Instant},
};

/// Deliveries that may be outstanding. When so many are, sending waits for the oldest.
const MAX_OUTSTANDING: usize = 100_000;

/// A delivery: it can be waited for, and looked at.
pub(crate) trait Pending: Future + Unpin {
    /// The outcome, if it is there.
    fn result(&mut self) -> Option<Self::Output>;
}

/// Deliveries in the order of sending. They are looked at in that order, without a task or an allocation for each: an
/// acknowledgement that overtakes another partition's is noticed when the older one is there.
#[derive(Debug)]
pub(crate) struct Outstanding<D> {
    queue: VecDeque<Sent<D>>,
}

#[derive(Debug)]
struct Sent<D> {
    delivery: D,
    at: Instant,
    line: u64,
    bytes: usize,
}

/// A delivery's outcome.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Settled<T> {
    pub(crate) outcome: T,
    /// From the call of `send` until the outcome was noticed.
    pub(crate) latency: Duration,
    pub(crate) line: u64,
    pub(crate) bytes: usize,
}

impl<D: Pending> Outstanding<D> {
    pub(crate) fn new() -> Self {
        Self { queue: VecDeque::new() }
    }

    pub(crate) fn push(&mut self, delivery: D, at: Instant, line: u64, bytes: usize) {
        self.queue.push_back(Sent { delivery, at, line, bytes });
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.queue.len() >= MAX_OUTSTANDING
    }

    /// Takes the oldest ones as far as they have an outcome, without waiting.
    pub(crate) fn harvest(&mut self, mut settle: impl FnMut(Settled<D::Output>)) {
        let mut now = None;
        while let Some(sent) = self.queue.front_mut() {
            let Some(outcome) = sent.delivery.result() else { return };
            let now = *now.get_or_insert_with(Instant::now);
            settle(Settled { outcome, latency: now - sent.at, line: sent.line, bytes: sent.bytes });
            self.queue.pop_front();
        }
    }

    /// Waits for the oldest one; for ever when there is none. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Settled<D::Output> {
        let Some(sent) = self.queue.front_mut() else { return std::future::pending().await };
        let outcome = (&mut sent.delivery).await;
        let settled = Settled { outcome, latency: sent.at.elapsed(), line: sent.line, bytes: sent.bytes };
        self.queue.pop_front();
        settled
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    impl<T> Pending for oneshot::Receiver<T> {
        fn result(&mut self) -> Option<Self::Output> {
            self.try_recv().ok().map(Ok)
        }
    }

    impl Pending for std::future::Ready<()> {
        fn result(&mut self) -> Option<()> {
            Some(())
        }
    }

    #[tokio::test]
    async fn outcomes_come_in_the_order_of_sending() {
        let mut outstanding = Outstanding::new();
        let (first, delivery) = oneshot::channel();
        outstanding.push(delivery, Instant::now(), 1, 10);
        let (second, delivery) = oneshot::channel();
        outstanding.push(delivery, Instant::now(), 2, 20);

        let mut seen = Vec::new();
        second.send("b").unwrap();
        outstanding.harvest(|settled| seen.push(settled.line));
        assert_eq!(seen, [0; 0], "the first is still on its way");
        assert_eq!(outstanding.len(), 2);

        first.send("a").unwrap();
        let settled = outstanding.next().await;
        assert_eq!((settled.outcome, settled.line, settled.bytes), (Ok("a"), 1, 10));
        outstanding.harvest(|settled| seen.push(settled.line));
        assert_eq!(seen, [2]);
        assert!(outstanding.is_empty());
    }

    #[tokio::test]
    async fn it_is_full_at_its_bound() {
        let mut outstanding = Outstanding::new();
        while !outstanding.is_full() {
            outstanding.push(std::future::ready(()), Instant::now(), 0, 0);
        }
        assert_eq!(outstanding.len(), MAX_OUTSTANDING);
        let mut settled = 0;
        outstanding.harvest(|_| settled += 1);
        assert_eq!(settled, MAX_OUTSTANDING);
    }
}
