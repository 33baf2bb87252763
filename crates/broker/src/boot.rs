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
use crate::controller::{Controller, ControllerDeps, ControllerEngine, ControllerState, ControllerStore};
use crate::coordinator::GroupCoordinator;
use crate::data_dir::DataDir;
use crate::metadata_cache::{BrokerInfo, MetadataCache};
use crate::node::{Node, random_uuid};
use crate::producer_ids::ProducerIdManager;
use crate::replica_manager::ReplicaManager;
use crate::topic_configs::TopicConfigs;

/// The logs, inside of the data directory.
const LOGS: &str = "logs";

/// Recovers what is on disk, elects this node controller, and takes up the partitions that are its own. Blocking.
pub(crate) fn boot(config: BrokerConfig, data_dir: DataDir, info: BrokerInfo) -> Result<Node, BrokerError> {
    let clock = Clock;
    let store = ControllerStore::new(data_dir.file_system().clone(), data_dir.path());
    let state = match store.load()? {
        Some(state) => state,
        None => ControllerState::new(random_uuid().to_string()),
    };
    let engine = ControllerEngine::elected(
        config.node_id,
        config.num_partitions,
        config.default_replication_factor,
        state,
    );
    store.save(engine.state())?;

    let topic_configs = Arc::new(TopicConfigs::default());
    for (name, topic) in &engine.state().topics {
        topic_configs.set(name, &topic.configs);
    }
    let logs = open_logs(&config, &data_dir, engine.state(), &topic_configs, clock)?;
    remove_strays(&logs, engine.state());
    let cluster_id = engine.state().cluster_id.clone();
    let metadata_cache = Arc::new(MetadataCache::new(cluster_id));
    let replica_manager =
        Arc::new(ReplicaManager::new(config.node_id, logs, config.log.clone(), topic_configs.clone(), clock));
    let deps = ControllerDeps {
        store,
        metadata_cache: metadata_cache.clone(),
        replica_manager: replica_manager.clone(),
        topic_configs: topic_configs.clone(),
    };
    let controller = Arc::new(Controller::new(engine, deps));
    controller.broker_joined(info).map_err(|error| BrokerError::Log(error.to_string()))?;
    let producer_ids = ProducerIdManager::new();
    let groups = Arc::new(GroupCoordinator::new(replica_manager.clone(), controller.clone(), clock));
    groups.load();
    Ok(Node {
        config,
        clock,
        metadata_cache,
        topic_configs,
        replica_manager,
        controller,
        producer_ids,
        groups,
        data_dir,
    })
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
