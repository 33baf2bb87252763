//! [`EmbeddedClusterBuilder`]: what a cluster is told before it starts.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use milena_storage::fs::{MemoryFileSystem, RealFileSystem, SharedFileSystem};

use super::{BROKER_DIR, ClusterError, EmbeddedCluster};
use crate::network::max_connections_of;
use crate::{BrokerConfig, BrokerError, ListenerConfig};

/// The listener on which the brokers talk to each other, and on which alone they obey a controller.
const INTERNAL: &str = "INTERNAL";

/// Kafka's 9 s are for networks and garbage collectors. Here neither loses a heartbeat, and whoever kills a broker waits for
/// the session's end; 1 s leaves a busy machine three heartbeats to miss.
const SESSION_TIMEOUT: Duration = Duration::from_secs(1);

/// More is not what one process is for, and would be a mistyped number.
const MAX_BROKERS: i32 = 1_000;

type Configure = Box<dyn Fn(&mut BrokerConfig) + Send + Sync>;

/// Builds an [`EmbeddedCluster`]. Without further word: three brokers, in memory.
#[must_use]
pub struct EmbeddedClusterBuilder {
    brokers: i32,
    data_dir: Option<PathBuf>,
    pub(super) session_timeout: Duration,
    listen: SocketAddr,
    advertised_host: Option<String>,
    configure: Vec<Configure>,
}

impl fmt::Debug for EmbeddedClusterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { brokers, data_dir, session_timeout, .. } = self;
        f.debug_struct("EmbeddedClusterBuilder")
            .field("brokers", brokers)
            .field("data_dir", data_dir)
            .field("session_timeout", session_timeout)
            .finish_non_exhaustive()
    }
}

impl EmbeddedClusterBuilder {
    pub(super) fn new() -> Self {
        Self {
            brokers: 3,
            data_dir: None,
            session_timeout: SESSION_TIMEOUT,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            advertised_host: None,
            configure: Vec::new(),
        }
    }

    /// How many brokers there are; their ids are 1 to `count`.
    pub fn brokers(mut self, count: i32) -> Self {
        self.brokers = count;
        self
    }

    /// Keeps everything on disk under `dir`, which is created when missing and left behind at the end. A cluster that is
    /// started on the directory of an earlier one is that cluster, on other ports.
    pub fn data_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(dir.into());
        self
    }

    /// Keeps everything in memory: nothing is left behind. A broker that is killed and restarted finds its files as after a
    /// kill −9.
    pub fn memory(mut self) -> Self {
        self.data_dir = None;
        self
    }

    /// `broker.session.timeout.ms`: how long a broker that was killed counts as alive, and keeps its leaderships. 1 s when
    /// nothing is said, because in one process no network delays a heartbeat (Kafka: 9 s).
    pub fn session_timeout(mut self, timeout: Duration) -> Self {
        self.session_timeout = timeout;
        self
    }

    /// Where clients find the first broker; each further one is a port further on, and with port 0 the system chooses all of
    /// them. Port 0 of 127.0.0.1 when nothing is said. What brokers say to each other stays on 127.0.0.1.
    pub fn listen(mut self, first: SocketAddr) -> Self {
        self.listen = first;
        self
    }

    /// The host that clients are told to connect to; that of [`listen`](Self::listen) when nothing is said.
    pub fn advertised_host(mut self, host: impl Into<String>) -> Self {
        self.advertised_host = Some(host.into());
        self
    }

    /// Changes what each broker is told, before it starts for the first time. The id, the directory and the first two
    /// listeners are the cluster's affair; leave them.
    pub fn configure(mut self, change: impl Fn(&mut BrokerConfig) + Send + Sync + 'static) -> Self {
        self.configure.push(Box::new(change));
        self
    }

    /// Starts the brokers. When this returns, there is a controller and every broker knows all of them.
    ///
    /// # Errors
    /// [`ClusterError::Cluster`] when the settings contradict each other, another cluster uses the directory, or what is in
    /// it is no cluster's or that of a larger one;
    /// [`ClusterError::Broker`] when a broker does not start; [`ClusterError::TimedOut`] when they do not find each other.
    pub async fn start(self) -> Result<EmbeddedCluster, ClusterError> {
        if !(1..=MAX_BROKERS).contains(&self.brokers) {
            let reason = format!("{} brokers, but there must be 1 to {MAX_BROKERS}", self.brokers);
            return Err(BrokerError::InvalidConfig(reason).into());
        }
        if self.session_timeout.is_zero() {
            let reason = "the session timeout is 0, so every broker would be dead at once".to_owned();
            return Err(BrokerError::InvalidConfig(reason).into());
        }
        let (fs, dir) = self.place();
        let config = |id| self.config(id, &fs, dir.join(format!("{BROKER_DIR}{id}")));
        let configs = (1..=self.brokers).map(config).collect::<Result<_, _>>()?;
        EmbeddedCluster::start(configs, fs, dir, self.session_timeout).await
    }

    /// The file system of the cluster, and where in it the cluster is.
    fn place(&self) -> (SharedFileSystem, PathBuf) {
        match &self.data_dir {
            Some(dir) => (RealFileSystem::shared(), dir.clone()),
            None => (MemoryFileSystem::shared(), PathBuf::from("cluster")),
        }
    }

    fn config(&self, id: i32, fs: &SharedFileSystem, dir: PathBuf) -> Result<BrokerConfig, BrokerError> {
        let mut bind = self.listen;
        if bind.port() != 0 {
            let port = u16::try_from(i32::from(bind.port()) + id - 1);
            let none = || format!("there is no port for broker {id}: the first broker's is {}", bind.port());
            bind.set_port(port.map_err(|_| BrokerError::InvalidConfig(none()))?);
        }
        let advertised_host = self.advertised_host.clone();
        let external = ListenerConfig { bind, advertised_host, ..ListenerConfig::loopback(0) };
        let internal = ListenerConfig { name: INTERNAL.to_owned(), ..ListenerConfig::loopback(0) };
        let mut config = BrokerConfig {
            node_id: id,
            file_system: fs.clone(),
            listeners: vec![external, internal],
            inter_broker_listener_name: Some(INTERNAL.to_owned()),
            // What a cluster in production has, as far as there are brokers.
            default_replication_factor: self.brokers.min(3).try_into().unwrap_or(3),
            ..BrokerConfig::new(dir)
        };
        for change in &self.configure {
            change(&mut config);
        }
        // The files that the process may open are all brokers'.
        let listeners = config.listeners.len() * usize::try_from(self.brokers).unwrap_or(1);
        config.socket.max_connections = config.socket.max_connections.min(max_connections_of(listeners));
        Ok(config)
    }
}
