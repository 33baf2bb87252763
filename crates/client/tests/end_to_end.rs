//! The client on a real socket, against the embedded broker.

use std::{collections::BTreeMap, time::Duration};

use milena::{
    Admin, AppendError, ConsumeError, Consumer, Header, MetadataError, NewTopic, Producer, Record, SendError,
    StartAt,
};
use milena_broker::{Broker, BrokerConfig};

type TestResult = Result<(), Box<dyn std::error::Error>>;

const LIMIT: Duration = Duration::from_secs(120);

async fn broker() -> Result<(Broker, tempfile::TempDir), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    Ok((Broker::start(BrokerConfig::new(dir.path())).await?, dir))
}

async fn create(bootstrap: &str, name: &str, partitions: i32) -> TestResult {
    let admin = Admin::builder().bootstrap(bootstrap).build()?;
    let topic = NewTopic { partitions, ..NewTopic::new(name) };
    for (_, result) in admin.create_topics(&[topic]).await? {
        result?;
    }
    admin.close().await;
    Ok(())
}

/// All records of a topic: (key, value) in order, by partition.
async fn read_all(
    bootstrap: &str,
    topic: &str,
    count: usize,
) -> Result<BTreeMap<i32, Vec<(String, String)>>, Box<dyn std::error::Error>> {
    let mut consumer = Consumer::builder().bootstrap(bootstrap).build()?;
    let partitions = consumer.partitions(topic).await?;
    consumer.assign(partitions.iter().map(|&p| (topic.to_owned(), p, StartAt::Beginning)).collect()).await?;
    let mut all: BTreeMap<i32, Vec<(String, String)>> = BTreeMap::new();
    let mut seen = 0;
    while seen < count {
        let fetched = tokio::time::timeout(LIMIT, consumer.next()).await??;
        let partition = all.entry(fetched.partition).or_default();
        for record in fetched.records() {
            let record = record?;
            assert_eq!(record.offset, i64::try_from(partition.len())?);
            let text = |bytes: Option<bytes::Bytes>| String::from_utf8(bytes.unwrap_or_default().to_vec());
            partition.push((text(record.key)?, text(record.value)?));
            seen += 1;
        }
    }
    assert_eq!(seen, count, "more came back than was produced");
    consumer.close().await;
    Ok(all)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_acknowledged_comes_back_in_order_per_key() -> TestResult {
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        let (broker, _dir) = broker().await?;
        create(&broker.bootstrap(), "orders", 3).await?;
        let producer =
            Producer::builder().bootstrap(&broker.bootstrap()).set("compression.type", codec).build()?;
        let mut deliveries = Vec::new();
        for i in 0..5_000 {
            let (key, value) = (format!("key-{}", i % 7), format!("value {i} of {codec}"));
            deliveries
                .push((key.clone(), producer.send(Record::to("orders").key(&key).value(&value)).await?));
        }
        producer.flush().await;
        let mut partition_of = BTreeMap::new();
        for (key, delivery) in deliveries {
            let placed = delivery.await?;
            assert!(placed.offset.is_some());
            let partition = *partition_of.entry(key).or_insert(placed.partition);
            assert_eq!(partition, placed.partition, "one key, one partition");
        }
        producer.close(LIMIT).await;

        let all = read_all(&broker.bootstrap(), "orders", 5_000).await?;
        for k in 0..7 {
            let key = format!("key-{k}");
            let of_key =
                all.values().flatten().filter(|(found, _)| *found == key).map(|(_, value)| value.clone());
            let expected = (0..5_000).filter(|i| i % 7 == k).map(|i| format!("value {i} of {codec}"));
            assert!(of_key.eq(expected), "{codec}: {key} is not in order");
        }
        broker.shutdown().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_timestamps_and_nulls_survive() -> TestResult {
    let (broker, _dir) = broker().await?;
    let producer = Producer::builder().bootstrap(&broker.bootstrap()).build()?;
    let headers = [
        Header { key: "a", value: Some(b"1") },
        Header { key: "a", value: Some(&[0xff, 0xfe]) },
        Header { key: "b", value: None },
    ];
    let record =
        Record { value: None, ..Record::to("auto").key("k").timestamp(1_517_363_399_650).headers(&headers) };
    let placed = producer.send(record).await?.await?;
    assert_eq!((placed.offset, placed.timestamp), (Some(0), 1_517_363_399_650));

    let mut consumer = Consumer::builder().bootstrap(&broker.bootstrap()).build()?;
    consumer.assign(vec![("auto".to_owned(), 0, StartAt::Beginning)]).await?;
    let fetched = tokio::time::timeout(LIMIT, consumer.next()).await??;
    let record = fetched.records().next().ok_or("no record")??;
    assert_eq!(
        (record.key.as_deref(), record.value, record.timestamp),
        (Some(&b"k"[..]), None, 1_517_363_399_650)
    );
    let found: Vec<_> =
        record.headers.iter().map(|h| (h.key.to_string_lossy().into_owned(), h.value)).collect();
    let expected = [("a", Some(&b"1"[..])), ("a", Some(&[0xff, 0xfe][..])), ("b", None)];
    assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value.map(bytes::Bytes::from_static))));
    producer.close(LIMIT).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_producer_refuses_and_says_so() -> TestResult {
    let (broker, _dir) = broker().await?;
    let producer = Producer::builder().bootstrap(&broker.bootstrap()).build()?;
    let delivery = producer.send(Record::to("t").value("queued before")).await?;
    producer.close(LIMIT).await;
    assert_eq!(delivery.await?.offset, Some(0), "close sends what is queued");
    let refused = producer.send(Record::to("t").value("too late")).await;
    assert!(matches!(refused, Err(SendError::Refused(AppendError::Closed))), "{refused:?}");
    let refused = producer.try_send(Record::to("never heard of").value("too late"));
    assert!(matches!(refused, Err(SendError::Metadata(MetadataError::Closed))), "{refused:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_never_waits_is_told_that_there_is_no_such_partition() -> TestResult {
    let (broker, _dir) = broker().await?;
    create(&broker.bootstrap(), "t", 2).await?;
    let producer = Producer::builder().bootstrap(&broker.bootstrap()).build()?;
    producer.send(Record::to("t").value("the topic is known from now on")).await?;
    let refused = producer.try_send(Record::to("t").partition(2).value("v"));
    let Err(SendError::Metadata(error @ MetadataError::PartitionOutOfRange { .. })) = refused else {
        return Err(format!("{refused:?}").into());
    };
    assert!(error.to_string().contains("[0, 2)"), "{error}");
    producer.close(LIMIT).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn field_01_a_dead_bootstrap_address_is_named_in_the_error() -> TestResult {
    // Bound and closed again: nobody listens there.
    let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let producer = Producer::builder().bootstrap(&address.to_string()).set("max.block.ms", "300").build()?;
    let error = producer.send(Record::to("t").value("v")).await.expect_err("nobody listens").to_string();
    assert!(error.contains(&address.to_string()), "the address is missing: {error}");
    assert!(error.contains("refused"), "the cause is missing: {error}");
    producer.close(Duration::ZERO).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn field_08_a_producer_is_built_without_dns() -> TestResult {
    let producer =
        Producer::builder().bootstrap("no-such-host.invalid:9092").set("max.block.ms", "300").build()?;
    let error = producer.send(Record::to("t").value("v")).await.expect_err("no such host").to_string();
    assert!(error.contains("no-such-host.invalid"), "{error}");
    producer.close(Duration::ZERO).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offset_that_is_not_there_names_the_range() -> TestResult {
    let (broker, _dir) = broker().await?;
    let producer = Producer::builder().bootstrap(&broker.bootstrap()).build()?;
    producer.send(Record::to("t").value("v")).await?.await?;
    let mut consumer = Consumer::builder().bootstrap(&broker.bootstrap()).build()?;
    consumer.assign(vec![("t".to_owned(), 0, StartAt::Offset(7))]).await?;
    let error = tokio::time::timeout(LIMIT, consumer.next()).await?.expect_err("out of range");
    assert!(matches!(error, ConsumeError::OffsetOutOfRange { offset: 7, start: 0, end: 1, .. }), "{error:?}");
    producer.close(LIMIT).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_that_was_missing_is_found_once_it_was_created() -> TestResult {
    let (broker, _dir) = broker().await?;
    let consumer = Consumer::builder().bootstrap(&broker.bootstrap()).build()?;
    consumer.partitions("later").await.expect_err("nobody has created it");
    create(&broker.bootstrap(), "later", 2).await?;
    assert_eq!(consumer.partitions("later").await?, [0, 1]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_delivery_cancels_nothing_and_a_dropped_producer_still_sends() -> TestResult {
    let (broker, _dir) = broker().await?;
    let producer = Producer::builder().bootstrap(&broker.bootstrap()).set("linger.ms", "50").build()?;
    for i in 0..100 {
        drop(producer.send(Record::to("t").value(&i.to_string())).await?);
    }
    drop(producer);
    let all = read_all(&broker.bootstrap(), "t", 100).await?;
    let values: Vec<_> = all.values().flatten().map(|(_, value)| value.clone()).collect();
    assert_eq!(values, (0..100).map(|i| i.to_string()).collect::<Vec<_>>());
    Ok(())
}
