//! Starting, stopping, killing and joining brokers, and what is still there afterwards.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use milena_broker::{
    Broker, BrokerConfig, BrokerError, DataDirState, FsyncPolicy, ListenerConfig, StartedOrJoined, running,
};
use milena_protocol::ErrorCode;
use milena_protocol::messages::{DescribeLogDirsRequest, MetadataRequest};
use milena_storage::fs::{DiskFaults, MemoryFileSystem};
use support::{Client, SOON, batch, config_on, start};

#[tokio::test]
async fn log_31_what_was_acknowledged_is_there_after_a_kill_and_after_a_shutdown() {
    let dir = tempfile::tempdir().unwrap();
    let mut expected = Vec::new();
    let (mut cluster_id, mut epochs) = (None, Vec::new());
    for (round, fsync) in [
        FsyncPolicy::Os,
        FsyncPolicy::EveryBatch,
        FsyncPolicy::Interval(Duration::from_secs(1)),
        FsyncPolicy::Os,
    ]
    .into_iter()
    .enumerate()
    {
        let broker = Broker::start(BrokerConfig { fsync, ..BrokerConfig::new(dir.path()) }).await.unwrap();
        let mut client = Client::to(&broker).await;
        let topic = client.metadata(&["t"]).await.topics[0].clone();
        epochs.push(topic.partitions[0].leader_epoch);
        assert_eq!(*cluster_id.get_or_insert(broker.cluster_id()), broker.cluster_id());
        for number in 0..20 {
            let value = format!("round {round}, record {number}");
            let answer = client.produce("t", 0, batch(&[&value])).await;
            assert_eq!((answer.error_code, answer.base_offset), (ErrorCode::NONE, expected.len() as i64));
            expected.push((answer.base_offset, value));
        }
        assert_eq!(client.read_all("t", 0, 0).await, expected);
        if round % 2 == 0 {
            drop(broker);
        } else {
            broker.shutdown().await.unwrap();
        }
    }
    assert!(epochs.is_sorted_by(|one, next| one < next), "each start leads in a new epoch: {epochs:?}");
    let broker = start(dir.path()).await;
    let mut client = Client::to(&broker).await;
    assert_eq!(client.read_all("t", 0, 0).await, expected);
    // Indexes were rebuilt too: a look-up in the middle finds its record.
    assert_eq!(client.read_all("t", 0, 55).await, expected[55..]);
}

#[tokio::test]
async fn log_32_old_segments_go_and_the_log_starts_later() {
    let dir = tempfile::tempdir().unwrap();
    let config =
        BrokerConfig { retention_check_interval: Duration::from_millis(20), ..BrokerConfig::new(dir.path()) };
    let broker = Broker::start(config).await.unwrap();
    let mut client = Client::to(&broker).await;
    client.create_topic("t", 1, &[("segment.bytes", "1048576"), ("retention.bytes", "1048576")]).await;
    let large = "x".repeat(400_000);
    for _ in 0..10 {
        assert_eq!(client.produce("t", 0, batch(&[&large])).await.error_code, ErrorCode::NONE);
    }
    // Segments of two records, of which the two newest are kept. Each answer comes from the broker, so this ends as soon as
    // retention has seen all of them.
    let start = 6;
    while client.list_offset("t", 0, -2).await.1 < start {}
    assert_eq!(client.list_offset("t", 0, -1).await.1, 10);
    assert_eq!(client.fetch("t", 0, start - 1).await.error_code, ErrorCode::OFFSET_OUT_OF_RANGE);
    assert_eq!(client.fetch("t", 0, start).await.error_code, ErrorCode::NONE);
}

