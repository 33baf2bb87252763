//! The controller of several brokers, line by line of the contract.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use milena_protocol::{ErrorCode, Uuid};

use super::{
    ConfigChange, ConfigOp, ControlBody, ControlRequest, ControllerConfig, ControllerEngine, ControllerState,
    CreateTopic, Effect, ElectionKind, IsrChange, LeaderAndIsr, LeaderRebalance, PartitionState, RequestId,
    StopReplica,
};
use crate::metadata_cache::{BrokerEndpoint, BrokerInfo, MetadataUpdate, NO_LEADER};
use crate::registry::RegisteredBroker;

const TOPIC: &str = "t";
const ID: Uuid = Uuid([b't'; 16]);

/// A controller, and the brokers that it believes in.
struct Cluster {
    engine: ControllerEngine,
    brokers: BTreeMap<i32, RegisteredBroker>,
    next_epoch: i64,
}

impl Cluster {
    /// A cluster of these brokers, all of which have done what they were told.
    fn of(ids: impl IntoIterator<Item = i32>) -> Self {
        let engine = elected(ControllerState::new("c".to_owned()));
        let mut cluster = Self { engine, brokers: BTreeMap::new(), next_epoch: 1 };
        cluster.join(ids);
        cluster
    }

    /// One topic with one partition on `replicas`.
    fn with_partition(ids: impl IntoIterator<Item = i32>, replicas: &[i32]) -> Self {
        let mut cluster = Self::of(ids);
        cluster.create(TOPIC, vec![replicas.to_vec()]);
        cluster.requests();
        cluster
    }

    fn create(&mut self, name: &str, assignments: Vec<Vec<i32>>) {
        let request = CreateTopic {
            name: name.to_owned(),
            id: Uuid([name.as_bytes()[0]; 16]),
            num_partitions: -1,
            replication_factor: -1,
            assignments: (0..).zip(assignments).collect(),
            configs: Vec::new(),
        };
        self.engine.handle_create_topic(request, false).unwrap();
    }

    fn register(&mut self, id: i32) {
        let port = 9_000 + u16::try_from(id).unwrap();
        let endpoint = BrokerEndpoint { listener: "INTERNAL".to_owned(), host: "host".to_owned(), port };
        let info = BrokerInfo { id, rack: None, endpoints: vec![endpoint] };
        let epoch = self.next_epoch;
        self.brokers.insert(id, RegisteredBroker { epoch, info, log_dir_failed: false });
        self.next_epoch += 1;
    }

    fn join(&mut self, ids: impl IntoIterator<Item = i32>) -> Vec<ControlRequest> {
        for id in ids {
            self.register(id);
        }
        self.engine.handle_brokers(&self.brokers);
        self.requests()
    }

    fn fail(&mut self, ids: &[i32]) -> Vec<ControlRequest> {
        self.brokers.retain(|id, _| !ids.contains(id));
        self.engine.handle_brokers(&self.brokers);
        self.requests()
    }

    /// What is sent, all of it answered at once.
    fn requests(&mut self) -> Vec<ControlRequest> {
        let mut all = Vec::new();
        loop {
            let requests = self.unanswered();
            if requests.is_empty() {
                return all;
            }
            for request in requests {
                self.engine.handle_answer(request.id, &[]);
                all.push(request);
            }
        }
    }

    fn unanswered(&mut self) -> Vec<ControlRequest> {
        let effects: Vec<Effect> = std::iter::from_fn(|| self.engine.poll_effect()).collect();
        if effects.iter().any(|effect| matches!(effect, Effect::Send(_))) {
            assert_eq!(effects.first(), Some(&Effect::Persist), "nothing is told that is not durable");
        }
        let sent = |effect| match effect {
            Effect::Send(request) => Some(request),
            Effect::Persist | Effect::TopicConfigs { .. } => None,
        };
        effects.into_iter().filter_map(sent).collect()
    }

    fn partition(&self) -> &PartitionState {
        self.engine.state().partition(TOPIC, 0).unwrap()
    }

    /// Leader, leader epoch and ISR.
    fn led(&self) -> (i32, i32, Vec<i32>) {
        let partition = self.partition();
        (partition.leader, partition.leader_epoch, partition.isr.clone())
    }

    fn epoch(&self, broker: i32) -> i64 {
        self.brokers[&broker].epoch
    }

    /// The leader wants these to be in sync.
    fn alter_partition(&mut self, isr: &[i32]) -> Result<PartitionState, ErrorCode> {
        let partition = self.partition().clone();
        let isr = isr.iter().map(|id| (*id, self.brokers.get(id).map_or(-1, |broker| broker.epoch)));
        let change = IsrChange {
            topic_id: ID,
            partition: 0,
            leader_epoch: partition.leader_epoch,
            partition_epoch: partition.partition_epoch,
            isr: isr.collect(),
        };
        self.alter(partition.leader, change)
    }

