//! LeaderAndIsr (key 4), version 7 of Kafka 3.9, on the inter-broker listener alone.
//!
//! Served: everything but `leader_recovery_state` and `is_new`, which are not looked at.

use milena_protocol::messages::leader_and_isr_response::{
    LeaderAndIsrPartitionError, LeaderAndIsrTopicError,
};
use milena_protocol::messages::{LeaderAndIsrRequest, LeaderAndIsrResponse};
use milena_protocol::{ErrorCode, VersionRange};

use super::RequestContext;
use crate::controller::wire::{LEADER_AND_ISR_VERSION, leader_and_isr};

pub(super) const VERSIONS: VersionRange = VersionRange::new(LEADER_AND_ISR_VERSION, LEADER_AND_ISR_VERSION);

pub(super) async fn handle(context: &RequestContext, request: LeaderAndIsrRequest) -> LeaderAndIsrResponse {
    let (stamp, request) = leader_and_isr(request);
    let ids: Vec<_> = request.topics.iter().map(|topic| topic.id).collect();
    let outcomes = match context.obey(move |broker_side| broker_side.leader_and_isr(stamp, &request)).await {
        Ok(outcomes) => outcomes,
        Err(error_code) => return LeaderAndIsrResponse { error_code, ..Default::default() },
    };
    let topics = ids.into_iter().zip(outcomes).map(|(topic_id, outcomes)| {
        let partition_errors = outcomes.partitions.into_iter().map(|(partition_index, error_code)| {
            LeaderAndIsrPartitionError { partition_index, error_code, ..Default::default() }
        });
        LeaderAndIsrTopicError { topic_id, partition_errors: partition_errors.collect() }
    });
    LeaderAndIsrResponse { error_code: ErrorCode::NONE, topics: topics.collect(), ..Default::default() }
}
