//! The controller: who decides which topics there are and who leads their partitions.
//!
//! [`ControllerEngine`] is pure: requests go in, decisions and [`Effect`]s come out. [`Controller`] is its driver on one
//! node: it makes the state durable before anybody sees it, then carries the effects out in their order. With more
//! brokers the effects become UpdateMetadata, LeaderAndIsr and StopReplica requests to each of them.

mod driver;
mod engine;
mod state;
mod store;
#[cfg(test)]
mod tests;
mod topic_name;

pub(crate) use driver::{Controller, ControllerDeps, CreatePartitions};
pub(crate) use engine::{
    ControllerEngine, ControllerError, CreateTopic, CreatedTopic, Effect, LeaderAndIsrTopic, StopReplica,
    TopicSelector,
};
pub(crate) use state::{ControllerState, PartitionState, TopicState};
pub(crate) use store::ControllerStore;
pub(crate) use topic_name::{collide, validate_topic_name};
