//! How long each partition's queue is, for the partitioner (KIP-794, `RecordAccumulator.updatePartitionLoadStats`).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::{NodeQueue, Sender};
use crate::{
    network::{NetworkClient, NodeId},
    producer::{BuiltInPartitioner, PartitionLoad},
    time::Instant,
};

/// Queues are measured so often at the most: each measurement takes the lock of every active partition.
const INTERVAL: Duration = Duration::from_millis(10);

/// The topics whose partitioners choose by weights now.
pub(super) type LoadedTopics = BTreeSet<Arc<str>>;

impl Sender {
    /// Tells the partitioners the lengths of the queues, in batches, and which nodes take nothing or are suspected
    /// (client.md 38).
    pub(super) fn update_load(&mut self, network: &NetworkClient, now: Instant) {
        let suspects = network.any_suspected();
        let nothing_to_do = !suspects && (!self.settings.adaptive || self.active.is_empty());
        // Whoever is sent elsewhere when suspicion falls must not find the partition that it came from.
        let suspicions = network.suspicion_changes();
        let is_due = now >= self.next_load || self.load_as_of != suspicions;
        if !is_due || (nothing_to_do && self.load.is_empty()) {
            return;
        }
        self.next_load = now + INTERVAL;
        self.load_as_of = suspicions;
        let Some(cluster) = self.routed.clone() else { return };
        let lengths = self.queue_lengths();
        let mut loaded = BTreeSet::new();
        for (name, lengths) in &lengths {
            let Some(topic) = cluster.topic(name) else { continue };
            let usable = topic.available.iter().filter(|id| {
                let leader = topic.partition(**id).and_then(|partition| partition.leader);
                leader.is_none_or(|leader| !network.is_suspected(leader) && self.takes_batches(leader))
            });
            // Without partitioner.adaptive.partitioning.enable all that can be used are alike.
            let length = |id| lengths.get(id).copied().filter(|_| self.settings.adaptive).unwrap_or(0);
            let queues: Vec<(i32, u64)> = usable.map(|id| (*id, length(id))).collect();
            let all = queues.len() == topic.available.len();
            let load = if all { PartitionLoad::new(&queues) } else { PartitionLoad::of_some(&queues) };
            if let Some(partitioner) = self.partitioner(name) {
                if load.is_some() {
                    loaded.insert(Arc::clone(name));
                }
                partitioner.set_load(load);
                partitioner.leave_unusable(topic, |partition| queues.iter().any(|(id, _)| *id == partition));
            }
        }
        for name in self.load.difference(&loaded).filter(|name| !lengths.contains_key(*name)) {
            if let Some(partitioner) = self.partitioner(name) {
                partitioner.set_load(None);
            }
        }
        self.load = loaded;
    }

    fn queue_lengths(&self) -> BTreeMap<Arc<str>, BTreeMap<i32, u64>> {
        let mut lengths: BTreeMap<Arc<str>, BTreeMap<i32, u64>> = BTreeMap::new();
        for partition in self.active.iter().filter_map(|id| self.partitions.get(*id)?.as_ref()) {
            let waiting: usize = partition.waiting.iter().map(super::ProducerBatch::size).sum();
            let bytes = partition.queue.sizes().all + waiting;
            let batches = bytes / self.settings.batch_size.max(1);
            let of_topic = lengths.entry(Arc::clone(&partition.queue.topic)).or_default();
            of_topic.insert(partition.queue.partition, batches as u64);
        }
        lengths
    }

    fn partitioner(&self, topic: &str) -> Option<Arc<BuiltInPartitioner>> {
        self.accumulator.partitioner(topic)
    }

    /// False when the node has had something to take for longer than partitioner.availability.timeout.ms and could not.
    fn takes_batches(&self, node: NodeId) -> bool {
        let timeout = self.settings.availability_timeout;
        match self.nodes.get(&node) {
            Some(NodeQueue { ready_at: Some(ready), drained_at: Some(drained), .. })
                if !timeout.is_zero() =>
            {
                *ready - *drained <= timeout
            }
            _ => true,
        }
    }
}
