//! [`ControllerState`]: what the controller must never forget.

use std::collections::BTreeMap;

use milena_protocol::Uuid;
use serde::{Deserialize, Serialize};

/// The state of the cluster, as it is made durable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ControllerState {
    pub(crate) cluster_id: String,
    /// One more with each start of a controller; never goes back.
    pub(crate) controller_epoch: i32,
    /// Every producer id below this one may have been given away.
    pub(crate) next_producer_id: i64,
    pub(crate) topics: BTreeMap<String, TopicState>,
}

impl ControllerState {
    /// A cluster that is new.
    pub(crate) fn new(cluster_id: String) -> Self {
        Self { cluster_id, controller_epoch: 0, next_producer_id: 0, topics: BTreeMap::new() }
    }

    pub(crate) fn topic_by_id(&self, id: Uuid) -> Option<(&String, &TopicState)> {
        self.topics.iter().find(|(_, topic)| topic.id == id)
    }
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TopicState {
    #[serde(with = "uuid_text")]
    pub(crate) id: Uuid,
    /// What was set on the topic itself; the broker's defaults are not in here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) configs: BTreeMap<String, String>,
    /// The partition's number is its index.
    pub(crate) partitions: Vec<PartitionState>,
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartitionState {
    /// The first one is preferred as leader.
    pub(crate) replicas: Vec<i32>,
    /// Never empty, and a part of `replicas`.
    pub(crate) isr: Vec<i32>,
    /// A member of `isr`, or −1.
    pub(crate) leader: i32,
    pub(crate) leader_epoch: i32,
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
