//! [`SimulatedBroker`]: a broker without sockets, whose requests somebody else brings and whose membership somebody else
//! drives. All else is the product's.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::{Frame, Uuid};
use milena_storage::fs::SharedFileSystem;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::Running;
use crate::background::Background;
use crate::boot::{self, Cluster};
use crate::controller::{ControllerError, ControllerState, CreateTopic, TopicSelector};
use crate::data_dir::DataDir;
use crate::faults::BrokerFaults;
use crate::kafka_apis::KafkaApis;
use crate::leaving::move_leaderships_away;
use crate::membership::{Beat, Member};
use crate::metadata_cache::{BrokerEndpoint, BrokerInfo};
use crate::network::{BoxFuture, Peer, Reply, RequestHandler};
use crate::node::Node;
use crate::registry::{ClusterRegistry, RegistryConfig, RegistryStore, RegistryView};
use crate::replica::Role;
use crate::task_gate::TaskGate;
use crate::{BrokerConfig, BrokerError};

/// The registry that the brokers of a simulation share.
#[derive(Debug, Clone)]
pub struct SimulatedRegistry(Arc<ClusterRegistry>);

impl SimulatedRegistry {
    /// The registry of a new cluster, with its file in `dir`.
    ///
    /// # Errors
    /// Whatever the disk says.
    pub fn open(fs: &SharedFileSystem, dir: &Path, session_timeout: Duration) -> Result<Self, BrokerError> {
        let store = RegistryStore::new(fs.clone(), dir, "cluster.json");
        ClusterRegistry::open(store, RegistryConfig { session_timeout })
            .map(|registry| Self(Arc::new(registry)))
    }

    /// Who is alive and who is the controller.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<RegistryView> {
        self.0.watch()
    }

    /// What the controllers have decided, as it is durable.
    #[must_use]
    pub fn cluster_state(&self) -> Arc<ControllerState> {
        self.0.cluster_state()
    }

    /// How often brokers say that they are there.
    #[must_use]
    pub fn heartbeat_interval(&self) -> Duration {
        self.0.heartbeat_interval()
    }
}

/// One replica, for those who look in from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicaView {
    /// The topic's name.
    pub topic: String,
    /// The topic's id.
    pub topic_id: Uuid,
    /// The partition's number.
    pub partition: i32,
    /// Whether this broker leads.
    pub leads: bool,
    /// Who leads as far as this broker knows.
    pub leader: i32,
    /// The leader's epoch as far as this broker knows.
    pub leader_epoch: i32,
    /// Offset after the last record that is known to be everywhere.
    pub high_watermark: i64,
    /// The log's first offset.
    pub log_start_offset: i64,
    /// The log's end.
    pub log_end_offset: i64,
}

/// An answer, or its promise: promises of one connection are waited for in order.
pub enum Answering {
    /// The frame; none where the client wants no answer.
    Now(Option<Frame>),
    /// The frame comes. An error closes the connection.
    Later(BoxFuture<'static, Result<Option<Frame>, String>>),
}

/// A broker. Dropping it kills it, once the tasks that were spawned on it have ended.
pub struct SimulatedBroker {
    background: Background,
    member: Member,
    apis: Arc<KafkaApis>,
}

impl std::fmt::Debug for SimulatedBroker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimulatedBroker")
            .field("id", &self.member.node.config.node_id)
            .finish_non_exhaustive()
    }
}

impl SimulatedBroker {
    /// Takes its directory, recovers what is in it and registers, all at once. Listeners are not opened: their addresses
    /// are what is advertised.
    ///
    /// # Errors
    /// [`BrokerError::DataDirInUse`] while a task of an earlier life runs, and whatever the disk says.
    pub fn start(config: BrokerConfig, registry: &SimulatedRegistry) -> Result<Self, BrokerError> {
        let _running = Running::new(config.node_id);
        let gate = TaskGate::new(Handle::current()).of_broker(config.node_id);
        let faults = BrokerFaults::none(config.node_id);
        let data_dir = DataDir::lock(&config.file_system, &config.data_dir)?;
        let info = BrokerInfo {
            id: config.node_id,
            rack: config.rack.clone(),
            endpoints: config.listeners.iter().map(endpoint).collect(),
        };
        let node =
            boot::boot(config, data_dir, info.clone(), &Cluster::Shared(registry.0.clone()), gate, faults)?;
        let node = Arc::new(node);
        let apis = Arc::new(KafkaApis::new(node.clone()));
        let background = Background::start(&node);
        Ok(Self { background, member: Member { node, info }, apis })
    }

