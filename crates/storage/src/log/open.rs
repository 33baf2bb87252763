//! Opening a log: trusting what was closed well, recovering what was not.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use milena_protocol::records::BatchHeader;
use parking_lot::RwLock;

use super::swap::finish_swaps;
use super::{Log, LogOptions, SharedLog};
use crate::TopicPartition;
use crate::checkpoint::{PARTITION_METADATA_FILE, read_partition_metadata};
use crate::config::FsyncPolicy;
use crate::error::{IoContext, Result, StorageError};
use crate::fs::SharedFileSystem;
use crate::leader_epoch::LeaderEpochFileCache;
use crate::producer_state::{ProducerStateManager, SNAPSHOT_SUFFIX, read_snapshot};
use crate::segment::{
    INDEX_SUFFIX, LOG_SUFFIX, LogSegment, TIME_INDEX_SUFFIX, parse_segment_file, remove_files, segment_file,
};

/// How far back from the end batches are looked at to remember more than the last batch of each producer, which is all
/// that a snapshot holds. Five batches of 1 MiB, and some for other producers.
const RECENT_BATCHES_BYTES: u64 = 8 * 1024 * 1024;

/// Left by a replacement or a clean-up that a crash interrupted.
const TEMPORARY_SUFFIXES: [&str; 4] = [".tmp", ".deleted", ".cleaned", ".swap"];

impl Log {
    /// Opens the log of a partition in `log_dir`, creating it if it is not there.
    ///
    /// Unless it was closed well, every segment from the recovery point on is scanned: whole batches with a right CRC and
    /// rising offsets stay, and the log is cut behind the last of them; indexes and the producers' state are built again.
    /// Indexes that are missing or broken are built again in any case.
    ///
    /// # Errors
    /// When the file system fails, or `partition.metadata` is broken or names another topic id than the options.
    pub fn open(
        fs: SharedFileSystem,
        log_dir: &Path,
        topic_partition: TopicPartition,
        options: LogOptions,
        now_ms: i64,
    ) -> Result<Self> {
        let dir = log_dir.join(topic_partition.dir_name());
        fs.create_dir_all(&dir).at(&dir)?;
        let topic_id = read_partition_metadata(&*fs, &dir.join(PARTITION_METADATA_FILE))?;
        let mut leader_epochs = LeaderEpochFileCache::open(Arc::clone(&fs), &dir);
        let opened = open_segments(&fs, &dir, &options, &mut leader_epochs, now_ms)?;
        let first = opened.segments.first().map_or(0, |segment| segment.base_offset());
        let active = match opened.segments.last() {
            Some(segment) => Arc::clone(segment),
            None => return Err(StorageError::InvalidState(format!("{} has no segment", dir.display()))),
        };
        active.activate()?;
        let log_end_offset = active.next_offset();
        let mut log = Self {
            shared: Arc::new(SharedLog {
                segments: RwLock::new(opened.segments.into()),
                log_start_offset: AtomicI64::new(first.max(options.log_start_offset)),
                log_end_offset: AtomicI64::new(log_end_offset),
            }),
            fs,
            dir,
            topic_partition,
            topic_id,
            config: options.config,
            fsync: options.fsync,
            producer_id_expiration_ms: options.producer_id_expiration_ms,
            active,
            producer_state: ProducerStateManager::default(),
            leader_epochs,
            recovery_point: if options.clean_shutdown { log_end_offset } else { options.recovery_point },
            last_flush_ms: now_ms,
            truncations: 0,
            producers_checked_to: 0,
            first_dirty_offset: if options.first_dirty_offset > log_end_offset {
                0
            } else {
                options.first_dirty_offset
            },
            cleaning_failed: false,
            parent_synced: false,
            poisoned: None,
        };
        log.recovery_point = log.recovery_point.clamp(0, log_end_offset);
        log.finish_open(&opened.recovered, now_ms)?;
        if let Some(topic_id) = options.topic_id {
            log.assign_topic_id(topic_id)?;
        }
        Ok(log)
    }