    fn alter(&mut self, leader: i32, change: IsrChange) -> Result<PartitionState, ErrorCode> {
        let epoch = self.epoch(leader);
        self.engine.handle_alter_partition(leader, epoch, &[change]).unwrap().remove(0)
    }

    fn allow_unclean_election(&mut self) {
        let change = ConfigChange {
            name: "unclean.leader.election.enable".to_owned(),
            op: ConfigOp::Set,
            value: Some("true".to_owned()),
        };
        self.engine.handle_incremental_alter_configs(TOPIC, vec![change], false).unwrap();
    }
}

fn elected(mut state: ControllerState) -> ControllerEngine {
    state.controller_epoch += 1;
    let config = ControllerConfig {
        node_id: 1,
        default_partitions: 1,
        default_replication_factor: 3,
        unclean_leader_election: false,
        leader_rebalance: None,
        inter_broker_listener: "INTERNAL".to_owned(),
    };
    ControllerEngine::elected(config, Arc::new(state))
}

fn roles(requests: &[ControlRequest], to: i32) -> Vec<&LeaderAndIsr> {
    requests
        .iter()
        .filter(|request| request.broker == to)
        .filter_map(|request| match &request.body {
            ControlBody::LeaderAndIsr(body) => Some(body),
            _ => None,
        })
        .collect()
}

fn updates(requests: &[ControlRequest], to: i32) -> Vec<&MetadataUpdate> {
    requests
        .iter()
        .filter(|request| request.broker == to)
        .filter_map(|request| match &request.body {
            ControlBody::UpdateMetadata(body) => Some(body),
            _ => None,
        })
        .collect()
}

fn stops(requests: &[ControlRequest], to: i32) -> Vec<&StopReplica> {
    requests
        .iter()
        .filter(|request| request.broker == to)
        .filter_map(|request| match &request.body {
            ControlBody::StopReplica(body) => Some(body),
            _ => None,
        })
        .collect()
}

fn addressees(requests: &[ControlRequest]) -> BTreeSet<i32> {
    requests.iter().map(|request| request.broker).collect()
}

#[test]
fn controller_13_the_others_hear_of_the_broker_and_the_joiner_of_everything() {
    let mut cluster = Cluster::of([1, 2, 3]);
    cluster.create(TOPIC, vec![vec![1, 2], vec![2, 3]]);
    cluster.requests();
    cluster.fail(&[3]);
    let requests = cluster.join([3]);
    for existing in [1, 2] {
        let [update] = updates(&requests, existing)[..] else { panic!("{requests:?}") };
        assert!(update.topics.is_empty());
        assert_eq!(update.live_brokers.iter().map(|broker| broker.id).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(roles(&requests, existing).is_empty());
    }
    let [update] = updates(&requests, 3)[..] else { panic!("{requests:?}") };
    assert_eq!(update.topics[0].partitions.len(), 2);
    let [role] = roles(&requests, 3)[..] else { panic!("{requests:?}") };
    let numbers: Vec<i32> = role.topics[0].partitions.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [1], "it holds a replica of that one alone");
    let leaders: Vec<_> = role.live_leaders.iter().map(|leader| (leader.id, leader.port)).collect();
    assert_eq!(leaders, [(2, 9_002)], "and is told where to fetch it");
}

#[test]
fn controller_14_the_dead_are_told_nothing() {
    let mut cluster = Cluster::of([1, 2, 3]);
    cluster.fail(&[3]);
    let epoch = cluster.epoch(2);
    assert_eq!(cluster.engine.handle_controlled_shutdown(2, epoch).unwrap(), []);
    cluster.create(TOPIC, vec![vec![1, 2]]);
    let requests = cluster.requests();
    assert_eq!(addressees(&requests), BTreeSet::from([1, 2]), "who shuts down is alive still");
    assert!(requests.iter().all(|request| request.stamp.broker_epoch == cluster.epoch(request.broker)));
    let requests = cluster.fail(&[2]);
    assert_eq!(addressees(&requests), BTreeSet::from([1]));
}

#[test]
fn controller_15_a_bounce_is_a_death_and_a_join() {
    let mut cluster = Cluster::with_partition([1, 2, 3], &[2, 3, 1]);
    let old_epoch = cluster.epoch(2);
    let requests = cluster.join([2]);
    assert!(cluster.epoch(2) > old_epoch);
    assert_eq!(cluster.led(), (3, 1, vec![3, 1]), "it may have lost what its disk had not yet");
    assert_eq!(roles(&requests, 3)[0].topics[0].partitions[0].1.leader, 3);
    let to_it: Vec<_> = requests.iter().filter(|request| request.broker == 2).collect();
    assert!(to_it.iter().all(|request| request.stamp.broker_epoch == cluster.epoch(2)));
    assert_eq!(roles(&requests, 2)[0].topics[0].partitions[0].1.leader, 3);
    assert_eq!(updates(&requests, 2).last().unwrap().topics[0].partitions.len(), 1);
    // What it was told before its death is not waited for.
    assert!(cluster.engine.is_settled(TOPIC));
}

