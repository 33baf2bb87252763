//! Brokers that share a registry: the controller's requests over real sockets.

use std::collections::BTreeMap;
use std::sync::Arc;

use milena_protocol::messages::alter_partition_reassignments_request::{
    ReassignablePartition, ReassignableTopic,
};
use milena_protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use milena_protocol::messages::leader_and_isr_request::{LeaderAndIsrPartitionState, LeaderAndIsrTopicState};
use milena_protocol::messages::stop_replica_request::{StopReplicaPartitionState, StopReplicaTopicState};
use milena_protocol::messages::update_metadata_request::UpdateMetadataTopicState;
use milena_protocol::messages::{
    AlterPartitionReassignmentsRequest, AlterPartitionRequest, ControlledShutdownRequest,
    ElectLeadersRequest, FetchRequest, IncrementalAlterConfigsRequest, LeaderAndIsrRequest,
    ListPartitionReassignmentsRequest, MetadataRequest, MetadataRequestTopic, StopReplicaRequest,
    UpdateMetadataRequest,
};
use milena_protocol::{ErrorCode, Uuid};
use milena_storage::FsyncPolicy;
use milena_storage::fs::{DiskFaults, MemoryFileSystem};

use crate::controller::{ControllerState, PartitionState, TopicSelector, TopicState};
use crate::metadata_cache::NO_LEADER;
use crate::network::InterBrokerConnection;
use crate::node::Node;
use crate::test_cluster::{INTERNAL, PATIENCE, TestCluster, connect};
use crate::{Broker, BrokerConfig};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_17_create_topics_answers_when_every_cache_knows_and_every_leader_serves() {
    let cluster = TestCluster::start([1, 2, 3]).await;
    for (name, replicas) in [("a", [1, 2, 3]), ("b", [2, 3, 1]), ("c", [3, 1, 2])] {
        cluster.create(name, &replicas).await;
        // No waiting from here on.
        let expected = Some((replicas[0], 0));
        assert!(cluster.leaders(name).values().all(|seen| *seen == expected), "{:?}", cluster.leaders(name));
        assert!(cluster.serves(replicas[0], name));
    }
    let controller = &cluster.controller().unwrap().node().controller;
    let selector = TopicSelector::Name("a".to_owned());
    controller.delete_topics(vec![selector], PATIENCE).await.remove(0).unwrap();
    for broker in cluster.brokers.values() {
        assert!(broker.node().metadata_cache.load().topic("a").is_none());
        assert!(broker.node().replica_manager.partition("a", 0).is_err());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_18_a_killed_broker_loses_its_leaderships_and_comes_back_as_a_follower() {
    let mut cluster = TestCluster::start([1, 2, 3]).await;
    cluster.create("t", &[2, 3, 1]).await;
    drop(cluster.brokers.remove(&2));
    cluster.wait("a new leader", |cluster| cluster.all_see("t", 3) && cluster.serves(3, "t")).await;
    cluster.start_broker(2).await;
    cluster.wait("its return", |cluster| cluster.all_know_all() && cluster.all_see("t", 3)).await;
    assert!(!cluster.serves(2, "t"));
    // It catches up, and its leader has it counted in.
    cluster
        .wait("a whole ISR", |cluster| {
            let state = cluster.registry.cluster_state();
            state.partition("t", 0).is_some_and(|partition| partition.isr.len() == 3)
        })
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_16_a_dead_controller_is_replaced_in_a_higher_epoch() {
    let mut cluster = TestCluster::start([1, 2, 3]).await;
    cluster.create("t", &[2, 3, 1]).await;
    let first = cluster.controller().unwrap().node_id();
    let epoch = cluster.registry.cluster_state().controller_epoch;
    drop(cluster.brokers.remove(&first));
    cluster.wait("another controller", |cluster| cluster.controller().is_some()).await;
    assert!(cluster.registry.cluster_state().controller_epoch > epoch);
    cluster
        .wait("its word everywhere", |cluster| {
            let heard = |broker: &Broker| broker.node().metadata_cache.load().controller_epoch() > epoch;
            cluster.brokers.values().all(heard)
        })
        .await;
    cluster.create("u", &[2, 3]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_that_cannot_write_resigns_and_there_is_one_when_it_can() {
    let disk = DiskFaults::default();
    let on = disk.wrap(MemoryFileSystem::shared());
    let mut cluster = TestCluster::start_with(on, [1, 2, 3], FsyncPolicy::default()).await;
    cluster.create("t", &[1, 2, 3]).await;
    let controller = cluster.controller().unwrap().node_id();
    let leader = cluster.state("t").leader;
    disk.set_full(true);
    let dies = if leader == controller { 2 } else { leader };
    drop(cluster.brokers.remove(&dies));
    cluster.wait("no controller", |cluster| cluster.controller().is_none()).await;
    assert_eq!(cluster.state("t").isr.len(), 3, "nobody has decided what is not durable");
    disk.set_full(false);
    cluster.wait("a controller", |cluster| cluster.controller().is_some()).await;
    cluster.wait("its decision", |cluster| !cluster.state("t").isr.contains(&dies)).await;
    let leader = cluster.state("t").leader;
    cluster
        .wait("the new leader", |cluster| cluster.all_see("t", leader) && cluster.serves(leader, "t"))
        .await;
}

/// Two brokers die one after the other, so that far more than a session passes; broker 1 is busy from the start.
async fn a_busy_broker_stays(keep_busy: fn(&Node, &mut dyn FnMut())) {
    let mut cluster = TestCluster::start([1, 2, 3, 4]).await;
    let node = cluster.brokers[&1].node().clone();
    let epoch = node.obedience.broker_epoch();
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let (end, may_end) = std::sync::mpsc::channel();
    let busy = tokio::task::spawn_blocking(move || {
        let mut begun = Some(begun);
        keep_busy(&node, &mut || {
            begun.take().unwrap().send(()).unwrap();
            let _ended = may_end.recv();
        });
    });
    has_begun.await.unwrap();
    for id in [3, 4] {
        drop(cluster.brokers.remove(&id));
        let is_gone = |cluster: &TestCluster| !cluster.registry.watch().borrow().brokers.contains_key(&id);
        cluster.wait("the end of the dead broker's session", is_gone).await;
    }
    assert_eq!(cluster.registry.watch().borrow().brokers[&1].epoch, epoch);
    end.send(()).unwrap();
    busy.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_obeys_for_longer_than_a_session_keeps_it() {
    a_busy_broker_stays(|node, work| {
        let _busy = node.obedience.busy();
        work();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_that_decides_for_longer_than_a_session_keeps_it() {
    a_busy_broker_stays(|node, work| {
        let _busy = node.controller.busy();
        work();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controller_15_a_bounce_is_noticed_before_the_session_ends() {
    let mut cluster = TestCluster::start([1, 2, 3]).await;
    cluster.create("t", &[3, 2]).await;
    let epoch = cluster.brokers[&3].node().obedience.broker_epoch();
    drop(cluster.brokers.remove(&3));
    cluster.start_broker(3).await;
    assert!(cluster.brokers[&3].node().obedience.broker_epoch() > epoch);
    cluster.wait("a leader that has not restarted", |cluster| cluster.all_see("t", 2)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn elections_22_a_broker_that_stops_hands_over_first() {
    let mut cluster = TestCluster::start([1, 2, 3]).await;
    cluster.create("t", &[3, 1, 2]).await;
    cluster.create("alone", &[3]).await;
    cluster.brokers.remove(&3).unwrap().shutdown().await.unwrap();
    // It had moved before the broker was gone, so nobody waits for a session to end.
    let state = cluster.registry.cluster_state();
    assert_eq!(state.partition("t", 0).unwrap().leader, 1);
    // The controller answers when it has decided; the new leader hears of it as soon as the wire allows.
    cluster.wait("its work done", |cluster| cluster.serves(1, "t")).await;
    cluster.wait("no leader", |cluster| cluster.all_see("alone", NO_LEADER)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fencing_08_and_09_hold_on_the_wire() {
    let cluster = TestCluster::start([1, 2]).await;
    let id = cluster.create("t", &[1, 2]).await;
    let broker_epoch = cluster.brokers[&1].node().obedience.broker_epoch();
    let controller_epoch = cluster.registry.cluster_state().controller_epoch;
    let before = cluster.brokers[&1].node().metadata_cache.snapshot();
    let mut connection = cluster.connect(1, INTERNAL).await;
    let cases = [
        (controller_epoch - 1, broker_epoch, -1, ErrorCode::STALE_CONTROLLER_EPOCH),
        (controller_epoch, broker_epoch - 1, -1, ErrorCode::STALE_BROKER_EPOCH),
        // What the controller sent before everything else, sent again.
        (controller_epoch, broker_epoch, 0, ErrorCode::INVALID_UPDATE_VERSION),
    ];
    for (controller_epoch, broker_epoch, control_sequence, code) in cases {
        let topic_states = vec![UpdateMetadataTopicState {
            topic_name: "u".to_owned(),
            topic_id: Uuid([8; 16]),
            partition_states: vec![Default::default()],
        }];
        let update = UpdateMetadataRequest {
            controller_epoch,
            broker_epoch,
            control_sequence,
            topic_states,
            ..Default::default()
        };
        assert_eq!(connection.call(8, &update).await.unwrap().error_code, code);
        let topic_states = vec![LeaderAndIsrTopicState {
            topic_name: "t".to_owned(),
            topic_id: id,
            partition_states: vec![Default::default()],
        }];
        let roles = LeaderAndIsrRequest {
            controller_epoch,
            broker_epoch,
            control_sequence,
            topic_states,
            ..Default::default()
        };
        assert_eq!(connection.call(7, &roles).await.unwrap().error_code, code);
        let stop = StopReplicaRequest { control_sequence, ..stop(controller_epoch, broker_epoch, -2) };
        assert_eq!(connection.call(4, &stop).await.unwrap().error_code, code);
    }
    assert!(
        Arc::ptr_eq(&before, &cluster.brokers[&1].node().metadata_cache.snapshot()),
        "nothing has changed"
    );
    assert!(cluster.serves(1, "t"));
}

fn stop(controller_epoch: i32, broker_epoch: i64, leader_epoch: i32) -> StopReplicaRequest {
    let partition = StopReplicaPartitionState { partition_index: 0, leader_epoch, delete_partition: true };
    let topic = StopReplicaTopicState { topic_name: "t".to_owned(), partition_states: vec![partition] };
    StopReplicaRequest { controller_epoch, broker_epoch, topic_states: vec![topic], ..Default::default() }
}

/// A test that is the controller of one broker.
struct ByHand {
    cluster: TestCluster,
    connection: InterBrokerConnection,
    controller_epoch: i32,
    broker_epoch: i64,
}

impl ByHand {
    const TOPIC: Uuid = Uuid([b't'; 16]);

    async fn start() -> Self {
        let cluster = TestCluster::start([1, 2]).await;
        // What is durable has the topic; the controller of the cluster knows nothing of it.
        let mut state = ControllerState::clone(&cluster.registry.cluster_state());
        let (id, partitions) = (Self::TOPIC, vec![PartitionState::new(vec![1], |_| true)]);
        state.topics.insert("t".to_owned(), TopicState { id, configs: BTreeMap::new(), partitions });
        let controller_epoch = state.controller_epoch;
        cluster.registry.write(Arc::new(state)).unwrap();
        let broker_epoch = cluster.brokers[&1].node().obedience.broker_epoch();
        let connection = cluster.connect(1, INTERNAL).await;
        Self { cluster, connection, controller_epoch, broker_epoch }
    }

    /// Has broker 1 lead partition 0 in this epoch, alone.
    async fn lead(&mut self, leader_epoch: i32, replicas: &[i32]) -> ErrorCode {
        self.lead_in(Self::TOPIC, leader_epoch, replicas).await
    }

    async fn lead_in(&mut self, topic_id: Uuid, leader_epoch: i32, replicas: &[i32]) -> ErrorCode {
        let partition = LeaderAndIsrPartitionState {
            leader: 1,
            leader_epoch,
            isr: replicas.to_vec(),
            replicas: replicas.to_vec(),
            ..Default::default()
        };
        let topic_states = vec![LeaderAndIsrTopicState {
            topic_name: "t".to_owned(),
            topic_id,
            partition_states: vec![partition],
        }];
        let (controller_epoch, broker_epoch) = (self.controller_epoch, self.broker_epoch);
        let request =
            LeaderAndIsrRequest { controller_epoch, broker_epoch, topic_states, ..Default::default() };
        let response = self.connection.call(7, &request).await.unwrap();
        assert_eq!(response.error_code, ErrorCode::NONE);
        response.topics[0].partition_errors[0].error_code
    }

    async fn stop(&mut self, leader_epoch: i32) -> ErrorCode {
        let request = stop(self.controller_epoch, self.broker_epoch, leader_epoch);
        self.connection.call(4, &request).await.unwrap().partition_errors[0].error_code
    }

    fn leader_epoch(&self) -> Option<i32> {
        let partition = self.cluster.brokers[&1].node().replica_manager.partition("t", 0).ok()?;
        Some(partition.leader_epoch())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fencing_10_a_role_is_news_only_in_a_higher_leader_epoch() {
    let mut broker = ByHand::start().await;
    assert_eq!(broker.lead(4, &[1]).await, ErrorCode::NONE);
    for epoch in [4, 3] {
        assert_eq!(broker.lead(epoch, &[1]).await, ErrorCode::STALE_CONTROLLER_EPOCH);
        assert_eq!(broker.leader_epoch(), Some(4));
    }
    assert_eq!(broker.lead(5, &[1]).await, ErrorCode::NONE);
    assert_eq!(broker.leader_epoch(), Some(5));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fencing_11_who_is_no_replica_takes_no_role() {
    let mut broker = ByHand::start().await;
    assert_eq!(broker.lead(4, &[2]).await, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    assert_eq!(broker.leader_epoch(), None);
}

/// It was decided before the topic was deleted, and comes when this broker has given up what it had of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fencing_11_a_role_in_a_topic_that_is_no_more_creates_no_log() {
    let mut broker = ByHand::start().await;
    let deleted = Uuid([b'd'; 16]);
    assert_eq!(broker.lead_in(deleted, 4, &[1]).await, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    assert_eq!(broker.leader_epoch(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fencing_12_stop_replica_obeys_leader_epochs() {
    let mut broker = ByHand::start().await;
    for (epoch, code) in [
        (3, ErrorCode::FENCED_LEADER_EPOCH),
        (4, ErrorCode::NONE),
        (5, ErrorCode::NONE),
        (-1, ErrorCode::NONE),
        (-2, ErrorCode::NONE),
    ] {
        broker.lead(4, &[1]).await;
        assert_eq!(broker.leader_epoch(), Some(4));
        assert_eq!(broker.stop(epoch).await, code, "{epoch}");
        assert_eq!(broker.leader_epoch().is_some(), !code.is_ok(), "{epoch}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_between_brokers_are_refused_on_a_listener_for_clients() {
    let cluster = TestCluster::start([1]).await;
    let mut connection = cluster.connect(1, "PLAINTEXT").await;
    let code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    let update = UpdateMetadataRequest { controller_epoch: 99, broker_epoch: -1, ..Default::default() };
    assert_eq!(connection.call(8, &update).await.unwrap().error_code, code);
    let roles = LeaderAndIsrRequest { controller_epoch: 99, broker_epoch: -1, ..Default::default() };
    assert_eq!(connection.call(7, &roles).await.unwrap().error_code, code);
    assert_eq!(connection.call(4, &stop(99, -1, -2)).await.unwrap().error_code, code);
    let shutdown = ControlledShutdownRequest { broker_id: 1, broker_epoch: -1 };
    assert_eq!(connection.call(3, &shutdown).await.unwrap().error_code, code);
    let alter = AlterPartitionRequest { broker_id: 1, broker_epoch: -1, ..Default::default() };
    assert_eq!(connection.call(3, &alter).await.unwrap().error_code, code);
    let as_a_follower = FetchRequest { replica_id: 1, ..Default::default() };
    assert_eq!(connection.call(12, &as_a_follower).await.unwrap().error_code, code);
    assert!(cluster.brokers[&1].node().metadata_cache.load().controller_epoch() < 99);

    // A broker that is alone obeys nobody at all.
    let config = BrokerConfig { file_system: MemoryFileSystem::shared(), ..BrokerConfig::new("alone") };
    let alone = Broker::start(config).await.unwrap();
    let mut connection = connect(alone.address()).await.unwrap();
    assert_eq!(connection.call(8, &update).await.unwrap().error_code, code);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_move_and_preferred_leaders_lead_again_when_an_administrator_says_so() {
    let cluster = TestCluster::start([1, 2, 3]).await;
    cluster.create("t", &[1, 2]).await;
    let controller = cluster.controller().unwrap().node_id();
    let mut connection = cluster.connect(controller, "PLAINTEXT").await;
    let partition = ReassignablePartition { partition_index: 0, replicas: Some(vec![3, 1]) };
    let topic = ReassignableTopic { name: "t".to_owned(), partitions: vec![partition] };
    let request = AlterPartitionReassignmentsRequest { topics: vec![topic], ..Default::default() };
    let response = connection.call(1, &request).await.unwrap();
    assert_eq!(response.responses[0].partitions[0].error_code, ErrorCode::NONE);
    let state = |cluster: &TestCluster| cluster.state("t");
    cluster
        .wait("the end of the move", |cluster| {
            let partition = state(cluster);
            partition.replicas == [3, 1] && partition.isr.len() == 2 && !partition.is_reassigning()
        })
        .await;
    cluster
        .wait("the end of the old replica", |cluster| {
            cluster.brokers[&2].node().replica_manager.partition("t", 0).is_err()
        })
        .await;
    let list = ListPartitionReassignmentsRequest { topics: None, ..Default::default() };
    assert!(connection.call(0, &list).await.unwrap().topics.is_empty());

    assert_eq!(state(&cluster).leader, 1, "it has been in sync all the time");
    let elect = ElectLeadersRequest { topic_partitions: None, ..Default::default() };
    let elected = connection.call(2, &elect).await.unwrap();
    assert_eq!(elected.replica_election_results[0].partition_result[0].error_code, ErrorCode::NONE);
    cluster.wait("the preferred leader", |cluster| cluster.all_see("t", 3) && cluster.serves(3, "t")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_are_changed_through_any_broker_and_reach_every_broker() {
    let cluster = TestCluster::start([1, 2, 3]).await;
    cluster.create("t", &[1, 2]).await;
    let controller = cluster.controller().unwrap().node_id();
    let other = [1, 2, 3].into_iter().find(|id| *id != controller).unwrap();
    let mut connection = cluster.connect(other, "PLAINTEXT").await;
    let set = |name: &str, value: &str| AlterableConfig {
        name: name.to_owned(),
        value: Some(value.to_owned()),
        ..Default::default()
    };
    let resource = |resource_type, configs| AlterConfigsResource {
        resource_type,
        resource_name: "t".to_owned(),
        configs,
    };
    let resources = vec![
        resource(4, vec![set("num.io.threads", "8")]),
        resource(2, vec![set("min.insync.replicas", "2")]),
        resource(2, vec![set("no.such", "1")]),
    ];
    let request = IncrementalAlterConfigsRequest { resources, ..Default::default() };
    let response = connection.call(1, &request).await.unwrap();
    let codes: Vec<_> = response.responses.iter().map(|response| response.error_code).collect();
    assert_eq!(codes, [ErrorCode::INVALID_CONFIG, ErrorCode::NONE, ErrorCode::INVALID_CONFIG]);
    let delete = AlterableConfig {
        name: "leader.replication.throttled.rate".to_owned(),
        config_operation: 1,
        ..Default::default()
    };
    let resources = vec![resource(4, vec![delete])];
    let response =
        connection.call(1, &IncrementalAlterConfigsRequest { resources, ..Default::default() }).await;
    assert_eq!(response.unwrap().responses[0].error_code, ErrorCode::NONE, "there is none");
    for broker in cluster.brokers.values() {
        assert_eq!(broker.node().topic_configs.get("t")["min.insync.replicas"], "2");
    }
    for id in [1, 2] {
        let partition = cluster.brokers[&id].node().replica_manager.partition("t", 0).unwrap();
        assert_eq!(partition.log().log().lock().config().min_insync_replicas, 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_is_created_by_naming_it_to_any_broker() {
    let cluster = TestCluster::start([1, 2, 3]).await;
    let controller = cluster.controller().unwrap().node_id();
    for other in [1, 2, 3].into_iter().filter(|id| *id != controller) {
        let mut connection = cluster.connect(other, "PLAINTEXT").await;
        let topic = MetadataRequestTopic { name: Some(format!("t{other}")), ..Default::default() };
        let request = MetadataRequest {
            topics: Some(vec![topic]),
            allow_auto_topic_creation: true,
            ..Default::default()
        };
        let response = connection.call(12, &request).await.unwrap();
        assert_eq!(response.topics[0].error_code, ErrorCode::NONE);
        assert_eq!(response.topics[0].partitions[0].replica_nodes.len(), 3);
        let port = cluster.brokers[&1].listener_address("PLAINTEXT").unwrap().port();
        assert!(response.brokers.iter().any(|broker| broker.port == i32::from(port)), "the asker's listener");
    }
}
