//! [`TestCluster`]: brokers that share a registry, for tests that look inside.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::Uuid;
use milena_protocol::messages::{PartitionProduceData, ProduceRequest, TopicProduceData};
use milena_protocol::records::{BatchBuilder, Seal};
use milena_storage::FsyncPolicy;
use milena_storage::fs::{DiskFaults, MemoryFileSystem, SharedFileSystem};
use tokio::time::timeout;

use crate::clock::Clock;
use crate::controller::{CreateTopic, PartitionState};
use crate::faults::{BrokerFaults, Host};
use crate::network::InterBrokerConnection;
use crate::registry::{ClusterRegistry, RegistryConfig, RegistryStore};
use crate::{Broker, BrokerConfig, ListenerConfig};

/// To a broker, as a client.
pub(crate) async fn connect(address: SocketAddr) -> io::Result<InterBrokerConnection> {
    InterBrokerConnection::connect(&Host::alone(-1), 1, &address.ip().to_string(), address.port()).await
}

/// One record.
pub(crate) fn record(value: &[u8], seal: Seal) -> Bytes {
    let mut batch = BatchBuilder::new(Vec::new());
    batch.append(Clock::default().now_ms(), None, Some(value), &[]);
    batch.seal(seal).into()
}

/// To one partition, in version 13.
pub(crate) fn produce_request(topic_id: Uuid, partition: i32, records: Bytes, acks: i16) -> ProduceRequest {
    let data = PartitionProduceData { index: partition, records: Some(records) };
    let topic = TopicProduceData { topic_id, partition_data: vec![data], ..Default::default() };
    ProduceRequest { acks, timeout_ms: 30_000, topic_data: vec![topic], ..Default::default() }
}

const SESSION: Duration = Duration::from_millis(400);
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);
pub(crate) const INTERNAL: &str = "INTERNAL";

/// A registry and its brokers, each of which may be down.
pub(crate) struct TestCluster {
    pub(crate) registry: Arc<ClusterRegistry>,
    pub(crate) configs: BTreeMap<i32, BrokerConfig>,
    pub(crate) brokers: BTreeMap<i32, Broker>,
    /// What is wrong with the brokers' disks.
    pub(crate) disks: BTreeMap<i32, DiskFaults>,
}

impl TestCluster {
    pub(crate) async fn start(ids: impl IntoIterator<Item = i32>) -> Self {
        Self::start_with(MemoryFileSystem::shared(), ids, FsyncPolicy::default()).await
    }

    /// The same, with the registry's file on this disk.
    pub(crate) async fn start_with(
        disk: SharedFileSystem,
        ids: impl IntoIterator<Item = i32>,
        fsync: FsyncPolicy,
    ) -> Self {
        let store = RegistryStore::new(disk, "cluster".as_ref(), "cluster.json");
        let config = RegistryConfig { session_timeout: SESSION };
        let registry = Arc::new(ClusterRegistry::open(store, config).unwrap());
        let (configs, brokers, disks) = Default::default();
        let mut cluster = Self { registry, configs, brokers, disks };
        for id in ids {
            let internal = ListenerConfig { name: INTERNAL.to_owned(), ..ListenerConfig::loopback(0) };
            let disk = cluster.disks.entry(id).or_default();
            let config = BrokerConfig {
                node_id: id,
                file_system: disk.wrap(MemoryFileSystem::shared()),
                fsync,
                listeners: vec![ListenerConfig::loopback(0), internal],
                inter_broker_listener_name: Some(INTERNAL.to_owned()),
                default_replication_factor: 3,
                ..BrokerConfig::new(format!("broker-{id}"))
            };
            cluster.configs.insert(id, config);
            cluster.start_broker(id).await;
        }
        cluster.wait("a controller that knows all", Self::all_know_all).await;
        cluster
    }

    pub(crate) async fn start_broker(&mut self, id: i32) {
        let broker =
            Broker::start_in(self.configs[&id].clone(), self.registry.clone(), BrokerFaults::none(id))
                .await
                .unwrap();
        self.brokers.insert(id, broker);
    }

    pub(crate) fn all_know_all(&self) -> bool {
        let knows_all = |broker: &Broker| {
            let cache = broker.node().metadata_cache.load();
            self.brokers.keys().all(|id| cache.broker(*id).is_some())
        };
        self.controller().is_some() && self.brokers.values().all(knows_all)
    }

    pub(crate) fn controller(&self) -> Option<&Broker> {
        self.brokers.values().find(|broker| broker.node().controller.is_active())
    }

    /// Waits for something that the cluster does by itself.
    pub(crate) async fn wait(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let waiting = async {
            let mut ticks = tokio::time::interval(Duration::from_millis(5));
            while !is_so(self) {
                ticks.tick().await;
            }
        };
        assert!(timeout(PATIENCE, waiting).await.is_ok(), "there never was {what}");
    }

    /// Creates a topic with one partition, as the controller, and answers its id.
    pub(crate) async fn create(&self, name: &str, replicas: &[i32]) -> Uuid {
        self.create_with(name, replicas, &[]).await
    }

    pub(crate) async fn create_with(&self, name: &str, replicas: &[i32], configs: &[(&str, &str)]) -> Uuid {
        let set = |(name, value): &(&str, &str)| ((*name).to_owned(), Some((*value).to_owned()));
        let topic = CreateTopic {
            name: name.to_owned(),
            id: Uuid([name.as_bytes()[0]; 16]),
            num_partitions: -1,
            replication_factor: -1,
            assignments: vec![(0, replicas.to_vec())],
            configs: configs.iter().map(set).collect(),
        };
        let controller = &self.controller().unwrap().node().controller;
        controller.create_topics(vec![topic], false, PATIENCE).await.remove(0).unwrap().id
    }

    /// Who leads the topic's only partition, as each broker's cache has it.
    pub(crate) fn leaders(&self, topic: &str) -> BTreeMap<i32, Option<(i32, i32)>> {
        let of = |broker: &Broker| {
            let cache = broker.node().metadata_cache.load();
            let partition = cache.topic(topic)?.partition(0)?;
            Some((partition.leader, partition.leader_epoch))
        };
        self.brokers.iter().map(|(id, broker)| (*id, of(broker))).collect()
    }

    pub(crate) fn all_see(&self, topic: &str, leader: i32) -> bool {
        self.leaders(topic).values().all(|seen| seen.is_some_and(|(seen, _)| seen == leader))
    }

    /// A partition 0, as it is durable.
    pub(crate) fn state(&self, topic: &str) -> PartitionState {
        self.registry.cluster_state().partition(topic, 0).unwrap().clone()
    }

    pub(crate) fn serves(&self, id: i32, topic: &str) -> bool {
        let partition = self.brokers[&id].node().replica_manager.partition(topic, 0);
        partition.is_ok_and(|partition| partition.check_leader(-1).is_ok())
    }

    pub(crate) async fn connect(&self, id: i32, listener: &str) -> InterBrokerConnection {
        connect(self.brokers[&id].listener_address(listener).unwrap()).await.unwrap()
    }
}
