//! [`Obedience`]: what a broker does when a controller tells it something.

use std::collections::BTreeSet;
use std::sync::Arc;

use milena_protocol::ErrorCode;
use parking_lot::{Mutex, MutexGuard};

use super::{
    ControlBody, ControlFence, ControlRequest, ControlStamp, ControllerState, LeaderAndIsr,
    LeaderAndIsrTopic, StopReplica, StopReplicaPartition, StopReplicaTopic,
};
use crate::metadata_cache::{BrokerInfo, LEADER_DURING_DELETE, MetadataCache, MetadataUpdate, TopicUpdate};
use crate::registry::{ClusterRegistry, ClusterRegistryError, Registration};
use crate::replica_manager::ReplicaManager;
use crate::topic_configs::TopicConfigs;

/// What became of each partition of a topic of a request.
#[derive(Debug)]
pub(crate) struct TopicOutcomes {
    pub(crate) topic: Arc<str>,
    pub(crate) partitions: Vec<(i32, ErrorCode)>,
}

/// One broker's side of the control requests. All of it is blocking, and one request is done after the other (Kafka:
/// `ReplicaManager.replicaStateChangeLock`).
#[derive(Debug)]
pub(crate) struct Obedience {
    fence: Mutex<ControlFence>,
    node_id: i32,
    registry: Arc<ClusterRegistry>,
    replica_manager: Arc<ReplicaManager>,
    metadata_cache: Arc<MetadataCache>,
    topic_configs: Arc<TopicConfigs>,
}

impl Obedience {
    pub(crate) fn new(
        registration: Registration,
        registry: Arc<ClusterRegistry>,
        replica_manager: Arc<ReplicaManager>,
        metadata_cache: Arc<MetadataCache>,
        topic_configs: Arc<TopicConfigs>,
    ) -> Self {
        replica_manager.set_broker_epoch(registration.broker_epoch);
        let node_id = replica_manager.node_id();
        let fence = Mutex::new(ControlFence::new(registration));
        Self { fence, node_id, registry, replica_manager, metadata_cache, topic_configs }
    }

    /// This life of the broker. Waits for nothing: a broker that has much to obey still says that it is there.
    pub(crate) fn broker_epoch(&self) -> i64 {
        self.replica_manager.broker_epoch()
    }

    /// Registers again, because the session has ended.
    pub(crate) fn register_again(&self, info: BrokerInfo) -> Result<(), ClusterRegistryError> {
        self.register(info, |_| {})
    }

    /// Registers again, with a log directory that was recovered, and takes roles again.
    pub(crate) fn register_recovered(&self, info: BrokerInfo) -> Result<(), ClusterRegistryError> {
        self.register(info, ReplicaManager::go_online)
    }

    /// All of it under the fence: no role of the earlier life may get at a log of the new one, and none of the new life may
    /// come before what is left of topics that are gone has been given up, and be compared with that.
    fn register(
        &self,
        info: BrokerInfo,
        then: impl FnOnce(&ReplicaManager),
    ) -> Result<(), ClusterRegistryError> {
        let mut fence = self.fence.lock();
        let registration = self.registry.register(info)?;
        fence.registered(registration);
        self.replica_manager.set_broker_epoch(registration.broker_epoch);
        then(&self.replica_manager);
        self.forget_strays();
        Ok(())
    }

    /// Does what a request says; answers with the partitions whose log cannot be used.
    pub(crate) fn obey(&self, request: &ControlRequest) -> Result<Vec<(Arc<str>, i32)>, ErrorCode> {
        let stamp = request.stamp;
        match &request.body {
            ControlBody::LeaderAndIsr(body) => {
                let outcomes = self.leader_and_isr(stamp, body)?;
                let failed = outcomes.into_iter().flat_map(|TopicOutcomes { topic, partitions }| {
                    let failed =
                        partitions.into_iter().filter(|(_, code)| *code == ErrorCode::KAFKA_STORAGE_ERROR);
                    failed.map(move |(partition, _)| (topic.clone(), partition))
                });
                return Ok(failed.collect());
            }
            ControlBody::StopReplica(body) => drop(self.stop_replica(stamp, body)?),
            ControlBody::UpdateMetadata(update) => self.update_metadata(stamp, update)?,
        }
        Ok(Vec::new())
    }