#[tokio::test]
async fn a_broker_comes_back_on_its_port_with_its_topics() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    let port = broker.address().port();
    let mut client = Client::to(&broker).await;
    client.create_topic("kept", 3, &[("retention.ms", "12345")]).await;
    client.create_topic("gone", 1, &[]).await;
    let id = client.metadata(&["kept"]).await.topics[0].topic_id;
    let delete = milena_protocol::messages::DeleteTopicsRequest {
        topic_names: vec!["gone".to_owned()],
        ..Default::default()
    };
    client.call(5, &delete).await;
    drop(broker);

    let broker = Broker::start(config_on(dir.path(), port)).await.unwrap();
    assert_eq!(broker.address().port(), port);
    let answer =
        Client::to(&broker).await.call(12, &MetadataRequest { topics: None, ..Default::default() }).await;
    assert_eq!(answer.topics.len(), 1);
    assert_eq!((answer.topics[0].topic_id, answer.topics[0].partitions.len()), (id, 3));
}

#[tokio::test]
async fn a_log_whose_topic_is_deleted_is_removed_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    Client::to(&broker).await.create_topic("t", 2, &[]).await;
    broker.shutdown().await.unwrap();
    // As if the crash came between the decision and the deed.
    let path = dir.path().join("controller.json");
    let state: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let mut state = state;
    state["state"]["topics"] = serde_json::json!({});
    std::fs::write(&path, state.to_string()).unwrap();

    let broker = start(dir.path()).await;
    assert!(!dir.path().join("logs/t-0").exists());
    Client::to(&broker).await.create_topic("t", 1, &[]).await;
}

#[tokio::test]
async fn logs_of_another_cluster_are_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    Client::to(&broker).await.create_topic("t", 1, &[]).await;
    broker.shutdown().await.unwrap();
    let path = dir.path().join("controller.json");
    let mut state: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    state["state"]["cluster_id"] = "another".into();
    std::fs::write(&path, state.to_string()).unwrap();
    let error = Broker::start(BrokerConfig::new(dir.path())).await.unwrap_err();
    assert!(error.to_string().contains("belongs to"), "{error}");

    std::fs::remove_file(&path).unwrap();
    let error = Broker::start(BrokerConfig::new(dir.path())).await.unwrap_err();
    assert!(error.to_string().contains("missing, though there are logs"), "{error}");
    assert!(!path.exists(), "no other cluster is begun on top");
    assert!(dir.path().join("logs/t-0").exists());
}

#[tokio::test(start_paused = true)]
async fn a_second_broker_on_a_directory_is_told_who_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    let error = Broker::start(BrokerConfig::new(dir.path())).await.unwrap_err();
    assert!(matches!(error, BrokerError::DataDirInUse { .. }));
    let text = error.to_string();
    assert!(text.contains(&broker.bootstrap()) && text.contains(&std::process::id().to_string()), "{text}");
}

#[tokio::test]
async fn a_taken_port_is_named() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = Broker::start(config_on(dir.path(), port)).await.unwrap_err().to_string();
    assert!(error.contains("PLAINTEXT") && error.contains(&port.to_string()), "{error}");
    // The directory was given back.
    assert_eq!(DataDirState::of(dir.path()).unwrap(), DataDirState::Free);
}

#[tokio::test]
async fn invalid_configurations_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let base = BrokerConfig::new(dir.path());
    for config in [
        BrokerConfig { node_id: -1, ..base.clone() },
        BrokerConfig { num_partitions: 0, ..base.clone() },
        BrokerConfig { listeners: Vec::new(), ..base.clone() },
        BrokerConfig { listeners: vec![ListenerConfig::loopback(0), ListenerConfig::loopback(0)], ..base },
    ] {
        assert!(matches!(Broker::start(config).await, Err(BrokerError::InvalidConfig(_))));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_commands_at_once_one_starts_a_broker_and_the_others_join_it() {
    let dir = tempfile::tempdir().unwrap();
    let commands: Vec<_> = (0..8)
        .map(|_| {
            let config = BrokerConfig::new(dir.path());
            tokio::spawn(async move { Broker::start_or_join(config).await.unwrap() })
        })
        .collect();
    let mut brokers = Vec::new();
    let mut joined = 0;
    let mut bootstraps = Vec::new();
    for command in commands {
        let command = command.await.unwrap();
        bootstraps.push(command.bootstrap());
        match command {
            StartedOrJoined::Started(broker) => brokers.push(broker),
            StartedOrJoined::Joined(broker) => {
                assert_eq!(broker.pid, std::process::id());
                joined += 1;
            }
        }
    }
    assert_eq!((brokers.len(), joined), (1, 7));
    bootstraps.dedup();
    assert_eq!(bootstraps.len(), 1);

    let broker = brokers.remove(0);
    assert_eq!(running(dir.path()), Some(broker.announcement()));
    broker.shutdown().await.unwrap();
    assert_eq!(running(dir.path()), None);
}

#[tokio::test]
async fn two_brokers_in_one_process_share_nothing() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (one, other) = (start(one.path()).await, start(other.path()).await);
    assert_ne!(one.cluster_id(), other.cluster_id());
    Client::to(&one).await.create_topic("t", 1, &[]).await;
    let all = MetadataRequest { topics: None, ..Default::default() };
    assert!(Client::to(&other).await.call(12, &all).await.topics.is_empty());
}

