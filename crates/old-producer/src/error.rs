//! What can go wrong, and by whose fault.

use std::io;
use std::sync::Arc;

use milena_protocol::{DecodeError, EncodeError, ErrorCode};

use crate::BrokerAddress;

/// A setting is wrong. The caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no such setting.
    #[error("`{key}` is no setting of the old producer; these are: {known}")]
    Unknown {
        /// As given.
        key: String,
        /// Those that there are.
        known: &'static str,
    },
    /// The value is none for this setting.
    #[error("`{key}={value}`: expected {expected}")]
    Invalid {
        /// The setting.
        key: String,
        /// As given.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
    /// One of the brokers has no host or no port.
    #[error("`{0}` is no broker: expected host:port")]
    Address(String),
    /// `metadata.broker.list` is empty.
    #[error("`metadata.broker.list` is empty: name at least one broker as host:port")]
    NoBrokers,
}

/// A broker did not answer one request, or not as it should.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// No connection came about. The environment's fault.
    #[error("connecting to {broker}: {source}")]
    Connect {
        /// Whom it was to.
        broker: BrokerAddress,
        /// The system's reason; `TimedOut` after request.timeout.ms.
        source: Arc<io::Error>,
    },
    /// The connection broke, or the answer did not come within request.timeout.ms. Nobody knows what became of the request.
    #[error("waiting for {broker}: {source}")]
    Lost {
        /// Whom it was with.
        broker: BrokerAddress,
        /// The system's reason; `TimedOut` after request.timeout.ms.
        source: Arc<io::Error>,
    },
    /// The answer cannot be read. The broker's fault.
    #[error("the answer of {broker} cannot be read: {source}")]
    Malformed {
        /// Whose it is.
        broker: BrokerAddress,
        /// What is wrong with it.
        source: DecodeError,
    },
    /// The answer belongs to another request, or does not speak of what was asked for. The broker's fault.
    #[error("the answer of {broker} does not fit the request: {what}")]
    Misfit {
        /// Whose it is.
        broker: BrokerAddress,
        /// What does not fit.
        what: String,
    },
    /// The request cannot be expressed. The caller's fault.
    #[error("the request cannot be sent: {0}")]
    Unspeakable(#[from] EncodeError),
}

/// Why something was not sent, or may not have been.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// `FailedToSendMessageException`: the retries are used up. Some of the messages may have arrived.
    #[error("failed to send {messages} messages to topics {topics:?} after {tries} tries: {cause}")]
    FailedToSend {
        /// How many have not been acknowledged.
        messages: usize,
        /// Where they were to go.
        topics: Vec<String>,
        /// message.send.max.retries and one.
        tries: u32,
        /// What was wrong with the last try.
        cause: Box<SendError>,
    },
    /// No broker of the list has answered (`KafkaException` of `ClientUtils.fetchTopicMetadata`).
    #[error(
        "fetching metadata for topics {topics:?}: none of the brokers {} has answered, the last one: {last}",
        list(brokers)
    )]
    NoMetadata {
        /// What was asked for.
        topics: Vec<String>,
        /// All that were asked, in the order in which they were.
        brokers: Vec<BrokerAddress>,
        /// What was wrong with the last one.
        last: RequestError,
    },
    /// The brokers that answered know of no such topic, or may not tell.
    #[error(
        "no metadata for topic {0}: see whether it exists, and whether brokers create topics by themselves"
    )]
    UnknownTopic(String),
    /// No partition of the topic has a leader.
    #[error("topic {0} has no partition with a leader")]
    NoLeader(String),
    /// The partitioner's choice is not there. The caller's fault.
    #[error("topic {topic} has the partitions 0 to {}, so there is no partition {partition}", .partitions - 1)]
    NoSuchPartition {
        /// The topic.
        topic: String,
        /// What the partitioner said.
        partition: i32,
        /// How many there are.
        partitions: i32,
    },
    /// A broker did not answer.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A broker has answered an error.
    #[error("{broker} refused {topic}-{partition}: {code}: {}", code.message())]
    Refused {
        /// Who.
        broker: BrokerAddress,
        /// The topic.
        topic: String,
        /// The partition.
        partition: i32,
        /// Kafka's error.
        code: ErrorCode,
    },
    /// The producer is closed (`ProducerClosedException`).
    #[error("the producer is closed")]
    Closed,
}

fn list(brokers: &[BrokerAddress]) -> String {
    brokers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