    /// Takes the roles that are news (`ReplicaManager.becomeLeaderOrFollower`). Answers for the topics in the request's order.
    ///
    /// # Errors
    /// As for [`ControlFence::admit`].
    pub(crate) fn leader_and_isr(
        &self,
        stamp: ControlStamp,
        request: &LeaderAndIsr,
    ) -> Result<Vec<TopicOutcomes>, ErrorCode> {
        let _one_at_a_time = self.admit(stamp)?;
        let durable = self.registry.cluster_state();
        let topics = request.topics.iter().map(|topic| self.news_of(topic, &durable));
        let (news, mut outcomes): (Vec<_>, Vec<_>) = topics.unzip();
        self.replica_manager.become_leader_or_follower(&news);
        for (news, TopicOutcomes { topic, partitions }) in news.iter().zip(&mut outcomes) {
            partitions.extend(news.partitions.iter().map(|(number, _)| {
                let now = self.replica_manager.partition(topic, *number);
                (*number, now.err().unwrap_or(ErrorCode::NONE))
            }));
        }
        Ok(outcomes)
    }

    /// The partitions of a topic whose roles are to be taken, and what becomes of the others.
    fn news_of(
        &self,
        topic: &LeaderAndIsrTopic,
        durable: &ControllerState,
    ) -> (LeaderAndIsrTopic, TopicOutcomes) {
        // A log is created with the settings of its topic.
        if let Some(known) = durable.topics.get(&*topic.name).filter(|known| known.id == topic.id) {
            self.topic_configs.set(&topic.name, &known.configs);
        }
        let name = topic.name.clone();
        let mut news = LeaderAndIsrTopic { name: name.clone(), id: topic.id, partitions: Vec::new() };
        let mut outcomes = TopicOutcomes { topic: name, partitions: Vec::new() };
        for (number, state) in &topic.partitions {
            let current = self.leader_epoch(&topic.name, *number);
            // What was decided before the topic was deleted may come when this broker has given its replicas up already:
            // its log must not be created once more.
            let is_obsolete = !durable.assigns(&topic.name, topic.id, *number, self.node_id);
            if is_obsolete || !state.replicas.contains(&self.node_id) {
                outcomes.partitions.push((*number, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION));
            } else if current.is_some_and(|current| current >= state.leader_epoch) {
                outcomes.partitions.push((*number, ErrorCode::STALE_CONTROLLER_EPOCH));
            } else {
                news.partitions.push((*number, state.clone()));
            }
        }
        (news, outcomes)
    }

    /// Gives replicas up (`ReplicaManager.stopReplicas`).
    ///
    /// # Errors
    /// As for [`ControlFence::admit`].
    pub(crate) fn stop_replica(
        &self,
        stamp: ControlStamp,
        request: &StopReplica,
    ) -> Result<Vec<TopicOutcomes>, ErrorCode> {
        let _one_at_a_time = self.admit(stamp)?;
        let mut outcomes = Vec::new();
        let mut wanted = StopReplica::default();
        for topic in &request.topics {
            let mut of_topic = TopicOutcomes { topic: topic.name.clone(), partitions: Vec::new() };
            let mut partitions = Vec::new();
            for partition in &topic.partitions {
                let current = self.leader_epoch(&topic.name, partition.partition);
                // −1 and −2 are of no epoch.
                let is_fenced = partition.leader_epoch >= 0
                    && current.is_some_and(|epoch| epoch > partition.leader_epoch);
                let code = if is_fenced { ErrorCode::FENCED_LEADER_EPOCH } else { ErrorCode::NONE };
                of_topic.partitions.push((partition.partition, code));
                if !is_fenced {
                    partitions.push(*partition);
                }
            }
            outcomes.push(of_topic);
            wanted.topics.push(StopReplicaTopic { name: topic.name.clone(), partitions });
        }
        self.replica_manager.stop_replicas(&wanted);
        Ok(outcomes)
    }

