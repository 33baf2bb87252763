//! Appending: as the leader, who assigns offsets, and as a follower, who keeps them.

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use milena_protocol::records::{BatchHeader, NO_TIMESTAMP, RecordBatch, TimestampType};

use super::Log;
use super::validate::{AppendOrigin, parse_batches, validate};
use crate::config::FsyncPolicy;
use crate::error::{IoContext, Result, StorageError};
use crate::producer_state::BatchMetadata;
use crate::segment::LogSegment;

/// The bytes of a batch that a leader replaces: base offset, length, leader epoch.
const PREFIX_BYTES: usize = 16;

/// What an append did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogAppendInfo {
    /// Offset of the first record.
    pub first_offset: i64,
    /// Offset of the last record.
    pub last_offset: i64,
    /// The timestamp in milliseconds that the records got, where the topic has LogAppendTime.
    pub log_append_time: Option<i64>,
    /// The largest timestamp in milliseconds, −1 for none.
    pub max_timestamp: i64,
    /// The log's start.
    pub log_start_offset: i64,
    /// Nothing was written: the batch was there already, at these offsets.
    pub duplicate: bool,
    /// Bytes that were written to the log.
    pub size_in_bytes: usize,
}

impl Log {
    /// Appends batches as the partition's leader: checks them, gives them the next offsets and `leader_epoch`, and syncs
    /// as the policy says. The batches' bodies are written as they are, without a copy (except with LogAppendTime, which
    /// changes their checksum).
    ///
    /// A batch that one of the producer's last five repeats is not written; the answer has the offsets that it has.
    ///
    /// # Errors
    /// A batch that is refused, by [`ErrorKind`](crate::ErrorKind); nothing was appended then. A storage error: nothing
    /// was appended, or the log is poisoned.
    pub fn append_as_leader(
        &mut self,
        records: Bytes,
        leader_epoch: i32,
        origin: AppendOrigin,
        now_ms: i64,
    ) -> Result<LogAppendInfo> {
        self.check_not_poisoned()?;
        let mut batches = parse_batches(records, false)?;
        validate(&batches, &self.config, origin, now_ms)?;
        if let Some(duplicate) = self.check_producers(&batches, origin)? {
            return Ok(self.duplicate_info(duplicate));
        }
        let log_append_time =
            (self.config.message_timestamp_type == TimestampType::LogAppendTime).then_some(now_ms);
        if let Some(timestamp) = log_append_time {
            batches = batches.iter().map(|batch| batch.with_log_append_time(timestamp)).collect();
        }

        let mut next_offset = self.log_end_offset();
        let mut headers = Vec::with_capacity(batches.len());
        for batch in &batches {
            let mut header = *batch.header();
            header.base_offset = next_offset;
            header.partition_leader_epoch = leader_epoch;
            next_offset = next_offset
                .checked_add(i64::from(header.last_offset_delta) + 1)
                .ok_or_else(|| StorageError::InvalidState("the log has no offsets left".to_owned()))?;
            headers.push(header);
        }
        let info = self.append(&batches, &headers, now_ms)?;
        Ok(LogAppendInfo { log_append_time, ..info })
    }

    /// Appends batches that a follower fetched: their offsets and leader epochs stay, and only damage is refused. A batch
    /// that is cut off at the end is left out. `None`: there was no whole batch.
    ///
    /// The first batch may begin before the end of a log without records: the leader's log starts inside of it, because
    /// DeleteRecords knows no batches. All of it is stored, and the log starts where it did
    /// (`Partition.appendRecordsToFollowerOrFutureReplica`).
    ///
    /// # Errors
    /// [`StorageError::UnexpectedAppendOffset`] for offsets that the log has already; else as
    /// [`append_as_leader`](Self::append_as_leader).
    pub fn append_as_follower(&mut self, records: Bytes, now_ms: i64) -> Result<Option<LogAppendInfo>> {
        self.check_not_poisoned()?;
        let batches = parse_batches(records, true)?;
        let headers: Vec<_> = batches.iter().map(|batch| *batch.header()).collect();
        let Some(first) = headers.first() else { return Ok(None) };
        let (start, mut end) = (self.log_start_offset(), self.log_end_offset());
        let starts_inside = start == end && (first.base_offset..first.next_offset()).contains(&start);
        if starts_inside {
            end = first.base_offset;
        }
        for header in &headers {
            let offset = header.base_offset;
            if offset < end || header.next_offset() <= offset {
                return Err(StorageError::UnexpectedAppendOffset { offset, end });
            }
            end = header.next_offset();
        }
        if starts_inside && first.base_offset < start {
            self.truncate_fully_and_start_at(first.base_offset, now_ms)?;
        }
        let appended = self.append(&batches, &headers, now_ms)?;
        let log_start_offset = self.delete_records(start, i64::MAX)?;
        Ok(Some(LogAppendInfo { log_start_offset, ..appended }))
    }

    /// Notes that this replica leads in `leader_epoch` from the log's end on, even if it never appends: whoever has records of
    /// an epoch in between has to hear that this log does not (`UnifiedLog.maybeAssignEpochStartOffset`).
    ///
    /// # Errors
    /// Storage errors.
    pub fn assign_leader_epoch(&mut self, leader_epoch: i32) -> Result<()> {
        self.check_not_poisoned()?;
        self.leader_epochs.assign(leader_epoch, self.log_end_offset())
    }

