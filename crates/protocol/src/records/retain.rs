//! What log compaction leaves of a batch.

use bytes::Bytes;

use super::builder::write_header;
use super::varint;
use super::{
    Attributes, BATCH_HEADER_LEN, BatchHeader, Compression, LOG_OVERHEAD, Record, RecordBatch, RecordsError,
    TimestampType, compression,
};

/// What [`RecordBatch::retain`] left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retained {
    /// Every record: the batch stays as it is.
    All,
    /// Some records, or all of them with a delete horizon.
    Some(RecordBatch),
    /// No record.
    None,
}

impl RecordBatch {
    /// Leaves out the records that `keep` does not want. The others stay at their offsets, and the batch keeps its first and
    /// last offset, its producer and its sequences, so that nothing is told from it but that records are missing
    /// (`MemoryRecords.filterTo`).
    ///
    /// If tombstones are left and the batch does not say yet when they may go, `delete_horizon` is noted in it, in
    /// milliseconds (KIP-534).
    ///
    /// # Errors
    /// As [`records`](Self::records), and those of the records.
    pub fn retain(
        &self,
        limit_inflated: usize,
        delete_horizon: i64,
        mut keep: impl FnMut(&Record) -> bool,
    ) -> Result<Retained, RecordsError> {
        let header = self.header();
        let mut kept = Vec::new();
        for record in self.records(limit_inflated)? {
            let record = record?;
            if keep(&record) {
                kept.push(record);
            }
        }
        let has_horizon = header.attributes.has_delete_horizon();
        let horizon = if has_horizon {
            Some(header.base_timestamp)
        } else {
            kept.iter().any(|record| record.value.is_none()).then_some(delete_horizon)
        };
        let is_whole = i32::try_from(kept.len()) == Ok(header.record_count);
        if kept.is_empty() {
            return Ok(if is_whole { Retained::All } else { Retained::None });
        }
        if is_whole && horizon.is_some() == has_horizon {
            return Ok(Retained::All);
        }
        self.rebuilt(&kept, horizon).map(Retained::Some)
    }

    /// The batch without records: its offsets, its producer and its sequences (`DefaultRecordBatch.writeEmptyHeader`).
    #[must_use]
    pub fn without_records(&self) -> Self {
        let header = BatchHeader {
            attributes: self
                .header()
                .attributes
                .with_compression(Compression::None)
                .with_delete_horizon(false),
            base_timestamp: self.header().max_timestamp,
            record_count: 0,
            ..*self.header()
        };
        whole(header, vec![0; BATCH_HEADER_LEN])
    }

    fn rebuilt(&self, records: &[Record], horizon: Option<i64>) -> Result<Self, RecordsError> {
        let header = self.header();
        let first_timestamp = records.first().map_or(header.base_timestamp, |record| record.timestamp);
        let base_timestamp = horizon.unwrap_or(first_timestamp);
        let mut body = Vec::new();
        for record in records {
            write(&mut body, record, header.base_offset, base_timestamp);
        }
        let codec = header.attributes.compression()?;
        let mut bytes = vec![0; BATCH_HEADER_LEN];
        match codec {
            Compression::None => bytes.extend_from_slice(&body),
            codec => compression::compress(codec, None, &body, &mut bytes)?,
        }
        let newest = records.iter().map(|record| record.timestamp).max().unwrap_or(header.max_timestamp);
        let attributes: Attributes = header.attributes.with_delete_horizon(horizon.is_some());
        let by_broker = attributes.timestamp_type() == TimestampType::LogAppendTime;
        let header = BatchHeader {
            attributes,
            base_timestamp,
            max_timestamp: if by_broker { header.max_timestamp } else { newest },
            record_count: i32::try_from(records.len()).unwrap_or(i32::MAX),
            ..*header
        };
        Ok(whole(header, bytes))
    }
}

/// A batch of these bytes, whose length and checksum are set.
fn whole(mut header: BatchHeader, mut bytes: Vec<u8>) -> RecordBatch {
    header.batch_length = i32::try_from(bytes.len() - LOG_OVERHEAD).unwrap_or(i32::MAX);
    header.crc = write_header(&mut bytes, header);
    RecordBatch::of_parts(header, Bytes::from(bytes))
}

fn write(body: &mut Vec<u8>, record: &Record, base_offset: i64, base_timestamp: i64) {
    let timestamp_delta = record.timestamp.wrapping_sub(base_timestamp);
    let offset_delta = record.offset.wrapping_sub(base_offset);
    let length = 1 + varint::size(timestamp_delta) + varint::size(offset_delta) + record.payload_size();
    varint::push(body, length as i64);
    // The record's attributes: none is in use.
    body.push(0);
    varint::push(body, timestamp_delta);
    varint::push(body, offset_delta);
    for part in [&record.key, &record.value] {
        match part {
            None => varint::push(body, -1),
            Some(bytes) => {
                varint::push(body, bytes.len() as i64);
                body.extend_from_slice(bytes);
            }
        }
    }
    varint::push(body, record.headers.len() as i64);
    body.extend_from_slice(record.headers.encoded());
}

