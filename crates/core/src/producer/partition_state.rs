//! What the Sender knows of one partition: where it goes, what waits, what is in flight, and its sequence.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use milena_protocol::{Uuid, records::increment_sequence};

use super::{
    completion::Outcome,
    partition_queue::PartitionQueue,
    producer_batch::{LeftBehind, ProducerBatch, ProducerIdentity, Sequence},
    transaction_manager::TransactionManager,
};
use crate::{metadata::Metadata, network::NodeId, time::Instant};

/// Batches of one partition in flight, with idempotence: brokers remember the last five (client.md 34).
pub(crate) const IDEMPOTENT_IN_FLIGHT_MAX: usize = 5;

/// So many topics are remembered that the partition has left for another one of the same name.
const LEFT_TOPICS_MAX: usize = 4;

/// What keeps a partition from being drained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocked {
    /// Something must happen first: an answer, a producer id.
    UntilEvent,
    /// A batch's backoff.
    Until(Instant),
}

/// One partition on the Sender's side.
#[derive(Debug)]
pub(crate) struct PartitionState {
    pub(crate) queue: Arc<PartitionQueue>,
    pub(crate) topic_id: Uuid,
    pub(crate) leader: Option<NodeId>,
    pub(crate) leader_epoch: Option<i32>,
    /// Taken from the queue and not in flight, in order: what is sent again, the pieces of a split, what was compressed.
    /// Bounded by what is charged to buffer.memory, as the queue is.
    pub(crate) waiting: VecDeque<ProducerBatch>,
    /// How many batches are in flight, and to which node the last of them went.
    pub(crate) in_flight: usize,
    pub(crate) in_flight_node: Option<NodeId>,
    /// A batch is being compressed. The next one waits, so that they stay in order.
    pub(crate) compressing: bool,
    /// Since when it has had nothing to do.
    pub(crate) idle_since: Option<Instant>,
    /// One batch goes alone, until one is acknowledged. After a failure: not five in vain at each try. At the beginning
    /// of a sequence: a broker that has nothing of this producer takes any sequence number, so if the first batch failed
    /// and the second did not, the first could only be written behind it.
    probing: bool,
    /// Records taken from the queue so far.
    taken: u64,
    identity: Option<ProducerIdentity>,
    next_sequence: i32,
    /// The topic that the sequence is of, if the partition is one of another topic by now.
    leaving: Option<Uuid>,
    /// Where the sequence was in topics that were left: a view that is out of date may bring one of them back.
    left: Vec<(Uuid, ProducerIdentity, i32)>,
    /// Set while the broker may lack the batch of this order, which will not be sent again: whether it does is learned
    /// from what becomes of the batches behind it. Until then nothing new is sent (client.md 33).
    unresolved: Option<u64>,
    /// A broker that says it lacks a batch which another one may have written.
    disputed: Option<Dispute>,
    /// Every batch of a lower order that was sent is written, acknowledged or not: brokers take no batch out of turn.
    written_below: u64,
}

/// So long a broker that lacks a batch which another one may have written has to say so: the others hear of a new leader in less,
/// unless they are cut off.
const DISPUTE_MIN: Duration = Duration::from_secs(5);

/// See [`PartitionState::is_lack_confirmed`].
#[derive(Clone, Copy, Debug)]
struct Dispute {
    node: NodeId,
    since: Instant,
    /// How old the view was.
    version: u64,
}

/// The order of no batch: only a new epoch resolves it.
const NEVER_ACKNOWLEDGED: u64 = u64::MAX;

impl PartitionState {
    pub(crate) fn new(queue: Arc<PartitionQueue>) -> Self {
        Self {
            queue,
            topic_id: Uuid::ZERO,
            leader: None,
            leader_epoch: None,
            waiting: VecDeque::new(),
            in_flight: 0,
            in_flight_node: None,
            compressing: false,
            idle_since: None,
            probing: false,
            taken: 0,
            identity: None,
            next_sequence: 0,
            leaving: None,
            left: Vec::new(),
            unresolved: None,
            disputed: None,
            written_below: 0,
        }
    }

