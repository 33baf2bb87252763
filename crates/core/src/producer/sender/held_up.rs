//! What waits for brokers that do not answer: how much memory it may hold, and what of it can go elsewhere.

use std::{collections::BTreeMap, sync::Arc};

use super::Sender;
use crate::{network::NetworkClient, producer::partition_state::PartitionState};

impl Sender {
    /// Bounds what waits for suspects, and moves records without a key that were never sent to partitions of other brokers;
    /// true if there were any.
    pub(super) fn hold_up(&mut self, network: &NetworkClient) -> bool {
        if !network.any_suspected() && self.leaderless.is_empty() && self.held_up.is_empty() {
            return false;
        }
        let as_of = (self.routes_computed, network.suspicion_changes());
        if self.held_up_as_of != as_of {
            self.held_up_as_of = as_of;
            self.held_up = self.find_held_up(network);
            self.accumulator.pool().set_held_up(&self.held_up);
        }
        let Some(cluster) = self.routed.clone() else { return false };
        let mut rescued = false;
        for id in self.held_up.keys() {
            let Some(Some(partition)) = self.partitions.get(*id) else { continue };
            if let Some(topic) = cluster.topic(&partition.queue.topic) {
                // While nobody answers all stays where it is: moved about, batches would not fill.
                let leader = |id| topic.partition(id).and_then(|partition| partition.leader);
                let is_usable = |id| leader(id).is_some_and(|leader| !network.is_suspected(leader));
                rescued |= self.accumulator.rescue(topic, &partition.queue, is_usable);
            }
        }
        rescued
    }

    /// The partitions whose records cannot go, each with what is in their way.
    fn find_held_up(&self, network: &NetworkClient) -> BTreeMap<usize, Arc<str>> {
        let why = |partition: &PartitionState| match partition.leader {
            Some(leader) if network.is_suspected(leader) => {
                Some(format!("broker {leader} ({}) does not answer", network.address(leader)))
            }
            Some(_) => None,
            None => {
                let (topic, partition) = (&partition.queue.topic, partition.queue.partition);
                Some(format!("partition {partition} of topic {topic} has no leader"))
            }
        };
        let active = self.active.iter().filter_map(|id| Some((*id, self.partitions.get(*id)?.as_ref()?)));
        active.filter_map(|(id, partition)| Some((id, why(partition)?.into()))).collect()
    }
}