#[test]
fn controller_16_a_new_controller_tells_everybody_everything_in_its_own_epoch() {
    let mut cluster = Cluster::with_partition([1, 2, 3], &[2, 3]);
    let epoch = cluster.engine.controller_epoch();
    cluster.engine = elected(ControllerState::clone(cluster.engine.state()));
    cluster.engine.handle_brokers(&cluster.brokers);
    let requests = cluster.requests();
    assert!(requests.iter().all(|request| request.stamp.controller_epoch == epoch + 1));
    for broker in [1, 2, 3] {
        assert_eq!(updates(&requests, broker)[0].topics[0].partitions.len(), 1);
        assert_eq!(roles(&requests, broker).len(), usize::from(broker != 1));
    }
    assert_eq!(cluster.led(), (2, 0, vec![2, 3]), "nobody has restarted: nothing has to move");
}

#[test]
fn controller_16_after_a_total_outage_the_first_in_sync_leads_in_a_new_epoch() {
    let mut cluster = Cluster::with_partition([1, 2, 3], &[2, 3]);
    cluster.engine = elected(ControllerState::clone(cluster.engine.state()));
    cluster.brokers.clear();
    cluster.join([1]);
    assert_eq!(cluster.led(), (NO_LEADER, 1, vec![2]), "the one to wait for");
    cluster.join([3]);
    assert_eq!(cluster.led().0, NO_LEADER);
    cluster.join([2]);
    assert_eq!(cluster.led(), (2, 2, vec![2]));

    // All at once: all have been in sync, so the first replica leads, in a new epoch because it has restarted.
    let mut cluster = Cluster::with_partition([1, 2, 3], &[2, 3]);
    cluster.engine = elected(ControllerState::clone(cluster.engine.state()));
    cluster.brokers.clear();
    cluster.join([1, 2, 3]);
    assert_eq!(cluster.led(), (2, 1, vec![2, 3]));
}

#[test]
fn a_leader_that_restarted_between_two_controllers_hands_over_to_who_did_not() {
    let mut cluster = Cluster::with_partition([1, 2, 3], &[2, 3]);
    cluster.engine = elected(ControllerState::clone(cluster.engine.state()));
    cluster.join([2]);
    assert_eq!(cluster.led(), (3, 1, vec![3]));
}

#[test]
fn controller_17_a_new_topic_is_ready_when_all_have_answered() {
    let mut cluster = Cluster::of([1, 2, 3]);
    cluster.create(TOPIC, vec![vec![2, 3], vec![3, 2]]);
    for (number, leader) in [(0, 2), (1, 3)] {
        let partition = cluster.engine.state().partition(TOPIC, number).unwrap();
        assert_eq!((partition.leader, partition.leader_epoch), (leader, 0));
        assert_eq!(partition.isr, partition.replicas);
    }
    let requests = cluster.unanswered();
    let told: Vec<_> = requests.iter().map(|request| (request.broker, is_update(request))).collect();
    assert_eq!(told, [(2, false), (3, false), (1, true), (2, true), (3, true)]);
    let (last, first) = requests.split_last().unwrap();
    for request in first {
        cluster.engine.handle_answer(request.id, &[]);
        assert!(!cluster.engine.is_settled(TOPIC));
    }
    cluster.engine.handle_answer(last.id, &[]);
    assert!(cluster.engine.is_settled(TOPIC));
    cluster.engine.handle_answer(RequestId(1_000), &[]);

    // Who dies is not waited for; whoever leads in its place is.
    cluster.create("u", vec![vec![2, 3]]);
    for request in cluster.unanswered().iter().filter(|request| request.broker != 2) {
        cluster.engine.handle_answer(request.id, &[]);
    }
    assert!(!cluster.engine.is_settled("u"));
    cluster.brokers.remove(&2);
    cluster.engine.handle_brokers(&cluster.brokers);
    assert!(!cluster.engine.is_settled("u"));
    cluster.requests();
    assert!(cluster.engine.is_settled("u"));
}

fn is_update(request: &ControlRequest) -> bool {
    matches!(request.body, ControlBody::UpdateMetadata(_))
}

#[test]
fn controller_17_replicas_that_are_dead_are_not_in_sync() {
    let partition = PartitionState::new(vec![1, 2, 3], |id| id != 1);
    assert_eq!((partition.leader, partition.leader_epoch, partition.isr), (2, 0, vec![2, 3]));
    let partition = PartitionState::new(vec![1, 2], |_| false);
    assert_eq!((partition.leader, partition.isr), (NO_LEADER, vec![1, 2]));
}

