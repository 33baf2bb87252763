//! delivery.timeout.ms: nothing waits longer, in flight or not, and nothing fails earlier (client.md 27).

use std::{sync::Arc, time::Duration};

use super::Sender;
use crate::{
    producer::{
        ProduceError,
        completion::{Completer, Outcome},
        partition_state::PartitionState,
    },
    time::Instant,
};

impl Sender {
    /// Fails what is too old, and finds out when the next batch will be.
    pub(super) fn expire(&mut self, now: Instant) {
        let timeout = self.settings.delivery_timeout;
        let mut next = Instant::FAR_FUTURE;
        for id in self.active.clone() {
            let Some(Some(partition)) = self.partitions.get_mut(id) else { continue };
            let oldest = expire_partition(partition, timeout, now);
            // A batch that begins in a queue that is active already does not announce itself.
            next = next.min(oldest.unwrap_or(now) + timeout);
            self.resolve(id);
        }
        next = next.min(self.expire_in_flight(now));
        self.next_expiry = next;
    }

    /// A batch in flight fails at its time as well. It stays in the request: until its fate is known nothing new of its
    /// partition is sent (client.md 33), and its memory is the socket's (field report 21).
    fn expire_in_flight(&mut self, now: Instant) -> Instant {
        let timeout = self.settings.delivery_timeout;
        let mut next = Instant::FAR_FUTURE;
        for request in self.in_flight.values_mut() {
            if now < request.expires_at {
                next = next.min(request.expires_at);
                continue;
            }
            request.expires_at = Instant::FAR_FUTURE;
            for in_flight in request.batches.iter().filter(|in_flight| !in_flight.batch.is_complete()) {
                let batch = &in_flight.batch;
                let Some(Some(partition)) = self.partitions.get_mut(in_flight.partition) else { continue };
                if now < batch.created_at + timeout {
                    request.expires_at = request.expires_at.min(batch.created_at + timeout);
                    continue;
                }
                if partition.is_written(batch) {
                    batch.complete(Outcome::WRITTEN);
                    continue;
                }
                let cause = batch.last_error.clone().or_else(|| Some("the broker has not answered".into()));
                batch.complete(Outcome::Failed(timed_out(partition, timeout, cause)));
                partition.lost(batch);
            }
            next = next.min(request.expires_at);
        }
        next
    }
}

/// Fails the partition's batches that are too old and not in flight; when the oldest of the others began.
fn expire_partition(partition: &mut PartitionState, timeout: Duration, now: Instant) -> Option<Instant> {
    let mut place = 0;
    while let Some(batch) = partition.waiting.get(place) {
        if now < batch.created_at + timeout {
            place += 1;
            continue;
        }
        if let Some(batch) = partition.waiting.remove(place) {
            if partition.is_written(&batch) {
                batch.complete(Outcome::WRITTEN);
                continue;
            }
            let cause = batch.last_error.clone();
            batch.complete(Outcome::Failed(timed_out(partition, timeout, cause)));
            partition.lost(&batch);
        }
    }
    if now.as_nanos() >= u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX) {
        let before = Instant::from_nanos((now - (Instant::ORIGIN + timeout)).as_nanos() as u64);
        while let Some(batch) = partition.queue.take_older(before) {
            let cause = if partition.leader.is_none() {
                Some(Arc::from("the partition has no leader"))
            } else {
                None
            };
            fail(&batch.completer, timed_out(partition, timeout, cause));
        }
    }
    let waiting = partition.waiting.iter().map(|batch| batch.created_at).min();
    waiting.into_iter().chain(partition.queue.oldest()).min()
}

fn fail(completer: &Completer, error: ProduceError) {
    completer.complete(Outcome::Failed(error));
}

fn timed_out(partition: &PartitionState, timeout: Duration, cause: Option<Arc<str>>) -> ProduceError {
    let topic = Arc::clone(&partition.queue.topic);
    ProduceError::TimedOut { topic, partition: partition.queue.partition, timeout, cause }
}
