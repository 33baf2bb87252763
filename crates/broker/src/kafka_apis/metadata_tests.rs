//! Metadata answers, and the cache that they are made of, without a broker around them.

use std::sync::Arc;

use milena_protocol::messages::metadata_response::{MetadataResponsePartition, MetadataResponseTopic};
use milena_protocol::messages::{MetadataRequest, MetadataRequestTopic, MetadataResponse};
use milena_protocol::{ErrorCode, Uuid};

use super::metadata::View;
use crate::metadata_cache::{
    BrokerEndpoint, BrokerInfo, LEADER_DURING_DELETE, MetadataCache, MetadataUpdate, PartitionUpdate,
    TopicUpdate,
};

const INTERNAL: &str = "INTERNAL";
const EXTERNAL: &str = "EXTERNAL";
const ID: Uuid = Uuid([1; 16]);

/// A broker whose port on the internal listener is 1000 + its id, and on the external one 2000 + its id.
fn broker(id: u16, listeners: &[&str]) -> BrokerInfo {
    let endpoint = |listener: &&str| BrokerEndpoint {
        listener: (*listener).to_owned(),
        host: format!("host-{id}"),
        port: if *listener == INTERNAL { 1_000 + id } else { 2_000 + id },
    };
    BrokerInfo { id: i32::from(id), rack: None, endpoints: listeners.iter().map(endpoint).collect() }
}

fn partition(partition: i32, leader: i32) -> PartitionUpdate {
    PartitionUpdate {
        partition,
        leader,
        leader_epoch: 4,
        replicas: vec![1, 2, 3],
        isr: vec![1, 2],
        offline: Vec::new(),
    }
}

fn topic(name: &str, id: Uuid, partitions: Vec<PartitionUpdate>) -> TopicUpdate {
    TopicUpdate { name: name.into(), id, partitions }
}

fn update(live_brokers: Vec<BrokerInfo>, topics: Vec<TopicUpdate>) -> MetadataUpdate {
    MetadataUpdate { controller_id: 1, controller_epoch: 5, live_brokers, topics }
}

fn three_brokers() -> Vec<BrokerInfo> {
    (1..=3).map(|id| broker(id, &[INTERNAL, EXTERNAL])).collect()
}

/// Three live brokers and a topic of two partitions, led by 1 and 2.
fn cache() -> MetadataCache {
    let cache = MetadataCache::new("cluster");
    cache
        .update(&update(three_brokers(), vec![topic("t", ID, vec![partition(0, 1), partition(1, 2)])]))
        .unwrap();
    cache
}

fn ask(
    cache: &MetadataCache,
    listener: &str,
    version: i16,
    topics: Option<Vec<MetadataRequestTopic>>,
) -> MetadataResponse {
    let request = MetadataRequest { topics, ..Default::default() };
    View { snapshot: &cache.load(), listener, version, request: &request }.answer()
}

fn by_name(name: &str) -> MetadataRequestTopic {
    MetadataRequestTopic { name: Some(name.to_owned()), ..Default::default() }
}

fn by_id(topic_id: Uuid) -> MetadataRequestTopic {
    MetadataRequestTopic { topic_id, name: None }
}

fn topic_of(cache: &MetadataCache, name: &str) -> MetadataResponseTopic {
    ask(cache, INTERNAL, 12, Some(vec![by_name(name)])).topics[0].clone()
}

fn partition_of(cache: &MetadataCache, listener: &str, version: i16) -> MetadataResponsePartition {
    ask(cache, listener, version, Some(vec![by_name("t")])).topics[0].partitions[0].clone()
}

