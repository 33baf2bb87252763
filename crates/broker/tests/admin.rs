//! ApiVersions, Metadata and the administrative APIs over real sockets.

#![allow(clippy::unwrap_used)]

mod support;

use std::net::{Ipv4Addr, SocketAddr};

use milena_broker::{Broker, BrokerConfig, ListenerConfig};
use milena_protocol::messages::{
    ApiVersionsRequest, ApiVersionsResponse, CreatableTopic, CreatePartitionsRequest, CreatePartitionsTopic,
    CreateTopicsRequest, DeleteTopicState, DeleteTopicsRequest, DescribeClusterRequest,
    DescribeConfigsRequest, DescribeConfigsResource, FindCoordinatorRequest, InitProducerIdRequest,
    MetadataRequest, MetadataRequestTopic,
};
use milena_protocol::{ApiKey, Decoder, ErrorCode, Message, Uuid};
use support::{Client, batch, start};

#[tokio::test]
async fn api_versions_promises_what_is_served() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    let mut client = Client::to(&broker).await;
    for version in 0..=5 {
        let request = ApiVersionsRequest {
            client_software_name: "milena-test".to_owned(),
            client_software_version: "0.1.0".to_owned(),
            ..Default::default()
        };
        let response = client.call(version, &request).await;
        assert_eq!(response.error_code, ErrorCode::NONE);
        let range = |api: ApiKey| {
            let key = response.api_keys.iter().find(|key| key.api_key == api as i16)?;
            Some((key.min_version, key.max_version))
        };
        // KAFKA-18659: librdkafka needs to see the versions of Produce that nobody serves any more.
        assert_eq!(range(ApiKey::Produce), Some((0, 13)));
        assert_eq!(range(ApiKey::Fetch), Some((4, 18)));
        assert_eq!(range(ApiKey::Metadata), Some((0, 13)));
        assert_eq!(range(ApiKey::ApiVersions), Some((0, 5)));
        assert_eq!(range(ApiKey::InitProducerId), Some((0, 5)), "version 6 is unstable");
        assert_eq!(range(ApiKey::WriteTxnMarkers), None);
    }

    let unnamed = ApiVersionsRequest { client_software_name: "-".to_owned(), ..Default::default() };
    assert_eq!(client.call(3, &unnamed).await.error_code, ErrorCode::INVALID_REQUEST);
    let elsewhere = ApiVersionsRequest {
        client_software_name: "a".to_owned(),
        client_software_version: "1".to_owned(),
        cluster_id: Some("another cluster".to_owned()),
        node_id: 1,
    };
    assert_eq!(client.call(5, &elsewhere).await.error_code, ErrorCode::REBOOTSTRAP_REQUIRED);
}

#[tokio::test]
async fn a_version_of_api_versions_from_the_future_is_answered_in_version_0() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    let mut client = Client::to(&broker).await;
    // Key 18, version 99, correlation id 7, and a header that nobody here can know.
    let body = [0, 18, 0, 99, 0, 0, 0, 7, 0xff, 0xff, 0xff];
    client.send_raw(&[&(body.len() as i32).to_be_bytes()[..], &body].concat()).await;
    let mut decoder = Decoder::new(client.receive_frame().await.unwrap());
    assert_eq!(decoder.i32("correlation id").unwrap(), 7);
    let response = ApiVersionsResponse::decode(&mut decoder, 0).unwrap();
    assert_eq!(response.error_code, ErrorCode::UNSUPPORTED_VERSION);
    let keys: Vec<_> = response.api_keys.iter().map(|k| (k.api_key, k.min_version, k.max_version)).collect();
    assert_eq!(keys, [(18, 0, 5)]);
    // And the connection goes on.
    assert_eq!(client.call(0, &ApiVersionsRequest::default()).await.error_code, ErrorCode::NONE);
}

