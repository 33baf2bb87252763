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
use crate::coordinator::OffsetKey;

pub(super) const VERSIONS: VersionRange = VersionRange::new(1, 10);

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
            let topics = fetch(context, &group.group_id, group.topics.map(asked));
            OffsetFetchResponseGroup { group_id: group.group_id, topics, error_code: ErrorCode::NONE }
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
    let topics = fetch(context, &request.group_id, asked).into_iter().map(|topic| {
        let partitions = topic.partitions.into_iter().map(|partition| OffsetFetchResponsePartition {
            partition_index: partition.partition_index,
            committed_offset: partition.committed_offset,
            committed_leader_epoch: partition.committed_leader_epoch,
            metadata: partition.metadata,
            error_code: partition.error_code,
        });
        OffsetFetchResponseTopic { name: topic.name, partitions: partitions.collect() }
    });
    OffsetFetchResponse { topics: topics.collect(), ..Default::default() }
}

fn asked_of_group(topic: milena_protocol::messages::offset_fetch_request::OffsetFetchRequestTopics) -> Asked {
    Asked { name: topic.name, topic_id: topic.topic_id, partitions: topic.partition_indexes }
}

fn fetch(
    context: &RequestContext,
    group_id: &str,
    asked: Option<Vec<Asked>>,
) -> Vec<OffsetFetchResponseTopics> {
    let by_id = context.version() >= TOPIC_ID_VERSION;
    let asked = asked.unwrap_or_else(|| all(context, group_id));
    let topics = asked.into_iter().map(|topic| {
        let name = if by_id {
            context.topic_name(topic.topic_id).map(|name| name.to_string())
        } else {
            Ok(topic.name.clone())
        };
        let fetch = |partition| match &name {
            Ok(name) => fetch_partition(context, group_id, name, partition),
            Err(code) => OffsetFetchResponsePartitions { error_code: *code, ..none(partition) },
        };
        let partitions = topic.partitions.into_iter().map(fetch).collect();
        OffsetFetchResponseTopics { name: topic.name, topic_id: topic.topic_id, partitions }
    });
    topics.collect()
}

/// Everything that the group has committed, of topics that still exist where they are named by id.
fn all(context: &RequestContext, group_id: &str) -> Vec<Asked> {
    let mut topics: BTreeMap<String, Vec<i32>> = BTreeMap::new();
    for (key, _) in context.node.groups.offsets(group_id) {
        topics.entry(key.topic).or_default().push(key.partition);
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

fn fetch_partition(
    context: &RequestContext,
    group_id: &str,
    topic: &str,
    partition: i32,
) -> OffsetFetchResponsePartitions {
    let key = OffsetKey { topic: topic.to_owned(), partition };
    match context.node.groups.offset(group_id, &key) {
        Some(committed) => OffsetFetchResponsePartitions {
            partition_index: partition,
            committed_offset: committed.offset,
            committed_leader_epoch: committed.leader_epoch,
            metadata: Some(committed.metadata),
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
