//! [`LocalLogs`]: the logs of this broker, for a [`ReplicaFetcher`](crate::replica::ReplicaFetcher).

use std::sync::Arc;

use milena_protocol::ErrorCode;
use milena_protocol::messages::fetch_response::EpochEndOffset;

use super::{Partition, ReplicaManager};
use crate::replica::{FollowedPartition, FollowerAppend, FollowerLogs, LogEnd};

/// The partitions of a [`ReplicaManager`].
pub(super) struct LocalLogs<'a>(pub(super) &'a ReplicaManager);

impl LocalLogs<'_> {
    /// The partition, unless it is one of another topic with the same name by now.
    fn partition(&self, followed: &FollowedPartition) -> Result<Arc<Partition>, ErrorCode> {
        let name = &followed.name;
        self.0.partition_of(&name.topic, followed.topic_id, name.partition)
    }
}

impl FollowerLogs for LocalLogs<'_> {
    fn log_end(&mut self, followed: &FollowedPartition) -> Result<LogEnd, ErrorCode> {
        Ok(self.partition(followed)?.log_end())
    }

    fn append(&mut self, followed: &FollowedPartition, append: FollowerAppend) -> Result<(), ErrorCode> {
        let now_ms = self.0.clock.now_ms();
        self.partition(followed)?.append_as_follower(followed.leader_epoch, append, now_ms)
    }

    fn truncate(&mut self, followed: &FollowedPartition, end: &EpochEndOffset) -> Result<(), ErrorCode> {
        self.partition(followed)?.truncate(followed.leader_epoch, end, self.0.clock.now_ms())
    }

    fn truncate_to(&mut self, followed: &FollowedPartition, offset: i64) -> Result<(), ErrorCode> {
        self.partition(followed)?.truncate_to(followed.leader_epoch, offset, self.0.clock.now_ms())
    }

    fn restart_at(&mut self, followed: &FollowedPartition, offset: i64) -> Result<(), ErrorCode> {
        self.partition(followed)?.restart_at(followed.leader_epoch, offset, self.0.clock.now_ms())
    }
}
