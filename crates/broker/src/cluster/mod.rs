//! [`EmbeddedCluster`]: several brokers in one process, which talk to each other over real sockets, and can be killed.

mod builder;
mod error;
mod faults;
#[cfg(test)]
mod faults_tests;
#[cfg(test)]
mod intercept_tests;
mod ports;
mod status;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use milena_protocol::ErrorCode;
use milena_storage::fs::{FileSystem, RealFileSystem, SharedFileSystem};
use parking_lot::Mutex;
use tokio::time::{Instant, MissedTickBehavior, interval};

pub use self::builder::EmbeddedClusterBuilder;
pub use self::error::ClusterError;
use self::ports::Reservation;
pub use self::status::{BrokerState, BrokerStatus};
use crate::broker::lock_soon;
use crate::controller::{Controller, CreateTopic};
use crate::data_dir::{DataDir, RunningBroker};
use crate::faults::{BrokerFaults, Intercepts, Network};
use crate::node::{Node, random_uuid};
use crate::registry::{ClusterRegistry, REGISTRY_OF_MANY, REGISTRY_OF_ONE, RegistryConfig, RegistryStore};
use crate::task_gate::TaskGate;
use crate::{Broker, BrokerConfig, BrokerError, ListenerConfig};

/// A broker's directory, inside of the cluster's; its id follows.
const BROKER_DIR: &str = "broker-";

/// How long the cluster may take for what it does by itself: several sessions, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many partitions an error names.
const MOST_NAMED: usize = 10;
/// The brokers' caches tell nobody that they have changed; looking costs some atomic loads.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A Kafka cluster inside of this process: brokers with listeners, logs, metadata caches and replication of their own, for
/// any Kafka client in any language.
///
/// Brokers can be killed, stopped, restarted and paused while clients use the others, be cut off, and be given slow networks, bad
/// disks and wrong clocks: each fault is a call that answers a [`FaultGuard`](crate::FaultGuard). A broker keeps its ports for as long as the
/// cluster lives. Dropping the cluster kills all of them; [`shutdown`](Self::shutdown) is the controlled way. What was in
/// memory is then gone, and what was on disk stays.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// use milena_broker::EmbeddedCluster;
///
/// let cluster = EmbeddedCluster::builder().brokers(3).start().await?;
/// cluster.create_topic("orders", 1, 3).await?;
/// let leader = cluster.leader("orders", 0).ok_or("no leader")?;
/// cluster.kill(leader)?;
/// println!("clients of {} find another leader soon", cluster.bootstrap());
/// cluster.restart(leader).await?;
/// cluster.shutdown().await?;
/// # Ok(()) })
/// # }
/// ```
#[derive(Debug)]
pub struct EmbeddedCluster {
    /// Each broker that runs. First, so that brokers end before what they share.
    brokers: Mutex<BTreeMap<i32, Broker>>,
    members: BTreeMap<i32, Member>,
    registry: Arc<ClusterRegistry>,
    network: Arc<Network>,
    intercepts: Arc<Intercepts>,
    /// Keeps other clusters out of the directory.
    data_dir: DataDir,
}

/// What is known of a broker, be it up or down.
#[derive(Debug, Clone)]
struct Member {
    /// With the ports that are its own.
    config: BrokerConfig,
    bootstrap: String,
    faults: BrokerFaults,
    /// Held while it starts or stops in order, so that two callers do not do so at once.
    turn: Arc<tokio::sync::Mutex<()>>,
    _ports: Arc<[Reservation]>,
}

impl EmbeddedCluster {
    /// What a cluster is built with.
    pub fn builder() -> EmbeddedClusterBuilder {
        EmbeddedClusterBuilder::new()
    }

    /// How many brokers the cluster has whose directory this is; None when it is no cluster's. It need not run.
    pub fn size_of(dir: &Path) -> Option<i32> {
        let fs = RealFileSystem;
        fs.exists(&dir.join(REGISTRY_OF_MANY))
            .then(|| i32::try_from(brokers_in(&fs, dir)).unwrap_or(i32::MAX))
    }