    /// Spawns a task that is held while the broker is paused.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        self.member.node.gate.spawn(task).abort_handle()
    }

    /// Holds every task of the broker where it is.
    pub fn pause(&self) {
        self.member.node.gate.close();
    }

    /// Lets them go on.
    pub fn resume(&self) {
        self.member.node.gate.open();
    }

    /// Whether it is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.member.node.gate.is_closed()
    }

    /// What handles this broker's requests; to be polled from a task of the broker.
    #[must_use]
    pub fn handler(&self) -> RequestEntry {
        RequestEntry { apis: self.apis.clone() }
    }

    /// What drives this broker's membership; to be used from a task of the broker.
    #[must_use]
    pub fn membership(&self) -> Membership {
        Membership { member: self.member.clone() }
    }

    /// Whether it holds the controller's office.
    #[must_use]
    pub fn is_controller(&self) -> bool {
        self.member.node.controller.is_active()
    }

    /// Creates a topic as the controller, and waits until everybody knows.
    pub fn create_topic(
        &self,
        topic: CreateTopic,
        wait: Duration,
    ) -> impl Future<Output = Result<(), ControllerError>> + Send + use<> {
        let controller = self.member.node.controller.clone();
        async move {
            let answer = controller.create_topics(vec![topic], false, wait).await.pop();
            answer.map_or(Ok(()), |answer| answer.map(drop))
        }
    }

    /// Deletes a topic as the controller, by its id, and waits until everybody has forgotten it.
    pub fn delete_topic(
        &self,
        id: Uuid,
        wait: Duration,
    ) -> impl Future<Output = Result<(), ControllerError>> + Send + use<> {
        let controller = self.member.node.controller.clone();
        async move {
            let topic = TopicSelector::Id(id);
            let answer = controller.delete_topics(vec![topic], wait).await.pop();
            answer.map_or(Ok(()), |answer| answer.map(drop))
        }
    }

    /// Moves replicas as the controller.
    pub fn reassign(
        &self,
        partitions: Vec<(String, i32, Option<Vec<i32>>)>,
    ) -> impl Future<Output = Result<(), ControllerError>> + Send + use<> {
        let controller = self.member.node.controller.clone();
        async move { controller.alter_reassignments(partitions, false).await.map(drop) }
    }

    /// Gives the leaderships away and leaves the cluster; the broker is to be dropped afterwards.
    pub fn leave(&self) -> impl Future<Output = ()> + Send + use<> {
        let node = self.member.node.clone();
        async move {
            move_leaderships_away(&node).await;
            node.replica_manager.stop_waiting();
            // Its session may have ended already.
            let _left = node.registry.unregister(node.config.node_id, node.obedience.broker_epoch());
            node.replica_manager.checkpoint_high_watermarks();
            if let Err(error) = node.replica_manager.logs().shutdown() {
                tracing::warn!(%error, "the logs are not closed in order");
            }
        }
    }

    /// The replicas that it serves, in order.
    #[must_use]
    pub fn replicas(&self) -> Vec<ReplicaView> {
        let partitions = self.member.node.replica_manager.partitions();
        let view = |partition: &Arc<crate::replica_manager::Partition>| {
            let (leader, leader_epoch) = partition.leader();
            ReplicaView {
                topic: partition.name().topic.clone(),
                topic_id: partition.topic_id(),
                partition: partition.name().partition,
                leads: matches!(partition.check_replica(-1), Ok(Role::Leader)),
                leader,
                leader_epoch,
                high_watermark: partition.high_watermark(),
                log_start_offset: partition.reader().log_start_offset(),
                log_end_offset: partition.reader().log_end_offset(),
            }
        };
        let mut views: Vec<_> = partitions.iter().map(view).collect();
        views.sort_by(|a, b| (&a.topic, a.partition).cmp(&(&b.topic, b.partition)));
        views
    }

    /// Every log on its disk, served or not: topic, partition, and the topic's id if the log has one.
    #[must_use]
    pub fn logs(&self) -> Vec<(String, i32, Option<Uuid>)> {
        let logs = self.member.node.replica_manager.logs().logs().into_iter();
        let logs = logs.map(|handle| {
            let name = handle.topic_partition();
            (name.topic.clone(), name.partition, handle.log().lock().topic_id())
        });
        logs.collect()
    }

    /// The batches of a replica, from its log's start to its end.
    #[must_use]
    pub fn batches(&self, topic: &str, partition: i32) -> Vec<Bytes> {
        let Ok(partition) = self.member.node.replica_manager.partition(topic, partition) else {
            return Vec::new();
        };
        let reader = partition.reader();
        let (mut offset, end) = (reader.log_start_offset(), reader.log_end_offset());
        let mut batches = Vec::new();
        while offset < end {
            match reader.read(offset, usize::MAX, end, true) {
                Ok(read) if read.next_offset > offset => {
                    offset = read.next_offset;
                    batches.push(read.records);
                }
                _ => return batches,
            }
        }
        batches
    }

    /// Why a replica's log takes no records, if so.
    #[must_use]
    pub fn poisoned(&self) -> BTreeMap<String, String> {
        let partitions = self.member.node.replica_manager.partitions();
        let poisoned = partitions.iter().filter_map(|partition| {
            let log = partition.log().log().lock();
            log.poisoned().map(|reason| (partition.name().to_string(), reason.to_owned()))
        });
        poisoned.collect()
    }

    /// A task that somebody else spawns, held while the broker is paused.
    pub fn guard(&self, task: impl Future<Output = ()> + Send + 'static) -> BoxFuture<'static, ()> {
        Box::pin(self.member.node.gate.guard(task))
    }

    /// Ends the tasks that the broker has by itself. Those that were spawned on it are to be aborted as well.
    #[must_use]
    pub fn kill(self) -> Remains {
        let Self { background, member, apis } = self;
        let remains = Remains(Arc::downgrade(&member.node));
        drop((background, member, apis));
        remains
    }
}

