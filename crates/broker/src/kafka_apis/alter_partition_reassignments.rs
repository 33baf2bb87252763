//! AlterPartitionReassignments (key 45), versions 0 and 1, by the controller.
//!
//! Served: everything. The answer comes when the reassignment has begun, not when it is done; `timeout_ms` is not looked at.

use milena_protocol::messages::alter_partition_reassignments_response::{
    ReassignablePartitionResponse, ReassignableTopicResponse,
};
use milena_protocol::messages::{AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse};
use milena_protocol::{ErrorCode, VersionRange};

use super::RequestContext;
use crate::controller::ControllerError;

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 1);

pub(super) async fn handle(
    context: &RequestContext,
    request: AlterPartitionReassignmentsRequest,
) -> AlterPartitionReassignmentsResponse {
    let keeps_factor = !request.allow_replication_factor_change;
    let asked: Vec<(String, Vec<i32>)> = request
        .topics
        .iter()
        .map(|topic| (topic.name.clone(), topic.partitions.iter().map(|p| p.partition_index).collect()))
        .collect();
    let wanted = request.topics.into_iter().flat_map(|topic| {
        let name = topic.name;
        topic.partitions.into_iter().map(move |p| (name.clone(), p.partition_index, p.replicas))
    });
    let answers = context.node.controller.alter_reassignments(wanted.collect(), keeps_factor).await;
    let mut answers = match answers {
        Ok(answers) => answers.into_iter(),
        Err(error) => {
            return AlterPartitionReassignmentsResponse {
                error_code: error.code,
                error_message: Some(error.message),
                ..Default::default()
            };
        }
    };
    let responses = asked.into_iter().map(|(name, numbers)| ReassignableTopicResponse {
        name,
        partitions: numbers.into_iter().zip(&mut answers).map(answer).collect(),
    });
    AlterPartitionReassignmentsResponse {
        allow_replication_factor_change: !keeps_factor,
        responses: responses.collect(),
        ..Default::default()
    }
}

fn answer((partition_index, answer): (i32, Result<(), ControllerError>)) -> ReassignablePartitionResponse {
    let (error_code, error_message) = match answer {
        Ok(()) => (ErrorCode::NONE, None),
        Err(error) => (error.code, Some(error.message)),
    };
    ReassignablePartitionResponse { partition_index, error_code, error_message }
}
