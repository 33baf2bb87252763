//! Registry, controllers and brokers under random deaths, bounces and delays, against what must always hold.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use milena_protocol::Uuid;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{
    ConfigChange, ConfigOp, ControlBody, ControlFence, ControlRequest, ControllerConfig, ControllerEngine,
    ControllerState, CreateTopic, Effect, ElectionKind, IsrChange, TopicSelector,
};
use crate::metadata_cache::{
    BrokerInfo, LEADER_DURING_DELETE, MetadataCache, MetadataUpdate, NO_LEADER, TopicUpdate,
};
use crate::registry::{RegistryConfig, RegistryEngine, RegistryState};

const BROKERS: i32 = 4;
const SEEDS: u64 = 150;
const STEPS: usize = 250;
const SESSION: Duration = Duration::from_secs(9);

type Partition = (Uuid, i32);

/// A broker's process, as far as it concerns the controller.
struct Process {
    broker_epoch: i64,
    fence: ControlFence,
    cache: MetadataCache,
    /// Leader and leader epoch of the replicas that it holds.
    roles: BTreeMap<(String, i32), (Uuid, i32, i32)>,
    /// Whether it runs; one that does not keeps its sockets and sends no heartbeats.
    paused: bool,
}

/// A controller, maybe one that does not know that it has been replaced.
struct Office {
    broker: i32,
    engine: ControllerEngine,
    /// What is on its way, by broker, in order.
    channels: BTreeMap<i32, VecDeque<ControlRequest>>,
}

struct World {
    rng: StdRng,
    now: Duration,
    registry: RegistryEngine,
    processes: BTreeMap<i32, Process>,
    offices: Vec<Office>,
    /// Requests that were sent twice, and are still on their way on the connection that was given up.
    late: Vec<ControlRequest>,
    next_topic: u8,
    history: History,
}

/// All that was ever durable.
#[derive(Default)]
struct History {
    last: Option<Arc<ControllerState>>,
    /// The leader of each leader epoch.
    led: BTreeMap<(Partition, i32), i32>,
    /// The highest leader epoch that was ever durable.
    reached: BTreeMap<Partition, i32>,
    /// Who has been accepted as in sync, by the partition epoch that this made. Such a state need not have been durable:
    /// the end of a reassignment may follow in the same write.
    accepted: BTreeMap<(Partition, i32), Vec<i32>>,
    /// Topics that have allowed unclean elections at any time.
    unclean: BTreeSet<Uuid>,
}

impl History {
    fn record(&mut self, state: &Arc<ControllerState>) {
        if let Some(last) = &self.last {
            assert!(state.controller_epoch >= last.controller_epoch, "the controller's epoch went back");
        }
        for topic in state.topics.values() {
            if topic.configs.contains_key("unclean.leader.election.enable") {
                self.unclean.insert(topic.id);
            }
            for (number, now) in (0i32..).zip(&topic.partitions) {
                assert!(!now.isr.is_empty(), "an ISR is empty");
                assert!(now.isr.iter().all(|id| now.replicas.contains(id)), "{now:?}");
                assert!(now.leader == NO_LEADER || now.isr.contains(&now.leader), "{now:?}");
                self.lead((topic.id, number), now.leader_epoch, now.leader);
                self.reached.insert((topic.id, number), now.leader_epoch);
                let before = self.last.as_ref().and_then(|last| last.topic_by_id(topic.id));
                let Some(before) = before.and_then(|(_, topic)| topic.partition(number)) else { continue };
                assert!(now.leader_epoch >= before.leader_epoch, "{before:?} {now:?}");
                assert!(now.partition_epoch >= before.partition_epoch, "{before:?} {now:?}");
                if now != before {
                    assert!(now.partition_epoch > before.partition_epoch, "{before:?} {now:?}");
                }
                let is_clean = now.leader == NO_LEADER
                    || before.isr.contains(&now.leader)
                    || (before.partition_epoch..now.partition_epoch).any(|epoch| {
                        let accepted = self.accepted.get(&((topic.id, number), epoch));
                        accepted.is_some_and(|isr| isr.contains(&now.leader))
                    });
                assert!(is_clean || self.unclean.contains(&topic.id), "{before:?} {now:?}");
            }
        }
        self.last = Some(state.clone());
    }

    fn lead(&mut self, partition: Partition, epoch: i32, leader: i32) {
        let first = *self.led.entry((partition, epoch)).or_insert(leader);
        assert_eq!(first, leader, "two leaders of {partition:?} in epoch {epoch}");
    }

