//! DeleteRecords (key 21), versions 0 to 2, by the leader of each partition.
//!
//! Served: everything. The answer waits, for `timeout_ms` at most, until every replica whose broker is alive has moved its
//! log's start, and holds up no other request of the connection. The new start is on disk before the answer, which Kafka
//! leaves to its next checkpoint; the segments before it go with the next look at what is too old. Refused, as Kafka does:
//! internal topics (INVALID_TOPIC_EXCEPTION), and topics that are only compacted (POLICY_VIOLATION).

use std::sync::Arc;
use std::time::Duration;

use milena_protocol::messages::delete_records_response::{
    DeleteRecordsPartitionResult, DeleteRecordsTopicResult,
};
use milena_protocol::messages::{DeleteRecordsRequest, DeleteRecordsResponse};
use milena_protocol::{ErrorCode, VersionRange};
use tokio::time::{Instant, timeout_at};

use super::{RequestContext, timeout};
use crate::blocking::blocking;
use crate::metadata_cache::is_internal_topic;
use crate::network::{CloseReason, Reply};
use crate::node::Node;
use crate::replica_manager::{Partition, Waiter};

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 2);

/// `DeleteRecordsResponse.INVALID_LOW_WATERMARK`.
const INVALID_LOW_WATERMARK: i64 = -1;
/// The most that an answer waits. One that asks for weeks only wants to keep us busy.
const MAX_WAIT: Duration = Duration::from_mins(5);

pub(super) async fn handle(
    request: DeleteRecordsRequest,
    context: RequestContext,
) -> Result<Reply, CloseReason> {
    let deadline = Instant::now() + timeout(request.timeout_ms).min(MAX_WAIT);
    let node = context.node.clone();
    let (mut response, waiting) = blocking(move || delete_here(&node, request))
        .await
        .map_err(|_| CloseReason("the broker is stopping".to_owned()))?;
    Ok(Reply::Later(Box::pin(async move {
        replicated(&mut response, waiting, &context.node, deadline).await;
        context.encode(&response).map(Some)
    })))
}

/// A partition whose followers have not all moved their logs' starts, and where its answer is.
struct Unreplicated {
    topic: usize,
    partition_result: usize,
    partition: Arc<Partition>,
    offset: i64,
}

/// Moves the starts of this broker's logs.
fn delete_here(node: &Node, request: DeleteRecordsRequest) -> (DeleteRecordsResponse, Vec<Unreplicated>) {
    let mut waiting = Vec::new();
    let mut topics = Vec::new();
    for (number, topic) in request.topics.into_iter().enumerate() {
        let mut partitions = Vec::new();
        for asked in topic.partitions {
            let mut result = DeleteRecordsPartitionResult {
                partition_index: asked.partition_index,
                low_watermark: INVALID_LOW_WATERMARK,
                ..Default::default()
            };
            match delete(node, &topic.name, asked.partition_index, asked.offset) {
                Ok((partition, offset)) => waiting.push(Unreplicated {
                    topic: number,
                    partition_result: partitions.len(),
                    partition,
                    offset,
                }),
                Err(code) => result.error_code = code,
            }
            partitions.push(result);
        }
        topics.push(DeleteRecordsTopicResult { name: topic.name, partitions });
    }
    let mut response = DeleteRecordsResponse { topics, ..Default::default() };
    if !waiting.is_empty()
        && let Err(error) = node.replica_manager.logs().checkpoint_log_start_offsets()
    {
        tracing::error!(%error, "where logs start cannot be written down");
        for waits in waiting.drain(..) {
            answer(&mut response, &waits, Err(ErrorCode::KAFKA_STORAGE_ERROR));
        }
    }
    (response, waiting)
}

fn delete(node: &Node, topic: &str, number: i32, offset: i64) -> Result<(Arc<Partition>, i64), ErrorCode> {
    if is_internal_topic(topic) {
        return Err(ErrorCode::INVALID_TOPIC_EXCEPTION);
    }
    let partition = node.partition(topic, number)?;
    let offset = partition.delete_records(offset)?;
    Ok((partition, offset))
}

/// Waits until the log of every live replica starts where it should, or cannot, or the time is over, and says so in the
/// answer (Kafka: `DelayedDeleteRecords`).
async fn replicated(
    response: &mut DeleteRecordsResponse,
    mut waiting: Vec<Unreplicated>,
    node: &Node,
    deadline: Instant,
) {
    let waiter = Arc::new(Waiter::default());
    // Before the first look, so that no fetch of a follower slips in between.
    let _registrations: Vec<_> = waiting.iter().map(|waits| waits.partition.register(&waiter)).collect();
    loop {
        let alive = node.metadata_cache.snapshot();
        waiting.retain(|waits| match waits.partition.low_watermark(|id| alive.broker(id).is_some()) {
            Ok(low_watermark) if low_watermark < waits.offset => true,
            outcome => {
                answer(response, waits, outcome);
                false
            }
        });
        if waiting.is_empty() {
            return;
        }
        let over = node.replica_manager.is_stopping() || timeout_at(deadline, waiter.woken()).await.is_err();
        if over {
            for waits in &waiting {
                answer(response, waits, Err(ErrorCode::REQUEST_TIMED_OUT));
            }
            return;
        }
    }
}

fn answer(response: &mut DeleteRecordsResponse, waits: &Unreplicated, outcome: Result<i64, ErrorCode>) {
    let topic = response.topics.get_mut(waits.topic);
    let Some(result) = topic.and_then(|topic| topic.partitions.get_mut(waits.partition_result)) else {
        return;
    };
    match outcome {
        Ok(low_watermark) => result.low_watermark = low_watermark,
        Err(code) => result.error_code = code,
    }
}
