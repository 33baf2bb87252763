//! [`Broker`]: one node, from start to stop.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use milena_storage::fs::SharedFileSystem;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};

use crate::background::Background;
use crate::boot::Cluster;
use crate::config::{BrokerConfig, ListenerConfig};
use crate::data_dir::{DataDir, DataDirState, RunningBroker};
use crate::faults::{BrokerFaults, Host};
use crate::kafka_apis::KafkaApis;
use crate::leaving::move_leaderships_away;
use crate::membership::Membership;
use crate::metadata_cache::{BrokerEndpoint, BrokerInfo};
use crate::network::{BoundListener, RequestHandler, SocketServer};
use crate::node::Node;
use crate::registry::ClusterRegistry;
use crate::task_gate::TaskGate;
use crate::{BrokerError, boot};

/// How long a start waits for a directory or a port that another broker is just giving up.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long [`Broker::start_or_join`] waits for a broker that is starting or stopping.
const JOIN_PATIENCE: Duration = Duration::from_secs(15);
const RETRY_EVERY: Duration = Duration::from_millis(10);
/// How long a controlled shutdown lets requests be answered that have been read.
const DRAIN: Duration = Duration::from_secs(1);

/// A running broker.
///
/// Dropping it stops it as kill −9 stops a process: tasks end where they are, nothing is flushed, and the next start
/// recovers the logs. [`shutdown`](Self::shutdown) is the controlled way.
#[derive(Debug)]
pub struct Broker {
    // In this order: first the work stops, then what it works on goes.
    sockets: SocketServer,
    background: Background,
    /// None for a broker that is alone.
    membership: Option<Membership>,
    listeners: Vec<Listening>,
    node: Arc<Node>,
}

/// A listener of a running broker.
#[derive(Debug, Clone)]
struct Listening {
    name: String,
    address: SocketAddr,
    advertised: BrokerEndpoint,
}

/// What [`Broker::start_or_join`] came to.
#[derive(Debug)]
pub enum StartedOrJoined {
    /// Nobody served the directory; this process does now.
    Started(Box<Broker>),
    /// Another broker serves the directory.
    Joined(RunningBroker),
}

impl StartedOrJoined {
    /// The addresses that a client starts with, `host:port`, separated by commas.
    pub fn bootstrap(&self) -> String {
        match self {
            Self::Started(broker) => broker.bootstrap(),
            Self::Joined(broker) => broker.bootstrap.clone(),
        }
    }
}

impl Broker {
    /// Starts a broker: takes its directory, recovers what is in it, listens. It serves when this returns.
    ///
    /// A directory or a port that is being given up by a broker that was stopped a moment ago is waited for.
    ///
    /// # Errors
    /// [`BrokerError::DataDirInUse`] when another broker holds the directory, [`BrokerError::Bind`] when an address is
    /// taken, and whatever the disk says.
    pub async fn start(config: BrokerConfig) -> Result<Self, BrokerError> {
        config.validate()?;
        let data_dir = lock_soon(&config.file_system, &config.data_dir).await?;
        let faults = BrokerFaults::none(config.node_id);
        Self::start_on(config, data_dir, Cluster::Alone, faults).await
    }

    /// As [`start`](Self::start), but as one broker of a cluster whose brokers share a registry. It serves when this
    /// returns; what it leads it hears from the controller.
    pub(crate) async fn start_in(
        config: BrokerConfig,
        registry: Arc<ClusterRegistry>,
        faults: BrokerFaults,
    ) -> Result<Self, BrokerError> {
        config.validate()?;
        let data_dir = lock_soon(&config.file_system, &config.data_dir).await?;
        Self::start_on(config, data_dir, Cluster::Shared(registry), faults).await
    }

