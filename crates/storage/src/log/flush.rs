//! Making a log durable, with or without holding it meanwhile.

use std::path::PathBuf;
use std::sync::Arc;

use super::Log;
use crate::config::FsyncPolicy;
use crate::error::{IoContext, Result, StorageError};
use crate::fs::SharedFileSystem;
use crate::producer_state::{SNAPSHOT_SUFFIX, write_snapshot};
use crate::segment::{LogSegment, segment_file};

/// What has to be synced to make a log durable up to an offset. [`sync`](Self::sync) needs no lock on the log, so that
/// appends go on meanwhile; then hand it back to [`Log::complete_flush`].
#[derive(Debug)]
pub struct PendingFlush {
    fs: SharedFileSystem,
    segments: Vec<Arc<LogSegment>>,
    dirs: Vec<PathBuf>,
    up_to: i64,
    truncations: u64,
}

impl PendingFlush {
    /// Syncs the segments with their indexes, and their names.
    ///
    /// # Errors
    /// When a sync fails; [`Log::complete_flush`] must learn of it.
    pub fn sync(&self) -> Result<()> {
        for segment in &self.segments {
            segment.sync()?;
        }
        self.dirs.iter().try_for_each(|dir| self.fs.sync_dir(dir).at(dir))
    }
}

impl Log {
    /// Makes everything before `offset` durable, indexes included, and moves the recovery point there. A failure poisons
    /// the log.
    ///
    /// # Errors
    /// [`StorageError::Io`] when a sync fails, [`StorageError::Poisoned`] after one.
    pub fn flush(&mut self, offset: i64) -> Result<()> {
        match self.begin_flush(offset)? {
            Some(pending) => {
                let result = pending.sync();
                self.complete_flush(&pending, result)
            }
            None => Ok(()),
        }
    }

    /// The first half of [`flush`](Self::flush); `None` when there is nothing to do.
    ///
    /// # Errors
    /// [`StorageError::Poisoned`].
    pub fn begin_flush(&self, offset: i64) -> Result<Option<PendingFlush>> {
        self.check_not_poisoned()?;
        let offset = offset.min(self.log_end_offset());
        Ok((offset > self.recovery_point).then(|| self.pending_flush(offset)))
    }

    /// As [`begin_flush`](Self::begin_flush), of the segments that are not appended to any more. Kafka syncs each once it
    /// is rolled, so that a recovery reads little more than the active one.
    ///
    /// # Errors
    /// [`StorageError::Poisoned`].
    pub fn begin_flush_sealed(&self) -> Result<Option<PendingFlush>> {
        self.begin_flush(self.active.base_offset())
    }

    /// The second half of [`flush`](Self::flush): moves the recovery point, or poisons the log if `result` is an error.
    ///
    /// # Errors
    /// That of `result`.
    pub fn complete_flush(&mut self, pending: &PendingFlush, result: Result<()>) -> Result<()> {
        self.poison_on_error(result)?;
        // After a truncation the offsets that were synced may have other records.
        if pending.truncations == self.truncations {
            self.recovery_point = self.recovery_point.max(pending.up_to);
            self.parent_synced = true;
        }
        Ok(())
    }