    /// Somebody is told of a leader. A decision that was overtaken before it was durable may be told, but never one
    /// that another controller could make again.
    fn told(&mut self, partition: Partition, epoch: i32, leader: i32) {
        let reached = self.reached.get(&partition);
        assert!(reached.is_some_and(|reached| *reached >= epoch), "{partition:?} {epoch} is not durable");
        self.lead(partition, epoch, leader);
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let config = RegistryConfig { session_timeout: SESSION };
        Self {
            rng: StdRng::seed_from_u64(seed),
            now: Duration::ZERO,
            registry: RegistryEngine::new(config, RegistryState::new("c".to_owned())),
            processes: BTreeMap::new(),
            offices: Vec::new(),
            late: Vec::new(),
            next_topic: 1,
            history: History::default(),
        }
    }

    fn step(&mut self) {
        let broker = self.rng.random_range(1..=BROKERS);
        match self.rng.random_range(0..100) {
            0..6 => self.start(broker),
            6..9 => self.kill(broker),
            9..12 => self.pause(broker),
            12..18 => self.resume(broker),
            18..25 => {
                let time = Duration::from_millis(self.rng.random_range(0..4_000));
                self.pass(time);
            }
            25..28 => self.total_outage(),
            28..56 => self.deliver(broker),
            56..60 => self.deliver_late(),
            60..78 => self.run_an_office(),
            _ => self.administrate(broker),
        }
        self.elect_controllers();
    }

    fn start(&mut self, id: i32) {
        self.kill(id);
        let registration = self.registry.register(info(id), self.now);
        self.persisted();
        let process = Process {
            broker_epoch: registration.broker_epoch,
            fence: ControlFence::new(registration),
            cache: MetadataCache::new("c"),
            roles: BTreeMap::new(),
            paused: false,
        };
        self.processes.insert(id, process);
    }

    fn kill(&mut self, id: i32) {
        self.processes.remove(&id);
        self.offices.retain(|office| office.broker != id);
        for office in &mut self.offices {
            office.channels.remove(&id);
        }
    }

    fn pause(&mut self, id: i32) {
        if let Some(process) = self.processes.get_mut(&id) {
            process.paused = true;
        }
    }

