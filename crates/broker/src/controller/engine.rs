//! [`ControllerEngine`]: the controller's decisions. No clock, no disk, no network.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use milena_protocol::{ErrorCode, Uuid};
use milena_storage::LogConfig;

use super::{ControllerState, PartitionState, TopicState, collide, validate_topic_name};
use crate::metadata_cache::{
    BrokerInfo, LEADER_DURING_DELETE, MetadataUpdate, NO_LEADER, PartitionUpdate, TopicUpdate,
};

/// How many producer ids a broker gets at a time (`ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE`).
const PRODUCER_ID_BLOCK: i64 = 1_000;
/// The most partitions that one topic may be created with, or grown by, at once
/// (`ReplicationControlManager.MAX_PARTITIONS_PER_BATCH`).
const MAX_PARTITIONS_PER_REQUEST: usize = 10_000;

/// Why the controller refuses something. The text is for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub(crate) struct ControllerError {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

fn refuse<T>(code: ErrorCode, message: impl Into<String>) -> Result<T, ControllerError> {
    Err(ControllerError { code, message: message.into() })
}

/// What has to happen because of a decision, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The state has to be durable before anything after this is done.
    Persist,
    /// A topic's own settings are these now; none when it is gone.
    TopicConfigs { topic: Arc<str>, configs: BTreeMap<String, String> },
    /// A broker leads or follows partitions.
    LeaderAndIsr(LeaderAndIsr),
    /// A broker gives partitions up.
    StopReplica(StopReplica),
    /// A broker's metadata cache has news.
    UpdateMetadata { broker: i32, update: MetadataUpdate },
}

/// The partitions that a broker is to lead or to follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeaderAndIsr {
    pub(crate) broker: i32,
    pub(crate) topics: Vec<LeaderAndIsrTopic>,
}

/// One topic of [`LeaderAndIsr`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeaderAndIsrTopic {
    pub(crate) name: Arc<str>,
    pub(crate) id: Uuid,
    pub(crate) partitions: Vec<(i32, PartitionState)>,
}

/// The partitions that a broker is to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StopReplica {
    pub(crate) broker: i32,
    pub(crate) topic: Arc<str>,
    pub(crate) id: Uuid,
    pub(crate) partitions: Vec<i32>,
}

/// A topic that somebody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CreateTopic {
    pub(crate) name: String,
    /// A fresh random id.
    pub(crate) id: Uuid,
    /// −1 for the default.
    pub(crate) num_partitions: i32,
    /// −1 for the default.
    pub(crate) replication_factor: i16,
    /// Replicas by partition; empty for the controller's choice.
    pub(crate) assignments: Vec<(i32, Vec<i32>)>,
    /// A value of None is what the client sent as null.
    pub(crate) configs: Vec<(String, Option<String>)>,
}

/// A topic that was created, or would have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CreatedTopic {
    pub(crate) id: Uuid,
    pub(crate) num_partitions: i32,
    pub(crate) replication_factor: i16,
    pub(crate) configs: BTreeMap<String, String>,
}

/// A topic by name or by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TopicSelector {
    Name(String),
    Id(Uuid),
}

/// The controller.
#[derive(Debug)]
pub(crate) struct ControllerEngine {
    node_id: i32,
    default_partitions: i32,
    default_replication_factor: i16,
    state: Arc<ControllerState>,
    live: BTreeMap<i32, BrokerInfo>,
    effects: VecDeque<Effect>,
}

impl ControllerEngine {
    /// The controller on `node_id`, elected just now: its epoch is above that of the one before it.
    pub(crate) fn elected(
        node_id: i32,
        default_partitions: i32,
        default_replication_factor: i16,
        mut state: ControllerState,
    ) -> Self {
        state.controller_epoch += 1;
        let effects = VecDeque::from([Effect::Persist]);
        let live = BTreeMap::new();
        let state = Arc::new(state);
        Self { node_id, default_partitions, default_replication_factor, state, live, effects }
    }