    /// Syncs if the policy's interval, or `flush.ms`, is over; answers milliseconds until the next time it may be due,
    /// `None` when no policy asks for it.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn flush_due(&mut self, now_ms: i64) -> Result<Option<i64>> {
        let (pending, next) = self.begin_flush_due(now_ms)?;
        if let Some(pending) = pending {
            let result = pending.sync();
            self.complete_flush(&pending, result)?;
        }
        Ok(next)
    }

    /// The first half of [`flush_due`](Self::flush_due): what to sync now, and milliseconds until it may be due again.
    ///
    /// # Errors
    /// [`StorageError::Poisoned`].
    pub fn begin_flush_due(&mut self, now_ms: i64) -> Result<(Option<PendingFlush>, Option<i64>)> {
        let policy = match self.fsync {
            FsyncPolicy::Interval(interval) => i64::try_from(interval.as_millis()).unwrap_or(i64::MAX),
            FsyncPolicy::EveryBatch | FsyncPolicy::Os => i64::MAX,
        };
        let interval = policy.min(self.config.flush_ms);
        if interval == i64::MAX {
            return Ok((None, None));
        }
        let waited = now_ms.saturating_sub(self.last_flush_ms);
        // A clock that was put back says nothing about how long it was.
        if (0..interval).contains(&waited) {
            return Ok((None, Some(interval - waited)));
        }
        self.last_flush_ms = now_ms;
        Ok((self.begin_flush(self.log_end_offset())?, Some(interval)))
    }

    /// Makes everything durable and leaves a producer snapshot, so that the next open with `clean_shutdown` need not
    /// recover. No append is possible afterwards.
    ///
    /// # Errors
    /// As [`flush`](Self::flush); the caller must not write the clean-shutdown marker then.
    pub fn close(&mut self) -> Result<()> {
        self.check_not_poisoned()?;
        self.poisoned = Some("it was closed".to_owned());
        self.active.seal()?;
        let end = self.log_end_offset();
        if end == 0 && self.truncations == 0 {
            // Nothing was ever in it.
            return Ok(());
        }
        if self.truncations > 0 {
            // It may end where it was synced, and still be longer on the disk.
            self.active.sync()?;
        }
        let mut pending = self.pending_flush(end);
        if !self.snapshot_offsets()?.contains(&end) {
            self.take_snapshot()?;
            // That has synced the directory.
            pending.dirs.retain(|dir| *dir != self.dir);
        }
        pending.sync()?;
        self.recovery_point = self.recovery_point.max(end);
        Ok(())
    }

    /// As [`close`](Self::close), when the name of the log's directory is known to be durable.
    pub(crate) fn close_in_synced_dir(&mut self) -> Result<()> {
        self.parent_synced = true;
        self.close()
    }

    /// Another [`Log`] is going to be opened on the same files: this one takes nothing any more.
    pub(crate) fn retire(&mut self) {
        self.poisoned.get_or_insert_with(|| "its directory has failed and is recovered".to_owned());
    }

    /// Syncs what is not known to be durable up to `offset`, whatever state the log is in.
    pub(super) fn sync_segments(&mut self, offset: i64) -> Result<()> {
        self.pending_flush(offset).sync()?;
        self.recovery_point = self.recovery_point.max(offset);
        self.parent_synced = true;
        Ok(())
    }

    fn pending_flush(&self, up_to: i64) -> PendingFlush {
        let segments = self.shared.segments();
        let unsynced = |segment: &&Arc<LogSegment>| {
            segment.next_offset() > self.recovery_point && segment.base_offset() < up_to
        };
        let mut dirs = vec![self.dir.clone()];
        if !self.parent_synced {
            dirs.extend(self.dir.parent().map(PathBuf::from));
        }
        PendingFlush {
            fs: Arc::clone(&self.fs),
            segments: segments.iter().filter(unsynced).cloned().collect(),
            dirs,
            up_to,
            truncations: self.truncations,
        }
    }

    pub(super) fn check_not_poisoned(&self) -> Result<()> {
        match &self.poisoned {
            None => Ok(()),
            Some(reason) => Err(StorageError::Poisoned { path: self.dir.clone(), reason: reason.clone() }),
        }
    }

    pub(super) fn poison_on_error<T>(&mut self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            tracing::error!(dir = %self.dir.display(), %error, "the log is poisoned until it is recovered");
            self.poisoned.get_or_insert(error.to_string());
        }
        result
    }

    /// Writes the producers' state at the log's end and drops snapshots that no segment starts with.
    pub(super) fn take_snapshot(&mut self) -> Result<()> {
        let path = segment_file(&self.dir, self.log_end_offset(), SNAPSHOT_SUFFIX);
        write_snapshot(&*self.fs, &path, &self.producer_state)?;
        self.remove_stray_snapshots()
    }
}
