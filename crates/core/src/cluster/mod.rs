//! An immutable snapshot of what is known of a Kafka cluster, with an index for each question that is asked of it.
//!
//! Kafka's source: `Cluster`, `PartitionInfo`, `Node`, `MetadataSnapshot`. `Metadata` makes a new snapshot from the old
//! one and an answer; topics that did not change are shared between the two.

mod topic;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::{Arc, OnceLock},
};

use milena_protocol::Uuid;

pub(crate) use topic::touch;
pub use topic::{PartitionInfo, TopicInfo};

use crate::network::NodeId;

/// A broker's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its id; negative for an address from bootstrap.servers, whose broker is not known yet.
    pub id: NodeId,
    /// The host name or address literal, as the cluster advertises it.
    pub host: Arc<str>,
    /// The port.
    pub port: u16,
    /// The rack, if the broker has one.
    pub rack: Option<Arc<str>>,
}

impl fmt::Display for Node {
    /// `host:port`, an IPv6 address in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Topics by name. The order of its iteration is never shown: [`Cluster::topics`] sorts.
type Topics = HashMap<Arc<str>, Arc<TopicInfo>, foldhash::fast::FixedState>;

/// What is known of the cluster at one moment.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    id: Option<Arc<str>>,
    is_bootstrap: bool,
    nodes: BTreeMap<NodeId, Arc<Node>>,
    controller: Option<NodeId>,
    topics: Topics,
    unauthorized: BTreeSet<Arc<str>>,
    invalid: BTreeSet<Arc<str>>,
    indexes: OnceLock<Arc<Indexes>>,
}

/// What is computed from the topics when it is first asked for: a snapshot that nobody asks costs nothing.
#[derive(Debug, Default)]
struct Indexes {
    by_name: Vec<Arc<TopicInfo>>,
    by_id: HashMap<Uuid, Arc<TopicInfo>, foldhash::fast::FixedState>,
    by_leader: BTreeMap<NodeId, Vec<(Arc<TopicInfo>, i32)>>,
}

impl Cluster {
    /// A cluster of which only the addresses in bootstrap.servers are known; they get the ids −1, −2, ….
    pub fn bootstrap<'a>(addresses: impl IntoIterator<Item = (&'a str, u16)>) -> Self {
        let nodes = (1..).zip(addresses).map(|(n, (host, port))| Node {
            id: -n,
            host: host.into(),
            port,
            rack: None,
        });
        Self {
            is_bootstrap: true,
            nodes: nodes.map(|node| (node.id, Arc::new(node))).collect(),
            ..Self::default()
        }
    }

    /// True while no broker has told anything.
    pub fn is_bootstrap(&self) -> bool {
        self.is_bootstrap
    }

    /// The cluster's id, if its brokers told one.
    pub fn cluster_id(&self) -> Option<&Arc<str>> {
        self.id.as_ref()
    }

    /// All nodes, by id.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = &Arc<Node>> {
        self.nodes.values()
    }

    /// The node of this id.
    pub fn node(&self, id: NodeId) -> Option<&Arc<Node>> {
        self.nodes.get(&id)
    }

    /// The controller, if one is known and among the nodes.
    pub fn controller(&self) -> Option<&Arc<Node>> {
        self.controller.and_then(|id| self.node(id))
    }

    /// The topic of this name.
    #[inline]
    pub fn topic(&self, name: &str) -> Option<&Arc<TopicInfo>> {
        self.topics.get(name)
    }

    /// How many topics are known.
    pub fn topic_count(&self) -> usize {
        self.topics.len()
    }

    /// All topics, by name.
    pub fn topics(&self) -> impl ExactSizeIterator<Item = &Arc<TopicInfo>> {
        self.indexes().by_name.iter()
    }

    /// The topics that belong to Kafka itself, by name.
    pub fn internal_topics(&self) -> impl Iterator<Item = &Arc<TopicInfo>> {
        self.topics().filter(|topic| topic.is_internal)
    }

    /// The topics that this client may not see, by name.
    pub fn unauthorized_topics(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.unauthorized.iter()
    }

    /// The topics whose names the brokers refuse, by name.
    pub fn invalid_topics(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.invalid.iter()
    }

    /// A partition.
    pub fn partition(&self, topic: &str, partition: i32) -> Option<&PartitionInfo> {
        self.topic(topic)?.partition(partition)
    }

    /// The node that leads a partition, if one does and it is known.
    pub fn leader(&self, topic: &str, partition: i32) -> Option<&Arc<Node>> {
        self.node(self.partition(topic, partition)?.leader?)
    }

    /// The topics' partitions that a node leads, by topic and partition.
    pub fn partitions_by_node(&self, id: NodeId) -> impl Iterator<Item = &PartitionInfo> {
        let led = self.indexes().by_leader.get(&id);
        led.into_iter().flatten().filter_map(|(topic, partition)| topic.partition(*partition))
    }

    /// The topic of this id.
    pub fn topic_by_id(&self, id: Uuid) -> Option<&Arc<TopicInfo>> {
        self.indexes().by_id.get(&id)
    }

    /// The name of the topic of this id.
    pub fn topic_name(&self, id: Uuid) -> Option<&Arc<str>> {
        self.topic_by_id(id).map(|topic| &topic.name)
    }

    /// The id of the topic of this name; none below Metadata 10.
    pub fn topic_id(&self, name: &str) -> Option<Uuid> {
        self.topic(name).map(|topic| topic.id).filter(|id| *id != Uuid::ZERO)
    }

    fn indexes(&self) -> &Indexes {
        self.indexes.get_or_init(|| {
            let mut by_name: Vec<_> = self.topics.values().cloned().collect();
            by_name.sort_unstable_by(|a, b| a.name.cmp(&b.name));
            let mut indexes = Indexes::default();
            for topic in &by_name {
                if topic.id != Uuid::ZERO {
                    indexes.by_id.insert(topic.id, Arc::clone(topic));
                }
                for partition in &topic.partitions {
                    if let Some(leader) = partition.leader {
                        let led = indexes.by_leader.entry(leader).or_default();
                        led.push((Arc::clone(topic), partition.partition));
                    }
                }
            }
            indexes.by_name = by_name;
            Arc::new(indexes)
        })
    }
}

