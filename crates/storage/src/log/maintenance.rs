//! Making a log shorter: truncation, retention, DeleteRecords.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Log;
use crate::config::FsyncPolicy;
use crate::error::{IoContext, Result, StorageError};
use crate::log_manager::DELETE_SUFFIX;
use crate::producer_state::SNAPSHOT_SUFFIX;
use crate::segment::{LogSegment, remove_files, segment_file};

/// The most bytes that file systems take for a name.
const MAX_NAME: usize = 255;

impl Log {
    /// Removes the batch that contains `offset` and everything after it, as a follower does when its leader's log differs.
    /// The log then ends where that batch began. A failure poisons the log. Checkpoint the recovery point afterwards: an
    /// older one may lie behind the new end.
    ///
    /// # Errors
    /// Storage errors.
    pub fn truncate_to(&mut self, offset: i64, now_ms: i64) -> Result<()> {
        self.check_not_poisoned()?;
        if offset >= self.log_end_offset() {
            // A leader that never appended has noted an epoch that the next leader knows nothing of.
            return self.leader_epochs.truncate_from_end(self.log_end_offset());
        }
        let segments = self.shared.segments();
        if segments.first().is_none_or(|first| offset <= first.base_offset()) {
            return self.truncate_fully_and_start_at(offset.max(0), now_ms);
        }
        let result = self.truncate_segments(&segments, offset);
        self.poison_on_error(result)
    }

    fn truncate_segments(&mut self, segments: &[Arc<LogSegment>], offset: i64) -> Result<()> {
        let keep = segments.partition_point(|segment| segment.base_offset() <= offset);
        let (kept, dropped) = segments.split_at(keep);
        let Some(active) = kept.last() else { return Ok(()) };
        // Readers stop before what goes.
        self.shared.log_end_offset.fetch_min(offset, Ordering::AcqRel);
        self.shared.set_segments(kept.to_vec());
        self.active = Arc::clone(active);
        for segment in dropped.iter().rev() {
            remove_files(&*self.fs, &self.dir, segment.base_offset(), "")?;
        }
        active.activate()?;
        active.truncate_to(offset)?;
        self.end_moved_back(active.next_offset())
    }

    /// Removes everything; the next record gets `offset` (a follower whose leader's log starts there). A failure poisons
    /// the log.
    ///
    /// # Errors
    /// Storage errors.
    pub fn truncate_fully_and_start_at(&mut self, offset: i64, now_ms: i64) -> Result<()> {
        self.check_not_poisoned()?;
        let result = self.start_again_at(offset, now_ms);
        self.poison_on_error(result)
    }

    fn start_again_at(&mut self, offset: i64, now_ms: i64) -> Result<()> {
        let old = self.shared.segments();
        self.shared.log_end_offset.fetch_min(self.log_start_offset(), Ordering::AcqRel);
        for segment in old.iter().rev() {
            remove_files(&*self.fs, &self.dir, segment.base_offset(), "")?;
        }
        let segment = Arc::new(LogSegment::open(&*self.fs, &self.dir, offset, now_ms)?);
        segment.activate()?;
        self.shared.set_segments(vec![Arc::clone(&segment)]);
        self.active = segment;
        self.shared.log_start_offset.store(offset, Ordering::Release);
        self.leader_epochs.clear()?;
        for snapshot in self.snapshot_offsets()? {
            self.remove_snapshot(snapshot)?;
        }
        self.end_moved_back(offset)
    }

    fn end_moved_back(&mut self, end: i64) -> Result<()> {
        self.truncations += 1;
        self.shared.log_end_offset.store(end, Ordering::Release);
        self.shared.log_start_offset.fetch_min(end, Ordering::AcqRel);
        self.recovery_point = self.recovery_point.min(end);
        self.first_dirty_offset = self.first_dirty_offset.min(end);
        self.leader_epochs.truncate_from_end(end)?;
        self.rebuild_producer_state()?;
        self.producers_checked_to = 0;
        if self.fsync == FsyncPolicy::EveryBatch {
            self.active.sync()?;
        }
        self.fs.sync_dir(&self.dir).at(&self.dir)
    }

    /// Moves the log's start to `offset` if that is further (DeleteRecords, KIP-107; or a follower following its leader).
    /// Whole segments before it go with the next [`delete_old_segments`](Self::delete_old_segments).
    ///
    /// # Errors
    /// [`StorageError::OffsetOutOfRange`] for an offset above `high_watermark`; storage errors.
    pub fn delete_records(&mut self, offset: i64, high_watermark: i64) -> Result<i64> {
        let (start, end) = (self.log_start_offset(), high_watermark.min(self.log_end_offset()));
        if offset > end || offset < 0 {
            return Err(StorageError::OffsetOutOfRange { offset, start, end });
        }
        if offset > start {
            self.shared.log_start_offset.store(offset, Ordering::Release);
            self.leader_epochs.truncate_from_start(offset)?;
        }
        Ok(self.log_start_offset())
    }

    /// Deletes the oldest segments that `retention.ms`, `retention.bytes` or the log's start make superfluous, as far as
    /// they lie below `high_watermark`; answers how many. A compacted topic keeps its segments, unless they lie before
    /// the log's start.
    ///
    /// # Errors
    /// Storage errors.
    pub fn delete_old_segments(&mut self, now_ms: i64, high_watermark: i64) -> Result<usize> {
        let mut count = 0;
        while self.delete_oldest_segment(now_ms, high_watermark)? {
            count += 1;
        }
        Ok(count)
    }