    pub(crate) fn state(&self) -> &Arc<ControllerState> {
        &self.state
    }

    /// The next thing to do, if there is one.
    pub(crate) fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Takes back everything since `state` was current, because it could not be made durable.
    pub(crate) fn roll_back(&mut self, state: Arc<ControllerState>) {
        self.state = state;
        self.effects.clear();
    }

    /// A broker has joined: it leads again what it led, in a new leader epoch, and hears of everything; the others
    /// hear of the broker.
    pub(crate) fn handle_broker_joined(&mut self, broker: BrokerInfo) {
        let id = broker.id;
        let others: Vec<i32> = self.live.keys().copied().filter(|other| *other != id).collect();
        self.live.insert(id, broker);
        let state = Arc::make_mut(&mut self.state);
        for partition in state.topics.values_mut().flat_map(|topic| &mut topic.partitions) {
            let leaderless = partition.leader == NO_LEADER && partition.isr.contains(&id);
            if partition.leader == id || leaderless {
                partition.leader = id;
                partition.leader_epoch += 1;
            }
        }
        self.effects.push_back(Effect::Persist);
        let configured = self.state.topics.iter().filter(|(_, topic)| !topic.configs.is_empty());
        self.effects.extend(configured.map(|(name, topic)| Effect::TopicConfigs {
            topic: name.as_str().into(),
            configs: topic.configs.clone(),
        }));
        let topics = self.state.topics.iter();
        let hosted = topics.filter_map(|(name, topic)| leader_and_isr_topic(id, name, topic, 0));
        let hosted: Vec<_> = hosted.collect();
        if !hosted.is_empty() {
            self.effects.push_back(Effect::LeaderAndIsr(LeaderAndIsr { broker: id, topics: hosted }));
        }
        let all = self.state.topics.iter().map(|(name, topic)| topic_update(name, topic, 0)).collect();
        self.announce_to([id], all);
        self.announce_to(others, Vec::new());
    }

    /// Creates a topic, or says why not; with `validate_only` nothing happens but the answer.
    pub(crate) fn handle_create_topic(
        &mut self,
        request: CreateTopic,
        validate_only: bool,
    ) -> Result<CreatedTopic, ControllerError> {
        self.check_new_name(&request.name)?;
        let configs = checked_configs(request.configs)?;
        let assignments = if request.assignments.is_empty() {
            let partitions = self.checked_partition_count(request.num_partitions)?;
            let factor = self.checked_replication_factor(request.replication_factor)?;
            self.assign(self.state.topics.len(), partitions, factor)
        } else {
            if request.num_partitions != -1 || request.replication_factor != -1 {
                return refuse(
                    ErrorCode::INVALID_REQUEST,
                    "A manual partition assignment was specified, but numPartitions or replicationFactor was not set \
                     to -1.",
                );
            }
            self.checked_assignments(request.assignments)?
        };
        let created = CreatedTopic {
            id: request.id,
            num_partitions: i32::try_from(assignments.len()).unwrap_or(i32::MAX),
            replication_factor: assignments.first().map_or(0, |replicas| replicas.len() as i16),
            configs: configs.clone(),
        };
        if !validate_only {
            let partitions = assignments.into_iter().map(|replicas| self.new_partition(replicas)).collect();
            let topic = TopicState { id: request.id, configs, partitions };
            self.store_partitions(&request.name, topic, 0);
        }
        Ok(created)
    }

