//! Requests to brokers for anybody who needs an answer: the admin client, the simple consumer, the command.
//!
//! [`AdminHandle::submit`] names whom to ask, until when, and which answers to try again after;
//! [`AdminEngine`] finds the broker, connects, sends, retries with the backoff, and completes the [`PendingResponse`].
//! Many requests may be in flight to one broker. Brokers answer one connection's requests in order, so a long poll
//! delays what is sent behind it to the same broker.
//!
//! Kafka's source: `KafkaAdminClient`.

mod engine;
mod pending;
mod retry;

use std::{fmt, sync::Arc, time::Duration};

pub use engine::{AdminEngine, AdminHandle};
pub use pending::PendingResponse;
pub use retry::{RetryPolicy, Verdict};

use crate::network::{NodeId, RequestFailure};

/// Whom to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Any broker: the one with the least to do.
    Any,
    /// The controller.
    Controller,
    /// This broker.
    Node(NodeId),
    /// The partition's leader, whoever that is when the request is sent.
    Leader {
        /// The topic.
        topic: Arc<str>,
        /// The partition.
        partition: i32,
    },
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any broker"),
            Self::Controller => f.write_str("the controller"),
            Self::Node(id) => write!(f, "broker {id}"),
            Self::Leader { topic, partition } => write!(f, "the leader of {topic}-{partition}"),
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AdminError {
    /// The deadline passed.
    #[error("no answer from {target} within {} ms: {cause}", .waited.as_millis())]
    TimedOut {
        /// Who was to be asked.
        target: Target,
        /// From the submission to the deadline.
        waited: Duration,
        /// What was in the way: the last answer's error, the last failure to connect with its address.
        cause: Arc<str>,
    },
    /// The request failed in a way that the retry policy does not try again after.
    #[error(transparent)]
    Request(#[from] RequestFailure),
    /// So many requests wait already: let some of them end first.
    #[error("{0} requests are waiting already")]
    QueueFull(usize),
    /// The client is closed.
    #[error("the client is closed")]
    Closed,
}
