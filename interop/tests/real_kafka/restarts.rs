//! Exactly once, while brokers die.

use anyhow::{Context as _, Result, bail, ensure};
use milena::{Delivery, NewTopic, Producer, Record};
use tokio::sync::{mpsc, watch};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::cluster::{cluster_to_hurt, leader};
use crate::support::{LIMIT, create_topic, read_topic};
use crate::values;

const TOPIC: &str = "exactly-once";
const PARTITIONS: u64 = 3;
/// How many records each phase has: enough that the producer is busy when a broker goes, few enough for a slow computer.
const PHASE: u64 = 60_000;
/// How many records are queued or on their way at most.
const WINDOW: usize = 20_000;

#[tokio::test(flavor = "multi_thread")]
async fn idempotence_holds_while_a_broker_is_killed_and_comes_back() -> Result<()> {
    let Some(kafka) = cluster_to_hurt().await else { return Ok(()) };
    let bootstrap = kafka.bootstrap();
    let configs = vec![("min.insync.replicas".to_owned(), "2".to_owned())];
    let topic = NewTopic { partitions: 3, replication_factor: 3, configs, ..NewTopic::new(TOPIC) };
    create_topic(&bootstrap, topic).await?;
    let victim = leader(&bootstrap, TOPIC, 0).await?;
    let builder = Producer::builder().bootstrap(&bootstrap).set("acks", "all");
    let producer = builder.set("delivery.timeout.ms", "300000").set("max.block.ms", "300000").build()?;

    let (allow, allowed) = watch::channel(PHASE);
    let (sent, deliveries) = mpsc::channel(WINDOW);
    let (count, mut acknowledged) = watch::channel(0);
    let sender = tokio::spawn(async move {
        send_numbers(&producer, allowed, sent).await?;
        producer.close(LIMIT).await;
        anyhow::Ok(())
    });
    let receiver = tokio::spawn(check_deliveries(deliveries, count));

    let brokers = kafka.brokers();
    reach(&mut acknowledged, PHASE / 4).await?;
    spawn_blocking(move || brokers.kill(victim)).await??;
    allow.send_replace(2 * PHASE);
    reach(&mut acknowledged, PHASE + PHASE / 2).await?;
    allow.send_replace(3 * PHASE);
    spawn_blocking(move || brokers.start(victim)).await??;
    allow.send_replace(4 * PHASE);
    drop(allow);
    timeout(LIMIT, sender).await.context("sending the last records")???;
    timeout(LIMIT, receiver).await.context("the last acknowledgements")???;
    ensure!(*acknowledged.borrow() == 4 * PHASE, "not all is acknowledged");

    let read = read_topic(&bootstrap, TOPIC).await?;
    for partition in 0..PARTITIONS {
        let wanted = (0..4 * PHASE).filter(|number| number % PARTITIONS == partition);
        let records = read.get(&i32::try_from(partition)?).context("an empty partition")?;
        let mut read = values(records)?.into_iter();
        for number in wanted {
            let value = read.next();
            ensure!(value == Some(&number.to_string()), "{value:?} in place of {number}");
        }
        ensure!(read.next().is_none(), "more than was sent in partition {partition}");
    }
    Ok(())
}

/// Sends the numbers from 0, to the partitions in turn, as fast as it can up to the number that is allowed, until no more will be.
async fn send_numbers(
    producer: &Producer,
    mut allowed: watch::Receiver<u64>,
    sent: mpsc::Sender<(u64, Delivery)>,
) -> Result<()> {
    let mut number = 0;
    loop {
        let end = *allowed.borrow_and_update();
        while number < end {
            let partition = i32::try_from(number % PARTITIONS)?;
            let value = number.to_string();
            let delivery = producer.send(Record::to(TOPIC).partition(partition).value(&value)).await?;
            if sent.send((number, delivery)).await.is_err() {
                bail!("nobody waits for deliveries any more");
            }
            number += 1;
        }
        if allowed.changed().await.is_err() {
            return Ok(());
        }
    }
}

/// Every record is acknowledged, and where nothing was lost or doubled before it: at the offset that its number says.
async fn check_deliveries(
    mut deliveries: mpsc::Receiver<(u64, Delivery)>,
    count: watch::Sender<u64>,
) -> Result<()> {
    while let Some((number, delivery)) = deliveries.recv().await {
        let placed = delivery.await.with_context(|| format!("record {number}"))?;
        let wanted = i64::try_from(number / PARTITIONS)?;
        // A duplicate's offset may be unknown to the broker.
        let offset = placed.offset.unwrap_or(wanted);
        ensure!(offset == wanted, "record {number} is at offset {offset} in place of {wanted}");
        count.send_replace(number + 1);
    }
    Ok(())
}

async fn reach(acknowledged: &mut watch::Receiver<u64>, wanted: u64) -> Result<()> {
    let reached =
        timeout(LIMIT, acknowledged.wait_for(|&count| count >= wanted)).await.map(|found| found.is_ok());
    let count = *acknowledged.borrow();
    ensure!(matches!(reached, Ok(true)), "{count} records are acknowledged, not {wanted}");
    Ok(())
}
