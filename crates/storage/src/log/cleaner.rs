//! Compaction: of each key only the last record stays (Kafka: `LogCleaner`, `Cleaner`).
//!
//! A pass reads the dirty part, what came since the last pass, and notes the last offset of each key in it. Then it writes
//! all segments up to there anew, several into one where they have become small, without the records that a later one
//! with the same key replaces, and swaps them in one by one, oldest first. Offsets stay what they are.
//!
//! Tombstones stay for `delete.retention.ms` after the first pass that has seen them (KIP-534). A batch that holds the
//! last sequence of a producer, or the end of a segment, stays as a header without records. The active segment, and
//! whatever is not below the high watermark, is left alone.
//!
//! Only the beginning and the swaps need the log itself; readers and appends go on.

use std::collections::BTreeMap;
use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::Arc;

use milena_protocol::records::{BatchHeader, Record, RecordBatch, Retained};

use super::Log;
use super::offset_map::{MAX_KEYS, OffsetMap};
use super::swap::{CLEANED, CleanedGroup};
use super::validate::MAX_INFLATED_BYTES;
use crate::config::LogConfig;
use crate::error::Result;
use crate::fs::SharedFileSystem;
use crate::segment::{LogSegment, remove_files};

/// Written at once.
const CHUNK_BYTES: usize = 1024 * 1024;

/// What a compaction would work on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cleanable {
    /// The share of the log that no pass has seen, from 0 to 1.
    pub dirty_ratio: f64,
    /// Offset of the first record that no pass has seen.
    pub first_dirty: i64,
    /// Offset of the first record that must be left alone.
    pub first_uncleanable: i64,
}

/// A pass under way; [`next_group`](Self::next_group) writes, [`Log::swap_in`] puts what was written into the log.
#[derive(Debug)]
pub struct Cleaning {
    fs: SharedFileSystem,
    dir: PathBuf,
    config: LogConfig,
    now_ms: i64,
    /// Oldest first: those that are still to be written.
    groups: std::vec::IntoIter<Vec<Arc<LogSegment>>>,
    map: OffsetMap,
    /// The last offset that the map knows of.
    latest_offset: i64,
    /// The last offset of each producer's last batch.
    last_of_producers: BTreeMap<i64, i64>,
    truncations: u64,
}

impl Log {
    /// What there is to compact, if it is enough (`LogCleanerManager.grabFilthiestCompactedLog`): more of the log is dirty
    /// than `min.cleanable.dirty.ratio`, or a record has waited for `max.compaction.lag.ms`.
    #[must_use]
    pub fn cleanable(&self, now_ms: i64, high_watermark: i64) -> Option<Cleanable> {
        if !self.config.cleanup_policy.compact || self.poisoned.is_some() || self.cleaning_failed {
            return None;
        }
        let first_dirty = self.first_dirty_offset();
        let first_uncleanable = self.first_uncleanable_offset(first_dirty, now_ms, high_watermark);
        if first_uncleanable <= first_dirty {
            return None;
        }
        let segments = self.shared.segments();
        let (mut clean, mut dirty, mut oldest) = (0, 0, None);
        for segment in segments.iter().take_while(|segment| segment.base_offset() < first_uncleanable) {
            if segment.next_offset() <= first_dirty {
                clean += segment.size();
            } else {
                dirty += segment.size();
                oldest = oldest.or(segment.first_timestamp());
            }
        }
        if dirty == 0 {
            return None;
        }
        let dirty_ratio = dirty as f64 / (clean + dirty) as f64;
        let overdue =
            oldest.is_some_and(|oldest| now_ms.saturating_sub(oldest) > self.config.max_compaction_lag_ms);
        let is_enough = dirty_ratio > self.config.min_cleanable_dirty_ratio || overdue;
        is_enough.then_some(Cleanable { dirty_ratio, first_dirty, first_uncleanable })
    }

    /// Offset of the first record that no pass has seen; to be written down, and given back when the log is opened.
    #[must_use]
    pub fn first_dirty_offset(&self) -> i64 {
        let (start, end) = (self.log_start_offset(), self.log_end_offset());
        if self.first_dirty_offset > end { start } else { self.first_dirty_offset.max(start) }
    }

