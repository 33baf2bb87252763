//! The old producer against real brokers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use std::error::Error;
use std::sync::{Arc, Mutex};

use milena::{Consumer, StartAt};
use milena_broker::EmbeddedCluster;
use milena_old_producer::{Asked, KeyedMessage, Producer, ProducerConfig};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_sends_refreshes_and_finds_a_new_leader() -> Result<(), Box<dyn Error>> {
    let cluster = EmbeddedCluster::builder().brokers(3).start().await?;
    cluster.create_topic("t", 1, 3).await?;
    let mut config = ProducerConfig::default();
    for (key, value) in [
        ("metadata.broker.list", cluster.bootstrap().as_str()),
        ("request.required.acks", "-1"),
        // Until the session of the one that was killed has ended, and as long again on a busy machine.
        ("message.send.max.retries", "600"),
        ("client.id", "old"),
    ] {
        config.set(key, value)?;
    }
    let refreshes = Arc::<Mutex<Vec<Asked>>>::default();
    let told = Arc::clone(&refreshes);
    let producer = Producer::builder(config)
        .on_refresh(move |report| told.lock().unwrap().extend(report.asked.clone()))
        .build()?;
    let producer = tokio::task::spawn_blocking(move || {
        producer.send(vec![KeyedMessage::new("t", "a"), KeyedMessage::new("t", "b").with_key("k")])?;
        Ok::<_, milena_old_producer::SendError>(producer)
    })
    .await??;
    let first = std::mem::take(&mut *refreshes.lock().unwrap());
    assert_eq!(first.len(), 1, "only the first send: {first:?}");

    cluster.kill(cluster.leader("t", 0).ok_or("no leader")?)?;
    let seen = Arc::clone(&refreshes);
    // What the killed one had read already it may still answer.
    let sent = tokio::task::spawn_blocking(move || {
        let mut sent = 0;
        while !seen.lock().unwrap().iter().any(|asked| asked.error.is_none()) {
            producer.send(vec![KeyedMessage::new("t", format!("c{sent}"))])?;
            sent += 1;
        }
        Ok::<_, milena_old_producer::SendError>(sent)
    });
    let sent = sent.await??;
    let mut values = read_back(&cluster.bootstrap()).await?;
    // It has no sequence numbers: where an answer was lost the retry is there, too.
    values.dedup();
    let expected = ["a".to_owned(), "b".to_owned()].into_iter().chain((0..sent).map(|n| format!("c{n}")));
    assert_eq!(values, expected.collect::<Vec<_>>());
    cluster.shutdown().await?;
    Ok(())
}

/// The values of the topic's only partition.
async fn read_back(bootstrap: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let mut consumer = Consumer::builder().bootstrap(bootstrap).build()?;
    let (_, end) = consumer.offsets("t", 0).await?;
    consumer.assign(vec![("t".to_owned(), 0, StartAt::Beginning)]).await?;
    let mut values = Vec::new();
    let mut next = 0;
    while next < end {
        let fetched = consumer.next().await?;
        next = fetched.next_offset;
        for record in fetched.records() {
            values.push(String::from_utf8(record?.value.unwrap_or_default().to_vec())?);
        }
    }
    consumer.close().await;
    Ok(values)
}
