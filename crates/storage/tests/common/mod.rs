//! What the tests share: batches, and logs on a disk in memory.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::path::Path;

use bytes::Bytes;
use milena_protocol::records::{BatchBuilder, Compression, RecordBatches, Seal};
use milena_storage::fs::SharedFileSystem;
use milena_storage::{AppendOrigin, Log, LogAppendInfo, LogConfig, LogOptions, Result, TopicPartition};

/// The broker's clock in these tests, in milliseconds.
pub const NOW: i64 = 1_700_000_000_000;

/// A batch of a producer.
#[derive(Debug, Clone)]
pub struct Batch {
    pub values: Vec<String>,
    pub timestamp: i64,
    pub compression: Compression,
    pub producer_id: i64,
    pub epoch: i16,
    pub sequence: i32,
}

impl Batch {
    pub fn of(values: &[&str]) -> Self {
        Self {
            values: values.iter().map(|value| (*value).to_owned()).collect(),
            timestamp: NOW,
            compression: Compression::None,
            producer_id: -1,
            epoch: -1,
            sequence: -1,
        }
    }

    /// `count` records that begin with `name`.
    pub fn numbered(name: &str, count: usize) -> Self {
        Self { values: (0..count).map(|n| format!("{name}-{n}")).collect(), ..Self::of(&[]) }
    }

    pub fn at(self, timestamp: i64) -> Self {
        Self { timestamp, ..self }
    }

    pub fn produced_by(self, producer_id: i64, epoch: i16, sequence: i32) -> Self {
        Self { producer_id, epoch, sequence, ..self }
    }

    pub fn compressed(self, compression: Compression) -> Self {
        Self { compression, ..self }
    }

    /// As it goes on the wire. The records' timestamps rise by a millisecond.
    pub fn bytes(&self) -> Bytes {
        self.sealed(Seal::default())
    }

    pub fn sealed(&self, seal: Seal) -> Bytes {
        let mut builder = BatchBuilder::new(Vec::new());
        for (n, value) in self.values.iter().enumerate() {
            let key = format!("key-{n}");
            builder.append(self.timestamp + n as i64, Some(key.as_bytes()), Some(value.as_bytes()), &[]);
        }
        let seal = Seal {
            producer_id: self.producer_id,
            producer_epoch: self.epoch,
            base_sequence: self.sequence,
            ..seal
        };
        if self.compression == Compression::None {
            return builder.seal(seal).into();
        }
        builder.compress(self.compression, None, Vec::new()).unwrap().seal(seal).into()
    }
}

pub fn topic_partition() -> TopicPartition {
    TopicPartition::new("orders", 0)
}

pub fn small_segments(segment_bytes: i32) -> LogConfig {
    LogConfig { segment_bytes, index_interval_bytes: 100, ..LogConfig::default() }
}

pub fn options(config: LogConfig) -> LogOptions {
    LogOptions { config, ..LogOptions::default() }
}

pub fn open(fs: &SharedFileSystem, options: LogOptions) -> Log {
    Log::open(fs.clone(), Path::new("data"), topic_partition(), options, NOW).unwrap()
}

/// An empty disk with the log directory `data`.
pub fn disk() -> SharedFileSystem {
    let fs = milena_storage::fs::MemoryFileSystem::shared();
    fs.create_dir_all(Path::new("data")).unwrap();
    fs
}

pub fn append(log: &mut Log, batch: &Batch) -> Result<LogAppendInfo> {
    log.append_as_leader(batch.bytes(), 0, AppendOrigin::Client, NOW)
}

/// Every record's offset and value, read in pieces of `max_bytes`.
pub fn read_all(log: &Log, max_bytes: usize) -> Vec<(i64, String)> {
    let reader = log.reader();
    let mut records = Vec::new();
    let mut offset = log.log_start_offset();
    while offset < log.log_end_offset() {
        let data = reader.read(offset, max_bytes, i64::MAX, true).unwrap();
        assert!(data.next_offset > offset, "reading at {offset} makes no progress");
        for record in decode(&data.records) {
            if record.0 >= offset {
                records.push(record);
            }
        }
        offset = data.next_offset;
    }
    records
}

pub fn decode(bytes: &Bytes) -> Vec<(i64, String)> {
    let mut records = Vec::new();
    for batch in RecordBatches::new(bytes.clone()) {
        let batch = batch.unwrap();
        batch.check_crc().unwrap();
        for record in batch.records(1 << 24).unwrap() {
            let record = record.unwrap();
            records.push((record.offset, String::from_utf8(record.value.unwrap().to_vec()).unwrap()));
        }
    }
    records
}
