//! What the controller tells brokers, and what it has to be done for.

use std::collections::BTreeMap;
use std::sync::Arc;

use milena_protocol::{ErrorCode, Uuid};

use super::{ControlStamp, PartitionState};
use crate::metadata_cache::MetadataUpdate;

/// Why the controller refuses something. The text is for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ControllerError {
    /// Kafka's code.
    pub code: ErrorCode,
    /// What is wrong, and what to do.
    pub message: String,
}

pub(super) fn refuse<T>(code: ErrorCode, message: impl Into<String>) -> Result<T, ControllerError> {
    Err(ControllerError { code, message: message.into() })
}

/// What has to happen because of a decision, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// The state has to be durable before anything after this is done.
    Persist,
    /// A topic's own settings are these now; none when it is gone.
    TopicConfigs {
        /// The topic.
        topic: Arc<str>,
        /// All that is set on it.
        configs: BTreeMap<String, String>,
    },
    /// A broker has to be told something, behind everything that it was told before. Its answer comes back as
    /// [`ControllerEngine::handle_answer`](super::ControllerEngine::handle_answer).
    Send(ControlRequest),
}

/// Names one request of one controller; they grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub i64);

/// A request of the controller to one broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlRequest {
    /// Names the request in its answer.
    pub id: RequestId,
    /// Who is meant.
    pub broker: i32,
    /// Who sends it.
    pub controller_id: i32,
    /// By what the broker tells whether it is to obey.
    pub stamp: ControlStamp,
    /// What it says.
    pub body: ControlBody,
}

/// What a request of the controller says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlBody {
    /// The broker leads or follows partitions.
    LeaderAndIsr(LeaderAndIsr),
    /// The broker's metadata cache has news.
    UpdateMetadata(MetadataUpdate),
    /// The broker gives partitions up.
    StopReplica(StopReplica),
}

/// The partitions that a broker is to lead or to follow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeaderAndIsr {
    /// The partitions, by topic.
    pub topics: Vec<LeaderAndIsrTopic>,
    /// Where the leaders among them are to be reached by other brokers.
    pub live_leaders: Vec<LiveLeader>,
}

/// One topic of [`LeaderAndIsr`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaderAndIsrTopic {
    /// Its name.
    pub name: Arc<str>,
    /// Its id.
    pub id: Uuid,
    /// Its partitions by number, each with its state.
    pub partitions: Vec<(i32, PartitionState)>,
}

/// A leader, and where other brokers reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveLeader {
    /// Its id.
    pub id: i32,
    /// The host of its inter-broker listener.
    pub host: String,
    /// The port of its inter-broker listener.
    pub port: u16,
}

/// The partitions that a broker is to give up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StopReplica {
    /// The partitions, by topic.
    pub topics: Vec<StopReplicaTopic>,
}

/// One topic of [`StopReplica`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopReplicaTopic {
    /// Its name.
    pub name: Arc<str>,
    /// Its partitions.
    pub partitions: Vec<StopReplicaPartition>,
}

/// One partition of [`StopReplica`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopReplicaPartition {
    /// Its number.
    pub partition: i32,
    /// The leader epoch of the decision; [`EPOCH_DURING_DELETE`] for a topic that is deleted.
    pub leader_epoch: i32,
    /// Whether the log goes too.
    pub delete: bool,
}

/// The leader epoch of a partition whose topic is deleted (`LeaderAndIsr.EpochDuringDelete`).
pub const EPOCH_DURING_DELETE: i32 = -2;

/// A topic that somebody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateTopic {
    /// Its name.
    pub name: String,
    /// A fresh random id.
    pub id: Uuid,
    /// −1 for the default.
    pub num_partitions: i32,
    /// −1 for the default.
    pub replication_factor: i16,
    /// Replicas by partition; empty for the controller's choice.
    pub assignments: Vec<(i32, Vec<i32>)>,
    /// A value of None is what the client sent as null.
    pub configs: Vec<(String, Option<String>)>,
}

/// A topic that was created, or would have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedTopic {
    /// Its id.
    pub id: Uuid,
    /// How many partitions it has.
    pub num_partitions: i32,
    /// How many replicas each of them has.
    pub replication_factor: i16,
    /// What is set on it.
    pub configs: BTreeMap<String, String>,
}

/// A topic by name or by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopicSelector {
    /// By name.
    Name(String),
    /// By id.
    Id(Uuid),
}

/// A leader's wish to change the in-sync replicas of a partition (AlterPartition, KIP-497).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsrChange {
    /// The topic's id.
    pub topic_id: Uuid,
    /// The partition's number.
    pub partition: i32,
    /// The epoch in which the sender leads.
    pub leader_epoch: i32,
    /// The state that the wish is about.
    pub partition_epoch: i32,
    /// The replicas in sync with the epochs of their brokers, −1 for one that is not known (KIP-903).
    pub isr: Vec<(i32, i64)>,
}

/// One change of a topic's settings (IncrementalAlterConfigs, KIP-339).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigChange {
    /// The setting.
    pub name: String,
    /// What to do with it.
    pub op: ConfigOp,
    /// The value; None is what the client sent as null.
    pub value: Option<String>,
}

/// What [`ConfigChange`] does (`AlterConfigOp.OpType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigOp {
    /// Replaces the value.
    Set,
    /// Goes back to the default.
    Delete,
    /// Adds to a list.
    Append,
    /// Takes from a list.
    Subtract,
}
