//! [`BrokerConfig`]: what one broker is told when it starts.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use milena_storage::fs::{RealFileSystem, SharedFileSystem};
use milena_storage::{ConfigKey, FsyncPolicy, LogConfig};

use crate::BrokerError;

/// The name of the listener that a broker has when nothing else is said.
pub const DEFAULT_LISTENER: &str = "PLAINTEXT";

/// `replica.lag.time.max.ms` when nothing else is said.
pub(crate) const DEFAULT_REPLICA_LAG_TIME_MAX: Duration = Duration::from_secs(30);

/// The configuration of one broker. Names and defaults are Kafka's (`server.properties`) unless a comment says why not.
#[derive(Debug, Clone)]
pub struct BrokerConfig {
    /// `node.id`: unique in the cluster, not negative.
    pub node_id: i32,
    /// `broker.rack`.
    pub rack: Option<String>,
    /// `log.dirs`, of which there is one. Created when missing.
    pub data_dir: PathBuf,
    /// Where `data_dir` lives: the disk, memory, or a disk with faults.
    pub file_system: SharedFileSystem,
    /// `listeners` and `advertised.listeners`; at least one.
    pub listeners: Vec<ListenerConfig>,
    /// `inter.broker.listener.name`: where brokers talk to each other, and the only listener on which a broker obeys a
    /// controller. When None: the first one, and it obeys nobody.
    pub inter_broker_listener_name: Option<String>,
    /// `auto.create.topics.enable`.
    pub auto_create_topics: bool,
    /// `num.partitions`: of a topic that is created without a number.
    pub num_partitions: i32,
    /// `default.replication.factor`.
    pub default_replication_factor: i16,
    /// `offsets.topic.num.partitions`: over how many partitions, and so coordinators, groups are spread. Kafka has 50; few
    /// brokers in one process need no more than these.
    pub offsets_topic_num_partitions: i32,
    /// `offsets.topic.replication.factor`; where fewer brokers are alive, as many as there are.
    pub offsets_topic_replication_factor: i16,
    /// `delete.topic.enable`.
    pub delete_topics: bool,
    /// `auto.leader.rebalance.enable`: leaderships go back to the preferred replicas by themselves.
    pub auto_leader_rebalance: bool,
    /// `leader.imbalance.check.interval.seconds`: how often the controller looks for them.
    pub leader_imbalance_check_interval: Duration,
    /// `leader.imbalance.per.broker.percentage`: how many of the partitions that prefer a broker may be led elsewhere.
    pub leader_imbalance_per_broker_percentage: u32,
    /// What a topic has that says nothing else.
    pub log: LogConfig,
    /// When appended records are made durable.
    pub fsync: FsyncPolicy,
    /// `log.retention.check.interval.ms`.
    pub retention_check_interval: Duration,
    /// `log.cleaner.backoff.ms`: how often logs are looked at that are to be compacted.
    pub log_cleaner_backoff: Duration,
    /// `replica.lag.time.max.ms`: a follower that has not caught up for so long is in sync no more.
    pub replica_lag_time_max: Duration,
    /// `replica.selector.class`.
    pub replica_selector: ReplicaSelector,
    /// How many bytes of records the answers to all fetching clients may hold until they are written. When it is used up answers
    /// get smaller, down to the one batch that each is owed (KIP-74), and that is waited for until there is room for it. A
    /// quarter is for batches of at most a sixteenth; a batch larger than the rest is let through when it can have that alone,
    /// and takes what it is more. When others have waited for a second, a client that has taken nothing for a quarter of a
    /// second, or less than 8 MiB a second, is closed. Followers are not counted.
    pub fetch_memory: usize,
    /// Limits of the sockets.
    pub socket: SocketConfig,
}

