//! From a locked directory to a [`Node`] that can serve.
//!
//! The order matters after a crash: the cluster's state is read first, and saved before the logs' directory is given the
//! cluster's id, so that logs never belong to a cluster that nobody remembers.

use std::sync::Arc;

use milena_storage::checkpoint::MetaProperties;
use milena_storage::{LogManager, LogManagerOptions};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::BrokerError;
use crate::client_memory::ClientMemory;
use crate::clock::Clock;
use crate::config::BrokerConfig;
use crate::controller::{
    Controller, ControllerConfig, ControllerState, Delivery, LeaderRebalance, Obedience, config_listener,
};
use crate::coordinator::GroupCoordinator;
use crate::data_dir::DataDir;
use crate::faults::BrokerFaults;
use crate::metadata_cache::{BrokerInfo, MetadataCache};
use crate::node::{LARGE_READS, Node, random_uuid};
use crate::producer_ids::ProducerIdManager;
use crate::registry::{
    ClusterRegistry, ClusterRegistryError, REGISTRY_OF_MANY, REGISTRY_OF_ONE, RegistryConfig, RegistryStore,
};
use crate::replica_manager::{ReplicaManager, remove_stray_logs};
use crate::task_gate::TaskGate;
use crate::topic_configs::TopicConfigs;

/// The logs, inside of the data directory.
const LOGS: &str = "logs";
/// The file that names a log directory's cluster (`MetaPropertiesEnsemble.META_PROPERTIES_NAME`).
const META_PROPERTIES: &str = "meta.properties";

/// Whom a broker shares its registry with.
#[derive(Debug, Clone)]
pub(crate) enum Cluster {
    /// With nobody: it is in the broker's own directory, and the broker is the controller.
    Alone,
    /// With the other brokers of the process.
    Shared(Arc<ClusterRegistry>),
}

/// Recovers what is on disk and registers. A broker that is alone then is its own controller and takes up its partitions;
/// another one hears from the controller what to do. Blocking.
pub(crate) fn boot(
    config: BrokerConfig,
    data_dir: DataDir,
    info: BrokerInfo,
    cluster: &Cluster,
    gate: TaskGate,
    faults: BrokerFaults,
) -> Result<Node, BrokerError> {
    let clock = faults.machine.clock.clone();
    let registry = match cluster {
        Cluster::Shared(registry) => registry.clone(),
        Cluster::Alone => {
            refuse_cluster(&data_dir)?;
            refuse_orphaned_logs(&data_dir)?;
            let store = RegistryStore::new(data_dir.file_system().clone(), data_dir.path(), REGISTRY_OF_ONE);
            Arc::new(ClusterRegistry::open(store, RegistryConfig::default())?)
        }
    };
    let topic_configs = Arc::new(TopicConfigs::default());
    let state = registry.cluster_state();
    for (name, topic) in &state.topics {
        topic_configs.set(name, &topic.configs);
    }
    let logs = open_logs(&config, &data_dir, &state, &topic_configs, &clock)?;
    remove_stray_logs(&logs, &state, config.node_id);
    let metadata_cache = Arc::new(MetadataCache::new(state.cluster_id.clone()));
    let replica_manager =
        ReplicaManager::new(config.node_id, logs, config.log.clone(), topic_configs.clone(), clock.clone())
            .with_lag_time_max(config.replica_lag_time_max);
    let replica_manager = Arc::new(replica_manager);
    registry.listen_to_configs(config.node_id, config_listener(&topic_configs, &replica_manager));
    let registration = registry.register(info.clone()).map_err(refused)?;
    let obedience = Arc::new(Obedience::new(
        registration,
        registry.clone(),
        replica_manager.clone(),
        metadata_cache.clone(),
        topic_configs.clone(),
    ));
    let delivery = match cluster {
        Cluster::Alone => Delivery::Local(obedience.clone()),
        Cluster::Shared(_) => Delivery::Wire(gate.clone(), faults.host.clone()),
    };
    let controller = Controller::new(controller_config(&config), registry.clone(), delivery);
    if matches!(cluster, Cluster::Alone) {
        let view = registry.watch().borrow().clone();
        controller.registry_changed(&view, registration.broker_epoch);
        if !controller.is_active() {
            return Err(BrokerError::Log("the controller's state cannot be saved".to_owned()));
        }
    }
    let groups =
        Arc::new(GroupCoordinator::new(replica_manager.clone(), metadata_cache.clone(), clock.clone()));
    groups.load();
    let fetch_memory = ClientMemory::new(config.fetch_memory);
    Ok(Node {
        config,
        info,
        clock,
        gate,
        faults,
        metadata_cache,
        topic_configs,
        replica_manager,
        registry,
        controller,
        obedience,
        producer_ids: ProducerIdManager::new(),
        groups,
        fetch_memory,
        fetch_sessions: Mutex::default(),
        large_reads: Arc::new(Semaphore::new(LARGE_READS)),
        data_dir,
    })
}

fn controller_config(config: &BrokerConfig) -> ControllerConfig {
    ControllerConfig {
        node_id: config.node_id,
        default_partitions: config.num_partitions,
        default_replication_factor: config.default_replication_factor,
        unclean_leader_election: config.log.unclean_leader_election_enable,
        leader_rebalance: config.auto_leader_rebalance.then_some(LeaderRebalance {
            check_interval: config.leader_imbalance_check_interval,
            imbalance_percentage: config.leader_imbalance_per_broker_percentage,
        }),
        inter_broker_listener: config.inter_broker_listener().to_owned(),
    }
}

fn refused(error: ClusterRegistryError) -> BrokerError {
    match error {
        ClusterRegistryError::Disk(error) => error,
        // A registry of one broker has nobody else to give an office to.
        ClusterRegistryError::Refused(error) => BrokerError::InvalidConfig(error.to_string()),
    }
}

/// The directory of a cluster is no place for a broker that is alone: it would not see what is there.
fn refuse_cluster(data_dir: &DataDir) -> Result<(), BrokerError> {
    if !data_dir.file_system().exists(&data_dir.path().join(REGISTRY_OF_MANY)) {
        return Ok(());
    }
    let dir = data_dir.path().display();
    let reason =
        format!("{dir} is the directory of a cluster of several brokers, which does not run: start it");
    Err(BrokerError::InvalidConfig(reason))
}

/// Logs without the state that says whose they are: a new state would belong to another cluster, and hide them.
fn refuse_orphaned_logs(data_dir: &DataDir) -> Result<(), BrokerError> {
    let (fs, state) = (data_dir.file_system(), data_dir.path().join(REGISTRY_OF_ONE));
    let logs = data_dir.path().join(LOGS);
    if fs.exists(&logs.join(META_PROPERTIES)) && !fs.exists(&state) {
        let reason = format!(
            "missing, though there are logs in {}: put it back, or move the logs away",
            logs.display()
        );
        return Err(BrokerError::CorruptState { path: state, reason });
    }
    Ok(())
}

fn open_logs(
    config: &BrokerConfig,
    data_dir: &DataDir,
    state: &ControllerState,
    topic_configs: &TopicConfigs,
    clock: &Clock,
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