    /// Adds partitions to a topic until it has `count`.
    pub(crate) fn handle_create_partitions(
        &mut self,
        name: &str,
        count: i32,
        assignments: Option<Vec<Vec<i32>>>,
        validate_only: bool,
    ) -> Result<(), ControllerError> {
        let Some(topic) = self.state.topics.get(name) else {
            return refuse(
                ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                "This server does not host this topic-partition.",
            );
        };
        let current = topic.partitions.len();
        let wanted = usize::try_from(count).unwrap_or(0);
        let added = match wanted.checked_sub(current) {
            None => {
                return refuse(
                    ErrorCode::INVALID_PARTITIONS,
                    format!(
                        "The topic {name} currently has {current} partition(s); {count} would not be an increase."
                    ),
                );
            }
            Some(0) => {
                return refuse(
                    ErrorCode::INVALID_PARTITIONS,
                    format!("Topic already has {current} partition(s)."),
                );
            }
            Some(added) if added > MAX_PARTITIONS_PER_REQUEST => return too_many_partitions(),
            Some(added) => added,
        };
        let factor = topic.partitions.first().map_or(1, |partition| partition.replicas.len());
        let replicas = match assignments {
            None => self.assign(current, added, factor),
            Some(given) if given.len() == added => {
                self.checked_assignments((0..).zip(given).collect::<Vec<_>>())?
            }
            Some(given) => {
                return refuse(
                    ErrorCode::INVALID_REPLICA_ASSIGNMENT,
                    format!(
                        "Attempted to add {added} additional partition(s), but only {} assignment(s) were specified.",
                        given.len()
                    ),
                );
            }
        };
        if !validate_only {
            let mut topic = topic.clone();
            topic.partitions.extend(replicas.into_iter().map(|replicas| self.new_partition(replicas)));
            self.store_partitions(name, topic, current);
        }
        Ok(())
    }

    /// Deletes a topic and answers its name and id.
    pub(crate) fn handle_delete_topic(
        &mut self,
        selector: &TopicSelector,
    ) -> Result<(String, Uuid), ControllerError> {
        let name = match selector {
            TopicSelector::Name(name) if self.state.topics.contains_key(name) => name.clone(),
            TopicSelector::Name(_) => {
                return refuse(
                    ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                    "This server does not host this topic-partition.",
                );
            }
            TopicSelector::Id(id) => match self.state.topic_by_id(*id) {
                Some((name, _)) => name.clone(),
                None => {
                    return refuse(ErrorCode::UNKNOWN_TOPIC_ID, "This server does not host this topic ID.");
                }
            },
        };
        let Some(topic) = Arc::make_mut(&mut self.state).topics.remove(&name) else {
            return refuse(
                ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                "This server does not host this topic-partition.",
            );
        };
        self.effects.push_back(Effect::Persist);
        let mut update = topic_update(&name, &topic, 0);
        for partition in &mut update.partitions {
            partition.leader = LEADER_DURING_DELETE;
        }
        let shared_name = update.name.clone();
        let live: Vec<i32> = self.live.keys().copied().collect();
        self.announce_to(live.iter().copied(), vec![update]);
        for broker in live {
            let partitions = hosted_by(broker, &topic.partitions, 0).map(|(number, _)| number).collect();
            let stop = StopReplica { broker, topic: shared_name.clone(), id: topic.id, partitions };
            self.effects.push_back(Effect::StopReplica(stop));
        }
        self.effects.push_back(Effect::TopicConfigs { topic: shared_name, configs: BTreeMap::new() });
        Ok((name, topic.id))
    }

    /// Gives away producer ids that nobody will ever get again.
    pub(crate) fn handle_allocate_producer_ids(&mut self) -> Result<Range<i64>, ControllerError> {
        let start = self.state.next_producer_id;
        let Some(end) = start.checked_add(PRODUCER_ID_BLOCK) else {
            return refuse(ErrorCode::UNKNOWN_SERVER_ERROR, "all producer ids have been given away");
        };
        Arc::make_mut(&mut self.state).next_producer_id = end;
        self.effects.push_back(Effect::Persist);
        Ok(start..end)
    }