    fn finish_open(&mut self, recovered: &[Arc<LogSegment>], now_ms: i64) -> Result<()> {
        if self.log_start_offset() > self.log_end_offset() {
            // What the checkpoint says was deleted cannot come back; the log goes on behind it.
            return self.truncate_fully_and_start_at(self.log_start_offset(), now_ms);
        }
        self.leader_epochs.truncate_from_end(self.log_end_offset())?;
        self.leader_epochs.truncate_from_start(self.log_start_offset())?;
        self.rebuild_producer_state()?;
        if self.fsync == FsyncPolicy::EveryBatch {
            for segment in recovered {
                segment.rewrite(self.recovery_point)?;
                // Also one that ends at the recovery point: a truncation may not be on the disk yet.
                segment.sync()?;
            }
            self.sync_segments(self.log_end_offset())?;
        }
        Ok(())
    }

    /// Producers as of the log's end: from the newest good snapshot and the batches behind it. Who is idle is not known then,
    /// since timestamps only say what producers want them to say.
    pub(super) fn rebuild_producer_state(&mut self) -> Result<()> {
        let (mut state, from) = self.newest_snapshot()?;
        let segments = self.shared.segments();
        // Also what lies before the log's start: who deletes records does not forget what their producers wrote last.
        for segment in segments.iter().filter(|segment| segment.next_offset() > from) {
            let mut scanner = segment.scan_from(from)?;
            while let Some(batch) = scanner.next()? {
                if batch.header.has_producer_id() && batch.header.base_offset >= from {
                    if batch.header.attributes.is_control() {
                        state.update(&scanner.read(&batch)?);
                    } else {
                        state.update_data(&batch.header);
                    }
                }
            }
        }
        state.remember_older(&recent_batches(&segments)?);
        self.producer_state = state;
        Ok(())
    }

    /// Loads the newest snapshot at or below the log's end; removes those above it and those that are broken.
    fn newest_snapshot(&self) -> Result<(ProducerStateManager, i64)> {
        for offset in self.snapshot_offsets()?.into_iter().rev() {
            let path = segment_file(&self.dir, offset, SNAPSHOT_SUFFIX);
            if offset <= self.log_end_offset() {
                match read_snapshot(&*self.fs, &path) {
                    Ok(state) => return Ok((state, offset)),
                    Err(error) => tracing::warn!(%error, "the producer snapshot is dropped"),
                }
            }
            self.fs.remove_file(&path).at(&path)?;
        }
        Ok((ProducerStateManager::default(), 0))
    }

    /// Offsets of the snapshots that there are, in order.
    pub(super) fn snapshot_offsets(&self) -> Result<BTreeSet<i64>> {
        let entries = self.fs.list(&self.dir).at(&self.dir)?;
        let offset = |name: &str| match parse_segment_file(name) {
            Some((offset, SNAPSHOT_SUFFIX)) => Some(offset),
            _ => None,
        };
        Ok(entries.iter().filter_map(|entry| offset(&entry.name)).collect())
    }
}

/// Headers of the producers' batches in about the last [`RECENT_BATCHES_BYTES`], in as many segments as those are.
fn recent_batches(segments: &[Arc<LogSegment>]) -> Result<Vec<BatchHeader>> {
    let mut wanted = RECENT_BATCHES_BYTES;
    let mut tails = Vec::new();
    for segment in segments.iter().rev() {
        if wanted == 0 {
            break;
        }
        tails.push((segment, wanted));
        wanted = wanted.saturating_sub(segment.size());
    }
    let mut recent = Vec::new();
    for (segment, bytes) in tails.into_iter().rev() {
        let mut scanner = segment.scan_tail(bytes)?;
        while let Some(batch) = scanner.next()? {
            if batch.header.has_producer_id() && !batch.header.attributes.is_control() {
                recent.push(batch.header);
            }
        }
    }
    Ok(recent)
}

struct OpenedSegments {
    /// Never empty.
    segments: Vec<Arc<LogSegment>>,
    /// Those of them that were scanned because the log was not closed well.
    recovered: Vec<Arc<LogSegment>>,
}

