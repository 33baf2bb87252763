//! Record batches v2 (magic 2, KIP-98), as the producer writes them and as brokers and consumers read them.
//!
//! A batch is a 61-byte header and a body of records; the body may be compressed as a whole. On disk and on the
//! wire the bytes are the same, so a broker stores what a producer sent and only patches the first 16 bytes, which
//! no checksum covers.
//!
//! - Writing: [`BatchBuilder`] encodes records into one buffer behind a gap for the header;
//!   [`BatchBuilder::seal`] fills the header. [`BatchBuilder::compress`] is a pure function in between.
//!   [`reseal`] gives a finished batch another producer identity, [`split`] makes several smaller ones of it.
//! - Reading: [`RecordBatches`] walks the batches of a fetch answer or of a file; [`RecordBatch::records`] decodes
//!   lazily, its keys and values being slices of the bytes that arrived.
//!
//! Nothing here trusts a length or a count: every one is checked against the bytes that are there, and what a
//! compressed body may inflate to is the caller's limit. Message formats 0 and 1 are refused, as Kafka 4 does
//! (KIP-724).
//!
//! Kafka's source: `DefaultRecordBatch`, `DefaultRecord`, `MemoryRecordsBuilder`, `ByteUtils`, `CompressionType`.

mod attributes;
mod batch;
mod builder;
mod control;
mod error;
mod header;
mod record;
mod retain;
mod split;
mod varint;

pub mod compression;

pub use attributes::{Attributes, TimestampType};
pub use batch::{RecordBatch, RecordBatches};
pub use builder::{BatchBuilder, CompressedBatch, Header, Seal, reseal};
pub use compression::Compression;
pub use control::{ControlType, EndTransactionMarker};
pub use error::RecordsError;
pub use header::BatchHeader;
pub use record::{HeaderIter, HeaderKey, Headers, Record, RecordHeader, Records};
pub use retain::Retained;
pub use split::split;

/// Bytes of a batch before its records: the header of message format 2.
pub const BATCH_HEADER_LEN: usize = 61;

/// Bytes before the part that `batch_length` counts: the base offset and the length itself.
pub const LOG_OVERHEAD: usize = 12;

/// The only message format that is read and written.
pub const MAGIC: i8 = 2;

/// A timestamp that is not known (`RecordBatch.NO_TIMESTAMP`).
pub const NO_TIMESTAMP: i64 = -1;

/// The producer id of a batch that is not idempotent.
pub const NO_PRODUCER_ID: i64 = -1;

/// The producer epoch of a batch that is not idempotent.
pub const NO_PRODUCER_EPOCH: i16 = -1;

/// The base sequence of a batch that is not idempotent.
pub const NO_SEQUENCE: i32 = -1;

/// The leader epoch in a batch that no leader has stored yet.
pub const NO_PARTITION_LEADER_EPOCH: i32 = -1;

/// The most that a record takes beyond its key, value and headers (`DefaultRecord.MAX_RECORD_OVERHEAD`): length 5,
/// attributes 1, timestamp delta 10, offset delta 5.
pub const MAX_RECORD_OVERHEAD: usize = 21;

/// The most bytes that a batch with this one record may take uncompressed, whatever its timestamp and index
/// (`AbstractRecords.estimateSizeInBytesUpperBound`). What `max.request.size` is compared with at send.
#[inline]
pub fn batch_size_upper_bound(key: Option<&[u8]>, value: Option<&[u8]>, headers: &[Header<'_>]) -> usize {
    BATCH_HEADER_LEN + MAX_RECORD_OVERHEAD + builder::payload_size(key, value, headers)
}

/// The sequence `increment` steps after `sequence`; after `i32::MAX` comes 0
/// (`DefaultRecordBatch.incrementSequence`).
pub fn increment_sequence(sequence: i32, increment: i32) -> i32 {
    if sequence > i32::MAX - increment { increment - (i32::MAX - sequence) - 1 } else { sequence + increment }
}

/// The sequence `decrement` steps before `sequence`; before 0 comes `i32::MAX`
/// (`DefaultRecordBatch.decrementSequence`).
pub fn decrement_sequence(sequence: i32, decrement: i32) -> i32 {
    if sequence < decrement { i32::MAX - (decrement - sequence) + 1 } else { sequence - decrement }
}
