//! [`run`]: one seed, from an empty disk to the verdict.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use milena_broker::engines::{CreateTopic, TopicState};
use milena_broker::simulation::{SimulatedBroker, SimulatedRegistry, enter};
use milena_protocol::Uuid;
use milena_protocol::records::RecordBatches;
use milena_storage::fs::MemoryFileSystem;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::chance::Chance;
use crate::checkers;
use crate::client::{consume, produce};
use crate::history::{FinalLog, Held, History, Logged, RecordId};
use crate::host::Host;
use crate::monitor::watch_brokers;
use crate::network::Network;
use crate::note;
use crate::plan::{Plan, TOPIC};
use crate::scenario::Scenario;
use crate::sim::{Phase, Sim, Surroundings};
use crate::trace::{Trace, TraceMode};

/// How long a cluster that is whole may take to be calm again, once the producers have sent all they had.
const CALM_WITHIN: Duration = Duration::from_secs(40);
/// No batch of a run is larger.
const MAX_INFLATED: usize = 1 << 24;
const REPLICAS: usize = 3;
/// A spare is called as the broker that it replaces, and this.
const SPARE_IDS: i32 = 10;
/// So many more partitions may a topic have that is created again.
const GROWS_BY: i32 = 2;

/// How to run a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// What it is about.
    pub scenario: Scenario,
    /// What becomes of the trace.
    pub trace: TraceMode,
}

/// What a run came to.
#[derive(Debug)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// What must not be and was; empty for a run that is as it should be.
    pub violations: Vec<String>,
    /// Names the history, if it was traced.
    pub hash: u64,
    /// What was seen.
    pub history: History,
    /// How much virtual time it took.
    pub lasted: Duration,
}

thread_local! {
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Has panics of a run's tasks, which the runtime would swallow, count against it. To be called once, before the runs.
pub fn count_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.with_borrow_mut(|panics| panics.push(info.to_string()));
        before(info);
    }));
}

/// Runs a seed.
///
/// # Panics
/// When the system has no memory for a runtime.
#[must_use]
pub fn run(seed: u64, options: Options) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let Ok(runtime) = runtime else { panic!("no runtime can be built") };
    PANICS.take();
    let mut report = runtime.block_on(play(seed, options));
    drop(runtime);
    report.violations.extend(PANICS.take().into_iter().map(|panic| format!("a task panicked: {panic}")));
    report
}

async fn play(seed: u64, options: Options) -> Report {
    let mut chance = Chance::new(seed);
    let mut plan = Plan::random(&mut chance);
    match options.scenario {
        Scenario::AllReplaced => plan.spare_ids = SPARE_IDS,
        Scenario::TopicRecreated => plan.partitions_max += GROWS_BY,
        _ => {}
    }
    let trace = Trace::new(options.trace);
    note!(trace, "seed {seed}: {plan:?}");
    let network = Network::new(chance.fork(), plan.latency.0, plan.latency.1);
    let spares = plan.brokers.iter().map(|id| id + plan.spare_ids).filter(|_| plan.spare_ids > 0);
    let hosts = plan.brokers.iter().copied().chain(spares);
    let hosts = hosts.map(|id| Arc::new(Host::new(id, &plan))).collect();
    let disk = MemoryFileSystem::shared();
    let registry = SimulatedRegistry::open(&disk, Path::new("registry"), plan.session_timeout);
    let Ok(registry) = registry else { panic!("an empty disk in memory takes a file") };
    let sim = Sim::new(plan, trace, network, registry, hosts, chance.fork());
    let entered = enter(Rc::new(Surroundings(sim.clone())));
    let scenario = options.scenario;
    let mut story =
        Story { sim: sim.clone(), scenario, chance, producers: JoinSet::new(), others: JoinSet::new() };
    story.play().await;
    let mut history = std::mem::take(&mut *sim.history());
    story.end().await;
    drop(entered);
    let violations = checkers::check(&mut history);
    for violation in &violations {
        note!(sim.trace, "VIOLATION: {violation}");
    }
    Report { seed, violations, hash: sim.trace.hash(), history, lasted: sim.now() }
}

