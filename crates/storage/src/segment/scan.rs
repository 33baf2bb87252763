//! Walking the batches of a segment file without trusting it.

use std::path::Path;

use bytes::Bytes;
use milena_protocol::records::{BATCH_HEADER_LEN, BatchHeader, RecordBatch, RecordsError};

use crate::error::{IoContext, Result, StorageError};
use crate::fs::{File, read_known};

/// Read at once while walking headers: many small batches, or the header of one large one.
const WINDOW_BYTES: u64 = 64 * 1024;

/// Walks headers and reads bodies only when asked. What a garbage length claims is compared with the bytes that the
/// file has before anything is allocated.
#[derive(Debug)]
pub(crate) struct BatchScanner<'a> {
    file: &'a dyn File,
    path: &'a Path,
    position: u64,
    end: u64,
    window: Bytes,
    window_start: u64,
    window_bytes: u64,
}

/// A batch's place in the file and its header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScannedBatch {
    pub(crate) position: u64,
    pub(crate) header: BatchHeader,
}

impl ScannedBatch {
    pub(crate) fn end(&self) -> u64 {
        self.position + self.header.size_in_bytes() as u64
    }
}

impl<'a> BatchScanner<'a> {
    /// Scans from `position`, which must be the start of a batch, to `end`.
    pub(crate) fn new(file: &'a dyn File, path: &'a Path, position: u64, end: u64) -> Self {
        let window_bytes = WINDOW_BYTES;
        Self { file, path, position, end, window: Bytes::new(), window_start: 0, window_bytes }
    }

    /// Reads `bytes` at once instead: for a look at few batches.
    pub(crate) fn with_window(self, bytes: u64) -> Self {
        Self { window_bytes: bytes.max(BATCH_HEADER_LEN as u64), ..self }
    }

    /// The next batch's header; `None` at the end.
    ///
    /// # Errors
    /// [`StorageError::Records`] when what is there is no batch, or not all of one; the scan stays where it is.
    pub(crate) fn next(&mut self) -> Result<Option<ScannedBatch>> {
        if self.position >= self.end {
            return Ok(None);
        }
        let position = self.position;
        let len = (self.end - position).min(BATCH_HEADER_LEN as u64);
        let header = BatchHeader::parse(&self.bytes(position, len)?)?;
        let available = self.end - position;
        let size = header.size_in_bytes();
        if size as u64 > available {
            let available = usize::try_from(available).unwrap_or(usize::MAX);
            return Err(RecordsError::Truncated { needed: size, available }.into());
        }
        self.position += size as u64;
        Ok(Some(ScannedBatch { position, header }))
    }

    /// The whole batch.
    pub(crate) fn read(&mut self, batch: &ScannedBatch) -> Result<RecordBatch> {
        let mut bytes = self.bytes(batch.position, batch.header.size_in_bytes() as u64)?;
        Ok(RecordBatch::parse(&mut bytes)?)
    }

    fn bytes(&mut self, position: u64, len: u64) -> Result<Bytes> {
        if let Some(bytes) = self.in_window(position, len) {
            return Ok(bytes);
        }
        let wanted = len.max(self.window_bytes).min(self.end.saturating_sub(position));
        self.window = read_known(self.file, position, to_usize(wanted)).at(self.path)?;
        self.window_start = position;
        self.in_window(position, len)
            .ok_or_else(|| StorageError::broken(self.path, format!("it ends before {}", position + len)))
    }

    fn in_window(&self, position: u64, len: u64) -> Option<Bytes> {
        let start = position.checked_sub(self.window_start)?;
        let end = start.checked_add(len)?;
        (end <= self.window.len() as u64).then(|| self.window.slice(to_usize(start)..to_usize(end)))
    }
}

/// Lengths here are bounded by a file that was or will be in memory.
pub(crate) fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
