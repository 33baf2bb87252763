//! Writes a log directory for Kafka's own tools to look at: every codec, transactions, several segments, one log that was
//! closed well and one that was not.
//!
//! ```sh
//! cargo run -p milena-storage --example write_log -- DIR
//! kafka-dump-log.sh --deep-iteration --print-data-log --files DIR/codecs-0/00000000000000000000.log
//! ```

use std::error::Error;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use milena_protocol::Uuid;
use milena_protocol::records::{BatchBuilder, Compression, EndTransactionMarker, Header, Seal};
use milena_storage::checkpoint::MetaProperties;
use milena_storage::fs::RealFileSystem;
use milena_storage::{AppendOrigin, LogConfig, LogHandle, LogManager, LogManagerOptions, TopicPartition};

const CODECS: [Compression; 5] =
    [Compression::None, Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd];
const BATCHES: i32 = 400;
const RECORDS: i32 = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = PathBuf::from(std::env::args().nth(1).ok_or("usage: write_log DIR")?);
    let now_ms = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
    let meta_properties =
        MetaProperties { cluster_id: "example".to_owned(), node_id: 1, directory_id: Uuid([3; 16]) };
    let options = LogManagerOptions::new(meta_properties);
    let open = || {
        LogManager::open(RealFileSystem::shared(), &dir, options.clone(), |_| LogConfig::default(), now_ms)
    };
    let manager = open()?;
    write(&*create(&manager, "codecs", now_ms)?, now_ms)?;
    manager.shutdown()?;
    drop(manager);
    // This one is left as a killed broker leaves it.
    let manager = open()?;
    write(&*create(&manager, "killed", now_ms)?, now_ms)
}

fn create(
    manager: &LogManager,
    topic: &str,
    now_ms: i64,
) -> Result<std::sync::Arc<LogHandle>, Box<dyn Error>> {
    let config = LogConfig { segment_bytes: 100_000, ..LogConfig::default() };
    Ok(manager.get_or_create(&TopicPartition::new(topic, 0), Some(Uuid([5; 16])), config, now_ms)?)
}

fn write(handle: &LogHandle, now_ms: i64) -> Result<(), Box<dyn Error>> {
    let mut log = handle.log().lock();
    for (number, codec) in (0..BATCHES).zip(CODECS.iter().cycle()) {
        let producer_id = i64::from(number % 3) + 4000;
        let seal = Seal {
            producer_id,
            producer_epoch: 0,
            base_sequence: number / 3 * RECORDS,
            transactional: producer_id == 4002,
            ..Seal::default()
        };
        let timestamp = now_ms - 60_000 + i64::from(number) * 50;
        let batch = build(number, *codec, timestamp, seal)?;
        log.append_as_leader(batch.into(), number / 150, AppendOrigin::Client, now_ms)?;
        if producer_id == 4002 && number % 9 == 2 {
            let marker = EndTransactionMarker { commit: number % 2 == 0, coordinator_epoch: 1 };
            let batch = marker.to_batch(timestamp, producer_id, 0, Vec::new());
            log.append_as_leader(batch.into(), number / 150, AppendOrigin::Coordinator, now_ms)?;
        }
    }
    Ok(())
}

fn build(number: i32, codec: Compression, timestamp: i64, seal: Seal) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut builder = BatchBuilder::new(Vec::new());
    for n in 0..RECORDS {
        let key = format!("key-{n}");
        let value =
            format!("record {n} of batch {number}, {codec:?}, {}", "and some text ".repeat(n as usize % 9));
        let headers = [Header { key: "batch", value: Some(b"yes") }, Header { key: "batch", value: None }];
        builder.append(timestamp + i64::from(n), Some(key.as_bytes()), Some(value.as_bytes()), &headers);
    }
    if codec == Compression::None {
        return Ok(builder.seal(seal));
    }
    Ok(builder.compress(codec, None, Vec::new())?.seal(seal))
}
