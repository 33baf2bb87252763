//! OffsetFetch (key 9), versions 1 to 10.
//!
//! Served: one group, and several from version 8; some partitions or all; topics by name, and by id from version 10.
//! Not served: `require_stable` changes nothing, since there are no transactions; member id and epoch of version 9 belong
//! to the consumer protocol (KIP-848) and are not looked at.

use std::collections::BTreeMap;

use milena_protocol::messages::offset_fetch_response::{
    OffsetFetchResponseGroup, OffsetFetchResponsePartition, OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic, OffsetFetchResponseTopics,
};
use milena_protocol::messages::{OffsetFetchRequest, OffsetFetchResponse};
use milena_protocol::{ErrorCode, Uuid, VersionRange};

use super::RequestContext;
use crate::coordinator::{CommittedOffset, OffsetKey};

pub(super) const VERSIONS: VersionRange = VersionRange::new(1, 10);

/// The first version with an error for the group as a whole.
const GROUP_ERROR_VERSION: i16 = 2;
const SEVERAL_GROUPS_VERSION: i16 = 8;
const TOPIC_ID_VERSION: i16 = 10;

/// A topic of which a client asks some partitions.
struct Asked {
    name: String,
    topic_id: Uuid,
    partitions: Vec<i32>,
}

pub(super) fn handle(context: &RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse {
    if context.version() >= SEVERAL_GROUPS_VERSION {
        let groups = request.groups.into_iter().map(|group| {
            let asked = |topics: Vec<_>| topics.into_iter().map(asked_of_group).collect();
            let (error_code, topics) = match fetch(context, &group.group_id, group.topics.map(asked)) {
                Ok(topics) => (ErrorCode::NONE, topics),
                Err((code, _)) => (code, Vec::new()),
            };
            OffsetFetchResponseGroup { group_id: group.group_id, topics, error_code }
        });
        return OffsetFetchResponse { groups: groups.collect(), ..Default::default() };
    }
    let asked = request.topics.map(|topics| {
        let asked = topics.into_iter().map(|topic| Asked {
            name: topic.name,
            topic_id: Uuid::ZERO,
            partitions: topic.partition_indexes,
        });
        asked.collect()
    });
    let (error_code, topics) = match fetch(context, &request.group_id, asked) {
        Ok(topics) => (ErrorCode::NONE, topics),
        Err((code, asked)) if context.version() < GROUP_ERROR_VERSION => (code, all_failed(asked, code)),
        Err((code, _)) => (code, Vec::new()),
    };
    let topics = topics.into_iter().map(|topic| {
        let partitions = topic.partitions.into_iter().map(|partition| OffsetFetchResponsePartition {
            partition_index: partition.partition_index,
            committed_offset: partition.committed_offset,
            committed_leader_epoch: partition.committed_leader_epoch,
            metadata: partition.metadata,
            error_code: partition.error_code,
        });
        OffsetFetchResponseTopic { name: topic.name, partitions: partitions.collect() }
    });
    let topics = topics.collect();
    if context.version() < GROUP_ERROR_VERSION {
        return OffsetFetchResponse { topics, ..Default::default() };
    }
    OffsetFetchResponse { topics, error_code, ..Default::default() }
}

fn all_failed(asked: Vec<Asked>, code: ErrorCode) -> Vec<OffsetFetchResponseTopics> {
    let topics = asked.into_iter().map(|topic| {
        let failed = |partition| OffsetFetchResponsePartitions { error_code: code, ..none(partition) };
        let partitions = topic.partitions.into_iter().map(failed).collect();
        OffsetFetchResponseTopics { name: topic.name, topic_id: topic.topic_id, partitions }
    });
    topics.collect()
}

fn asked_of_group(topic: milena_protocol::messages::offset_fetch_request::OffsetFetchRequestTopics) -> Asked {
    Asked { name: topic.name, topic_id: topic.topic_id, partitions: topic.partition_indexes }
}

/// What the group has committed of the partitions asked for, or of all; an error with what was asked for.
fn fetch(
    context: &RequestContext,
    group_id: &str,
    asked: Option<Vec<Asked>>,
) -> Result<Vec<OffsetFetchResponseTopics>, (ErrorCode, Vec<Asked>)> {
    let by_id = context.version() >= TOPIC_ID_VERSION;
    let offsets: BTreeMap<OffsetKey, CommittedOffset> = match context.node.groups.offsets(group_id) {
        Ok(offsets) => offsets.into_iter().collect(),
        Err(code) => return Err((code, asked.unwrap_or_default())),
    };
    let asked = asked.unwrap_or_else(|| all(context, &offsets));
    let topics = asked.into_iter().map(|topic| {
        let name = if by_id {
            context.topic_name(topic.topic_id).map(|name| name.to_string())
        } else {
            Ok(topic.name.clone())
        };
        let found = |partition| match &name {
            Ok(name) => committed(&offsets, name, partition),
            Err(code) => OffsetFetchResponsePartitions { error_code: *code, ..none(partition) },
        };
        let partitions = topic.partitions.into_iter().map(found).collect();
        OffsetFetchResponseTopics { name: topic.name, topic_id: topic.topic_id, partitions }
    });
    Ok(topics.collect())
}

/// Everything that the group has committed, of topics that still exist where they are named by id.
fn all(context: &RequestContext, offsets: &BTreeMap<OffsetKey, CommittedOffset>) -> Vec<Asked> {
    let mut topics: BTreeMap<String, Vec<i32>> = BTreeMap::new();
    for key in offsets.keys() {
        topics.entry(key.topic.clone()).or_default().push(key.partition);
    }
    let snapshot = context.node.metadata_cache.load();
    let id_of = |name: &str| snapshot.topic(name).map(|topic| topic.id);
    let by_id = context.version() >= TOPIC_ID_VERSION;
    let asked = topics.into_iter().map(|(name, partitions)| {
        let topic_id = id_of(&name).unwrap_or(Uuid::ZERO);
        Asked { name, topic_id, partitions }
    });
    asked.filter(|topic| !by_id || !topic.topic_id.is_zero()).collect()
}

fn committed(
    offsets: &BTreeMap<OffsetKey, CommittedOffset>,
    topic: &str,
    partition: i32,
) -> OffsetFetchResponsePartitions {
    let key = OffsetKey { topic: topic.to_owned(), partition };
    match offsets.get(&key) {
        Some(committed) => OffsetFetchResponsePartitions {
            partition_index: partition,
            committed_offset: committed.offset,
            committed_leader_epoch: committed.leader_epoch,
            metadata: Some(committed.metadata.clone()),
            error_code: ErrorCode::NONE,
        },
        None => none(partition),
    }
}

fn none(partition_index: i32) -> OffsetFetchResponsePartitions {
    OffsetFetchResponsePartitions {
        partition_index,
        committed_offset: -1,
        committed_leader_epoch: -1,
        metadata: Some(String::new()),
        error_code: ErrorCode::NONE,
    }
}