impl BrokerConfig {
    /// A broker with id 1 on `data_dir`, listening on a port of 127.0.0.1 that the system chooses.
    #[must_use]
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            node_id: 1,
            rack: None,
            data_dir: data_dir.into(),
            file_system: RealFileSystem::shared(),
            listeners: vec![ListenerConfig::loopback(0)],
            inter_broker_listener_name: None,
            auto_create_topics: true,
            num_partitions: 1,
            default_replication_factor: 1,
            offsets_topic_num_partitions: 6,
            offsets_topic_replication_factor: 3,
            delete_topics: true,
            auto_leader_rebalance: true,
            leader_imbalance_check_interval: Duration::from_mins(5),
            leader_imbalance_per_broker_percentage: 10,
            log: LogConfig::default(),
            fsync: FsyncPolicy::default(),
            retention_check_interval: Duration::from_mins(5),
            log_cleaner_backoff: Duration::from_secs(15),
            replica_lag_time_max: DEFAULT_REPLICA_LAG_TIME_MAX,
            replica_selector: ReplicaSelector::default(),
            fetch_memory: 64 << 20,
            socket: SocketConfig::default(),
        }
    }

    /// The listener on which brokers talk to each other.
    pub(crate) fn inter_broker_listener(&self) -> &str {
        let first = || self.listeners.first().map_or(DEFAULT_LISTENER, |listener| listener.name.as_str());
        self.inter_broker_listener_name.as_deref().unwrap_or_else(first)
    }

    /// Whether those who come in on a listener are clients: all but the brokers on the one that was named for them.
    pub(crate) fn is_for_clients(&self, listener: &str) -> bool {
        self.inter_broker_listener_name.as_deref() != Some(listener)
    }

    pub(crate) fn validate(&self) -> Result<(), BrokerError> {
        let invalid = |reason: String| Err(BrokerError::InvalidConfig(reason));
        if self.node_id < 0 {
            return invalid(format!("node.id is {}, but must not be negative", self.node_id));
        }
        if self.listeners.is_empty() {
            return invalid("listeners is empty, but a broker needs at least one".to_owned());
        }
        for (index, listener) in self.listeners.iter().enumerate() {
            if self.listeners[..index].iter().any(|other| other.name == listener.name) {
                return invalid(format!("two listeners are named {}", listener.name));
            }
        }
        if let Some(name) = &self.inter_broker_listener_name
            && !self.listeners.iter().any(|listener| listener.name == *name)
        {
            return invalid(format!("inter.broker.listener.name is {name}, but no listener has that name"));
        }
        if self.num_partitions < 1 {
            return invalid(format!("num.partitions is {}, but must be at least 1", self.num_partitions));
        }
        if self.leader_imbalance_check_interval.is_zero() {
            return invalid("leader.imbalance.check.interval.seconds is 0, but must be more".to_owned());
        }
        let (partitions, factor) = (self.offsets_topic_num_partitions, self.offsets_topic_replication_factor);
        if partitions < 1 || factor < 1 {
            return invalid(format!(
                "offsets.topic.num.partitions is {partitions} and offsets.topic.replication.factor {factor}, but both must be \
                 at least 1"
            ));
        }
        Ok(())
    }
}

/// Which replica a leader sends consumers to (KIP-392).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplicaSelector {
    /// None but itself (`LeaderSelector`).
    #[default]
    Leader,
    /// One in the consumer's rack that is in sync, if there is one (`RackAwareReplicaSelector`).
    RackAware,
}

/// One listener: where it listens, and which address clients are told to use.
#[derive(Debug, Clone)]
pub struct ListenerConfig {
    /// The listener's name, by Kafka's custom in capitals. Clients of a listener are only told of that listener.
    pub name: String,
    /// The address to listen on; with port 0 the system chooses.
    pub bind: SocketAddr,
    /// The host that clients are told; that of `bind` when None.
    pub advertised_host: Option<String>,
    /// The port that clients are told; the one listened on when None.
    pub advertised_port: Option<u16>,
}

impl ListenerConfig {
    /// The listener [`DEFAULT_LISTENER`] on 127.0.0.1.
    #[must_use]
    pub fn loopback(port: u16) -> Self {
        Self {
            name: DEFAULT_LISTENER.to_owned(),
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            advertised_host: None,
            advertised_port: None,
        }
    }
}

