//! What the tests of a real Kafka and those of the embedded broker share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use milena::{Admin, Consumer, NewTopic, StartAt};
use milena_protocol::records::Record;
use tokio::time::timeout;

/// Far more than anything here takes.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);

/// Kafka's codecs, by the names that every client has for them.
pub(crate) const CODECS: [&str; 5] = ["none", "gzip", "snappy", "lz4", "zstd"];

/// The real records that the README produces.
pub(crate) fn earthquakes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data/earthquakes.jsonl")
}

/// Creates a topic that is not there yet.
pub(crate) async fn create_topic(bootstrap: &str, topic: NewTopic) -> Result<()> {
    let admin = Admin::builder().bootstrap(bootstrap).build()?;
    for (name, created) in admin.create_topics(&[topic]).await? {
        created.with_context(|| format!("creating topic {name}"))?;
    }
    admin.close().await;
    Ok(())
}

/// All records that a topic has now, by partition, as our consumer reads them.
pub(crate) async fn read_topic(bootstrap: &str, topic: &str) -> Result<BTreeMap<i32, Vec<Record>>> {
    let mut consumer = Consumer::builder().bootstrap(bootstrap).build()?;
    let partitions = consumer.partitions(topic).await?;
    let mut ends = BTreeMap::new();
    for &partition in &partitions {
        let (start, end) = consumer.offsets(topic, partition).await?;
        if start < end {
            ends.insert(partition, end);
        }
    }
    let starts = partitions.iter().map(|&partition| (topic.to_owned(), partition, StartAt::Beginning));
    consumer.assign(starts.collect()).await?;
    let mut records: BTreeMap<i32, Vec<Record>> = BTreeMap::new();
    while !ends.is_empty() {
        let fetched = timeout(LIMIT, consumer.next())
            .await
            .with_context(|| format!("the records of {topic} up to the offsets {ends:?}"))??;
        let partition = records.entry(fetched.partition).or_default();
        for record in fetched.records() {
            partition.push(record?);
        }
        if ends.get(&fetched.partition).is_some_and(|&end| end <= fetched.next_offset) {
            ends.remove(&fetched.partition);
        }
    }
    consumer.close().await;
    Ok(records)
}
