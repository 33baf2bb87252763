//! News of leaders that come outside of metadata answers (client.md 6 and 7).

use std::sync::Arc;

use super::{Metadata, RefreshReason};
use crate::{
    cluster::{Cluster, Node},
    network::NodeId,
};

/// A produce or fetch error's hint at the new leader (KIP-951).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaderHint {
    /// The new leader; −1 when the broker does not know.
    pub leader_id: NodeId,
    /// Its epoch; −1 when the broker does not know.
    pub leader_epoch: i32,
}

impl Metadata {
    /// Applies a hint: only one with a newer epoch, for a cached partition, to a node that is known or among `nodes`, the
    /// endpoints that came with it. True if the partition has a new leader now, to which batches go without a refresh.
    ///
    /// Callers see it after [`publish_changes`](Self::publish_changes).
    pub fn apply_leader_hint(
        &mut self,
        topic: &str,
        partition: i32,
        hint: LeaderHint,
        nodes: &[Node],
    ) -> bool {
        let Some(known) = self.cluster.partition(topic, partition) else { return false };
        let newer =
            hint.leader_epoch >= 0 && known.leader_epoch.is_none_or(|epoch| hint.leader_epoch > epoch);
        let endpoint = nodes.iter().find(|node| node.id == hint.leader_id);
        if !newer || (endpoint.is_none() && self.cluster.node(hint.leader_id).is_none()) {
            return false;
        }
        let cluster = Arc::make_mut(&mut self.cluster);
        // An endpoint in the answer is newer than what the metadata said of that node.
        if let Some(node) = endpoint {
            let same = |known: &Arc<Node>| known.host == node.host && known.port == node.port;
            if !cluster.node(node.id).is_some_and(same) {
                cluster.insert_node(Arc::new(node.clone()));
            }
        }
        set_leader(cluster, topic, partition, Some(hint.leader_id), hint.leader_epoch);
        self.unpublished = true;
        true
    }

    /// Takes note of a leader epoch seen elsewhere. A newer one than the cached means that the cached leader is no leader
    /// any more: it is forgotten and a refresh is demanded. True in that case.
    pub fn last_seen_epoch_newer(&mut self, topic: &str, partition: i32, epoch: i32) -> bool {
        let known = self.cluster.partition(topic, partition).and_then(|known| known.leader_epoch);
        if known.is_none_or(|known| epoch <= known) {
            return false;
        }
        set_leader(Arc::make_mut(&mut self.cluster), topic, partition, None, epoch);
        self.unpublished = true;
        self.request_update(RefreshReason::NewerEpoch);
        true
    }

    /// Shows callers what hints changed. The updater does it in each turn.
    pub fn publish_changes(&mut self) {
        if self.unpublished {
            self.publish();
        }
    }
}

fn set_leader(cluster: &mut Cluster, topic: &str, partition: i32, leader: Option<NodeId>, epoch: i32) {
    let Some(topic) = cluster.topic_mut(topic) else { return };
    if let Some(known) = topic.partition_mut(partition) {
        known.leader = leader;
        known.leader_epoch = Some(epoch);
    }
    topic.index_available();
}