    /// `LogCleanerManager.cleanableOffsets`.
    fn first_uncleanable_offset(&self, first_dirty: i64, now_ms: i64, high_watermark: i64) -> i64 {
        let stable = self.first_unstable_offset().unwrap_or(i64::MAX).min(high_watermark);
        let bound = stable.min(self.active.base_offset());
        let lag = self.config.min_compaction_lag_ms;
        if lag <= 0 {
            return bound;
        }
        let segments = self.shared.segments();
        let too_young = segments.iter().find(|segment| {
            segment.next_offset() > first_dirty && segment.newest_timestamp() > now_ms.saturating_sub(lag)
        });
        too_young.map_or(bound, |segment| bound.min(segment.base_offset()))
    }

    /// Begins a pass: [`Cleaning::read`] is next, without the log.
    #[must_use]
    pub fn begin_cleaning(&self, cleanable: Cleanable, now_ms: i64) -> (Cleaning, DirtyPart) {
        let segments = self.shared.segments();
        let cleaned = segments.iter().filter(|segment| segment.base_offset() < cleanable.first_uncleanable);
        let last_of_producers = self.producer_state.producers().filter_map(|(id, entry)| {
            let last = entry.batches.back()?;
            Some((id, last.last_offset))
        });
        let cleaning = Cleaning {
            fs: Arc::clone(&self.fs),
            dir: self.dir.clone(),
            config: self.config.clone(),
            now_ms,
            groups: Vec::new().into_iter(),
            map: OffsetMap::new(MAX_KEYS),
            latest_offset: cleanable.first_dirty - 1,
            last_of_producers: last_of_producers.collect(),
            truncations: self.truncations,
        };
        (cleaning, DirtyPart { segments: cleaned.cloned().collect(), cleanable })
    }

    /// The pass is over: everything up to `offset` has been seen.
    pub fn cleaned_up_to(&mut self, offset: i64) {
        self.first_dirty_offset = self.first_dirty_offset().max(offset.min(self.log_end_offset()));
    }

    /// Compaction has failed; it is not tried again before the log is opened again.
    pub fn cleaning_has_failed(&mut self) {
        self.cleaning_failed = true;
    }
}

/// The segments that a pass reads.
#[derive(Debug)]
pub struct DirtyPart {
    /// The clean ones, too.
    segments: Vec<Arc<LogSegment>>,
    cleanable: Cleanable,
}

impl Cleaning {
    /// Notes the last offset of each key, as far as the memory goes (`Cleaner.buildOffsetMap`).
    ///
    /// # Errors
    /// Storage errors, and a batch that cannot be inflated.
    pub fn read(&mut self, dirty: DirtyPart) -> Result<()> {
        let Cleanable { first_dirty, first_uncleanable, .. } = dirty.cleanable;
        let mut is_full = false;
        for segment in dirty.segments.iter().filter(|segment| segment.next_offset() > first_dirty) {
            let mut scanner = segment.scan_from(first_dirty)?;
            while let Some(scanned) = scanner.next()? {
                if is_full || scanned.header.next_offset() > first_uncleanable {
                    break;
                }
                let batch = scanner.read(&scanned)?;
                batch.check_crc()?;
                is_full = !self.note(&batch, first_dirty)?;
            }
        }
        let latest = self.latest_offset;
        let seen = dirty.segments.into_iter().filter(|segment| segment.base_offset() <= latest);
        self.groups = groups(seen.collect(), &self.config).into_iter();
        Ok(())
    }

    /// Answers false once the map is full.
    fn note(&mut self, batch: &RecordBatch, first_dirty: i64) -> Result<bool> {
        if !batch.is_control() {
            for record in batch.records(MAX_INFLATED_BYTES)? {
                let record = record?;
                let Some(key) = record.key.as_ref().filter(|_| record.offset >= first_dirty) else {
                    continue;
                };
                if !self.map.put(key, record.offset) {
                    return Ok(false);
                }
                self.latest_offset = record.offset;
            }
        }
        self.latest_offset = batch.header().last_offset();
        Ok(true)
    }

    /// Offset after the last record that this pass has seen.
    #[must_use]
    pub fn end_offset(&self) -> i64 {
        self.latest_offset + 1
    }

