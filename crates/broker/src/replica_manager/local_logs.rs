//! [`LocalLogs`]: the logs of this broker, for a [`ReplicaFetcher`](crate::replica::ReplicaFetcher).

use std::sync::Arc;

use milena_protocol::ErrorCode;
use milena_protocol::messages::fetch_response::EpochEndOffset;

use super::{Partition, ReplicaManager, error_code};
use crate::replica::{FollowedPartition, FollowerAppend, FollowerLogs, LogEnd};

/// The partitions of a [`ReplicaManager`].
pub(super) struct LocalLogs<'a>(pub(super) &'a ReplicaManager);

impl LocalLogs<'_> {
    /// The partition, unless it is one of another topic with the same name by now.
    fn partition(&self, followed: &FollowedPartition) -> Result<Arc<Partition>, ErrorCode> {
        let name = &followed.name;
        self.0.partition_of(&name.topic, followed.topic_id, name.partition)
    }

    /// Makes a log shorter. What is on disk is not to vouch for offsets that other records get now, nor to say that they were
    /// deleted or compacted.
    fn cut(
        &self,
        followed: &FollowedPartition,
        cut: impl FnOnce(&Partition) -> Result<(), ErrorCode>,
    ) -> Result<(), ErrorCode> {
        let partition = self.partition(followed)?;
        let before = partition.log().log().lock().checkpointed_offsets();
        cut(&partition)?;
        self.0.logs.checkpoint_truncation(partition.log(), before).map_err(|error| error_code(&error))
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
        let now_ms = self.0.clock.now_ms();
        self.cut(followed, |partition| partition.truncate(followed.leader_epoch, end, now_ms))
    }

    fn truncate_to(&mut self, followed: &FollowedPartition, offset: i64) -> Result<(), ErrorCode> {
        let now_ms = self.0.clock.now_ms();
        self.cut(followed, |partition| partition.truncate_to(followed.leader_epoch, offset, now_ms))
    }

    fn restart_at(&mut self, followed: &FollowedPartition, offset: i64) -> Result<(), ErrorCode> {
        let now_ms = self.0.clock.now_ms();
        self.cut(followed, |partition| partition.restart_at(followed.leader_epoch, offset, now_ms))
    }
}
