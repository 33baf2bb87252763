//! SyncGroup (key 14), versions 0 to 5.
//!
//! Served: everything.

use milena_protocol::VersionRange;
use milena_protocol::messages::{SyncGroupRequest, SyncGroupResponse};

use super::RequestContext;
use crate::coordinator::SyncGroup;
use crate::network::Reply;

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 5);

pub(super) fn handle(request: SyncGroupRequest, context: RequestContext) -> Reply {
    // Before version 5 the client does not say which protocol it means.
    let named = |name: Option<String>| name.filter(|_| context.version() >= 5);
    let sync = SyncGroup {
        group_id: request.group_id,
        member_id: request.member_id,
        instance_id: request.group_instance_id,
        generation: request.generation_id,
        protocol_type: named(request.protocol_type),
        protocol: named(request.protocol_name),
        assignments: request
            .assignments
            .into_iter()
            .map(|given| (given.member_id, given.assignment))
            .collect(),
    };
    Reply::Later(Box::pin(async move {
        let answer = context.node.groups.sync(sync).await;
        let response = SyncGroupResponse {
            error_code: answer.error,
            protocol_type: answer.protocol_type,
            protocol_name: answer.protocol,
            assignment: answer.assignment,
            ..Default::default()
        };
        context.encode(&response).map(Some)
    }))
}
