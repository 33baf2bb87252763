//! A whole cluster over real sockets, whose leaders are killed while records come in.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::messages::{PartitionProduceData, ProduceRequest, TopicProduceData};
use milena_protocol::records::{BatchBuilder, RecordBatches, Seal};
use milena_protocol::{ErrorCode, Uuid};
use milena_storage::fs::MemoryFileSystem;
use tokio::time::{interval, timeout};

use crate::controller::{CreateTopic, PartitionState};
use crate::faults::{BrokerFaults, Host};
use crate::network::InterBrokerConnection;
use crate::registry::{ClusterRegistry, RegistryConfig, RegistryStore};
use crate::{Broker, BrokerConfig, ListenerConfig};

const TOPIC: Uuid = Uuid([9; 16]);
const SESSION: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_secs(90);

struct Cluster {
    registry: Arc<ClusterRegistry>,
    configs: BTreeMap<i32, BrokerConfig>,
    brokers: BTreeMap<i32, Broker>,
    /// What was acknowledged with acks=all, by offset.
    acknowledged: BTreeMap<i64, String>,
}

impl Cluster {
    async fn start() -> Self {
        let store = RegistryStore::new(MemoryFileSystem::shared(), "cluster".as_ref(), "cluster.json");
        let config = RegistryConfig { session_timeout: SESSION };
        let registry = Arc::new(ClusterRegistry::open(store, config).unwrap());
        let mut cluster = Self {
            registry,
            configs: BTreeMap::new(),
            brokers: BTreeMap::new(),
            acknowledged: BTreeMap::new(),
        };
        for id in 1..=3 {
            let internal = ListenerConfig { name: "INTERNAL".to_owned(), ..ListenerConfig::loopback(0) };
            let config = BrokerConfig {
                node_id: id,
                file_system: MemoryFileSystem::shared(),
                listeners: vec![ListenerConfig::loopback(0), internal],
                inter_broker_listener_name: Some("INTERNAL".to_owned()),
                ..BrokerConfig::new(format!("broker-{id}"))
            };
            cluster.configs.insert(id, config);
            cluster.start_broker(id).await;
        }
        let knows_all = |broker: &Broker| {
            broker.node().controller.is_active() && broker.node().metadata_cache.load().brokers().count() == 3
        };
        cluster.wait("a controller that knows all", |cluster| cluster.brokers.values().any(knows_all)).await;
        let controller = cluster.brokers.values().find(|broker| knows_all(broker)).unwrap();
        let topic = CreateTopic {
            name: "t".to_owned(),
            id: TOPIC,
            num_partitions: -1,
            replication_factor: -1,
            assignments: vec![(0, vec![1, 2, 3])],
            configs: vec![("min.insync.replicas".to_owned(), Some("2".to_owned()))],
        };
        let created =
            controller.node().controller.create_topics(vec![topic], false, PATIENCE).await.remove(0);
        assert_eq!(created.unwrap().replication_factor, 3);
        cluster
    }

    async fn start_broker(&mut self, id: i32) {
        let broker =
            Broker::start_in(self.configs[&id].clone(), self.registry.clone(), BrokerFaults::none(id))
                .await
                .unwrap();
        self.brokers.insert(id, broker);
    }

    fn partition(&self) -> PartitionState {
        self.registry.cluster_state().partition("t", 0).unwrap().clone()
    }

    async fn wait(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let waiting = async {
            let mut ticks = interval(Duration::from_millis(5));
            while !is_so(self) {
                ticks.tick().await;
            }
        };
        assert!(timeout(PATIENCE, waiting).await.is_ok(), "there never was {what}");
    }

    /// Produces with acks=all until somebody acknowledges it.
    async fn produce(&mut self, value: String) {
        let trying = async {
            let mut ticks = interval(Duration::from_millis(5));
            loop {
                if let Some(offset) = self.try_to_produce(&value).await {
                    return offset;
                }
                ticks.tick().await;
            }
        };
        let offset = timeout(PATIENCE, trying).await.expect("nobody acknowledges");
        assert_eq!(self.acknowledged.insert(offset, value), None, "offset {offset} was acknowledged before");
    }

    async fn try_to_produce(&self, value: &str) -> Option<i64> {
        let address = self.brokers.get(&self.partition().leader)?.address();
        let mut connection =
            InterBrokerConnection::connect(&Host::alone(-1), 1, &address.ip().to_string(), address.port())
                .await
                .ok()?;
        let mut batch = BatchBuilder::new(Vec::new());
        batch.append(crate::clock::Clock::default().now_ms(), None, Some(value.as_bytes()), &[]);
        let data = PartitionProduceData { index: 0, records: Some(batch.seal(Seal::default()).into()) };
        let topic = TopicProduceData { topic_id: TOPIC, partition_data: vec![data], ..Default::default() };
        let request =
            ProduceRequest { acks: -1, timeout_ms: 1_000, topic_data: vec![topic], ..Default::default() };
        let response = connection.call(13, &request).await.ok()?;
        let answer = &response.responses[0].partition_responses[0];
        (answer.error_code == ErrorCode::NONE).then_some(answer.base_offset)
    }

    fn log(&self, id: i32) -> Option<Bytes> {
        let partition = self.brokers[&id].node().replica_manager.partition("t", 0).ok()?;
        Some(partition.reader().read(0, usize::MAX, i64::MAX, true).unwrap().records)
    }

    fn logs_agree(&self) -> bool {
        self.log(1).is_some() && self.log(1) == self.log(2) && self.log(2) == self.log(3)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replication_24_nothing_acknowledged_is_lost_while_leaders_are_killed() {
    let mut cluster = Cluster::start().await;
    for round in 0..4 {
        for record in 0..15 {
            cluster.produce(format!("{round} before {record}")).await;
        }
        let leader = cluster.partition().leader;
        drop(cluster.brokers.remove(&leader));
        for record in 0..15 {
            cluster.produce(format!("{round} after {record}")).await;
        }
        assert_ne!(cluster.partition().leader, leader);
        cluster.start_broker(leader).await;
        cluster.wait("a whole ISR", |cluster| cluster.partition().isr.len() == 3).await;
    }
    cluster.wait("one log", Cluster::logs_agree).await;
    let mut found = BTreeMap::new();
    for batch in RecordBatches::new(cluster.log(1).unwrap()) {
        for record in batch.unwrap().records(1024).unwrap() {
            let record = record.unwrap();
            found.insert(record.offset, String::from_utf8(record.value.unwrap().to_vec()).unwrap());
        }
    }
    assert_eq!(cluster.acknowledged.len(), 120);
    for (offset, value) in &cluster.acknowledged {
        assert_eq!(found.get(offset), Some(value), "offset {offset}");
    }
}
