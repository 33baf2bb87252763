//! Kafka's own programs and other people's clients on an embedded cluster of three brokers, some of which die meanwhile.

mod foreign;
mod java;
mod kills;
#[allow(dead_code, reason = "others need the rest")]
#[path = "../support/mod.rs"]
mod support;
mod tools_of_kafka;

use std::path::PathBuf;

use anyhow::Result;
use milena_broker::EmbeddedCluster;
use tempfile::TempDir;

/// Three brokers on a folder of their own.
async fn cluster() -> Result<(EmbeddedCluster, TempDir)> {
    let folder = tempfile::tempdir()?;
    let builder = EmbeddedCluster::builder().brokers(3).data_dir(folder.path());
    // As soon as it may be.
    let builder = builder.configure(|config| config.log.segment_bytes = 64 << 10);
    Ok((builder.start().await?, folder))
}

/// The folder of a partition's log on a broker.
fn log_dir(folder: &TempDir, broker: i32, partition: &str) -> PathBuf {
    folder.path().join(format!("broker-{broker}")).join("logs").join(partition)
}