#[test]
fn controller_18_a_death_moves_the_leaderships() {
    let mut cluster = Cluster::of([1, 2, 3]);
    cluster.create(TOPIC, vec![vec![2, 3], vec![1, 2], vec![1, 3]]);
    cluster.requests();
    let requests = cluster.fail(&[2]);
    assert_eq!(cluster.led(), (3, 1, vec![3]));
    let second = cluster.engine.state().partition(TOPIC, 1).unwrap();
    assert_eq!((second.leader, second.leader_epoch, &second.isr[..]), (1, 1, &[1][..]));
    let third = cluster.engine.state().partition(TOPIC, 2).unwrap();
    assert_eq!((third.leader, third.leader_epoch), (1, 0), "it is no concern of the dead one's");
    for broker in [1, 3] {
        let [update] = updates(&requests, broker)[..] else { panic!("{requests:?}") };
        let numbers: Vec<i32> = update.topics[0].partitions.iter().map(|p| p.partition).collect();
        assert_eq!(numbers, [0, 1]);
        assert_eq!(update.live_brokers.len(), 2);
    }
}

#[test]
fn elections_19_the_whole_isr_dead_leaves_its_last_member_to_wait_for() {
    let mut cluster = Cluster::with_partition([1, 2, 3, 4], &[1, 2, 3]);
    cluster.alter_partition(&[1, 2]).unwrap();
    cluster.fail(&[1]);
    assert_eq!(cluster.led(), (2, 1, vec![2]));
    cluster.fail(&[2]);
    assert_eq!(cluster.led(), (NO_LEADER, 2, vec![2]));
    cluster.join([1]);
    assert_eq!(cluster.led(), (NO_LEADER, 2, vec![2]), "alive, but not in sync");
    cluster.join([2]);
    assert_eq!(cluster.led(), (2, 3, vec![2]));

    let mut cluster = Cluster::with_partition([1, 2, 3, 4], &[1, 2, 3]);
    cluster.fail(&[1, 2, 3]);
    assert_eq!(cluster.led(), (NO_LEADER, 1, vec![1]), "all at once: the leader");
}

#[test]
fn elections_20_unclean_election_is_for_topics_that_allow_it() {
    let mut cluster = Cluster::with_partition([1, 2, 3, 4], &[1, 2, 3]);
    cluster.alter_partition(&[1]).unwrap();
    cluster.fail(&[1]);
    assert_eq!(cluster.led().0, NO_LEADER, "off by default");
    cluster.allow_unclean_election();
    assert_eq!(cluster.led(), (2, 2, vec![2]), "an election that was waited for is held at once");

    cluster.fail(&[2]);
    assert_eq!(cluster.led(), (3, 3, vec![3]));
    cluster.fail(&[3]);
    assert_eq!(cluster.led(), (NO_LEADER, 4, vec![3]));
    cluster.join([2]);
    assert_eq!(cluster.led(), (2, 5, vec![2]));
}

