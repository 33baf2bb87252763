//! Topics: creating, growing, deleting, configuring them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use milena_protocol::{ErrorCode, Uuid};
use milena_storage::LogConfig;

use super::batch::Batch;
use super::engine::ControllerEngine;
use super::requests::refuse;
use super::{
    ConfigChange, ConfigOp, ControllerError, CreateTopic, CreatedTopic, PartitionState, TopicSelector,
    TopicState, collide, validate_topic_name,
};

/// The most partitions that one request may create, of all its topics together
/// (`ReplicationControlManager.MAX_PARTITIONS_PER_BATCH`).
const MAX_PARTITIONS_PER_REQUEST: usize = 10_000;

impl ControllerEngine {
    /// Creates a topic, or says why not; with `validate_only` nothing happens but the answer.
    pub fn handle_create_topic(
        &mut self,
        request: CreateTopic,
        validate_only: bool,
    ) -> Result<CreatedTopic, ControllerError> {
        self.check_total_created(std::slice::from_ref(&request))?;
        self.check_new_name(&request.name)?;
        let configs = checked_configs(request.configs)?;
        let assignments = if request.assignments.is_empty() {
            let partitions = self.checked_partition_count(request.num_partitions)?;
            let factor = self.checked_replication_factor(request.replication_factor)?;
            self.assign(self.state.topics.len(), partitions, factor)?
        } else {
            if request.num_partitions != -1 || request.replication_factor != -1 {
                return refuse(
                    ErrorCode::INVALID_REQUEST,
                    "A manual partition assignment was specified, but numPartitions or replicationFactor was not set \
                     to -1.",
                );
            }
            self.checked_assignments(request.assignments, None)?
        };
        let created = CreatedTopic {
            id: request.id,
            num_partitions: i32::try_from(assignments.len()).unwrap_or(i32::MAX),
            replication_factor: assignments.first().map_or(0, |replicas| replicas.len() as i16),
            configs: configs.clone(),
        };
        if !validate_only {
            let usable = |id| self.is_usable(id);
            let partitions = assignments.into_iter().map(|replicas| PartitionState::new(replicas, usable));
            let topic = TopicState { id: request.id, configs, partitions: partitions.collect() };
            self.store_partitions(&request.name, topic, 0);
        }
        Ok(created)
    }

    /// Adds partitions to a topic until it has `count`.
    pub fn handle_create_partitions(
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
        self.check_total_added(&[(name, count)])?;
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
            Some(added) => added,
        };
        // One that is being reassigned has more replicas than it is to have.
        let factor = topic.partitions.first().map_or(1, |partition| partition.target_replicas().len());
        let replicas = match assignments {
            None => self.assign(current, added, factor)?,
            Some(given) if given.len() == added => {
                self.checked_assignments((0..).zip(given).collect(), Some(factor))?
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
            let usable = |id| self.is_usable(id);
            topic
                .partitions
                .extend(replicas.into_iter().map(|replicas| PartitionState::new(replicas, usable)));
            self.store_partitions(name, topic, current);
        }
        Ok(())
    }

    /// Whether one request may create all of these (`ReplicationControlManager.validateTotalNumberOfPartitions`). Kafka asks
    /// that before anything else, and answers for all topics alike.
    ///
    /// # Errors
    /// POLICY_VIOLATION.
    pub fn check_total_created(&self, topics: &[CreateTopic]) -> Result<(), ControllerError> {
        check_total(topics.iter().map(|topic| match (topic.assignments.len(), topic.num_partitions) {
            (0, -1) => self.config.default_partitions.try_into().unwrap_or(0),
            (0, count) => count.try_into().unwrap_or(0),
            (assigned, _) => assigned,
        }))
    }