fn open_segments(
    fs: &SharedFileSystem,
    dir: &Path,
    options: &LogOptions,
    epochs: &mut LeaderEpochFileCache,
    now_ms: i64,
) -> Result<OpenedSegments> {
    finish_swaps(fs, dir, now_ms)?;
    let bases: Vec<i64> = clean_up_dir(fs, dir)?.into_iter().collect();
    let mut opened = OpenedSegments { segments: Vec::new(), recovered: Vec::new() };
    let mut keep = bases.len();
    let mut epochs_changed = false;
    for (number, base) in bases.iter().enumerate() {
        let segment = Arc::new(LogSegment::open(&**fs, dir, *base, now_ms)?);
        let next_base = bases.get(number + 1).copied();
        let unflushed =
            !options.clean_shutdown && next_base.is_none_or(|next_base| next_base > options.recovery_point);
        let recovered = unflushed || !is_sound(&segment, options.clean_shutdown)?;
        let mut cut = 0;
        if recovered {
            let interval = u64::try_from(options.config.index_interval_bytes).unwrap_or(0);
            cut = segment.recover(interval, |batch| {
                let header = batch.header();
                let epoch = header.partition_leader_epoch;
                epochs_changed |= epochs.note_found(epoch, header.base_offset, header.last_offset());
                Ok(())
            })?;
        } else if next_base.is_some() {
            segment.seal()?;
        }
        let end = segment.next_offset();
        if unflushed {
            opened.recovered.push(Arc::clone(&segment));
        }
        opened.segments.push(segment);
        let hole = |next: i64| recovered && next > end && !options.config.cleanup_policy.compact;
        if next_base.is_some_and(|next| cut > 0 || next < end || hole(next)) {
            keep = number + 1;
            break;
        }
    }
    if epochs_changed {
        epochs.write()?;
    }
    for base in bases.get(keep..).unwrap_or_default() {
        tracing::warn!(dir = %dir.display(), base, "the segment is removed: the log was cut before it");
        remove_files(&**fs, dir, *base, "")?;
    }
    if opened.segments.is_empty() {
        let base = options.log_start_offset.max(0);
        opened.segments.push(Arc::new(LogSegment::open(&**fs, dir, base, now_ms)?));
    }
    Ok(opened)
}

/// Whether a segment that is said to be on disk can be trusted; loads it then.
fn is_sound(segment: &LogSegment, clean_shutdown: bool) -> Result<bool> {
    match segment.sanity_check(!clean_shutdown).and_then(|()| segment.load()) {
        Ok(()) => Ok(true),
        Err(error @ StorageError::Io { .. }) => Err(error),
        Err(error) => {
            tracing::warn!(path = %segment.path().display(), %error, "the segment's indexes are built again");
            Ok(false)
        }
    }
}

/// Removes what a crash left behind and indexes without a log; answers the segments' base offsets.
fn clean_up_dir(fs: &SharedFileSystem, dir: &Path) -> Result<BTreeSet<i64>> {
    let entries = fs.list(dir).at(dir)?;
    let names: Vec<_> =
        entries.iter().filter(|entry| !entry.is_dir).map(|entry| entry.name.as_str()).collect();
    let segments = names.iter().filter_map(|name| parse_segment_file(name));
    let bases: BTreeSet<i64> =
        segments.filter(|(_, suffix)| *suffix == LOG_SUFFIX).map(|(base, _)| base).collect();
    for name in names {
        let temporary = TEMPORARY_SUFFIXES.iter().any(|suffix| name.ends_with(suffix));
        let orphan = parse_segment_file(name).is_some_and(|(base, suffix)| {
            (suffix == INDEX_SUFFIX || suffix == TIME_INDEX_SUFFIX) && !bases.contains(&base)
        });
        if temporary || orphan {
            let path = dir.join(name);
            fs.remove_file(&path).at(&path)?;
        }
    }
    Ok(bases)
}
