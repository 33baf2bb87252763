//! How long an append of a 64 KiB batch takes, and a read of 1 MiB.
//!
//! ```sh
//! cargo run --release -p milena-storage --example append_speed -- DIR [os|every-batch]
//! ```
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use bytes::Bytes;
use milena_protocol::records::{BatchBuilder, Seal};
use milena_storage::fs::RealFileSystem;
use milena_storage::{AppendOrigin, FsyncPolicy, Log, LogConfig, LogOptions, TopicPartition};

const BATCH_BYTES: usize = 64 * 1024;
const TOTAL_BYTES: usize = 2 << 30;
const NOW_MS: i64 = 1_700_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().ok_or("usage: append_speed DIR [os|every-batch]")?);
    let every_batch = args.next().as_deref() == Some("every-batch");
    let fsync = if every_batch { FsyncPolicy::EveryBatch } else { FsyncPolicy::Os };
    let appends = if every_batch { 500 } else { TOTAL_BYTES / BATCH_BYTES };
    let batch = Bytes::from(build());

    let config = LogConfig { segment_bytes: 256 << 20, ..LogConfig::default() };
    let options = LogOptions { fsync, config, ..LogOptions::default() };
    let topic_partition = TopicPartition::new("speed", 0);
    std::fs::create_dir_all(&dir)?;
    let mut log = Log::open(RealFileSystem::shared(), &dir, topic_partition, options, NOW_MS)?;
    let started = Instant::now();
    for _ in 0..appends {
        log.append_as_leader(batch.clone(), 0, AppendOrigin::Client, NOW_MS)?;
    }
    let micros = started.elapsed().as_secs_f64() * 1e6 / appends as f64;
    println!("append: {micros:.1} µs per batch of {} bytes, {fsync:?}", batch.len());

    let reader = log.reader();
    let (mut offset, mut reads, mut bytes) = (0, 0, 0);
    let started = Instant::now();
    while offset < reader.log_end_offset() {
        let data = reader.read(offset, 1 << 20, i64::MAX, true)?;
        (offset, reads, bytes) = (data.next_offset, reads + 1, bytes + data.records.len());
    }
    let micros = started.elapsed().as_secs_f64() * 1e6 / f64::from(reads);
    println!("read: {micros:.1} µs per read of {} bytes", bytes / reads as usize);
    log.delete()?;
    Ok(())
}

fn build() -> Vec<u8> {
    let mut builder = BatchBuilder::new(Vec::with_capacity(BATCH_BYTES));
    let value = [b'x'; 100];
    while builder.len() + 120 < BATCH_BYTES {
        builder.append(NOW_MS, None, Some(&value), &[]);
    }
    builder.seal(Seal::default())
}
