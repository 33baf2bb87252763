//! The first step of each send: wait until the topic's partitions are known.

use std::{sync::Arc, task::Poll, time::Duration};

use milena_protocol::ErrorCode;

use super::{MetadataHandle, MetadataView};
use crate::time::Instant;

/// Why a topic's metadata is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// The wait was spent (max.block.ms).
    #[error("topic `{topic}` is not in the metadata after {} ms: {cause}", .waited.as_millis())]
    TimedOut {
        /// The topic.
        topic: Arc<str>,
        /// How long was waited.
        waited: Duration,
        /// The topic's own error, or the last failure to connect, with its address.
        cause: Arc<str>,
    },
    /// This client may not use the topic.
    #[error("not authorized to use topic `{topic}`: grant this client's principal DESCRIBE on it")]
    TopicAuthorization {
        /// The topic.
        topic: Arc<str>,
    },
    /// No topic can have this name.
    #[error("`{topic}` is not a valid topic name: 1 to 249 of the characters a-z A-Z 0-9 . _ - are")]
    InvalidTopic {
        /// The name.
        topic: Arc<str>,
    },
    /// The brokers answered another error that waiting does not help.
    #[error("topic `{topic}`: {code}: {}", .code.message())]
    Topic {
        /// The topic.
        topic: Arc<str>,
        /// The error.
        code: ErrorCode,
    },
    /// The topic has no such partition.
    #[error("partition {partition} of topic `{topic}` is out of range: it has the partitions {count}")]
    PartitionOutOfRange {
        /// The topic.
        topic: Arc<str>,
        /// The partition asked for.
        partition: i32,
        /// The valid range, such as `[0, 6)`.
        count: Arc<str>,
    },
    /// The client is closed.
    #[error("the client is closed")]
    Closed,
    /// No metadata will come, however long one waits.
    #[error("the metadata cannot be had: {0}")]
    Fatal(Arc<str>),
}

/// What a caller asks while it is fresh.
enum Known {
    /// All that is needed.
    Yes,
    /// Not the topic.
    No,
    /// The topic, with so many partitions, none of them the one asked for.
    OutOfRange(usize),
}

/// One caller's wait for a topic (`KafkaProducer.waitOnMetadata`), as a step function.
///
/// Loop: [`MetadataHandle::listen`], [`poll`](Self::poll), and while it is pending await the listener or the deadline.
#[derive(Debug)]
pub struct MetadataWait {
    topic: Arc<str>,
    partition: Option<i32>,
    deadline: Instant,
    started: Option<Instant>,
    /// The view's version when a refresh was asked for; only a newer one is an answer.
    asked_at: Option<u64>,
}

impl MetadataWait {
    /// A wait for a topic, and for one partition of it if that is given, until `deadline`.
    pub fn new(topic: &str, partition: Option<i32>, deadline: Instant) -> Self {
        Self { topic: topic.into(), partition, deadline, started: None, asked_at: None }
    }

    /// When [`poll`](Self::poll) must be called at the latest.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Ready when the topic's partitions are known, or when they will not be; asks for them otherwise.
    ///
    /// # Errors
    /// Says whose fault it is that they are not; see [`MetadataError`].
    pub fn poll(&mut self, metadata: &MetadataHandle, now: Instant) -> Poll<Result<(), MetadataError>> {
        let started = *self.started.get_or_insert(now);
        let view = metadata.view();
        if view.closed {
            let fatal = view.fatal.clone().map(MetadataError::Fatal);
            return Poll::Ready(Err(fatal.unwrap_or(MetadataError::Closed)));
        }
        let known = self.known(&view, now);
        if matches!(known, Known::Yes) {
            return Poll::Ready(Ok(()));
        }
        if let Some(error) = self.hopeless(&view, &known) {
            return Poll::Ready(Err(error));
        }
        // Asked once for each version: an answer that did not have the topic is asked for again. Also by
        // who cannot wait (max.block.ms=0): the next call finds it.
        if self.asked_at.is_none_or(|asked| view.version > asked) && metadata.want_topic(&self.topic) {
            self.asked_at = Some(view.version);
        }
        if now >= self.deadline {
            let cause = self.cause(&view);
            let waited = now - started;
            return Poll::Ready(Err(MetadataError::TimedOut {
                topic: Arc::clone(&self.topic),
                waited,
                cause,
            }));
        }
        Poll::Pending
    }

    fn known(&self, view: &MetadataView, now: Instant) -> Known {
        let Some(topic) = view.cluster.topic(&self.topic).filter(|topic| !topic.partitions.is_empty()) else {
            return Known::No;
        };
        topic.touch(now);
        match self.partition {
            Some(partition) if topic.partition(partition).is_none() => {
                Known::OutOfRange(topic.partitions.len())
            }
            _ => Known::Yes,
        }
    }

    /// What the last answer said against the topic or the partition, for those who do not wait for the next one. None when
    /// it is only not known yet.
    pub fn said_last(&self, metadata: &MetadataHandle, now: Instant) -> Option<MetadataError> {
        let view = metadata.view();
        self.refused(&view, &self.known(&view, now))
    }

    /// What no further waiting helps against.
    fn hopeless(&self, view: &MetadataView, known: &Known) -> Option<MetadataError> {
        if let Some(reason) = &view.fatal {
            return Some(MetadataError::Fatal(Arc::clone(reason)));
        }
        let is_invalid = view.topic_errors.get(&self.topic) == Some(&ErrorCode::INVALID_TOPIC_EXCEPTION);
        // Anything else may have changed since somebody else was told.
        let is_news = self.asked_at.is_some_and(|asked| view.version > asked);
        if is_invalid || is_news { self.refused(view, known) } else { None }
    }

    fn refused(&self, view: &MetadataView, known: &Known) -> Option<MetadataError> {
        let topic = Arc::clone(&self.topic);
        match (known, view.topic_errors.get(&self.topic).copied()) {
            (_, Some(ErrorCode::INVALID_TOPIC_EXCEPTION)) => Some(MetadataError::InvalidTopic { topic }),
            (Known::OutOfRange(count), _) => Some(MetadataError::PartitionOutOfRange {
                topic,
                partition: self.partition.unwrap_or_default(),
                count: format!("[0, {count})").into(),
            }),
            (_, Some(ErrorCode::TOPIC_AUTHORIZATION_FAILED)) => {
                Some(MetadataError::TopicAuthorization { topic })
            }
            (_, Some(code)) if !code.is_retriable() => Some(MetadataError::Topic { topic, code }),
            _ => None,
        }
    }

    fn cause(&self, view: &MetadataView) -> Arc<str> {
        match (view.topic_errors.get(&self.topic), &view.last_failure) {
            (Some(code), _) => format!("{code}: {}", code.message()).into(),
            (None, Some(failure)) => Arc::clone(failure),
            (None, None) => "no broker has answered yet".into(),
        }
    }
}
