//! Who leads instead of this broker (KIP-951), for those answers that have room for it.

use milena_protocol::ErrorCode;

use super::RequestContext;
use crate::metadata_cache::NO_LEADER;

/// The errors that come with a hint.
pub(super) const LEADER_MOVED: [ErrorCode; 2] =
    [ErrorCode::NOT_LEADER_OR_FOLLOWER, ErrorCode::FENCED_LEADER_EPOCH];

/// A partition's leader.
#[derive(Debug)]
pub(super) struct LeaderHint {
    pub(super) leader_id: i32,
    pub(super) leader_epoch: i32,
    /// Where clients of the asker's listener reach it; None when they cannot.
    pub(super) endpoint: Option<LeaderEndpoint>,
}

/// Where a leader is to be reached.
#[derive(Debug)]
pub(super) struct LeaderEndpoint {
    pub(super) host: String,
    pub(super) port: i32,
    pub(super) rack: Option<String>,
}

/// What is known of a partition's leader: from its role here, which is the newest, or else from the metadata cache.
pub(super) fn find(context: &RequestContext, topic: &str, partition: i32) -> Option<LeaderHint> {
    let snapshot = context.node.metadata_cache.load();
    let announced = || {
        let partition = snapshot.topic(topic)?.partition(partition)?;
        Some((partition.leader, partition.leader_epoch))
    };
    let held = context.node.replica_manager.partition(topic, partition);
    let (leader_id, leader_epoch) = held.ok().map(|partition| partition.leader()).or_else(announced)?;
    let leader = snapshot.broker(leader_id).filter(|_| leader_id != NO_LEADER);
    let endpoint = leader.and_then(|leader| {
        let endpoint = leader.endpoint(&context.peer.listener)?;
        let (host, rack) = (endpoint.host.clone(), leader.rack.clone());
        Some(LeaderEndpoint { host, port: i32::from(endpoint.port), rack })
    });
    Some(LeaderHint { leader_id, leader_epoch, endpoint })
}
