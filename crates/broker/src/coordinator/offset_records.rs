//! The records of `__consumer_offsets`, as Kafka writes them (`OffsetCommitKey` 1 and `OffsetCommitValue` 3 in Kafka's
//! group coordinator schemas), so that `DumpLogSegments --offsets-decoder` reads them.

use bytes::Bytes;
use milena_protocol::records::{BatchBuilder, Record, Seal};
use milena_protocol::{DecodeError, Decoder, EncodeError, Encoder};

use super::engine::{CommittedOffset, OffsetKey};

/// The key's version since topics were in it; version 2 is that of a group's own record.
const KEY_VERSION: i16 = 1;
const VALUE_VERSION: i16 = 3;

/// One batch that sets, or with None deletes, offsets of a group.
pub(super) fn encode(
    group_id: &str,
    offsets: &[(OffsetKey, Option<CommittedOffset>)],
    now_ms: i64,
) -> Result<Bytes, EncodeError> {
    let mut batch = BatchBuilder::new(Vec::new());
    for (key, offset) in offsets {
        let value = offset.as_ref().map(encode_value).transpose()?;
        batch.append(now_ms, Some(&encode_key(group_id, key)?), value.as_deref(), &[]);
    }
    Ok(batch.seal(Seal::default()).into())
}

/// What a record says: the group, the partition, and the offset, or None when it is deleted. None for a record that is
/// about something else.
pub(super) fn decode(
    record: Record,
) -> Result<Option<(String, OffsetKey, Option<CommittedOffset>)>, DecodeError> {
    let mut key = Decoder::new(record.key.unwrap_or_default());
    if !(0..=KEY_VERSION).contains(&key.i16("OffsetCommitKey.version")?) {
        return Ok(None);
    }
    let group_id = key.string(false, "OffsetCommitKey.group")?;
    let topic = key.string(false, "OffsetCommitKey.topic")?;
    let partition = key.i32("OffsetCommitKey.partition")?;
    let offset = record.value.map(decode_value).transpose()?;
    Ok(Some((group_id, OffsetKey { topic, partition }, offset)))
}

fn encode_key(group_id: &str, key: &OffsetKey) -> Result<Vec<u8>, EncodeError> {
    let mut enc = Encoder::new();
    enc.i16(KEY_VERSION);
    enc.string(group_id, false, "OffsetCommitKey.group")?;
    enc.string(&key.topic, false, "OffsetCommitKey.topic")?;
    enc.i32(key.partition);
    Ok(enc.finish().concat())
}

fn encode_value(offset: &CommittedOffset) -> Result<Vec<u8>, EncodeError> {
    let mut enc = Encoder::new();
    enc.i16(VALUE_VERSION);
    enc.i64(offset.offset);
    enc.i32(offset.leader_epoch);
    enc.string(&offset.metadata, false, "OffsetCommitValue.metadata")?;
    enc.i64(offset.committed_at_ms);
    Ok(enc.finish().concat())
}

fn decode_value(value: Bytes) -> Result<CommittedOffset, DecodeError> {
    let mut dec = Decoder::new(value);
    let version = dec.i16("OffsetCommitValue.version")?;
    // Version 4 has the same fields in flexible encoding, and a topic id behind them.
    let flexible = version > VALUE_VERSION;
    Ok(CommittedOffset {
        offset: dec.i64("OffsetCommitValue.offset")?,
        leader_epoch: if version >= VALUE_VERSION { dec.i32("OffsetCommitValue.leader_epoch")? } else { -1 },
        metadata: dec.string(flexible, "OffsetCommitValue.metadata")?,
        committed_at_ms: dec.i64("OffsetCommitValue.commit_timestamp")?,
    })
}

#[cfg(test)]
mod tests {
    use milena_protocol::records::RecordBatches;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let key = |partition| OffsetKey { topic: "t".to_owned(), partition };
        let offset =
            CommittedOffset { offset: 7, leader_epoch: 2, metadata: "m".to_owned(), committed_at_ms: 1_000 };
        let batch = encode("g", &[(key(0), Some(offset.clone())), (key(1), None)], 1_000).unwrap();
        let batch = RecordBatches::new(batch).next().unwrap().unwrap();
        let read: Vec<_> =
            batch.records(1_024).unwrap().map(|r| decode(r.unwrap()).unwrap().unwrap()).collect();
        assert_eq!(read, [("g".to_owned(), key(0), Some(offset)), ("g".to_owned(), key(1), None)]);
    }
}
