//! Heartbeat (key 12), versions 0 to 4.
//!
//! Served: everything.

use milena_protocol::VersionRange;
use milena_protocol::messages::{HeartbeatRequest, HeartbeatResponse};

use super::RequestContext;

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 4);

pub(super) fn handle(context: &RequestContext, request: &HeartbeatRequest) -> HeartbeatResponse {
    let instance_id = request.group_instance_id.as_deref();
    let groups = &context.node.groups;
    let error_code =
        groups.heartbeat(&request.group_id, &request.member_id, instance_id, request.generation_id);
    HeartbeatResponse { error_code, ..Default::default() }
}
