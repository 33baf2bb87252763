//! Clients that have nothing of Java: kcat with librdkafka, kafka-python, kafkajs, franz-go.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use milena_broker::EmbeddedCluster;
use milena_interop::{Client, Program, tools};

use crate::kills::*;

const TOPIC: &str = "numbers";
const GROUP: &str = "foreigners";

#[tokio::test(flavor = "multi_thread")]
async fn kafka_python_survives_the_death_of_brokers() -> Result<()> {
    survives(Client::KafkaPython).await
}

#[tokio::test(flavor = "multi_thread")]
async fn kafkajs_survives_the_death_of_brokers() -> Result<()> {
    survives(Client::KafkaJs).await
}

#[tokio::test(flavor = "multi_thread")]
async fn franz_go_survives_the_death_of_brokers() -> Result<()> {
    survives(Client::FranzGo).await
}

async fn survives(client: Client) -> Result<()> {
    let cluster = cluster_with(TOPIC).await?;
    let bootstrap = cluster.bootstrap();
    let Some(mut producer) = waiting(|| client.start(&["produce", &bootstrap, TOPIC]))? else {
        return Ok(());
    };
    let mut acknowledged = Placed::new();
    producer.write(&lines(0..NUMBERS / 2));
    while acknowledged.len() < NUMBERS / 4 {
        let line = waiting(|| producer.next_line())?.with_context(|| producer.said())?;
        acknowledged.extend([placed(&line, "acked")?]);
    }
    let victim = kill_leader(&cluster, TOPIC)?;
    producer.write(&lines(NUMBERS / 2..NUMBERS));
    for line in waiting(|| producer.finish())? {
        acknowledged.extend([placed(&line, "acked")?]);
    }
    let there = all_are_there_once(&bootstrap, TOPIC).await?;
    ensure!(there == acknowledged, "what is there is not what was acknowledged");
    bring_back(&cluster, victim, TOPIC).await?;

    let start = || waiting(|| client.start(&["consume", &bootstrap, TOPIC, GROUP]));
    let mut consumer = start()?.context("it was there before")?;
    consume_while_the_coordinator_dies(&cluster, &mut consumer).await?;
    waiting(|| consumer.finish())?;
    let mut consumer = start()?.context("it was there before")?;
    goes_on(&cluster, &mut consumer).await?;
    waiting(|| consumer.finish())?;
    cluster.shutdown().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn kcat_survives_the_death_of_brokers() -> Result<()> {
    let cluster = cluster_with(TOPIC).await?;
    let bootstrap = cluster.bootstrap();
    let produce = ["-b", &bootstrap, "-P", "-t", TOPIC, "-X", "acks=all", "-X", "enable.idempotence=true"];
    let Some(producer) = tools::start_kcat(&produce)? else { return Ok(()) };
    producer.write(&lines(0..NUMBERS / 2));
    reach(&bootstrap, TOPIC, NUMBERS / 4).await?;
    let victim = kill_leader(&cluster, TOPIC)?;
    producer.write(&lines(NUMBERS / 2..NUMBERS));
    waiting(|| producer.finish())?;
    all_are_there_once(&bootstrap, TOPIC).await?;
    bring_back(&cluster, victim, TOPIC).await?;

    let consume = ["-b", &bootstrap, "-G", GROUP, "-q", "-u", "-X", "auto.offset.reset=earliest"];
    let more = ["-X", "auto.commit.interval.ms=100", "-f", "consumed %p %o %s\n", TOPIC];
    let consume = [&consume[..], &more].concat();
    let mut consumer = tools::start_kcat(&consume)?.context("it was there before")?;
    consume_while_the_coordinator_dies(&cluster, &mut consumer).await?;
    waiting(|| consumer.terminate())?;
    let mut consumer = tools::start_kcat(&consume)?.context("it was there before")?;
    goes_on(&cluster, &mut consumer).await?;
    waiting(|| consumer.terminate())?;
    cluster.shutdown().await?;
    Ok(())
}

/// Reads everything, while the group's coordinator is killed, and what was produced after that.
async fn consume_while_the_coordinator_dies(cluster: &EmbeddedCluster, consumer: &mut Program) -> Result<()> {
    let mut consumed = BTreeSet::new();
    let read = |consumer: &mut Program, consumed: &mut BTreeSet<((i32, i64), usize)>| -> Result<()> {
        let line = waiting(|| consumer.next_line())?.with_context(|| consumer.said())?;
        consumed.insert(placed(&line, "consumed")?);
        Ok(())
    };
    while consumed.len() < NUMBERS / 4 {
        read(consumer, &mut consumed)?;
    }
    let victim = kill_coordinator(cluster, GROUP).await?;
    send_to_each(&cluster.bootstrap(), TOPIC, NUMBERS).await?;
    while consumed.len() < NUMBERS + 3 {
        read(consumer, &mut consumed)?;
    }
    let numbers: BTreeSet<usize> = consumed.iter().map(|(_, number)| *number).collect();
    assert_eq!(numbers, (0..=NUMBERS).collect(), "what one offset holds is the same each time");
    committed(cluster, GROUP, TOPIC, NUMBERS + 3).await?;
    bring_back(cluster, victim, TOPIC).await
}

/// Another member of the group begins where the first one stopped: its commits have reached the new coordinator.
async fn goes_on(cluster: &EmbeddedCluster, consumer: &mut Program) -> Result<()> {
    send_to_each(&cluster.bootstrap(), TOPIC, NUMBERS + 1).await?;
    let mut missing = PARTITIONS;
    let mut again = 0;
    while missing > 0 {
        let line = waiting(|| consumer.next_line())?.with_context(|| consumer.said())?;
        let (_, number) = placed(&line, "consumed")?;
        if number == NUMBERS + 1 {
            missing -= 1;
        } else {
            again += 1;
        }
    }
    ensure!(again == 0, "{again} records came again although all was committed");
    Ok(())
}
