//! Kafka's own programs that produce and consume.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use milena_interop::tools;
use serde_json::Value;

use crate::kills::*;

const TOPIC: &str = "numbers";

#[tokio::test(flavor = "multi_thread")]
async fn the_console_programs_survive_the_death_of_brokers() -> Result<()> {
    if !tools::available() {
        return Ok(());
    }
    let cluster = cluster_with(TOPIC).await?;
    let bootstrap = cluster.bootstrap();
    let arguments = ["--bootstrap-server", &bootstrap, "--topic", TOPIC];
    let produce = [&arguments[..], &tools::PATIENT_PRODUCER].concat();
    let producer = tools::start("org.apache.kafka.tools.ConsoleProducer", &produce)?;
    producer.write(&lines(0..NUMBERS / 2));
    reach(&bootstrap, TOPIC, NUMBERS / 4).await?;
    let victim = kill_leader(&cluster, TOPIC)?;
    producer.write(&lines(NUMBERS / 2..NUMBERS));
    waiting(|| producer.finish())?;
    all_are_there_once(&bootstrap, TOPIC).await?;
    bring_back(&cluster, victim, TOPIC).await?;

    let count = NUMBERS.to_string();
    // Fetches so small that there is a middle.
    let consume = [
        "--from-beginning",
        "--max-messages",
        &count,
        "--command-property",
        "max.partition.fetch.bytes=2000",
    ];
    let class = "org.apache.kafka.tools.consumer.ConsoleConsumer";
    let mut consumer = tools::start(class, &[&arguments[..], &consume].concat())?;
    let mut numbers = BTreeSet::new();
    for _ in 0..NUMBERS / 10 {
        let line = waiting(|| consumer.next_line())?.with_context(|| consumer.said())?;
        numbers.insert(line.parse::<usize>()?);
    }
    kill_leader(&cluster, TOPIC)?;
    for line in waiting(|| consumer.finish())? {
        numbers.insert(line.parse()?);
    }
    assert_eq!(numbers, (0..NUMBERS).collect());
    cluster.shutdown().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_verifiable_programs_survive_the_death_of_brokers() -> Result<()> {
    if !tools::available() {
        return Ok(());
    }
    let cluster = cluster_with(TOPIC).await?;
    let bootstrap = cluster.bootstrap();
    // It gives up at the first failure, unless it is told.
    let config = tempfile::NamedTempFile::new()?;
    std::fs::write(
        config.path(),
        "retries=2147483647\nenable.idempotence=true\ndelivery.timeout.ms=300000\n",
    )?;
    let config = config.path().to_str().context("a path that is not UTF-8")?;
    let arguments = ["--bootstrap-server", &bootstrap, "--topic", TOPIC];
    let count = NUMBERS.to_string();
    let produce =
        ["--max-messages", &count, "--throughput", "1500", "--acks", "-1", "--command-config", config];
    let mut producer =
        tools::start("org.apache.kafka.tools.VerifiableProducer", &[&arguments[..], &produce].concat())?;
    let mut acknowledged = Placed::new();
    while acknowledged.len() < NUMBERS / 4 {
        let line = waiting(|| producer.next_line())?.with_context(|| producer.said())?;
        acknowledged.extend(acked(&line)?);
    }
    let victim = kill_leader(&cluster, TOPIC)?;
    for line in waiting(|| producer.finish())? {
        acknowledged.extend(acked(&line)?);
    }
    let there = all_are_there_once(&bootstrap, TOPIC).await?;
    ensure!(there == acknowledged, "what is there is not what was acknowledged");
    bring_back(&cluster, victim, TOPIC).await?;
    consume_verifiably(&cluster, &arguments).await?;
    cluster.shutdown().await?;
    Ok(())
}

/// The group reads everything while its coordinator is killed, and commits at the new one.
async fn consume_verifiably(cluster: &milena_broker::EmbeddedCluster, arguments: &[&str]) -> Result<()> {
    let group = "verified";
    let consume = ["--group-id", group, "--reset-policy", "earliest", "--verbose"];
    let class = "org.apache.kafka.tools.VerifiableConsumer";
    let mut consumer = tools::start(class, &[arguments, &consume].concat())?;
    let mut numbers = BTreeSet::new();
    let mut committed: BTreeMap<i64, i64> = BTreeMap::new();
    let mut killed = false;
    let mut ends = BTreeMap::new();
    while !killed || numbers.len() < NUMBERS + 1 || committed != ends {
        let line = waiting(|| consumer.next_line())?.with_context(|| consumer.said())?;
        let said: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
        match said["name"].as_str() {
            Some("record_data") => {
                numbers.insert(said["value"].as_str().context("no value")?.parse::<usize>()?);
            }
            Some("offsets_committed") if said["success"] == Value::Bool(true) => {
                for offset in said["offsets"].as_array().context("no offsets")? {
                    let partition = offset["partition"].as_i64().context("no partition")?;
                    committed.insert(partition, offset["offset"].as_i64().context("no offset")?);
                }
            }
            _ => {}
        }
        if !killed && numbers.len() >= NUMBERS / 4 {
            killed = true;
            kill_coordinator(cluster, group).await?;
            send_to_each(&cluster.bootstrap(), TOPIC, NUMBERS).await?;
            let after = crate::support::read_topic(&cluster.bootstrap(), TOPIC).await?;
            ends = after.iter().map(|(partition, records)| (i64::from(*partition), end(records))).collect();
        }
    }
    assert_eq!(numbers, (0..=NUMBERS).collect());
    Ok(())
}

fn end(records: &[milena_protocol::records::Record]) -> i64 {
    records.last().map_or(0, |last| last.offset + 1)
}

/// An acknowledgement, if the line is one; an error if it says that there will be none.
fn acked(line: &str) -> Result<Option<((i32, i64), usize)>> {
    let said: Value = serde_json::from_str(line).with_context(|| line.to_owned())?;
    match said["name"].as_str() {
        Some("producer_send_success") => {
            let partition = i32::try_from(said["partition"].as_i64().context("no partition")?)?;
            let offset = said["offset"].as_i64().context("no offset")?;
            Ok(Some(((partition, offset), said["value"].as_str().context("no value")?.parse()?)))
        }
        Some("producer_send_error") => anyhow::bail!("{line}"),
        _ => Ok(None),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn producer_performance_survives_the_death_of_a_broker() -> Result<()> {
    if !tools::available() {
        return Ok(());
    }
    let cluster = cluster_with(TOPIC).await?;
    let bootstrap = cluster.bootstrap();
    let records = 20_000;
    let count = records.to_string();
    let arguments =
        ["--topic", TOPIC, "--num-records", &count, "--record-size", "100", "--throughput", "8000"];
    let servers = format!("bootstrap.servers={bootstrap}");
    let more = ["--producer-props", &servers, "acks=all", "delivery.timeout.ms=300000"];
    let class = "org.apache.kafka.tools.ProducerPerformance";
    let program = tools::start(class, &[&arguments[..], &more].concat())?;
    reach(&bootstrap, TOPIC, records / 4).await?;
    kill_leader(&cluster, TOPIC)?;
    let report = waiting(|| program.finish())?.join("\n");
    ensure!(report.contains("20000 records sent") && !report.contains("Exception"), "{report}");
    let read = crate::support::read_topic(&bootstrap, TOPIC).await?;
    assert_eq!(read.values().map(Vec::len).sum::<usize>(), records, "each once");
    cluster.shutdown().await?;
    Ok(())
}
