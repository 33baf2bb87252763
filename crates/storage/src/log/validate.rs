//! What a leader refuses before it stores a batch (Kafka: `LogValidator`, `UnifiedLog.analyzeAndValidateRecords`).

use bytes::Bytes;
use milena_protocol::records::{BATCH_HEADER_LEN, Compression, NO_TIMESTAMP, RecordBatch, TimestampType};

use crate::config::LogConfig;
use crate::error::{Result, StorageError};

/// What one batch may inflate to where its records must be looked at, in bytes.
pub(super) const MAX_INFLATED_BYTES: usize = 256 * 1024 * 1024;

/// Who wants to append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendOrigin {
    /// A produce request: everything is checked.
    Client,
    /// The broker itself (a group or transaction coordinator): control records and several batches are allowed.
    Coordinator,
}

/// Splits the bytes of an append into batches with a right CRC.
pub(super) fn parse_batches(mut bytes: Bytes, tolerate_cut_off: bool) -> Result<Vec<RecordBatch>> {
    let mut batches = Vec::with_capacity(1);
    while !bytes.is_empty() {
        let batch = match RecordBatch::parse(&mut bytes) {
            // A follower's fetch answer may end in the middle of a batch.
            Err(milena_protocol::records::RecordsError::Truncated { .. }) if tolerate_cut_off => break,
            other => other?,
        };
        batch.check_crc()?;
        batches.push(batch);
    }
    Ok(batches)
}

/// Checks what a client, or a coordinator, wants appended.
pub(super) fn validate(
    batches: &[RecordBatch],
    config: &LogConfig,
    origin: AppendOrigin,
    now_ms: i64,
) -> Result<()> {
    let limit = usize::try_from(config.max_message_bytes).unwrap_or(0);
    if batches.is_empty() {
        return invalid("no batch");
    }
    if origin == AppendOrigin::Client && batches.len() != 1 {
        return invalid(format!(
            "{} batches where a produce request has exactly one per partition",
            batches.len()
        ));
    }
    let (size, segment_bytes) = (
        batches.iter().map(|batch| batch.bytes().len()).sum(),
        usize::try_from(config.segment_bytes).unwrap_or(0),
    );
    for batch in batches {
        let size = batch.bytes().len();
        if size > limit {
            return Err(StorageError::MessageTooLarge { size, limit });
        }
        validate_batch(batch, origin)?;
        if config.message_timestamp_type == TimestampType::CreateTime {
            validate_timestamps(batch, config, now_ms)?;
        }
        if config.cleanup_policy.compact && !batch.is_control() {
            validate_keys(batch)?;
        }
    }
    if size > segment_bytes {
        return Err(StorageError::RecordListTooLarge { size, limit: segment_bytes });
    }
    Ok(())
}

fn validate_batch(batch: &RecordBatch, origin: AppendOrigin) -> Result<()> {
    let header = batch.header();
    let compression = header.attributes.compression()?;
    if header.record_count == 0 {
        return invalid("no records in the batch");
    }
    if i64::from(header.last_offset_delta) + 1 != i64::from(header.record_count) {
        let (delta, count) = (header.last_offset_delta, header.record_count);
        return invalid(format!("last offset delta {delta} with {count} records"));
    }
    if origin == AppendOrigin::Client {
        if header.attributes.is_control() {
            return invalid("clients may not write control records");
        }
        if header.attributes.timestamp_type() == TimestampType::LogAppendTime {
            return invalid("a producer may not set LogAppendTime");
        }
        if header.has_producer_id() && (header.base_sequence < 0 || header.producer_epoch < 0) {
            let (sequence, epoch) = (header.base_sequence, header.producer_epoch);
            return invalid(format!("sequence {sequence} and epoch {epoch} with a producer id"));
        }
        if header.attributes.is_transactional() && !header.has_producer_id() {
            return invalid("a transactional batch without a producer id");
        }
    }
    if compression == Compression::None { validate_framing(batch) } else { Ok(()) }
}

/// Walks the records' lengths: as many records as the header says, and not a byte more.
fn validate_framing(batch: &RecordBatch) -> Result<()> {
    let mut rest = batch.bytes().get(BATCH_HEADER_LEN..).unwrap_or_default();
    for number in 0..batch.header().record_count {
        let record = zigzag_length(rest).and_then(|(length, at)| rest.get(at.checked_add(length)?..));
        let Some(after) = record else {
            return invalid(format!("record {number} does not fit into its batch"));
        };
        rest = after;
    }
    if rest.is_empty() { Ok(()) } else { invalid(format!("{} bytes after the last record", rest.len())) }
}

/// A record's length and the bytes that the length itself takes.
fn zigzag_length(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut raw = 0u32;
    for (at, byte) in bytes.iter().take(5).enumerate() {
        raw |= u32::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            // An odd number is a negative length.
            return (raw & 1 == 0).then_some(((raw >> 1) as usize, at + 1));
        }
    }
    None
}

/// Looks at the first and the largest timestamp only: those of compressed records would need the batch inflated.
fn validate_timestamps(batch: &RecordBatch, config: &LogConfig, now_ms: i64) -> Result<()> {
    let (before, after) = (config.message_timestamp_before_max_ms, config.message_timestamp_after_max_ms);
    for timestamp in [batch.header().base_timestamp, batch.header().max_timestamp] {
        if timestamp == NO_TIMESTAMP {
            continue;
        }
        let allowed = if now_ms.saturating_sub(timestamp) > before {
            format!("message.timestamp.before.max.ms={before}")
        } else if timestamp.saturating_sub(now_ms) > after {
            format!("message.timestamp.after.max.ms={after}")
        } else {
            continue;
        };
        return Err(StorageError::InvalidTimestamp { timestamp, now_ms, allowed });
    }
    Ok(())
}

fn validate_keys(batch: &RecordBatch) -> Result<()> {
    for (number, record) in batch.records(MAX_INFLATED_BYTES)?.enumerate() {
        if record?.key.is_none() {
            return invalid(format!("record {number} has no key, and the topic is compacted"));
        }
    }
    Ok(())
}

fn invalid<T>(reason: impl Into<String>) -> Result<T> {
    Err(StorageError::InvalidRecord(reason.into()))
}