    /// A broker that was away notices it, registers anew if it has to, and forgets what was deleted in the meantime.
    fn resume(&mut self, id: i32) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        process.paused = false;
        if self.registry.heartbeat(id, process.broker_epoch, self.now).is_ok() {
            return;
        }
        let registration = self.registry.register(info(id), self.now);
        process.broker_epoch = registration.broker_epoch;
        process.fence.registered(registration);
        process.forget_strays(id, &self.registry.state().cluster);
        self.persisted();
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        for (id, process) in &self.processes {
            if !process.paused {
                // Who has no session any more notices when it is resumed.
                let _late = self.registry.heartbeat(*id, process.broker_epoch, self.now);
            }
        }
        self.registry.tick(self.now);
    }

    fn total_outage(&mut self) {
        for id in 1..=BROKERS {
            self.kill(id);
        }
        let config = RegistryConfig { session_timeout: SESSION };
        self.registry = RegistryEngine::new(config, self.registry.state().clone());
    }

    fn elect_controllers(&mut self) {
        for id in 1..=BROKERS {
            let Some(process) = self.processes.get(&id).filter(|process| !process.paused) else { continue };
            let Ok((controller, state)) = self.registry.elect(id, process.broker_epoch) else { continue };
            self.persisted();
            assert_eq!(controller.epoch, state.controller_epoch);
            self.offices.retain(|office| office.broker != id);
            let engine = ControllerEngine::elected(config(id), state);
            self.offices.push(Office { broker: id, engine, channels: BTreeMap::new() });
        }
    }

    fn persisted(&mut self) {
        if self.registry.take_needs_persist() {
            let state = self.registry.state().cluster.clone();
            self.history.record(&state);
        }
    }

    /// One of the controllers hears who is alive and does some of what it has to.
    fn run_an_office(&mut self) {
        let Some(at) = self.pick_office() else { return };
        let brokers = self.registry.view().brokers;
        let office = &mut self.offices[at];
        office.channels.retain(|id, queue| {
            queue.retain(|request| {
                brokers.get(id).is_some_and(|broker| broker.epoch == request.stamp.broker_epoch)
            });
            true
        });
        office.engine.handle_brokers(&brokers);
        let budget = self.rng.random_range(0..12);
        self.carry_out(at, budget);
    }

    /// A controller that has done all that it decided: the next event finds it so, unless it dies before.
    fn pick_office(&mut self) -> Option<usize> {
        if self.offices.is_empty() {
            return None;
        }
        let at = self.rng.random_range(0..self.offices.len());
        self.carry_out(at, usize::MAX).then_some(at)
    }

    /// Carries out at most so many effects; false when the controller had to give up.
    fn carry_out(&mut self, at: usize, budget: usize) -> bool {
        for _ in 0..budget {
            let Some(effect) = self.offices[at].engine.poll_effect() else { return true };
            match effect {
                Effect::Persist => {
                    let state = self.offices[at].engine.state().clone();
                    if self.registry.write(state).is_err() {
                        self.offices.remove(at);
                        return false;
                    }
                    self.persisted();
                }
                Effect::TopicConfigs { .. } => {}
                Effect::Send(request) => {
                    self.check_durable(&request);
                    self.offices[at].channels.entry(request.broker).or_default().push_back(request);
                }
            }
        }
        true
    }

    fn check_durable(&mut self, request: &ControlRequest) {
        let history = &mut self.history;
        match &request.body {
            ControlBody::LeaderAndIsr(body) => {
                for topic in &body.topics {
                    for (number, state) in &topic.partitions {
                        assert!(state.replicas.contains(&request.broker));
                        history.told((topic.id, *number), state.leader_epoch, state.leader);
                    }
                }
            }
            ControlBody::UpdateMetadata(update) => {
                for topic in &update.topics {
                    for state in topic.partitions.iter().filter(|p| p.leader != LEADER_DURING_DELETE) {
                        history.told((topic.id, state.partition), state.leader_epoch, state.leader);
                    }
                }
            }
            ControlBody::StopReplica(_) => {}
        }
    }

    /// A broker gets the next request of one of the controllers.
    fn deliver(&mut self, id: i32) {
        let Some(at) = self.pick_office() else { return };
        let Some(process) = self.processes.get_mut(&id).filter(|process| !process.paused) else { return };
        let Some(request) = self.offices[at].channels.get_mut(&id).and_then(VecDeque::pop_front) else {
            return;
        };
        // Who refuses has heard of another controller, or will be known by its new epoch.
        if process.is_told(&request, &self.registry.state().cluster) {
            self.offices[at].engine.handle_answer(request.id, &[]);
            if self.rng.random_bool(0.2) {
                self.late.push(request);
            }
        }
    }

    /// A broker gets a request for the second time, maybe behind many others.
    fn deliver_late(&mut self) {
        if self.late.is_empty() {
            return;
        }
        let at = self.rng.random_range(0..self.late.len());
        let request = self.late.swap_remove(at);
        let process = self.processes.get_mut(&request.broker).filter(|process| !process.paused);
        if let Some(process) = process {
            process.is_told(&request, &self.registry.state().cluster);
        }
    }

    fn administrate(&mut self, broker: i32) {
        let Some(at) = self.pick_office() else { return };
        let kind = self.rng.random_range(0..12);
        let topics: Vec<String> = self.offices[at].engine.state().topics.keys().cloned().collect();
        let topic = topics.get(self.rng.random_range(0..topics.len().max(1))).cloned();
        // What is refused changes nothing, and that is checked with everything else.
        match (kind, topic) {
            (0, _) => {
                let name = format!("t{}", self.rng.random_range(0..4));
                self.create(at, name);
            }
            (1, Some(topic)) if self.rng.random_bool(0.3) => {
                let _refused = self.offices[at].engine.handle_delete_topic(&TopicSelector::Name(topic));
            }
            (2, _) => {
                let kind = [ElectionKind::Preferred, ElectionKind::Clean][self.rng.random_range(0..2)];
                let _answers = self.offices[at].engine.handle_elect_leaders(kind, None);
            }
            (3, _) => {
                let epoch = self.processes.get(&broker).map_or(-1, |process| process.broker_epoch);
                let _refused = self.offices[at].engine.handle_controlled_shutdown(broker, epoch);
            }
            (4, Some(topic)) => {
                let count = self.rng.random_range(1..=3);
                let first = self.rng.random_range(0..BROKERS);
                let target = (0..count).map(|next| (first + next) % BROKERS + 1).collect();
                let target = self.rng.random_bool(0.8).then_some(target);
                let _refused = self.offices[at].engine.handle_alter_reassignment(&topic, 0, target, false);
            }
            (5, Some(topic)) if self.rng.random_bool(0.1) => {
                let change = ConfigChange {
                    name: "unclean.leader.election.enable".to_owned(),
                    op: ConfigOp::Set,
                    value: Some("true".to_owned()),
                };
                let engine = &mut self.offices[at].engine;
                let _refused = engine.handle_incremental_alter_configs(&topic, vec![change], false);
            }
            (_, Some(topic)) => self.alter_partition(at, &topic),
            (_, None) => self.create(at, "t0".to_owned()),
        }
        let budget = self.rng.random_range(0..12);
        self.carry_out(at, budget);
    }

    fn create(&mut self, at: usize, name: String) {
        let id = Uuid([self.next_topic; 16]);
        self.next_topic = self.next_topic.wrapping_add(1).max(1);
        let request = CreateTopic {
            name,
            id,
            num_partitions: 2,
            replication_factor: self.rng.random_range(1..=3),
            assignments: Vec::new(),
            configs: Vec::new(),
        };
        let _refused = self.offices[at].engine.handle_create_topic(request, false);
    }

    /// A leader, as the controller has it, wants any of its replicas to be in sync.
    fn alter_partition(&mut self, at: usize, topic: &str) {
        let state = self.offices[at].engine.state().clone();
        let topic = &state.topics[topic];
        let number = self.rng.random_range(0..topic.partitions.len());
        let partition = &topic.partitions[number];
        let Some(leader) = self.processes.get(&partition.leader) else { return };
        let epoch_of = |id: &i32| self.processes.get(id).map_or(-1, |process| process.broker_epoch);
        let mut isr = vec![(partition.leader, leader.broker_epoch)];
        for replica in partition.replicas.iter().filter(|id| **id != partition.leader) {
            if self.rng.random_bool(0.7) {
                isr.push((*replica, epoch_of(replica)));
            }
        }
        let change = IsrChange {
            topic_id: topic.id,
            partition: i32::try_from(number).unwrap(),
            leader_epoch: partition.leader_epoch,
            partition_epoch: partition.partition_epoch,
            isr,
        };
        let (broker, epoch) = (partition.leader, leader.broker_epoch);
        let answers = self.offices[at].engine.handle_alter_partition(broker, epoch, &[change]);
        // What is refused changes nothing, and that is checked with everything else.
        for accepted in answers.into_iter().flatten().flatten() {
            let partition = (topic.id, i32::try_from(number).unwrap());
            self.history.accepted.insert((partition, accepted.partition_epoch), accepted.isr);
        }
    }

    /// Everybody is well and everything is delivered: all agree.
    fn settle(&mut self) {
        self.pass(SESSION);
        for id in 1..=BROKERS {
            if self.processes.contains_key(&id) {
                self.resume(id);
            } else {
                self.start(id);
            }
        }
        self.pass(Duration::ZERO);
        self.elect_controllers();
        let controller = self.registry.view().controller.unwrap();
        let is_current = |office: &Office| office.engine.controller_epoch() == controller.epoch;
        self.offices.retain(is_current);
        assert_eq!(self.offices.len(), 1);
        let brokers = self.registry.view().brokers;
        self.offices[0].channels.values_mut().for_each(|queue| {
            queue.retain(|request| brokers[&request.broker].epoch == request.stamp.broker_epoch);
        });
        self.offices[0].engine.handle_brokers(&brokers);
        self.deliver_all();
        // What is late speaks of a topic of the same name that is gone.
        let _unknown = self.offices[0].engine.handle_delete_topic(&TopicSelector::Name("t0".to_owned()));
        self.deliver_all();
        self.create(0, "t0".to_owned());
        self.deliver_all();
        while !self.late.is_empty() {
            self.deliver_late();
        }
        self.check_agreement();
    }

    fn deliver_all(&mut self) {
        for _ in 0..20 {
            assert!(self.carry_out(0, usize::MAX));
            for id in 1..=BROKERS {
                while self.offices[0].channels.get(&id).is_some_and(|queue| !queue.is_empty()) {
                    self.deliver(id);
                }
            }
        }
    }

    fn check_agreement(&self) {
        let state = self.registry.state().cluster.clone();
        assert_eq!(state, *self.offices[0].engine.state());
        assert!(state.deleting.is_empty());
        for (name, topic) in &state.topics {
            assert!(self.offices[0].engine.is_settled(name));
            for (number, partition) in (0i32..).zip(&topic.partitions) {
                assert_ne!(partition.leader, NO_LEADER, "all are alive: {name} {partition:?}");
                for (id, process) in &self.processes {
                    let role = process.roles.get(&(name.clone(), number));
                    let expected = (topic.id, partition.leader, partition.leader_epoch);
                    let expected = partition.replicas.contains(id).then_some(&expected);
                    // Who shuts down has given its replicas up.
                    if role.is_some() || !self.offices[0].engine.live[id].shutting_down {
                        assert_eq!(role, expected, "{name}-{number} on {id}");
                    }
                }
            }
        }
        for process in self.processes.values() {
            let cache = process.cache.load();
            assert!(cache.brokers().map(|broker| broker.id).eq(1..=BROKERS));
            let known: BTreeMap<String, Uuid> = cache.topics().map(|t| (t.name.to_string(), t.id)).collect();
            assert_eq!(known, state.topics.iter().map(|(name, t)| (name.clone(), t.id)).collect());
            for (name, topic) in &state.topics {
                let cached = cache.topic(name).unwrap();
                for (number, partition) in (0i32..).zip(&topic.partitions) {
                    let cached = cached.partition(number).unwrap();
                    assert_eq!(
                        (cached.leader, cached.leader_epoch),
                        (partition.leader, partition.leader_epoch)
                    );
                    assert_eq!((&cached.isr, &cached.replicas), (&partition.isr, &partition.replicas));
                }
            }
        }
    }
}