    /// The same for topics that are to have so many partitions. Kafka has no such check; there the request breaks off where
    /// its records become too many (`QuorumController.MAX_RECORDS_PER_USER_OP`).
    ///
    /// # Errors
    /// POLICY_VIOLATION.
    pub fn check_total_added(&self, topics: &[(&str, i32)]) -> Result<(), ControllerError> {
        check_total(topics.iter().map(|(name, count)| {
            let current = self.state.topics.get(*name).map(|topic| topic.partitions.len());
            let wanted = usize::try_from(*count).unwrap_or(0);
            current.map_or(0, |current| wanted.saturating_sub(current))
        }))
    }

    /// Deletes a topic and answers its name and id.
    pub fn handle_delete_topic(
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
        let state = Arc::make_mut(&mut self.state);
        let Some(topic) = state.topics.remove(&name) else {
            return refuse(
                ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                "This server does not host this topic-partition.",
            );
        };
        let id = topic.id;
        state.deleting.insert(name.clone(), topic);
        self.commit(&Batch { deleted: BTreeSet::from([name.clone()]), ..Batch::default() });
        Ok((name, id))
    }

    /// Changes settings of a topic, all of them or none; with `validate_only` nothing happens but the answer.
    ///
    /// # Errors
    /// INVALID_CONFIG, and UNKNOWN_TOPIC_OR_PARTITION.
    pub fn handle_incremental_alter_configs(
        &mut self,
        name: &str,
        changes: Vec<ConfigChange>,
        validate_only: bool,
    ) -> Result<(), ControllerError> {
        let Some(topic) = self.state.topics.get(name) else {
            return refuse(
                ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                format!("The topic '{name}' does not exist."),
            );
        };
        let configs = changed_configs(topic.configs.clone(), changes)?;
        if validate_only {
            return Ok(());
        }
        let was_clean = !self.allows_unclean_election(topic);
        if let Some(topic) = Arc::make_mut(&mut self.state).topics.get_mut(name) {
            topic.configs = configs;
        }
        self.commit(&Batch { configs: BTreeSet::from([name.to_owned()]), ..Batch::default() });
        let is_unclean = self.state.topics.get(name).is_some_and(|topic| self.allows_unclean_election(topic));
        if was_clean && is_unclean {
            self.elect_where_leaderless(name);
        }
        Ok(())
    }

    fn store_partitions(&mut self, name: &str, topic: TopicState, first_new: usize) {
        let mut batch = Batch::default();
        for (number, _) in (0i32..).zip(&topic.partitions).skip(first_new) {
            batch.change(name, number);
        }
        if first_new == 0 && !topic.configs.is_empty() {
            batch.configs.insert(name.to_owned());
        }
        Arc::make_mut(&mut self.state).topics.insert(name.to_owned(), topic);
        self.commit(&batch);
    }

    /// Spreads partitions over the live brokers, starting with another broker for each topic.
    fn assign(
        &self,
        start: usize,
        partitions: usize,
        factor: usize,
    ) -> Result<Vec<Vec<i32>>, ControllerError> {
        let live = self.live.len();
        if factor > live {
            return refuse(
                ErrorCode::INVALID_REPLICATION_FACTOR,
                format!(
                    "Unable to replicate the partition {factor} time(s): The target replication factor of {factor} \
                     cannot be reached because only {live} broker(s) are registered."
                ),
            );
        }
        let mut brokers: Vec<i32> = self.live.keys().copied().filter(|id| self.is_usable(*id)).collect();
        if brokers.len() < factor {
            // Those whose log directory has failed get theirs when they have recovered it, those that leave when they are back.
            brokers = self.live.keys().copied().collect();
        }
        let replicas = |partition| {
            let ring = brokers.iter().copied().cycle();
            ring.skip((start + partition) % brokers.len().max(1)).take(factor).collect()
        };
        Ok((0..partitions).map(replicas).collect())
    }

