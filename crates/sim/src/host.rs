//! [`Host`]: a broker's machine: its disk, its process, and what can be done to both.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use milena_broker::simulation::{Answering, Membership, Remains, ReplicaView, RequestEntry, SimulatedBroker};
use milena_broker::{BrokerConfig, ListenerConfig};
use milena_protocol::Frame;
use milena_storage::fs::{CrashPlan, FaultyFileSystem, MemoryFileSystem};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{AbortHandle, yield_now};
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::network::{Accepted, CLIENT_PORT, INTERNAL_PORT, Place, SimStream};
use crate::note;
use crate::plan::Plan;
use crate::sim::Sim;
use crate::tap::{self, Seen};

/// The listener for clients.
const CLIENTS: &str = "PLAINTEXT";
/// The listener on which brokers talk to each other.
const INTERNAL: &str = "INTERNAL";
/// How many turns the tasks of a broker that was killed are given to end.
const TURNS_TO_DIE: usize = 10_000;
/// How long a broker may be late in hearing that the cluster has changed.
const WATCH_DELAY: Duration = Duration::from_millis(100);

/// How a broker ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Its process is killed; what it has written stays written.
    Killed {
        /// Whether what is on its way to others is lost too.
        is_abrupt: bool,
    },
    /// Its machine falls off the network for good, with nobody to say so; what it has written stays written.
    Unplugged,
    /// Its machine loses its power: what was not synced is lost, or is not, or in part.
    PowerCut,
}

/// A broker's machine.
#[derive(Debug)]
pub struct Host {
    /// The broker's id.
    pub id: i32,
    /// Its disk.
    pub disk: FaultyFileSystem,
    config: BrokerConfig,
    process: Mutex<Process>,
    /// Held by whoever starts or ends it.
    turn: tokio::sync::Mutex<()>,
    /// Its session is not kept alive, and it hears of nothing, while this is set.
    is_cut_off: AtomicBool,
    /// Whether it is to run at all.
    is_in_use: AtomicBool,
    clock_skew_ms: AtomicI64,
    disk_delay_ms: AtomicU64,
    lives: AtomicU32,
}

#[derive(Debug, Default)]
struct Process {
    broker: Option<SimulatedBroker>,
    tasks: Vec<AbortHandle>,
    /// Tells it that the cluster has changed.
    news: Option<UnboundedSender<()>>,
    /// Whether the power was cut, so that the disk has to come back first.
    lost_power: bool,
}

impl Host {
    /// A machine with an empty disk.
    #[must_use]
    pub fn new(id: i32, plan: &Plan) -> Self {
        let disk = FaultyFileSystem::new(MemoryFileSystem::shared());
        let listener = |name: &str, port| ListenerConfig {
            name: name.to_owned(),
            advertised_host: Some(format!("broker-{id}")),
            advertised_port: Some(port),
            ..ListenerConfig::loopback(0)
        };
        let config = BrokerConfig {
            node_id: id,
            file_system: Arc::new(disk.clone()),
            listeners: vec![listener(CLIENTS, CLIENT_PORT), listener(INTERNAL, INTERNAL_PORT)],
            inter_broker_listener_name: Some(INTERNAL.to_owned()),
            auto_create_topics: false,
            log: plan.log_config(),
            fsync: plan.fsync,
            replica_lag_time_max: plan.lag_time_max,
            ..BrokerConfig::new(Path::new("data"))
        };
        Self {
            id,
            disk,
            config,
            process: Mutex::default(),
            turn: tokio::sync::Mutex::new(()),
            is_cut_off: AtomicBool::new(false),
            is_in_use: AtomicBool::new(plan.brokers.contains(&id)),
            clock_skew_ms: AtomicI64::new(0),
            disk_delay_ms: AtomicU64::new(u64::try_from(plan.disk.as_millis()).unwrap_or(0)),
            lives: AtomicU32::new(0),
        }
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock()
    }

    /// Says whether the machine is to run at all from now on.
    pub fn put_to_use(&self, is_in_use: bool) {
        self.is_in_use.store(is_in_use, Ordering::Relaxed);
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self) -> Place {
        Place::Broker(self.id)
    }

    /// How far its clock is ahead.
    #[must_use]
    pub fn clock_skew_ms(&self) -> i64 {
        self.clock_skew_ms.load(Ordering::Relaxed)
    }

    /// Sets its clock wrong.
    pub fn skew_clock(&self, ms: i64) {
        self.clock_skew_ms.store(ms, Ordering::Relaxed);
    }

