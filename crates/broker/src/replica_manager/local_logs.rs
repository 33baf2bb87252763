//! [`LocalLogs`]: the logs of this broker, for a [`ReplicaFetcher`](crate::replica::ReplicaFetcher).

use milena_protocol::ErrorCode;
use milena_protocol::messages::fetch_response::EpochEndOffset;
use milena_storage::TopicPartition;

use super::ReplicaManager;
use crate::replica::{FollowerAppend, FollowerLogs, LogEnd};

/// The partitions of a [`ReplicaManager`].
pub(super) struct LocalLogs<'a>(pub(super) &'a ReplicaManager);

impl FollowerLogs for LocalLogs<'_> {
    fn log_end(&mut self, name: &TopicPartition) -> Result<LogEnd, ErrorCode> {
        Ok(self.0.partition(&name.topic, name.partition)?.log_end())
    }

    fn append(&mut self, name: &TopicPartition, epoch: i32, append: FollowerAppend) -> Result<(), ErrorCode> {
        let now_ms = self.0.clock.now_ms();
        self.0.partition(&name.topic, name.partition)?.append_as_follower(epoch, append, now_ms)
    }

    fn truncate(&mut self, name: &TopicPartition, epoch: i32, end: &EpochEndOffset) -> Result<(), ErrorCode> {
        self.0.partition(&name.topic, name.partition)?.truncate(epoch, end, self.0.clock.now_ms())
    }

    fn truncate_to(&mut self, name: &TopicPartition, epoch: i32, offset: i64) -> Result<(), ErrorCode> {
        self.0.partition(&name.topic, name.partition)?.truncate_to(epoch, offset, self.0.clock.now_ms())
    }

    fn restart_at(&mut self, name: &TopicPartition, epoch: i32, offset: i64) -> Result<(), ErrorCode> {
        self.0.partition(&name.topic, name.partition)?.restart_at(epoch, offset, self.0.clock.now_ms())
    }
}