struct Story {
    sim: Arc<Sim>,
    scenario: Scenario,
    chance: Chance,
    producers: JoinSet<()>,
    others: JoinSet<()>,
}

impl Story {
    async fn play(&mut self) {
        let sim = self.sim.clone();
        self.others.spawn(tell_of_changes(sim.clone()));
        for host in &sim.hosts {
            let pause = self.chance.time(Duration::ZERO, Duration::from_millis(300));
            sleep(pause).await;
            host.start(&sim).await;
        }
        if !self.create_topic().await {
            sim.history().broken.push("no controller creates the topic".to_owned());
            return;
        }
        self.start_clients();
        self.others.spawn(watch_brokers(sim.clone()));
        let until = Instant::now() + sim.plan.faults_for;
        self.scenario.happen(&sim, self.chance.fork(), until).await;
        // A torn write that has found nothing to tear so far must not do so when all is said to be well.
        sim.hosts.iter().for_each(|host| host.disk.leave_power_on());
        sim.history().healed_at = sim.now();
        sim.enter_phase(Phase::Healed);
        sleep(sim.plan.calm_for).await;
        sim.enter_phase(Phase::Draining);
        let longest = sim.plan.producers.iter().map(|plan| plan.config.delivery_timeout).max();
        let patience = longest.unwrap_or_default() + Duration::from_secs(20);
        let all_end = async { while self.producers.join_next().await.is_some() {} };
        if timeout(patience, all_end).await.is_err() {
            sim.history().broken.push(format!("a producer has not ended {patience:?} after its last record"));
        }
        self.wait_for_calm().await;
        collect(&sim);
    }

    async fn create_topic(&mut self) -> bool {
        let sim = &self.sim;
        let topic = CreateTopic {
            name: TOPIC.to_owned(),
            id: Uuid((u128::from(self.chance.number()) | 1 << 100).to_be_bytes()),
            num_partitions: sim.plan.partitions,
            replication_factor: REPLICAS as i16,
            assignments: Vec::new(),
            configs: vec![("min.insync.replicas".to_owned(), Some(sim.plan.min_in_sync.to_string()))],
        };
        for _ in 0..100 {
            sleep(Duration::from_millis(200)).await;
            let view = sim.registry.watch().borrow().clone();
            if view.brokers.len() < sim.plan.brokers.len() {
                continue;
            }
            let host = view.controller.and_then(|controller| sim.host(controller.id));
            let create =
                |broker: &SimulatedBroker| broker.create_topic(topic.clone(), Duration::from_secs(10));
            let Some(created) = host.and_then(|host| host.with_broker(create)) else { continue };
            match created.await {
                Ok(()) => return true,
                Err(error) => note!(sim.trace, "the topic is not created: {error}"),
            }
        }
        false
    }

    fn start_clients(&mut self) {
        let mut id = 0;
        self.sim.history().producers = u32::try_from(self.sim.plan.producers.len()).unwrap_or(0);
        for plan in &self.sim.plan.producers {
            self.producers.spawn(produce(self.sim.clone(), id, plan.clone(), self.chance.fork()));
            id += 1;
        }
        for _ in 0..self.sim.plan.consumers {
            for partition in 0..self.sim.plan.partitions_max {
                self.others.spawn(consume(self.sim.clone(), id, partition, self.chance.fork()));
            }
            id += 1;
        }
    }

    async fn wait_for_calm(&self) {
        let until = Instant::now() + CALM_WITHIN;
        while Instant::now() < until {
            if is_calm(&self.sim) {
                self.sim.history().calm_at = Some(self.sim.now());
                note!(self.sim.trace, "all is calm");
                return;
            }
            sleep(Duration::from_millis(100)).await;
        }
        note!(self.sim.trace, "there is no calm: {:?}", self.sim.registry.cluster_state().topics);
    }

    async fn end(mut self) {
        self.sim.enter_phase(Phase::Over);
        self.producers.shutdown().await;
        self.others.shutdown().await;
        for host in &self.sim.hosts {
            host.shut_down();
        }
    }
}

