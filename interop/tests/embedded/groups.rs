//! Consumer groups, as Kafka's programs and kcat use them.

use std::collections::BTreeSet;
use std::ops::Range;

use anyhow::{Context as _, Result, ensure};
use milena::{NewTopic, Producer, Record};
use milena_interop::{Output, tools};

use crate::broker_for_kafkas_programs;
use crate::support::{LIMIT, create_topic};

const TOPIC: &str = "shared";

#[tokio::test(flavor = "multi_thread")]
async fn kafkas_consumer_goes_on_where_its_group_stopped() -> Result<()> {
    let Some((broker, _folder)) = broker_for_kafkas_programs().await? else { return Ok(()) };
    let bootstrap = broker.bootstrap();
    create_topic(&bootstrap, NewTopic { partitions: 3, ..NewTopic::new(TOPIC) }).await?;
    for numbers in [0..1_000, 1_000..1_010] {
        produce(&bootstrap, numbers.clone()).await?;
        let read = tools::console_consumer(&bootstrap, TOPIC, numbers.len(), &["--group", "java"])?;
        assert_eq!(read.lines().map(str::to_owned).collect::<BTreeSet<_>>(), values(numbers));
    }
    let described = groups(&bootstrap, &["--describe", "--group", "java"])?;
    let mut committed = 0;
    for line in described.lines().filter(|line| line.starts_with("java ")) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (current, end) = (fields.get(3).context("no current offset")?, fields.get(4).context("no end")?);
        assert_eq!((current, fields.get(5)), (end, Some(&"0")), "{described}");
        committed += current.parse::<usize>().with_context(|| described.clone())?;
    }
    assert_eq!(committed, 1_010, "{described}");
    assert_eq!(groups(&bootstrap, &["--list"])?.trim(), "java");
    let deleted = groups(&bootstrap, &["--delete", "--group", "java"])?;
    ensure!(deleted.contains("was successful"), "{deleted}");
    assert_eq!(groups(&bootstrap, &["--list"])?.trim(), "");
    broker.shutdown().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn kcat_goes_on_where_its_group_stopped() -> Result<()> {
    let (broker, _folder) = crate::broker().await?;
    let bootstrap = broker.bootstrap();
    create_topic(&bootstrap, NewTopic { partitions: 3, ..NewTopic::new(TOPIC) }).await?;
    for numbers in [0..1_000, 1_000..1_010] {
        produce(&bootstrap, numbers.clone()).await?;
        let count = numbers.len().to_string();
        let consume = ["-b", &bootstrap, "-G", "cats", "-q", "-c", &count];
        let more = ["-X", "auto.offset.reset=earliest", TOPIC];
        let read = tools::kcat(&[&consume[..], &more].concat(), b"")?;
        let Some(read) = read.map(Output::text).transpose()? else { return Ok(()) };
        assert_eq!(read.lines().map(str::to_owned).collect::<BTreeSet<_>>(), values(numbers));
    }
    broker.shutdown().await?;
    Ok(())
}

async fn produce(bootstrap: &str, numbers: Range<usize>) -> Result<()> {
    let producer = Producer::builder().bootstrap(bootstrap).build()?;
    for number in numbers {
        let partition = i32::try_from(number % 3)?;
        let value = number.to_string();
        drop(producer.send(Record::to(TOPIC).partition(partition).value(&value)).await?);
    }
    producer.close(LIMIT).await;
    Ok(())
}

fn values(numbers: Range<usize>) -> BTreeSet<String> {
    numbers.map(|number| number.to_string()).collect()
}

fn groups(bootstrap: &str, arguments: &[&str]) -> Result<String> {
    let arguments = [&["--bootstrap-server", bootstrap], arguments].concat();
    tools::run("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", &arguments, b"")?.text()
}
