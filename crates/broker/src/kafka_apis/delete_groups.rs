//! DeleteGroups (key 42), versions 0 to 3.
//!
//! Served: everything.

use milena_protocol::messages::delete_groups_response::DeletableGroupResult;
use milena_protocol::messages::{DeleteGroupsRequest, DeleteGroupsResponse};
use milena_protocol::{ErrorCode, VersionRange};

use super::RequestContext;

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 3);

pub(super) async fn handle(context: &RequestContext, request: DeleteGroupsRequest) -> DeleteGroupsResponse {
    let mut results = Vec::new();
    for group_id in request.groups_names {
        let error_code = context.node.groups.delete(&group_id).await.err().unwrap_or(ErrorCode::NONE);
        results.push(DeletableGroupResult { group_id, error_code, ..Default::default() });
    }
    DeleteGroupsResponse { results, ..Default::default() }
}
