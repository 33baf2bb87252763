//! Why the metadata is asked for, with what, and how it went.

use std::{fmt, sync::Arc, time::Duration};

use milena_protocol::{ErrorCode, messages::MetadataRequest};

use crate::{network::NodeId, time::Instant};

/// Why the metadata is refreshed. The first reason since the last request is the one that is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshReason {
    /// Nothing is known but bootstrap.servers.
    Bootstrap,
    /// All that was learned was dropped (KIP-899, KIP-1102).
    Rebootstrap,
    /// metadata.max.age.ms has passed.
    Periodic,
    /// A topic is used that was not used before.
    NewTopic,
    /// A topic or a partition is used that the last answer did not have.
    Missing,
    /// A connection to a broker is being opened.
    Connecting(NodeId),
    /// A connection to a broker ended or could not be opened.
    Disconnected(NodeId),
    /// A broker did not answer within request.timeout.ms.
    RequestTimedOut(NodeId),
    /// A broker is silent for longer than its history suggests.
    Suspected(NodeId),
    /// A record goes to a partition that has no leader.
    UnknownLeader,
    /// A broker's answer to another request says that the metadata is out of date.
    Stale(ErrorCode),
    /// The last answer had this error for a topic or a partition.
    AnswerError(ErrorCode),
    /// The last answer named an older leader epoch than is known.
    OlderEpoch,
    /// A newer leader epoch was seen outside of the metadata.
    NewerEpoch,
    /// Somebody asked for it.
    Requested,
}

impl fmt::Display for RefreshReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bootstrap => f.write_str("bootstrap"),
            Self::Rebootstrap => f.write_str("bootstrap again"),
            Self::Periodic => f.write_str("metadata.max.age.ms"),
            Self::NewTopic => f.write_str("new topic"),
            Self::Missing => f.write_str("unknown topic or partition in use"),
            Self::Connecting(node) => write!(f, "connecting to {node}"),
            Self::Disconnected(node) => write!(f, "disconnected from {node}"),
            Self::RequestTimedOut(node) => write!(f, "request to {node} timed out"),
            Self::Suspected(node) => write!(f, "{node} does not answer"),
            Self::UnknownLeader => f.write_str("partition without leader"),
            Self::Stale(code) => write!(f, "answered {}", code.name()),
            Self::AnswerError(code) => write!(f, "last answer had {}", code.name()),
            Self::OlderEpoch => f.write_str("last answer had an older leader epoch"),
            Self::NewerEpoch => f.write_str("newer leader epoch seen"),
            Self::Requested => f.write_str("requested"),
        }
    }
}

/// A metadata request that is due.
#[derive(Clone, Debug)]
pub struct PlannedRequest {
    /// What to send.
    pub request: MetadataRequest,
    /// Which calls of `request_update` it answers: those up to this one.
    pub request_version: u64,
    /// True when it names some topics only and leaves the age of the whole view as it was (KIP-526).
    pub partial: bool,
    /// Why it is sent.
    pub reason: RefreshReason,
    /// The topics named; none for all topics of the cluster.
    pub topics: Option<Vec<Arc<str>>>,
    /// When it became due.
    pub planned_at: Instant,
    /// The `host:port` of the broker that is asked, once that is known.
    pub broker: Option<Arc<str>>,
}

/// How a refresh went; for people who watch.
#[derive(Clone, Debug)]
pub struct RefreshReport {
    /// Why it was done.
    pub reason: RefreshReason,
    /// True when it named some topics only.
    pub partial: bool,
    /// The topics named; none for all topics of the cluster.
    pub topics: Option<Vec<Arc<str>>>,
    /// The `host:port` of the broker that was asked.
    pub broker: Option<Arc<str>>,
    /// From the moment it was due until its end.
    pub took: Duration,
    /// The view's version after it.
    pub version: u64,
    /// Why it failed, if it did.
    pub error: Option<Arc<str>>,
    /// When it ended.
    pub ended_at: Instant,
}
