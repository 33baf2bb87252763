//! Reading, beside whoever appends.

use std::sync::Arc;

use bytes::Bytes;
use milena_protocol::records::{BatchHeader, RecordBatch, TimestampType};

use super::SharedLog;
use super::validate::MAX_INFLATED_BYTES;
use crate::error::{Result, StorageError};
use crate::segment::LogSegment;

/// A handle for reading a log. Clones are cheap; it sees every append once that is complete.
#[derive(Debug, Clone)]
pub struct LogReader {
    shared: Arc<SharedLog>,
}

/// What a read found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchData {
    /// Whole batches as they are stored; empty when there are none in reach.
    pub records: Bytes,
    /// Bytes of the first batch, also when it is missing because it is larger than what was to be read; 0 when there is none.
    pub first_batch_bytes: usize,
    /// Offset of the first batch, which may be below the offset that was asked for. Without batches: the offset asked for.
    pub first_offset: i64,
    /// Offset after the last batch; without batches: the offset asked for.
    pub next_offset: i64,
    /// Base offset of the segment that the batches are in.
    pub segment_base_offset: i64,
    /// Where in the segment's file they start, in bytes.
    pub relative_position: u64,
    /// The log's start at the time of the read.
    pub log_start_offset: i64,
    /// The log's end at the time of the read.
    pub log_end_offset: i64,
}

/// A record that a look-up by time found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimestampAndOffset {
    /// Its timestamp in milliseconds.
    pub timestamp: i64,
    /// Its offset.
    pub offset: i64,
    /// The leader epoch that it was written in, −1 for none.
    pub leader_epoch: i32,
}

impl LogReader {
    pub(super) fn new(shared: Arc<SharedLog>) -> Self {
        Self { shared }
    }

    /// First offset that can be read.
    #[must_use]
    pub fn log_start_offset(&self) -> i64 {
        self.shared.log_start_offset()
    }

    /// [`log_start_offset`](Self::log_start_offset), if it lies behind the first segment's base offset.
    pub(crate) fn log_start_within_segment(&self) -> Option<i64> {
        let segments = self.shared.segments();
        let first = segments.first().map_or(0, |segment| segment.base_offset());
        Some(self.log_start_offset()).filter(|start| *start > first)
    }

    /// Offset after the last record.
    #[must_use]
    pub fn log_end_offset(&self) -> i64 {
        self.shared.log_end_offset()
    }

    /// How many bytes there are from `offset` on, or some more, if all of them are in the segment that is appended to: they
    /// were written lately, and the operating system has them in memory. None for those that it may have to fetch from the
    /// disk.
    #[must_use]
    pub fn recent_bytes_from(&self, offset: i64) -> Option<u64> {
        if offset >= self.log_end_offset() {
            return Some(0);
        }
        let segments = self.shared.segments();
        let active = segments.last().filter(|active| offset >= active.base_offset())?;
        active.bytes_from(offset).ok()
    }

    /// Reads whole batches from the one that contains `start_offset`: at most `max_bytes`, except that with
    /// `min_one_message` the first comes however large it is; none that starts at or after `upper_bound_offset` (the high
    /// watermark for consumers, the log end offset for followers).
    ///
    /// # Errors
    /// [`StorageError::OffsetOutOfRange`] for an offset before the log's start or after its end; storage errors.
    pub fn read(
        &self,
        start_offset: i64,
        max_bytes: usize,
        upper_bound_offset: i64,
        min_one_message: bool,
    ) -> Result<FetchData> {
        let segments = self.shared.segments();
        let (start, end) = (self.log_start_offset(), self.log_end_offset());
        if start_offset < start || start_offset > end {
            return Err(StorageError::OffsetOutOfRange { offset: start_offset, start, end });
        }
        let mut data = FetchData {
            records: Bytes::new(),
            first_batch_bytes: 0,
            first_offset: start_offset,
            next_offset: start_offset,
            segment_base_offset: start_offset,
            relative_position: 0,
            log_start_offset: start,
            log_end_offset: end,
        };
        let bound = upper_bound_offset.min(end);
        if start_offset >= bound {
            return Ok(data);
        }
        // The segment that should have the offset may end before it, in a compacted log.
        let first =
            segments.partition_point(|segment| segment.base_offset() <= start_offset).saturating_sub(1);
        for segment in segments.get(first..).unwrap_or_default() {
            if let Some(found) = segment.read(start_offset, max_bytes, bound, min_one_message)? {
                data.first_offset = found.first_offset;
                data.next_offset = found.next_offset;
                data.records = found.records;
                data.first_batch_bytes = found.first_size;
                data.segment_base_offset = segment.base_offset();
                data.relative_position = found.position;
                break;
            }
        }
        Ok(data)
    }

    /// The first record that is not older than `timestamp` (ListOffsets by time); `None` when all are older.
    ///
    /// # Errors
    /// Storage errors, and a batch that cannot be inflated.
    pub fn offset_for_timestamp(&self, timestamp: i64) -> Result<Option<TimestampAndOffset>> {
        let start = self.log_start_offset();
        for segment in self.shared.segments().iter().filter(|segment| segment.max_timestamp() >= timestamp) {
            let Some((mut scanner, scanned)) = segment.find_batch_by_timestamp(timestamp, start)? else {
                continue;
            };
            let batch = scanner.read(&scanned)?;
            let found = find_record(&batch, |at, offset| at >= timestamp && offset >= start)?;
            if found.is_some() {
                return Ok(found.filter(|found| found.offset < self.log_end_offset()));
            }
            // The batch's newest record lies before the log's start: look behind the batch.
            while let Some(scanned) = scanner.next()? {
                // One without records has been compacted away.
                if scanned.header.max_timestamp >= timestamp && scanned.header.record_count > 0 {
                    let batch = scanner.read(&scanned)?;
                    return find_record(&batch, |at, offset| at >= timestamp && offset >= start);
                }
            }
        }
        Ok(None)
    }

    /// The first record with the largest timestamp (ListOffsets −3, KIP-734); `None` in an empty log.
    ///
    /// # Errors
    /// As [`offset_for_timestamp`](Self::offset_for_timestamp).
    pub fn offset_of_max_timestamp(&self) -> Result<Option<TimestampAndOffset>> {
        let segments = self.shared.segments();
        let newest = segments.iter().map(|segment| segment.max_timestamp()).max().unwrap_or(-1);
        if newest < 0 {
            return Ok(None);
        }
        self.offset_for_timestamp(newest)
    }

    /// Bytes in all segments.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.shared.segments().iter().map(|segment: &Arc<LogSegment>| segment.size()).sum()
    }
}

/// The first record of the batch whose timestamp and offset `wanted` takes.
fn find_record(batch: &RecordBatch, wanted: impl Fn(i64, i64) -> bool) -> Result<Option<TimestampAndOffset>> {
    let BatchHeader { max_timestamp, base_offset, partition_leader_epoch: leader_epoch, attributes, .. } =
        *batch.header();
    // All records of such a batch have its timestamp: no need to inflate it.
    if attributes.timestamp_type() == TimestampType::LogAppendTime && wanted(max_timestamp, base_offset) {
        return Ok(Some(TimestampAndOffset { timestamp: max_timestamp, offset: base_offset, leader_epoch }));
    }
    for record in batch.records(MAX_INFLATED_BYTES)? {
        let record = record?;
        if wanted(record.timestamp, record.offset) {
            return Ok(Some(TimestampAndOffset {
                timestamp: record.timestamp,
                offset: record.offset,
                leader_epoch,
            }));
        }
    }
    Ok(None)
}
