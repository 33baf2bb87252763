//! OffsetCommit (key 8), versions 2 to 10.
//!
//! Served: members of a group and consumers without one; topics by name, and by id from version 10. Every replica in sync
//! has an offset before the answer. Not served: `retention_time_ms`, since offsets do not expire here.

use milena_protocol::messages::offset_commit_response::{
    OffsetCommitResponsePartition, OffsetCommitResponseTopic,
};
use milena_protocol::messages::{OffsetCommitRequest, OffsetCommitResponse};
use milena_protocol::{ErrorCode, VersionRange};

use super::RequestContext;
use crate::coordinator::{CommittedOffset, GroupCoordinator, OffsetKey};

pub(super) const VERSIONS: VersionRange = VersionRange::new(2, 10);

const TOPIC_ID_VERSION: i16 = 10;

pub(super) async fn handle(context: &RequestContext, request: OffsetCommitRequest) -> OffsetCommitResponse {
    let groups = &context.node.groups;
    let allowed = groups.check_commit(
        &request.group_id,
        &request.member_id,
        request.group_instance_id.as_deref(),
        request.generation_id_or_member_epoch,
    );
    let now_ms = context.node.clock.now_ms();
    let mut accepted = Vec::new();
    let mut topics = Vec::new();
    for topic in request.topics {
        let name = match context.version() {
            TOPIC_ID_VERSION.. => context.topic_name(topic.topic_id).map(|name| name.to_string()),
            _ => Ok(topic.name.clone()),
        };
        let partitions = topic.partitions.into_iter().map(|partition| {
            let metadata = partition.committed_metadata.unwrap_or_default();
            let taken = allowed.and(name.clone()).and_then(|topic| {
                GroupCoordinator::check_metadata(&metadata)?;
                known(context, &topic, partition.partition_index)?;
                let offset = CommittedOffset {
                    offset: partition.committed_offset,
                    leader_epoch: partition.committed_leader_epoch,
                    metadata,
                    committed_at_ms: now_ms,
                };
                accepted.push((OffsetKey { topic, partition: partition.partition_index }, Some(offset)));
                Ok(())
            });
            let error_code = taken.err().unwrap_or(ErrorCode::NONE);
            OffsetCommitResponsePartition { partition_index: partition.partition_index, error_code }
        });
        let partitions = partitions.collect();
        topics.push(OffsetCommitResponseTopic { name: topic.name, topic_id: topic.topic_id, partitions });
    }
    if let Err(error) = groups.commit(request.group_id, accepted).await {
        let all = topics.iter_mut().flat_map(|topic| &mut topic.partitions);
        for partition in all.filter(|partition| partition.error_code.is_ok()) {
            partition.error_code = error;
        }
    }
    OffsetCommitResponse { topics, ..Default::default() }
}

fn known(context: &RequestContext, topic: &str, partition: i32) -> Result<(), ErrorCode> {
    let snapshot = context.node.metadata_cache.load();
    let found = snapshot.topic(topic).and_then(|topic| topic.partition(partition));
    found.map(|_| ()).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
}
