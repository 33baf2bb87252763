//! [`Batch`]: what one event changed.

use std::collections::{BTreeMap, BTreeSet};

use super::StopReplicaPartition;

/// The partitions of some topics.
pub(super) type Partitions = BTreeMap<String, BTreeSet<i32>>;

/// What one event changed. It is all in the state already.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Batch {
    /// Brokers that hear of everything.
    pub(super) joined: BTreeSet<i32>,
    /// Whether everybody has to hear who is alive, even if nothing else is new.
    pub(super) brokers_changed: bool,
    /// Topics whose settings are others.
    pub(super) configs: BTreeSet<String>,
    /// Topics that are deleted.
    pub(super) deleted: BTreeSet<String>,
    /// Decisions, which replicas and metadata caches have to hear of.
    pub(super) changed: Partitions,
    /// What metadata caches alone have to hear of.
    pub(super) announced: Partitions,
    /// Replicas to be given up, by broker.
    pub(super) stopped: BTreeMap<i32, BTreeMap<String, Vec<StopReplicaPartition>>>,
}

impl Batch {
    /// Whether no partition is concerned.
    pub(super) fn is_empty(&self) -> bool {
        self.announced.is_empty()
    }

    pub(super) fn change(&mut self, topic: &str, partition: i32) {
        self.changed.entry(topic.to_owned()).or_default().insert(partition);
        self.announce(topic, partition);
    }

    pub(super) fn announce(&mut self, topic: &str, partition: i32) {
        self.announced.entry(topic.to_owned()).or_default().insert(partition);
    }

    pub(super) fn stop(&mut self, broker: i32, topic: &str, partition: StopReplicaPartition) {
        self.stopped.entry(broker).or_default().entry(topic.to_owned()).or_default().push(partition);
    }

    /// Adds what a later event changed.
    pub(super) fn merge(&mut self, later: &Self) {
        self.joined.extend(&later.joined);
        self.brokers_changed |= later.brokers_changed;
        self.configs.extend(later.configs.iter().cloned());
        self.deleted.extend(later.deleted.iter().cloned());
        merge_partitions(&mut self.changed, &later.changed);
        merge_partitions(&mut self.announced, &later.announced);
        for (broker, topics) in &later.stopped {
            let stopped = self.stopped.entry(*broker).or_default();
            for (topic, partitions) in topics {
                stopped.entry(topic.clone()).or_default().extend(partitions);
            }
        }
    }
}

fn merge_partitions(own: &mut Partitions, later: &Partitions) {
    for (topic, partitions) in later {
        own.entry(topic.clone()).or_default().extend(partitions);
    }
}
