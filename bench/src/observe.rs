//! The records under way, each observed until its outcome is there.

use std::collections::VecDeque;
use std::fmt::Display;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use milena::Delivery;

/// Who is told of outcomes. Times are in nanoseconds from the start.
pub trait Sink {
    /// A record was sent at `sent`, and its acknowledgement seen at `now`.
    fn acknowledged(&mut self, delivery: &Delivery, sent: u64, now: u64);

    /// A record was given up.
    fn failed(&mut self, error: &dyn Display);
}

/// The records under way, and who is told of their outcomes.
#[derive(Debug)]
pub struct Observer<S> {
    start: Instant,
    /// By partition, oldest first: a partition's records are acknowledged in order. Each with the nanoseconds from the start to its sending.
    under_way: Vec<VecDeque<(u64, Delivery)>>,
    any_order: bool,
    /// Who is told.
    pub sink: S,
}

impl<S: Sink> Observer<S> {
    /// Nothing is under way yet.
    pub fn new(start: Instant, sink: S) -> Self {
        Self { start, under_way: Vec::new(), any_order: false, sink }
    }

    /// Looks at each record under way, also behind those that are not there yet: a record without a key may have moved to another
    /// partition than the one that it was first meant for. That takes its time, with many under way.
    #[must_use]
    pub fn in_any_order(mut self) -> Self {
        self.any_order = true;
        self
    }

    /// Begins to observe a record.
    pub fn add(&mut self, sent: Duration, delivery: Delivery) {
        let partition = usize::try_from(delivery.partition()).unwrap_or(0);
        if partition >= self.under_way.len() {
            self.under_way.resize_with(partition + 1, VecDeque::new);
        }
        self.under_way[partition].push_back((sent.as_nanos() as u64, delivery));
    }

    /// Takes what has arrived, without asking to be woken.
    pub fn look(&mut self) {
        self.take(|delivery| {
            delivery.result().map_or(Poll::Pending, |outcome| Poll::Ready(outcome.map(drop)))
        });
    }

    /// Takes what arrives until `due`, each as soon as it does.
    pub async fn observe_until(&mut self, due: Instant) {
        self.observe_while(tokio::time::sleep_until(due.into())).await;
    }

    /// Takes what arrives until `future` is ready, each as soon as it does.
    pub async fn observe_while<F: Future>(&mut self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|context| {
            self.poll_take(context);
            future.as_mut().poll(context)
        })
        .await
    }

    /// Takes what arrives until nothing is under way.
    pub async fn observe_all(&mut self) {
        poll_fn(|context| {
            self.poll_take(context);
            if self.under_way.iter().all(VecDeque::is_empty) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    fn poll_take(&mut self, context: &mut Context<'_>) {
        self.take(|delivery| Pin::new(delivery).poll(context).map(|outcome| outcome.map(drop)));
    }

    fn take<E: Display>(&mut self, mut poll: impl FnMut(&mut Delivery) -> Poll<Result<(), E>>) {
        let now = self.start.elapsed().as_nanos() as u64;
        let sink = &mut self.sink;
        for under_way in &mut self.under_way {
            let mut is_there = |sent: u64, delivery: &mut Delivery| match poll(delivery) {
                Poll::Pending => false,
                Poll::Ready(Ok(())) => {
                    sink.acknowledged(delivery, sent, now);
                    true
                }
                Poll::Ready(Err(error)) => {
                    sink.failed(&error);
                    true
                }
            };
            if self.any_order {
                under_way.retain_mut(|(sent, delivery)| !is_there(*sent, delivery));
                continue;
            }
            while let Some((sent, delivery)) = under_way.front_mut() {
                if !is_there(*sent, delivery) {
                    break;
                }
                under_way.pop_front();
            }
        }
    }
}
