//! The client against a cluster whose brokers die.

use std::{collections::BTreeSet, time::Duration};

use milena::{Consumer, Delivery, Producer, Record, StartAt};
use milena_broker::{ClusterError, EmbeddedCluster};

type TestResult = Result<(), Box<dyn std::error::Error>>;

const LIMIT: Duration = Duration::from_secs(120);

fn producer(cluster: &EmbeddedCluster) -> Result<Producer, Box<dyn std::error::Error>> {
    Ok(Producer::builder().bootstrap(&cluster.bootstrap()).set("acks", "all").build()?)
}

async fn send(
    producer: &Producer,
    numbers: std::ops::Range<u32>,
) -> Result<Vec<Delivery>, Box<dyn std::error::Error>> {
    let mut deliveries = Vec::new();
    for number in numbers {
        deliveries.push(producer.send(Record::to("orders").value(&number.to_string())).await?);
    }
    Ok(deliveries)
}

/// The values of the topic's only partition, in order; ends behind the first that are `count`.
async fn read(bootstrap: &str, count: usize) -> Result<Vec<u32>, Box<dyn std::error::Error>> {
    let mut consumer = Consumer::builder().bootstrap(bootstrap).build()?;
    consumer.assign(vec![("orders".to_owned(), 0, StartAt::Beginning)]).await?;
    let mut values = Vec::new();
    while values.len() < count {
        let fetched = tokio::time::timeout(LIMIT, consumer.next()).await??;
        for record in fetched.records() {
            let value = record?.value.ok_or("a record without a value")?;
            values.push(std::str::from_utf8(&value)?.parse()?);
        }
    }
    consumer.close().await;
    Ok(values)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_acknowledged_outlives_its_leader_and_is_there_once() -> TestResult {
    let cluster = EmbeddedCluster::builder().brokers(3).start().await?;
    cluster.create_topic_with("orders", 1, 3, &[("min.insync.replicas", "2")]).await?;
    let producer = producer(&cluster)?;
    for delivery in send(&producer, 0..500).await? {
        delivery.await?;
    }

    let killed = cluster.leader("orders", 0).ok_or("no leader")?;
    // Records are on their way while it dies.
    let on_their_way = send(&producer, 500..1_000).await?;
    cluster.kill(killed)?;
    let after = send(&producer, 1_000..1_500).await?;
    for delivery in on_their_way.into_iter().chain(after) {
        tokio::time::timeout(LIMIT, delivery).await??;
    }
    assert_ne!(cluster.leader("orders", 0), Some(killed), "nobody took over, and yet it was acknowledged");
    let expected: Vec<u32> = (0..1_500).collect();
    assert_eq!(read(&cluster.bootstrap(), 1_500).await?, expected, "each once, in order");

    cluster.restart(killed).await?;
    cluster.wait("a whole ISR", |cluster| cluster.isr("orders", 0).len() == 3).await?;
    // What was acknowledged is on the broker that was away, too: now it alone is left.
    for id in cluster.broker_ids().into_iter().filter(|id| *id != killed) {
        cluster.stop(id).await?;
    }
    cluster.wait("its leadership", |cluster| cluster.leader("orders", 0) == Some(killed)).await?;
    assert_eq!(read(&cluster.bootstrap(), 1_500).await?, expected, "each once, in order");
    producer.close(Duration::ZERO).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_controller_is_replaced_and_clients_do_not_notice() -> TestResult {
    let cluster = EmbeddedCluster::builder().brokers(3).start().await?;
    cluster.create_topic("orders", 1, 3).await?;
    let producer = producer(&cluster)?;
    let mut controllers = BTreeSet::new();
    for round in 0..2 {
        let controller = cluster.controller().ok_or("no controller")?;
        controllers.insert(controller);
        cluster.kill(controller)?;
        let on_their_way = send(&producer, round * 100..(round + 1) * 100).await?;
        cluster.wait("another controller", |cluster| cluster.controller().is_some()).await?;
        for delivery in on_their_way {
            tokio::time::timeout(LIMIT, delivery).await??;
        }
        // The new one does the controller's work.
        cluster.create_topic(&format!("of-round-{round}"), 2, 2).await?;
        assert_ne!(cluster.controller(), Some(controller));
        cluster.restart(controller).await?;
        cluster.wait("a whole ISR", |cluster| cluster.isr("orders", 0).len() == 3).await?;
    }
    assert_eq!(controllers.len(), 2, "the office has moved");
    assert_eq!(read(&cluster.bootstrap(), 200).await?, (0..200).collect::<Vec<u32>>());
    producer.close(LIMIT).await;
    cluster.shutdown().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controlled_stop_moves_the_leadership_before_it_returns() -> TestResult {
    // With sessions so long that nobody can have waited for the end of one.
    let cluster = EmbeddedCluster::builder().session_timeout(Duration::from_secs(3600)).start().await?;
    cluster.create_topic("orders", 1, 3).await?;
    let producer = producer(&cluster)?;
    for delivery in send(&producer, 0..100).await? {
        delivery.await?;
    }
    let stopped = cluster.leader("orders", 0).ok_or("no leader")?;
    cluster.stop(stopped).await?;
    let leader = cluster.leader("orders", 0).ok_or("no leader")?;
    assert_ne!(leader, stopped);
    for delivery in send(&producer, 100..200).await? {
        tokio::time::timeout(LIMIT, delivery).await??;
    }
    assert_eq!(read(&cluster.bootstrap(), 200).await?, (0..200).collect::<Vec<u32>>());
    assert!(matches!(cluster.kill(stopped), Err(ClusterError::NotRunning(id)) if id == stopped));
    producer.close(LIMIT).await;
    cluster.shutdown().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_paused_leader_was_sent_is_there_once_when_it_goes_on() -> TestResult {
    let cluster = EmbeddedCluster::builder().session_timeout(Duration::from_millis(500)).start().await?;
    cluster.create_topic_with("orders", 1, 3, &[("min.insync.replicas", "2")]).await?;
    let producer = Producer::builder()
        .bootstrap(&cluster.bootstrap())
        .set("acks", "all")
        .set("request.timeout.ms", "2000")
        .build()?;
    for delivery in send(&producer, 0..100).await? {
        delivery.await?;
    }
    let paused = cluster.leader("orders", 0).ok_or("no leader")?;
    cluster.pause(paused)?;
    // The system takes the bytes for the broker that is held; it finds them when it goes on, and leads no more.
    let deliveries = send(&producer, 100..200).await?;
    cluster.wait("another leader", |cluster| cluster.leader("orders", 0) != Some(paused)).await?;
    cluster.resume(paused)?;
    for delivery in deliveries {
        tokio::time::timeout(LIMIT, delivery).await??;
    }
    cluster.wait("a whole ISR", |cluster| cluster.isr("orders", 0).len() == 3).await?;
    assert_ne!(cluster.leader("orders", 0), Some(paused));
    assert_eq!(read(&cluster.bootstrap(), 200).await?, (0..200).collect::<Vec<u32>>());
    producer.close(LIMIT).await;
    cluster.shutdown().await?;
    Ok(())
}
