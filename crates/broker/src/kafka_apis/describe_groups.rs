//! DescribeGroups (key 15), versions 0 to 6.
//!
//! Served: everything.

use milena_protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};
use milena_protocol::messages::{DescribeGroupsRequest, DescribeGroupsResponse};
use milena_protocol::{ErrorCode, VersionRange};

use super::{ALL_GROUP_OPERATIONS, RequestContext};

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 6);

/// The first version in which a group that does not exist is an error (KIP-1043); before, it is a dead one.
const NOT_FOUND_VERSION: i16 = 6;

pub(super) fn handle(context: &RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse {
    let authorized_operations =
        if request.include_authorized_operations { ALL_GROUP_OPERATIONS } else { i32::MIN };
    let describe = |group_id: String| {
        let mut described = DescribedGroup { authorized_operations, ..Default::default() };
        match context.node.groups.describe(&group_id) {
            Ok(Some(group)) => {
                described.group_state = group.state.to_owned();
                described.protocol_type = group.protocol_type;
                described.protocol_data = group.protocol;
                let members = group.members.into_iter().map(|member| DescribedGroupMember {
                    member_id: member.member_id,
                    group_instance_id: member.instance_id,
                    client_id: member.client_id,
                    client_host: member.client_host,
                    member_metadata: member.metadata,
                    member_assignment: member.assignment,
                });
                described.members = members.collect();
            }
            Ok(None) => {
                described.group_state = "Dead".to_owned();
                if context.version() >= NOT_FOUND_VERSION {
                    described.error_code = ErrorCode::GROUP_ID_NOT_FOUND;
                    described.error_message = Some(format!("Group {group_id} not found."));
                }
            }
            Err(code) => described.error_code = code,
        }
        described.group_id = group_id;
        described
    };
    DescribeGroupsResponse {
        groups: request.groups.into_iter().map(describe).collect(),
        ..Default::default()
    }
}
