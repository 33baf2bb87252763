//! What can go wrong in the log, by whose fault it is.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use milena_protocol::records::RecordsError;

/// The result of a storage operation.
pub type Result<T, E = StorageError> = std::result::Result<T, E>;

/// Whose fault an error is, and which of Kafka's error codes it becomes. The broker maps each to one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The peer: a batch is cut off, has a bad CRC or impossible fields. CORRUPT_MESSAGE.
    CorruptMessage,
    /// The peer: a message format other than 2. UNSUPPORTED_FOR_MESSAGE_FORMAT.
    UnsupportedForMessageFormat,
    /// The peer: a batch larger than `max.message.bytes`. MESSAGE_TOO_LARGE.
    MessageTooLarge,
    /// The peer: the batches of one append are larger than a segment. RECORD_LIST_TOO_LARGE.
    RecordListTooLarge,
    /// The peer: a batch that Kafka's validation refuses. INVALID_RECORD.
    InvalidRecord,
    /// The peer: a timestamp outside what the topic allows. INVALID_TIMESTAMP.
    InvalidTimestamp,
    /// The peer: a gap in a producer's sequence. OUT_OF_ORDER_SEQUENCE_NUMBER.
    OutOfOrderSequence,
    /// The peer: a producer that a newer one has replaced. INVALID_PRODUCER_EPOCH.
    InvalidProducerEpoch,
    /// The caller: an offset outside the log. OFFSET_OUT_OF_RANGE.
    OffsetOutOfRange,
    /// The caller: a configuration that is not valid. INVALID_CONFIG.
    InvalidConfig,
    /// The caller: a log that exists already or does not exist. No code of its own.
    InvalidState,
    /// The environment: the disk failed or is full, its content is broken, or the log is poisoned. KAFKA_STORAGE_ERROR.
    Storage,
}

/// An error of the log.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// A batch that cannot be read.
    #[error("a batch cannot be appended: {0}")]
    Records(#[from] RecordsError),
    /// A batch is larger than the topic allows.
    #[error("a batch of {size} bytes exceeds max.message.bytes={limit}")]
    MessageTooLarge {
        /// The batch's size in bytes.
        size: usize,
        /// The topic's limit in bytes.
        limit: usize,
    },
    /// The batches of one append do not fit into a segment.
    #[error("{size} bytes of batches exceed segment.bytes={limit}")]
    RecordListTooLarge {
        /// The size of the append in bytes.
        size: usize,
        /// The topic's segment size in bytes.
        limit: usize,
    },
    /// A batch that Kafka's validation refuses.
    #[error("invalid batch: {0}")]
    InvalidRecord(String),
    /// A timestamp outside the range that the topic allows around the broker's clock.
    #[error("timestamp {timestamp} is out of range: {allowed} around the broker's {now_ms}")]
    InvalidTimestamp {
        /// The offending timestamp in milliseconds.
        timestamp: i64,
        /// The broker's clock in milliseconds.
        now_ms: i64,
        /// The setting that it violates, as `key=value`.
        allowed: String,
    },
    /// A gap in a producer's sequence.
    #[error(
        "producer {producer_id} epoch {producer_epoch}: sequence {sequence} does not follow {last_sequence}"
    )]
    OutOfOrderSequence {
        /// The producer.
        producer_id: i64,
        /// Its epoch.
        producer_epoch: i16,
        /// The first sequence of the refused batch.
        sequence: i32,
        /// The last sequence that the log has of it, −1 for none in this epoch.
        last_sequence: i32,
    },
    /// A producer that a newer one has replaced.
    #[error("producer {producer_id}: epoch {producer_epoch} is older than {current_epoch}")]
    InvalidProducerEpoch {
        /// The producer.
        producer_id: i64,
        /// The epoch that it wrote with.
        producer_epoch: i16,
        /// The epoch that the log knows.
        current_epoch: i16,
    },
    /// An offset outside the log.
    #[error("offset {offset} is out of range: the log has {start} to {end}")]
    OffsetOutOfRange {
        /// The offset that was asked for.
        offset: i64,
        /// The first offset that there is.
        start: i64,
        /// The offset after the last one that may be asked for.
        end: i64,
    },
    /// A follower's append does not continue the log.
    #[error("offset {offset} does not continue the log, which ends at {end}")]
    UnexpectedAppendOffset {
        /// The first offset of the append.
        offset: i64,
        /// The log end offset.
        end: i64,
    },
    /// A configuration that is not valid.
    #[error("{key}={value}: {expected}")]
    InvalidConfig {
        /// The key.
        key: String,
        /// The value that was given.
        value: String,
        /// What is allowed.
        expected: String,
    },
    /// The log, or its directory, is not in the state that the call needs.
    #[error("{0}")]
    InvalidState(String),
    /// A file cannot be understood.
    #[error("{}: {reason}", path.display())]
    BrokenFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An operation on a file failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the environment answered.
        source: Arc<io::Error>,
    },
    /// An earlier failure left the log in an unknown state; it accepts nothing until it is opened again.
    #[error("{}: the log takes no writes until it is recovered, because {reason}", path.display())]
    Poisoned {
        /// The log's directory.
        path: PathBuf,
        /// The failure that did it.
        reason: String,
    },
}

impl StorageError {
    /// Whose fault it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Records(RecordsError::UnsupportedMagic(_)) => ErrorKind::UnsupportedForMessageFormat,
            Self::Records(_) => ErrorKind::CorruptMessage,
            Self::MessageTooLarge { .. } => ErrorKind::MessageTooLarge,
            Self::RecordListTooLarge { .. } => ErrorKind::RecordListTooLarge,
            Self::InvalidRecord(_) => ErrorKind::InvalidRecord,
            Self::InvalidTimestamp { .. } => ErrorKind::InvalidTimestamp,
            Self::OutOfOrderSequence { .. } => ErrorKind::OutOfOrderSequence,
            Self::InvalidProducerEpoch { .. } => ErrorKind::InvalidProducerEpoch,
            Self::OffsetOutOfRange { .. } => ErrorKind::OffsetOutOfRange,
            Self::InvalidConfig { .. } => ErrorKind::InvalidConfig,
            Self::InvalidState(_) | Self::UnexpectedAppendOffset { .. } => ErrorKind::InvalidState,
            Self::BrokenFile { .. } | Self::Io { .. } | Self::Poisoned { .. } => ErrorKind::Storage,
        }
    }

    pub(crate) fn broken(path: &Path, reason: impl Into<String>) -> Self {
        Self::BrokenFile { path: path.to_owned(), reason: reason.into() }
    }
}

/// Names the file that an I/O error is about.
pub(crate) trait IoContext<T> {
    fn at(self, path: &Path) -> Result<T>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|source| StorageError::Io { path: path.to_owned(), source: Arc::new(source) })
    }
}
