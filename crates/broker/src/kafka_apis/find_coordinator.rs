//! FindCoordinator (key 10), versions 0 to 6.
//!
//! Served: groups, all of which this broker coordinates. Not served: transactions and share groups, which are answered
//! with UNSUPPORTED_VERSION and a text that says so, because a retriable error would have the client ask for ever.

use milena_protocol::messages::{Coordinator, FindCoordinatorRequest, FindCoordinatorResponse};
use milena_protocol::{ErrorCode, VersionRange};

use super::RequestContext;
use crate::metadata_cache::NO_LEADER;

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 6);

const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;

pub(super) fn handle(context: &RequestContext, request: FindCoordinatorRequest) -> FindCoordinatorResponse {
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
    let snapshot = context.node.metadata_cache.load();
    let this = snapshot.broker(context.node.config.node_id);
    match this.and_then(|broker| broker.endpoint(&context.peer.listener)) {
        Some(endpoint) => Coordinator {
            key,
            node_id: context.node.config.node_id,
            host: endpoint.host.clone(),
            port: i32::from(endpoint.port),
            error_code: ErrorCode::NONE,
            error_message: None,
        },
        None => {
            none(key, ErrorCode::COORDINATOR_NOT_AVAILABLE, "This broker has not joined the cluster yet.")
        }
    }
}
