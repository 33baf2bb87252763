//! [`ReplicaManager`]: the partitions that this broker holds, and what happens to them.

#[cfg(test)]
mod failover_tests;
mod local_logs;
mod log_dir;
mod partition;
#[cfg(test)]
mod partition_tests;
mod purgatory;
#[cfg(test)]
mod recreation_tests;
mod replication;
#[cfg(test)]
mod replication_tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use foldhash::{HashMap, HashMapExt};
use milena_protocol::{ErrorCode, Uuid};
use milena_storage::{LogConfig, LogManager, TopicPartition};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::config::DEFAULT_REPLICA_LAG_TIME_MAX;
use crate::controller::{LeaderAndIsrTopic, StopReplica, StopReplicaTopic};
use crate::metadata_cache::OFFSETS_TOPIC;
use crate::replica::PartitionState;
use crate::topic_configs::TopicConfigs;

pub(crate) use log_dir::remove_stray_logs;
pub(crate) use partition::{Appended, Partition, Progress, Refusal, error_code};
pub(crate) use purgatory::Waiter;
pub(crate) use replication::{Replication, ReplicationDeps};
use replication::{ReplicationInbox, ReplicationQueues};

/// The partitions of this broker.
///
/// The map of partitions is replaced whole when one comes or goes, which is rare; a lookup takes no lock.
#[derive(Debug)]
pub(crate) struct ReplicaManager {
    node_id: i32,
    logs: LogManager,
    log_defaults: LogConfig,
    topic_configs: Arc<TopicConfigs>,
    clock: Clock,
    /// `replica.lag.time.max.ms`.
    lag_time_max: Duration,
    topics: ArcSwap<Topics>,
    /// Held while the next map is built.
    changing: Mutex<()>,
    stopping: AtomicBool,
    /// Which life of this broker it is, as the registry counts them; −1 before it is registered.
    broker_epoch: AtomicI64,
    /// The origin of the engines' time.
    started: Instant,
    /// The high watermarks that an earlier life wrote down, and what this one wrote last.
    high_watermarks: Mutex<BTreeMap<TopicPartition, i64>>,
    queues: ReplicationQueues,
    inbox: Mutex<Option<ReplicationInbox>>,
    /// Told when a partition of `__consumer_offsets` has another role.
    offsets_roles: Notify,
    /// Whether the log directory has failed, so that there is no partition that can be served. Changes under `changing`.
    offline: AtomicBool,
    /// Told when it fails.
    log_dir_failure: Arc<Notify>,
}

type Topics = HashMap<Arc<str>, Arc<HostedTopic>>;

#[derive(Debug, Clone)]
struct HostedTopic {
    id: Uuid,
    partitions: BTreeMap<i32, HostedPartition>,
}

/// A partition, or the reason why this broker cannot serve it although it should.
#[derive(Debug, Clone)]
enum HostedPartition {
    Online(Arc<Partition>),
    Offline,
}

impl ReplicaManager {
    pub(crate) fn new(
        node_id: i32,
        logs: LogManager,
        log_defaults: LogConfig,
        topic_configs: Arc<TopicConfigs>,
        clock: Clock,
    ) -> Self {
        let topics = ArcSwap::from_pointee(HashMap::new());
        let (queues, inbox) = ReplicationQueues::new();
        let high_watermarks = Mutex::new(logs.read_high_watermarks());
        let log_dir_failure = Arc::new(Notify::new());
        let failed = log_dir_failure.clone();
        logs.failures().on_failure(move || failed.notify_one());
        Self {
            node_id,
            logs,
            log_defaults,
            topic_configs,
            clock,
            lag_time_max: DEFAULT_REPLICA_LAG_TIME_MAX,
            topics,
            changing: Mutex::new(()),
            stopping: AtomicBool::new(false),
            broker_epoch: AtomicI64::new(-1),
            started: Instant::now(),
            high_watermarks,
            queues,
            inbox: Mutex::new(Some(inbox)),
            offsets_roles: Notify::new(),
            offline: AtomicBool::new(false),
            log_dir_failure,
        }
    }