impl Process {
    /// Looks for what nobody could tell this broker to give up.
    fn forget_strays(&mut self, own: i32, state: &ControllerState) {
        self.roles.retain(|(topic, number), (id, ..)| state.assigns(topic, *id, *number, own));
        let cached = self.cache.snapshot();
        let mut update = MetadataUpdate {
            controller_id: cached.controller_id().unwrap_or(-1),
            controller_epoch: cached.controller_epoch(),
            live_brokers: cached.brokers().cloned().collect(),
            topics: Vec::new(),
        };
        for topic in cached.topics().filter(|topic| state.topic_by_id(topic.id).is_none()) {
            let mut partitions = topic.partitions().to_vec();
            partitions.iter_mut().for_each(|partition| partition.leader = LEADER_DURING_DELETE);
            update.topics.push(TopicUpdate { name: topic.name.clone(), id: topic.id, partitions });
        }
        self.cache.update(&update).unwrap();
    }

    /// Obeys if it has to, and says whether it did.
    fn is_told(&mut self, request: &ControlRequest, state: &ControllerState) -> bool {
        match self.fence.admit(request.stamp) {
            Err(_) => return false,
            Ok(true) => self.forget_strays(request.broker, state),
            Ok(false) => {}
        }
        self.obey(request);
        true
    }

