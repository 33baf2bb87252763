//! One segment of a log: a file of batches and its two indexes (Kafka: `LogSegment`).

mod recovery;
pub(crate) mod scan;

use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use bytes::Bytes;
use milena_protocol::records::{BATCH_HEADER_LEN, BatchHeader, NO_TIMESTAMP};
use parking_lot::Mutex;

use self::scan::{BatchScanner, ScannedBatch, to_usize};
use crate::error::{IoContext, Result, StorageError};
use crate::fs::{FileSystem, OpenMode, SharedFile, read_known};
use crate::index::{OffsetIndex, OffsetPosition, TimeIndex, TimestampEntry};

/// `.log`: batches.
pub(crate) const LOG_SUFFIX: &str = "log";
/// `.index`: offsets to positions.
pub(crate) const INDEX_SUFFIX: &str = "index";
/// `.timeindex`: timestamps to offsets.
pub(crate) const TIME_INDEX_SUFFIX: &str = "timeindex";

/// The file of a segment: 20 digits of the base offset and a suffix.
pub(crate) fn segment_file(dir: &Path, base_offset: i64, suffix: &str) -> PathBuf {
    dir.join(format!("{base_offset:020}.{suffix}"))
}

/// Splits a segment's file name into base offset and suffix.
pub(crate) fn parse_segment_file(name: &str) -> Option<(i64, &str)> {
    let (digits, suffix) = name.split_once('.')?;
    let is_offset = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_offset.then(|| digits.parse().ok()).flatten().map(|offset| (offset, suffix))
}

/// A segment. One thread appends (the one that has the `Log`), any number read meanwhile.
#[derive(Debug)]
pub(crate) struct LogSegment {
    base_offset: i64,
    path: PathBuf,
    file: SharedFile,
    /// Bytes that readers may look at. The file may be longer for the time of an append.
    size: AtomicU64,
    /// The offset after the last batch.
    next_offset: AtomicI64,
    offset_index: OffsetIndex,
    time_index: TimeIndex,
    progress: Mutex<Progress>,
}

/// What appending keeps track of.
#[derive(Debug, Clone, Copy)]
struct Progress {
    max_timestamp: i64,
    /// Last offset of the first batch that has the max timestamp.
    offset_of_max_timestamp: i64,
    /// The first batch's max timestamp, which `segment.ms` counts from.
    first_timestamp: Option<i64>,
    bytes_since_index_entry: u64,
    created_ms: i64,
}

impl LogSegment {
    /// Opens the segment's files, creating those that are missing. Nothing is known yet of what is in them: follow it
    /// with [`load`](Self::load) or [`recover`](Self::recover).
    pub(crate) fn open(fs: &dyn FileSystem, dir: &Path, base_offset: i64, now_ms: i64) -> Result<Self> {
        Self::open_named(fs, dir, base_offset, "", now_ms)
    }

    /// The same for files whose names end with `extra`, which are no part of the log (yet).
    pub(crate) fn open_named(
        fs: &dyn FileSystem,
        dir: &Path,
        base_offset: i64,
        extra: &str,
        now_ms: i64,
    ) -> Result<Self> {
        let named = |suffix: &str| segment_file(dir, base_offset, &format!("{suffix}{extra}"));
        let path = named(LOG_SUFFIX);
        let file = fs.open(&path, OpenMode::Create).at(&path)?;
        let size = file.len().at(&path)?;
        Ok(Self {
            base_offset,
            file,
            size: AtomicU64::new(size),
            next_offset: AtomicI64::new(base_offset),
            offset_index: OffsetIndex::open(fs, &named(INDEX_SUFFIX))?,
            time_index: TimeIndex::open(fs, &named(TIME_INDEX_SUFFIX))?,
            progress: Mutex::new(Progress::new(base_offset, now_ms)),
            path,
        })
    }

    /// Creates a segment without batches under names that end with `extra`, in place of files that have them.
    pub(crate) fn create(
        fs: &dyn FileSystem,
        dir: &Path,
        base_offset: i64,
        extra: &str,
        now_ms: i64,
    ) -> Result<Self> {
        remove_files(fs, dir, base_offset, extra)?;
        Self::open_named(fs, dir, base_offset, extra, now_ms)
    }