#[tokio::test]
async fn a_broker_in_memory_leaves_nothing_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("never-created");
    let disk = Arc::new(MemoryFileSystem::new());
    let config = BrokerConfig { file_system: disk, ..BrokerConfig::new(&path) };
    let broker = Broker::start(config.clone()).await.unwrap();
    Client::to(&broker).await.metadata(&["t"]).await;
    assert_eq!(Client::to(&broker).await.produce("t", 0, batch(&["a"])).await.error_code, ErrorCode::NONE);
    broker.shutdown().await.unwrap();
    // The same memory again is the same broker.
    let broker = Broker::start(config).await.unwrap();
    assert_eq!(Client::to(&broker).await.read_all("t", 0, 0).await, [(0, "a".to_owned())]);
    assert!(!path.exists());
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_long_polls() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    let mut client = Client::to(&broker).await;
    client.create_topic("t", 1, &[]).await;
    client.send(12, &support::fetch_request("t", 0, 0, 3_600_000)).await;
    // Answered after the fetch, so the broker has it once it answers this, which it does when it stops.
    broker.shutdown().await.unwrap();
    // Either the broker had read the fetch and answered it with nothing, or it had not and closed.
    if let Some(frame) = client.receive_frame().await {
        assert!(frame.len() > 4);
        client.expect_closed().await;
    }
}

#[tokio::test]
async fn a_broker_that_is_alone_waits_for_its_disk() {
    let disk = DiskFaults::default();
    let file_system = disk.wrap(MemoryFileSystem::shared());
    let config = BrokerConfig { file_system, fsync: FsyncPolicy::EveryBatch, ..BrokerConfig::new("data") };
    let broker = Broker::start(config).await.unwrap();
    let mut client = Client::to(&broker).await;
    client.create_topic("orders", 1, &[]).await;
    assert_eq!(client.produce("orders", 0, batch(&["one"])).await.error_code, ErrorCode::NONE);
    type Break = fn(&DiskFaults, bool);
    for (fault, value) in [(DiskFaults::set_full as Break, "two"), (DiskFaults::set_failing_syncs, "three")] {
        fault(&disk, true);
        let refused = client.produce("orders", 0, batch(&["refused"])).await;
        assert_eq!(refused.error_code, ErrorCode::KAFKA_STORAGE_ERROR);
        let offline = async {
            let ask = DescribeLogDirsRequest::default();
            while client.call(4, &ask).await.results[0].error_code != ErrorCode::KAFKA_STORAGE_ERROR {}
        };
        tokio::time::timeout(SOON, offline).await.unwrap();
        assert_eq!(client.fetch("orders", 0, 0).await.error_code, ErrorCode::KAFKA_STORAGE_ERROR);
        fault(&disk, false);
        let served = async {
            while client.produce("orders", 0, batch(&[value])).await.error_code != ErrorCode::NONE {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(SOON, served).await.unwrap();
    }
    let values = client.read_all("orders", 0, 0).await.into_iter().map(|(_, value)| value);
    // What was refused may have been written; only nobody knew whether it would stay.
    let values: Vec<String> = values.filter(|value| value != "refused").collect();
    assert_eq!(values, ["one", "two", "three"]);
    broker.shutdown().await.unwrap();
}
