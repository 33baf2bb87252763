//! Produce, Fetch and ListOffsets over real sockets.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use milena_broker::{Broker, BrokerConfig, EmbeddedCluster};
use milena_protocol::messages::{
    ApiVersionsRequest, FetchPartition, FetchResponse, InitProducerIdRequest, OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse, OffsetForLeaderPartition, OffsetForLeaderTopic, ProduceResponse,
};
use milena_protocol::records::{BatchBuilder, Compression, RecordBatches, Seal};
use milena_protocol::{ApiKey, ErrorCode};
use milena_storage::FsyncPolicy;
use milena_storage::fs::{FaultyFileSystem, FsOperation, MemoryFileSystem};
use support::{
    Client, SOON, batch, fetch_request, idempotent, now_ms, produce_request, sealed, start, values,
};

async fn broker_with_topic(configs: &[(&str, &str)]) -> (tempfile::TempDir, Broker, Client) {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    let mut client = Client::to(&broker).await;
    client.create_topic("t", 2, configs).await;
    (dir, broker, client)
}

#[tokio::test]
async fn what_is_produced_is_fetched_in_every_version() {
    let (_dir, _broker, mut client) = broker_with_topic(&[]).await;
    let topic_id = client.metadata(&["t"]).await.topics[0].topic_id;
    let mut expected = Vec::new();
    for version in 3..=13 {
        let value = format!("version {version}");
        let mut request = produce_request("t", 0, batch(&[&value]), -1);
        if version >= 13 {
            request.topic_data[0].name = String::new();
            request.topic_data[0].topic_id = topic_id;
        }
        let response = client.call(version, &request).await;
        let answer = &response.responses[0].partition_responses[0];
        assert_eq!((answer.error_code, answer.base_offset), (ErrorCode::NONE, expected.len() as i64));
        expected.push((answer.base_offset, value));
    }
    for version in 4..=18 {
        let mut request = fetch_request("t", 0, 0, 0);
        if version >= 13 {
            request.topics[0].topic = String::new();
            request.topics[0].topic_id = topic_id;
        }
        let response = client.call(version, &request).await;
        assert_eq!((response.error_code, response.session_id), (ErrorCode::NONE, 0));
        let answer = &response.responses[0].partitions[0];
        assert_eq!(answer.error_code, ErrorCode::NONE);
        assert_eq!(answer.high_watermark, expected.len() as i64);
        assert_eq!(values(answer.records.clone().unwrap()), expected, "version {version}");
    }
}

#[tokio::test]
async fn compressed_batches_come_back_byte_for_byte() {
    let (_dir, _broker, mut client) = broker_with_topic(&[]).await;
    let mut builder = BatchBuilder::new(Vec::new());
    for value in 0..100 {
        builder.append(now_ms(), None, Some(format!("value {value}").as_bytes()), &[]);
    }
    let mut offset = 0;
    for codec in [Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
        let sent = Bytes::from(builder.compress(codec, None, Vec::new()).unwrap().seal(Seal::default()));
        let answer = client.produce("t", 0, sent.clone()).await;
        assert_eq!((answer.error_code, answer.base_offset), (ErrorCode::NONE, offset));
        let fetched = client.fetch("t", 0, offset).await.records.unwrap();
        // Only base offset and leader epoch are the broker's.
        assert_eq!(fetched[16..], sent[16..], "{codec:?}");
        offset += 100;
    }
    // Before version 7 a broker may not be sent zstd.
    let zstd =
        Bytes::from(builder.compress(Compression::Zstd, None, Vec::new()).unwrap().seal(Seal::default()));
    let response = client.call(6, &produce_request("t", 0, zstd, -1)).await;
    let answer = &response.responses[0].partition_responses[0];
    assert_eq!(answer.error_code, ErrorCode::UNSUPPORTED_COMPRESSION_TYPE);
}