    /// How long its disk takes at most.
    #[must_use]
    pub fn disk_delay(&self) -> Duration {
        Duration::from_millis(self.disk_delay_ms.load(Ordering::Relaxed))
    }

    /// Makes its disk take up to so long.
    pub fn slow_disk(&self, delay: Duration) {
        self.disk_delay_ms.store(u64::try_from(delay.as_millis()).unwrap_or(0), Ordering::Relaxed);
    }

    /// Whether its process runs, be it paused or not.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.process().broker.is_some()
    }

    /// Whether its process makes steps.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.with_broker(|broker| !broker.is_paused()).unwrap_or(false)
    }

    /// How often it has started.
    #[must_use]
    pub fn life(&self) -> u32 {
        self.lives.load(Ordering::Relaxed)
    }

    /// Looks at the broker, if it runs.
    pub fn with_broker<T>(&self, look: impl FnOnce(&SimulatedBroker) -> T) -> Option<T> {
        self.process().broker.as_ref().map(look)
    }

    /// The replicas of a broker that makes steps.
    #[must_use]
    pub fn replicas(&self) -> Vec<ReplicaView> {
        self.with_broker(SimulatedBroker::replicas).unwrap_or_default()
    }

    /// Starts the broker on what is on its disk.
    pub async fn start(&self, sim: &Arc<Sim>) {
        let _turn = self.turn.lock().await;
        let mut process = self.process();
        if process.broker.is_some() || !self.is_in_use.load(Ordering::Relaxed) {
            return;
        }
        // The power went while it was starting.
        if self.disk.is_powered_off() {
            self.restore_disk(sim);
        }
        if std::mem::take(&mut process.lost_power) {
            sim.network.host_returns(self.place());
        }
        match SimulatedBroker::start(self.config.clone(), &sim.registry) {
            Ok(broker) => {
                self.lives.fetch_add(1, Ordering::Relaxed);
                note!(sim.trace, "b{} starts", self.id);
                let (listener, arrivals) = unbounded_channel();
                sim.network.listen(self.place(), listener);
                let (news, heard) = unbounded_channel();
                // It may have missed something while it was away.
                let _listens = news.send(());
                process.tasks = vec![
                    broker.spawn(accept(sim.clone(), self.id, broker.handler(), arrivals)),
                    broker.spawn(take_part(sim.clone(), self.id, broker.membership(), heard)),
                ];
                process.news = Some(news);
                process.broker = Some(broker);
            }
            Err(error) => note!(sim.trace, "b{} does not start: {error}", self.id),
        }
    }

    /// Ends the broker, with no time to say goodbye.
    pub async fn end(&self, sim: &Arc<Sim>, ending: Ending) {
        let _turn = self.turn.lock().await;
        let (remains, tasks) = {
            let mut process = self.process();
            let Some(broker) = process.broker.take() else { return };
            process.news = None;
            process.lost_power = matches!(ending, Ending::PowerCut | Ending::Unplugged);
            (broker.kill(), std::mem::take(&mut process.tasks))
        };
        note!(sim.trace, "b{} ends: {ending:?}", self.id);
        match ending {
            Ending::Killed { is_abrupt } => sim.network.process_ends(self.place(), is_abrupt),
            Ending::PowerCut | Ending::Unplugged => sim.network.host_dies(self.place()),
        }
        for task in tasks {
            task.abort();
        }
        if !gone(&remains).await {
            let broken = format!("a task of broker {} lives on after it was killed", self.id);
            sim.history().broken.push(broken);
        }
        if ending == Ending::PowerCut {
            self.restore_disk(sim);
        }
    }

    /// Gives the disk its power back, with what survived.
    fn restore_disk(&self, sim: &Sim) {
        let plan = {
            let mut chance = sim.chance();
            if chance.percent(30) { CrashPlan::DropUnsynced } else { CrashPlan::Torn(chance.number()) }
        };
        if let Err(error) = self.disk.restart(plan) {
            sim.history().broken.push(format!("the disk of broker {} does not come back: {error}", self.id));
        }
    }

    /// The run is over: everything of the broker goes.
    pub fn shut_down(&self) {
        let mut process = self.process();
        for task in process.tasks.drain(..) {
            task.abort();
        }
        if let Some(broker) = process.broker.take() {
            let _remains = broker.kill();
        }
    }

    /// Runs a task on the broker that ends with it; None when it does not run.
    pub fn spawn(&self, task: impl FnOnce(&SimulatedBroker) -> AbortHandle) -> Option<AbortHandle> {
        let mut process = self.process();
        let handle = task(process.broker.as_ref()?);
        process.tasks.push(handle.clone());
        Some(handle)
    }

    /// Holds the process where it is, or lets it go on.
    pub fn pause(&self, sim: &Sim, is_paused: bool) {
        self.with_broker(|broker| {
            note!(sim.trace, "b{} {}", self.id, if is_paused { "is paused" } else { "goes on" });
            if is_paused { broker.pause() } else { broker.resume() }
        });
    }

    /// Cuts the broker off the registry, or lets it there again.
    pub fn cut_off(&self, is_cut_off: bool) {
        self.is_cut_off.store(is_cut_off, Ordering::Relaxed);
        if !is_cut_off {
            self.tell();
        }
    }

    /// Tells the broker that the cluster has changed.
    pub fn tell(&self) {
        if let Some(news) = &self.process().news {
            let _ended = news.send(());
        }
    }
}

