//! A cluster of real brokers.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hasher as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::broker::Broker;
use crate::{jars, process};

const START_PATIENCE: Duration = Duration::from_secs(300);
const FORMAT_PATIENCE: Duration = Duration::from_secs(180);
/// Another process may take a port between our choice and Kafka's use of it.
const ATTEMPTS: usize = 3;
/// Below 10,000 live the well-known services.
const FIRST_PORT: u16 = 10_000;
/// Where Linux begins to give out ports to outgoing connections, unless told otherwise.
const FIRST_EPHEMERAL_PORT: u16 = 32_768;

/// A real Apache Kafka: brokers 1 to N, each also a controller, on 127.0.0.1. Dropping it kills the brokers and removes their data; so does
/// the end of the process, however it comes.
#[derive(Debug)]
pub struct RealKafka {
    nodes: Vec<Node>,
    // After the nodes: the folder goes when the brokers are gone.
    _folder: TempDir,
}

#[derive(Debug)]
struct Node {
    port: u16,
    java: Vec<String>,
    folder: PathBuf,
    /// `None` while it is killed.
    broker: Mutex<Option<Broker>>,
}

/// How a cluster is to be; `RealKafka::builder()`.
#[derive(Debug, Clone)]
pub struct Builder {
    version: String,
    brokers: usize,
    properties: BTreeMap<String, String>,
    jvm: Vec<String>,
}

impl RealKafka {
    /// A cluster of one broker, to be changed.
    #[must_use]
    pub fn builder() -> Builder {
        // Tests want a quick start more than a quick broker: the serial collector and the first compiler only.
        let jvm = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"].map(str::to_owned).to_vec();
        Builder { version: jars::VERSION.to_owned(), brokers: 1, properties: BTreeMap::new(), jvm }
    }

    /// Starts a cluster of `brokers`, or says why it cannot be had here and answers `None`.
    ///
    /// # Panics
    /// When Java and the jars are there but the cluster does not start; with `MILENA_REQUIRE_KAFKA=1` also when they are not.
    #[must_use]
    pub fn start_or_skip(brokers: usize) -> Option<Self> {
        Self::builder().brokers(brokers).start_or_skip()
    }

    /// The cluster of `brokers` that the tests of this process share. A test that hurts its brokers starts one of its own.
    ///
    /// # Panics
    /// As [`start_or_skip`](Self::start_or_skip).
    #[must_use]
    pub fn shared_or_skip(brokers: usize) -> Option<&'static Self> {
        static SHARED: Mutex<BTreeMap<usize, &'static OnceLock<Option<RealKafka>>>> =
            Mutex::new(BTreeMap::new());
        let cell = {
            let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            *shared.entry(brokers).or_insert_with(|| Box::leak(Box::default()))
        };
        cell.get_or_init(|| Self::start_or_skip(brokers)).as_ref()
    }

    /// The addresses of all brokers, as clients want them: `127.0.0.1:19092,127.0.0.1:…`.
    #[must_use]
    pub fn bootstrap(&self) -> String {
        let addresses: Vec<String> =
            self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        addresses.join(",")
    }

    /// How many brokers it has, dead ones included.
    #[must_use]
    pub fn brokers(&self) -> usize {
        self.nodes.len()
    }

    /// The client port of broker `id`.
    ///
    /// # Panics
    /// When there is no broker `id`; they are numbered from 1.
    #[must_use]
    pub fn port(&self, id: usize) -> u16 {
        self.node(id).port
    }

    /// The folder of broker `id`'s logs: a folder `topic-partition` in it for each partition.
    ///
    /// # Panics
    /// When there is no broker `id`.
    #[must_use]
    pub fn log_dir(&self, id: usize) -> PathBuf {
        self.node(id).folder.join("data")
    }

    /// SIGKILLs broker `id` and waits until it is gone. Its data stays.
    ///
    /// # Errors
    /// When it is dead already.
    pub fn kill(&self, id: usize) -> Result<()> {
        let broker = self.node(id).broker().take();
        broker.with_context(|| format!("broker {id} is dead already"))?.kill()
    }

    /// Starts broker `id` again, on its data and at its address, and waits until it serves requests.
    ///
    /// # Errors
    /// When it lives, or does not come up; the error holds what it said.
    pub fn start(&self, id: usize) -> Result<()> {
        let node = self.node(id);
        let mut broker = node.broker();
        ensure!(broker.is_none(), "broker {id} is running");
        let started = Broker::spawn(&node.java, &node.folder)?;
        started.wait_until_started(START_PATIENCE).with_context(|| format!("starting broker {id}"))?;
        *broker = Some(started);
        Ok(())
    }

    /// Stops broker `id` in its tracks (SIGSTOP): its connections stay open and nothing answers.
    ///
    /// # Errors
    /// When it is dead.
    pub fn pause(&self, id: usize) -> Result<()> {
        self.signal(id, Signal::STOP)
    }

    /// Lets a paused broker `id` go on (SIGCONT).
    ///
    /// # Errors
    /// When it is dead.
    pub fn resume(&self, id: usize) -> Result<()> {
        self.signal(id, Signal::CONT)
    }

    fn signal(&self, id: usize, signal: Signal) -> Result<()> {
        let broker = self.node(id).broker();
        broker.as_ref().with_context(|| format!("broker {id} is dead"))?.signal(signal)
    }

    fn node(&self, id: usize) -> &Node {
        let node = id.checked_sub(1).and_then(|at| self.nodes.get(at));
        node.unwrap_or_else(|| {
            panic!("there is no broker {id}; they are numbered from 1 to {}", self.nodes.len())
        })
    }
}

