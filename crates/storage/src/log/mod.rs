//! One partition's log: segments, the state of its producers, its leader epochs (Kafka: `UnifiedLog`, `LocalLog`).

mod append;
mod cleaner;
mod flush;
mod maintenance;
mod offset_map;
mod open;
mod reader;
mod swap;
mod validate;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use milena_protocol::Uuid;
use parking_lot::RwLock;

use crate::TopicPartition;
use crate::checkpoint::{PARTITION_METADATA_FILE, write_partition_metadata};
use crate::config::{FsyncPolicy, LogConfig};
use crate::error::{Result, StorageError};
use crate::fs::SharedFileSystem;
use crate::leader_epoch::LeaderEpochFileCache;
use crate::producer_state::ProducerStateManager;
use crate::segment::{LogSegment, RollParams};

pub use self::append::LogAppendInfo;
pub use self::cleaner::{Cleanable, Cleaning, DirtyPart};
pub use self::flush::PendingFlush;
pub use self::reader::{FetchData, LogReader, TimestampAndOffset};
pub use self::swap::CleanedGroup;
pub use self::validate::AppendOrigin;

/// `producer.id.expiration.ms`: Kafka's default, one day.
pub const PRODUCER_ID_EXPIRATION_MS: i64 = 86_400_000;

/// How to open a log.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// The topic's settings.
    pub config: LogConfig,
    /// When appends are synced.
    pub fsync: FsyncPolicy,
    /// `producer.id.expiration.ms`.
    pub producer_id_expiration_ms: i64,
    /// Everything before this offset is known to be on disk (from the recovery point checkpoint; 0 for nothing).
    pub recovery_point: i64,
    /// Where DeleteRecords or retention has moved the log's start (from the log start offset checkpoint; 0 for none).
    pub log_start_offset: i64,
    /// Everything before this offset was compacted (from the cleaner offset checkpoint; 0 for nothing).
    pub first_dirty_offset: i64,
    /// Whether the log was closed well: then its files are trusted, else they are recovered.
    pub clean_shutdown: bool,
    /// The topic's id for a log that has none yet.
    pub topic_id: Option<Uuid>,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            config: LogConfig::default(),
            fsync: FsyncPolicy::default(),
            producer_id_expiration_ms: PRODUCER_ID_EXPIRATION_MS,
            recovery_point: 0,
            log_start_offset: 0,
            first_dirty_offset: 0,
            clean_shutdown: false,
            topic_id: None,
        }
    }
}

/// The log of one partition, held by whoever may append to it. Readers use [`LogReader`] and never wait for an append.
///
/// After a failed sync, or a write that could not be undone, the log is poisoned: it is not known what is on disk, so
/// every later append fails with [`StorageError::Poisoned`] until the log has been opened, and so recovered, again.
/// Reads go on.
#[derive(Debug)]
pub struct Log {
    fs: SharedFileSystem,
    dir: PathBuf,
    topic_partition: TopicPartition,
    topic_id: Option<Uuid>,
    config: LogConfig,
    fsync: FsyncPolicy,
    producer_id_expiration_ms: i64,
    shared: Arc<SharedLog>,
    /// The last of `shared.segments`: the one that is appended to.
    active: Arc<LogSegment>,
    producer_state: ProducerStateManager,
    leader_epochs: LeaderEpochFileCache,
    /// Everything before it is on disk: batches, and the indexes of segments that end before it.
    recovery_point: i64,
    last_flush_ms: i64,
    /// Where the log ended when it was looked which producers are idle; 0 before.
    producers_checked_to: i64,
    /// How often the end moved back.
    truncations: u64,
    /// Everything before it was compacted.
    first_dirty_offset: i64,
    /// Whether a batch cannot be compacted.
    cleaning_failed: bool,
    /// Whether the log's own directory is known to be on disk.
    parent_synced: bool,
    /// Why no append is possible any more.
    poisoned: Option<String>,
}

/// What checkpoints tell of a log. A truncation may move each of them back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckpointedOffsets {
    /// Everything before it is on disk.
    pub recovery_point: i64,
    /// First offset that can be read.
    pub log_start_offset: i64,
    /// Everything before it was compacted.
    pub first_dirty_offset: i64,
}

impl CheckpointedOffsets {
    /// Of each the lower one.
    pub(crate) fn min(self, other: Self) -> Self {
        Self {
            recovery_point: self.recovery_point.min(other.recovery_point),
            log_start_offset: self.log_start_offset.min(other.log_start_offset),
            first_dirty_offset: self.first_dirty_offset.min(other.first_dirty_offset),
        }
    }
}

