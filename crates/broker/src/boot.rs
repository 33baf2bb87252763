//! From a locked directory to a [`Node`] that can serve.
//!
//! The order matters after a crash: the controller's state is read first, and saved before the logs' directory is given the
//! cluster's id, so that logs never belong to a cluster that nobody remembers.

use std::sync::Arc;

use milena_storage::checkpoint::MetaProperties;
use milena_storage::{LogManager, LogManagerOptions};

use crate::BrokerError;
use crate::clock::Clock;
use crate::config::BrokerConfig;
use crate::controller::{Controller, ControllerConfig, ControllerDeps, ControllerEngine, ControllerState};
use crate::data_dir::DataDir;
use crate::metadata_cache::{BrokerInfo, MetadataCache};
use crate::node::{Node, random_uuid};
use crate::producer_ids::ProducerIdManager;
use crate::registry::{ClusterRegistry, ClusterRegistryError, RegistryConfig, RegistryStore};
use crate::replica_manager::ReplicaManager;
use crate::topic_configs::TopicConfigs;

/// The logs, inside of the data directory.
const LOGS: &str = "logs";
/// The registry of a broker that is alone, inside of the data directory.
const REGISTRY: &str = "controller.json";

/// Recovers what is on disk, elects this node controller, and takes up the partitions that are its own. Blocking.
pub(crate) fn boot(config: BrokerConfig, data_dir: DataDir, info: BrokerInfo) -> Result<Node, BrokerError> {
    let clock = Clock;
    let store = RegistryStore::new(data_dir.file_system().clone(), data_dir.path(), REGISTRY);
    let registry = Arc::new(ClusterRegistry::open(store, RegistryConfig::default())?);
    let controller_config = ControllerConfig {
        node_id: config.node_id,
        default_partitions: config.num_partitions,
        default_replication_factor: config.default_replication_factor,
        unclean_leader_election: config.log.unclean_leader_election_enable,
        inter_broker_listener: config
            .listeners
            .first()
            .map(|listener| listener.name.clone())
            .unwrap_or_default(),
    };
    let registration = registry.register(info).map_err(refused)?;
    let (_, state) = registry.elect(config.node_id, registration.broker_epoch).map_err(refused)?;
    let engine = ControllerEngine::elected(controller_config, state);

    let topic_configs = Arc::new(TopicConfigs::default());
    for (name, topic) in &engine.state().topics {
        topic_configs.set(name, &topic.configs);
    }
    let logs = open_logs(&config, &data_dir, engine.state(), &topic_configs, clock)?;
    remove_strays(&logs, engine.state());
    let cluster_id = engine.state().cluster_id.clone();
    let metadata_cache = Arc::new(MetadataCache::new(cluster_id));
    let replica_manager =
        ReplicaManager::new(config.node_id, logs, config.log.clone(), topic_configs.clone(), clock)
            .with_lag_time_max(config.replica_lag_time_max);
    let replica_manager = Arc::new(replica_manager);
    replica_manager.set_broker_epoch(registration.broker_epoch);
    let deps = ControllerDeps {
        registry: registry.clone(),
        metadata_cache: metadata_cache.clone(),
        replica_manager: replica_manager.clone(),
        topic_configs: topic_configs.clone(),
    };
    let controller = Arc::new(Controller::new(engine, deps));
    let view = registry.watch().borrow().clone();
    controller.brokers_changed(&view).map_err(|error| BrokerError::Log(error.to_string()))?;
    let producer_ids = ProducerIdManager::new();
    Ok(Node {
        config,
        clock,
        metadata_cache,
        topic_configs,
        replica_manager,
        controller,
        producer_ids,
        data_dir,
    })
}

fn refused(error: ClusterRegistryError) -> BrokerError {
    match error {
        ClusterRegistryError::Disk(error) => error,
        // A registry of one broker has nobody else to give an office to.
        ClusterRegistryError::Refused(error) => BrokerError::InvalidConfig(error.to_string()),
    }
}

fn open_logs(
    config: &BrokerConfig,
    data_dir: &DataDir,
    state: &ControllerState,
    topic_configs: &TopicConfigs,
    clock: Clock,
) -> Result<LogManager, BrokerError> {
    let meta_properties = MetaProperties {
        cluster_id: state.cluster_id.clone(),
        node_id: config.node_id,
        directory_id: random_uuid(),
    };
    let options = LogManagerOptions { fsync: config.fsync, ..LogManagerOptions::new(meta_properties) };
    let config_of = |topic: &str| topic_configs.log_config(&config.log, topic);
    let dir = data_dir.path().join(LOGS);
    LogManager::open(data_dir.file_system().clone(), &dir, options, config_of, clock.now_ms())
        .map_err(|error| BrokerError::Log(error.to_string()))
}

/// Deletes the logs of topics that are deleted: the crash came between the decision and the deed.
fn remove_strays(logs: &LogManager, state: &ControllerState) {
    for log in logs.logs() {
        let name = log.topic_partition();
        let number = usize::try_from(name.partition).unwrap_or(usize::MAX);
        let topic = state.topics.get(&name.topic).filter(|topic| topic.partitions.len() > number);
        let own_id = log.log().lock().topic_id();
        if topic.is_some_and(|topic| own_id.is_none_or(|id| id == topic.id)) {
            continue;
        }
        tracing::warn!(partition = %name, "deleting the log of a topic that is deleted");
        if let Err(error) = logs.delete(name) {
            tracing::error!(partition = %name, %error, "the log cannot be deleted");
        }
    }
}
