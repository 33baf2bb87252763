//! Kafka's programs that produce much: `ProducerPerformance` and `VerifiableProducer`.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use milena::{Consumer, NewTopic};
use milena_interop::tools;

use crate::broker_for_kafkas_programs;
use crate::support::{create_topic, read_topic};

#[tokio::test(flavor = "multi_thread")]
async fn producer_performance_gets_every_record_acknowledged() -> Result<()> {
    let Some((broker, _folder)) = broker_for_kafkas_programs().await? else { return Ok(()) };
    let bootstrap = broker.bootstrap();
    let acks_all = ["acks=all"];
    let not_idempotent = ["acks=1", "enable.idempotence=false", "compression.type=zstd"];
    for (topic, more) in [("idempotent", &acks_all[..]), ("not-idempotent", &not_idempotent)] {
        create_topic(&bootstrap, NewTopic { partitions: 3, ..NewTopic::new(topic) }).await?;
        let report = tools::producer_performance(&bootstrap, topic, 100_000, 100, more)?;
        ensure!(report.contains("100000 records sent"), "{report}");
        ensure!(!report.contains("Exception"), "{report}");
        let consumer = Consumer::builder().bootstrap(&bootstrap).build()?;
        let mut records = 0;
        for partition in 0..3 {
            records += consumer.offsets(topic, partition).await?.1;
        }
        assert_eq!(records, 100_000, "{topic}");
        consumer.close().await;
    }
    broker.shutdown().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_verifiable_producer_was_told_is_there() -> Result<()> {
    let Some((broker, _folder)) = broker_for_kafkas_programs().await? else { return Ok(()) };
    let (bootstrap, topic) = (broker.bootstrap(), "verified");
    create_topic(&bootstrap, NewTopic { partitions: 3, ..NewTopic::new(topic) }).await?;
    let lines = tools::verifiable_producer(&bootstrap, topic, 10_000)?;
    let mut acknowledged = BTreeSet::new();
    for line in lines.lines() {
        let said: serde_json::Value = serde_json::from_str(line).with_context(|| line.to_owned())?;
        match said["name"].as_str() {
            Some("producer_send_success") => {
                let value = said["value"].as_str().context("no value")?.to_owned();
                let (partition, offset) = (said["partition"].as_i64(), said["offset"].as_i64());
                acknowledged.insert((
                    partition.context("no partition")?,
                    offset.context("no offset")?,
                    value,
                ));
            }
            Some("tool_data") => {
                assert_eq!((said["sent"].as_i64(), said["acked"].as_i64()), (Some(10_000), Some(10_000)));
            }
            Some("producer_send_error") => anyhow::bail!("{line}"),
            _ => {}
        }
    }
    let mut read = BTreeSet::new();
    for (partition, records) in read_topic(&bootstrap, topic).await? {
        for record in records {
            let value = String::from_utf8(record.value.context("a null")?.to_vec())?;
            read.insert((i64::from(partition), record.offset, value));
        }
    }
    assert_eq!(acknowledged.len(), 10_000);
    ensure!(read == acknowledged, "what is there is not what was acknowledged");
    broker.shutdown().await?;
    Ok(())
}