#[cfg(test)]
mod tests {
    use super::super::{BatchBuilder, Header, Seal};
    use super::*;

    const LIMIT: usize = 1 << 20;
    const HORIZON: i64 = 99_000;

    /// Five records, of which the fourth is a tombstone.
    fn batch(codec: Compression) -> RecordBatch {
        let mut builder = BatchBuilder::new(Vec::new());
        for n in 0..5 {
            let (key, value) = (format!("k{n}"), format!("value {n}"));
            let headers = [Header { key: "h", value: None }];
            let value = (n != 3).then_some(value.as_bytes());
            builder.append(1_000 - n, Some(key.as_bytes()), value, &headers);
        }
        let seal = Seal {
            base_offset: 10,
            producer_id: 7,
            producer_epoch: 1,
            base_sequence: 20,
            partition_leader_epoch: 3,
            ..Seal::default()
        };
        let bytes = builder.compress(codec, None, Vec::new()).unwrap().seal(seal);
        RecordBatch::parse(&mut bytes.into()).unwrap()
    }

    fn records(batch: &RecordBatch) -> Vec<Record> {
        batch.check_crc().unwrap();
        batch.records(LIMIT).unwrap().collect::<Result<_, _>>().unwrap()
    }

    fn parsed(batch: &RecordBatch) -> RecordBatch {
        RecordBatch::parse(&mut batch.bytes().clone()).unwrap()
    }

    #[test]
    fn what_is_kept_stays_where_it_was_with_every_codec() {
        for codec in Compression::ALL {
            let whole = batch(codec);
            let all = records(&whole);
            let kept = whole.retain(LIMIT, HORIZON, |record| record.offset % 2 == 0).unwrap();
            let Retained::Some(kept) = kept else { panic!("{kept:?}") };
            assert_eq!(parsed(&kept), kept, "the header is that of the bytes");
            let expected: Vec<_> = all.iter().filter(|record| record.offset % 2 == 0).cloned().collect();
            assert_eq!(records(&kept), expected);
            let (old, new) = (whole.header(), kept.header());
            assert_eq!((new.base_offset, new.last_offset()), (old.base_offset, old.last_offset()));
            assert_eq!((new.base_sequence, new.last_sequence()), (old.base_sequence, old.last_sequence()));
            assert_eq!((new.max_timestamp, new.record_count), (1_000, 3));
            assert_eq!(new.attributes.compression(), Ok(codec));
            assert!(!new.attributes.has_delete_horizon(), "the tombstone is gone");
        }
    }

    #[test]
    fn tombstones_get_a_horizon_once() {
        let whole = batch(Compression::None);
        let Retained::Some(kept) = whole.retain(LIMIT, HORIZON, |_| true).unwrap() else { panic!() };
        assert!(kept.header().attributes.has_delete_horizon());
        assert_eq!(kept.header().base_timestamp, HORIZON);
        assert_eq!(records(&kept), records(&whole), "timestamps are what they were");
        assert_eq!(kept.retain(LIMIT, HORIZON + 1, |_| true), Ok(Retained::All));
        let Retained::Some(less) = kept.retain(LIMIT, HORIZON + 1, |record| record.offset != 10).unwrap()
        else {
            panic!()
        };
        assert_eq!(less.header().base_timestamp, HORIZON);
        assert_eq!(records(&less), records(&whole)[1..]);
    }

    #[test]
    fn nothing_left_is_a_header_alone() {
        let whole = batch(Compression::Zstd);
        assert_eq!(whole.retain(LIMIT, HORIZON, |_| false), Ok(Retained::None));
        let empty = whole.without_records();
        assert_eq!(parsed(&empty), empty);
        assert!(records(&empty).is_empty());
        let header = empty.header();
        assert_eq!(empty.bytes().len(), BATCH_HEADER_LEN);
        assert_eq!((header.base_offset, header.last_offset(), header.last_sequence()), (10, 14, 24));
        assert_eq!((header.producer_id, header.producer_epoch, header.max_timestamp), (7, 1, 1_000));
        assert_eq!(empty.retain(LIMIT, HORIZON, |_| false), Ok(Retained::All));
    }

    #[test]
    fn log_append_time_stays() {
        let whole = batch(Compression::Lz4).with_log_append_time(5_000);
        let kept = whole.retain(LIMIT, HORIZON, |record| record.offset > 12).unwrap();
        let Retained::Some(kept) = kept else { panic!("{kept:?}") };
        assert_eq!(kept.header().max_timestamp, 5_000);
        assert!(records(&kept).iter().all(|record| record.timestamp == 5_000));
    }
}
