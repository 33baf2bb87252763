//! The record codec against the `kafka-protocol` crate, in both directions.
//!
//! Its headers are a map, so records here have distinct header keys; it has lz4 and zstd only through C, so those are
//! left to the golden batches; its snappy reader wants the xerial framing.
#![allow(clippy::unwrap_used)] // In helpers as in tests: a panic is a failed test.

use bytes::{Bytes, BytesMut};
use kafka_protocol::indexmap::IndexMap;
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::records as oracle;
use milena_protocol::records::{BatchBuilder, Compression, Header, Record, RecordBatch, RecordBatches, Seal};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

const LIMIT: usize = 16 << 20;
const BASE_SEQUENCE: i32 = 40;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_oracle_reads_what_we_write(records in records(), codec in codec()) {
        let mut builder = BatchBuilder::new(Vec::new());
        for record in &records {
            let headers: Vec<Header<'_>> =
                record.headers.iter().map(|(key, value)| Header { key, value: value.as_deref() }).collect();
            builder.append(record.timestamp, record.key.as_deref(), record.value.as_deref(), &headers);
        }
        let sealed = builder.compress(codec, None, Vec::new()).unwrap().seal(Seal {
            producer_id: 9,
            producer_epoch: 2,
            base_sequence: BASE_SEQUENCE,
            partition_leader_epoch: 3,
            ..Seal::default()
        });
        let read = oracle::RecordBatchDecoder::decode(&mut Bytes::from(sealed)).unwrap();
        prop_assert_eq!(read.compression as i16, codec.id());
        prop_assert_eq!(read.records, records);
    }

    #[test]
    fn we_read_what_the_oracle_writes(records in records(), codec in codec()) {
        let mut bytes = BytesMut::new();
        let options = oracle::RecordEncodeOptions { version: 2, compression: oracle_codec(codec) };
        oracle::RecordBatchEncoder::encode(&mut bytes, &records, &options).unwrap();
        let mut found = Vec::new();
        for batch in RecordBatches::new(bytes.freeze()) {
            let batch = batch.unwrap();
            prop_assert_eq!(batch.check_crc(), Ok(()));
            prop_assert_eq!(batch.header().attributes.compression(), Ok(codec));
            found.extend(batch.records(LIMIT).unwrap().map(|record| to_oracle(&batch, record.unwrap())));
        }
        prop_assert_eq!(found, records);
    }
}

/// Consecutive offsets and sequences, so that the oracle puts all of them into one batch.
fn records() -> impl Strategy<Value = Vec<oracle::Record>> {
    vec(record(), 1..30).prop_map(|mut records| {
        for (i, record) in records.iter_mut().enumerate() {
            record.offset = i as i64;
            record.sequence = BASE_SEQUENCE + i as i32;
        }
        records
    })
}

fn record() -> impl Strategy<Value = oracle::Record> {
    let bytes = || option::of(vec(any::<u8>(), 0..300).prop_map(Bytes::from));
    let headers = btree_map("[a-z]{0,8}", bytes(), 0..4);
    (0..2_000_000_000_000i64, bytes(), bytes(), headers).prop_map(|(timestamp, key, value, headers)| {
        oracle::Record {
            transactional: false,
            control: false,
            delete_horizon: false,
            partition_leader_epoch: 3,
            producer_id: 9,
            producer_epoch: 2,
            timestamp_type: oracle::TimestampType::Creation,
            offset: 0,
            sequence: BASE_SEQUENCE,
            timestamp,
            key,
            value,
            headers: headers.into_iter().map(|(key, value)| (StrBytes::from_string(key), value)).collect(),
        }
    })
}

fn codec() -> impl Strategy<Value = Compression> {
    proptest::sample::select(&[Compression::None, Compression::Gzip, Compression::Snappy][..])
}

fn oracle_codec(codec: Compression) -> oracle::Compression {
    match codec {
        Compression::Gzip => oracle::Compression::Gzip,
        Compression::Snappy => oracle::Compression::Snappy,
        _ => oracle::Compression::None,
    }
}

fn to_oracle(batch: &RecordBatch, record: Record) -> oracle::Record {
    let header = batch.header();
    let headers: IndexMap<StrBytes, Option<Bytes>> = record
        .headers
        .iter()
        .map(|header| (StrBytes::from_string(header.key.as_str().unwrap().to_owned()), header.value))
        .collect();
    oracle::Record {
        transactional: header.attributes.is_transactional(),
        control: header.attributes.is_control(),
        delete_horizon: header.attributes.has_delete_horizon(),
        partition_leader_epoch: header.partition_leader_epoch,
        producer_id: header.producer_id,
        producer_epoch: header.producer_epoch,
        timestamp_type: oracle::TimestampType::Creation,
        offset: record.offset,
        sequence: header.base_sequence + (record.offset - header.base_offset) as i32,
        timestamp: record.timestamp,
        key: record.key,
        value: record.value,
        headers,
    }
}