/// What bounds the connections of one broker. Every bound is per broker, per listener or per connection, as it says.
#[derive(Debug, Clone)]
pub struct SocketConfig {
    /// `socket.request.max.bytes`: a longer frame closes its connection.
    pub request_max_bytes: usize,
    /// `queued.max.request.bytes`, of the broker: how many bytes the requests of all clients may have in memory, from when
    /// 64 KiB of one have arrived until it is taken on; smaller ones are not counted. When it is used up, a connection on which
    /// a request arrives is not read from until there is room for all of it. A quarter is for requests of at most a sixteenth; one
    /// larger than the rest is let through when it can have that alone. When others have waited for a second, a client that has
    /// sent nothing for a quarter of a second, or less than 8 MiB a second, is closed. Kafka has no bound by default; this one
    /// suits a laptop. What brokers say to each other on a listener of their own is not counted.
    pub queued_max_request_bytes: usize,
    /// `max.connections`, of each listener: one more is closed as soon as it is accepted, unless another one makes room
    /// ([`first_request_timeout`](Self::first_request_timeout)). Kafka has no bound by default. All
    /// listeners together never have more than three quarters of the files that the process may open (`ulimit -n`): the log
    /// needs some.
    pub max_connections: usize,
    /// When a listener has all its connections, the oldest that has not sent a whole request for so long is closed for a new
    /// one. Kafka knows nothing like it; its clients give up a connection that is not set up in 10 s
    /// (`socket.connection.setup.timeout.ms`).
    pub first_request_timeout: Duration,
    /// `connections.max.idle.ms`: a connection that is silent for so long, and waits for nothing, is closed.
    pub connections_max_idle: Duration,
    /// How long a client may take nothing of an answer before its connection is closed.
    pub write_timeout: Duration,
    /// How many requests of one connection are taken in before the first is answered.
    pub max_pipelined_requests: usize,
    /// How many bytes of requests and of answers one connection may hold; a single larger one is let through alone.
    pub max_pipelined_bytes: usize,
}

impl Default for SocketConfig {
    fn default() -> Self {
        Self {
            request_max_bytes: 100 * 1024 * 1024,
            queued_max_request_bytes: 256 * 1024 * 1024,
            max_connections: 2_000,
            first_request_timeout: Duration::from_secs(10),
            connections_max_idle: Duration::from_mins(10),
            write_timeout: Duration::from_secs(30),
            max_pipelined_requests: 64,
            max_pipelined_bytes: 4 * 1024 * 1024,
        }
    }
}

/// The setting of topics whose default a broker has under this name (`ServerTopicConfigSynonyms`): `segment.bytes` for
/// `log.segment.bytes`.
#[must_use]
pub fn topic_setting(broker_name: &str) -> Option<&'static str> {
    ConfigKey::all().iter().map(|key| key.name).find(|name| self::broker_name(name) == broker_name)
}

/// What a topic's setting is called in the broker's configuration (`ServerTopicConfigSynonyms`).
pub(crate) fn broker_name(topic_name: &'static str) -> &'static str {
    match topic_name {
        "cleanup.policy" => "log.cleanup.policy",
        "delete.retention.ms" => "log.cleaner.delete.retention.ms",
        "file.delete.delay.ms" => "log.segment.delete.delay.ms",
        "flush.messages" => "log.flush.interval.messages",
        "flush.ms" => "log.flush.interval.ms",
        "index.interval.bytes" => "log.index.interval.bytes",
        "max.compaction.lag.ms" => "log.cleaner.max.compaction.lag.ms",
        "max.message.bytes" => "message.max.bytes",
        "message.timestamp.after.max.ms" => "log.message.timestamp.after.max.ms",
        "message.timestamp.before.max.ms" => "log.message.timestamp.before.max.ms",
        "message.timestamp.type" => "log.message.timestamp.type",
        "min.cleanable.dirty.ratio" => "log.cleaner.min.cleanable.ratio",
        "min.compaction.lag.ms" => "log.cleaner.min.compaction.lag.ms",
        "preallocate" => "log.preallocate",
        "retention.bytes" => "log.retention.bytes",
        "retention.ms" => "log.retention.ms",
        "segment.bytes" => "log.segment.bytes",
        "segment.index.bytes" => "log.index.size.max.bytes",
        "segment.jitter.ms" => "log.roll.jitter.ms",
        "segment.ms" => "log.roll.ms",
        same => same,
    }
}