    async fn start(
        configs: Vec<BrokerConfig>,
        fs: SharedFileSystem,
        dir: PathBuf,
        session_timeout: Duration,
    ) -> Result<Self, ClusterError> {
        let count = configs.len();
        let data_dir = lock_soon(&fs, &dir).await?;
        let opened = tokio::task::spawn_blocking(move || {
            check_place(&data_dir, count)?;
            let store = RegistryStore::new(fs, &dir, REGISTRY_OF_MANY);
            let registry = ClusterRegistry::open(store, RegistryConfig { session_timeout })?;
            Ok::<_, BrokerError>((data_dir, Arc::new(registry)))
        });
        let (data_dir, registry) = opened.await.map_err(|_| BrokerError::Cancelled)??;
        let mut cluster = Self {
            brokers: Mutex::default(),
            members: BTreeMap::new(),
            registry,
            network: Arc::default(),
            intercepts: Arc::default(),
            data_dir,
        };
        for mut config in configs {
            let id = config.node_id;
            let _ports = reserve(&mut config).map_err(|source| ClusterError::Broker { id, source })?;
            let faults = BrokerFaults::new(id, cluster.network.clone(), cluster.intercepts.clone());
            config.file_system = faults.machine.disk.wrap(config.file_system);
            let broker = cluster.start_broker(config.clone(), faults.clone()).await?;
            for listener in &mut config.listeners {
                listener.bind = broker.listener_address(&listener.name).unwrap_or(listener.bind);
            }
            cluster.members.insert(
                id,
                Member { config, bootstrap: broker.bootstrap(), faults, turn: Arc::default(), _ports },
            );
            cluster.brokers.lock().insert(id, broker);
        }
        cluster.wait("a controller that every broker knows", Self::all_know_all).await?;
        cluster.data_dir.announce(&cluster.announcement())?;
        Ok(cluster)
    }

    async fn start_broker(&self, config: BrokerConfig, faults: BrokerFaults) -> Result<Broker, ClusterError> {
        let id = config.node_id;
        let started = Broker::start_in(config, self.registry.clone(), faults).await;
        started.map_err(|source| ClusterError::Broker { id, source })
    }

    /// What a client starts with: `host:port` of every broker, up or down, separated by commas.
    pub fn bootstrap(&self) -> String {
        let addresses: Vec<&str> = self.members.values().map(|member| member.bootstrap.as_str()).collect();
        addresses.join(",")
    }

    /// What other processes find in the data directory.
    fn announcement(&self) -> RunningBroker {
        RunningBroker {
            bootstrap: self.bootstrap(),
            pid: std::process::id(),
            cluster_id: self.registry.cluster_state().cluster_id.clone(),
            node_id: self.members.keys().next().copied().unwrap_or_default(),
        }
    }

    /// The ids of all brokers, up or down, in order.
    pub fn broker_ids(&self) -> Vec<i32> {
        self.members.keys().copied().collect()
    }

    /// The ids of the brokers that run or are paused, in order.
    pub fn running(&self) -> Vec<i32> {
        self.brokers.lock().keys().copied().collect()
    }

    /// The broker that is the controller, if one that runs, and is neither paused nor in a black hole, is it.
    pub fn controller(&self) -> Option<i32> {
        self.active_controller().map(|(id, _)| id)
    }

    /// Who leads a partition, as the controller has it: a broker that was killed leads until its session ends. None when
    /// nobody does, or there is no such partition.
    pub fn leader(&self, topic: &str, partition: i32) -> Option<i32> {
        let state = self.registry.cluster_state();
        state.partition(topic, partition).map(|partition| partition.leader).filter(|leader| *leader >= 0)
    }

    /// The in-sync replicas of a partition, as the controller has them; empty when there is no such partition.
    pub fn isr(&self, topic: &str, partition: i32) -> Vec<i32> {
        let state = self.registry.cluster_state();
        state.partition(topic, partition).map(|partition| partition.isr.clone()).unwrap_or_default()
    }