    fn check_new_name(&self, name: &str) -> Result<(), ControllerError> {
        if self.state.deleting.contains_key(name) {
            return refuse(
                ErrorCode::TOPIC_ALREADY_EXISTS,
                format!("Topic '{name}' is marked for deletion."),
            );
        }
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
        let count = if asked == -1 { self.config.default_partitions } else { asked };
        match usize::try_from(count) {
            Ok(count) if count > 0 => Ok(count),
            _ => refuse(
                ErrorCode::INVALID_PARTITIONS,
                "Number of partitions must be larger than 0, or -1 to use the default value.",
            ),
        }
    }

    fn checked_replication_factor(&self, asked: i16) -> Result<usize, ControllerError> {
        let factor = if asked == -1 { self.config.default_replication_factor } else { asked };
        match usize::try_from(factor) {
            Ok(factor) if factor > 0 => Ok(factor),
            _ => refuse(
                ErrorCode::INVALID_REPLICATION_FACTOR,
                "Replication factor must be larger than 0, or -1 to use the default value.",
            ),
        }
    }

    /// Replicas as they were asked for: `factor` of each partition, or as many as of the first.
    fn checked_assignments(
        &self,
        mut assignments: Vec<(i32, Vec<i32>)>,
        factor: Option<usize>,
    ) -> Result<Vec<Vec<i32>>, ControllerError> {
        let invalid = |message: String| refuse(ErrorCode::INVALID_REPLICA_ASSIGNMENT, message);
        assignments.sort();
        let factor = factor.or(assignments.first().map(|(_, replicas)| replicas.len())).unwrap_or(0);
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

fn check_total(partitions: impl Iterator<Item = usize>) -> Result<(), ControllerError> {
    let total = partitions.fold(0, usize::saturating_add);
    if total <= MAX_PARTITIONS_PER_REQUEST {
        return Ok(());
    }
    refuse(
        ErrorCode::POLICY_VIOLATION,
        format!(
            "Excessively large number of partitions per request: {total}, but at most {MAX_PARTITIONS_PER_REQUEST} are \
             allowed, of all its topics together."
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

/// `configs` with the changes made to them, in order.
fn changed_configs(
    mut configs: BTreeMap<String, String>,
    changes: Vec<ConfigChange>,
) -> Result<BTreeMap<String, String>, ControllerError> {
    let mut named = BTreeSet::new();
    for ConfigChange { name, op, value } in changes {
        if !named.insert(name.clone()) {
            return refuse(
                ErrorCode::INVALID_REQUEST,
                format!("Error due to duplicate config keys: {name} is named twice."),
            );
        }
        let value = match (op, value) {
            (ConfigOp::Delete, _) => {
                configs.remove(&name);
                continue;
            }
            (_, None) => {
                return refuse(
                    ErrorCode::INVALID_CONFIG,
                    format!("Null value not supported for topic configs: {name}"),
                );
            }
            (ConfigOp::Set, Some(value)) => value,
            (ConfigOp::Append | ConfigOp::Subtract, Some(value)) => {
                edited_list(&name, op, configs.get(&name).map(String::as_str), &value)?
            }
        };
        configs.insert(name, value);
    }
    let unchecked = configs.into_iter().map(|(name, value)| (name, Some(value))).collect();
    checked_configs(unchecked)
}

/// A list with items added or removed. `cleanup.policy` is the one list among the settings that a topic may have.
fn edited_list(
    name: &str,
    op: ConfigOp,
    current: Option<&str>,
    edit: &str,
) -> Result<String, ControllerError> {
    const LIST: (&str, &str) = ("cleanup.policy", "delete");
    if name != LIST.0 {
        return refuse(
            ErrorCode::INVALID_CONFIG,
            format!("Config value append is not allowed for config key: {name}"),
        );
    }
    let items = |list: &str| -> Vec<String> {
        let items = list.split(',').map(|item| item.trim().to_owned());
        items.filter(|item| !item.is_empty()).collect()
    };
    let edit = items(edit);
    let mut list = items(current.unwrap_or(LIST.1));
    list.retain(|item| !edit.contains(item));
    if op == ConfigOp::Append {
        list.extend(edit);
    }
    Ok(list.join(","))
}