    /// The part that leader and follower share: `headers` are those of `batches` with their final offsets.
    fn append(
        &mut self,
        batches: &[RecordBatch],
        headers: &[BatchHeader],
        now_ms: i64,
    ) -> Result<LogAppendInfo> {
        let (Some(first), Some(last)) = (headers.first(), headers.last()) else {
            return Err(StorageError::InvalidRecord("no batch".to_owned()));
        };
        let size = batches.iter().map(|batch| batch.bytes().len()).sum();
        if self.active.should_roll(&self.roll_params(), size, last, now_ms) {
            self.roll(first.base_offset, now_ms)?;
        }
        for header in headers {
            self.leader_epochs.assign(header.partition_leader_epoch, header.base_offset)?;
        }
        self.write(batches, headers)?;
        for (batch, header) in batches.iter().zip(headers) {
            if batch.is_control() {
                self.producer_state.update(batch);
            } else if header.has_producer_id() {
                self.producer_state.update_data(header);
            }
        }
        let max_timestamp = headers.iter().map(|header| header.max_timestamp).max().unwrap_or(NO_TIMESTAMP);
        self.sync_and_publish(last.next_offset())?;
        Ok(LogAppendInfo {
            first_offset: first.base_offset,
            last_offset: last.last_offset(),
            log_append_time: None,
            max_timestamp,
            log_start_offset: self.log_start_offset(),
            duplicate: false,
            size_in_bytes: size,
        })
    }

    fn write(&mut self, batches: &[RecordBatch], headers: &[BatchHeader]) -> Result<()> {
        let patched = |(batch, header): (&RecordBatch, &BatchHeader)| {
            batch.patch_prefix(header.base_offset, header.partition_leader_epoch)
        };
        let prefixes: Vec<_> = batches.iter().zip(headers).map(patched).collect();
        let mut parts = Vec::with_capacity(batches.len() * 2);
        for (prefix, batch) in prefixes.iter().zip(batches) {
            parts.push(IoSlice::new(prefix));
            parts.push(IoSlice::new(batch.bytes().get(PREFIX_BYTES..).unwrap_or_default()));
        }
        let interval = u64::try_from(self.config.index_interval_bytes).unwrap_or(0);
        match self.active.append(&mut parts, headers, interval) {
            Err(error @ StorageError::Poisoned { .. }) => self.poison_on_error(Err(error)),
            other => other,
        }
    }

    /// Readers see the new end only after the sync that the policy asks for: nobody acts on a record that may be gone.
    fn sync_and_publish(&mut self, end: i64) -> Result<()> {
        let every_batch = self.fsync == FsyncPolicy::EveryBatch;
        if every_batch {
            let synced = self.active.sync_data();
            self.poison_on_error(synced)?;
        }
        self.shared.log_end_offset.store(end, Ordering::Release);
        if every_batch {
            self.recovery_point = end;
        } else if end.saturating_sub(self.recovery_point) >= self.config.flush_messages {
            self.flush(end)?;
        }
        Ok(())
    }

    /// Starts a new segment at `base_offset`.
    ///
    /// Under `EveryBatch` the old one with its indexes and the new names are durable before anything is appended: the
    /// recovery point moves past the old segment with the first append.
    pub(super) fn roll(&mut self, base_offset: i64, now_ms: i64) -> Result<()> {
        self.active.seal()?;
        self.take_snapshot()?;
        if self.fsync == FsyncPolicy::EveryBatch {
            let synced = self.active.sync();
            self.poison_on_error(synced)?;
        }
        let segment = Arc::new(LogSegment::open(&*self.fs, &self.dir, base_offset, now_ms)?);
        segment.activate()?;
        if self.fsync == FsyncPolicy::EveryBatch {
            let synced = self.fs.sync_dir(&self.dir).at(&self.dir);
            self.poison_on_error(synced)?;
        }
        let mut segments = self.shared.segments().to_vec();
        segments.push(Arc::clone(&segment));
        self.shared.set_segments(segments);
        self.active = segment;
        self.remove_stray_snapshots()
    }

    /// Checks each batch against its producer's state; answers the stored twin of a duplicate.
    fn check_producers(
        &self,
        batches: &[RecordBatch],
        origin: AppendOrigin,
    ) -> Result<Option<BatchMetadata>> {
        for header in batches.iter().map(RecordBatch::header).filter(|header| header.has_producer_id()) {
            if header.attributes.is_control() {
                continue;
            }
            // A coordinator's batches are not retried, and may come without a sequence.
            if origin == AppendOrigin::Client {
                if let Some(duplicate) = self.producer_state.find_duplicate(header) {
                    return Ok(Some(duplicate));
                }
                self.producer_state.check(header)?;
            }
        }
        Ok(None)
    }

    fn duplicate_info(&self, batch: BatchMetadata) -> LogAppendInfo {
        let log_append_time = self.config.message_timestamp_type == TimestampType::LogAppendTime;
        LogAppendInfo {
            first_offset: batch.first_offset(),
            last_offset: batch.last_offset,
            log_append_time: log_append_time.then_some(batch.timestamp),
            max_timestamp: batch.timestamp,
            log_start_offset: self.log_start_offset(),
            duplicate: true,
            size_in_bytes: 0,
        }
    }
}