/// How `Metadata` changes its own copy before it publishes it.
impl Cluster {
    /// A cluster that was told by a broker: no topics yet.
    pub(crate) fn told(
        id: Option<Arc<str>>,
        nodes: BTreeMap<NodeId, Arc<Node>>,
        controller: Option<NodeId>,
    ) -> Self {
        Self { id, nodes, controller, ..Self::default() }
    }

    /// The same topics around other brokers.
    pub(crate) fn with_topics_of(mut self, other: &Self) -> Self {
        self.topics = other.topics.clone();
        self.unauthorized = other.unauthorized.clone();
        self.invalid = other.invalid.clone();
        self
    }

    /// Adds a node or replaces the one of its id.
    pub(crate) fn insert_node(&mut self, node: Arc<Node>) {
        self.nodes.insert(node.id, node);
    }

    /// Adds a topic or replaces the one of its name.
    pub(crate) fn insert_topic(&mut self, topic: Arc<TopicInfo>) {
        self.unauthorized.remove(&*topic.name);
        self.invalid.remove(&*topic.name);
        self.topics.insert(Arc::clone(&topic.name), topic);
        self.indexes = OnceLock::new();
    }

    /// A topic, to be changed in place; copied first if a snapshot still shares it.
    pub(crate) fn topic_mut(&mut self, name: &str) -> Option<&mut TopicInfo> {
        self.indexes = OnceLock::new();
        self.topics.get_mut(name).map(Arc::make_mut)
    }

    /// Forgets the topics that the test refuses.
    pub(crate) fn retain_topics(&mut self, mut keep: impl FnMut(&TopicInfo) -> bool) {
        self.topics.retain(|_, topic| keep(topic));
        self.indexes = OnceLock::new();
    }

    /// Forgets a topic and notes that this client may not see it, or that its name is refused.
    pub(crate) fn remove_topic(&mut self, name: &Arc<str>, why: Removal) {
        self.topics.remove(name);
        self.indexes = OnceLock::new();
        self.unauthorized.remove(name);
        self.invalid.remove(name);
        match why {
            Removal::Gone => {}
            Removal::Unauthorized => drop(self.unauthorized.insert(Arc::clone(name))),
            Removal::Invalid => drop(self.invalid.insert(Arc::clone(name))),
        }
    }
}

/// Why a topic leaves the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    /// It does not exist, or nobody wants it.
    Gone,
    /// TOPIC_AUTHORIZATION_FAILED.
    Unauthorized,
    /// INVALID_TOPIC_EXCEPTION.
    Invalid,
}
