//! The scripted peer answers as a broker does.

mod support;

use milena_protocol::{
    ErrorCode, Uuid,
    messages::{MetadataRequest, MetadataRequestTopic},
};
use support::FakeCluster;

#[test]
fn the_pretended_cluster_tells_of_the_topics_asked_for() {
    let mut cluster = FakeCluster::new(3);
    let first = cluster.create("orders", &[1, 2]).id;
    cluster.move_leader("orders", 1, 3);
    let named = |name: &str| MetadataRequestTopic { name: Some(name.to_owned()), ..Default::default() };
    let request =
        MetadataRequest { topics: Some(vec![named("orders"), named("none")]), ..Default::default() };
    let answer = cluster.metadata(&request);
    let partition = &answer.topics[0].partitions[1];
    assert_eq!((partition.leader_id, partition.leader_epoch), (3, 1));
    assert_eq!(answer.topics[1].error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    assert_ne!(first, Uuid::ZERO);
    assert_ne!(cluster.create("orders", &[1]).id, first);
    let all = MetadataRequest { topics: None, ..Default::default() };
    assert_eq!(cluster.metadata(&all).topics.len(), 1);
}