    fn store_partitions(&mut self, name: &str, topic: TopicState, first_new: usize) {
        self.effects.push_back(Effect::Persist);
        self.effects.push_back(Effect::TopicConfigs { topic: name.into(), configs: topic.configs.clone() });
        let live: Vec<i32> = self.live.keys().copied().collect();
        for broker in &live {
            if let Some(hosted) = leader_and_isr_topic(*broker, name, &topic, first_new) {
                self.effects
                    .push_back(Effect::LeaderAndIsr(LeaderAndIsr { broker: *broker, topics: vec![hosted] }));
            }
        }
        // Last, so that nobody hears of a leader that does not lead yet.
        self.announce_to(live, vec![topic_update(name, &topic, first_new)]);
        Arc::make_mut(&mut self.state).topics.insert(name.to_owned(), topic);
    }

    fn announce_to(&mut self, brokers: impl IntoIterator<Item = i32>, topics: Vec<TopicUpdate>) {
        let update = MetadataUpdate {
            controller_id: self.node_id,
            controller_epoch: self.state.controller_epoch,
            live_brokers: self.live.values().cloned().collect(),
            topics,
        };
        for broker in brokers {
            self.effects.push_back(Effect::UpdateMetadata { broker, update: update.clone() });
        }
    }

    /// The first live replica leads, and the live replicas are in sync.
    fn new_partition(&self, replicas: Vec<i32>) -> PartitionState {
        let isr: Vec<i32> = replicas.iter().copied().filter(|id| self.live.contains_key(id)).collect();
        let leader = isr.first().copied().unwrap_or(NO_LEADER);
        PartitionState {
            isr: if isr.is_empty() { replicas.clone() } else { isr },
            replicas,
            leader,
            leader_epoch: 0,
        }
    }

    /// Spreads partitions over the live brokers, starting with another broker for each topic.
    fn assign(&self, start: usize, partitions: usize, factor: usize) -> Vec<Vec<i32>> {
        let brokers: Vec<i32> = self.live.keys().copied().collect();
        let replicas = |partition| {
            let ring = brokers.iter().copied().cycle();
            ring.skip((start + partition) % brokers.len().max(1)).take(factor).collect()
        };
        (0..partitions).map(replicas).collect()
    }

    fn check_new_name(&self, name: &str) -> Result<(), ControllerError> {
        if let Err(message) = validate_topic_name(name) {
            return refuse(ErrorCode::INVALID_TOPIC_EXCEPTION, message);
        }
        if self.state.topics.contains_key(name) {
            return refuse(ErrorCode::TOPIC_ALREADY_EXISTS, format!("Topic '{name}' already exists."));
        }
        if !name.contains(['.', '_']) {
            return Ok(());
        }
        match self.state.topics.keys().find(|other| collide(name, other)) {
            Some(other) => refuse(
                ErrorCode::INVALID_TOPIC_EXCEPTION,
                format!("Topic '{name}' collides with existing topic: {other}"),
            ),
            None => Ok(()),
        }
    }

    fn checked_partition_count(&self, asked: i32) -> Result<usize, ControllerError> {
        let count = if asked == -1 { self.default_partitions } else { asked };
        match usize::try_from(count) {
            Ok(count) if count > MAX_PARTITIONS_PER_REQUEST => too_many_partitions(),
            Ok(count) if count > 0 => Ok(count),
            _ => refuse(
                ErrorCode::INVALID_PARTITIONS,
                "Number of partitions must be larger than 0, or -1 to use the default value.",
            ),
        }
    }

    fn checked_replication_factor(&self, asked: i16) -> Result<usize, ControllerError> {
        let factor = if asked == -1 { self.default_replication_factor } else { asked };
        let live = self.live.len();
        match usize::try_from(factor) {
            Ok(factor) if factor > live => refuse(
                ErrorCode::INVALID_REPLICATION_FACTOR,
                format!(
                    "Unable to replicate the partition {factor} time(s): The target replication factor of {factor} \
                     cannot be reached because only {live} broker(s) are registered."
                ),
            ),
            Ok(factor) if factor > 0 => Ok(factor),
            _ => refuse(
                ErrorCode::INVALID_REPLICATION_FACTOR,
                "Replication factor must be larger than 0, or -1 to use the default value.",
            ),
        }
    }