#[tokio::test]
async fn what_cannot_be_stored_is_refused_with_kafkas_error() {
    let (_dir, _broker, mut client) =
        broker_with_topic(&[("max.message.bytes", "1000"), ("message.timestamp.after.max.ms", "1000")]).await;
    let good = batch(&["a"]);

    let mut bad_crc = good.to_vec();
    bad_crc[17] ^= 1;
    let mut old_magic = good.to_vec();
    old_magic[16] = 1;
    let two = [good.clone(), good.clone()].concat();
    let large = batch(&["x".repeat(2_000).as_str()]);
    let mut early = BatchBuilder::new(Vec::new());
    early.append(now_ms() + 3_600_000, None, Some(b"a"), &[]);
    let transactional = Seal {
        producer_id: 1,
        producer_epoch: 0,
        base_sequence: 0,
        transactional: true,
        ..Default::default()
    };
    let cases: [(&str, Bytes, ErrorCode); 8] = [
        ("crc", bad_crc.into(), ErrorCode::CORRUPT_MESSAGE),
        ("cut off", good.slice(..good.len() - 1), ErrorCode::CORRUPT_MESSAGE),
        ("magic 1", old_magic.into(), ErrorCode::INVALID_RECORD),
        ("two batches", two.into(), ErrorCode::INVALID_RECORD),
        ("nothing", Bytes::new(), ErrorCode::INVALID_RECORD),
        ("too large", large, ErrorCode::MESSAGE_TOO_LARGE),
        ("from the future", early.seal(Seal::default()).into(), ErrorCode::INVALID_TIMESTAMP),
        ("transaction", sealed(&["a"], transactional), ErrorCode::INVALID_TXN_STATE),
    ];
    for (what, records, expected) in cases {
        let answer = client.produce("t", 0, records).await;
        assert_eq!((answer.error_code, answer.base_offset), (expected, -1), "{what}");
        assert!(answer.error_message.is_some(), "{what}");
    }
    for (topic, partition, expected) in [
        ("t", 2, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
        ("t", -1, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
        ("unknown", 0, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
        ("__consumer_offsets", 0, ErrorCode::INVALID_TOPIC_EXCEPTION),
    ] {
        assert_eq!(client.produce(topic, partition, good.clone()).await.error_code, expected, "{topic}");
    }
    let response = client.call(9, &produce_request("t", 0, good.clone(), 2)).await;
    assert_eq!(response.responses[0].partition_responses[0].error_code, ErrorCode::INVALID_REQUIRED_ACKS);
    let mut unknown_id = produce_request("", 0, good, -1);
    unknown_id.topic_data[0].topic_id = milena_protocol::Uuid([7; 16]);
    let response = client.call(13, &unknown_id).await;
    assert_eq!(response.responses[0].partition_responses[0].error_code, ErrorCode::UNKNOWN_TOPIC_ID);

    assert_eq!(client.fetch("t", 0, 0).await.high_watermark, 0, "nothing was stored");
}

#[tokio::test]
async fn acks_0_is_silent_and_closes_the_connection_on_failure() {
    let (_dir, broker, mut client) = broker_with_topic(&[]).await;
    client.send(9, &produce_request("t", 0, batch(&["a"]), 0)).await;
    // The next answer on the connection is that of the next request.
    assert_eq!(client.produce("t", 0, batch(&["b"])).await.base_offset, 1);

    client.send(9, &produce_request("t", 9, batch(&["a"]), 0)).await;
    client.expect_closed().await;
    let mut client = Client::to(&broker).await;
    assert_eq!(client.read_all("t", 0, 0).await, [(0, "a".to_owned()), (1, "b".to_owned())]);
}

#[tokio::test]
async fn acks_all_needs_min_insync_replicas() {
    let (_dir, _broker, mut client) = broker_with_topic(&[("min.insync.replicas", "2")]).await;
    let answer = client.produce("t", 0, batch(&["a"])).await;
    assert_eq!(answer.error_code, ErrorCode::NOT_ENOUGH_REPLICAS);
    let response = client.call(9, &produce_request("t", 0, batch(&["a"]), 1)).await;
    assert_eq!(response.responses[0].partition_responses[0].error_code, ErrorCode::NONE);
}

#[tokio::test]
async fn replication_29_sequences_are_checked_per_producer() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    let mut client = Client::to(&broker).await;
    client.create_topic("t", 1, &[]).await;
    let request = InitProducerIdRequest { transactional_id: None, ..Default::default() };
    let id = client.call(4, &request).await.producer_id;
    assert!(id >= 0);
    for sequence in 0..7 {
        let answer = client.produce("t", 0, idempotent(&["a"], id, 3, sequence)).await;
        assert_eq!((answer.error_code, answer.base_offset), (ErrorCode::NONE, i64::from(sequence)));
    }
    let checks = async |client: &mut Client| {
        // The last five batches are known, and acknowledged again with the offsets that they have.
        for sequence in 2..7 {
            let again = client.produce("t", 0, idempotent(&["a"], id, 3, sequence)).await;
            assert_eq!((again.error_code, again.base_offset), (ErrorCode::NONE, i64::from(sequence)));
        }
        let gap = client.produce("t", 0, idempotent(&["a"], id, 3, 8)).await;
        assert_eq!(gap.error_code, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
        let new_epoch_not_from_0 = client.produce("t", 0, idempotent(&["a"], id, 4, 1)).await;
        assert_eq!(new_epoch_not_from_0.error_code, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
        let old_epoch = client.produce("t", 0, idempotent(&["a"], id, 2, 7)).await;
        assert_eq!(old_epoch.error_code, ErrorCode::INVALID_PRODUCER_EPOCH);
        assert_eq!(client.list_offset("t", 0, -1).await.1, 7, "nothing was appended");
    };
    checks(&mut client).await;

    // The state survives a controlled restart, and one after a kill.
    broker.shutdown().await.unwrap();
    let broker = start(dir.path()).await;
    checks(&mut Client::to(&broker).await).await;
    drop(broker);
    let broker = start(dir.path()).await;
    let mut client = Client::to(&broker).await;
    checks(&mut client).await;
    assert_eq!(client.produce("t", 0, idempotent(&["a"], id, 3, 7)).await.base_offset, 7);
}

#[tokio::test]
async fn log_append_time_is_the_brokers() {
    let (_dir, _broker, mut client) = broker_with_topic(&[("message.timestamp.type", "LogAppendTime")]).await;
    let mut builder = BatchBuilder::new(Vec::new());
    builder.append(1_000, None, Some(b"a"), &[]);
    let before = now_ms();
    let answer = client.produce("t", 0, builder.seal(Seal::default()).into()).await;
    assert!(answer.log_append_time_ms >= before, "{answer:?}");
    let fetched = client.fetch("t", 0, 0).await.records.unwrap();
    let batch = RecordBatches::new(fetched).next().unwrap().unwrap();
    batch.check_crc().unwrap();
    assert_eq!(batch.header().max_timestamp, answer.log_append_time_ms);
}

#[tokio::test]
async fn fetch_limits_bound_the_answer_but_for_its_first_batch() {
    let (_dir, _broker, mut client) = broker_with_topic(&[]).await;
    let size = batch(&["0"]).len() as i32;
    for partition in 0..2 {
        for value in ["0", "1", "2"] {
            client.produce("t", partition, batch(&[value])).await;
        }
    }
    let fetch = async |client: &mut Client, max_bytes: i32, partition_max_bytes: i32| {
        let mut request = fetch_request("t", 0, 0, 0);
        request.max_bytes = max_bytes;
        let partition = |partition| FetchPartition { partition, partition_max_bytes, ..Default::default() };
        request.topics[0].partitions = vec![partition(0), partition(1)];
        let response = client.call(11, &request).await;
        let counts =
            response.responses[0].partitions.iter().map(|p| values(p.records.clone().unwrap()).len());
        counts.collect::<Vec<_>>()
    };
    assert_eq!(fetch(&mut client, i32::MAX, i32::MAX).await, [3, 3]);
    assert_eq!(fetch(&mut client, i32::MAX, size).await, [1, 1]);
    assert_eq!(fetch(&mut client, 4 * size, i32::MAX).await, [3, 1]);
    assert_eq!(fetch(&mut client, 2 * size, i32::MAX).await, [2, 0]);
    // One batch always comes, or a consumer with too small a limit would never go on.
    assert_eq!(fetch(&mut client, 1, 1).await, [1, 0]);
    assert_eq!(fetch(&mut client, 0, 0).await, [1, 0]);
}

#[tokio::test]
async fn fetch_errors_are_kafkas() {
    let (_dir, _broker, mut client) = broker_with_topic(&[]).await;
    client.produce("t", 0, batch(&["a"])).await;
    assert_eq!(client.fetch("t", 0, 2).await.error_code, ErrorCode::OFFSET_OUT_OF_RANGE);
    assert_eq!(client.fetch("t", 0, -1).await.error_code, ErrorCode::OFFSET_OUT_OF_RANGE);
    assert_eq!(client.fetch("t", 0, 1).await.error_code, ErrorCode::NONE);
    assert_eq!(client.fetch("t", 7, 0).await.error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    assert_eq!(client.fetch("u", 0, 0).await.error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);

    let mut request = fetch_request("t", 0, 0, 0);
    request.topics[0].partitions[0].current_leader_epoch = 5;
    let answer = client.call(12, &request).await;
    assert_eq!(answer.responses[0].partitions[0].error_code, ErrorCode::UNKNOWN_LEADER_EPOCH);
    request.topics[0].partitions[0].current_leader_epoch = -1;
    request.topics[0].topic_id = milena_protocol::Uuid([9; 16]);
    request.topics[0].topic = String::new();
    let answer = client.call(13, &request).await;
    assert_eq!(answer.responses[0].partitions[0].error_code, ErrorCode::UNKNOWN_TOPIC_ID);

    // A session that never was, and a follower that nobody knows.
    let mut request = fetch_request("t", 0, 0, 0);
    (request.session_id, request.session_epoch) = (77, 5);
    let answer = client.call(12, &request).await;
    assert_eq!(answer.error_code, ErrorCode::FETCH_SESSION_ID_NOT_FOUND);
    let mut request = fetch_request("t", 0, 0, 0);
    request.replica_id = 2;
    let answer = client.call(12, &request).await;
    assert_eq!(answer.responses[0].partitions[0].error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_a_broker_that_holds_no_replica_is_sent_to_the_leader() {
    let cluster = EmbeddedCluster::builder().brokers(2).start().await.unwrap();
    cluster.create_topic("t", 1, 1).await.unwrap();
    let leader = cluster.leader("t", 0).unwrap();
    let bootstrap = cluster.bootstrap();
    let others = bootstrap.split(',').zip(cluster.broker_ids()).find(|(_, id)| *id != leader);
    let mut client = Client::connect(others.unwrap().0.parse().unwrap()).await;

    let produced = client.call(12, &produce_request("t", 0, batch(&["a"]), 1)).await;
    let answer = &produced.responses[0].partition_responses[0];
    assert_eq!(answer.error_code, ErrorCode::NOT_LEADER_OR_FOLLOWER);
    assert_eq!((answer.current_leader.leader_id, produced.node_endpoints[0].node_id), (leader, leader));
    let topic_id = client.metadata(&["t"]).await.topics[0].topic_id;
    let mut request = fetch_request("t", 0, 0, 0);
    (request.topics[0].topic, request.topics[0].topic_id) = (String::new(), topic_id);
    let fetched = client.call(17, &request).await;
    let answer = &fetched.responses[0].partitions[0];
    assert_eq!(answer.error_code, ErrorCode::NOT_LEADER_OR_FOLLOWER);
    assert_eq!((answer.current_leader.leader_id, fetched.node_endpoints[0].node_id), (leader, leader));
    assert_eq!(client.fetch("t", 0, 0).await.error_code, ErrorCode::NOT_LEADER_OR_FOLLOWER);
    assert_eq!(client.list_offset("t", 0, -1).await.0, ErrorCode::NOT_LEADER_OR_FOLLOWER);
    assert_eq!(client.fetch("t", 1, 0).await.error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    cluster.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_fetch_waits_for_records_and_is_woken_by_them() {
    let (_dir, broker, mut client) = broker_with_topic(&[]).await;
    let mut producer = Client::to(&broker).await;
    // Longer than the test may take: only an append can end it in time.
    let id = client.send(12, &fetch_request("t", 1, 0, 3_600_000)).await;
    producer.produce("t", 1, batch(&["a"])).await;
    let (answered, response) = tokio::time::timeout(
        SOON,
        client.receive::<milena_protocol::messages::FetchResponse>(milena_protocol::ApiKey::Fetch, 12),
    )
    .await
    .unwrap();
    assert_eq!(answered, id);
    assert_eq!(values(response.responses[0].partitions[0].records.clone().unwrap()), [(0, "a".to_owned())]);

    // min_bytes: one more batch is not enough, two are.
    let size = batch(&["b"]).len() as i32;
    let mut request = fetch_request("t", 1, 1, 3_600_000);
    request.min_bytes = 2 * size;
    client.send(12, &request).await;
    producer.produce("t", 1, batch(&["b"])).await;
    producer.produce("t", 1, batch(&["c"])).await;
    let (_, response) =
        client.receive::<milena_protocol::messages::FetchResponse>(milena_protocol::ApiKey::Fetch, 12).await;
    assert_eq!(values(response.responses[0].partitions[0].records.clone().unwrap()).len(), 2);
}

#[tokio::test]
async fn a_fetch_that_finds_nothing_ends_with_its_time() {
    let (_dir, _broker, mut client) = broker_with_topic(&[]).await;
    let started = std::time::Instant::now();
    let response = client.call(12, &fetch_request("t", 0, 0, 50)).await;
    assert!(started.elapsed() >= Duration::from_millis(50));
    let answer = &response.responses[0].partitions[0];
    assert_eq!((answer.error_code, answer.records.clone()), (ErrorCode::NONE, Some(Bytes::new())));
}

#[tokio::test]
async fn offsets_are_listed_by_position_and_by_time() {
    let (_dir, _broker, mut client) = broker_with_topic(&[]).await;
    let base = now_ms() - 10_000;
    for (value, at) in [("a", 0), ("b", 2_000), ("c", 1_000)] {
        let mut builder = BatchBuilder::new(Vec::new());
        builder.append(base + at, None, Some(value.as_bytes()), &[]);
        client.produce("t", 0, builder.seal(Seal::default()).into()).await;
    }
    let ok = ErrorCode::NONE;
    assert_eq!(client.list_offset("t", 0, -1).await, (ok, 3, -1));
    assert_eq!(client.list_offset("t", 0, -2).await, (ok, 0, -1));
    assert_eq!(client.list_offset("t", 0, -3).await, (ok, 1, base + 2_000));
    assert_eq!(client.list_offset("t", 0, -4).await, (ok, 0, -1));
    assert_eq!(client.list_offset("t", 0, base + 1).await, (ok, 1, base + 2_000));
    assert_eq!(client.list_offset("t", 0, base + 2_001).await, (ok, -1, -1));
    // −5 is only known from version 9 on; the helper speaks 8.
    assert_eq!(client.list_offset("t", 0, -5).await.0, ErrorCode::UNSUPPORTED_VERSION);
    assert_eq!(client.list_offset("t", 5, -1).await.0, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    assert_eq!(client.list_offset("t", 1, -3).await, (ok, -1, -1), "an empty partition");
}

#[tokio::test]
async fn every_fsync_policy_serves() {
    for fsync in [
        milena_broker::FsyncPolicy::EveryBatch,
        milena_broker::FsyncPolicy::Interval(Duration::from_millis(1)),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let broker = Broker::start(BrokerConfig { fsync, ..BrokerConfig::new(dir.path()) }).await.unwrap();
        let mut client = Client::to(&broker).await;
        client.create_topic("t", 1, &[]).await;
        for (offset, value) in ["a", "b"].into_iter().enumerate() {
            assert_eq!(client.produce("t", 0, batch(&[value])).await.base_offset, offset as i64);
        }
        assert_eq!(client.read_all("t", 0, 0).await, [(0, "a".to_owned()), (1, "b".to_owned())]);
        broker.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn a_large_fetch_from_a_slow_disk_holds_up_nobody_else() {
    let disk = FaultyFileSystem::new(MemoryFileSystem::shared());
    let config = BrokerConfig { file_system: Arc::new(disk.clone()), ..BrokerConfig::new("data") };
    let broker = Broker::start(config).await.unwrap();
    let (mut client, mut bystander) = (Client::to(&broker).await, Client::to(&broker).await);
    client.create_topic("t", 1, &[]).await;
    for _ in 0..3 {
        assert!(client.produce("t", 0, batch(&[&"x".repeat(200_000)])).await.error_code.is_ok());
    }
    // From here on the disk reads nothing before it is let.
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = Mutex::new(Some(held));
    disk.on_operation(move |operation, path| {
        if operation == FsOperation::Read && path.extension().is_some_and(|extension| extension == "log") {
            // On the runtime's one thread nobody would ever answer the bystander, so this would be all there is to see.
            if let Some(held) = held.lock().unwrap().take() {
                held.recv_timeout(SOON).unwrap();
            }
        }
    });
    client.send(12, &fetch_request("t", 0, 0, 0)).await;
    for _ in 0..10 {
        bystander.call(0, &ApiVersionsRequest::default()).await;
    }
    release.send(()).unwrap();
    let (_, fetched) = client.receive::<FetchResponse>(ApiKey::Fetch, 12).await;
    let records = fetched.responses[0].partitions[0].records.clone().unwrap();
    assert_eq!(values(records).len(), 3);
}

#[tokio::test]
async fn who_asks_for_epochs_while_a_log_waits_for_its_disk_holds_up_nobody_else() {
    let disk = FaultyFileSystem::new(MemoryFileSystem::shared());
    let file_system = Arc::new(disk.clone());
    let config = BrokerConfig { file_system, fsync: FsyncPolicy::EveryBatch, ..BrokerConfig::new("data") };
    let broker = Broker::start(config).await.unwrap();
    let (mut client, mut bystander) = (Client::to(&broker).await, Client::to(&broker).await);
    let (mut consumer, mut other) = (Client::to(&broker).await, Client::to(&broker).await);
    client.create_topic("t", 1, &[]).await;
    let (release, held) = std::sync::mpsc::channel::<()>();
    let (held, is_held) = (Mutex::new(Some(held)), Arc::new(AtomicBool::new(false)));
    let is_held_now = is_held.clone();
    disk.on_operation(move |operation, path| {
        if operation == FsOperation::Sync
            && path.extension().is_some_and(|extension| extension == "log")
            && let Some(held) = held.lock().unwrap().take()
        {
            is_held_now.store(true, Ordering::SeqCst);
            held.recv_timeout(SOON).unwrap();
        }
    });
    client.send(9, &produce_request("t", 0, batch(&["a"]), -1)).await;
    while !is_held.load(Ordering::SeqCst) {
        bystander.call(0, &ApiVersionsRequest::default()).await;
    }
    let mut fetch = fetch_request("t", 0, 0, 0);
    fetch.topics[0].partitions[0].last_fetched_epoch = 0;
    consumer.send(12, &fetch).await;
    let asked = OffsetForLeaderPartition { partition: 0, current_leader_epoch: -1, leader_epoch: 0 };
    let topics = vec![OffsetForLeaderTopic { topic: "t".to_owned(), partitions: vec![asked] }];
    other.send(4, &OffsetForLeaderEpochRequest { replica_id: -1, topics }).await;
    for _ in 0..10 {
        bystander.call(0, &ApiVersionsRequest::default()).await;
    }
    release.send(()).unwrap();
    let (_, produced) = client.receive::<ProduceResponse>(ApiKey::Produce, 9).await;
    assert_eq!(produced.responses[0].partition_responses[0].error_code, ErrorCode::NONE);
    let (_, fetched) = consumer.receive::<FetchResponse>(ApiKey::Fetch, 12).await;
    assert_eq!(fetched.responses[0].partitions[0].error_code, ErrorCode::NONE);
    let (_, end) = other.receive::<OffsetForLeaderEpochResponse>(ApiKey::OffsetForLeaderEpoch, 4).await;
    assert_eq!(end.topics[0].partitions[0].end_offset, 1);
}
