//! The controller: who decides which topics there are and who leads their partitions.
//!
//! [`ControllerEngine`] is pure: requests go in, decisions and [`Effect`]s come out. `Controller` is its driver: it makes the
//! state durable before anybody sees it, then has the effects carried out in their order, which for most of them means a
//! request to a broker: UpdateMetadata, LeaderAndIsr or StopReplica.
//!
//! `driver` holds the office, `channels` its connections, and `obedience` is the other end of them.
//!
//! `engine` has what brokers' coming and going does, `leadership` what leaders and administrators ask for, `topics` and
//! `reassignment` what their names say, `rebalance` what time does; `batch` is what an event changed, and
//! `commit` turns it into requests.

mod batch;
mod channels;
#[cfg(test)]
mod cluster_tests;
mod commit;
mod driver;
mod election;
mod engine;
mod fence;
mod leadership;
mod obedience;
#[cfg(test)]
mod random_tests;
mod reassignment;
mod rebalance;
mod requests;
mod state;
#[cfg(test)]
mod tests;
mod topic_name;
mod topics;
pub(crate) mod wire;

pub(crate) use driver::{Controller, CreatePartitions, Delivery, config_listener};
pub use election::{Election, ElectionKind, elect};
pub use engine::{ControllerConfig, ControllerEngine, LeaderRebalance};
pub use fence::{ControlFence, ControlStamp};
pub(crate) use obedience::{Obedience, TopicOutcomes};
pub use requests::{
    ConfigChange, ConfigOp, ControlBody, ControlRequest, ControllerError, CreateTopic, CreatedTopic,
    EPOCH_DURING_DELETE, Effect, IsrChange, LeaderAndIsr, LeaderAndIsrTopic, LiveLeader, RequestId,
    StopReplica, StopReplicaPartition, StopReplicaTopic, TopicSelector,
};
pub use state::{ControllerState, PartitionState, TopicState};
pub(crate) use topic_name::{collide, validate_topic_name};
