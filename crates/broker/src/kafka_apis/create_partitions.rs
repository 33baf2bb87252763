//! CreatePartitions (key 37), versions 0 to 3.
//!
//! Served: everything, by the controller.

use std::collections::BTreeMap;

use milena_protocol::messages::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic, CreatePartitionsTopicResult,
};
use milena_protocol::{ErrorCode, VersionRange};

use super::{RequestContext, timeout};
use crate::controller::CreatePartitions;

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 3);

pub(super) async fn handle(
    context: &RequestContext,
    request: CreatePartitionsRequest,
) -> CreatePartitionsResponse {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for topic in &request.topics {
        *times.entry(topic.name.clone()).or_default() += 1;
    }
    let wanted: Vec<_> =
        request.topics.into_iter().filter(|topic| times.get(&topic.name) == Some(&1)).map(wanted).collect();
    let names: Vec<String> = wanted.iter().map(|topic| topic.name.clone()).collect();
    let wait = timeout(request.timeout_ms);
    let results = context.node.controller.create_partitions(wanted, request.validate_only, wait).await;
    let answered = names.into_iter().zip(results).map(|(name, result)| match result {
        Ok(()) => CreatePartitionsTopicResult { name, ..Default::default() },
        Err(error) => {
            CreatePartitionsTopicResult { name, error_code: error.code, error_message: Some(error.message) }
        }
    });
    let repeated =
        times.into_iter().filter(|(_, times)| *times > 1).map(|(name, _)| CreatePartitionsTopicResult {
            error_message: Some(format!("The request names the topic {name} more than once.")),
            error_code: ErrorCode::INVALID_REQUEST,
            name,
        });
    CreatePartitionsResponse { results: answered.chain(repeated).collect(), ..Default::default() }
}

fn wanted(topic: CreatePartitionsTopic) -> CreatePartitions {
    let assignments = topic.assignments;
    CreatePartitions {
        name: topic.name,
        count: topic.count,
        assignments: assignments
            .map(|list| list.into_iter().map(|assignment| assignment.broker_ids).collect()),
    }
}
