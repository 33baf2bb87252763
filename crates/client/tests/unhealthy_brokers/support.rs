//! The cluster, the producer that waits for no timeout, and what was written.

use std::{collections::BTreeSet, ops::Range, time::Duration};

use milena::{Consumer, Delivery, Producer, ProducerBuilder, Record, RecordMetadata, RefreshReason, StartAt};
use milena_broker::{EmbeddedCluster, EmbeddedClusterBuilder};

pub(crate) type Error = Box<dyn std::error::Error>;
pub(crate) type TestResult = Result<(), Error>;

/// Longer than a test takes on any machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);
pub(crate) const AN_HOUR: Duration = Duration::from_hours(1);

/// Each broker leads one partition of this topic, and follows two.
pub(crate) const TOPIC: &str = "orders";
/// Where there are three brokers.
pub(crate) const PARTITIONS: Range<i32> = 0..3;

/// Three brokers, one partition each. `session` says how soon the others take over from one that is gone; as a follower it
/// holds their partitions up for half a second.
pub(crate) async fn cluster(session: Duration) -> Result<EmbeddedCluster, Error> {
    let builder = EmbeddedCluster::builder().session_timeout(session);
    start(builder.configure(|config| config.replica_lag_time_max = Duration::from_millis(500)), 3).await
}

/// So many brokers, one partition each.
pub(crate) async fn start(builder: EmbeddedClusterBuilder, brokers: i32) -> Result<EmbeddedCluster, Error> {
    let cluster = builder.brokers(brokers).start().await?;
    cluster.create_topic_with(TOPIC, brokers, 3, &[("min.insync.replicas", "1")]).await?;
    let leaders: BTreeSet<_> =
        (0..brokers).filter_map(|partition| cluster.leader(TOPIC, partition)).collect();
    assert!(leaders.into_iter().eq(1..=brokers), "each broker leads one");
    Ok(cluster)
}

/// Nobody waits for a timeout here: each is an hour or two.
pub(crate) fn patient(cluster: &EmbeddedCluster) -> ProducerBuilder {
    let timeouts = [
        "request.timeout.ms",
        "max.block.ms",
        "socket.connection.setup.timeout.ms",
        "socket.connection.setup.timeout.max.ms",
    ];
    let builder = Producer::builder().bootstrap(&cluster.bootstrap()).set("delivery.timeout.ms", "7200000");
    let hour = AN_HOUR.as_millis().to_string();
    timeouts.into_iter().fold(builder, |builder, key| builder.set(key, &hour))
}

pub(crate) async fn send(producer: &Producer, partition: i32, number: u32) -> Result<Delivery, Error> {
    let value = number.to_string();
    Ok(producer.send(Record::to(TOPIC).partition(partition).value(&value)).await?)
}

pub(crate) async fn acknowledged(delivery: Delivery) -> Result<RecordMetadata, Error> {
    Ok(tokio::time::timeout(LIMIT, delivery).await??)
}

/// The numbers in a partition, in order, up to and with `last`.
pub(crate) async fn read(cluster: &EmbeddedCluster, partition: i32, last: u32) -> Result<Vec<u32>, Error> {
    let mut consumer = Consumer::builder().bootstrap(&cluster.bootstrap()).build()?;
    consumer.assign(vec![(TOPIC.to_owned(), partition, StartAt::Beginning)]).await?;
    let mut numbers = Vec::new();
    while numbers.last() != Some(&last) {
        let fetched = tokio::time::timeout(LIMIT, consumer.next()).await??;
        for record in fetched.records() {
            numbers.push(std::str::from_utf8(&record?.value.ok_or("a record without a value")?)?.parse()?);
        }
    }
    consumer.close().await;
    Ok(numbers)
}

/// Each partition has the numbers up to `count`, each once, in order.
pub(crate) async fn assert_written(
    cluster: &EmbeddedCluster,
    partitions: Range<i32>,
    count: u32,
) -> TestResult {
    for partition in partitions {
        let found = read(cluster, partition, count - 1).await?;
        assert_eq!(found, (0..count).collect::<Vec<u32>>(), "each once, in order");
    }
    Ok(())
}

/// A record on its way to this partition, with this number.
pub(crate) type Sent = (i32, u32, Delivery);

/// Sends the numbers to each of the partitions.
pub(crate) async fn send_all(
    producer: &Producer,
    partitions: Range<i32>,
    numbers: Range<u32>,
) -> Result<Vec<Sent>, Error> {
    let mut sent = Vec::new();
    for number in numbers {
        for partition in partitions.clone() {
            sent.push((partition, number, send(producer, partition, number).await?));
        }
    }
    Ok(sent)
}

/// Waits for the acknowledgements: record n of a partition is at offset n.
pub(crate) async fn all_acknowledged(sent: Vec<Sent>) -> TestResult {
    for (partition, number, delivery) in sent {
        let placed = acknowledged(delivery).await?;
        assert_eq!((placed.partition, placed.offset), (partition, Some(i64::from(number))));
    }
    Ok(())
}

/// The partition that broker `id` leads.
pub(crate) fn led_by(cluster: &EmbeddedCluster, id: i32) -> i32 {
    PARTITIONS.into_iter().find(|partition| cluster.leader(TOPIC, *partition) == Some(id)).unwrap_or(-1)
}

/// Waits until the producer asks who leads now, because the broker does not answer.
pub(crate) async fn suspected(producer: &Producer, broker: i32) -> TestResult {
    asked_because(producer, |reason| reason == RefreshReason::Suspected(broker)).await
}

/// Waits until the producer has been answered what it asked for this reason.
pub(crate) async fn asked_because(producer: &Producer, is_it: impl Fn(RefreshReason) -> bool) -> TestResult {
    let metadata = producer.metadata();
    let asks = async {
        let mut version = 0;
        loop {
            version = metadata.changed(version).await.version;
            if metadata.take_refreshes().iter().any(|refresh| is_it(refresh.reason)) {
                return;
            }
        }
    };
    Ok(tokio::time::timeout(LIMIT, asks).await?)
}