/// Tells the brokers whenever the registry has news.
async fn tell_of_changes(sim: Arc<Sim>) {
    let mut view = sim.registry.watch();
    while view.changed().await.is_ok() {
        let now = view.borrow_and_update().clone();
        let alive: Vec<_> = now.brokers.iter().map(|(id, broker)| (*id, broker.epoch)).collect();
        note!(sim.trace, "registry: alive {alive:?}, controller {:?}", now.controller);
        for host in &sim.hosts {
            host.tell();
        }
    }
}

/// Whether every replica is in sync and has the same, and every consumer has read it.
fn is_calm(sim: &Sim) -> bool {
    let state = sim.registry.cluster_state();
    let Some(topic) = state.topics.get(TOPIC) else { return false };
    let mut read: BTreeMap<(u32, i32), i64> = BTreeMap::new();
    for read_one in sim.history().read.iter().filter(|read| read.topic_id == topic.id) {
        read.insert((read_one.consumer, read_one.partition), read_one.offset + 1);
    }
    (0..).zip(&topic.partitions).all(|(number, partition)| {
        let views = partition.replicas.iter().map(|id| {
            let replicas = sim.host(*id).map(|host| host.replicas()).unwrap_or_default();
            replicas.into_iter().find(|replica| (replica.topic_id, replica.partition) == (topic.id, number))
        });
        let views: Option<Vec<_>> = views.collect();
        let Some(views) = views else { return false };
        let Some(end) = views.first().map(|view| view.log_end_offset) else { return false };
        let first_consumer = u32::try_from(sim.plan.producers.len()).unwrap_or(0);
        let all_read = (first_consumer..first_consumer + sim.plan.consumers)
            .all(|consumer| read.get(&(consumer, number)).copied().unwrap_or(0) == end);
        partition.leader >= 0
            && partition.isr.len() == partition.replicas.len()
            && views.iter().all(|view| (view.log_end_offset, view.high_watermark) == (end, end))
            && views.iter().all(|view| view.leader_epoch == partition.leader_epoch)
            && all_read
    }) && !has_strays(sim, topic)
}

/// Whether a broker has a log that it is not to have.
fn has_strays(sim: &Sim, topic: &TopicState) -> bool {
    held(sim).iter().any(|held| {
        let partition = topic.partition(held.partition);
        let is_assigned = partition.is_some_and(|partition| partition.replicas.contains(&held.broker));
        held.topic_id != Some(topic.id) || !is_assigned
    })
}

fn held(sim: &Sim) -> Vec<Held> {
    let mut all = Vec::new();
    for host in &sim.hosts {
        let logs = host.with_broker(SimulatedBroker::logs).unwrap_or_default().into_iter();
        let logs = logs.filter(|(topic, ..)| topic == TOPIC);
        all.extend(logs.map(|(_, partition, topic_id)| Held { broker: host.id, topic_id, partition }));
    }
    all
}

/// Writes down what is in all logs.
fn collect(sim: &Sim) {
    let state = sim.registry.cluster_state();
    let Some(topic) = state.topics.get(TOPIC) else { return };
    let held = held(sim);
    let mut history = sim.history();
    history.held = held;
    history.topic_id = topic.id;
    for (number, partition) in (0..).zip(&topic.partitions) {
        history.assignments.insert(number, partition.replicas.clone());
        history.in_sync.insert(number, (partition.leader, partition.isr.clone()));
    }
    for host in &sim.hosts {
        let logs = host.with_broker(|broker| {
            let views = broker.replicas().into_iter();
            views.map(|view| (broker.batches(&view.topic, view.partition), view)).collect::<Vec<_>>()
        });
        for (batches, view) in logs.unwrap_or_default() {
            let records = batches.into_iter().flat_map(logged).collect();
            history.logs.insert((host.id, view.partition), FinalLog { view, records });
        }
    }
}

fn logged(batches: bytes::Bytes) -> Vec<Logged> {
    let mut logged = Vec::new();
    for batch in RecordBatches::new(batches).flatten() {
        let leader_epoch = batch.header().partition_leader_epoch;
        for record in batch.records(MAX_INFLATED).into_iter().flatten().flatten() {
            if let Some(id) = record.value.as_deref().and_then(RecordId::parse) {
                logged.push(Logged { offset: record.offset, leader_epoch, record: id });
            }
        }
    }
    logged
}
