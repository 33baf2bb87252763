//! OffsetForLeaderEpoch (key 23), versions 2 to 4: where a leader epoch ends, for readers that look for a truncated log
//! (KIP-101, KIP-320).

use milena_protocol::messages::offset_for_leader_epoch_response::{
    EpochEndOffset, OffsetForLeaderTopicResult,
};
use milena_protocol::messages::{
    OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, OffsetForLeaderPartition,
};
use milena_protocol::{ErrorCode, VersionRange};

use super::RequestContext;

pub(super) const VERSIONS: VersionRange = VersionRange::new(2, 4);

/// A log is locked for it, which may be waiting for its disk: this belongs on a blocking thread.
pub(super) fn handle(
    context: &RequestContext,
    request: OffsetForLeaderEpochRequest,
) -> OffsetForLeaderEpochResponse {
    let topics = request.topics.into_iter().map(|topic| {
        let partitions =
            topic.partitions.iter().map(|asked| epoch_end(context, &topic.topic, asked)).collect();
        OffsetForLeaderTopicResult { topic: topic.topic, partitions }
    });
    OffsetForLeaderEpochResponse { topics: topics.collect(), ..Default::default() }
}

fn epoch_end(context: &RequestContext, topic: &str, asked: &OffsetForLeaderPartition) -> EpochEndOffset {
    let partition = context.node.partition(topic, asked.partition);
    let found = partition.and_then(|partition| {
        partition.check_leader(asked.current_leader_epoch)?;
        Ok(partition.end_offset_for_epoch(asked.leader_epoch))
    });
    let (error_code, (leader_epoch, end_offset)) = match found {
        Ok(end) => (ErrorCode::NONE, end),
        Err(code) => (code, (-1, -1)),
    };
    EpochEndOffset { error_code, partition: asked.partition, leader_epoch, end_offset }
}