    /// Creates a topic. When this returns, every broker that runs, and is neither paused nor in a black hole, knows it, and every partition's leader serves it.
    ///
    /// First it waits for the end of the sessions of brokers that were killed, are paused or in a black hole: until then the
    /// controller would give them partitions.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] when the controller refuses, for instance because the topic exists or there are fewer
    /// brokers than replicas; [`ClusterError::TimedOut`] when no controller is elected, or a session is longer than half a
    /// minute, or not every broker hears of the topic; it exists then, and the error names what is missing.
    pub async fn create_topic(
        &self,
        name: &str,
        partitions: i32,
        replication_factor: i16,
    ) -> Result<(), ClusterError> {
        self.create_topic_with(name, partitions, replication_factor, &[]).await
    }

    /// As [`create_topic`](Self::create_topic), with settings of the topic's own, for instance `min.insync.replicas`.
    ///
    /// # Errors
    /// As [`create_topic`](Self::create_topic).
    pub async fn create_topic_with(
        &self,
        name: &str,
        partitions: i32,
        replication_factor: i16,
        configs: &[(&str, &str)],
    ) -> Result<(), ClusterError> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), Some((*value).to_owned()));
        let topic = CreateTopic {
            name: name.to_owned(),
            id: random_uuid(),
            num_partitions: partitions,
            replication_factor,
            assignments: Vec::new(),
            configs: configs.iter().map(own).collect(),
        };
        let until = Instant::now() + PATIENCE;
        loop {
            let what = "a controller that knows who is down, paused or in a black hole";
            self.wait(what, |cluster| cluster.informed_controller().is_some()).await?;
            let Some(controller) = self.informed_controller() else { continue };
            match controller.create_topics(vec![topic.clone()], false, PATIENCE).await.pop() {
                // It lost the office between two lines; another one has it soon.
                Some(Err(error)) if error.code == ErrorCode::NOT_CONTROLLER && Instant::now() < until => {}
                Some(Err(error)) => {
                    return Err(ClusterError::Refused { code: error.code, message: error.message });
                }
                Some(Ok(_)) | None => break,
            }
        }
        // The controller waits for those that it has told. It may have died over it, or a leader.
        let served = self.wait("", |cluster| cluster.is_served(name)).await;
        served.map_err(|error| match error {
            ClusterError::TimedOut { waited, .. } => {
                let what = format!("topic {name} on every broker ({})", self.unserved(name).join("; "));
                ClusterError::TimedOut { what, waited }
            }
            error => error,
        })
    }

    /// Ends a broker as kill −9 ends a process: its tasks end where they are, its connections break, nothing is flushed.
    /// Others notice when its session ends.
    ///
    /// # Errors
    /// [`ClusterError::UnknownBroker`], [`ClusterError::NotRunning`].
    pub fn kill(&self, id: i32) -> Result<(), ClusterError> {
        drop(self.take(id)?);
        Ok(())
    }

    /// Stops a broker in order: its leaderships move first, requests that were read are answered, and its logs are closed.
    ///
    /// # Errors
    /// As [`kill`](Self::kill); [`ClusterError::Broker`] when something cannot be made durable. The broker has stopped
    /// nevertheless.
    pub async fn stop(&self, id: i32) -> Result<(), ClusterError> {
        let _turn = self.member(id)?.turn.lock().await;
        self.take(id)?.shutdown().await.map_err(|source| ClusterError::Broker { id, source })
    }

    /// Starts a broker that was killed or stopped, on its files and on its ports. When this returns it serves; what it
    /// leads or follows it hears from the controller. When it is being stopped or restarted just now, that is waited for.
    ///
    /// # Errors
    /// [`ClusterError::UnknownBroker`], [`ClusterError::StillRunning`], [`ClusterError::Unreachable`] in a
    /// [`black_hole`](Self::black_hole), and [`ClusterError::Broker`] when it does not start: it does not while its
    /// [`disk is full`](Self::disk_full) or [`does not sync`](Self::fsync_fails).
    pub async fn restart(&self, id: i32) -> Result<(), ClusterError> {
        let Member { config, faults, turn, .. } = self.member(id)?;
        let _turn = turn.lock().await;
        if self.brokers.lock().contains_key(&id) {
            return Err(ClusterError::StillRunning(id));
        }
        if self.network.is_black_hole(id) {
            return Err(ClusterError::Unreachable(id));
        }
        let broker = self.start_broker(config.clone(), faults.clone()).await?;
        self.brokers.lock().insert(id, broker);
        Ok(())
    }

    /// Holds a broker as SIGSTOP holds a process: it makes no step, its sockets stay open, and bytes sent to it wait. When
    /// its session ends, others take over; [`resume`](Self::resume)d it learns of that as one that was only slow. Pausing
    /// it twice is pausing it once. [`kill`](Self::kill) works on it; [`stop`](Self::stop) resumes it first.
    ///
    /// # Errors
    /// As [`kill`](Self::kill).
    pub fn pause(&self, id: i32) -> Result<(), ClusterError> {
        self.with_gate(id, TaskGate::close)
    }

    /// Lets a paused broker go on.
    ///
    /// # Errors
    /// As [`kill`](Self::kill).
    pub fn resume(&self, id: i32) -> Result<(), ClusterError> {
        self.with_gate(id, TaskGate::open)
    }

    /// Waits for something that the cluster does by itself, at most half a minute, for instance
    /// `wait("a whole ISR", |cluster| cluster.isr("orders", 0).len() == 3)`.
    ///
    /// # Errors
    /// [`ClusterError::TimedOut`] with the name of what did not come about.
    pub async fn wait(&self, what: &str, is_so: impl Fn(&Self) -> bool) -> Result<(), ClusterError> {
        let until = Instant::now() + PATIENCE;
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !is_so(self) {
            if Instant::now() >= until {
                return Err(ClusterError::TimedOut { what: what.to_owned(), waited: PATIENCE });
            }
            looks.tick().await;
        }
        Ok(())
    }

    /// Stops all brokers in order, the controller last.
    ///
    /// # Errors
    /// The first of [`stop`](Self::stop). All brokers have stopped nevertheless.
    pub async fn shutdown(self) -> Result<(), ClusterError> {
        let mut outcome = self.data_dir.withdraw().map_err(ClusterError::from);
        loop {
            let (running, controller) = (self.running(), self.controller());
            let next = running.iter().find(|id| Some(**id) != controller).or(running.first());
            let Some(id) = next else { return outcome };
            let stopped = self.stop(*id).await;
            outcome = outcome.and(stopped);
        }
    }

    fn member(&self, id: i32) -> Result<&Member, ClusterError> {
        self.members.get(&id).ok_or_else(|| ClusterError::UnknownBroker { id, known: self.broker_ids() })
    }

    fn take(&self, id: i32) -> Result<Broker, ClusterError> {
        self.member(id)?;
        self.brokers.lock().remove(&id).ok_or(ClusterError::NotRunning(id))
    }

    fn with_gate(&self, id: i32, work: impl FnOnce(&TaskGate)) -> Result<(), ClusterError> {
        self.member(id)?;
        let brokers = self.brokers.lock();
        work(&brokers.get(&id).ok_or(ClusterError::NotRunning(id))?.node().gate);
        Ok(())
    }

    fn active_controller(&self) -> Option<(i32, Arc<Controller>)> {
        let id = self.registry.watch().borrow().controller?.id;
        let brokers = self.brokers.lock();
        let node = brokers.get(&id)?.node();
        let acts = node.controller.is_active() && !is_away(node);
        acts.then(|| (id, node.controller.clone()))
    }

    /// The controller, as soon as it counts nobody as alive who is away: such a broker would get partitions.
    fn informed_controller(&self) -> Option<Arc<Controller>> {
        let (id, controller) = self.active_controller()?;
        let brokers = self.brokers.lock();
        let cache = brokers.get(&id)?.node().metadata_cache.load();
        let view = self.registry.watch().borrow().clone();
        let counts = |id: &i32| cache.broker(*id).is_some() || view.brokers.contains_key(id);
        let takes_part = |id: &i32| brokers.get(id).is_some_and(|broker| !is_away(broker.node()));
        self.members.keys().all(|id| takes_part(id) || !counts(id)).then_some(controller)
    }

    fn all_know_all(&self) -> bool {
        let brokers = self.brokers.lock();
        let knows_all = |broker: &Broker| {
            let cache = broker.node().metadata_cache.load();
            cache.controller_id().is_some() && brokers.keys().all(|id| cache.broker(*id).is_some())
        };
        brokers.values().filter(|broker| !is_away(broker.node())).all(knows_all)
    }

    /// Whether every broker that runs, and is neither paused nor in a black hole, knows who leads each partition of a topic, and those leaders know it too.
    fn is_served(&self, topic: &str) -> bool {
        let brokers = self.brokers.lock();
        let knows = |node: &Node| {
            let cache = node.metadata_cache.load();
            let Some(known) = cache.topic(topic) else { return false };
            known.partitions().iter().all(|known| leads(&brokers, known.leader, topic, known.partition))
        };
        brokers.values().map(Broker::node).all(|node| is_away(node) || knows(node))
    }

    /// What a topic lacks to be served, in words: the partitions that nobody leads, or else the brokers that do not know it.
    fn unserved(&self, topic: &str) -> Vec<String> {
        let state = self.registry.cluster_state();
        let brokers = self.brokers.lock();
        let partitions = state.topics.get(topic).map_or(&[][..], |topic| &topic.partitions);
        let leaderless = (0..).zip(partitions).filter(|(number, partition)| {
            let is_here = brokers.get(&partition.leader).is_some_and(|broker| !is_away(broker.node()));
            !is_here || !leads(&brokers, partition.leader, topic, *number)
        });
        let mut lacking: Vec<String> = leaderless
            .map(|(number, partition)| match partition.leader {
                0.. => format!("partition {number} is to be led by broker {}", partition.leader),
                _ => format!("partition {number} has no leader among brokers {:?}", partition.replicas),
            })
            .collect();
        if lacking.is_empty() {
            lacking.push("not every broker knows its leaders".to_owned());
        }
        if lacking.len() > MOST_NAMED {
            let more = lacking.split_off(MOST_NAMED).len();
            lacking.push(format!("and {more} more"));
        }
        lacking
    }
}