    /// Brings the metadata cache up to date.
    ///
    /// # Errors
    /// As for [`ControlFence::admit`].
    pub(crate) fn update_metadata(
        &self,
        stamp: ControlStamp,
        update: &MetadataUpdate,
    ) -> Result<(), ErrorCode> {
        let _one_at_a_time = self.admit(stamp)?;
        let before = self.metadata_cache.snapshot();
        self.metadata_cache.update(update).map_err(|error| {
            tracing::warn!(%error, "a metadata update is refused");
            ErrorCode::STALE_CONTROLLER_EPOCH
        })?;
        let now = self.metadata_cache.load();
        let died: Vec<i32> =
            before.brokers().map(|broker| broker.id).filter(|id| now.broker(*id).is_none()).collect();
        if !died.is_empty() {
            self.replica_manager.brokers_died(&died);
        }
        Ok(())
    }

    /// Keeps the broker from obeying, as one that has much to do.
    #[cfg(test)]
    pub(crate) fn busy(&self) -> impl Sized + '_ {
        self.fence.lock()
    }

    fn admit(&self, stamp: ControlStamp) -> Result<MutexGuard<'_, ControlFence>, ErrorCode> {
        let mut fence = self.fence.lock();
        let is_new = fence.admit(stamp).inspect_err(|error| {
            tracing::info!(?stamp, %error, "a control request is refused");
        })?;
        if is_new {
            self.forget_strays();
        }
        Ok(fence)
    }

    fn leader_epoch(&self, topic: &str, number: i32) -> Option<i32> {
        self.replica_manager.partition(topic, number).ok().map(|partition| partition.leader_epoch())
    }

    /// Gives up what nobody could tell this broker to give up: replicas that were taken away, topics that were deleted.
    ///
    /// Whatever the broker has, it was told after it was durable; so what the durable state of now does not have is gone.
    fn forget_strays(&self) {
        let state = self.registry.cluster_state();
        self.stop_strays(&state);
        // After a start, replicas have logs before they have roles.
        self.replica_manager.remove_stray_logs(&state);
        self.forget_topics(&state);
    }

    fn stop_strays(&self, state: &ControllerState) {
        let stray = |name: &str, number: i32| {
            let id = self.replica_manager.partition(name, number).ok().map(|partition| partition.topic_id());
            id.is_some_and(|id| !state.assigns(name, id, number, self.node_id))
        };
        let mut request = StopReplica::default();
        for partition in self.replica_manager.partitions() {
            let name = partition.name();
            if stray(&name.topic, name.partition) {
                tracing::info!(partition = %name, "giving up a replica that is no longer assigned");
                let partition =
                    StopReplicaPartition { partition: name.partition, leader_epoch: -1, delete: true };
                request
                    .topics
                    .push(StopReplicaTopic { name: name.topic.as_str().into(), partitions: vec![partition] });
            }
        }
        self.replica_manager.stop_replicas(&request);
    }

    fn forget_topics(&self, state: &ControllerState) {
        let cached = self.metadata_cache.snapshot();
        let existing: BTreeSet<_> = state.topics.values().map(|topic| topic.id.0).collect();
        let gone = cached.topics().filter(|topic| !existing.contains(&topic.id.0));
        let gone: Vec<TopicUpdate> = gone
            .map(|topic| {
                let mut partitions = topic.partitions().to_vec();
                for partition in &mut partitions {
                    partition.leader = LEADER_DURING_DELETE;
                }
                TopicUpdate { name: topic.name.clone(), id: topic.id, partitions }
            })
            .collect();
        if gone.is_empty() {
            return;
        }
        let update = MetadataUpdate {
            controller_id: cached.controller_id().unwrap_or(-1),
            controller_epoch: cached.controller_epoch(),
            live_brokers: cached.brokers().cloned().collect(),
            topics: gone,
        };
        if let Err(error) = self.metadata_cache.update(&update) {
            tracing::debug!(%error, "the metadata cache is newer than what is to be removed from it");
        }
    }
}
