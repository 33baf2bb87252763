//! LeaveGroup (key 13), versions 0 to 5.
//!
//! Served: everything; several members at once from version 3 on.

use milena_protocol::VersionRange;
use milena_protocol::messages::leave_group_response::MemberResponse;
use milena_protocol::messages::{LeaveGroupRequest, LeaveGroupResponse};

use super::RequestContext;
use crate::coordinator::Leaving;

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 5);

const SEVERAL_MEMBERS_VERSION: i16 = 3;

pub(super) fn handle(context: &RequestContext, request: LeaveGroupRequest) -> LeaveGroupResponse {
    let groups = &context.node.groups;
    if context.version() < SEVERAL_MEMBERS_VERSION {
        let leaving = Leaving { member_id: request.member_id, instance_id: None };
        let error_code = groups.leave(&request.group_id, &leaving);
        return LeaveGroupResponse { error_code, ..Default::default() };
    }
    let members = request.members.into_iter().map(|member| {
        let leaving = Leaving { member_id: member.member_id, instance_id: member.group_instance_id };
        let error_code = groups.leave(&request.group_id, &leaving);
        MemberResponse { member_id: leaving.member_id, group_instance_id: leaving.instance_id, error_code }
    });
    LeaveGroupResponse { members: members.collect(), ..Default::default() }
}
