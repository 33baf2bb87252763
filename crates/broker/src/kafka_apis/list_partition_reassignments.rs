//! ListPartitionReassignments (key 46), version 0, by the controller. Served: everything.

use std::collections::BTreeMap;

use milena_protocol::VersionRange;
use milena_protocol::messages::list_partition_reassignments_response::{
    OngoingPartitionReassignment, OngoingTopicReassignment,
};
use milena_protocol::messages::{ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse};

use super::RequestContext;

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 0);

pub(super) async fn handle(
    context: &RequestContext,
    request: ListPartitionReassignmentsRequest,
) -> ListPartitionReassignmentsResponse {
    let moving = match context.node.controller.reassignments().await {
        Ok(moving) => moving,
        Err(error) => {
            return ListPartitionReassignmentsResponse {
                error_code: error.code,
                error_message: Some(error.message),
                ..Default::default()
            };
        }
    };
    let is_asked = |name: &str, number: i32| {
        request.topics.as_ref().is_none_or(|topics| {
            topics.iter().any(|topic| topic.name == name && topic.partition_indexes.contains(&number))
        })
    };
    let mut topics: BTreeMap<String, Vec<OngoingPartitionReassignment>> = BTreeMap::new();
    for (name, partition_index, state) in moving {
        if is_asked(&name, partition_index) {
            topics.entry(name).or_default().push(OngoingPartitionReassignment {
                partition_index,
                replicas: state.replicas,
                adding_replicas: state.adding_replicas,
                removing_replicas: state.removing_replicas,
            });
        }
    }
    let topics = topics.into_iter().map(|(name, partitions)| OngoingTopicReassignment { name, partitions });
    ListPartitionReassignmentsResponse { topics: topics.collect(), ..Default::default() }
}
