//! ListGroups (key 16), versions 0 to 5.
//!
//! Served: everything, of the groups that this broker coordinates; all groups are of type `classic`.

use milena_protocol::messages::list_groups_response::ListedGroup;
use milena_protocol::messages::{ListGroupsRequest, ListGroupsResponse};
use milena_protocol::{ErrorCode, VersionRange};

use super::RequestContext;

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 5);

const TYPE: &str = "classic";

pub(super) fn handle(context: &RequestContext, request: &ListGroupsRequest) -> ListGroupsResponse {
    let wanted = |filter: &[String], value: &str| {
        filter.is_empty() || filter.iter().any(|wanted| wanted.eq_ignore_ascii_case(value))
    };
    let (error_code, groups) = match context.node.groups.list() {
        Ok(groups) => (ErrorCode::NONE, groups.into_iter()),
        Err(code) => (code, Vec::new().into_iter()),
    };
    let wanted = groups
        .filter(|(_, state, _)| wanted(&request.states_filter, state) && wanted(&request.types_filter, TYPE));
    let listed = wanted.map(|(group_id, state, protocol_type)| ListedGroup {
        group_id,
        protocol_type,
        group_state: state.to_owned(),
        group_type: TYPE.to_owned(),
    });
    ListGroupsResponse { error_code, groups: listed.collect(), ..Default::default() }
}
