//! StopReplica (key 5), version 4 of Kafka 3.9, on the inter-broker listener alone. Served: everything.

use milena_protocol::VersionRange;
use milena_protocol::messages::stop_replica_response::StopReplicaPartitionError;
use milena_protocol::messages::{StopReplicaRequest, StopReplicaResponse};

use super::RequestContext;
use crate::controller::TopicOutcomes;
use crate::controller::wire::{STOP_REPLICA_VERSION, stop_replica};

pub(super) const VERSIONS: VersionRange = VersionRange::new(STOP_REPLICA_VERSION, STOP_REPLICA_VERSION);

pub(super) async fn handle(context: &RequestContext, request: StopReplicaRequest) -> StopReplicaResponse {
    let (stamp, request) = stop_replica(request);
    match context.obey(move |broker_side| broker_side.stop_replica(stamp, &request)).await {
        Ok(outcomes) => StopReplicaResponse {
            partition_errors: outcomes
                .into_iter()
                .flat_map(|TopicOutcomes { topic, partitions }| {
                    let error = move |(partition_index, error_code)| StopReplicaPartitionError {
                        topic_name: topic.to_string(),
                        partition_index,
                        error_code,
                    };
                    partitions.into_iter().map(error)
                })
                .collect(),
            ..Default::default()
        },
        Err(error_code) => StopReplicaResponse { error_code, ..Default::default() },
    }
}