    /// Writes the next segments that become one; `None` at the end. Segments that stay as they are, are left out.
    ///
    /// # Errors
    /// Storage errors. What was written in vain is removed by the next one, or when the log is opened.
    pub fn next_group(&mut self) -> Result<Option<CleanedGroup>> {
        while let Some(old) = self.groups.next() {
            if self.write(&old)? {
                return Ok(Some(CleanedGroup { old, truncations: self.truncations }));
            }
        }
        Ok(None)
    }

    /// Says whether what was written differs.
    fn write(&self, old: &[Arc<LogSegment>]) -> Result<bool> {
        let (Some(first), Some(last)) = (old.first(), old.last()) else { return Ok(false) };
        let (base, end) = (first.base_offset(), last.next_offset());
        let cleaned = LogSegment::create(&*self.fs, &self.dir, base, CLEANED, self.now_ms)?;
        let interval = u64::try_from(self.config.index_interval_bytes).unwrap_or(0);
        let mut writer = Writer { segment: &cleaned, interval, batches: Vec::new(), bytes: 0 };
        let mut differs = old.len() > 1;
        for segment in old {
            let mut scanner = segment.scan_from(segment.base_offset())?;
            while let Some(scanned) = scanner.next()? {
                let batch = scanner.read(&scanned)?;
                // A batch that is written anew gets a new checksum: damage must not become right.
                batch.check_crc()?;
                let left = self.clean(&batch, end)?;
                differs |= left != Left::Whole;
                match left {
                    Left::Whole => writer.append(batch)?,
                    Left::Part(batch) => writer.append(batch)?,
                    Left::Nothing => {}
                }
            }
        }
        writer.flush()?;
        if differs {
            cleaned.seal()?;
            cleaned.sync()?;
        } else {
            drop(cleaned);
            remove_files(&*self.fs, &self.dir, base, CLEANED)?;
        }
        Ok(differs)
    }

    /// What stays of a batch of segments that end before `end` (`Cleaner.cleanInto`).
    fn clean(&self, batch: &RecordBatch, end: i64) -> Result<Left> {
        let header = batch.header();
        if batch.is_control() {
            return Ok(Left::Whole);
        }
        let tombstones_may_go =
            header.attributes.has_delete_horizon() && self.now_ms >= header.base_timestamp;
        let horizon = self.now_ms.saturating_add(self.config.delete_retention_ms);
        let retained =
            batch.retain(MAX_INFLATED_BYTES, horizon, |record| self.keeps(record, tombstones_may_go))?;
        let is_empty = match retained {
            Retained::Some(batch) => return Ok(Left::Part(batch)),
            Retained::All => header.record_count == 0,
            Retained::None => true,
        };
        // The end of a segment stays, so that segments follow one another without a hole.
        let must_stay = header.next_offset() == end
            || self.last_of_producers.get(&header.producer_id) == Some(&header.last_offset());
        Ok(match (is_empty, must_stay) {
            (false, _) => Left::Whole,
            (true, true) if header.record_count == 0 => Left::Whole,
            (true, true) => Left::Part(batch.without_records()),
            (true, false) => Left::Nothing,
        })
    }

    /// `Cleaner.shouldRetainRecord`.
    fn keeps(&self, record: &Record, tombstones_may_go: bool) -> bool {
        if record.offset > self.latest_offset {
            return true;
        }
        // A record without a key is from a time when the topic was not compacted.
        let Some(key) = &record.key else { return false };
        let is_last = self.map.get(key).is_none_or(|last| record.offset >= last);
        is_last && (record.value.is_some() || !tombstones_may_go)
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Left {
    Whole,
    Part(RecordBatch),
    Nothing,
}

/// Appends batches some at a time.
struct Writer<'a> {
    segment: &'a LogSegment,
    interval: u64,
    batches: Vec<RecordBatch>,
    bytes: usize,
}

impl Writer<'_> {
    fn append(&mut self, batch: RecordBatch) -> Result<()> {
        self.bytes += batch.bytes().len();
        self.batches.push(batch);
        if self.bytes >= CHUNK_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let headers: Vec<BatchHeader> = self.batches.iter().map(|batch| *batch.header()).collect();
        let mut parts: Vec<IoSlice<'_>> =
            self.batches.iter().map(|batch| IoSlice::new(batch.bytes())).collect();
        if !parts.is_empty() {
            self.segment.append(&mut parts, &headers, self.interval)?;
        }
        self.batches.clear();
        self.bytes = 0;
        Ok(())
    }
}