/// Whether a broker leads a partition, and knows it.
fn leads(brokers: &BTreeMap<i32, Broker>, id: i32, topic: &str, number: i32) -> bool {
    let partition = brokers.get(&id).map(|broker| broker.node().replica_manager.partition(topic, number));
    matches!(partition, Some(Ok(partition)) if partition.check_leader(-1).is_ok())
}

/// Whether a broker can take part in what the cluster does: one that cannot may not know yet that it has been replaced.
fn is_away(node: &Node) -> bool {
    node.gate.is_closed() || node.faults.host.is_gone()
}

/// Refuses a directory whose data nobody would see any more.
fn check_place(data_dir: &DataDir, count: usize) -> Result<(), BrokerError> {
    let (fs, path) = (data_dir.file_system(), data_dir.path());
    if fs.exists(&path.join(REGISTRY_OF_ONE)) {
        let reason = format!("{} is the directory of a single broker: choose another one", path.display());
        return Err(BrokerError::InvalidConfig(reason));
    }
    let present = brokers_in(&**fs, path);
    if present > count {
        let reason = format!("{} has {present} brokers, and would have {count}", path.display());
        return Err(BrokerError::InvalidConfig(reason));
    }
    Ok(())
}

/// How many brokers a cluster's directory is for.
fn brokers_in(fs: &dyn FileSystem, path: &Path) -> usize {
    let ids = fs.list(path).unwrap_or_default().into_iter();
    ids.filter_map(|entry| entry.name.strip_prefix(BROKER_DIR)?.parse().ok()).max().unwrap_or(0)
}

/// Makes a broker's ports its own, also while it is down.
fn reserve(config: &mut BrokerConfig) -> Result<Arc<[Reservation]>, BrokerError> {
    let reserve = |listener: &mut ListenerConfig| {
        let failed =
            |source| BrokerError::Bind { listener: listener.name.clone(), address: listener.bind, source };
        let reserved = Reservation::new(listener.bind).map_err(failed)?;
        listener.bind = reserved.address;
        Ok(reserved)
    };
    config.listeners.iter_mut().map(reserve).collect()
}
