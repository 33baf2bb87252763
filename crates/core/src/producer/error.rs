//! Why a record was not accepted, and why an accepted one was not delivered.

use std::{sync::Arc, time::Duration};

use milena_protocol::ErrorCode;

/// `append` refused a record: nothing was queued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// The record can never be sent with these settings (Kafka's `RecordTooLargeException`). The caller's fault.
    #[error(
        "a record of {size} bytes is larger than `{setting}` ({limit} bytes): send less, or raise `{setting}`"
    )]
    RecordTooLarge {
        /// What the record may take, in bytes, its batch's header included.
        size: usize,
        /// What is allowed, in bytes.
        limit: usize,
        /// The setting that says so.
        setting: &'static str,
    },
    /// No such partition. The caller's fault, unless the topic shrank (it was deleted and created again).
    #[error("partition {partition} of topic {topic} does not exist: valid are [0, {count})")]
    UnknownPartition {
        /// The topic.
        topic: Arc<str>,
        /// The partition that was asked for.
        partition: i32,
        /// How many there are.
        count: usize,
    },
    /// A timestamp below zero. The caller's fault.
    #[error("a record's timestamp is {0} ms, but it must not be negative")]
    NegativeTimestamp(i64),
    /// buffer.memory is used up and max.block.ms has passed (Kafka's `BufferExhaustedException`). The environment's
    /// fault: the brokers take less than what is sent.
    #[error(
        "the buffer is full: no {needed} of {total} bytes of `buffer.memory` became free within {waited:?}; \
         the brokers take less than is sent"
    )]
    BufferFull {
        /// The bytes that were asked for.
        needed: usize,
        /// buffer.memory, in bytes.
        total: usize,
        /// How long the record waited.
        waited: Duration,
    },
    /// What may wait for brokers that do not answer is used up, and max.block.ms has passed. The environment's fault.
    #[error(
        "{reason}, and what waits for such brokers holds all that it may of `buffer.memory` ({share} bytes, \
         `milena.suspect.memory.percent`); the record waited {waited:?} for {needed} bytes"
    )]
    HeldUp {
        /// Which broker does not answer.
        reason: Arc<str>,
        /// The bytes that were asked for.
        needed: usize,
        /// What may wait for such brokers, in bytes.
        share: usize,
        /// How long the record waited.
        waited: Duration,
    },
    /// The producer is closed. The caller's fault.
    #[error("the producer is closed")]
    Closed,
    /// The producer cannot go on; the error says why.
    #[error("the producer cannot go on: {0}")]
    Fatal(ProduceError),
}

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The broker's, or the network's between.
    Peer,
    /// The program's, its settings' or its permissions'.
    Caller,
    /// The surroundings': a limit of time or memory.
    Environment,
}

/// A record was queued and not delivered. Cheap to clone: every record of a batch gets one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProduceError {
    /// The broker refused the batch, or refused it so often that `retries` is used up.
    #[error("{topic}-{partition}: {code}{}", suffix(.message))]
    Refused {
        /// The topic.
        topic: Arc<str>,
        /// The partition.
        partition: i32,
        /// What the broker said.
        code: ErrorCode,
        /// What it added, if anything.
        message: Option<Arc<str>>,
    },
    /// The broker named this record as the reason why it refused the batch (KIP-467).
    #[error("{topic}-{partition}: the broker refused this record: {message} ({code})")]
    InvalidRecord {
        /// The topic.
        topic: Arc<str>,
        /// The partition.
        partition: i32,
        /// What the broker said of the batch.
        code: ErrorCode,
        /// What it said of the record.
        message: Arc<str>,
    },
    /// The record itself is fine, but another one of its batch was refused (KIP-467).
    #[error(
        "{topic}-{partition}: another record of the same batch was refused ({code}): send this one again"
    )]
    BatchMate {
        /// The topic.
        topic: Arc<str>,
        /// The partition.
        partition: i32,
        /// What the broker said of the batch.
        code: ErrorCode,
    },
    /// delivery.timeout.ms passed. If the batch was in flight the broker may have it nevertheless.
    #[error("{topic}-{partition}: not delivered within `delivery.timeout.ms` ({timeout:?}){}", because(.cause))]
    TimedOut {
        /// The topic.
        topic: Arc<str>,
        /// The partition.
        partition: i32,
        /// delivery.timeout.ms.
        timeout: Duration,
        /// What went wrong last.
        cause: Option<Arc<str>>,
    },
    /// The connection failed and `retries` is used up. The broker may have the batch nevertheless.
    #[error("{topic}-{partition}: {cause}; no retry is left")]
    Disconnected {
        /// The topic.
        topic: Arc<str>,
        /// The partition.
        partition: i32,
        /// What happened to the connection.
        cause: Arc<str>,
    },
    /// The broker cannot be spoken to: no common version, or its answer is not Kafka's.
    #[error("{topic}-{partition}: {cause}")]
    Unusable {
        /// The topic.
        topic: Arc<str>,
        /// The partition.
        partition: i32,
        /// What is wrong.
        cause: Arc<str>,
    },
    /// The records could not be compressed or split: a wrong compression level, for one.
    #[error("{topic}-{partition}: {cause}")]
    Encoding {
        /// The topic.
        topic: Arc<str>,
        /// The partition.
        partition: i32,
        /// What is wrong.
        cause: Arc<str>,
    },
    /// The producer as a whole cannot go on (not authorized, fenced, no idempotence on the broker).
    #[error("{cause}")]
    Fatal {
        /// What the broker said, if it said something.
        code: Option<ErrorCode>,
        /// What happened and what to do.
        cause: Arc<str>,
    },
    /// The producer was closed before the record was acknowledged. If it was in flight the broker may have it.
    #[error("the producer was closed before this record was acknowledged")]
    Closed,
}

impl ProduceError {
    /// The broker's error code, if there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { code, .. } | Self::InvalidRecord { code, .. } | Self::BatchMate { code, .. } => {
                Some(*code)
            }
            Self::Fatal { code, .. } => *code,
            Self::TimedOut { .. }
            | Self::Disconnected { .. }
            | Self::Unusable { .. }
            | Self::Encoding { .. }
            | Self::Closed => None,
        }
    }

    /// Whether sending the record once more may succeed. It may also write it twice when the outcome is unknown.
    pub fn is_retriable(&self) -> bool {
        match self {
            Self::Refused { code, .. } => code.is_retriable(),
            Self::BatchMate { .. } | Self::TimedOut { .. } | Self::Disconnected { .. } => true,
            Self::InvalidRecord { .. }
            | Self::Unusable { .. }
            | Self::Encoding { .. }
            | Self::Fatal { .. }
            | Self::Closed => false,
        }
    }

    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Refused { code, .. } if code.is_retriable() => Fault::Peer,
            Self::Refused { .. } | Self::InvalidRecord { .. } | Self::BatchMate { .. } => Fault::Caller,
            Self::Encoding { .. } | Self::Fatal { .. } | Self::Closed => Fault::Caller,
            Self::Disconnected { .. } | Self::Unusable { .. } => Fault::Peer,
            Self::TimedOut { .. } => Fault::Environment,
        }
    }
}

fn suffix(message: &Option<Arc<str>>) -> String {
    message.as_ref().map(|text| format!(": {text}")).unwrap_or_default()
}

fn because(cause: &Option<Arc<str>>) -> String {
    cause.as_ref().map(|text| format!("; the last error: {text}")).unwrap_or_default()
}
