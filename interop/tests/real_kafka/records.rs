//! Everything that a record has, as Kafka's consumer sees it.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};
use milena::{Consumer, Header, NewTopic, Producer, Record, StartAt};
use milena_interop::tools;
use milena_protocol::records::TimestampType;
use tokio::time::timeout;

use crate::cluster::cluster;
use crate::support::{LIMIT, create_topic};

/// Makes Kafka's consumer print all of it.
const EVERYTHING: [&str; 12] = [
    "--formatter-property",
    "print.timestamp=true",
    "--formatter-property",
    "print.offset=true",
    "--formatter-property",
    "print.headers=true",
    "--formatter-property",
    "print.key=true",
    "--formatter-property",
    "null.literal=(null)",
    "--formatter-property",
    "key.separator= | ",
];

#[tokio::test(flavor = "multi_thread")]
async fn headers_nulls_and_timestamps_arrive_as_they_were_sent() -> Result<()> {
    let Some(kafka) = cluster().await else { return Ok(()) };
    let (bootstrap, topic) = (kafka.bootstrap(), "records");
    // Or Kafka removes what is so old, when it looks.
    let configs = vec![("retention.ms".to_owned(), "-1".to_owned())];
    create_topic(&bootstrap, NewTopic { partitions: 1, configs, ..NewTopic::new(topic) }).await?;
    let producer = Producer::builder().bootstrap(&bootstrap).build()?;
    let headers = [
        Header { key: "a", value: Some(b"1") },
        Header { key: "b", value: None },
        Header { key: "a", value: Some(b"2") },
        Header { key: "", value: Some(b"") },
    ];
    let records = [
        Record::to(topic).key("k").value("v").headers(&headers).timestamp(1_517_363_399_650),
        Record::to(topic).key("tombstone").timestamp(1_517_363_399_649),
        Record::to(topic).value("no key").timestamp(0),
        Record::to(topic).timestamp(1),
        Record::to(topic).key("").value("").headers(&headers[1..2]).timestamp(1_700_000_000_000),
    ];
    for (offset, record) in (0..).zip(records) {
        let placed = producer.send(record).await?.await?;
        ensure!((placed.offset, Some(placed.timestamp)) == (Some(offset), record.timestamp), "{placed:?}");
    }
    producer.close(LIMIT).await;

    let read = tools::console_consumer(&bootstrap, topic, records.len(), &EVERYTHING)?;
    let wanted = [
        "CreateTime:1517363399650 | Offset:0 | a:1,b:(null),a:2,: | k | v",
        "CreateTime:1517363399649 | Offset:1 | NO_HEADERS | tombstone | (null)",
        "CreateTime:0 | Offset:2 | NO_HEADERS | (null) | no key",
        "CreateTime:1 | Offset:3 | NO_HEADERS | (null) | (null)",
        "CreateTime:1700000000000 | Offset:4 | b:(null) |  | ",
    ];
    assert_eq!(read.lines().collect::<Vec<_>>(), wanted);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn field_24_with_log_append_time_the_timestamp_is_the_brokers() -> Result<()> {
    let Some(kafka) = cluster().await else { return Ok(()) };
    let (bootstrap, topic) = (kafka.bootstrap(), "append-time");
    let configs = vec![("message.timestamp.type".to_owned(), "LogAppendTime".to_owned())];
    create_topic(&bootstrap, NewTopic { partitions: 1, configs, ..NewTopic::new(topic) }).await?;
    let before = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
    let producer = Producer::builder().bootstrap(&bootstrap).set("linger.ms", "50").build()?;
    let mut deliveries = Vec::new();
    for number in 0..3 {
        let record = Record::to(topic).timestamp(1_000 + number).value("v");
        deliveries.push(producer.send(record).await?);
    }
    let mut placed = Vec::new();
    for delivery in deliveries {
        placed.push(delivery.await?);
    }
    producer.close(LIMIT).await;
    ensure!(placed.iter().all(|placed| placed.timestamp >= before), "not the broker's: {placed:?}");

    let mut consumer = Consumer::builder().bootstrap(&bootstrap).build()?;
    consumer.assign(vec![(topic.to_owned(), 0, StartAt::Beginning)]).await?;
    let fetched = timeout(LIMIT, consumer.next()).await??;
    let first = fetched.records().next().context("no record")??;
    assert_eq!(fetched.timestamp_type(0), TimestampType::LogAppendTime);
    assert_eq!(Some(first.timestamp), placed.first().map(|placed| placed.timestamp));
    consumer.close().await;
    let read = tools::console_consumer(&bootstrap, topic, placed.len(), &EVERYTHING)?;
    for (line, placed) in read.lines().zip(&placed) {
        let time = format!("LogAppendTime:{} | ", placed.timestamp);
        ensure!(line.starts_with(&time), "{line} does not start with {time}");
    }
    Ok(())
}
