//! [`Node`]: what the requests of one broker work on.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use milena_protocol::{ErrorCode, Request, Uuid};
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::client_memory::ClientMemory;
use crate::clock::Clock;
use crate::config::BrokerConfig;
use crate::controller::{Controller, Obedience};
use crate::coordinator::GroupCoordinator;
use crate::data_dir::DataDir;
use crate::faults::BrokerFaults;
use crate::fetch_session::FetchSessionCache;
use crate::metadata_cache::{BrokerInfo, MetadataCache};
use crate::network::InterBrokerConnection;
use crate::producer_ids::ProducerIdManager;
use crate::registry::ClusterRegistry;
use crate::replica_manager::{Partition, ReplicaManager};
use crate::simulation;
use crate::task_gate::TaskGate;
use crate::topic_configs::TopicConfigs;

/// How long the controller may take to answer another broker.
const CONTROLLER_TIMEOUT: Duration = Duration::from_secs(15);

/// How many large reads there are at a time (`num.io.threads`; Kafka's 8 do everything).
pub(crate) const LARGE_READS: usize = 4;

/// One broker without its sockets.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) config: BrokerConfig,
    /// As other brokers and clients know it.
    pub(crate) info: BrokerInfo,
    pub(crate) clock: Clock,
    /// Whatever runs for this broker has been spawned through it.
    pub(crate) gate: TaskGate,
    pub(crate) faults: BrokerFaults,
    pub(crate) metadata_cache: Arc<MetadataCache>,
    pub(crate) topic_configs: Arc<TopicConfigs>,
    pub(crate) replica_manager: Arc<ReplicaManager>,
    pub(crate) registry: Arc<ClusterRegistry>,
    pub(crate) controller: Arc<Controller>,
    pub(crate) obedience: Arc<Obedience>,
    pub(crate) producer_ids: ProducerIdManager,
    pub(crate) groups: Arc<GroupCoordinator>,
    /// For what is read for clients, until they have taken it.
    pub(crate) fetch_memory: Arc<ClientMemory>,
    pub(crate) fetch_sessions: Mutex<FetchSessionCache>,
    /// Whose turn it is to read much for a client. So many at a time keep a disk busy; more would only keep the CPUs from
    /// answering others.
    pub(crate) large_reads: Arc<Semaphore>,
    /// The last field, so that the directory is given up when nothing of the broker uses it any more.
    pub(crate) data_dir: DataDir,
}

impl Node {
    /// A partition that this broker holds, for a client (`ReplicaManager.getPartitionOrError`).
    ///
    /// # Errors
    /// As [`ReplicaManager::partition`]; NOT_LEADER_OR_FOLLOWER for one that only others hold, so that the client looks where it
    /// has moved.
    pub(crate) fn partition(&self, topic: &str, number: i32) -> Result<Arc<Partition>, ErrorCode> {
        let found = self.replica_manager.partition(topic, number);
        found.map_err(|code| self.elsewhere(topic, number, code))
    }

    /// The same of the topic with this id.
    ///
    /// # Errors
    /// As [`partition`](Self::partition) and [`ReplicaManager::partition_of`].
    pub(crate) fn partition_of(
        &self,
        topic: &str,
        id: Uuid,
        number: i32,
    ) -> Result<Arc<Partition>, ErrorCode> {
        let found = self.replica_manager.partition_of(topic, id, number);
        found.map_err(|code| self.elsewhere(topic, number, code))
    }

    /// What a client hears of a partition that is not here.
    pub(crate) fn elsewhere(&self, topic: &str, number: i32, code: ErrorCode) -> ErrorCode {
        let snapshot = self.metadata_cache.load();
        let exists = || snapshot.topic(topic).is_some_and(|topic| topic.partition(number).is_some());
        if code == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION && exists() {
            return ErrorCode::NOT_LEADER_OR_FOLLOWER;
        }
        code
    }

    /// Asks the controller, be it this broker or another one, on a connection of its own.
    pub(crate) async fn ask_controller<R: Request>(
        &self,
        version: i16,
        request: &R,
    ) -> io::Result<R::Response> {
        let found = {
            let snapshot = self.metadata_cache.load();
            let controller = snapshot.controller_id().and_then(|id| snapshot.broker(id));
            let endpoint_of = |broker: &BrokerInfo| {
                Some((broker.id, broker.endpoint(self.config.inter_broker_listener())?.clone()))
            };
            controller.and_then(endpoint_of)
        };
        let (id, endpoint) = found.ok_or_else(|| io::Error::other("no controller is known"))?;
        let exchange = async {
            let own = &self.faults.host;
            let mut connection =
                InterBrokerConnection::connect(own, id, &endpoint.host, endpoint.port).await?;
            connection.call(version, request).await
        };
        timeout(CONTROLLER_TIMEOUT, exchange).await.unwrap_or(Err(io::ErrorKind::TimedOut.into()))
    }
}

fn random_bytes() -> [u8; 16] {
    match simulation::world() {
        None => rand::random(),
        Some((world, broker)) => u128::from(world.random(broker))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
            .to_le_bytes(),
    }
}

/// A random id, never [`Uuid::ZERO`] and never with a leading hyphen, which tools would take for an option
/// (`Uuid.randomUuid`).
pub(crate) fn random_uuid() -> Uuid {
    loop {
        let mut bytes: [u8; 16] = random_bytes();
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let id = Uuid(bytes);
        if !id.is_zero() && !id.to_string().starts_with('-') {
            return id;
        }
    }
}
