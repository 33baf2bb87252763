//! Which nodes have something that must go now (`RecordAccumulator.ready`).

use milena_protocol::records::BATCH_HEADER_LEN;

use super::{Sender, Settings};
use crate::{
    network::{NetworkClient, NodeId},
    producer::partition_state::{Blocked, PartitionState},
    time::Instant,
};

/// From how many bytes on a batch that has not lingered goes to a node with so many requests in flight.
///
/// batch.size while the node is idle, twice that for each request in flight: what is costly is the number of requests,
/// not their size, so while the broker is busy batches grow, and the busier it is, the larger they get. A batch that
/// has lingered goes at any size.
pub(super) fn ready_size(batch_size: usize, in_flight: usize) -> usize {
    let doublings = u32::try_from(in_flight).unwrap_or(u32::MAX).min(usize::BITS / 2);
    batch_size.saturating_mul(1 << doublings)
}

/// Whether everything must go, whatever its size and age.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pressure(bool);

impl Sender {
    /// Memory is exhausted and somebody waits, or somebody flushes, or the producer closes.
    pub(super) fn pressure(&self) -> Pressure {
        let accumulator = &self.accumulator;
        Pressure(self.draining || accumulator.is_flushing() || accumulator.pool().has_waiters())
    }

    /// True when the node has a batch to send now. Notes when it will have one, otherwise.
    pub(super) fn is_ready(
        &mut self,
        node: NodeId,
        network: &NetworkClient,
        pressure: Pressure,
        now: Instant,
    ) -> bool {
        let idempotent = self.transactions.is_some();
        let (settings, mut wake_at) = (self.settings, self.wake_at);
        let in_flight = network.in_flight(node);
        // A node that takes nothing need not wake anybody: its next answer will.
        let enough = match in_flight < network.in_flight_limit() {
            true => ready_size(settings.batch_size, in_flight).min(settings.max_request_size / 2),
            false => usize::MAX,
        };
        let mut ready = false;
        let ids = self.nodes.get(&node).map_or(&[][..], |queue| &queue.partitions);
        for partition in ids.iter().filter_map(|id| self.partitions.get(*id)?.as_ref()) {
            match partition.blocked(idempotent, settings.in_order, now) {
                Some(Blocked::UntilEvent) => {}
                Some(Blocked::Until(at)) => wake_at = wake_at.min(at),
                None => match ready_at(partition, &settings, enough, pressure, now) {
                    Some(at) if at <= now => {
                        ready = true;
                        break;
                    }
                    Some(at) => wake_at = wake_at.min(at),
                    // A batch that begins meanwhile does not wake anybody: it is found in time for its linger.
                    None if !settings.linger.is_zero() => wake_at = wake_at.min(now + settings.linger),
                    None => {}
                },
            }
        }
        self.wake_at = wake_at;
        ready
    }
}

/// When the partition's first batch must go; none when it has none. Tells the queue when to wake the Sender.
fn ready_at(
    partition: &PartitionState,
    settings: &Settings,
    enough: usize,
    Pressure(pressure): Pressure,
    now: Instant,
) -> Option<Instant> {
    if !partition.waiting.is_empty() {
        return Some(now);
    }
    if partition.compressing {
        return Some(Instant::FAR_FUTURE);
    }
    partition.queue.set_wake_size(enough.max(BATCH_HEADER_LEN + 1));
    let lingers_until = partition.queue.oldest()? + settings.linger;
    if pressure || lingers_until <= now {
        return Some(now);
    }
    // The lock is taken only for those that have told that they are full.
    if partition.queue.is_full() {
        let sizes = partition.queue.sizes();
        if sizes.closed || sizes.first >= enough {
            return Some(now);
        }
    }
    Some(lingers_until)
}

#[cfg(test)]
mod tests {
    use super::ready_size;

    #[test]
    fn the_busier_the_broker_the_larger_the_batches() {
        assert_eq!([0, 1, 2, 4].map(|n| ready_size(16 << 10, n)), [16 << 10, 32 << 10, 64 << 10, 256 << 10]);
        assert_eq!(ready_size(0, 5), 0);
        assert_eq!(ready_size(usize::MAX, 5), usize::MAX);
    }
}