    /// The same, with another `replica.lag.time.max.ms`.
    pub(crate) fn with_lag_time_max(self, lag_time_max: Duration) -> Self {
        Self { lag_time_max, ..self }
    }

    /// Remembers which life of this broker it is, for requests to other brokers.
    pub(crate) fn set_broker_epoch(&self, broker_epoch: i64) {
        self.broker_epoch.store(broker_epoch, Ordering::SeqCst);
    }

    pub(crate) fn broker_epoch(&self) -> i64 {
        self.broker_epoch.load(Ordering::SeqCst)
    }

    /// The engines' time.
    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn node_id(&self) -> i32 {
        self.node_id
    }

    /// A topic's settings are others: its logs take them on.
    pub(crate) fn topic_configs_changed(&self, topic: &str) {
        let config = self.topic_configs.log_config(&self.log_defaults, topic);
        let hosted = self.topics.load().get(topic).cloned();
        for hosted in hosted.iter().flat_map(|hosted| hosted.partitions.values()) {
            if let HostedPartition::Online(partition) = hosted {
                partition.log().log().lock().set_config(config.clone());
            }
        }
    }

    fn take_inbox(&self) -> Option<ReplicationInbox> {
        self.inbox.lock().take()
    }

    pub(crate) fn logs(&self) -> &LogManager {
        &self.logs
    }