#[test]
fn metadata_cache_01_a_topic_that_was_never_announced_is_unknown() {
    let unknown = topic_of(&cache(), "u");
    assert_eq!(unknown.error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    assert!(unknown.partitions.is_empty());
    let unknown = ask(&cache(), INTERNAL, 12, Some(vec![by_id(Uuid([7; 16]))])).topics[0].clone();
    assert_eq!((unknown.error_code, unknown.name), (ErrorCode::UNKNOWN_TOPIC_ID, None));
}

#[test]
fn metadata_cache_02_updates_are_partial_but_for_the_live_brokers() {
    let cache = cache();
    let moved = PartitionUpdate { leader: 3, leader_epoch: 5, ..partition(1, 3) };
    cache
        .update(&update(
            vec![broker(1, &[INTERNAL]), broker(3, &[INTERNAL])],
            vec![topic("t", ID, vec![moved])],
        ))
        .unwrap();

    let answer = ask(&cache, INTERNAL, 12, Some(vec![by_name("t")]));
    let ids: Vec<i32> = answer.brokers.iter().map(|broker| broker.node_id).collect();
    assert_eq!(ids, [1, 3]);
    let leaders: Vec<_> = answer.topics[0]
        .partitions
        .iter()
        .map(|p| (p.partition_index, p.leader_id, p.leader_epoch))
        .collect();
    assert_eq!(leaders, [(0, 1, 4), (1, 3, 5)]);

    // An update about nothing but brokers leaves every topic as it is.
    cache.update(&update(three_brokers(), Vec::new())).unwrap();
    assert_eq!(topic_of(&cache, "t").partitions.len(), 2);
}

#[test]
fn metadata_cache_03_a_deleted_partition_goes_and_the_last_one_takes_the_topic() {
    let cache = cache();
    let delete =
        |number| update(three_brokers(), vec![topic("t", ID, vec![partition(number, LEADER_DURING_DELETE)])]);
    cache.update(&delete(0)).unwrap();
    let left: Vec<i32> = topic_of(&cache, "t").partitions.iter().map(|p| p.partition_index).collect();
    assert_eq!(left, [1]);
    assert!(cache.load().topic_by_id(ID).is_some());

    cache.update(&delete(1)).unwrap();
    assert_eq!(topic_of(&cache, "t").error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    assert!(cache.load().topic_by_id(ID).is_none());

    // Created again it is another topic, and a late deletion of the old one does not touch it.
    let again = Uuid([2; 16]);
    cache.update(&update(three_brokers(), vec![topic("t", again, vec![partition(0, 1)])])).unwrap();
    cache.update(&delete(0)).unwrap();
    assert_eq!(topic_of(&cache, "t").topic_id, again);
    let old = ask(&cache, INTERNAL, 12, Some(vec![by_id(ID)])).topics[0].clone();
    assert_eq!(old.error_code, ErrorCode::UNKNOWN_TOPIC_ID);
}

#[test]
fn metadata_cache_04_a_leader_that_is_not_alive_is_not_available() {
    let cache = cache();
    cache.update(&update(vec![broker(2, &[INTERNAL]), broker(3, &[INTERNAL])], Vec::new())).unwrap();
    for version in 0..=13 {
        let answer = partition_of(&cache, INTERNAL, version);
        assert_eq!((answer.error_code, answer.leader_id), (ErrorCode::LEADER_NOT_AVAILABLE, -1), "{version}");
    }
    let leaderless = PartitionUpdate { leader: -1, ..partition(0, -1) };
    cache.update(&update(three_brokers(), vec![topic("t", ID, vec![leaderless])])).unwrap();
    assert_eq!(partition_of(&cache, INTERNAL, 12).error_code, ErrorCode::LEADER_NOT_AVAILABLE);
}

#[test]
fn metadata_cache_05_each_listener_has_its_own_endpoints() {
    let cache = cache();
    let ports = |listener| -> Vec<i32> {
        ask(&cache, listener, 12, None).brokers.iter().map(|broker| broker.port).collect()
    };
    assert_eq!(ports(INTERNAL), [1_001, 1_002, 1_003]);
    assert_eq!(ports(EXTERNAL), [2_001, 2_002, 2_003]);

    let brokers = vec![broker(1, &[INTERNAL]), broker(2, &[INTERNAL, EXTERNAL])];
    cache.update(&update(brokers, Vec::new())).unwrap();
    assert_eq!(partition_of(&cache, INTERNAL, 12).error_code, ErrorCode::NONE);
    assert_eq!(partition_of(&cache, EXTERNAL, 6).error_code, ErrorCode::LISTENER_NOT_FOUND);
    assert_eq!(partition_of(&cache, EXTERNAL, 5).error_code, ErrorCode::LEADER_NOT_AVAILABLE);
    let reachable = ask(&cache, EXTERNAL, 12, None).brokers;
    assert_eq!(reachable.iter().map(|broker| broker.node_id).collect::<Vec<_>>(), [2]);
}

#[test]
fn metadata_cache_06_dead_replicas_are_listed_and_named_offline() {
    let cache = cache();
    let failed_disk = PartitionUpdate { offline: vec![1], ..partition(0, 2) };
    let live = vec![broker(1, &[INTERNAL]), broker(2, &[INTERNAL])];
    cache.update(&update(live, vec![topic("t", ID, vec![failed_disk])])).unwrap();
    let answer = partition_of(&cache, INTERNAL, 12);
    assert_eq!((answer.replica_nodes, answer.isr_nodes), (vec![1, 2, 3], vec![1, 2]));
    assert_eq!(answer.offline_replicas, [1, 3]);
    // Clients of version 0 do not understand a replica that is no broker.
    let answer = partition_of(&cache, INTERNAL, 0);
    assert_eq!((answer.error_code, answer.replica_nodes), (ErrorCode::REPLICA_NOT_AVAILABLE, vec![1, 2]));
}

#[test]
fn metadata_cache_07_readers_see_one_whole_snapshot_while_updates_run() {
    let cache = Arc::new(cache());
    let kept = cache.snapshot();
    // Each update gives both partitions the same leader epoch: a reader that ever sees two different ones saw half
    // an update.
    let writer = {
        let cache = cache.clone();
        std::thread::spawn(move || {
            for leader_epoch in 5..2_000 {
                let at = |number| PartitionUpdate { leader_epoch, ..partition(number, 1) };
                cache.update(&update(three_brokers(), vec![topic("t", ID, vec![at(0), at(1)])])).unwrap();
            }
        })
    };
    let mut last = 0;
    while !writer.is_finished() {
        let snapshot = cache.load();
        let partitions = snapshot.topic("t").unwrap().partitions();
        assert_eq!(partitions[0].leader_epoch, partitions[1].leader_epoch);
        assert!(partitions[0].leader_epoch >= last);
        last = partitions[0].leader_epoch;
    }
    writer.join().unwrap();
    assert_eq!(kept.topic("t").unwrap().partitions()[0].leader_epoch, 4, "a snapshot never changes");
    assert_eq!(cache.load().topic("t").unwrap().partition(1).unwrap().leader_epoch, 1_999);
}

#[test]
fn an_older_controller_is_refused_and_changes_nothing() {
    let cache = cache();
    let old = MetadataUpdate { controller_epoch: 4, ..update(Vec::new(), Vec::new()) };
    let error = cache.update(&old).unwrap_err();
    assert_eq!((error.epoch, error.current), (4, 5));
    assert_eq!(ask(&cache, INTERNAL, 12, None).brokers.len(), 3);
}

#[test]
fn no_topics_and_all_topics_are_spelled_differently_in_version_0() {
    let cache = cache();
    assert_eq!(ask(&cache, INTERNAL, 0, Some(Vec::new())).topics.len(), 1);
    for version in 1..=13 {
        assert_eq!(ask(&cache, INTERNAL, version, Some(Vec::new())).topics.len(), 0);
        assert_eq!(ask(&cache, INTERNAL, version, None).topics.len(), 1);
    }
}

#[test]
fn topics_are_asked_by_id_from_version_12_on() {
    let cache = cache();
    let answer = ask(&cache, INTERNAL, 12, Some(vec![by_id(ID), by_id(ID)]));
    assert_eq!(answer.topics.len(), 1, "named twice, answered once");
    assert_eq!((answer.topics[0].name.as_deref(), answer.topics[0].topic_id), (Some("t"), ID));
    let answer = ask(&cache, INTERNAL, 11, Some(vec![by_id(ID)]));
    assert_eq!(answer.topics[0].error_code, ErrorCode::INVALID_REQUEST);
    assert_eq!(topic_of(&cache, "a b").error_code, ErrorCode::INVALID_TOPIC_EXCEPTION);
}

#[test]
fn operations_are_only_named_when_asked_for() {
    let cache = cache();
    let mut request = MetadataRequest { topics: None, ..Default::default() };
    let answer = View { snapshot: &cache.load(), listener: INTERNAL, version: 8, request: &request }.answer();
    assert_eq!(
        (answer.cluster_authorized_operations, answer.topics[0].topic_authorized_operations),
        (i32::MIN, i32::MIN)
    );
    request.include_cluster_authorized_operations = true;
    request.include_topic_authorized_operations = true;
    let answer = View { snapshot: &cache.load(), listener: INTERNAL, version: 8, request: &request }.answer();
    assert_eq!(
        (answer.cluster_authorized_operations, answer.topics[0].topic_authorized_operations),
        (8_096, 3_576)
    );
}