    pub(crate) fn base_offset(&self) -> i64 {
        self.base_offset
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn size(&self) -> u64 {
        self.size.load(Ordering::Acquire)
    }

    pub(crate) fn next_offset(&self) -> i64 {
        self.next_offset.load(Ordering::Acquire)
    }

    /// The largest timestamp, −1 for none.
    pub(crate) fn max_timestamp(&self) -> i64 {
        self.progress.lock().max_timestamp
    }

    /// The largest timestamp, or the time of its creation (or opening) if no batch has one: what retention counts from.
    pub(crate) fn newest_timestamp(&self) -> i64 {
        let progress = *self.progress.lock();
        if progress.max_timestamp >= 0 { progress.max_timestamp } else { progress.created_ms }
    }

    /// The first batch's largest timestamp, if it has one.
    pub(crate) fn first_timestamp(&self) -> Option<i64> {
        self.progress.lock().first_timestamp
    }

    /// Entries of the larger index.
    pub(crate) fn index_entries(&self) -> usize {
        self.offset_index.len().max(self.time_index.len())
    }

    /// Whether `batches` of `len` bytes must go to a new segment (Kafka: `LogSegment.shouldRoll`).
    pub(crate) fn should_roll(&self, roll: &RollParams, len: usize, last: &BatchHeader, now_ms: i64) -> bool {
        let size = self.size();
        let progress = *self.progress.lock();
        let waited = match progress.first_timestamp {
            Some(first) if last.max_timestamp >= 0 => last.max_timestamp.saturating_sub(first),
            _ => now_ms.saturating_sub(progress.created_ms),
        };
        let full = size.saturating_add(len as u64) > roll.segment_bytes
            || waited > roll.segment_ms
            || self.offset_index.len() >= roll.max_index_entries
            || self.time_index.len() >= roll.max_time_index_entries;
        (size > 0 && full) || !self.can_hold(last.last_offset())
    }

    /// Whether a batch may end with this offset: the indexes can name it, and there is one after it.
    pub(crate) fn can_hold(&self, last_offset: i64) -> bool {
        self.relative(last_offset).is_some() && last_offset < i64::MAX
    }

    /// Writes `parts` and then the index entries of `headers`, the batches that the parts hold. Readers see the batches
    /// once the log publishes its new end.
    ///
    /// # Errors
    /// After an error nothing was appended; [`StorageError::Poisoned`] when not even that is sure.
    pub(crate) fn append(
        &self,
        parts: &mut [IoSlice<'_>],
        headers: &[BatchHeader],
        index_interval_bytes: u64,
    ) -> Result<()> {
        let position = self.size();
        if let Err(error) = self.file.write_all_at(parts, position) {
            if let Err(truncate) = self.file.truncate(position) {
                let reason = format!("a write failed ({error}) and could not be undone ({truncate})");
                return Err(StorageError::Poisoned { path: self.path.clone(), reason });
            }
            return Err(error).at(&self.path);
        }
        let mut end = position;
        for header in headers {
            self.note_batch(&ScannedBatch { position: end, header: *header }, index_interval_bytes);
            end += header.size_in_bytes() as u64;
            self.next_offset.store(header.next_offset(), Ordering::Release);
        }
        self.size.store(end, Ordering::Release);
        Ok(())
    }

    /// Keeps the indexes and the largest timestamp up with a batch. An index that cannot be written is only sparser.
    fn note_batch(&self, batch: &ScannedBatch, index_interval_bytes: u64) {
        let header = &batch.header;
        let mut progress = self.progress.lock();
        if has_timestamp(header) && header.max_timestamp > progress.max_timestamp {
            progress.max_timestamp = header.max_timestamp;
            progress.offset_of_max_timestamp = header.last_offset();
        }
        if progress.first_timestamp.is_none() && header.max_timestamp >= 0 {
            progress.first_timestamp = Some(header.max_timestamp);
        }
        if progress.bytes_since_index_entry > index_interval_bytes {
            if let (Some(relative_offset), Ok(position)) =
                (self.relative(header.last_offset()), i32::try_from(batch.position))
            {
                warn_failed(self.offset_index.append(OffsetPosition { relative_offset, position }));
            }
            warn_failed(self.append_time_index(&progress));
            progress.bytes_since_index_entry = 0;
        }
        progress.bytes_since_index_entry += header.size_in_bytes() as u64;
    }

    fn append_time_index(&self, progress: &Progress) -> Result<()> {
        let last = self.time_index.last()?.map_or(NO_TIMESTAMP, |entry| entry.timestamp);
        match self.relative(progress.offset_of_max_timestamp) {
            Some(relative_offset) if progress.max_timestamp > last => {
                self.time_index.append(TimestampEntry { timestamp: progress.max_timestamp, relative_offset })
            }
            _ => Ok(()),
        }
    }

    /// Whole batches from the one that contains `start_offset` (or the first after it), at most `max_bytes` of them but
    /// at least one if `min_one_message`, none that starts at or after `end_offset`. `None`: there is no such batch.
    pub(crate) fn read(
        &self,
        start_offset: i64,
        max_bytes: usize,
        end_offset: i64,
        min_one_message: bool,
    ) -> Result<Option<SegmentData>> {
        let size = self.size();
        let Some(first) = self.find_batch(start_offset, size)? else { return Ok(None) };
        if first.header.base_offset >= end_offset {
            return Ok(None);
        }
        let first_size = first.header.size_in_bytes();
        let wanted = if first_size <= max_bytes {
            max_bytes
        } else if min_one_message {
            first_size
        } else {
            0
        };
        let len = wanted.min(to_usize(size - first.position));
        let bytes = read_known(&*self.file, first.position, len).at(&self.path)?;
        let (kept, next_offset) = whole_batches(&bytes, end_offset);
        // A slice keeps in memory all that was read, and behind a small batch that may be most of a large one.
        let is_little = kept < len - len / 4;
        let records = if is_little { Bytes::copy_from_slice(&bytes[..kept]) } else { bytes.slice(..kept) };
        Ok(Some(SegmentData {
            records,
            first_size,
            first_offset: first.header.base_offset,
            next_offset: next_offset.unwrap_or(first.header.base_offset),
            position: first.position,
        }))
    }

    /// The first batch that ends at or after `offset`.
    pub(crate) fn find_batch(&self, offset: i64, size: u64) -> Result<Option<ScannedBatch>> {
        // A few batches lie between an index entry and the one that is looked for.
        const LOOK_BYTES: u64 = 4096;
        let mut scanner =
            BatchScanner::new(&*self.file, &self.path, self.lookup(offset)?, size).with_window(LOOK_BYTES);
        while let Some(batch) = scanner.next()? {
            if batch.header.last_offset() >= offset {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// Bytes from `offset` to the end, and at most those between two index entries more.
    pub(crate) fn bytes_from(&self, offset: i64) -> Result<u64> {
        Ok(self.size().saturating_sub(self.lookup(offset)?))
    }

    /// The start of a batch at or before the one that contains `offset`.
    fn lookup(&self, offset: i64) -> Result<u64> {
        let entry = self.offset_index.lookup(offset.saturating_sub(self.base_offset))?;
        Ok(entry.and_then(|entry| u64::try_from(entry.position).ok()).unwrap_or(0))
    }

    /// The first record at or after `start_offset` that is not older than `timestamp`: its batch.
    pub(crate) fn find_batch_by_timestamp(
        &self,
        timestamp: i64,
        start_offset: i64,
    ) -> Result<Option<(BatchScanner<'_>, ScannedBatch)>> {
        let indexed = self.time_index.lookup(timestamp)?;
        let indexed = indexed.map_or(self.base_offset, |entry| {
            self.base_offset.saturating_add(i64::from(entry.relative_offset))
        });
        let position = self.lookup(indexed.max(start_offset))?;
        let mut scanner = BatchScanner::new(&*self.file, &self.path, position, self.size());
        while let Some(batch) = scanner.next()? {
            let has_it = has_timestamp(&batch.header) && batch.header.max_timestamp >= timestamp;
            if has_it && batch.header.last_offset() >= start_offset {
                return Ok(Some((scanner, batch)));
            }
        }
        Ok(None)
    }

    /// Headers from the batch that contains `offset` on.
    pub(crate) fn scan_from(&self, offset: i64) -> Result<BatchScanner<'_>> {
        let size = self.size();
        let position = self.find_batch(offset, size)?.map_or(size, |batch| batch.position);
        Ok(BatchScanner::new(&*self.file, &self.path, position, size))
    }

    /// Headers of about the last `bytes`.
    pub(crate) fn scan_tail(&self, bytes: u64) -> Result<BatchScanner<'_>> {
        let size = self.size();
        let wanted = size.saturating_sub(bytes);
        let mut position = 0;
        // Positions rise with offsets, so a binary search over entry numbers finds the last at or below.
        let (mut low, mut high) = (0, self.offset_index.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.offset_index.get(middle)?.and_then(|entry| u64::try_from(entry.position).ok()) {
                Some(at) if at <= wanted => {
                    position = at;
                    low = middle + 1;
                }
                _ => high = middle,
            }
        }
        Ok(BatchScanner::new(&*self.file, &self.path, position, size))
    }

    /// Removes the batch that contains `offset` and all after it.
    pub(crate) fn truncate_to(&self, offset: i64) -> Result<()> {
        let Some(batch) = self.find_batch(offset, self.size())? else { return Ok(()) };
        let base = batch.header.base_offset;
        self.size.store(batch.position, Ordering::Release);
        self.offset_index.truncate_to(base.saturating_sub(self.base_offset))?;
        self.time_index.truncate_to(base.saturating_sub(self.base_offset))?;
        self.file.truncate(batch.position).at(&self.path)?;
        self.load()
    }

    /// Makes this the segment that is appended to.
    pub(crate) fn activate(&self) -> Result<()> {
        self.offset_index.activate()?;
        self.time_index.activate()
    }

    /// Notes the final largest timestamp in the time index and lets go of what only appending needs.
    pub(crate) fn seal(&self) -> Result<()> {
        let progress = *self.progress.lock();
        self.append_time_index(&progress)?;
        self.offset_index.seal()?;
        self.time_index.seal()
    }

    /// Makes the batches durable.
    pub(crate) fn sync_data(&self) -> Result<()> {
        self.file.sync_data().at(&self.path)
    }

    /// Makes batches and indexes durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.sync_data()?;
        self.offset_index.sync()?;
        self.time_index.sync()
    }

    fn relative(&self, offset: i64) -> Option<i32> {
        i32::try_from(offset.checked_sub(self.base_offset)?).ok().filter(|relative| *relative >= 0)
    }
}

/// Compaction leaves batches without records, and so without a record that has their timestamp.
fn has_timestamp(header: &BatchHeader) -> bool {
    header.record_count > 0
}

/// Removes a segment's files, the batches last: a crash in between leaves a segment without indexes, not indexes that
/// would be taken for a later segment's.
pub(crate) fn remove_files(fs: &dyn FileSystem, dir: &Path, base_offset: i64, extra: &str) -> Result<()> {
    for suffix in [INDEX_SUFFIX, TIME_INDEX_SUFFIX, LOG_SUFFIX] {
        let path = segment_file(dir, base_offset, &format!("{suffix}{extra}"));
        if fs.exists(&path) {
            fs.remove_file(&path).at(&path)?;
        }
    }
    Ok(())
}

/// When a segment is rolled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RollParams {
    pub(crate) segment_bytes: u64,
    pub(crate) segment_ms: i64,
    pub(crate) max_index_entries: usize,
    pub(crate) max_time_index_entries: usize,
}

/// What [`LogSegment::read`] found.
#[derive(Debug)]
pub(crate) struct SegmentData {
    pub(crate) records: Bytes,
    /// Bytes of the first batch, whether it was in reach or not.
    pub(crate) first_size: usize,
    pub(crate) first_offset: i64,
    pub(crate) next_offset: i64,
    pub(crate) position: u64,
}

impl Progress {
    fn new(base_offset: i64, created_ms: i64) -> Self {
        Self {
            max_timestamp: NO_TIMESTAMP,
            offset_of_max_timestamp: base_offset,
            first_timestamp: None,
            bytes_since_index_entry: 0,
            created_ms,
        }
    }
}

/// How many bytes of `bytes` are whole batches that start before `end_offset`, and the offset after the last of them.
fn whole_batches(bytes: &Bytes, end_offset: i64) -> (usize, Option<i64>) {
    let (mut kept, mut next_offset) = (0, None);
    while let Some(rest) = bytes.get(kept..).filter(|rest| rest.len() >= BATCH_HEADER_LEN) {
        let Ok(header) = BatchHeader::parse(rest) else { break };
        if header.size_in_bytes() > rest.len() || header.base_offset >= end_offset {
            break;
        }
        kept += header.size_in_bytes();
        next_offset = Some(header.next_offset());
    }
    (kept, next_offset)
}

fn warn_failed(result: Result<()>) {
    if let Err(error) = result {
        tracing::warn!(%error, "an index entry is left out; lookups get slower, nothing else");
    }
}
