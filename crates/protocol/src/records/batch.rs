use std::iter::FusedIterator;

use bytes::{Buf, Bytes};

use super::builder::write_header;
use super::header::checksum;
use super::{
    BATCH_HEADER_LEN, BatchHeader, Compression, ControlType, Records, RecordsError, TimestampType,
    compression,
};

/// What a control batch may inflate to, in bytes; brokers never compress them.
const CONTROL_LIMIT: usize = 1 << 20;

/// One whole batch as it arrived: its parsed header and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordBatch {
    header: BatchHeader,
    /// Exactly `header.size_in_bytes()` bytes.
    bytes: Bytes,
}

/// Consecutive batches: a fetch answer, or a piece of a segment.
///
/// A broker cuts a fetch answer at a byte count, so the last batch is often cut off. That ends the iteration without
/// an error; [`truncated`](Self::truncated) tells. The iteration ends after the first error.
#[derive(Debug, Clone)]
pub struct RecordBatches {
    rest: Bytes,
    failed: bool,
}

impl RecordBatch {
    /// Splits exactly one batch off the front of `buf`, which is left as it was on an error.
    ///
    /// The CRC is not looked at: see [`check_crc`](Self::check_crc).
    ///
    /// # Errors
    /// [`RecordsError::Truncated`] when the batch is not all there, [`RecordsError::UnsupportedMagic`] for another
    /// format, [`RecordsError::Malformed`] for impossible lengths and counts.
    pub fn parse(buf: &mut Bytes) -> Result<Self, RecordsError> {
        let header = BatchHeader::parse(buf)?;
        let size = header.size_in_bytes();
        if size > buf.len() {
            return Err(RecordsError::Truncated { needed: size, available: buf.len() });
        }
        Ok(Self { header, bytes: buf.split_to(size) })
    }

    /// `bytes` are those of a batch with this header.
    pub(super) fn of_parts(header: BatchHeader, bytes: Bytes) -> Self {
        Self { header, bytes }
    }

    /// The header.
    pub fn header(&self) -> &BatchHeader {
        &self.header
    }

    /// The whole batch, header included.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The whole batch, header included.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// Compares the CRC-32C in the header with that of the bytes.
    ///
    /// # Errors
    /// [`RecordsError::BadCrc`] with both.
    pub fn check_crc(&self) -> Result<(), RecordsError> {
        let found = checksum(&self.bytes);
        let expected = self.header.crc;
        if found == expected { Ok(()) } else { Err(RecordsError::BadCrc { expected, found }) }
    }

    /// The records, decoded one by one. An uncompressed batch is read where it is; a compressed one is inflated here.
    ///
    /// # Errors
    /// [`RecordsError::UnknownCompression`], [`RecordsError::Decompress`], and [`RecordsError::InflatesPast`] when
    /// the body inflates to more than `limit_inflated` bytes; memory is taken as the output grows, never on the
    /// word of a size in the body.
    pub fn records(&self, limit_inflated: usize) -> Result<Records, RecordsError> {
        let body = self.bytes.slice(BATCH_HEADER_LEN..);
        let body = match self.header.attributes.compression()? {
            Compression::None => body,
            // Compaction leaves a header alone, without so much as the codec's frame.
            _ if self.header.record_count == 0 && body.is_empty() => body,
            codec => {
                let mut out = Vec::new();
                compression::decompress(codec, &body, limit_inflated, &mut out)?;
                Bytes::from(out)
            }
        };
        Ok(Records::new(&self.header, body))
    }

    /// Whether the batch holds control records, which consumers never see.
    pub fn is_control(&self) -> bool {
        self.header.attributes.is_control()
    }

    /// What the first control record says; `None` for a batch of data and for an empty control batch.
    ///
    /// # Errors
    /// When the record or its key cannot be read.
    pub fn control_type(&self) -> Result<Option<ControlType>, RecordsError> {
        if !self.is_control() {
            return Ok(None);
        }
        let Some(record) = self.records(CONTROL_LIMIT)?.next().transpose()? else {
            return Ok(None);
        };
        ControlType::from_key(record.key.as_deref().unwrap_or_default()).map(Some)
    }

    /// The first 16 bytes with another base offset and leader epoch: what a leader changes when it stores a batch.
    /// No checksum covers them, so the rest of [`bytes`](Self::bytes) is written as it is, from byte 16 on.
    pub fn patch_prefix(&self, base_offset: i64, leader_epoch: i32) -> [u8; 16] {
        let mut prefix = [0; 16];
        prefix[..8].copy_from_slice(&base_offset.to_be_bytes());
        prefix[8..12].copy_from_slice(&self.header.batch_length.to_be_bytes());
        prefix[12..].copy_from_slice(&leader_epoch.to_be_bytes());
        prefix
    }

    /// A copy with the broker's `timestamp` in milliseconds for every record, and the CRC that it then has
    /// (`DefaultRecordBatch.setMaxTimestamp` with LogAppendTime).
    #[must_use]
    pub fn with_log_append_time(&self, timestamp: i64) -> Self {
        let mut header = self.header;
        header.attributes = header.attributes.with_timestamp_type(TimestampType::LogAppendTime);
        header.max_timestamp = timestamp;
        let mut bytes = self.bytes.to_vec();
        header.crc = write_header(&mut bytes, header);
        Self { header, bytes: Bytes::from(bytes) }
    }
}

impl RecordBatches {
    /// Batches from the start of `bytes`.
    pub fn new(bytes: Bytes) -> Self {
        Self { rest: bytes, failed: false }
    }

    /// What has not been read: after the end, the part of a batch that was cut off.
    pub fn remaining(&self) -> &Bytes {
        &self.rest
    }

    /// After the end: the size of the batch that was cut off (61 when not even its header is there), in bytes.
    pub fn truncated(&self) -> Option<usize> {
        match BatchHeader::parse(&self.rest) {
            _ if self.failed || !self.rest.has_remaining() => None,
            Ok(header) => Some(header.size_in_bytes()).filter(|size| *size > self.rest.len()),
            Err(RecordsError::Truncated { needed, .. }) => Some(needed),
            Err(_) => None,
        }
    }
}

impl Iterator for RecordBatches {
    type Item = Result<RecordBatch, RecordsError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.rest.is_empty() {
            return None;
        }
        match RecordBatch::parse(&mut self.rest) {
            Ok(batch) => Some(Ok(batch)),
            Err(RecordsError::Truncated { .. }) => None,
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }
}

impl FusedIterator for RecordBatches {}