async fn gone(remains: &Remains) -> bool {
    for _ in 0..TURNS_TO_DIE {
        if remains.are_gone() {
            return true;
        }
        yield_now().await;
    }
    false
}

/// Keeps the session alive and hears of changes, late.
async fn take_part(sim: Arc<Sim>, id: i32, membership: Membership, mut news: UnboundedReceiver<()>) {
    let Some(host) = sim.host(id).cloned() else { return };
    let mut beats = interval(sim.registry.heartbeat_interval());
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let is_news = tokio::select! {
            biased;
            heard = news.recv() => match heard {
                Some(()) => true,
                None => return,
            },
            _ = beats.tick() => false,
        };
        if is_news {
            while news.try_recv().is_ok() {}
            let delay = sim.chance().time(Duration::ZERO, WATCH_DELAY);
            sleep(delay).await;
        }
        if host.is_cut_off.load(Ordering::Relaxed) {
            continue;
        }
        if is_news {
            let view = sim.registry.watch().borrow().clone();
            membership.cluster_changed(&view);
        } else {
            membership.beat();
        }
    }
}

async fn accept(sim: Arc<Sim>, id: i32, entry: RequestEntry, mut arrivals: UnboundedReceiver<Accepted>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Some(accepted) = arrivals.recv().await {
        while connections.try_join_next().is_some() {}
        let Some(host) = sim.host(id) else { return };
        let (sim, entry) = (sim.clone(), entry.clone());
        let served = host.with_broker(|broker| broker.guard(serve(sim, id, entry, accepted)));
        if let Some(served) = served {
            connections.spawn(served);
        }
    }
}

/// Serves one connection: requests one by one, answers in their order.
async fn serve(sim: Arc<Sim>, id: i32, entry: RequestEntry, accepted: Accepted) {
    let Accepted { mut stream, peer, port } = accepted;
    let listener: Arc<str> = Arc::from(if port == INTERNAL_PORT { INTERNAL } else { CLIENTS });
    let address = std::net::SocketAddr::from(([10, 0, 1, 1], 1));
    let (answers, queue) = unbounded_channel();
    let out = stream.clone();
    let requests = async {
        while let Ok(Some(frame)) = stream.frame().await {
            let seen = if sim.trace.is_on() { tap::request(&frame) } else { None };
            if let Some((_, said)) = &seen {
                note!(sim.trace, "{peer} -> b{id} {said}");
            }
            match entry.handle(address, &listener, frame).await {
                Ok(answer) => {
                    if answers.send((seen.map(|(seen, _)| seen), answer)).is_err() {
                        return;
                    }
                }
                Err(reason) => {
                    note!(sim.trace, "b{id} closes a connection of {peer}: {reason}");
                    return;
                }
            }
        }
    };
    let mut written = std::pin::pin!(write_answers(&sim, (id, peer), out, queue));
    tokio::select! {
        biased;
        () = requests => {}
        () = &mut written => return,
    }
    drop(answers);
    written.await;
}

async fn write_answers(
    sim: &Sim,
    (id, peer): (i32, Place),
    out: SimStream,
    mut queue: UnboundedReceiver<(Option<Seen>, Answering)>,
) {
    while let Some((seen, answer)) = queue.recv().await {
        let answer: Result<Option<Frame>, String> = match answer {
            Answering::Now(frame) => Ok(frame),
            Answering::Later(later) => later.await,
        };
        let Ok(answer) = answer else { return };
        let Some(frame) = answer.map(|frame| frame.to_bytes()) else { continue };
        if let Some(said) = seen.and_then(|seen| tap::answer(seen, &frame)) {
            note!(sim.trace, "b{id} -> {peer} {said}");
        }
        if out.send(frame).is_err() {
            return;
        }
    }
}
