//! Who leads instead of this broker (KIP-951), for those answers that have room for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use milena_protocol::ErrorCode;

use super::RequestContext;
use crate::metadata_cache::NO_LEADER;

/// The errors that come with a hint.
const LEADER_MOVED: [ErrorCode; 2] = [ErrorCode::NOT_LEADER_OR_FOLLOWER, ErrorCode::FENCED_LEADER_EPOCH];

/// The hints of one answer.
pub(super) struct LeaderHints<'a> {
    context: &'a RequestContext,
    /// Where the leaders are that were named so far.
    endpoints: BTreeMap<i32, LeaderEndpoint>,
}

/// Where a leader is to be reached.
#[derive(Debug)]
pub(super) struct LeaderEndpoint {
    pub(super) host: String,
    pub(super) port: i32,
    pub(super) rack: Option<String>,
}

impl<'a> LeaderHints<'a> {
    pub(super) fn new(context: &'a RequestContext) -> Self {
        Self { context, endpoints: BTreeMap::new() }
    }

    /// The leader of a partition and its epoch, if the partition was refused because somebody else leads it: from its role
    /// here, which is the newest, or else from the metadata cache.
    pub(super) fn leader(
        &mut self,
        error: ErrorCode,
        topic: impl FnOnce() -> Option<Arc<str>>,
        partition: i32,
    ) -> Option<(i32, i32)> {
        if !LEADER_MOVED.contains(&error) {
            return None;
        }
        let (topic, node) = (topic()?, &self.context.node);
        let snapshot = node.metadata_cache.load();
        let announced = || {
            let partition = snapshot.topic(&topic)?.partition(partition)?;
            Some((partition.leader, partition.leader_epoch))
        };
        let held = node.replica_manager.partition(&topic, partition);
        let (id, epoch) = held.ok().map(|partition| partition.leader()).or_else(announced)?;
        // Where clients of the asker's listener reach it, if they do.
        let leader = snapshot.broker(id).filter(|_| id != NO_LEADER);
        self.endpoints.extend(leader.and_then(|leader| {
            let endpoint = leader.endpoint(&self.context.peer.listener)?;
            let (host, rack) = (endpoint.host.clone(), leader.rack.clone());
            Some((id, LeaderEndpoint { host, port: i32::from(endpoint.port), rack }))
        }));
        Some((id, epoch))
    }

    /// Where all the leaders that were named are to be reached, in the order of their ids.
    pub(super) fn endpoints<E>(self, endpoint: impl Fn(i32, LeaderEndpoint) -> E) -> Vec<E> {
        self.endpoints.into_iter().map(|(id, at)| endpoint(id, at)).collect()
    }
}