impl Node {
    fn broker(&self) -> MutexGuard<'_, Option<Broker>> {
        self.broker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Builder {
    /// Another version of Kafka than 4.4.0; one from 3.3 on, since its brokers are also controllers.
    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        version.clone_into(&mut self.version);
        self
    }

    /// How many brokers.
    #[must_use]
    pub fn brokers(mut self, brokers: usize) -> Self {
        self.brokers = brokers;
        self
    }

    /// Sets a property of each broker (`server.properties`).
    #[must_use]
    pub fn property(mut self, key: &str, value: impl Into<String>) -> Self {
        self.properties.insert(key.to_owned(), value.into());
        self
    }

    /// Options of the Java machine in place of those that make it start quickly: for measurements.
    #[must_use]
    pub fn jvm(mut self, options: &[&str]) -> Self {
        self.jvm = options.iter().map(|&option| option.to_owned()).collect();
        self
    }

    /// Starts the cluster, and waits until every broker serves requests.
    ///
    /// # Errors
    /// When Java or the jars are missing, or a broker does not come up; the error holds what it said.
    pub fn start(&self) -> Result<RealKafka> {
        let taken = |error: &anyhow::Error| format!("{error:#}").contains("Address already in use");
        for _ in 1..ATTEMPTS {
            match self.start_once() {
                Err(error) if taken(&error) => {}
                outcome => return outcome,
            }
        }
        self.start_once()
    }

    /// As [`start`](Self::start), or says why no Kafka can be had here and answers `None`.
    ///
    /// # Panics
    /// As [`RealKafka::start_or_skip`].
    #[must_use]
    pub fn start_or_skip(&self) -> Option<RealKafka> {
        if let Some(why) = jars::missing(&self.version) {
            crate::skip(why);
            return None;
        }
        Some(self.start().unwrap_or_else(|error| panic!("starting a real Kafka: {error:#}")))
    }

    fn start_once(&self) -> Result<RealKafka> {
        ensure!(self.brokers > 0, "a cluster has at least one broker");
        let classpath = &jars::classpath(&self.version)?;
        let folder = tempfile::Builder::new()
            .prefix("real-kafka-")
            .tempdir()
            .context("making a folder for Kafka's data")?;
        let ports = free_ports(2 * self.brokers)?;
        let (ports, controller_ports) = ports.split_at(self.brokers);
        let cluster_id = format!("milena{:016x}", random());
        let mut nodes = Vec::new();
        for (id, (&port, &controller_port)) in (1..).zip(ports.iter().zip(controller_ports)) {
            let home = folder.path().join(format!("broker-{id}"));
            std::fs::create_dir_all(&home).context("making a broker's folder")?;
            let properties = home.join("server.properties");
            let text = self.server_properties(id, port, controller_port, controller_ports, &home);
            std::fs::write(&properties, text).context("writing server.properties")?;
            let java = self.java(classpath, "kafka.Kafka", &[&properties.display().to_string()]);
            nodes.push(Node { port, java, folder: home, broker: Mutex::new(None) });
        }
        let kafka = RealKafka { nodes, _folder: folder };
        on_each(&kafka.nodes, |node| self.format(classpath, &cluster_id, &node.folder))?;
        let ids: Vec<usize> = (1..=self.brokers).collect();
        on_each(&ids, |&id| kafka.start(id))?;
        Ok(kafka)
    }

