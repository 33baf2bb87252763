//! ElectLeaders (key 43), versions 0 to 2, by the controller.
//!
//! Served: preferred and unclean elections, of some partitions or of all. Not served: `timeout_ms` is not looked at; the answer
//! comes when the election is decided and durable.

use std::collections::BTreeMap;

use milena_protocol::messages::elect_leaders_response::PartitionResult;
use milena_protocol::messages::{ElectLeadersRequest, ElectLeadersResponse, ReplicaElectionResult};
use milena_protocol::{ErrorCode, VersionRange};

use super::RequestContext;
use crate::controller::ElectionKind;

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 2);

/// `ElectionType`.
const PREFERRED: i8 = 0;
const UNCLEAN: i8 = 1;

pub(super) async fn handle(context: &RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse {
    let refused = |error_code| ElectLeadersResponse { error_code, ..Default::default() };
    let kind = match request.election_type {
        PREFERRED => ElectionKind::Preferred,
        UNCLEAN => ElectionKind::Unclean,
        _ => return refused(ErrorCode::INVALID_REQUEST),
    };
    let partitions = request.topic_partitions.map(|topics| {
        let named = topics.into_iter().flat_map(|topic| {
            let name = topic.topic;
            topic.partitions.into_iter().map(move |partition| (name.clone(), partition))
        });
        named.collect()
    });
    let answers = match context.node.controller.elect_leaders(kind, partitions).await {
        Ok(answers) => answers,
        Err(error) => return refused(error.code),
    };
    let mut topics: BTreeMap<String, Vec<PartitionResult>> = BTreeMap::new();
    for ((topic, partition_id), answer) in answers {
        let (error_code, error_message) = match answer {
            Ok(()) => (ErrorCode::NONE, None),
            Err(error) => (error.code, Some(error.message)),
        };
        topics.entry(topic).or_default().push(PartitionResult { partition_id, error_code, error_message });
    }
    let replica_election_results = topics
        .into_iter()
        .map(|(topic, partition_result)| ReplicaElectionResult { topic, partition_result })
        .collect();
    ElectLeadersResponse { replica_election_results, ..Default::default() }
}