    fn obey(&mut self, request: &ControlRequest) {
        match &request.body {
            ControlBody::LeaderAndIsr(body) => {
                for topic in &body.topics {
                    for (number, state) in &topic.partitions {
                        let key = (topic.name.to_string(), *number);
                        let current = self.roles.get(&key).filter(|(id, ..)| *id == topic.id);
                        if current.is_none_or(|(_, _, epoch)| *epoch < state.leader_epoch) {
                            self.roles.insert(key, (topic.id, state.leader, state.leader_epoch));
                        }
                    }
                }
            }
            ControlBody::UpdateMetadata(update) => self.cache.update(update).unwrap(),
            ControlBody::StopReplica(body) => {
                for topic in &body.topics {
                    for partition in &topic.partitions {
                        let key = (topic.name.to_string(), partition.partition);
                        let current = self.roles.get(&key).map_or(-1, |(_, _, epoch)| *epoch);
                        if partition.leader_epoch < 0 || partition.leader_epoch >= current {
                            self.roles.remove(&key);
                        }
                    }
                }
            }
        }
    }
}

fn info(id: i32) -> BrokerInfo {
    BrokerInfo { id, rack: None, endpoints: Vec::new() }
}

fn config(node_id: i32) -> ControllerConfig {
    ControllerConfig {
        node_id,
        default_partitions: 2,
        default_replication_factor: 3,
        unclean_leader_election: false,
        leader_rebalance: None,
        inter_broker_listener: "INTERNAL".to_owned(),
    }
}

#[test]
fn whatever_dies_there_is_one_leader_an_epoch_and_nothing_is_told_before_it_is_durable() {
    let mut topics = 0;
    let mut epochs = 0;
    for seed in 0..SEEDS {
        let run = std::panic::catch_unwind(|| {
            let mut world = World::new(seed);
            for id in 1..=BROKERS {
                world.start(id);
            }
            for _ in 0..STEPS {
                world.step();
            }
            world.settle();
            (usize::from(world.next_topic), world.history.led.len())
        });
        let Ok((created, led)) = run else { panic!("seed {seed}") };
        topics += created;
        epochs += led;
    }
    // That the runs have done anything at all.
    assert!(topics > 100 && epochs > 1_000, "{topics} topics, {epochs} leader epochs");
}