    /// True when there is nothing that the Sender has to do or to wait for.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.in_flight == 0 && !self.compressing && self.queue.oldest().is_none()
    }

    /// The place of a batch of `records` that is taken from the queue now.
    pub(crate) fn next_order(&mut self, records: u32) -> u64 {
        let order = self.taken;
        self.taken += u64::from(records);
        order
    }

    /// What keeps the partition from being drained; the node's room and readiness are another matter.
    pub(crate) fn blocked(&self, idempotent: bool, in_order: bool, now: Instant) -> Option<Blocked> {
        if in_order && self.in_flight > 0 {
            return Some(Blocked::UntilEvent);
        }
        if idempotent && self.in_flight > 0 {
            // A broker that has not got what is in flight elsewhere could only answer that there is a gap.
            let elsewhere = self.in_flight_node != self.leader;
            if elsewhere || self.probing || self.in_flight >= IDEMPOTENT_IN_FLIGHT_MAX {
                return Some(Blocked::UntilEvent);
            }
        }
        let Some(first) = self.waiting.front() else {
            return self.unresolved.map(|_| Blocked::UntilEvent);
        };
        if self.unresolved.is_some() && !(first.sequence.is_some() && first.may_be_written) {
            return Some(Blocked::UntilEvent);
        }
        if self.is_led_by_an_older_one() {
            return Some(Blocked::UntilEvent);
        }
        // A leader that is known to be new has nothing to do with the old one's failure (KIP-951).
        let new_leader = first.attempted_epoch.is_some() && self.leader_epoch > first.attempted_epoch;
        (now < first.retry_at && !new_leader).then_some(Blocked::Until(first.retry_at))
    }

    /// True when the view's leader is of an older epoch than one that may have written the next batch already: the view is
    /// out of date, and a leader that was replaced and does not know it yet could only say that there is a gap.
    pub(crate) fn is_led_by_an_older_one(&self) -> bool {
        self.waiting.front().is_some_and(|first| {
            let in_doubt = first.sequence.is_some() && first.may_be_written;
            in_doubt && self.leader_epoch.is_some() && self.leader_epoch < first.attempted_epoch
        })
    }

    /// Gives a batch that is about to be sent for the first time its place in the sequence.
    pub(crate) fn assign_sequence(&mut self, batch: &mut ProducerBatch, current: ProducerIdentity) {
        if batch.sequence.is_some() {
            return;
        }
        if self.identity.is_none() {
            self.identity = Some(current);
            self.probing = true;
        }
        let identity = self.identity.unwrap_or(current);
        batch.sequence = Some(Sequence { identity, base: self.next_sequence });
        let records = i32::try_from(batch.records).unwrap_or(i32::MAX);
        self.next_sequence = increment_sequence(self.next_sequence, records);
    }

    /// A batch goes to `node`.
    pub(crate) fn sent(&mut self, node: NodeId) {
        self.in_flight += 1;
        self.in_flight_node = Some(node);
    }

    /// A batch came back from the wire, with whatever fate.
    pub(crate) fn returned(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if self.in_flight == 0 {
            self.in_flight_node = None;
        }
    }

    /// The broker has the batch of this order, and so it has all before it.
    pub(crate) fn acknowledged(&mut self, order: u64) {
        self.probing = false;
        self.disputed = None;
        if self.identity.is_some() {
            self.written_below = self.written_below.max(order);
        }
        if self.unresolved.is_some_and(|lost| lost <= order) {
            self.unresolved = None;
        }
    }

    /// Whether the broker is known to have a batch that it has not acknowledged. It is sent again for its offset; if the
    /// broker does not remember it (it remembers five), it is written all the same.
    pub(crate) fn is_written(&self, batch: &ProducerBatch) -> bool {
        batch.attempts > 0 && batch.order < self.written_below
    }

    /// A batch with a sequence will not be sent again, and the broker may lack it.
    pub(crate) fn lost(&mut self, batch: &ProducerBatch) {
        if batch.sequence.is_some() && !self.is_written(batch) {
            self.unresolved = self.unresolved.max(Some(batch.order));
        }
    }

    /// The broker's log cannot go on with the current sequence: there is a gap, or it is another log.
    pub(crate) fn break_sequence(&mut self) {
        if self.identity.is_some() {
            self.unresolved = Some(NEVER_ACKNOWLEDGED);
        }
    }

    /// Whether the word of `node` holds that it lacks a batch which another broker may have written.
    ///
    /// A leader that was replaced and does not know it yet lacks it too, and its own view is no proof. Only when it has said so
    /// for a while, others have been heard in that time, and it still counts as the leader, the sequence may begin anew: else
    /// records would be written twice.
    pub(crate) fn is_lack_confirmed(&mut self, node: NodeId, metadata: &Metadata, now: Instant) -> bool {
        if metadata.cluster().nodes().len() < 2 {
            return true;
        }
        let version = metadata.version();
        let dispute = self.disputed.filter(|dispute| dispute.node == node);
        let Dispute { since, version, .. } =
            *self.disputed.insert(dispute.unwrap_or(Dispute { node, since: now, version }));
        now >= since + DISPUTE_MIN && self.leader == Some(node) && metadata.was_told_by_another(node, version)
    }

    /// True when no batch before this one, which is in hand, is outstanding.
    pub(crate) fn is_first(&self, batch: &ProducerBatch, in_flight_before: bool) -> bool {
        !in_flight_before && self.waiting.front().is_none_or(|first| first.order > batch.order)
    }

    /// Puts a batch that was sent, or a piece of one, back to its place (client.md 25).
    pub(crate) fn requeue(&mut self, batch: ProducerBatch) {
        self.probing = self.probing || batch.attempts > 0;
        let place = self.waiting.partition_point(|other| other.order < batch.order);
        self.waiting.insert(place, batch);
    }

    /// Learns the topic's id; another one than before means that the log is another one (field report 10).
    pub(crate) fn set_topic_id(&mut self, id: Uuid) {
        if id.is_zero() || id == self.topic_id {
            return;
        }
        if !self.topic_id.is_zero() && self.identity.is_some() {
            self.leaving = self.leaving.or(Some(self.topic_id));
            self.break_sequence();
        }
        self.topic_id = id;
        if self.identity.is_none() {
            self.take_up_again();
        }
    }

    /// Remembers where the sequence is in a topic that is left. What waits may be written there: if the view comes back to
    /// that topic, because it was out of date in between, it must go there with the sequence that it has there.
    fn leave_behind(&mut self, topic_id: Uuid) {
        let Some(identity) = self.identity else { return };
        if self.left.len() == LEFT_TOPICS_MAX {
            let (forgotten, ..) = self.left.remove(0);
            for batch in &mut self.waiting {
                batch.left_behind.retain(|left| left.topic_id != forgotten);
            }
        }
        self.left.push((topic_id, identity, self.next_sequence));
        for batch in &mut self.waiting {
            let ProducerBatch { attempted_epoch, may_be_written, .. } = *batch;
            let left = batch.sequence.map(|sequence| LeftBehind {
                topic_id,
                sequence,
                attempted_epoch,
                may_be_written,
            });
            batch.left_behind.extend(left);
        }
    }

    /// Goes on with the sequence of a topic that was left, if the partition is one of it again.
    fn take_up_again(&mut self) {
        let id = self.topic_id;
        let Some(place) = self.left.iter().position(|(left, ..)| *left == id) else { return };
        let (_, identity, next_sequence) = self.left.remove(place);
        self.identity = Some(identity);
        self.next_sequence = next_sequence;
        self.probing = true;
        for batch in &mut self.waiting {
            let Some(place) = batch.left_behind.iter().position(|left| left.topic_id == id) else { continue };
            let left = batch.left_behind.remove(place);
            batch.sequence = Some(left.sequence);
            batch.attempted_epoch = left.attempted_epoch;
            batch.may_be_written = left.may_be_written;
        }
    }

    /// Begins the sequence anew when it is broken and nothing is outstanding whose fate is not known.
    ///
    /// What waits gets new sequences when it is sent: none of it is written, because the first of it is not. In a log
    /// that was created anew nothing is written at all, unless the view only comes back to a topic that was left.
    pub(crate) fn resolve(&mut self, transactions: &mut TransactionManager) {
        let Some(lost) = self.unresolved else { return };
        if self.in_flight > 0 {
            return;
        }
        let unknown =
            self.waiting.front().is_some_and(|first| first.sequence.is_some() && first.may_be_written);
        if unknown && lost != NEVER_ACKNOWLEDGED {
            return;
        }
        let leaving = self.leaving.take();
        if let Some(left) = leaving {
            self.leave_behind(left);
        }
        if let Some(identity) = self.identity.take() {
            transactions.bump(identity);
        }
        (self.unresolved, self.disputed) = (None, None);
        self.next_sequence = 0;
        while let Some(first) =
            self.waiting.pop_front_if(|first| first.attempts > 0 && first.order < self.written_below)
        {
            first.complete(Outcome::WRITTEN);
        }
        for batch in &mut self.waiting {
            batch.sequence = None;
            batch.may_be_written = false;
        }
        if leaving.is_some() {
            self.take_up_again();
        }
    }
}
