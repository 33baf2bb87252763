//! AlterPartition (key 56), versions 2 and 3, by the controller, on the inter-broker listener alone.
//!
//! Served: everything but `leader_recovery_state`: a leader that was elected uncleanly has nothing to recover.

use milena_protocol::messages::alter_partition_request::{PartitionData as Asked, TopicData as AskedTopic};
use milena_protocol::messages::alter_partition_response::{PartitionData, TopicData};
use milena_protocol::messages::{AlterPartitionRequest, AlterPartitionResponse};
use milena_protocol::{ErrorCode, Uuid, VersionRange};

use super::RequestContext;
use crate::controller::{IsrChange, PartitionState};

pub(super) const VERSIONS: VersionRange = VersionRange::new(2, 3);

pub(super) async fn handle(
    context: &RequestContext,
    request: AlterPartitionRequest,
) -> AlterPartitionResponse {
    let refused = |error_code| AlterPartitionResponse { error_code, ..Default::default() };
    if let Err(error_code) = context.check_inter_broker() {
        return refused(error_code);
    }
    let asked: Vec<(Uuid, Vec<i32>)> = request.topics.iter().map(numbers).collect();
    let changes = request.topics.into_iter().flat_map(changes).collect();
    let controller = &context.node.controller;
    let answers = match controller.alter_partition(request.broker_id, request.broker_epoch, changes).await {
        Ok(answers) => answers,
        Err(error) => return refused(error.code),
    };
    let mut answers = answers.into_iter();
    let topics = asked.into_iter().map(|(topic_id, numbers)| TopicData {
        topic_id,
        partitions: numbers.into_iter().zip(&mut answers).map(answer).collect(),
    });
    AlterPartitionResponse { topics: topics.collect(), ..Default::default() }
}

fn numbers(topic: &AskedTopic) -> (Uuid, Vec<i32>) {
    (topic.topic_id, topic.partitions.iter().map(|partition| partition.partition_index).collect())
}

fn changes(topic: AskedTopic) -> impl Iterator<Item = IsrChange> {
    let topic_id = topic.topic_id;
    topic.partitions.into_iter().map(move |asked: Asked| {
        // Version 2 knows no broker epochs.
        let without = asked.new_isr.into_iter().map(|id| (id, -1));
        let with = asked.new_isr_with_epochs.into_iter().map(|state| (state.broker_id, state.broker_epoch));
        IsrChange {
            topic_id,
            partition: asked.partition_index,
            leader_epoch: asked.leader_epoch,
            partition_epoch: asked.partition_epoch,
            isr: without.chain(with).collect(),
        }
    })
}

fn answer((partition_index, answer): (i32, Result<PartitionState, ErrorCode>)) -> PartitionData {
    match answer {
        Ok(state) => PartitionData {
            partition_index,
            leader_id: state.leader,
            leader_epoch: state.leader_epoch,
            isr: state.isr,
            partition_epoch: state.partition_epoch,
            ..Default::default()
        },
        Err(error_code) => PartitionData { partition_index, error_code, ..Default::default() },
    }
}