#[test]
fn elections_20_an_administrator_may_force_one() {
    let mut cluster = Cluster::with_partition([1, 2, 3], &[1, 2]);
    cluster.alter_partition(&[1]).unwrap();
    let force = |cluster: &mut Cluster| {
        let named = vec![(TOPIC.to_owned(), 0), ("u".to_owned(), 0)];
        let answers = cluster.engine.handle_elect_leaders(ElectionKind::Unclean, Some(named));
        let codes = answers.into_iter().map(|(_, answer)| answer.map_err(|error| error.code));
        codes.collect::<Vec<_>>()
    };
    let unknown = Err(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    assert_eq!(force(&mut cluster), [Err(ErrorCode::ELECTION_NOT_NEEDED), unknown]);
    cluster.fail(&[1]);
    assert_eq!(force(&mut cluster), [Ok(()), unknown]);
    assert_eq!(cluster.led(), (2, 2, vec![2]));
    cluster.fail(&[2]);
    assert_eq!(force(&mut cluster), [Err(ErrorCode::ELIGIBLE_LEADERS_NOT_AVAILABLE), unknown]);
}

#[test]
fn elections_21_the_preferred_replica_leads_only_if_it_is_in_sync() {
    let mut cluster = Cluster::with_partition([1, 2, 3], &[1, 2]);
    let elect = |cluster: &mut Cluster| {
        let answers = cluster.engine.handle_elect_leaders(ElectionKind::Preferred, None);
        let codes: Vec<_> = answers.into_iter().map(|(_, answer)| answer.map_err(|e| e.code)).collect();
        (codes, cluster.requests())
    };
    let (none, requests) = elect(&mut cluster);
    assert!(none.is_empty() && requests.is_empty(), "no partition needs one");
    cluster.fail(&[1]);
    assert_eq!(elect(&mut cluster).0, [Err(ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE)], "dead");
    cluster.join([1]);
    assert_eq!(elect(&mut cluster).0, [Err(ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE)], "not in sync");
    cluster.alter_partition(&[2, 1]).unwrap();
    let (elected, requests) = elect(&mut cluster);
    assert_eq!(elected, [Ok(())]);
    assert_eq!(cluster.led(), (1, 2, vec![2, 1]));
    assert_eq!(roles(&requests, 2).len(), 1, "the old leader hears of it");
    let named = Some(vec![(TOPIC.to_owned(), 0)]);
    let again = cluster.engine.handle_elect_leaders(ElectionKind::Preferred, named).remove(0).1;
    assert_eq!(again.unwrap_err().code, ErrorCode::ELECTION_NOT_NEEDED);
}

/// A cluster whose partition 0 prefers broker 1 and whose other partitions prefer broker 2, all led by 2.
fn unbalanced(percentage: u32, others: usize) -> Cluster {
    let mut cluster = Cluster::of([1, 2]);
    let rebalance =
        LeaderRebalance { check_interval: Duration::from_secs(300), imbalance_percentage: percentage };
    cluster.engine.config.leader_rebalance = Some(rebalance);
    let mut assignments = vec![vec![1, 2]];
    assignments.resize(1 + others, vec![2, 1]);
    cluster.create(TOPIC, assignments);
    cluster.requests();
    cluster.fail(&[1]);
    cluster.join([1]);
    assert_eq!(cluster.led(), (2, 1, vec![2]));
    cluster
}

#[test]
fn elections_21_leaderships_go_back_to_the_preferred_replicas_in_time() {
    let at = Duration::from_secs;
    let mut cluster = unbalanced(10, 3);
    assert_eq!(cluster.engine.next_timeout(), None);
    cluster.engine.handle_time(at(100));
    assert_eq!(cluster.engine.next_timeout(), Some(at(105)), "a new controller looks soon");
    cluster.engine.handle_time(at(105));
    assert!(cluster.requests().is_empty(), "the preferred replica is not in sync");
    assert_eq!(cluster.engine.next_timeout(), Some(at(405)));
    cluster.alter_partition(&[2, 1]).unwrap();
    cluster.requests();
    cluster.engine.handle_time(at(404));
    assert!(cluster.requests().is_empty());
    cluster.engine.handle_time(at(405));
    let requests = cluster.requests();
    assert_eq!(cluster.led(), (1, 2, vec![2, 1]));
    assert_eq!((roles(&requests, 1).len(), roles(&requests, 2).len()), (1, 1));
    cluster.engine.handle_time(at(705));
    assert!(cluster.requests().is_empty(), "there is nothing to move");
}

#[test]
fn elections_21_a_small_imbalance_is_left_alone_and_so_is_a_reassignment() {
    let look = |cluster: &mut Cluster| {
        cluster.engine.handle_time(Duration::ZERO);
        cluster.engine.handle_time(Duration::from_secs(300));
        cluster.requests()
    };
    // The one partition that prefers broker 1 is all that it has.
    let mut cluster = unbalanced(100, 0);
    cluster.alter_partition(&[2, 1]).unwrap();
    cluster.requests();
    assert!(look(&mut cluster).is_empty(), "100 % are not more than 100 %");

    let mut cluster = unbalanced(10, 0);
    cluster.alter_partition(&[2, 1]).unwrap();
    cluster.join([3]);
    cluster.engine.handle_alter_reassignment(TOPIC, 0, Some(vec![1, 3]), false).unwrap();
    cluster.requests();
    assert!(look(&mut cluster).is_empty(), "it is being moved");
}

#[test]
fn elections_22_controlled_shutdown_moves_leaderships_and_the_last_replica_stays() {
    let mut cluster = Cluster::of([1, 2, 3]);
    cluster.create(TOPIC, vec![vec![2, 3], vec![3, 2]]);
    cluster.create("alone", vec![vec![2]]);
    cluster.requests();
    let epoch = cluster.epoch(2);
    assert_eq!(cluster.engine.handle_controlled_shutdown(2, epoch), Ok(Vec::new()));
    let requests = cluster.requests();
    assert_eq!(cluster.led(), (3, 1, vec![3]));
    let follower = cluster.engine.state().partition(TOPIC, 1).unwrap();
    assert_eq!((follower.leader, follower.leader_epoch, &follower.isr[..]), (3, 1, &[3][..]));
    let alone = cluster.engine.state().partition("alone", 0).unwrap();
    assert_eq!((alone.leader, alone.leader_epoch), (2, 0), "nobody else has it");
    let stopped: Vec<_> = stops(&requests, 2)[0].topics[0].partitions.clone();
    assert!(stopped.iter().all(|partition| !partition.delete), "the logs stay");
    assert_eq!(stopped.iter().map(|partition| partition.partition).collect::<Vec<_>>(), [0, 1]);
    // The leader may not take it back, because it is about to be gone.
    assert_eq!(cluster.alter_partition(&[3, 2]), Err(ErrorCode::INELIGIBLE_REPLICA));

    let epoch = cluster.epoch(3);
    let remaining = cluster.engine.handle_controlled_shutdown(3, epoch).unwrap();
    assert_eq!(remaining, [(TOPIC.to_owned(), 0), (TOPIC.to_owned(), 1)]);
    assert_eq!(cluster.led(), (3, 1, vec![3]), "it leads to its last moment");
    let stale = cluster.engine.handle_controlled_shutdown(3, epoch - 1).unwrap_err();
    assert_eq!(stale.code, ErrorCode::STALE_BROKER_EPOCH);
    cluster.fail(&[2, 3]);
    cluster.join([3]);
    assert_eq!(cluster.led().0, 3, "and is one like any other when it is back");
}

#[test]
fn elections_22_who_is_about_to_leave_gets_nothing_new() {
    let mut cluster = Cluster::of([1, 2, 3]);
    let epoch = cluster.epoch(2);
    cluster.engine.handle_controlled_shutdown(2, epoch).unwrap();
    let by_count = |name: &str, replication_factor| CreateTopic {
        name: name.to_owned(),
        id: Uuid([name.as_bytes()[0]; 16]),
        num_partitions: 4,
        replication_factor,
        assignments: Vec::new(),
        configs: Vec::new(),
    };
    cluster.engine.handle_create_topic(by_count("few", 2), false).unwrap();
    let partitions = &cluster.engine.state().topics["few"].partitions;
    assert!(partitions.iter().all(|partition| !partition.replicas.contains(&2)), "{partitions:?}");
    // Where it has to be among the replicas it leads nothing, and is not in sync.
    cluster.engine.handle_create_topic(by_count("all", 3), false).unwrap();
    let partitions = &cluster.engine.state().topics["all"].partitions;
    assert!(partitions.iter().all(|partition| partition.leader != 2 && !partition.isr.contains(&2)));
}

#[test]
fn fencing_09_a_leader_of_an_earlier_life_alters_nothing() {
    let mut cluster = Cluster::with_partition([1, 2, 3], &[1, 2, 3]);
    let before = cluster.partition().clone();
    for (broker, epoch) in [(1, cluster.epoch(1) - 1), (1, cluster.epoch(1) + 1), (9, 1)] {
        let refused = cluster.engine.handle_alter_partition(broker, epoch, &[]);
        assert_eq!(refused.unwrap_err().code, ErrorCode::STALE_BROKER_EPOCH);
    }
    let change = |isr: Vec<(i32, i64)>| IsrChange {
        topic_id: ID,
        partition: 0,
        leader_epoch: 0,
        partition_epoch: 0,
        isr,
    };
    let (one, two, three) = (cluster.epoch(1), cluster.epoch(2), cluster.epoch(3));
    let cases = [
        (1, IsrChange { topic_id: Uuid([9; 16]), ..change(vec![(1, one)]) }, ErrorCode::UNKNOWN_TOPIC_ID),
        (1, IsrChange { partition: 1, ..change(vec![(1, one)]) }, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
        (1, IsrChange { partition: -1, ..change(vec![(1, one)]) }, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
        (1, IsrChange { leader_epoch: -1, ..change(vec![(1, one)]) }, ErrorCode::FENCED_LEADER_EPOCH),
        (1, IsrChange { leader_epoch: 1, ..change(vec![(1, one)]) }, ErrorCode::NOT_CONTROLLER),
        (1, IsrChange { partition_epoch: 1, ..change(vec![(1, one)]) }, ErrorCode::NOT_CONTROLLER),
        (1, IsrChange { partition_epoch: -1, ..change(vec![(1, one)]) }, ErrorCode::INVALID_UPDATE_VERSION),
        (2, change(vec![(2, two)]), ErrorCode::INVALID_REQUEST),
        (1, change(vec![]), ErrorCode::INVALID_REQUEST),
        (1, change(vec![(2, two)]), ErrorCode::INVALID_REQUEST),
        (1, change(vec![(1, one), (1, one)]), ErrorCode::INVALID_REQUEST),
        (1, change(vec![(1, one), (4, 4)]), ErrorCode::INVALID_REQUEST),
        (1, change(vec![(1, one), (2, two - 1)]), ErrorCode::INELIGIBLE_REPLICA),
    ];
    for (broker, change, code) in cases {
        let what = format!("{change:?}");
        assert_eq!(cluster.alter(broker, change), Err(code), "{what}");
    }
    assert_eq!(*cluster.partition(), before);
    assert!(cluster.requests().is_empty());

    let shrunk = change(vec![(1, one), (3, three)]);
    let after = cluster.alter(1, shrunk.clone()).unwrap();
    assert_eq!((after.leader_epoch, after.partition_epoch, &after.isr[..]), (0, 1, &[1, 3][..]));
    let requests = cluster.requests();
    assert_eq!(addressees(&requests), BTreeSet::from([1, 2, 3]), "every cache hears of it");
    assert!(requests.iter().all(is_update), "and no role has changed");
    assert_eq!(cluster.alter(1, shrunk), Ok(after), "asked again because the answer was lost");
    cluster.fail(&[2]);
    let expanded = IsrChange { partition_epoch: 1, ..change(vec![(1, one), (3, three), (2, -1)]) };
    assert_eq!(cluster.alter(1, expanded), Err(ErrorCode::INELIGIBLE_REPLICA), "2 is dead");
}

#[test]
fn a_reassignment_adds_waits_and_removes() {
    let mut cluster = Cluster::with_partition([1, 2, 3, 4], &[1, 2]);
    let alter = |cluster: &mut Cluster, target: Option<&[i32]>| {
        let target = target.map(<[i32]>::to_vec);
        cluster.engine.handle_alter_reassignment(TOPIC, 0, target, false).map_err(|error| error.code)
    };
    assert_eq!(alter(&mut cluster, None), Err(ErrorCode::NO_REASSIGNMENT_IN_PROGRESS));
    for bad in [&[][..], &[3, 3], &[3, 9]] {
        assert_eq!(alter(&mut cluster, Some(bad)), Err(ErrorCode::INVALID_REPLICA_ASSIGNMENT));
    }
    alter(&mut cluster, Some(&[3, 4])).unwrap();
    let partition = cluster.partition().clone();
    assert_eq!(partition.replicas, [3, 4, 1, 2]);
    assert_eq!(
        (&partition.adding_replicas[..], &partition.removing_replicas[..]),
        (&[3, 4][..], &[1, 2][..])
    );
    assert_eq!(cluster.led(), (1, 1, vec![1, 2]));
    let requests = cluster.requests();
    assert_eq!(roles(&requests, 4).len(), 1, "the new replicas begin to fetch");

    // A new controller goes on where the old one stopped.
    cluster.engine = elected(ControllerState::clone(cluster.engine.state()));
    cluster.engine.handle_brokers(&cluster.brokers);
    cluster.requests();
    assert_eq!(cluster.engine.reassignments().count(), 1);
    cluster.alter_partition(&[1, 2, 3]).unwrap();
    assert!(cluster.partition().is_reassigning());
    cluster.requests();
    cluster.alter_partition(&[1, 2, 3, 4]).unwrap();
    let partition = cluster.partition();
    assert_eq!((&partition.replicas[..], partition.is_reassigning()), (&[3, 4][..], false));
    assert_eq!(cluster.led(), (3, 2, vec![3, 4]));
    let requests = cluster.requests();
    for gone in [1, 2] {
        assert!(stops(&requests, gone)[0].topics[0].partitions[0].delete);
    }

    let other = cluster.engine.handle_alter_reassignment(TOPIC, 0, Some(vec![1]), true).unwrap_err();
    assert_eq!(other.code, ErrorCode::INVALID_REPLICATION_FACTOR);
    // Cancelled: what was added goes again.
    alter(&mut cluster, Some(&[4, 1])).unwrap();
    cluster.requests();
    alter(&mut cluster, None).unwrap();
    assert_eq!(cluster.partition().replicas, [4, 3]);
    assert!(stops(&cluster.requests(), 1)[0].topics[0].partitions[0].delete);
}

#[test]
fn a_log_that_cannot_be_used_is_a_replica_less() {
    let mut cluster = Cluster::of([1, 2, 3]);
    cluster.create(TOPIC, vec![vec![1, 2]]);
    for request in cluster.unanswered() {
        let is_role = matches!(request.body, ControlBody::LeaderAndIsr(_));
        let failed: &[(Arc<str>, i32)] =
            if is_role && request.broker == 1 { &[(Arc::from(TOPIC), 0)] } else { &[] };
        cluster.engine.handle_answer(request.id, failed);
    }
    assert_eq!(cluster.led(), (2, 1, vec![2]));
    let requests = cluster.requests();
    assert_eq!(updates(&requests, 3)[0].topics[0].partitions[0].offline, [1]);
    assert_eq!(cluster.alter_partition(&[2, 1]), Err(ErrorCode::INELIGIBLE_REPLICA));
    let requests = cluster.join([1]);
    assert!(updates(&requests, 1).last().unwrap().topics[0].partitions[0].offline.is_empty());
    cluster.alter_partition(&[2, 1]).unwrap();
}

#[test]
fn a_log_that_cannot_be_used_says_nothing_of_another_topic_of_that_name() {
    let mut cluster = Cluster::of([1, 2]);
    cluster.create(TOPIC, vec![vec![1, 2]]);
    let fail = |cluster: &mut Cluster| {
        for request in cluster.unanswered() {
            let is_role = matches!(request.body, ControlBody::LeaderAndIsr(_)) && request.broker == 1;
            let failed = is_role.then(|| (Arc::from(TOPIC), 0));
            cluster.engine.handle_answer(request.id, failed.as_slice());
        }
    };
    fail(&mut cluster);
    cluster.requests();
    assert_eq!(cluster.led(), (2, 1, vec![2]));
    cluster.engine.handle_delete_topic(&super::TopicSelector::Name(TOPIC.to_owned())).unwrap();
    cluster.requests();
    cluster.create(TOPIC, vec![vec![1, 2]]);
    let requests = cluster.requests();
    assert_eq!(cluster.led(), (1, 0, vec![1, 2]));
    assert!(updates(&requests, 2)[0].topics[0].partitions[0].offline.is_empty());
    cluster.fail(&[2]);
    assert_eq!(cluster.led(), (1, 1, vec![1]), "its only replica can lead");
}

#[test]
fn a_log_directory_that_failed_moves_all_that_its_broker_leads() {
    let mut cluster = Cluster::with_partition([1, 2, 3], &[1, 2, 3]);
    cluster.create("u", vec![vec![1]]);
    cluster.create("w", vec![vec![2, 1]]);
    cluster.requests();
    cluster.brokers.get_mut(&1).unwrap().log_dir_failed = true;
    let requests = cluster.join([]);
    assert_eq!(cluster.led(), (2, 1, vec![2, 3]));
    let of = |cluster: &Cluster, topic: &str| {
        let partition = cluster.engine.state().partition(topic, 0).unwrap();
        (partition.leader, partition.isr.clone())
    };
    assert_eq!(of(&cluster, "u"), (NO_LEADER, vec![1]), "nobody else has it");
    assert_eq!(of(&cluster, "w"), (2, vec![2]));
    // It is alive: it hears of it, and everybody hears that its replicas are offline.
    assert_eq!(addressees(&requests), BTreeSet::from([1, 2, 3]));
    let update = updates(&requests, 1).last().copied().unwrap();
    assert_eq!(update.live_brokers.len(), 3);
    assert!(update.topics.iter().flat_map(|topic| &topic.partitions).all(|state| state.offline == [1]));
    assert_eq!(cluster.alter_partition(&[2, 3, 1]), Err(ErrorCode::INELIGIBLE_REPLICA));
    assert!(cluster.join([]).is_empty(), "that is no news any more");
    // Nor does it get what is new, or what another controller gives out.
    cluster.create("v", vec![vec![1, 3]]);
    assert_eq!(cluster.engine.state().partition("v", 0).unwrap().leader, 3);
    for (name, factor, on) in [("x", 2, [2, 3].as_slice()), ("y", 3, &[1, 2, 3])] {
        let topic = CreateTopic {
            name: name.to_owned(),
            id: Uuid([name.as_bytes()[0]; 16]),
            num_partitions: 3,
            replication_factor: factor,
            assignments: Vec::new(),
            configs: Vec::new(),
        };
        cluster.engine.handle_create_topic(topic, false).unwrap();
        let partitions = &cluster.engine.state().topics[name].partitions;
        assert!(partitions.iter().all(|partition| partition.replicas.iter().all(|id| on.contains(id))));
        assert!(partitions.iter().all(|partition| partition.leader != NO_LEADER));
    }
    cluster.requests();
    cluster.engine = elected(ControllerState::clone(cluster.engine.state()));
    cluster.join([]);
    assert_eq!((cluster.partition().leader, of(&cluster, "u").0), (2, NO_LEADER));

    // It has recovered its logs and registers again.
    let requests = cluster.join([1]);
    assert_eq!(of(&cluster, "u"), (1, vec![1]));
    assert_eq!(cluster.partition().leader, 2, "a follower until it has caught up");
    assert_eq!(roles(&requests, 1).last().unwrap().topics.len(), 5, "it is told everything");
    cluster.alter_partition(&[2, 3, 1]).unwrap();
}

#[test]
fn a_deletion_outlives_its_controller() {
    let mut cluster = Cluster::with_partition([1, 2, 3], &[1, 2]);
    let selector = super::TopicSelector::Name(TOPIC.to_owned());
    cluster.engine.handle_delete_topic(&selector).unwrap();
    let name = TOPIC.to_owned();
    let again = CreateTopic {
        name,
        id: Uuid([2; 16]),
        num_partitions: 1,
        replication_factor: 1,
        assignments: Vec::new(),
        configs: Vec::new(),
    };
    let refused = cluster.engine.handle_create_topic(again.clone(), false).unwrap_err();
    assert_eq!(refused.code, ErrorCode::TOPIC_ALREADY_EXISTS, "somebody may have the old one still");

    // Nothing was told before the controller died.
    cluster.engine = elected(ControllerState::clone(cluster.engine.state()));
    cluster.engine.handle_brokers(&cluster.brokers);
    let requests = cluster.requests();
    for broker in [1, 2] {
        assert!(stops(&requests, broker)[0].topics[0].partitions[0].delete);
    }
    assert!(
        updates(&requests, 3)[0].topics[0].partitions[0].leader
            == crate::metadata_cache::LEADER_DURING_DELETE
    );
    assert!(cluster.engine.state().deleting.is_empty());
    cluster.engine.handle_create_topic(again, false).unwrap();
}
