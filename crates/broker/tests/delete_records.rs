//! DeleteRecords and DescribeLogDirs over real sockets, on one broker and on three.

#![allow(clippy::unwrap_used)]

mod support;

use std::net::SocketAddr;

use milena_broker::{BrokerConfig, EmbeddedCluster};
use milena_protocol::ErrorCode;
use milena_protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use milena_protocol::messages::delete_records_response::DeleteRecordsPartitionResult;
use milena_protocol::messages::{DeleteRecordsRequest, DescribeLogDirsRequest};
use support::{Client, batch, start};

const EARLIEST: i64 = -2;

async fn delete(
    client: &mut Client,
    topic: &str,
    offset: i64,
    timeout_ms: i32,
) -> DeleteRecordsPartitionResult {
    let partitions = vec![DeleteRecordsPartition { partition_index: 0, offset }];
    let topics = vec![DeleteRecordsTopic { name: topic.to_owned(), partitions }];
    let request = DeleteRecordsRequest { topics, timeout_ms };
    client.call(2, &request).await.topics[0].partitions[0].clone()
}

async fn deleted_up_to(client: &mut Client, topic: &str, offset: i64) -> i64 {
    let result = delete(client, topic, offset, 90_000).await;
    assert_eq!(result.error_code, ErrorCode::NONE);
    result.low_watermark
}

#[tokio::test]
async fn log_32_deleted_records_are_gone_and_stay_gone_after_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    let mut client = Client::to(&broker).await;
    client.create_topic("t", 1, &[]).await;
    client.create_topic("compacted", 1, &[("cleanup.policy", "compact")]).await;
    for value in ["a", "b", "c", "d", "e"] {
        client.produce("t", 0, batch(&[value])).await;
    }
    assert_eq!(deleted_up_to(&mut client, "t", 2).await, 2);
    assert_eq!(deleted_up_to(&mut client, "t", 1).await, 2, "it never goes back");
    let out_of_range = |result: DeleteRecordsPartitionResult| {
        assert_eq!((result.error_code, result.low_watermark), (ErrorCode::OFFSET_OUT_OF_RANGE, -1));
    };
    out_of_range(delete(&mut client, "t", 6, 0).await);
    out_of_range(delete(&mut client, "t", -2, 0).await);
    assert_eq!(delete(&mut client, "u", 0, 0).await.error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    assert_eq!(delete(&mut client, "compacted", 0, 0).await.error_code, ErrorCode::POLICY_VIOLATION);
    let internal = delete(&mut client, "__consumer_offsets", 0, 0).await;
    assert_eq!(internal.error_code, ErrorCode::INVALID_TOPIC_EXCEPTION);
    assert_eq!(client.list_offset("t", 0, EARLIEST).await.1, 2);
    assert_eq!(client.fetch("t", 0, 1).await.error_code, ErrorCode::OFFSET_OUT_OF_RANGE);
    assert_eq!(client.read_all("t", 0, 2).await[0], (2, "c".to_owned()));

    // Killed, not stopped: the answer alone says that it is on disk.
    drop(broker);
    let broker = start(dir.path()).await;
    let mut client = Client::to(&broker).await;
    assert_eq!(client.list_offset("t", 0, EARLIEST).await.1, 2);
    assert_eq!(deleted_up_to(&mut client, "t", -1).await, 5, "-1 is the high watermark");
    assert_eq!(client.produce("t", 0, batch(&["f"])).await.base_offset, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn log_32_delete_records_is_answered_when_every_live_replica_has_done_it() {
    let cluster = EmbeddedCluster::builder().brokers(3).start().await.unwrap();
    cluster.create_topic("t", 1, 3).await.unwrap();
    let leader = cluster.leader("t", 0).unwrap();
    let addresses: Vec<SocketAddr> =
        cluster.bootstrap().split(',').map(|address| address.parse().unwrap()).collect();
    let address = |id: i32| addresses[usize::try_from(id - 1).unwrap()];
    let mut client = Client::connect(address(leader)).await;
    for value in ["a", "b", "c", "d", "e"] {
        assert_eq!(client.produce("t", 0, batch(&[value])).await.error_code, ErrorCode::NONE);
    }
    let follower = cluster.broker_ids().into_iter().find(|id| *id != leader).unwrap();
    let mut other = Client::connect(address(follower)).await;
    assert_eq!(delete(&mut other, "t", 1, 0).await.error_code, ErrorCode::NOT_LEADER_OR_FOLLOWER);
    assert_eq!(deleted_up_to(&mut client, "t", 3).await, 3);

    // Whoever leads next has done it already.
    cluster.kill(leader).unwrap();
    cluster
        .wait("a new leader", |cluster| cluster.leader("t", 0).is_some_and(|id| id != leader))
        .await
        .unwrap();
    let next = cluster.leader("t", 0).unwrap();
    let mut client = Client::connect(address(next)).await;
    loop {
        let (code, offset, _) = client.list_offset("t", 0, EARLIEST).await;
        if code.is_ok() {
            assert_eq!(offset, 3);
            break;
        }
        // It has not heard yet that it leads.
        tokio::task::yield_now().await;
    }
    // The dead one is not waited for, and the one that comes back follows.
    cluster.wait("a smaller ISR", |cluster| cluster.isr("t", 0).len() == 2).await.unwrap();
    assert_eq!(deleted_up_to(&mut client, "t", 4).await, 4);
    cluster.restart(leader).await.unwrap();
    cluster.wait("a whole ISR", |cluster| cluster.isr("t", 0).len() == 3).await.unwrap();
    assert_eq!(deleted_up_to(&mut client, "t", -1).await, 5);
    cluster.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_log_directory_says_how_large_its_logs_are() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = BrokerConfig::new(dir.path());
    config.node_id = 7;
    let broker = milena_broker::Broker::start(config).await.unwrap();
    let mut client = Client::to(&broker).await;
    client.create_topic("a", 2, &[]).await;
    client.create_topic("b", 1, &[]).await;
    let records = batch(&["some value"]);
    client.produce("a", 1, records.clone()).await;
    for version in 1..=5 {
        let response = client.call(version, &DescribeLogDirsRequest { topics: None }).await;
        let [dir] = &response.results[..] else { panic!("one directory: {response:?}") };
        assert_eq!((response.error_code, dir.error_code), (ErrorCode::NONE, ErrorCode::NONE));
        assert!(std::path::Path::new(&dir.log_dir).join("a-1").is_dir(), "{}", dir.log_dir);
        let sizes = dir.topics.iter().flat_map(|topic| {
            topic
                .partitions
                .iter()
                .map(|partition| (&*topic.name, partition.partition_index, partition.partition_size))
        });
        let sizes: Vec<_> = sizes.collect();
        let size = i64::try_from(records.len()).unwrap();
        assert_eq!(sizes, [("a", 0, 0), ("a", 1, size), ("b", 0, 0)]);
    }
    let topics = Some(vec![milena_protocol::messages::DescribableLogDirTopic {
        topic: "a".to_owned(),
        partitions: vec![1, 9],
    }]);
    let response = client.call(5, &DescribeLogDirsRequest { topics }).await;
    let topics = &response.results[0].topics;
    assert_eq!(
        (topics.len(), topics[0].partitions.len(), topics[0].partitions[0].partition_index),
        (1, 1, 1)
    );
}