    /// A partition that this broker serves.
    ///
    /// # Errors
    /// UNKNOWN_TOPIC_OR_PARTITION when it is not here, KAFKA_STORAGE_ERROR when its log cannot be used.
    pub(crate) fn partition(&self, topic: &str, partition: i32) -> Result<Arc<Partition>, ErrorCode> {
        match self.topics.load().get(topic).and_then(|topic| topic.partitions.get(&partition)) {
            Some(HostedPartition::Online(partition)) => Ok(partition.clone()),
            Some(HostedPartition::Offline) => Err(ErrorCode::KAFKA_STORAGE_ERROR),
            None => Err(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
        }
    }

    /// The same of the topic with this id: its name may have become another topic's since it was looked up.
    ///
    /// # Errors
    /// As [`partition`](Self::partition); UNKNOWN_TOPIC_ID when the partition is another topic's.
    pub(crate) fn partition_of(
        &self,
        topic: &str,
        id: Uuid,
        partition: i32,
    ) -> Result<Arc<Partition>, ErrorCode> {
        let partition = self.partition(topic, partition)?;
        if partition.topic_id() == id { Ok(partition) } else { Err(ErrorCode::UNKNOWN_TOPIC_ID) }
    }

    /// Every partition that this broker serves.
    pub(crate) fn partitions(&self) -> Vec<Arc<Partition>> {
        let online = |hosted: &HostedPartition| match hosted {
            HostedPartition::Online(partition) => Some(partition.clone()),
            HostedPartition::Offline => None,
        };
        self.topics.load().values().flat_map(|topic| topic.partitions.values()).filter_map(online).collect()
    }

    /// The partitions of a topic that this broker leads, by number, each with the leader epoch since which it does.
    pub(crate) fn led_partitions(&self, topic: &str) -> impl Iterator<Item = (i32, (Arc<Partition>, i32))> {
        let hosted = self.topics.load().get(topic).cloned();
        let partitions = hosted.map(|hosted| hosted.partitions.clone()).unwrap_or_default();
        partitions.into_iter().filter_map(|(number, hosted)| match hosted {
            HostedPartition::Online(partition) => {
                let since = partition.leads_since()?;
                Some((number, (partition, since)))
            }
            HostedPartition::Offline => None,
        })
    }

    /// Waits until a partition of `__consumer_offsets` has another role than at the last time.
    pub(crate) async fn offsets_roles_changed(&self) {
        self.offsets_roles.notified().await;
    }

    fn roles_changed(&self, topic: &str) {
        if topic == OFFSETS_TOPIC {
            self.offsets_roles.notify_one();
        }
    }

    /// Takes the roles that the controller gives out (LeaderAndIsr), creating the logs that are missing. Blocking.
    ///
    /// A partition whose leader epoch is not above the one it has is left as it is. The new ones are seen all at once.
    pub(crate) fn become_leader_or_follower(&self, topics: &[LeaderAndIsrTopic]) {
        let _changing = self.changing.lock();
        let mut next = Topics::clone(&self.topics.load());
        // One of which there is no news may be another one of the same name.
        let with_news = || topics.iter().filter(|topic| !topic.partitions.is_empty());
        for topic in with_news() {
            let hosted = match next.get(&topic.name) {
                Some(hosted) if hosted.id == topic.id => HostedTopic::clone(hosted),
                _ => HostedTopic { id: topic.id, partitions: BTreeMap::new() },
            };
            next.insert(topic.name.clone(), Arc::new(self.with_roles(hosted, topic)));
        }
        self.topics.store(Arc::new(next));
        with_news().for_each(|topic| self.roles_changed(&topic.name));
    }

    fn with_roles(&self, mut hosted: HostedTopic, topic: &LeaderAndIsrTopic) -> HostedTopic {
        let config = self.topic_configs.log_config(&self.log_defaults, &topic.name);
        for (number, state) in &topic.partitions {
            if let Some(HostedPartition::Online(partition)) = hosted.partitions.get(number) {
                partition.update_roles(state, self.now());
                continue;
            }
            if self.is_offline() {
                hosted.partitions.insert(*number, HostedPartition::Offline);
                continue;
            }
            let topic_partition = TopicPartition::new(&*topic.name, *number);
            self.forget_high_watermarks(&topic_partition);
            let log = self.logs.get_or_create(
                &topic_partition,
                Some(topic.id),
                config.clone(),
                self.clock.now_ms(),
            );
            let partition = match log {
                Ok(log) => {
                    log.log().lock().set_config(config.clone());
                    let end = log.reader().log_end_offset();
                    let known = self.high_watermarks.lock().get(&topic_partition).copied().unwrap_or(0);
                    // What was deleted had been below it.
                    let known = known.max(log.reader().log_start_offset());
                    let own = PartitionState::new(self.node_id, self.lag_time_max, end, known);
                    let partition = Partition::new(topic.id, log, own, self.queues.clone());
                    partition.update_roles(state, self.now());
                    HostedPartition::Online(Arc::new(partition))
                }
                Err(error) => {
                    tracing::error!(%topic_partition, %error, "the partition's log cannot be opened");
                    HostedPartition::Offline
                }
            };
            hosted.partitions.insert(*number, partition);
        }
        hosted
    }

    /// What is written down of a log that was deleted must not be taken for the high watermark of a new one of the same name,
    /// which a crash may leave without any of its own.
    fn forget_high_watermarks(&self, new: &TopicPartition) {
        let mut written = self.high_watermarks.lock();
        if !written.contains_key(new) || self.logs.get(new).is_some() {
            return;
        }
        written.retain(|name, _| self.logs.get(name).is_some());
        if let Err(error) = self.logs.checkpoint_high_watermarks(&written) {
            tracing::warn!(%error, "the high watermarks of deleted logs are still written down");
        }
    }

    /// Gives partitions up, and deletes those logs that are to go (StopReplica). Blocking.
    pub(crate) fn stop_replicas(&self, request: &StopReplica) {
        for hosted in self.withdraw(&request.topics) {
            if let HostedPartition::Online(partition) = hosted {
                partition.stop();
            }
        }
        for topic in &request.topics {
            self.roles_changed(&topic.name);
        }
        if self.is_offline() {
            // What is to be deleted then is a stray when the directory comes back.
            return;
        }
        for topic in &request.topics {
            self.delete_logs(topic);
        }
    }

    fn delete_logs(&self, topic: &StopReplicaTopic) {
        for partition in topic.partitions.iter().filter(|partition| partition.delete) {
            let topic_partition = TopicPartition::new(&*topic.name, partition.partition);
            // A replica that was given up before may have its log still.
            if self.logs.get(&topic_partition).is_none() {
                continue;
            }
            if let Err(error) = self.logs.delete(&topic_partition) {
                tracing::error!(%topic_partition, %error, "the log cannot be deleted");
            }
        }
    }

    /// Takes partitions out of the map, all at once.
    fn withdraw(&self, topics: &[StopReplicaTopic]) -> Vec<HostedPartition> {
        let _changing = self.changing.lock();
        let mut next = Topics::clone(&self.topics.load());
        let mut withdrawn = Vec::new();
        for topic in topics {
            let Some(hosted) = next.get_mut(&topic.name) else { continue };
            let hosted = Arc::make_mut(hosted);
            let numbers = topic.partitions.iter().map(|partition| partition.partition);
            withdrawn.extend(numbers.filter_map(|number| hosted.partitions.remove(&number)));
            if hosted.partitions.is_empty() {
                next.remove(&topic.name);
            }
        }
        self.topics.store(Arc::new(next));
        withdrawn
    }

    /// Whether requests shall be answered with what there is instead of waiting for more.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Has every request answered that waits, or will.
    pub(crate) fn stop_waiting(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        for partition in self.partitions() {
            partition.stop_following();
            partition.wake_for_event();
        }
    }

    /// These brokers are not alive any more: no record waits for what they might fetch.
    pub(crate) fn brokers_died(&self, brokers: &[i32]) {
        let now = self.now();
        for partition in self.partitions() {
            for broker in brokers {
                partition.follower_died(*broker, now);
            }
        }
    }

    /// Time has passed: followers that lag leave the in-sync replicas.
    pub(crate) fn shrink_isrs(&self) {
        let now = self.now();
        for partition in self.partitions() {
            partition.tick(now);
        }
    }

    /// Writes the high watermarks down, if one has moved. Blocking.
    pub(crate) fn checkpoint_high_watermarks(&self) {
        if self.is_offline() {
            return;
        }
        let mut written = self.high_watermarks.lock();
        let mut current = written.clone();
        // A log without a role yet keeps what an earlier life wrote.
        current.retain(|name, _| self.logs.get(name).is_some());
        let partitions = self.partitions();
        current.extend(
            partitions.iter().map(|partition| (partition.name().clone(), partition.high_watermark())),
        );
        if *written == current {
            return;
        }
        match self.logs.checkpoint_high_watermarks(&current) {
            Ok(()) => *written = current,
            Err(error) => tracing::warn!(%error, "the high watermarks cannot be written down"),
        }
    }

    /// Compacts the logs of the topics that want it. Blocking.
    pub(crate) fn clean_logs(&self) {
        let high_watermark = |name: &TopicPartition| {
            let partition = self.partition(&name.topic, name.partition).ok()?;
            Some(partition.high_watermark())
        };
        if let Err(error) = self.logs.clean_logs(self.clock.now_ms(), high_watermark) {
            tracing::error!(%error, "how far logs are compacted cannot be written down");
        }
    }

    /// Forgets producers that have been idle for too long.
    pub(crate) fn remove_expired_producers(&self) {
        let now_ms = self.clock.now_ms();
        for partition in self.partitions() {
            partition.log().log().lock().remove_expired_producers(now_ms);
        }
    }

    /// Deletes what is older or larger than topics may be. Blocking.
    pub(crate) fn delete_old_segments(&self) {
        let now_ms = self.clock.now_ms();
        for partition in self.partitions() {
            let mut count = 0;
            loop {
                // Who wants to append comes in between.
                let high_watermark = partition.high_watermark();
                let deleted = partition.log().log().lock().delete_oldest_segment(now_ms, high_watermark);
                match deleted {
                    Ok(true) => count += 1,
                    Ok(false) => break,
                    Err(error) => {
                        tracing::error!(partition = %partition.name(), %error, "retention failed");
                        break;
                    }
                }
            }
            if count > 0 {
                tracing::info!(partition = %partition.name(), count, "deleted old segments");
            }
        }
    }
}
