//! Topics and metadata: our admin client and Kafka's tool see the same.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use milena::{Admin, ConsumeError, Consumer, MetadataError, NewTopic, Producer, Record, TopicDescription};
use milena_interop::{milena, tools};
use milena_protocol::ErrorCode;
use tokio::time::timeout;

use crate::cluster::cluster;
use crate::support::LIMIT;

#[tokio::test(flavor = "multi_thread")]
async fn topics_are_the_same_to_our_admin_client_and_to_kafkas() -> Result<()> {
    let Some(kafka) = cluster().await else { return Ok(()) };
    let bootstrap = kafka.bootstrap();
    let admin = Admin::builder().bootstrap(&bootstrap).build()?;
    let configs = vec![("retention.ms".to_owned(), "3600000".to_owned())];
    let ours = NewTopic { partitions: 4, replication_factor: 3, configs, ..NewTopic::new("ours") };
    let (_, created) = admin.create_topics(&[ours]).await?.pop().context("an answer")?;
    let id = created?;
    tools::create_topic(&bootstrap, "theirs", 2, 2)?;

    let theirs = tools::topics(&bootstrap, &["--describe", "--topic", "ours|theirs"])?;
    let described = describe(&admin, &["ours", "theirs"]).await?;
    for partition in described.values().flat_map(as_kafka_describes) {
        ensure!(theirs.contains(&partition), "{partition} is not in {theirs}");
    }
    assert_eq!(theirs.matches("Leader: ").count(), 6, "{theirs}");
    ensure!(theirs.contains("retention.ms=3600000"), "{theirs}");
    assert_eq!(described.get("ours").map(|topic| topic.id), Some(id));
    let configs = admin.describe_configs("ours").await?;
    let retention = configs.iter().find(|entry| entry.name == "retention.ms").context("retention.ms")?;
    assert_eq!((retention.value.as_deref(), retention.is_default), (Some("3600000"), false));

    tools::topics(&bootstrap, &["--delete", "--topic", "theirs"])?;
    for (_, deleted) in admin.delete_topics(&["ours"]).await? {
        deleted?;
    }
    let listed = tools::topics(&bootstrap, &["--list"])?;
    ensure!(!listed.lines().any(|topic| topic == "ours"), "{listed}");
    // A broker may hear of it after the controller has said that it is done.
    let gone = async {
        while admin.list_topics().await?.iter().any(|topic| topic.name == "theirs") {
            tokio::task::yield_now().await;
        }
        anyhow::Ok(())
    };
    timeout(LIMIT, gone).await.context("a deleted topic stays")??;
    admin.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_metadata_has_every_node() -> Result<()> {
    let Some(kafka) = cluster().await else { return Ok(()) };
    // One broker is enough to find the others.
    let bootstrap = format!("127.0.0.1:{}", kafka.port(2));
    let admin = Admin::builder().bootstrap(&bootstrap).all_topics().build()?;
    let watch = admin.metadata();
    let mut view = watch.view();
    while view.cluster.nodes().len() < kafka.brokers().brokers() {
        view = timeout(LIMIT, watch.changed(view.version)).await.context("the metadata")?;
    }
    let found: Vec<_> = view.cluster.nodes().map(|node| (node.host.to_string(), node.port)).collect();
    let wanted: Vec<_> = (1..=3).map(|id| ("127.0.0.1".to_owned(), kafka.port(id))).collect();
    assert_eq!(found, wanted);
    let said = milena(&["-b", &bootstrap, "metadata"], b"")?.text()?;
    for (id, (host, port)) in (1..).zip(&found) {
        let row = [id.to_string(), host.clone(), port.to_string()];
        ensure!(said.lines().any(|line| line.split_whitespace().take(3).eq(&row)), "no {row:?} in {said}");
    }
    admin.close().await;
    Ok(())
}

/// The brokers do not create topics here (auto.create.topics.enable).
#[tokio::test(flavor = "multi_thread")]
async fn a_topic_that_is_not_there_is_named_in_every_error() -> Result<()> {
    let Some(kafka) = cluster().await else { return Ok(()) };
    let bootstrap = kafka.bootstrap();
    let unknown = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    let producer = Producer::builder().bootstrap(&bootstrap).set("max.block.ms", "1000").build()?;
    let error = producer.send(Record::to("missing").value("v")).await.err().context("queued")?.to_string();
    ensure!(error.contains("`missing`") && error.contains("UNKNOWN_TOPIC_OR_PARTITION"), "{error}");
    producer.close(LIMIT).await;

    let consumer = Consumer::builder().bootstrap(&bootstrap).build()?;
    let error = consumer.partitions("missing").await.err().context("partitions")?;
    let named = matches!(&error, ConsumeError::Metadata(MetadataError::Topic { topic, code })
        if &**topic == "missing" && *code == unknown);
    ensure!(named, "{error:?}");
    consumer.close().await;

    let admin = Admin::builder().bootstrap(&bootstrap).build()?;
    let (_, described) = admin.describe_topics(&["missing"]).await?.pop().context("an answer")?;
    assert_eq!(described.map_err(|refusal| refusal.code), Err(unknown));
    let (_, deleted) = admin.delete_topics(&["missing"]).await?.pop().context("an answer")?;
    assert_eq!(deleted.map_err(|refusal| refusal.code), Err(unknown));
    admin.close().await;

    let produce = ["-b", &bootstrap, "produce", "-t", "missing", "-X", "max.block.ms=1000"];
    let output = milena(&produce, b"v\n")?;
    assert_eq!(output.status.code(), Some(1), "{}", output.stderr);
    ensure!(output.stderr.contains("`missing`"), "{}", output.stderr);
    let listed = tools::topics(&bootstrap, &["--list"])?;
    ensure!(!listed.lines().any(|topic| topic == "missing"), "it was created: {listed}");
    Ok(())
}

async fn describe(admin: &Admin, topics: &[&str]) -> Result<BTreeMap<String, TopicDescription>> {
    let described = admin.describe_topics(topics).await?;
    described.into_iter().map(|(name, topic)| Ok((name, topic?))).collect()
}

/// The lines of `TopicCommand --describe`, as far as they tell what we tell.
fn as_kafka_describes(topic: &TopicDescription) -> Vec<String> {
    let list = |ids: &[i32]| ids.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
    let line = |partition: &milena::PartitionDescription| {
        let leader = partition.leader.map_or_else(|| "none".to_owned(), |leader| leader.to_string());
        format!(
            "Topic: {}\tPartition: {}\tLeader: {leader}\tReplicas: {}\tIsr: {}",
            topic.name,
            partition.partition,
            list(&partition.replicas),
            list(&partition.isr)
        )
    };
    topic.partitions.iter().map(line).collect()
}