/// Neighbours that fit into one segment (`Cleaner.groupSegmentsBySize`).
fn groups(segments: Vec<Arc<LogSegment>>, config: &LogConfig) -> Vec<Vec<Arc<LogSegment>>> {
    let limit = u64::try_from(config.segment_bytes).unwrap_or(0);
    let max_entries = usize::try_from(config.segment_index_bytes).unwrap_or(0) / 12;
    let mut groups: Vec<Vec<Arc<LogSegment>>> = Vec::new();
    let (mut size, mut entries) = (0, 0);
    for segment in segments {
        let fits = groups.last().and_then(|group| group.first()).is_some_and(|first| {
            let span = segment.next_offset().saturating_sub(first.base_offset());
            size + segment.size() <= limit
                && entries + segment.index_entries() <= max_entries
                && span <= i64::from(i32::MAX)
        });
        match groups.last_mut().filter(|_| fits) {
            Some(group) => {
                size += segment.size();
                entries += segment.index_entries();
                group.push(segment);
            }
            None => {
                (size, entries) = (segment.size(), segment.index_entries());
                groups.push(vec![segment]);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use milena_protocol::records::{BatchBuilder, Seal};

    use super::*;
    use crate::fs::MemoryFileSystem;
    use crate::{AppendOrigin, LogOptions, TopicPartition};

    const NOW: i64 = 1_700_000_000_000;

    fn batch(keys: &[String]) -> bytes::Bytes {
        let mut builder = BatchBuilder::new(Vec::new());
        for key in keys {
            builder.append(NOW, Some(key.as_bytes()), Some(b"value"), &[]);
        }
        builder.seal(Seal::default()).into()
    }

    #[test]
    fn log_32_a_pass_goes_as_far_as_its_memory_and_the_next_one_goes_on() {
        let fs: SharedFileSystem = Arc::new(MemoryFileSystem::default());
        fs.create_dir_all(Path::new("data")).unwrap();
        let mut config = LogConfig { segment_bytes: 300, ..LogConfig::default() };
        config.set("cleanup.policy", "compact").unwrap();
        config.set("min.cleanable.dirty.ratio", "0").unwrap();
        let options = LogOptions { config, ..LogOptions::default() };
        let name = TopicPartition::new("t", 0);
        let mut log = Log::open(fs, Path::new("data"), name, options, NOW).unwrap();
        for n in 0..40 {
            let keys = [n % 4, n % 5, n % 6].map(|key| format!("key {key}"));
            log.append_as_leader(batch(&keys), 0, AppendOrigin::Client, NOW).unwrap();
        }
        let mut passes = 0;
        while let Some(cleanable) = log.cleanable(NOW, i64::MAX) {
            passes += 1;
            let (mut cleaning, dirty) = log.begin_cleaning(cleanable, NOW);
            cleaning.map = OffsetMap::new(3);
            cleaning.read(dirty).unwrap();
            assert!(cleaning.map.len() <= 3 && cleaning.end_offset() > cleanable.first_dirty);
            while let Some(group) = cleaning.next_group().unwrap() {
                assert!(log.swap_in(&group, NOW).unwrap());
            }
            log.cleaned_up_to(cleaning.end_offset());
        }
        assert!(passes > 3, "{passes}");
        let active = log.active.base_offset();
        let mut last = BTreeMap::new();
        for segment in log.shared.segments().iter() {
            let mut scanner = segment.scan_from(segment.base_offset()).unwrap();
            while let Some(scanned) = scanner.next().unwrap() {
                for record in scanner.read(&scanned).unwrap().records(1 << 20).unwrap() {
                    let record = record.unwrap();
                    *last.entry(record.key.unwrap()).or_insert(0) += i32::from(record.offset < active);
                }
            }
        }
        assert_eq!(last.len(), 6, "no key is lost");
        assert!(last.values().all(|count| *count <= 1), "{last:?}");
    }
}
