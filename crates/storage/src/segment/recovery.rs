//! Bringing a segment's state back from its files.

use std::io::IoSlice;
use std::sync::atomic::Ordering;

use milena_protocol::records::RecordBatch;

use super::scan::{BatchScanner, to_usize};
use super::{LogSegment, Progress, has_timestamp};
use crate::error::{IoContext, Result, StorageError};
use crate::fs::read_known;

impl LogSegment {
    /// Fails when the indexes cannot be those of this segment (or only their ends, unless `all`).
    pub(crate) fn sanity_check(&self, all: bool) -> Result<()> {
        // Index entries name offsets that a later segment's base cannot tell us here: positions and order suffice.
        let limit = i64::from(i32::MAX) + 1;
        self.offset_index.sanity_check(limit, all)?;
        self.time_index.sanity_check(limit, all)?;
        let beyond = |position: i32| u64::try_from(position).is_ok_and(|position| position >= self.size());
        match self.offset_index.last()? {
            Some(last) if beyond(last.position) => {
                Err(StorageError::broken(&self.path, "its index points behind its end"))
            }
            _ => Ok(()),
        }
    }

    /// Trusts the files of a segment that was closed well, and reads what its end and its indexes say.
    ///
    /// # Errors
    /// When what is behind the last index entry are no batches: then [`recover`](Self::recover) it.
    pub(crate) fn load(&self) -> Result<()> {
        let created_ms = self.progress.lock().created_ms;
        let mut progress = Progress::new(self.base_offset, created_ms);
        if let Some(last) = self.time_index.last()? {
            progress.max_timestamp = last.timestamp;
            progress.offset_of_max_timestamp =
                self.base_offset.saturating_add(i64::from(last.relative_offset));
        }
        let size = self.size();
        let mut first = BatchScanner::new(&*self.file, &self.path, 0, size).with_window(0);
        progress.first_timestamp =
            first.next()?.map(|batch| batch.header.max_timestamp).filter(|ms| *ms >= 0);

        let start = self.offset_index.last()?.and_then(|last| u64::try_from(last.position).ok()).unwrap_or(0);
        let mut scanner = BatchScanner::new(&*self.file, &self.path, start, size);
        let mut next_offset = self.base_offset;
        while let Some(batch) = scanner.next()? {
            if batch.header.base_offset < next_offset || !self.can_hold(batch.header.last_offset()) {
                return Err(StorageError::broken(&self.path, "offsets go back behind the last index entry"));
            }
            if has_timestamp(&batch.header) && batch.header.max_timestamp > progress.max_timestamp {
                progress.max_timestamp = batch.header.max_timestamp;
                progress.offset_of_max_timestamp = batch.header.last_offset();
            }
            progress.bytes_since_index_entry += batch.header.size_in_bytes() as u64;
            next_offset = batch.header.next_offset();
        }
        self.next_offset.store(next_offset, Ordering::Release);
        *self.progress.lock() = progress;
        Ok(())
    }

    /// Offset after the last whole batch, as the batches' headers say.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn end_of_batches(&self) -> Result<i64> {
        let mut scanner = BatchScanner::new(&*self.file, &self.path, 0, self.size());
        let mut end = self.base_offset;
        loop {
            match scanner.next() {
                Ok(Some(batch)) => end = batch.header.next_offset(),
                Err(error @ StorageError::Io { .. }) => return Err(error),
                Ok(None) | Err(_) => return Ok(end),
            }
        }
    }

    /// Trusts nothing: keeps whole batches with a right CRC and rising offsets, cuts the file behind the last of them,
    /// builds the indexes again and shows each batch to `on_batch`. Answers how many bytes were cut off
    /// (Kafka: `LogSegment.recover`).
    pub(crate) fn recover(
        &self,
        index_interval_bytes: u64,
        mut on_batch: impl FnMut(&RecordBatch) -> Result<()>,
    ) -> Result<u64> {
        let created_ms = self.progress.lock().created_ms;
        *self.progress.lock() = Progress::new(self.base_offset, created_ms);
        self.offset_index.clear()?;
        self.time_index.clear()?;
        self.activate()?;

        let len = self.file.len().at(&self.path)?;
        let mut scanner = BatchScanner::new(&*self.file, &self.path, 0, len);
        let mut next_offset = self.base_offset;
        let mut valid = 0;
        loop {
            let (scanned, batch) = match self.next_valid(&mut scanner, next_offset) {
                Ok(Some(found)) => found,
                Ok(None) => break,
                Err(error @ StorageError::Io { .. }) => return Err(error),
                Err(error) => {
                    tracing::warn!(path = %self.path.display(), valid, len, %error, "the segment is cut here");
                    break;
                }
            };
            on_batch(&batch)?;
            self.note_batch(&scanned, index_interval_bytes);
            valid = scanned.end();
            next_offset = batch.header().next_offset();
        }
        self.next_offset.store(next_offset, Ordering::Release);
        self.size.store(valid, Ordering::Release);
        if valid < len {
            self.file.truncate(valid).at(&self.path)?;
        }
        self.seal()?;
        Ok(len - valid)
    }

    /// Writes the batches from the one that contains `offset` on over themselves. After a failed sync the system may hold pages that it believes to be on disk
    /// and that are not; only a page that was written again is synced again.
    pub(crate) fn rewrite(&self, offset: i64) -> Result<()> {
        const CHUNK_BYTES: u64 = 1024 * 1024;
        let size = self.size();
        let mut position = self.find_batch(offset, size)?.map_or(size, |batch| batch.position);
        while position < size {
            let len = to_usize(CHUNK_BYTES.min(size - position));
            let chunk = read_known(&*self.file, position, len).at(&self.path)?;
            if chunk.is_empty() {
                return Err(StorageError::broken(&self.path, "it got shorter while it was recovered"));
            }
            self.file.write_all_at(&mut [IoSlice::new(&chunk)], position).at(&self.path)?;
            position += chunk.len() as u64;
        }
        Ok(())
    }

    fn next_valid(
        &self,
        scanner: &mut BatchScanner<'_>,
        next_offset: i64,
    ) -> Result<Option<(super::ScannedBatch, RecordBatch)>> {
        let Some(scanned) = scanner.next()? else { return Ok(None) };
        let header = &scanned.header;
        if header.base_offset < next_offset || !self.can_hold(header.last_offset()) {
            let reason = format!("a batch at {} does not follow {next_offset}", header.base_offset);
            return Err(StorageError::broken(&self.path, reason));
        }
        let batch = scanner.read(&scanned)?;
        batch.check_crc()?;
        Ok(Some((scanned, batch)))
    }
}
