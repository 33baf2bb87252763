//! A Kafka broker that runs inside a process: a real one, with a log on disk, that any Kafka client can talk to.
//!
//! A tour, from the socket to the disk:
//!
//! 1. [`Broker`] takes a data directory and listens. `boot` is its way up; nothing is global, so a process may have as
//!    many brokers as it likes.
//! 2. `network`: a `SocketServer` with one task a connection cuts frames out of the stream, hands them to
//!    `kafka_apis` one by one, and writes the answers in order. All of its bounds are in [`SocketConfig`].
//! 3. `kafka_apis`: one file per API, each saying at its top which versions are served and what is not.
//! 4. [`metadata_cache`]: what this broker knows of the cluster, an immutable snapshot that is swapped whole; every
//!    metadata answer comes from it, with the endpoints of the listener that was asked.
//! 5. `registry`: what ZooKeeper was to a cluster: who is alive, in which epoch, who is the controller, and the state that
//!    outlives both. `membership` is a broker's session with it.
//! 6. `controller`: a pure engine that decides which topics there are and who leads them; a driver that makes its state
//!    durable and sends its decisions to the brokers; and `obedience`, what a broker does when it gets one.
//!    `coordinator`: consumer groups, a pure engine and its driver in the same way.
//! 7. `replica_manager`: the partitions of this broker, each with its role, its log (`milena_storage`) and the requests
//!    that wait for it.
//! 8. `cluster`: [`EmbeddedCluster`] starts several brokers on one registry, and kills, stops, restarts and pauses them.
//!    `task_gate` is what all tasks of a broker go through, so that they can be held. `faults`: what else can be wrong with
//!    a broker; its sockets come from there.
//!
//! Where blocking happens: appends and reads of the page cache are copies and run on the runtime's threads; whatever
//! waits for the disk (fsync, recovery, creating and deleting logs, the controller's state) runs on blocking threads.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # let dir = tempfile::tempdir()?;
//! # runtime.block_on(async {
//! use milena_broker::{Broker, BrokerConfig};
//!
//! let broker = Broker::start(BrokerConfig::new(dir.path())).await?;
//! println!("point any Kafka client at {}", broker.bootstrap());
//! broker.shutdown().await?;
//! # Ok(()) })
//! # }
//! ```

#![forbid(unsafe_code)]

mod background;
mod blocking;
mod boot;
mod broker;
#[cfg(test)]
mod broker_cluster_tests;
mod client_memory;
mod clock;
mod cluster;
pub mod config;
mod controller;
mod coordinator;
mod data_dir;
mod error;
mod faults;
mod fetch_session;
mod kafka_apis;
mod leaving;
mod log_dir_failure;
mod membership;
pub mod metadata_cache;
mod network;
mod node;
mod producer_ids;
mod registry;
#[doc(hidden)]
pub mod replica;
mod replica_manager;
#[doc(hidden)]
pub mod simulation;
mod task_gate;
#[cfg(test)]
mod test_cluster;
mod topic_configs;

/// The pure engines of a cluster, for a simulation of one: everything here is decisions, and no promise of stability.
#[doc(hidden)]
pub mod engines {
    pub use crate::controller::{
        ConfigChange, ConfigOp, ControlBody, ControlFence, ControlRequest, ControlStamp, ControllerConfig,
        ControllerEngine, ControllerError, ControllerState, CreateTopic, CreatedTopic, EPOCH_DURING_DELETE,
        Effect, Election, ElectionKind, IsrChange, LeaderAndIsr, LeaderAndIsrTopic, LeaderRebalance,
        LiveLeader, PartitionState, RequestId, StopReplica, StopReplicaPartition, StopReplicaTopic,
        TopicSelector, TopicState, elect,
    };
    pub use crate::registry::{
        ControllerInfo, RegisteredBroker, Registration, RegistryConfig, RegistryEngine, RegistryError,
        RegistryState, RegistryView,
    };
}

pub use broker::{Broker, StartedOrJoined};
pub use cluster::{BrokerState, BrokerStatus, ClusterError, EmbeddedCluster, EmbeddedClusterBuilder};
pub use config::{BrokerConfig, ListenerConfig, ReplicaSelector, SocketConfig};
pub use data_dir::{DataDirState, RunningBroker, running};
pub use error::BrokerError;
pub use faults::{FaultGuard, Intercept, InterceptAction};
pub use milena_protocol as protocol;
pub use milena_storage::{FsyncPolicy, LogConfig};
