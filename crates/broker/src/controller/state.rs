//! [`ControllerState`]: what the controller must never forget.

use std::collections::BTreeMap;

use milena_protocol::Uuid;
use serde::{Deserialize, Serialize};

use crate::metadata_cache::NO_LEADER;

/// The state of the cluster, as it is made durable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerState {
    /// The cluster's id.
    pub cluster_id: String,
    /// One more with each election of a controller; never goes back.
    pub controller_epoch: i32,
    /// The brokers that the controller knew to be alive, with their epochs. The next controller learns from it who
    /// restarted while there was none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub broker_epochs: BTreeMap<i32, i64>,
    /// The topics by name.
    pub topics: BTreeMap<String, TopicState>,
    /// The topics that are being deleted: gone for everybody who asks, but not every live broker has confirmed it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deleting: BTreeMap<String, TopicState>,
}

impl ControllerState {
    /// A cluster that is new.
    #[must_use]
    pub fn new(cluster_id: String) -> Self {
        Self {
            cluster_id,
            controller_epoch: 0,
            broker_epochs: BTreeMap::new(),
            topics: BTreeMap::new(),
            deleting: BTreeMap::new(),
        }
    }

    /// A topic by its id.
    pub fn topic_by_id(&self, id: Uuid) -> Option<(&String, &TopicState)> {
        self.topics.iter().find(|(_, topic)| topic.id == id)
    }

    /// A partition, if there is such a topic and it has so many.
    pub fn partition(&self, topic: &str, number: i32) -> Option<&PartitionState> {
        self.topics.get(topic)?.partition(number)
    }
    /// Whether `broker` is to hold this replica. One that it holds although it is not is a stray: it was taken away, or
    /// its topic deleted, when the broker could not be told.
    pub fn assigns(&self, topic: &str, id: Uuid, number: i32, broker: i32) -> bool {
        let topic = self.topics.get(topic).filter(|topic| topic.id == id);
        let partition = topic.and_then(|topic| topic.partition(number));
        partition.is_some_and(|partition| partition.replicas.contains(&broker))
    }
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicState {
    /// Its id.
    #[serde(with = "uuid_text")]
    pub id: Uuid,
    /// What was set on the topic itself; the broker's defaults are not in here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub configs: BTreeMap<String, String>,
    /// The partition's number is its index.
    pub partitions: Vec<PartitionState>,
}

impl TopicState {
    /// A partition by its number.
    pub fn partition(&self, number: i32) -> Option<&PartitionState> {
        self.partitions.get(usize::try_from(number).ok()?)
    }
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionState {
    /// The first one is preferred as leader. While a reassignment is under way: the target, then what is to go.
    pub replicas: Vec<i32>,
    /// Never empty, and a part of `replicas`.
    pub isr: Vec<i32>,
    /// A member of `isr`, or −1.
    pub leader: i32,
    /// One more with each decision of the controller about the partition; never goes back.
    pub leader_epoch: i32,
    /// One more with each change, those included that its leader asks for (Kafka: `partitionEpoch`, `zkVersion`).
    #[serde(default)]
    pub partition_epoch: i32,
    /// The replicas that a reassignment adds; a part of `replicas`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adding_replicas: Vec<i32>,
    /// The replicas that a reassignment removes; a part of `replicas`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removing_replicas: Vec<i32>,
}

impl PartitionState {
    /// A partition that never was: the first of the replicas that are alive leads, those are in sync, the epoch is 0.
    pub(crate) fn new(replicas: Vec<i32>, is_alive: impl Fn(i32) -> bool) -> Self {
        let isr: Vec<i32> = replicas.iter().copied().filter(|id| is_alive(*id)).collect();
        let leader = isr.first().copied().unwrap_or(NO_LEADER);
        Self {
            isr: if isr.is_empty() { replicas.clone() } else { isr },
            replicas,
            leader,
            leader_epoch: 0,
            partition_epoch: 0,
            adding_replicas: Vec::new(),
            removing_replicas: Vec::new(),
        }
    }

    /// The same partition after a decision of the controller.
    pub(crate) fn led_by(&self, leader: i32, isr: Vec<i32>) -> Self {
        Self {
            leader,
            isr,
            leader_epoch: self.leader_epoch + 1,
            partition_epoch: self.partition_epoch + 1,
            ..self.clone()
        }
    }

    /// Whether replicas are being moved.
    pub fn is_reassigning(&self) -> bool {
        !self.adding_replicas.is_empty() || !self.removing_replicas.is_empty()
    }

    /// The replicas that there will be when the reassignment is done.
    pub fn target_replicas(&self) -> Vec<i32> {
        let stays = |id: &i32| !self.removing_replicas.contains(id);
        self.replicas.iter().copied().filter(stays).collect()
    }

    /// The replicas that there were before the reassignment.
    pub fn original_replicas(&self) -> Vec<i32> {
        let was = |id: &i32| !self.adding_replicas.contains(id);
        self.replicas.iter().copied().filter(was).collect()
    }
}

mod uuid_text {
    use milena_protocol::Uuid;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(id: &Uuid, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(id)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Uuid, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
