//! [`RequestMemory`]: what the requests that arrive on all connections may hold (`queued.max.request.bytes`).
//!
//! As Kafka's memory pool: a request gets room for all of it or waits, and while it waits its connection is not read from.
//! Whoever has room can therefore always come to an end, if only its client goes on; and one whose client does not is given
//! up when others wait.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep_until};

/// Bytes of a request that are read before room is asked for: most requests never do, and a length is only a claim.
pub(super) const UNRESERVED: usize = 64 * 1024;
/// How long a request may take to arrive and be taken on while others wait for its room: a part of what their clients wait
/// for an answer (request.timeout.ms, 30 s).
pub(super) const ARRIVAL_LIMIT: Duration = Duration::from_secs(10);

/// Room for requests, given out in the order in which it is asked for.
#[derive(Debug)]
pub(crate) struct RequestMemory {
    bytes: usize,
    free: Arc<Semaphore>,
    /// How many wait for room.
    waiting: watch::Sender<usize>,
}

/// Room of one request; given back when dropped.
#[derive(Debug)]
pub(super) struct Reserved {
    memory: Arc<RequestMemory>,
    since: Instant,
    _room: OwnedSemaphorePermit,
}

impl RequestMemory {
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        let bytes = bytes.clamp(1, Semaphore::MAX_PERMITS);
        Arc::new(Self { bytes, free: Arc::new(Semaphore::new(bytes)), waiting: watch::Sender::default() })
    }

    /// Waits for room for so many bytes; more than there are take all of it. None when nobody will get any more.
    pub(super) async fn reserve(self: &Arc<Self>, bytes: usize) -> Option<Reserved> {
        let room = u32::try_from(bytes.min(self.bytes)).unwrap_or(u32::MAX);
        let room = match self.free.clone().try_acquire_many_owned(room) {
            Ok(room) => room,
            Err(_) => {
                let _waiting = Waiting::new(&self.waiting);
                self.free.clone().acquire_many_owned(room).await.ok()?
            }
        };
        Some(Reserved { memory: self.clone(), since: Instant::now(), _room: room })
    }
}

impl Reserved {
    /// Comes when this room has been held for longer than [`ARRIVAL_LIMIT`] and somebody waits for it.
    pub(super) async fn is_overdue(&self) {
        sleep_until(self.since + ARRIVAL_LIMIT).await;
        let mut waiting = self.memory.waiting.subscribe();
        // The sender lives as long as this.
        let _some_wait = waiting.wait_for(|waiting| *waiting > 0).await;
    }
}

struct Waiting<'a>(&'a watch::Sender<usize>);

impl<'a> Waiting<'a> {
    fn new(count: &'a watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn room_is_given_out_in_order_and_wanted_back_only_when_somebody_waits() {
        let memory = RequestMemory::new(100);
        let all = memory.reserve(1_000).await.unwrap();
        assert!(timeout(10 * ARRIVAL_LIMIT, all.is_overdue()).await.is_err(), "nobody waits");
        let large = tokio::spawn({
            let memory = memory.clone();
            async move { memory.reserve(90).await.unwrap() }
        });
        timeout(ARRIVAL_LIMIT, all.is_overdue()).await.unwrap();
        let mut small = Box::pin(memory.reserve(20));
        assert!(timeout(ARRIVAL_LIMIT, &mut small).await.is_err());
        drop(all);
        let large = large.await.unwrap();
        assert!(timeout(ARRIVAL_LIMIT, &mut small).await.is_err(), "the large one came first");
        assert_eq!(*memory.waiting.borrow(), 1);
        drop(large);
        small.await.unwrap();
        assert_eq!(*memory.waiting.borrow(), 0);
    }
}