#[tokio::test]
async fn topics_are_created_by_asking_for_them() {
    let dir = tempfile::tempdir().unwrap();
    let config = BrokerConfig { num_partitions: 3, ..BrokerConfig::new(dir.path()) };
    let broker = Broker::start(config).await.unwrap();
    let mut client = Client::to(&broker).await;
    let answer = client.metadata(&["new", "a b"]).await;
    assert_eq!(answer.topics[0].error_code, ErrorCode::NONE);
    assert_eq!(answer.topics[0].partitions.len(), 3);
    assert!(answer.topics[0].partitions.iter().all(|partition| partition.leader_id == 1));
    assert_eq!(answer.topics[1].error_code, ErrorCode::INVALID_TOPIC_EXCEPTION);
    assert_eq!(client.produce("new", 2, batch(&["a"])).await.error_code, ErrorCode::NONE);
    assert_eq!((answer.cluster_id, answer.controller_id), (Some(broker.cluster_id()), 1));

    // A name that would collide with one that there is; and a client that wants nothing created.
    client.metadata(&["a.b"]).await;
    assert_eq!(client.metadata(&["a_b"]).await.topics[0].error_code, ErrorCode::INVALID_TOPIC_EXCEPTION);
    let topic = MetadataRequestTopic { name: Some("not-this-one".to_owned()), ..Default::default() };
    let request =
        MetadataRequest { topics: Some(vec![topic]), allow_auto_topic_creation: false, ..Default::default() };
    let answer = client.call(12, &request).await;
    assert_eq!(answer.topics[0].error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    let all = client.call(12, &MetadataRequest { topics: None, ..Default::default() }).await;
    let names: Vec<_> = all.topics.iter().filter_map(|topic| topic.name.as_deref()).collect();
    assert_eq!(names, ["a.b", "new"]);

    drop(broker);
    let config = BrokerConfig { auto_create_topics: false, ..BrokerConfig::new(dir.path()) };
    let broker = Broker::start(config).await.unwrap();
    let answer = Client::to(&broker).await.metadata(&["another"]).await;
    assert_eq!(answer.topics[0].error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

#[tokio::test]
async fn many_clients_may_want_the_same_new_topic_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    let address = broker.address();
    let ask = || {
        tokio::spawn(async move { Client::connect(address).await.metadata(&["t"]).await.topics[0].clone() })
    };
    let asking: Vec<_> = (0..10).map(|_| ask()).collect();
    let mut ids = Vec::new();
    for answer in asking {
        let topic = answer.await.unwrap();
        assert_eq!(topic.error_code, ErrorCode::NONE);
        ids.push(topic.topic_id);
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "one topic, and everybody sees it");
}

#[tokio::test]
async fn topics_are_created_grown_and_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    let mut client = Client::to(&broker).await;
    for version in 2..=7 {
        let name = format!("t{version}");
        let topic = |name: &str| CreatableTopic {
            name: name.to_owned(),
            num_partitions: 2,
            replication_factor: 1,
            ..Default::default()
        };
        let request = CreateTopicsRequest {
            topics: vec![topic(&name), topic("twice"), topic("twice")],
            ..Default::default()
        };
        let response = client.call(version, &request).await;
        let codes: Vec<_> = response.topics.iter().map(|t| (t.name.as_str(), t.error_code)).collect();
        assert_eq!(codes, [(name.as_str(), ErrorCode::NONE), ("twice", ErrorCode::INVALID_REQUEST)]);
        if version >= 5 {
            let created = &response.topics[0];
            assert_eq!((created.num_partitions, created.replication_factor), (2, 1));
            let configs = created.configs.as_ref().unwrap();
            assert!(
                configs.iter().any(|c| c.name == "retention.ms" && c.value.as_deref() == Some("604800000"))
            );
        }
        assert_eq!(response.topics[0].topic_id.is_zero(), version < 7);
    }
    let again = client
        .call(
            7,
            &CreateTopicsRequest {
                topics: vec![CreatableTopic {
                    name: "t2".to_owned(),
                    num_partitions: 1,
                    replication_factor: 1,
                    ..Default::default()
                }],
                ..Default::default()
            },
        )
        .await;
    assert_eq!(again.topics[0].error_code, ErrorCode::TOPIC_ALREADY_EXISTS);

    client.produce("t2", 1, batch(&["kept"])).await;
    let grow = |name: &str, count| CreatePartitionsTopic { name: name.to_owned(), count, assignments: None };
    let request =
        CreatePartitionsRequest { topics: vec![grow("t2", 4), grow("nope", 4)], ..Default::default() };
    let response = client.call(3, &request).await;
    let codes: Vec<_> = response.results.iter().map(|r| (r.name.as_str(), r.error_code)).collect();
    assert_eq!(codes, [("t2", ErrorCode::NONE), ("nope", ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)]);
    assert_eq!(client.metadata(&["t2"]).await.topics[0].partitions.len(), 4);
    assert_eq!(client.produce("t2", 3, batch(&["a"])).await.error_code, ErrorCode::NONE);
    assert_eq!(client.read_all("t2", 1, 0).await, [(0, "kept".to_owned())]);

    let id = client.metadata(&["t3"]).await.topics[0].topic_id;
    let by_name = DeleteTopicsRequest { topic_names: vec!["t2".to_owned()], ..Default::default() };
    assert_eq!(client.call(5, &by_name).await.responses[0].error_code, ErrorCode::NONE);
    let state = |name: Option<&str>, topic_id| DeleteTopicState { name: name.map(str::to_owned), topic_id };
    let mixed = DeleteTopicsRequest {
        topics: vec![
            state(None, id),
            state(Some("t4"), id),
            state(None, Uuid::ZERO),
            state(Some("t2"), Uuid::ZERO),
        ],
        ..Default::default()
    };
    let response = client.call(6, &mixed).await;
    let mut codes: Vec<_> = response.responses.iter().map(|r| (r.name.as_deref(), r.error_code)).collect();
    codes.sort();
    let expected = [
        (None, ErrorCode::INVALID_REQUEST),
        (Some("t2"), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
        (Some("t3"), ErrorCode::NONE),
        (Some("t4"), ErrorCode::INVALID_REQUEST),
    ];
    assert_eq!(codes, expected);
    let left = std::fs::read_dir(dir.path().join("logs")).unwrap();
    let left: Vec<_> = left.filter_map(|e| e.unwrap().file_name().into_string().ok()).collect();
    assert!(!left.iter().any(|name| name.starts_with("t2-") || name.starts_with("t3-")), "{left:?}");

    // The same name again is an empty topic.
    client.create_topic("t2", 2, &[]).await;
    assert_eq!(client.list_offset("t2", 1, -1).await.1, 0);
}

#[tokio::test]
async fn a_fetch_that_waits_for_a_topic_hears_of_its_deletion() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    let (mut client, mut waiting) = (Client::to(&broker).await, Client::to(&broker).await);
    client.create_topic("t", 1, &[]).await;
    let request = support::fetch_request("t", 0, 0, 3_600_000);
    waiting.send(12, &request).await;
    let delete = DeleteTopicsRequest { topic_names: vec!["t".to_owned()], ..Default::default() };
    client.call(5, &delete).await;
    let (_, response) = waiting.receive::<milena_protocol::messages::FetchResponse>(ApiKey::Fetch, 12).await;
    assert_eq!(response.responses[0].partitions[0].error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

#[tokio::test]
async fn configs_are_described_with_their_sources() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = BrokerConfig::new(dir.path());
    config.log.set("segment.bytes", "2000000").unwrap();
    let broker = Broker::start(config).await.unwrap();
    let mut client = Client::to(&broker).await;
    client.create_topic("t", 1, &[("retention.ms", "1000")]).await;
    let resource = |resource_type, name: &str, keys: Option<Vec<String>>| DescribeConfigsResource {
        resource_type,
        resource_name: name.to_owned(),
        configuration_keys: keys,
    };
    let request = DescribeConfigsRequest {
        resources: vec![
            resource(2, "t", None),
            resource(2, "t", Some(vec!["segment.bytes".to_owned()])),
            resource(4, "1", None),
            resource(4, "2", None),
            resource(2, "nope", None),
            resource(99, "t", None),
        ],
        include_synonyms: true,
        include_documentation: true,
    };
    for version in 1..=4 {
        let mut request = request.clone();
        request.include_documentation = version >= 3;
        let results = client.call(version, &request).await.results;
        let config = |result: usize, name: &str| {
            let found = results[result].configs.iter().find(|config| config.name == name);
            found.map(|config| (config.value.clone().unwrap(), config.config_source))
        };
        assert_eq!(config(0, "retention.ms"), Some(("1000".to_owned(), 1)));
        assert_eq!(config(0, "segment.bytes"), Some(("2000000".to_owned(), 4)));
        assert_eq!(config(0, "cleanup.policy"), Some(("delete".to_owned(), 5)));
        assert_eq!(results[1].configs.len(), 1);
        assert_eq!(config(2, "log.segment.bytes"), Some(("2000000".to_owned(), 4)));
        assert_eq!(config(2, "node.id"), Some(("1".to_owned(), 4)));
        let codes: Vec<_> = results[3..].iter().map(|result| result.error_code).collect();
        let expected =
            [ErrorCode::INVALID_REQUEST, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, ErrorCode::INVALID_REQUEST];
        assert_eq!(codes, expected);
        if version >= 3 {
            let retention = results[0].configs.iter().find(|config| config.name == "retention.ms").unwrap();
            assert_eq!(retention.config_type, 5);
            assert_eq!(retention.synonyms[1].name, "log.retention.ms");
            assert!(retention.documentation.is_some());
        }
    }
}

#[tokio::test]
async fn producer_ids_are_unique_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    let mut ids = Vec::new();
    for kill in [true, false, true] {
        let broker = start(dir.path()).await;
        let mut client = Client::to(&broker).await;
        for version in 0..=5 {
            let request = InitProducerIdRequest { transactional_id: None, ..Default::default() };
            let response = client.call(version, &request).await;
            assert_eq!((response.error_code, response.producer_epoch), (ErrorCode::NONE, 0));
            ids.push(response.producer_id);
        }
        if kill {
            drop(broker);
        } else {
            broker.shutdown().await.unwrap();
        }
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);

    let broker = start(dir.path()).await;
    let request = InitProducerIdRequest { transactional_id: Some("tx".to_owned()), ..Default::default() };
    let response = Client::to(&broker).await.call(4, &request).await;
    assert_eq!((response.error_code, response.producer_id), (ErrorCode::UNSUPPORTED_VERSION, -1));
}

#[tokio::test]
async fn the_cluster_and_its_coordinator_are_described() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    let mut client = Client::to(&broker).await;
    for version in 0..=2 {
        let response = client.call(version, &DescribeClusterRequest::default()).await;
        assert_eq!((response.error_code, response.controller_id), (ErrorCode::NONE, 1));
        assert_eq!(response.cluster_id, broker.cluster_id());
        assert_eq!(response.brokers[0].port, i32::from(broker.address().port()));
    }
    let controllers = DescribeClusterRequest { endpoint_type: 2, ..Default::default() };
    assert_eq!(client.call(1, &controllers).await.error_code, ErrorCode::MISMATCHED_ENDPOINT_TYPE);

    for version in 0..=6 {
        let mut request = FindCoordinatorRequest::default();
        if version >= 4 {
            request.coordinator_keys = vec!["a".to_owned(), "b".to_owned()];
        } else {
            request.key = "a".to_owned();
        }
        let response = client.call(version, &request).await;
        if version >= 4 {
            let found: Vec<_> = response.coordinators.iter().map(|c| (c.key.as_str(), c.node_id)).collect();
            assert_eq!(found, [("a", 1), ("b", 1)]);
        } else {
            assert_eq!((response.error_code, response.node_id), (ErrorCode::NONE, 1));
        }
    }
    let transactions = FindCoordinatorRequest { key: "tx".to_owned(), key_type: 1, ..Default::default() };
    assert_eq!(client.call(3, &transactions).await.error_code, ErrorCode::UNSUPPORTED_VERSION);
}

