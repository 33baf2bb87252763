//! ListOffsets (key 2), versions 1 to 11.
//!
//! Served: the latest (−1), the earliest (−2), that of the largest timestamp (−3, from version 7), the earliest on this
//! broker (−4, from 8), the first at or after a time. Not served: tiered storage, of which there is none: the latest tiered
//! (−5, from 9) and the earliest to be uploaded (−6, from 11) are answered with no offset, as Kafka does without it.

use milena_protocol::messages::list_offsets_response::{
    ListOffsetsPartitionResponse, ListOffsetsTopicResponse,
};
use milena_protocol::messages::{ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse};
use milena_protocol::{ErrorCode, VersionRange};
use milena_storage::TimestampAndOffset;

use super::RequestContext;
use crate::replica_manager::{Partition, error_code};

pub(super) const VERSIONS: VersionRange = VersionRange::new(1, 11);

/// `ListOffsetsRequest.*_TIMESTAMP`.
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const MAX_TIMESTAMP: i64 = -3;
const EARLIEST_LOCAL: i64 = -4;
const LATEST_TIERED: i64 = -5;
const EARLIEST_PENDING_UPLOAD: i64 = -6;

const READ_COMMITTED: i8 = 1;
/// The replica id of consumers.
const CONSUMER: i32 = -1;
/// The first version whose clients know OFFSET_NOT_AVAILABLE (KIP-207).
const OFFSET_NOT_AVAILABLE_VERSION: i16 = 5;
const UNKNOWN: i64 = -1;

/// Looking for a time may read and inflate a batch: this belongs on a blocking thread.
pub(super) fn handle(context: &RequestContext, request: ListOffsetsRequest) -> ListOffsetsResponse {
    let reader = match request.isolation_level {
        // Replicas and debugging consumers (−2) see the whole log.
        _ if request.replica_id != CONSUMER => Reader::Replica,
        READ_COMMITTED => Reader::Committed,
        _ => Reader::Uncommitted,
    };
    let topics = request.topics.into_iter().map(|topic| {
        let answer = |asked: ListOffsetsPartition| {
            let found = partition_offset(context, &topic.name, &asked, reader);
            let (error_code, found) = match found {
                Ok(found) => (ErrorCode::NONE, found),
                Err(code) => (code, NOTHING),
            };
            ListOffsetsPartitionResponse {
                partition_index: asked.partition_index,
                error_code,
                timestamp: found.timestamp,
                offset: found.offset,
                // The field came with version 4.
                leader_epoch: if context.version() >= 4 { found.leader_epoch } else { -1 },
            }
        };
        let partitions = topic.partitions.into_iter().map(answer).collect();
        ListOffsetsTopicResponse { name: topic.name.clone(), partitions }
    });
    ListOffsetsResponse { topics: topics.collect(), ..Default::default() }
}

/// Who asks, and so how far it sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Replica,
    Committed,
    Uncommitted,
}

const NOTHING: TimestampAndOffset =
    TimestampAndOffset { timestamp: UNKNOWN, offset: UNKNOWN, leader_epoch: -1 };

fn partition_offset(
    context: &RequestContext,
    topic: &str,
    asked: &ListOffsetsPartition,
    asker: Reader,
) -> Result<TimestampAndOffset, ErrorCode> {
    if context.version() < first_version(asked.timestamp) {
        return Err(ErrorCode::UNSUPPORTED_VERSION);
    }
    let partition = context.node.partition(topic, asked.partition_index)?;
    partition.check_leader(asked.current_leader_epoch)?;
    let reader = partition.reader();
    let bound = match asker {
        Reader::Replica => reader.log_end_offset(),
        Reader::Committed => partition.last_stable_offset(),
        Reader::Uncommitted => partition.high_watermark(),
    };
    // A new leader that answered now might go back behind what the one before it has answered.
    let looks_for_start = [EARLIEST, EARLIEST_LOCAL].contains(&asked.timestamp);
    if asker != Reader::Replica && !looks_for_start && !partition.knows_high_watermark() {
        return Err(if context.version() >= OFFSET_NOT_AVAILABLE_VERSION {
            ErrorCode::OFFSET_NOT_AVAILABLE
        } else {
            ErrorCode::LEADER_NOT_AVAILABLE
        });
    }
    let found = match asked.timestamp {
        LATEST => return Ok(position(&partition, bound)),
        EARLIEST | EARLIEST_LOCAL => return Ok(position(&partition, reader.log_start_offset())),
        LATEST_TIERED | EARLIEST_PENDING_UPLOAD => return Ok(NOTHING),
        MAX_TIMESTAMP => reader.offset_of_max_timestamp(),
        time => reader.offset_for_timestamp(time),
    };
    match found {
        Ok(found) => Ok(found.filter(|found| found.offset < bound).unwrap_or(NOTHING)),
        Err(error) => {
            tracing::error!(partition = %partition.name(), %error, "looking for a time failed");
            Err(error_code(&error))
        }
    }
}

fn position(partition: &Partition, offset: i64) -> TimestampAndOffset {
    let leader_epoch = partition.epoch_of(offset);
    TimestampAndOffset { timestamp: UNKNOWN, offset, leader_epoch }
}

/// The first version that knows what a negative timestamp stands for. One below all that are known is looked for as a
/// time, as Kafka does.
fn first_version(timestamp: i64) -> i16 {
    match timestamp {
        MAX_TIMESTAMP => 7,
        EARLIEST_LOCAL => 8,
        LATEST_TIERED => 9,
        EARLIEST_PENDING_UPLOAD => 11,
        _ => VERSIONS.min,
    }
}
