//! [`MetadataUpdate`]: what the controller tells every broker (UpdateMetadata), and how a snapshot becomes the next one.

use std::collections::BTreeMap;
use std::sync::Arc;

use milena_protocol::Uuid;

use super::snapshot::{BrokerInfo, MetadataSnapshot, PartitionMetadata, TopicMetadata};

/// The leader of a partition that is being deleted (`LeaderAndIsr.LEADER_DURING_DELETE`).
pub const LEADER_DURING_DELETE: i32 = -2;

/// News from the controller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MetadataUpdate {
    /// Who sends it.
    pub controller_id: i32,
    /// The sender's epoch.
    pub controller_epoch: i32,
    /// All brokers that are alive.
    pub live_brokers: Vec<BrokerInfo>,
    /// The topics that have news; others stay as they are.
    pub topics: Vec<TopicUpdate>,
}

/// A topic that has news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicUpdate {
    /// Its name.
    pub name: Arc<str>,
    /// Its id.
    pub id: Uuid,
    /// The partitions that have news; others stay as they are.
    pub partitions: Vec<PartitionUpdate>,
}

/// A partition that has news. The leader [`LEADER_DURING_DELETE`] means that it is gone.
pub type PartitionUpdate = PartitionMetadata;

/// The update comes from a controller that has been replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("controller {controller_id} has epoch {epoch}, but epoch {current} has been heard of")]
pub struct StaleControllerEpoch {
    /// Who sent the update.
    pub controller_id: i32,
    /// Its epoch.
    pub epoch: i32,
    /// The newest epoch.
    pub current: i32,
}

impl MetadataSnapshot {
    pub(super) fn updated(&self, update: &MetadataUpdate) -> Result<Self, StaleControllerEpoch> {
        if update.controller_epoch < self.controller_epoch {
            return Err(StaleControllerEpoch {
                controller_id: update.controller_id,
                epoch: update.controller_epoch,
                current: self.controller_epoch,
            });
        }
        let mut next = self.clone();
        next.controller_id = Some(update.controller_id);
        next.controller_epoch = update.controller_epoch;
        let brokers = update.live_brokers.iter().map(|broker| (broker.id, Arc::new(broker.clone())));
        next.brokers = Arc::new(brokers.collect::<BTreeMap<_, _>>());
        for topic in &update.topics {
            next.apply(topic);
        }
        Ok(next)
    }

    fn apply(&mut self, update: &TopicUpdate) {
        // A topic of the same name and another id is another topic: nothing of the old one survives.
        let kept = match self.topics.get(&update.name) {
            Some(current) if current.id == update.id => current.partitions.clone(),
            Some(_) if update.partitions.iter().all(|partition| partition.leader == LEADER_DURING_DELETE) => {
                return;
            }
            Some(current) => {
                self.names.remove(&current.id);
                Vec::new()
            }
            None => Vec::new(),
        };
        let mut partitions: BTreeMap<i32, PartitionMetadata> =
            kept.into_iter().map(|partition| (partition.partition, partition)).collect();
        for partition in &update.partitions {
            if partition.leader == LEADER_DURING_DELETE {
                partitions.remove(&partition.partition);
            } else {
                partitions.insert(partition.partition, partition.clone());
            }
        }
        if partitions.is_empty() {
            self.topics.remove(&update.name);
            self.names.remove(&update.id);
            return;
        }
        let topic = TopicMetadata {
            name: update.name.clone(),
            id: update.id,
            partitions: partitions.into_values().collect(),
        };
        self.names.insert(update.id, update.name.clone());
        self.topics.insert(update.name.clone(), Arc::new(topic));
    }
}