    fn java(&self, classpath: &str, class: &str, arguments: &[&str]) -> Vec<String> {
        let mut java = vec!["java".to_owned()];
        java.extend(self.jvm.iter().cloned());
        let logging = [
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-Dorg.slf4j.simpleLogger.log.kafka.server=info",
        ];
        java.extend(logging.map(str::to_owned));
        java.extend(["-cp", classpath, class].map(str::to_owned));
        java.extend(arguments.iter().map(|&argument| argument.to_owned()));
        java
    }

    fn format(&self, classpath: &str, cluster_id: &str, home: &Path) -> Result<()> {
        let properties = home.join("server.properties").display().to_string();
        let java =
            self.java(classpath, "kafka.tools.StorageTool", &["format", "-t", cluster_id, "-c", &properties]);
        let (program, arguments) = java.split_first().context("an empty command")?;
        let output = process::run(Command::new(program).args(arguments), b"", FORMAT_PATIENCE)?;
        output.text().context("formatting a broker's storage")?;
        Ok(())
    }

    fn server_properties(
        &self,
        id: usize,
        port: u16,
        controller: u16,
        controllers: &[u16],
        home: &Path,
    ) -> String {
        let voters: Vec<String> =
            (1..).zip(controllers).map(|(id, port): (usize, _)| format!("{id}@127.0.0.1:{port}")).collect();
        let factor = self.brokers.min(3).to_string();
        let mut properties: BTreeMap<String, String> = [
            ("process.roles", "broker,controller"),
            ("controller.listener.names", "CONTROLLER"),
            ("listener.security.protocol.map", "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"),
            ("num.partitions", "3"),
            ("default.replication.factor", &factor),
            ("offsets.topic.replication.factor", &factor),
            ("offsets.topic.num.partitions", "5"),
            ("transaction.state.log.replication.factor", &factor),
            ("transaction.state.log.num.partitions", "5"),
            ("transaction.state.log.min.isr", "1"),
            ("share.coordinator.state.topic.replication.factor", &factor),
            ("share.coordinator.state.topic.min.isr", "1"),
            ("group.initial.rebalance.delay.ms", "0"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
        properties.insert("node.id".to_owned(), id.to_string());
        properties.insert("controller.quorum.voters".to_owned(), voters.join(","));
        let listeners = format!("PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}");
        properties.insert("listeners".to_owned(), listeners);
        properties.insert("advertised.listeners".to_owned(), format!("PLAINTEXT://127.0.0.1:{port}"));
        properties.insert("log.dirs".to_owned(), home.join("data").display().to_string());
        properties.extend(self.properties.clone());
        properties.iter().fold(String::new(), |mut text, (key, value)| {
            _ = writeln!(text, "{key}={value}");
            text
        })
    }
}

/// Does something to each of `items` at the same time; the first error wins.
fn on_each<T: Sync>(items: &[T], act: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    thread::scope(|scope| {
        let threads: Vec<_> = items.iter().map(|item| scope.spawn(|| act(item))).collect();
        let outcomes: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
        outcomes
            .into_iter()
            .try_for_each(|outcome| outcome.unwrap_or_else(|_| anyhow::bail!("a thread panicked")))
    })
}

/// Ports that are free now. Not those that the system would choose (port 0): a killed broker comes back at its port, and meanwhile an
/// outgoing connection may be given a port of that range; one that tries to reach the dead broker can even connect to itself.
fn free_ports(count: usize) -> Result<Vec<u16>> {
    let range = u64::from(FIRST_EPHEMERAL_PORT - FIRST_PORT);
    // Held until all are found, so that none is found twice.
    let mut held = Vec::new();
    for _ in 0..100 * count {
        let port = FIRST_PORT + u16::try_from(random() % range).unwrap_or(0);
        held.extend(TcpListener::bind((Ipv4Addr::LOCALHOST, port)));
        if held.len() == count {
            return held
                .iter()
                .map(|socket| Ok(socket.local_addr().context("the address of a socket")?.port()))
                .collect();
        }
    }
    anyhow::bail!("no {count} free ports on 127.0.0.1 between {FIRST_PORT} and {FIRST_EPHEMERAL_PORT}")
}

/// The standard library's hasher is seeded by the system anew for each process, and differently for each state.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
