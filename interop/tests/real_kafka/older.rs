//! A broker of an older version, which serves other versions of the requests.

use anyhow::{Context as _, Result, ensure};
use milena::{Admin, NewTopic, Producer, Record};
use milena_interop::{RealKafka, milena};

use crate::support::{CODECS, LIMIT, create_topic, read_topic};
use crate::values;

#[tokio::test(flavor = "multi_thread")]
async fn kafka_3_9_1_is_served_as_well() -> Result<()> {
    let Some(kafka) = RealKafka::builder().version("3.9.1").start_or_skip() else { return Ok(()) };
    let (bootstrap, topic) = (kafka.bootstrap(), "older");
    create_topic(&bootstrap, NewTopic { partitions: 1, ..NewTopic::new(topic) }).await?;
    let mut wanted = Vec::new();
    for codec in CODECS {
        let producer = Producer::builder().bootstrap(&bootstrap).set("compression.type", codec).build()?;
        for number in 0..100 {
            let value = format!("{codec} {number}");
            drop(producer.send(Record::to(topic).key("k").value(&value)).await?);
            wanted.push(value);
        }
        producer.close(LIMIT).await;
    }
    let read = read_topic(&bootstrap, topic).await?;
    assert_eq!(values(read.get(&0).context("nothing is there")?)?, wanted);
    let consumed = milena(&["-b", &bootstrap, "consume", "-t", topic, "-e"], b"")?.text()?;
    ensure!(consumed.lines().eq(&wanted), "{consumed}");

    let admin = Admin::builder().bootstrap(&bootstrap).build()?;
    ensure!(!admin.describe_configs(topic).await?.is_empty(), "a topic without settings");
    for (_, deleted) in admin.delete_topics(&[topic]).await? {
        deleted?;
    }
    admin.close().await;
    Ok(())
}
