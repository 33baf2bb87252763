//! [`MetadataSnapshot`]: one state of the cluster, never changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use milena_protocol::Uuid;

/// The leader of a partition that has none.
pub const NO_LEADER: i32 = -1;

/// Where groups' committed offsets are (`Topic.GROUP_METADATA_TOPIC_NAME`).
pub const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// Whether Kafka keeps its own records in the topic (`Topic.isInternal`).
pub fn is_internal_topic(name: &str) -> bool {
    matches!(name, OFFSETS_TOPIC | "__transaction_state" | "__share_group_state")
}

/// The cluster at one moment.
#[derive(Debug, Clone)]
pub struct MetadataSnapshot {
    pub(super) cluster_id: Arc<str>,
    pub(super) controller_id: Option<i32>,
    pub(super) controller_epoch: i32,
    pub(super) brokers: Arc<BTreeMap<i32, Arc<BrokerInfo>>>,
    pub(super) topics: HashMap<Arc<str>, Arc<TopicMetadata>>,
    /// Holds exactly the ids of `topics`.
    pub(super) names: HashMap<Uuid, Arc<str>>,
}

impl MetadataSnapshot {
    pub(super) fn new(cluster_id: impl Into<Arc<str>>) -> Self {
        Self {
            cluster_id: cluster_id.into(),
            controller_id: None,
            controller_epoch: 0,
            brokers: Arc::default(),
            topics: HashMap::new(),
            names: HashMap::new(),
        }
    }

    /// The cluster's id.
    pub fn cluster_id(&self) -> &str {
        &self.cluster_id
    }

    /// The controller, once it has spoken.
    pub fn controller_id(&self) -> Option<i32> {
        self.controller_id
    }

    /// The epoch of the controller that spoke last.
    pub fn controller_epoch(&self) -> i32 {
        self.controller_epoch
    }

    /// The live brokers, by id.
    pub fn brokers(&self) -> impl Iterator<Item = &BrokerInfo> {
        self.brokers.values().map(AsRef::as_ref)
    }

    /// A broker, if it is alive.
    pub fn broker(&self, id: i32) -> Option<&BrokerInfo> {
        self.brokers.get(&id).map(AsRef::as_ref)
    }

    /// The topics, in no order.
    pub fn topics(&self) -> impl Iterator<Item = &Arc<TopicMetadata>> {
        self.topics.values()
    }

    /// A topic by name.
    pub fn topic(&self, name: &str) -> Option<&Arc<TopicMetadata>> {
        self.topics.get(name)
    }

    /// A topic by id.
    pub fn topic_by_id(&self, id: Uuid) -> Option<&Arc<TopicMetadata>> {
        self.topics.get(self.names.get(&id)?)
    }
}

/// A live broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerInfo {
    /// Its id.
    pub id: i32,
    /// Its rack.
    pub rack: Option<String>,
    /// An endpoint for each of its listeners.
    pub endpoints: Vec<BrokerEndpoint>,
}

impl BrokerInfo {
    /// Where clients of `listener` reach the broker, if it has that listener.
    pub fn endpoint(&self, listener: &str) -> Option<&BrokerEndpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.listener == listener)
    }
}

/// What clients of one listener are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerEndpoint {
    /// The listener's name.
    pub listener: String,
    /// The advertised host.
    pub host: String,
    /// The advertised port.
    pub port: u16,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicMetadata {
    /// Its name.
    pub name: Arc<str>,
    /// Its id.
    pub id: Uuid,
    /// Its partitions, in the order of their numbers; there may be gaps.
    pub(super) partitions: Vec<PartitionMetadata>,
}

impl TopicMetadata {
    /// The partitions, in the order of their numbers.
    pub fn partitions(&self) -> &[PartitionMetadata] {
        &self.partitions
    }

    /// A partition by its number.
    pub fn partition(&self, number: i32) -> Option<&PartitionMetadata> {
        let found = self.partitions.binary_search_by_key(&number, |partition| partition.partition).ok()?;
        self.partitions.get(found)
    }
}

/// A partition as the controller announced it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionMetadata {
    /// Its number.
    pub partition: i32,
    /// The leader, or [`NO_LEADER`].
    pub leader: i32,
    /// The leader's epoch.
    pub leader_epoch: i32,
    /// All replicas, dead ones too; the first one is preferred as leader.
    pub replicas: Vec<i32>,
    /// The in-sync replicas, dead ones too.
    pub isr: Vec<i32>,
    /// Replicas whose disk has failed, as announced. Dead brokers are not among them; see
    /// [`offline_replicas`](Self::offline_replicas).
    pub offline: Vec<i32>,
}

impl PartitionMetadata {
    /// The replicas that cannot be read: their disk has failed, their broker is dead, or it lacks the `listener`.
    pub fn offline_replicas(&self, snapshot: &MetadataSnapshot, listener: &str) -> Vec<i32> {
        let reachable =
            |id: i32| snapshot.broker(id).is_some_and(|broker| broker.endpoint(listener).is_some());
        self.replicas.iter().copied().filter(|id| self.offline.contains(id) || !reachable(*id)).collect()
    }
}