/// What readers see of a log.
#[derive(Debug)]
struct SharedLog {
    /// Oldest first, never empty; replaced whole.
    segments: RwLock<Arc<[Arc<LogSegment>]>>,
    /// First offset that may be read.
    log_start_offset: AtomicI64,
    /// Offset after the last batch that may be read.
    log_end_offset: AtomicI64,
}

impl SharedLog {
    fn segments(&self) -> Arc<[Arc<LogSegment>]> {
        Arc::clone(&self.segments.read())
    }

    fn set_segments(&self, segments: Vec<Arc<LogSegment>>) {
        *self.segments.write() = segments.into();
    }

    fn log_start_offset(&self) -> i64 {
        self.log_start_offset.load(Ordering::Acquire)
    }

    fn log_end_offset(&self) -> i64 {
        self.log_end_offset.load(Ordering::Acquire)
    }
}

impl Log {
    /// Which partition it is.
    #[must_use]
    pub fn topic_partition(&self) -> &TopicPartition {
        &self.topic_partition
    }

    /// The topic's id, if one was ever given.
    #[must_use]
    pub fn topic_id(&self) -> Option<Uuid> {
        self.topic_id
    }

    /// Gives the log its topic's id and writes it to `partition.metadata`.
    ///
    /// # Errors
    /// [`StorageError::InvalidState`] when it has another one: it belongs to a deleted topic of the same name.
    pub fn assign_topic_id(&mut self, topic_id: Uuid) -> Result<()> {
        match self.topic_id {
            Some(own) if own == topic_id => Ok(()),
            Some(own) => Err(StorageError::InvalidState(format!(
                "{} belongs to topic id {own}, not {topic_id}",
                self.dir.display()
            ))),
            None => {
                write_partition_metadata(&*self.fs, &self.dir.join(PARTITION_METADATA_FILE), topic_id)?;
                self.topic_id = Some(topic_id);
                Ok(())
            }
        }
    }

    /// The log's directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &LogConfig {
        &self.config
    }

    /// Replaces the settings; what they change holds from the next append or clean-up on.
    pub fn set_config(&mut self, config: LogConfig) {
        self.config = config;
    }

    /// First offset that can be read.
    #[must_use]
    pub fn log_start_offset(&self) -> i64 {
        self.shared.log_start_offset()
    }

    /// Offset that the next record gets.
    #[must_use]
    pub fn log_end_offset(&self) -> i64 {
        self.shared.log_end_offset()
    }

    /// Everything before this offset is on disk.
    #[must_use]
    pub fn recovery_point(&self) -> i64 {
        self.recovery_point
    }

    /// What checkpoints have to tell of it.
    #[must_use]
    pub fn checkpointed_offsets(&self) -> CheckpointedOffsets {
        CheckpointedOffsets {
            recovery_point: self.recovery_point,
            log_start_offset: self.log_start_offset(),
            first_dirty_offset: self.first_dirty_offset,
        }
    }

    /// Bytes in all segments.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.shared.segments().iter().map(|segment| segment.size()).sum()
    }

    /// Base offsets of the segments, oldest first.
    #[must_use]
    pub fn segment_base_offsets(&self) -> Vec<i64> {
        self.shared.segments().iter().map(|segment| segment.base_offset()).collect()
    }

    /// The producers that wrote to it.
    #[must_use]
    pub fn producer_state(&self) -> &ProducerStateManager {
        &self.producer_state
    }

    /// First offset of the oldest open transaction.
    #[must_use]
    pub fn first_unstable_offset(&self) -> Option<i64> {
        self.producer_state.first_unstable_offset()
    }

    /// The leader epochs.
    #[must_use]
    pub fn leader_epochs(&self) -> &LeaderEpochFileCache {
        &self.leader_epochs
    }

    /// Why the log takes no appends, if so.
    #[must_use]
    pub fn poisoned(&self) -> Option<&str> {
        self.poisoned.as_deref()
    }

    /// A handle for reading that needs no lock of the caller and follows the log as it grows.
    #[must_use]
    pub fn reader(&self) -> LogReader {
        LogReader::new(Arc::clone(&self.shared))
    }

    fn roll_params(&self) -> RollParams {
        let entries = |size: usize| usize::try_from(self.config.segment_index_bytes).unwrap_or(0) / size;
        RollParams {
            segment_bytes: u64::try_from(self.config.segment_bytes).unwrap_or(0),
            // What is to be compacted in time has to be sealed in time.
            segment_ms: if self.config.cleanup_policy.compact {
                self.config.segment_ms.min(self.config.max_compaction_lag_ms)
            } else {
                self.config.segment_ms
            },
            max_index_entries: entries(8).max(1),
            // Kafka leaves one entry of the time index for the segment's end.
            max_time_index_entries: entries(12).saturating_sub(1).max(1),
        }
    }
}
