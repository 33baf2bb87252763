//! [`ClusterError`]: why an embedded cluster did not do as asked.

use std::time::Duration;

use milena_protocol::ErrorCode;

use crate::BrokerError;

/// Why an [`EmbeddedCluster`](super::EmbeddedCluster) did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The cluster has no broker of that id. The caller's fault.
    #[error("there is no broker {id}; the cluster has {known:?}")]
    UnknownBroker {
        /// The id that was named.
        id: i32,
        /// Those that exist.
        known: Vec<i32>,
    },
    /// The broker is down. The caller's fault: [`restart`](super::EmbeddedCluster::restart) it first.
    #[error("broker {0} does not run: restart it first")]
    NotRunning(i32),
    /// The broker runs. The caller's fault: [`kill`](super::EmbeddedCluster::kill) or
    /// [`stop`](super::EmbeddedCluster::stop) it first.
    #[error("broker {0} runs: kill or stop it first")]
    StillRunning(i32),
    /// The broker's host is gone, so a broker on it cannot register. The caller's fault:
    /// [`heal`](super::EmbeddedCluster::heal) it first.
    #[error("broker {0} is in a black hole, where no broker can start: heal it first")]
    Unreachable(i32),
    /// A broker did not start, or did not stop cleanly.
    #[error("broker {id}: {source}")]
    Broker {
        /// Which one.
        id: i32,
        /// Why.
        source: BrokerError,
    },
    /// The cluster's own directory or its registry cannot be used, or its settings contradict each other.
    #[error(transparent)]
    Cluster(#[from] BrokerError),
    /// The controller refuses. The caller's fault; the message says what to do.
    #[error("{code}: {message}")]
    Refused {
        /// Kafka's code.
        code: ErrorCode,
        /// What is wrong.
        message: String,
    },
    /// It did not come to that in time: brokers that are down are needed for it, or the machine is too busy.
    #[error("{what} did not come about in {waited:?}")]
    TimedOut {
        /// What was waited for.
        what: String,
        /// How long.
        waited: Duration,
    },
}