#[tokio::test]
async fn each_listener_answers_with_its_own_address() {
    let dir = tempfile::tempdir().unwrap();
    let listener = |name: &str, host: Option<&str>, port| ListenerConfig {
        name: name.to_owned(),
        bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        advertised_host: host.map(str::to_owned),
        advertised_port: port,
    };
    let listeners =
        vec![listener("INTERNAL", None, None), listener("EXTERNAL", Some("kafka.example"), Some(9_999))];
    let broker = Broker::start(BrokerConfig { listeners, ..BrokerConfig::new(dir.path()) }).await.unwrap();
    let internal = Client::connect(broker.listener_address("INTERNAL").unwrap()).await.metadata(&["t"]).await;
    let external = Client::connect(broker.listener_address("EXTERNAL").unwrap()).await.metadata(&["t"]).await;
    let own_port = i32::from(broker.address().port());
    assert_eq!((internal.brokers[0].host.as_str(), internal.brokers[0].port), ("127.0.0.1", own_port));
    assert_eq!((external.brokers[0].host.as_str(), external.brokers[0].port), ("kafka.example", 9_999));
    assert_eq!(external.topics[0].partitions[0].error_code, ErrorCode::NONE);
}

#[tokio::test]
async fn a_request_creates_no_more_partitions_than_kafka_allows_of_all_its_topics_together() {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    let mut client = Client::to(&broker).await;
    let topic = |name: String, num_partitions| CreatableTopic {
        name,
        num_partitions,
        replication_factor: 1,
        ..Default::default()
    };
    let many = (0..50).map(|number| topic(format!("many{number}"), 10_000));
    let one_more = [topic("half".to_owned(), 9_999), topic("one".to_owned(), 1), topic("more".to_owned(), 1)];
    for topics in [many.collect(), one_more.to_vec()] {
        let count = topics.len();
        let response = client.call(7, &CreateTopicsRequest { topics, ..Default::default() }).await;
        assert_eq!(response.topics.len(), count);
        for topic in response.topics {
            assert_eq!(topic.error_code, ErrorCode::POLICY_VIOLATION, "{topic:?}");
        }
    }
    client.create_topic("a", 2, &[]).await;
    client.create_topic("b", 2, &[]).await;
    let grow = |name: &str, count| CreatePartitionsTopic { name: name.to_owned(), count, assignments: None };
    let topics = vec![grow("a", 5_002), grow("b", 5_003)];
    let response = client.call(3, &CreatePartitionsRequest { topics, ..Default::default() }).await;
    let codes: Vec<_> = response.results.iter().map(|topic| topic.error_code).collect();
    assert_eq!(codes, [ErrorCode::POLICY_VIOLATION; 2]);
    // What is no growth counts for nothing.
    let topics = vec![grow("a", 3), grow("b", 1), grow("nope", 10_000)];
    let response = client.call(3, &CreatePartitionsRequest { topics, ..Default::default() }).await;
    let codes: Vec<_> = response.results.iter().map(|topic| topic.error_code).collect();
    let expected = [ErrorCode::NONE, ErrorCode::INVALID_PARTITIONS, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION];
    assert_eq!(codes, expected);
    let all = client.call(12, &MetadataRequest { topics: None, ..Default::default() }).await;
    let partitions = all.topics.iter().map(|topic| (topic.name.as_deref(), topic.partitions.len()));
    assert_eq!(partitions.collect::<Vec<_>>(), [(Some("a"), 3), (Some("b"), 2)]);
}
