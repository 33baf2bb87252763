//! A topic and its partitions, as one snapshot shows them.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use milena_protocol::Uuid;

use crate::{network::NodeId, producer::TopicQueues, time::Instant};

/// How much newer a use must be to be noted: senders of one topic must not write one cache line at every record.
const TOUCH_RESOLUTION_NANOS: u64 = 1_000_000_000;

/// A topic.
#[derive(Clone, Debug)]
pub struct TopicInfo {
    /// Its name.
    pub name: Arc<str>,
    /// Its id, other after the topic was deleted and created again; zero from brokers below Metadata 10 (KIP-516).
    pub id: Uuid,
    /// True for Kafka's own topics, such as `__consumer_offsets`.
    pub is_internal: bool,
    /// The partitions; the index is the id. One that no answer mentioned has no leader and no replicas.
    pub partitions: Vec<PartitionInfo>,
    /// The ids of the partitions that have a leader, ascending.
    pub available: Vec<i32>,
    /// When a caller last used it, in nanoseconds of the driver's clock; shared by all snapshots of the topic.
    last_used: Arc<AtomicU64>,
    /// Where the producer's accumulator keeps what it would otherwise look up by name at each record.
    pub(crate) queues: OnceLock<Arc<TopicQueues>>,
}

impl TopicInfo {
    pub(crate) fn new(name: Arc<str>, id: Uuid, is_internal: bool, partitions: Vec<PartitionInfo>) -> Self {
        let mut topic = Self {
            name,
            id,
            is_internal,
            partitions,
            available: Vec::new(),
            last_used: Arc::default(),
            queues: OnceLock::new(),
        };
        topic.index_available();
        topic
    }

    /// The same topic whose uses are noted in `last_used`.
    pub(crate) fn used_at(mut self, last_used: Arc<AtomicU64>) -> Self {
        self.last_used = last_used;
        self
    }

    /// True when its uses are noted in `last_used`: a topic that expired and is wanted again has another clock.
    pub(crate) fn is_used_at(&self, last_used: &Arc<AtomicU64>) -> bool {
        Arc::ptr_eq(&self.last_used, last_used)
    }

    /// Recomputes [`available`](Self::available) after a leader changed.
    pub(crate) fn index_available(&mut self) {
        self.available.clear();
        self.available.extend(self.partitions.iter().filter(|p| p.leader.is_some()).map(|p| p.partition));
    }

    /// A partition.
    #[inline]
    pub fn partition(&self, partition: i32) -> Option<&PartitionInfo> {
        self.partitions.get(usize::try_from(partition).ok()?)
    }

    pub(crate) fn partition_mut(&mut self, partition: i32) -> Option<&mut PartitionInfo> {
        self.partitions.get_mut(usize::try_from(partition).ok()?)
    }

    /// Notes that a caller uses the topic now, which keeps it from expiring (metadata.max.idle.ms).
    pub fn touch(&self, now: Instant) {
        touch(&self.last_used, now);
    }

    /// True when the two name the same leaders in the same epochs.
    pub(crate) fn led_the_same(&self, other: &Self) -> bool {
        fn leaders(topic: &TopicInfo) -> impl Iterator<Item = (Option<NodeId>, Option<i32>)> {
            topic.partitions.iter().map(|p| (p.leader, p.leader_epoch))
        }
        self.id == other.id && leaders(self).eq(leaders(other))
    }

    /// True when the two say the same of the topic; who uses it when does not count.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        self.id == other.id && self.is_internal == other.is_internal && self.partitions == other.partitions
    }
}

/// Notes a use of a topic in its clock.
pub(crate) fn touch(last_used: &AtomicU64, now: Instant) {
    let known = last_used.load(Ordering::Relaxed);
    if now.as_nanos() >= known.saturating_add(TOUCH_RESOLUTION_NANOS) {
        last_used.store(now.as_nanos(), Ordering::Relaxed);
    }
}

/// A partition: who leads it and where its replicas are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionInfo {
    /// The topic's name.
    pub topic: Arc<str>,
    /// The partition's id.
    pub partition: i32,
    /// The leader; none during an election, or when the leader is not among the known brokers.
    pub leader: Option<NodeId>,
    /// The leader's epoch; none from brokers that do not tell it reliably (below Metadata 9).
    pub leader_epoch: Option<i32>,
    /// Where its replicas are.
    pub replicas: Arc<[NodeId]>,
    /// Which replicas are in sync.
    pub isr: Arc<[NodeId]>,
    /// Which replicas are offline.
    pub offline_replicas: Arc<[NodeId]>,
}

impl PartitionInfo {
    /// A partition of which nothing is known but that it must exist, because a later one does.
    pub(crate) fn unknown(topic: Arc<str>, partition: i32) -> Self {
        let nobody: Arc<[NodeId]> = Arc::from([]);
        Self {
            topic,
            partition,
            leader: None,
            leader_epoch: None,
            replicas: Arc::clone(&nobody),
            isr: Arc::clone(&nobody),
            offline_replicas: nobody,
        }
    }
}
