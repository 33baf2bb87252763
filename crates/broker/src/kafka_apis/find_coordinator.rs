//! FindCoordinator (key 10), versions 0 to 6.
//!
//! Served: groups: the leader of the partition of `__consumer_offsets` that a group belongs to coordinates it. The topic is
//! created when somebody asks for the first time. Not served: transactions and share groups, which are answered with
//! UNSUPPORTED_VERSION and a text that says so, because a retriable error would have the client ask for ever.

use milena_protocol::messages::{Coordinator, FindCoordinatorRequest, FindCoordinatorResponse};
use milena_protocol::{ErrorCode, VersionRange};

use super::{RequestContext, auto_create};
use crate::metadata_cache::{NO_LEADER, OFFSETS_TOPIC};

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 6);

const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;

pub(super) async fn handle(
    context: &RequestContext,
    request: FindCoordinatorRequest,
) -> FindCoordinatorResponse {
    let has_topic = context.node.metadata_cache.load().topic(OFFSETS_TOPIC).is_some();
    if request.key_type == GROUP && !has_topic {
        for (topic, code) in auto_create::create(&context.node, vec![OFFSETS_TOPIC.to_owned()]).await {
            if !code.is_ok() && code != ErrorCode::TOPIC_ALREADY_EXISTS {
                tracing::warn!(topic, %code, "the topic for offsets cannot be created");
            }
        }
    }
    if context.version() >= 4 {
        let keys = request.coordinator_keys.into_iter();
        let coordinators = keys.map(|key| find(context, key, request.key_type)).collect();
        return FindCoordinatorResponse { coordinators, ..Default::default() };
    }
    let found = find(context, request.key, request.key_type);
    FindCoordinatorResponse {
        error_code: found.error_code,
        error_message: found.error_message,
        node_id: found.node_id,
        host: found.host,
        port: found.port,
        ..Default::default()
    }
}

fn find(context: &RequestContext, key: String, key_type: i8) -> Coordinator {
    let none = |key, error_code, message: &str| Coordinator {
        key,
        node_id: NO_LEADER,
        port: NO_LEADER,
        error_code,
        error_message: Some(message.to_owned()),
        ..Default::default()
    };
    match key_type {
        GROUP => {}
        TRANSACTION => {
            return none(key, ErrorCode::UNSUPPORTED_VERSION, "This broker does not serve transactions.");
        }
        _ => {
            return none(
                key,
                ErrorCode::UNSUPPORTED_VERSION,
                "This broker does not serve this kind of group.",
            );
        }
    }
    let partition = context.node.groups.partition_for(&key);
    let snapshot = context.node.metadata_cache.load();
    let leader = partition
        .and_then(|partition| snapshot.topic(OFFSETS_TOPIC)?.partition(partition))
        .and_then(|partition| snapshot.broker(partition.leader));
    let endpoint = leader.and_then(|broker| Some((broker.id, broker.endpoint(&context.peer.listener)?)));
    match endpoint {
        Some((node_id, endpoint)) => Coordinator {
            key,
            node_id,
            host: endpoint.host.clone(),
            port: i32::from(endpoint.port),
            error_code: ErrorCode::NONE,
            error_message: None,
        },
        None => none(
            key,
            ErrorCode::COORDINATOR_NOT_AVAILABLE,
            "The partition of __consumer_offsets that the group belongs to has no leader now.",
        ),
    }
}