    /// Starts a broker on a directory, or finds the one that serves it, in this process or another. Any number of
    /// processes may do this at once: one starts, the others join it.
    ///
    /// # Errors
    /// As [`start`](Self::start); [`BrokerError::DataDirInUse`] only when the directory's broker neither serves nor goes
    /// away.
    pub async fn start_or_join(config: BrokerConfig) -> Result<StartedOrJoined, BrokerError> {
        config.validate()?;
        let until = Instant::now() + JOIN_PATIENCE;
        loop {
            let in_use = match lock(&config.file_system, &config.data_dir).await {
                Ok(data_dir) => {
                    let faults = BrokerFaults::none(config.node_id);
                    let broker = Self::start_on(config, data_dir, Cluster::Alone, faults).await?;
                    return Ok(StartedOrJoined::Started(Box::new(broker)));
                }
                Err(error @ BrokerError::DataDirInUse { .. }) => error,
                Err(error) => return Err(error),
            };
            // Free or busy: whoever has the lock is looking, starting or stopping. Soon we know which.
            if let DataDirState::Running(broker) = DataDirState::of(&config.data_dir)? {
                return Ok(StartedOrJoined::Joined(broker));
            }
            if Instant::now() >= until {
                return Err(in_use);
            }
            sleep(RETRY_EVERY).await;
        }
    }

    async fn start_on(
        config: BrokerConfig,
        data_dir: DataDir,
        cluster: Cluster,
        faults: BrokerFaults,
    ) -> Result<Self, BrokerError> {
        let mut bound = Vec::new();
        for listener in &config.listeners {
            let from_clients = config.is_for_clients(&listener.name);
            bound.push(bind(listener, &faults.host, from_clients).await?);
        }
        let listeners: Vec<Listening> = bound.iter().map(listening).collect();
        let info = BrokerInfo {
            id: config.node_id,
            rack: config.rack.clone(),
            endpoints: listeners.iter().map(|listener| listener.advertised.clone()).collect(),
        };
        let is_member = matches!(cluster, Cluster::Shared(_));
        let (own, gate) = (info.clone(), TaskGate::new(Handle::current()));
        let node = blocking(move || boot::boot(config, data_dir, own, &cluster, gate, faults)).await?;
        let node = Arc::new(node);
        let handler: Arc<dyn RequestHandler> = Arc::new(KafkaApis::new(node.clone()));
        let sockets = SocketServer::start(bound, node.config.socket.clone(), &handler, &node.gate);
        let background = Background::start(&node);
        let period = node.registry.heartbeat_interval();
        let membership = is_member.then(|| Membership::start(node.clone(), info, period));
        let broker = Self { sockets, background, membership, listeners, node };
        let (node, announcement) = (broker.node.clone(), broker.announcement());
        blocking(move || node.data_dir.announce(&announcement)).await?;
        tracing::info!(node_id = broker.node_id(), bootstrap = broker.bootstrap(), "the broker serves");
        Ok(broker)
    }

    /// The broker's id in its cluster.
    pub fn node_id(&self) -> i32 {
        self.node.config.node_id
    }

    /// The cluster's id.
    pub fn cluster_id(&self) -> String {
        self.node.metadata_cache.load().cluster_id().to_owned()
    }

    /// The directory that it holds.
    pub fn data_dir(&self) -> PathBuf {
        self.node.data_dir.path().to_owned()
    }

    /// What its requests work on.
    pub(crate) fn node(&self) -> &Arc<Node> {
        &self.node
    }

    /// Where the first listener listens.
    pub fn address(&self) -> SocketAddr {
        // A configuration without a listener does not start.
        self.listeners.first().map_or(SocketAddr::from(([0, 0, 0, 0], 0)), |listener| listener.address)
    }

    /// Where the listener of this name listens.
    pub fn listener_address(&self, name: &str) -> Option<SocketAddr> {
        self.listeners.iter().find(|listener| listener.name == name).map(|listener| listener.address)
    }

