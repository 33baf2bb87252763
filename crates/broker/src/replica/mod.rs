//! Replication, as pure engines: events in, decisions out, `now` an argument.
//!
//! - [`PartitionState`]: one partition on one broker, be it leader or follower: in-sync replicas and high watermark.
//! - [`ReplicaFetcher`]: one follower's fetches from one leader: what to ask for, when to truncate, what to append.
//!
//! The driver joins both with a log of `milena_storage`; so does the simulation.

mod fetcher;
#[cfg(test)]
mod fetcher_tests;
mod partition_state;
#[cfg(test)]
mod partition_state_tests;
#[cfg(test)]
mod replication_tests;

pub use fetcher::{
    FetcherConfig, FetcherRequest, FollowedPartition, FollowerAppend, FollowerLogs, LogEnd, ReplicaFetcher,
    divergence, truncation_offset,
};
pub use partition_state::{
    AlterPartition, AlterPartitionResult, Changes, FollowerFetch, PartitionState, Role, Roles,
};
