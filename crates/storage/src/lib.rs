//! Kafka's log on disk: segments, indexes, the producers' state, recovery.
//!
//! - [`LogManager`] has a broker's log directory: lock, identity, checkpoints, and a [`LogHandle`] per partition.
//! - [`Log`] is one partition's log, for whoever may append; [`LogReader`] reads beside it without a lock of the
//!   caller's.
//! - [`fs`] is the file system behind both: the disk, memory, or a disk that fails as a test tells it.
//!
//! The files are Kafka's (`DumpLogSegments` reads them): segments of record batches v2 named by their base offset,
//! `.index`, `.timeindex`, `.snapshot`, `leader-epoch-checkpoint`, `partition.metadata`, and the checkpoints beside.
//!
//! Everything is synchronous, reads no clock (`now_ms` is an argument) and has no global state. What an acknowledged
//! record survives is said at [`FsyncPolicy`].
//!
//! ```
//! use std::path::Path;
//! use milena_protocol::records::{BatchBuilder, Seal};
//! use milena_storage::fs::MemoryFileSystem;
//! use milena_storage::{AppendOrigin, Log, LogOptions, TopicPartition};
//!
//! let now_ms = 1_700_000_000_000;
//! let orders = TopicPartition::new("orders", 0);
//! let mut log = Log::open(MemoryFileSystem::shared(), Path::new("data"), orders, LogOptions::default(), now_ms)?;
//! let mut batch = BatchBuilder::new(Vec::new());
//! batch.append(now_ms, None, Some(b"one record"), &[]);
//! let records = batch.seal(Seal::default()).into();
//! let info = log.append_as_leader(records, 0, AppendOrigin::Client, now_ms)?;
//! assert_eq!((info.first_offset, info.last_offset), (0, 0));
//!
//! let fetched = log.reader().read(0, 1024 * 1024, log.log_end_offset(), true)?;
//! assert_eq!(fetched.next_offset, 1);
//! # Ok::<(), milena_storage::StorageError>(())
//! ```
//!
//! Not here: transactions' aborted records are not left out by compaction, since nothing writes any.

#![forbid(unsafe_code)]

pub mod checkpoint;
pub mod config;
mod error;
pub mod fs;
mod index;
mod leader_epoch;
mod log;
mod log_dir_failure;
mod log_manager;
mod producer_state;
mod segment;
mod topic_partition;

pub use config::{CleanupPolicy, ConfigKey, ConfigType, FsyncPolicy, LogConfig};
pub use error::{ErrorKind, Result, StorageError};
pub use leader_epoch::{EpochEntry, LEADER_EPOCH_FILE, LeaderEpochFileCache};
pub use log::{
    AppendOrigin, CheckpointedOffsets, Cleanable, CleanedGroup, Cleaning, DirtyPart, FetchData, Log,
    LogAppendInfo, LogOptions, LogReader, PRODUCER_ID_EXPIRATION_MS, PendingFlush, TimestampAndOffset,
};
pub use log_dir_failure::LogDirFailureChannel;
pub use log_manager::{DELETE_SUFFIX, LOCK_FILE, LogHandle, LogManager, LogManagerOptions};
pub use producer_state::{BatchMetadata, NUM_BATCHES_TO_RETAIN, ProducerStateEntry, ProducerStateManager};
pub use topic_partition::{TopicPartition, is_valid_topic_name};