    /// What a client starts with: the advertised `host:port` of the first listener.
    pub fn bootstrap(&self) -> String {
        let endpoint = self.listeners.first().map(|listener| &listener.advertised);
        endpoint.map(|endpoint| format!("{}:{}", endpoint.host, endpoint.port)).unwrap_or_default()
    }

    /// What other processes find in the data directory.
    pub fn announcement(&self) -> RunningBroker {
        RunningBroker {
            bootstrap: self.bootstrap(),
            pid: std::process::id(),
            cluster_id: self.cluster_id(),
            node_id: self.node_id(),
        }
    }

    /// Stops the broker in order: nobody finds it any more, requests that were read are answered, everything is made
    /// durable, and a marker says so, which spares the next start the recovery.
    ///
    /// # Errors
    /// When something cannot be made durable. The broker has stopped nevertheless, and the next start recovers.
    pub async fn shutdown(self) -> Result<(), BrokerError> {
        let Self { sockets, background, membership, node, .. } = self;
        // Who is paused cannot leave in order.
        node.gate.open();
        let withdrawn = node.data_dir.withdraw();
        if membership.is_some() {
            move_leaderships_away(&node).await;
        }
        node.replica_manager.stop_waiting();
        node.groups.stop_waiting();
        sockets.shutdown(DRAIN).await;
        drop(background);
        let is_member = membership.is_some();
        drop(membership);
        let closed = blocking(move || {
            if is_member {
                leave(&node);
            }
            node.replica_manager.checkpoint_high_watermarks();
            let logs = node.replica_manager.logs();
            logs.shutdown().map_err(|error| BrokerError::Log(error.to_string()))
        })
        .await;
        tracing::info!("the broker has stopped");
        closed.and(withdrawn)
    }
}

/// Ends the session. Blocking.
fn leave(node: &Node) {
    let id = node.config.node_id;
    if node.faults.host.is_gone() {
        tracing::debug!(id, "the registry is out of reach; the session ends by itself");
    } else if let Err(error) = node.registry.unregister(id, node.obedience.broker_epoch()) {
        tracing::debug!(%error, "the session has ended already");
    }
}

/// Takes a directory, which another broker may be giving up just now, or somebody be looking at.
pub(crate) async fn lock_soon(fs: &SharedFileSystem, path: &Path) -> Result<DataDir, BrokerError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match lock(fs, path).await {
            Err(BrokerError::DataDirInUse { .. }) if Instant::now() < until => sleep(RETRY_EVERY).await,
            other => return other,
        }
    }
}

async fn lock(fs: &SharedFileSystem, path: &Path) -> Result<DataDir, BrokerError> {
    let (fs, path) = (fs.clone(), path.to_owned());
    blocking(move || DataDir::lock(&fs, &path)).await
}

/// Runs what touches the disk where it stops nobody else.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BrokerError> + Send + 'static,
) -> Result<T, BrokerError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| BrokerError::Cancelled)?
}

async fn bind(
    config: &ListenerConfig,
    host: &Host,
    from_clients: bool,
) -> Result<BoundListener, BrokerError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match SocketServer::bind(config, host, from_clients).await {
            Err(BrokerError::Bind { source, .. })
                if source.kind() == std::io::ErrorKind::AddrInUse && Instant::now() < until =>
            {
                sleep(RETRY_EVERY).await;
            }
            other => return other,
        }
    }
}

fn listening(bound: &BoundListener) -> Listening {
    let config = &bound.config;
    // Clients cannot connect to "every address"; those of an embedded broker are on this machine.
    let own_host = || match bound.address.ip() {
        ip if ip.is_unspecified() => "127.0.0.1".to_owned(),
        ip => ip.to_string(),
    };
    let advertised = BrokerEndpoint {
        listener: config.name.clone(),
        host: config.advertised_host.clone().unwrap_or_else(own_host),
        port: config.advertised_port.unwrap_or(bound.address.port()),
    };
    Listening { name: config.name.clone(), address: bound.address, advertised }
}