    /// As [`delete_old_segments`](Self::delete_old_segments), one segment at most: large files take long to delete, and
    /// whoever wants to append waits. Answers whether one was deleted.
    ///
    /// # Errors
    /// Storage errors.
    pub fn delete_oldest_segment(&mut self, now_ms: i64, high_watermark: i64) -> Result<bool> {
        self.check_not_poisoned()?;
        let segments = self.shared.segments();
        let Some(oldest) = segments.first() else { return Ok(false) };
        if !self.is_deletable(oldest, &segments, now_ms, high_watermark) {
            return Ok(false);
        }
        if segments.len() == 1 {
            self.roll(self.log_end_offset(), now_ms)?;
        }
        let kept = self.shared.segments().iter().skip(1).cloned().collect::<Vec<_>>();
        let start = kept.first().map_or(0, |first| first.base_offset());
        self.shared.log_start_offset.fetch_max(start, Ordering::AcqRel);
        self.shared.set_segments(kept);
        remove_files(&*self.fs, &self.dir, oldest.base_offset(), "")?;
        // One after the other on disk too: a hole between segments means a lost tail to a recovery.
        self.fs.sync_dir(&self.dir).at(&self.dir)?;
        self.leader_epochs.truncate_from_start(self.log_start_offset())?;
        self.remove_stray_snapshots()?;
        Ok(true)
    }

    /// Whether the oldest segment may go.
    fn is_deletable(
        &self,
        oldest: &LogSegment,
        segments: &[Arc<LogSegment>],
        now_ms: i64,
        high_watermark: i64,
    ) -> bool {
        let (policy, next) = (self.config.cleanup_policy, segments.get(1));
        let end = next.map_or(self.log_end_offset(), |next| next.base_offset());
        let is_empty = next.is_none() && oldest.size() == 0;
        if is_empty || end > high_watermark {
            return false;
        }
        let size: u64 = segments.iter().map(|segment| segment.size()).sum();
        let retention_bytes = u64::try_from(self.config.retention_bytes).ok().filter(|_| policy.delete);
        let retention_ms = Some(self.config.retention_ms).filter(|ms| *ms >= 0 && policy.delete);
        let expired = retention_ms.is_some_and(|ms| now_ms.saturating_sub(oldest.newest_timestamp()) > ms);
        let too_much = retention_bytes.is_some_and(|limit| size.saturating_sub(limit) >= oldest.size());
        let before_start = next.is_some() && end <= self.log_start_offset();
        expired || (too_much && size > 0) || before_start
    }

    /// Forgets producers whose last batch is older than `producer.id.expiration.ms`, by its timestamp, and was there at the last
    /// call of this already. (Kafka goes by the timestamp alone, and forgets who writes records of another day while it does.)
    pub fn remove_expired_producers(&mut self, now_ms: i64) {
        let checked_to = std::mem::replace(&mut self.producers_checked_to, self.shared.log_end_offset());
        self.producer_state.remove_expired(now_ms, self.producer_id_expiration_ms, checked_to);
    }

    /// Removes the log with its directory. Its name is changed first, so that a crash leaves either the log or rubbish that
    /// the next start removes.
    ///
    /// # Errors
    /// Storage errors.
    pub fn delete(&mut self) -> Result<()> {
        self.poisoned = Some("it was deleted".to_owned());
        let renamed = self.dir.with_file_name(self.name_when_deleted());
        self.fs.rename(&self.dir, &renamed).at(&self.dir)?;
        if let Some(parent) = self.dir.parent() {
            self.fs.sync_dir(parent).at(parent)?;
        }
        self.fs.remove_dir_all(&renamed).at(&renamed)
    }

    /// A name that no file system finds too long (`UnifiedLog.logDirNameWithSuffixCappedLength`).
    fn name_when_deleted(&self) -> String {
        let name = self.topic_partition.dir_name();
        if name.len() + DELETE_SUFFIX.len() <= MAX_NAME {
            return format!("{name}{DELETE_SUFFIX}");
        }
        // The topic's name alone would be that of others too, once it is cut.
        let id = self.topic_id.unwrap_or_default();
        let rest = format!(".{id}-{}{DELETE_SUFFIX}", self.topic_partition.partition);
        let kept = name.get(..MAX_NAME - rest.len()).unwrap_or_default();
        format!("{kept}{rest}")
    }

    /// Keeps snapshots that a segment starts with, and the newest.
    pub(super) fn remove_stray_snapshots(&self) -> Result<()> {
        let bases = self.segment_base_offsets();
        let snapshots = self.snapshot_offsets()?;
        let newest = snapshots.last().copied();
        for snapshot in
            snapshots.into_iter().filter(|offset| !bases.contains(offset) && Some(*offset) != newest)
        {
            self.remove_snapshot(snapshot)?;
        }
        Ok(())
    }

    fn remove_snapshot(&self, offset: i64) -> Result<()> {
        let path = segment_file(&self.dir, offset, SNAPSHOT_SUFFIX);
        self.fs.remove_file(&path).at(&path)
    }
}
