//! Kafka's programs that ask about topics and change them.

use anyhow::{Result, ensure};
use milena::{Producer, Record};
use milena_interop::tools;

use crate::broker_for_kafkas_programs;
use crate::support::LIMIT;

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_lives_from_create_to_delete_in_kafkas_hands() -> Result<()> {
    let Some((broker, _folder)) = broker_for_kafkas_programs().await? else { return Ok(()) };
    let bootstrap = broker.bootstrap();
    let topic = ["--topic", "life"];
    // The records will be old.
    let create = ["--create", "--partitions", "3", "--config", "retention.ms=-1"];
    tools::topics(&bootstrap, &[&create[..], &topic].concat())?;
    let again = tools::topics(&bootstrap, &[&create[..], &topic].concat());
    let refused = again.err().map(|error| format!("{error:#}")).unwrap_or_default();
    ensure!(refused.contains("Topic 'life' already exists."), "{refused}");
    let described = tools::topics(&bootstrap, &[&["--describe"], &topic[..]].concat())?;
    for wanted in ["PartitionCount: 3", "ReplicationFactor: 1", "retention.ms=-1"] {
        ensure!(described.contains(wanted), "no {wanted} in {described}");
    }
    assert_eq!(described.matches("Leader: 1\tReplicas: 1\tIsr: 1").count(), 3, "{described}");

    tools::topics(&bootstrap, &[&["--alter", "--partitions", "5"], &topic[..]].concat())?;
    let described = tools::topics(&bootstrap, &[&["--describe"], &topic[..]].concat())?;
    assert_eq!(described.matches("Leader: 1\tReplicas: 1\tIsr: 1").count(), 5, "{described}");

    let producer = Producer::builder().bootstrap(&bootstrap).build()?;
    for number in 0..10 {
        let record = Record::to("life").partition(number % 4).timestamp(1_000 + i64::from(number)).value("v");
        producer.send(record).await?.await?;
    }
    producer.close(LIMIT).await;
    assert_eq!(offsets(&bootstrap, "latest")?, "life:0:3\nlife:1:3\nlife:2:2\nlife:3:2\nlife:4:0\n");
    assert_eq!(offsets(&bootstrap, "earliest")?, "life:0:0\nlife:1:0\nlife:2:0\nlife:3:0\nlife:4:0\n");
    assert_eq!(offsets(&bootstrap, "1005")?, "life:0:2\nlife:1:1\nlife:2:1\nlife:3:1\n");

    tools::topics(&bootstrap, &[&["--delete"], &topic[..]].concat())?;
    assert_eq!(tools::topics(&bootstrap, &["--list"])?.trim(), "");
    broker.shutdown().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn kafkas_config_command_describes_topics_and_the_broker() -> Result<()> {
    let Some((broker, _folder)) = broker_for_kafkas_programs().await? else { return Ok(()) };
    let bootstrap = broker.bootstrap();
    let arguments = ["--create", "--topic", "configured", "--config", "retention.ms=1234567"];
    tools::topics(&bootstrap, &arguments)?;
    let of_topic = ["--entity-type", "topics", "--entity-name", "configured"];
    let set = configs(&bootstrap, &of_topic)?;
    ensure!(set.contains("retention.ms=1234567"), "{set}");
    ensure!(!set.contains("segment.bytes"), "what is not set is shown: {set}");
    let all = configs(&bootstrap, &[&of_topic[..], &["--all"]].concat())?;
    for wanted in ["retention.ms=1234567", "segment.bytes=1073741824", "cleanup.policy=delete"] {
        ensure!(all.contains(wanted), "no {wanted} in {all}");
    }
    let of_broker = configs(&bootstrap, &["--entity-type", "brokers", "--entity-name", "1", "--all"])?;
    ensure!(of_broker.contains("auto.create.topics.enable=true"), "{of_broker}");
    broker.shutdown().await?;
    Ok(())
}

fn offsets(bootstrap: &str, time: &str) -> Result<String> {
    let arguments = ["--bootstrap-server", bootstrap, "--topic", "life", "--time", time];
    tools::run("org.apache.kafka.tools.GetOffsetShell", &arguments, b"")?.text()
}

fn configs(bootstrap: &str, of: &[&str]) -> Result<String> {
    let arguments = [&["--bootstrap-server", bootstrap, "--describe"], of].concat();
    tools::run("org.apache.kafka.tools.ConfigCommand", &arguments, b"")?.text()
}
