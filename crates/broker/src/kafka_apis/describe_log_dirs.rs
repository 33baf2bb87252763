//! DescribeLogDirs (key 35), versions 1 to 5.
//!
//! Served: the one log directory that a broker has here, with the size of each log in it, or KAFKA_STORAGE_ERROR once it has
//! failed. Not served: the volume's total and
//! usable bytes (−1, as Kafka answers when it does not know), cordoned directories (KIP-1066) and logs that move to another
//! directory, of which there is none.

use std::collections::BTreeMap;

use milena_protocol::messages::describe_log_dirs_response::{
    DescribeLogDirsPartition, DescribeLogDirsResult, DescribeLogDirsTopic,
};
use milena_protocol::messages::{DescribableLogDirTopic, DescribeLogDirsRequest, DescribeLogDirsResponse};
use milena_protocol::{ErrorCode, VersionRange};

use super::RequestContext;

pub(super) const VERSIONS: VersionRange = VersionRange::new(1, 5);

/// `DescribeLogDirsResponse.UNKNOWN_VOLUME_BYTES`.
const UNKNOWN_VOLUME_BYTES: i64 = -1;

pub(super) fn handle(context: &RequestContext, request: &DescribeLogDirsRequest) -> DescribeLogDirsResponse {
    let replicas = &context.node.replica_manager;
    let mut topics: BTreeMap<String, Vec<DescribeLogDirsPartition>> = BTreeMap::new();
    let offline = replicas.is_offline();
    for log in replicas.logs().logs().into_iter().filter(|_| !offline) {
        let name = log.topic_partition();
        if !request.topics.as_ref().is_none_or(|topics| is_asked(topics, &name.topic, name.partition)) {
            continue;
        }
        let (reader, partition) = (log.reader(), replicas.partition(&name.topic, name.partition));
        let high_watermark = partition.map_or(0, |partition| partition.high_watermark());
        topics.entry(name.topic.clone()).or_default().push(DescribeLogDirsPartition {
            partition_index: name.partition,
            partition_size: i64::try_from(reader.size()).unwrap_or(i64::MAX),
            // What is known to be missing here (`ReplicaManager.getLogEndOffsetLag`).
            offset_lag: (high_watermark - reader.log_end_offset()).max(0),
            is_future_key: false,
        });
    }
    let topics = topics.into_iter().map(|(name, partitions)| DescribeLogDirsTopic { name, partitions });
    let dir = DescribeLogDirsResult {
        error_code: if offline { ErrorCode::KAFKA_STORAGE_ERROR } else { ErrorCode::NONE },
        log_dir: replicas.logs().dir().display().to_string(),
        topics: topics.collect(),
        total_bytes: UNKNOWN_VOLUME_BYTES,
        usable_bytes: UNKNOWN_VOLUME_BYTES,
        is_cordoned: false,
    };
    DescribeLogDirsResponse { results: vec![dir], ..Default::default() }
}

fn is_asked(topics: &[DescribableLogDirTopic], topic: &str, partition: i32) -> bool {
    topics.iter().any(|asked| asked.topic == topic && asked.partitions.contains(&partition))
}
