//! A partition has moved: what is in flight to the old leader goes to the new one, without waiting for the old one's word.
//!
//! None of Kafka's clients does that: they wait for request.timeout.ms when a broker's host dies. Why it is safe with
//! idempotence, whatever the old leader does meanwhile:
//!
//! * The batch goes with the same producer id, epoch and sequence, and the same bytes. A new leader that got it from the old
//!   one, by replication, acknowledges it as a duplicate; one that did not writes it.
//! * The old leader's answers are ignored from then on. If it acknowledged the batch, then (acks=all) the new leader has it.
//!   If it does not know yet that it was replaced, what it writes is cut off when it learns.
//! * If the old leader leads again later, and only then reads what is still in its socket, it has the new leader's log by
//!   then, and so the sequence: it writes nothing twice. The same holds when it writes first and the batch goes to it again.
//! * The partition's order holds because a leader takes no sequence out of turn, and because all that was in flight is
//!   taken back at once and sent from its first batch on, which goes alone until it is acknowledged.
//! * A broker that leads no more and does not know it may be taken for the new leader, if it names itself in a newer epoch than
//!   the view had. It lacks what the real one has, and says that there is a gap: that is believed only when others
//!   confirm who leads ([`PartitionState::is_lack_confirmed`]).
//! * The epoch is bumped only while nothing is in flight whose fate is unknown ([`PartitionState::resolve`]); what was taken
//!   back counts as unknown until the new leader has answered.
//!
//! Without idempotence both brokers may write it: it happens only with `milena.take.back.duplicates`.

use super::{InFlightBatch, Sender};
use crate::{
    network::{ConnectionState, NetworkClient, NodeId},
    producer::partition_state::PartitionState,
    time::Instant,
};

impl Sender {
    /// Takes back what is in flight to brokers that lead its partitions no more.
    pub(super) fn take_back_moved(&mut self) {
        if !self.settings.takes_back {
            return;
        }
        let moved = |partition: &PartitionState| {
            partition.in_flight > 0
                && partition.leader.is_some()
                && partition.in_flight_node != partition.leader
        };
        for place in 0..self.active.len() {
            let id = self.active[place];
            if self.partitions.get(id).and_then(Option::as_ref).is_some_and(moved) {
                self.take_back(id);
            }
        }
    }

    /// A suspect gets nothing new. What it owes finds out whether it is back; when it owes nothing that anybody needs, a
    /// new connection does: its host may have forgotten the old one.
    pub(super) fn probe(&mut self, node: NodeId, network: &mut NetworkClient, now: Instant) {
        let mut requests = self.in_flight.values().filter(|request| request.node == node);
        if requests.all(|request| request.batches.is_empty()) && network.state(node) == ConnectionState::Ready
        {
            network.abandon(node, now);
        }
        if !network.ready(node, now) {
            self.wake_at = self.wake_at.min(network.poll_delay(node, now));
        }
    }

    fn take_back(&mut self, id: usize) {
        let Some(Some(partition)) = self.partitions.get(id) else { return };
        let leader_epoch = partition.leader_epoch;
        // Only a newer epoch proves that the leader is another one, and not that an older answer came later.
        let in_flight = self.in_flight.values().flat_map(|request| &request.batches);
        let may_go = in_flight.filter(|in_flight| in_flight.partition == id).all(|in_flight| {
            in_flight.batch.attempted_epoch.is_some()
                && leader_epoch > in_flight.batch.attempted_epoch
                && in_flight.batch.attempts <= self.settings.retries
        });
        if !may_go {
            return;
        }
        let mut taken = Vec::new();
        for request in self.in_flight.values_mut() {
            taken.extend(request.batches.extract_if(.., |in_flight| in_flight.partition == id));
        }
        let Some(Some(partition)) = self.partitions.get_mut(id) else { return };
        tracing::debug!(partition = ?partition.queue, leader = ?partition.leader, batches = taken.len(), "taking back");
        for InFlightBatch { mut batch, .. } in taken {
            partition.returned();
            // One that expired in flight was given up then: what follows it finds out whether it was written.
            if !batch.is_complete() {
                batch.may_be_written = true;
                partition.requeue(batch);
            }
        }
        self.resolve(id);
    }
}
