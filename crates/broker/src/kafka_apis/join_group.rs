//! JoinGroup (key 11), versions 0 to 9.
//!
//! Served: everything of the classic protocol. Not served: `skip_assignment` (version 9) is never set, since a static member
//! that comes back starts a new generation here.

use std::time::Duration;

use milena_protocol::VersionRange;
use milena_protocol::messages::{JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember};

use super::RequestContext;
use crate::coordinator::{JoinAnswer, JoinGroup};
use crate::network::Reply;

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 9);

/// The first version whose clients come back with the id that they are given (KIP-394).
const KNOWN_MEMBER_VERSION: i16 = 4;
/// The first version in which no protocol is null (and not empty).
const NULL_PROTOCOL_VERSION: i16 = 7;

pub(super) fn handle(request: JoinGroupRequest, context: RequestContext) -> Reply {
    let version = context.version();
    let millis = |millis: i32| Duration::from_millis(u64::try_from(millis).unwrap_or(0));
    let session_timeout = millis(request.session_timeout_ms);
    let join = JoinGroup {
        group_id: request.group_id,
        member_id: request.member_id,
        instance_id: request.group_instance_id,
        client_id: context.head.client_id.clone().unwrap_or_default(),
        client_host: format!("/{}", context.peer.address.ip()),
        session_timeout,
        // Version 0 had no timeout of its own for this.
        rebalance_timeout: if version >= 1 { millis(request.rebalance_timeout_ms) } else { session_timeout },
        protocol_type: request.protocol_type,
        protocols: request.protocols.into_iter().map(|protocol| (protocol.name, protocol.metadata)).collect(),
        require_known_member: version >= KNOWN_MEMBER_VERSION,
    };
    Reply::Later(Box::pin(async move {
        let answer = context.node.groups.join(join).await;
        context.encode(&response(answer, version)).map(Some)
    }))
}

fn response(answer: JoinAnswer, version: i16) -> JoinGroupResponse {
    let protocol = answer.protocol;
    let members = answer.members.into_iter().map(|(member_id, group_instance_id, metadata)| {
        JoinGroupResponseMember { member_id, group_instance_id, metadata }
    });
    JoinGroupResponse {
        error_code: answer.error,
        generation_id: answer.generation,
        protocol_type: answer.protocol_type,
        protocol_name: if version >= NULL_PROTOCOL_VERSION {
            protocol
        } else {
            Some(protocol.unwrap_or_default())
        },
        leader: answer.leader,
        member_id: answer.member_id,
        members: members.collect(),
        ..Default::default()
    }
}