/// What is left of a broker that was killed.
#[derive(Debug)]
pub struct Remains(Weak<Node>);

impl Remains {
    /// Whether no task uses the broker any more, so that it can be started again.
    #[must_use]
    pub fn are_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

/// Handles the requests of a broker.
#[derive(Clone)]
pub struct RequestEntry {
    apis: Arc<KafkaApis>,
}

impl RequestEntry {
    /// Handles one frame, which came in on `listener`. An error closes the connection.
    pub async fn handle(
        &self,
        client: SocketAddr,
        listener: &Arc<str>,
        frame: Bytes,
    ) -> Result<Answering, String> {
        let peer = Arc::new(Peer { address: client, listener: listener.clone() });
        match self.apis.handle(peer, frame).await {
            Ok(Reply::Now(frame)) => Ok(Answering::Now(frame)),
            Ok(Reply::Later(later)) => {
                Ok(Answering::Later(Box::pin(
                    async move { later.await.map_err(|reason| reason.to_string()) },
                )))
            }
            Ok(Reply::InTurn(later)) => Ok(Answering::Later(Box::pin(async move {
                let (frame, _room) = later.await.map_err(|reason| reason.to_string())?;
                Ok(Some(frame))
            }))),
            Err(reason) => Err(reason.to_string()),
        }
    }
}

/// Drives the membership of a broker.
#[derive(Clone)]
pub struct Membership {
    member: Member,
}

impl Membership {
    /// Hears who is alive and who is the controller.
    pub fn cluster_changed(&self, view: &RegistryView) {
        self.member.cluster_changed(view);
    }

    /// Says that the broker is there; registers again if the session has ended.
    pub fn beat(&self) {
        if self.member.beat() == Beat::Alone {
            let view = self.member.node.registry.watch().borrow().clone();
            self.member.cluster_changed(&view);
        }
    }
}

fn endpoint(listener: &crate::ListenerConfig) -> BrokerEndpoint {
    BrokerEndpoint {
        listener: listener.name.clone(),
        host: listener.advertised_host.clone().unwrap_or_else(|| listener.bind.ip().to_string()),
        port: listener.advertised_port.unwrap_or(listener.bind.port()),
    }
}