    fn checked_assignments(
        &self,
        mut assignments: Vec<(i32, Vec<i32>)>,
    ) -> Result<Vec<Vec<i32>>, ControllerError> {
        let invalid = |message: String| refuse(ErrorCode::INVALID_REPLICA_ASSIGNMENT, message);
        if assignments.len() > MAX_PARTITIONS_PER_REQUEST {
            return too_many_partitions();
        }
        assignments.sort();
        let factor = assignments.first().map_or(0, |(_, replicas)| replicas.len());
        for (expected, (partition, replicas)) in (0i32..).zip(&assignments) {
            if *partition != expected {
                return invalid(format!(
                    "partitions should be a consecutive 0-based integer sequence; {expected} is missing"
                ));
            }
            if replicas.is_empty() || replicas.len() != factor {
                return invalid(format!(
                    "The manual partition assignment includes a partition with {} replica(s), but others have {factor}.",
                    replicas.len()
                ));
            }
            let distinct: BTreeSet<_> = replicas.iter().collect();
            if distinct.len() != replicas.len() {
                return invalid(format!(
                    "The replicas {replicas:?} of partition {partition} name a broker twice."
                ));
            }
            if let Some(unknown) = replicas.iter().find(|id| !self.live.contains_key(id)) {
                return invalid(format!(
                    "The manual partition assignment includes broker {unknown}, but no such broker is registered."
                ));
            }
        }
        Ok(assignments.into_iter().map(|(_, replicas)| replicas).collect())
    }
}

fn too_many_partitions<T>() -> Result<T, ControllerError> {
    refuse(
        ErrorCode::POLICY_VIOLATION,
        format!(
            "Excessively large number of partitions per request: at most {MAX_PARTITIONS_PER_REQUEST} are allowed."
        ),
    )
}

fn checked_configs(
    configs: Vec<(String, Option<String>)>,
) -> Result<BTreeMap<String, String>, ControllerError> {
    let mut checked = BTreeMap::new();
    let mut config = LogConfig::default();
    for (name, value) in configs {
        let Some(value) = value else {
            return refuse(
                ErrorCode::INVALID_CONFIG,
                format!("Null value not supported for topic configs: {name}"),
            );
        };
        if let Err(error) = config.set(&name, &value) {
            return refuse(ErrorCode::INVALID_CONFIG, error.to_string());
        }
        checked.insert(name, value);
    }
    Ok(checked)
}

/// The partitions from `first` on that `broker` holds a replica of.
fn hosted_by(
    broker: i32,
    partitions: &[PartitionState],
    first: usize,
) -> impl Iterator<Item = (i32, &PartitionState)> {
    let numbered = (0i32..).zip(partitions).skip(first);
    numbered.filter(move |(_, partition)| partition.replicas.contains(&broker))
}

fn leader_and_isr_topic(
    broker: i32,
    name: &str,
    topic: &TopicState,
    first: usize,
) -> Option<LeaderAndIsrTopic> {
    let partitions: Vec<_> =
        hosted_by(broker, &topic.partitions, first).map(|(number, state)| (number, state.clone())).collect();
    (!partitions.is_empty()).then(|| LeaderAndIsrTopic { name: name.into(), id: topic.id, partitions })
}

fn topic_update(name: &str, topic: &TopicState, first: usize) -> TopicUpdate {
    let partitions = (0i32..).zip(&topic.partitions).skip(first);
    let partitions = partitions.map(|(partition, state)| PartitionUpdate {
        partition,
        leader: state.leader,
        leader_epoch: state.leader_epoch,
        replicas: state.replicas.clone(),
        isr: state.isr.clone(),
        offline: Vec::new(),
    });
    TopicUpdate { name: name.into(), id: topic.id, partitions: partitions.collect() }
}
