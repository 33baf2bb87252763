//! The controller's requests as they are on the wire (the schemas of Kafka 3.9.1), and back.

use std::sync::Arc;

use milena_protocol::messages::leader_and_isr_request::{
    LeaderAndIsrLiveLeader, LeaderAndIsrPartitionState, LeaderAndIsrTopicState,
};
use milena_protocol::messages::stop_replica_request::{StopReplicaPartitionState, StopReplicaTopicState};
use milena_protocol::messages::update_metadata_request::{
    UpdateMetadataBroker, UpdateMetadataEndpoint, UpdateMetadataPartitionState, UpdateMetadataTopicState,
};
use milena_protocol::messages::{LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest};

use super::{
    ControlRequest, ControlStamp, LeaderAndIsr, LeaderAndIsrTopic, LiveLeader, PartitionState, StopReplica,
    StopReplicaPartition, StopReplicaTopic,
};
use crate::metadata_cache::{BrokerEndpoint, BrokerInfo, MetadataUpdate, PartitionUpdate, TopicUpdate};

/// The versions that the controller speaks.
pub(crate) const LEADER_AND_ISR_VERSION: i16 = 7;
pub(crate) const STOP_REPLICA_VERSION: i16 = 4;
pub(crate) const UPDATE_METADATA_VERSION: i16 = 8;

pub(crate) fn leader_and_isr_request(head: &ControlRequest, body: &LeaderAndIsr) -> LeaderAndIsrRequest {
    let topic = |topic: &LeaderAndIsrTopic| LeaderAndIsrTopicState {
        topic_name: topic.name.to_string(),
        topic_id: topic.id,
        partition_states: topic
            .partitions
            .iter()
            .map(|(number, state)| LeaderAndIsrPartitionState {
                partition_index: *number,
                controller_epoch: head.stamp.controller_epoch,
                leader: state.leader,
                leader_epoch: state.leader_epoch,
                isr: state.isr.clone(),
                partition_epoch: state.partition_epoch,
                replicas: state.replicas.clone(),
                adding_replicas: state.adding_replicas.clone(),
                removing_replicas: state.removing_replicas.clone(),
                is_new: state.leader_epoch == 0,
                ..Default::default()
            })
            .collect(),
    };
    let leader = |leader: &LiveLeader| LeaderAndIsrLiveLeader {
        broker_id: leader.id,
        host_name: leader.host.clone(),
        port: i32::from(leader.port),
    };
    LeaderAndIsrRequest {
        controller_id: head.controller_id,
        controller_epoch: head.stamp.controller_epoch,
        broker_epoch: head.stamp.broker_epoch,
        control_sequence: head.stamp.sequence,
        topic_states: body.topics.iter().map(topic).collect(),
        live_leaders: body.live_leaders.iter().map(leader).collect(),
        ..Default::default()
    }
}

pub(crate) fn leader_and_isr(request: LeaderAndIsrRequest) -> (ControlStamp, LeaderAndIsr) {
    let stamp = ControlStamp {
        controller_epoch: request.controller_epoch,
        broker_epoch: request.broker_epoch,
        sequence: request.control_sequence,
    };
    let state = |state: LeaderAndIsrPartitionState| PartitionState {
        replicas: state.replicas,
        isr: state.isr,
        leader: state.leader,
        leader_epoch: state.leader_epoch,
        partition_epoch: state.partition_epoch,
        adding_replicas: state.adding_replicas,
        removing_replicas: state.removing_replicas,
    };
    let topic = |topic: LeaderAndIsrTopicState| LeaderAndIsrTopic {
        name: topic.topic_name.into(),
        id: topic.topic_id,
        partitions: topic.partition_states.into_iter().map(|p| (p.partition_index, state(p))).collect(),
    };
    let leader = |leader: LeaderAndIsrLiveLeader| {
        let port = u16::try_from(leader.port).ok()?;
        Some(LiveLeader { id: leader.broker_id, host: leader.host_name, port })
    };
    let body = LeaderAndIsr {
        topics: request.topic_states.into_iter().map(topic).collect(),
        live_leaders: request.live_leaders.into_iter().filter_map(leader).collect(),
    };
    (stamp, body)
}

pub(crate) fn stop_replica_request(head: &ControlRequest, body: &StopReplica) -> StopReplicaRequest {
    let partition = |partition: &StopReplicaPartition| StopReplicaPartitionState {
        partition_index: partition.partition,
        leader_epoch: partition.leader_epoch,
        delete_partition: partition.delete,
    };
    let topic = |topic: &StopReplicaTopic| StopReplicaTopicState {
        topic_name: topic.name.to_string(),
        partition_states: topic.partitions.iter().map(partition).collect(),
    };
    StopReplicaRequest {
        controller_id: head.controller_id,
        controller_epoch: head.stamp.controller_epoch,
        broker_epoch: head.stamp.broker_epoch,
        control_sequence: head.stamp.sequence,
        topic_states: body.topics.iter().map(topic).collect(),
        ..Default::default()
    }
}

pub(crate) fn stop_replica(request: StopReplicaRequest) -> (ControlStamp, StopReplica) {
    let stamp = ControlStamp {
        controller_epoch: request.controller_epoch,
        broker_epoch: request.broker_epoch,
        sequence: request.control_sequence,
    };
    let partition = |partition: StopReplicaPartitionState| StopReplicaPartition {
        partition: partition.partition_index,
        leader_epoch: partition.leader_epoch,
        delete: partition.delete_partition,
    };
    let topic = |topic: StopReplicaTopicState| StopReplicaTopic {
        name: topic.topic_name.into(),
        partitions: topic.partition_states.into_iter().map(partition).collect(),
    };
    (stamp, StopReplica { topics: request.topic_states.into_iter().map(topic).collect() })
}

pub(crate) fn update_metadata_request(
    head: &ControlRequest,
    update: &MetadataUpdate,
) -> UpdateMetadataRequest {
    let partition = |partition: &PartitionUpdate| UpdateMetadataPartitionState {
        partition_index: partition.partition,
        controller_epoch: head.stamp.controller_epoch,
        leader: partition.leader,
        leader_epoch: partition.leader_epoch,
        isr: partition.isr.clone(),
        replicas: partition.replicas.clone(),
        offline_replicas: partition.offline.clone(),
        ..Default::default()
    };
    let topic = |topic: &TopicUpdate| UpdateMetadataTopicState {
        topic_name: topic.name.to_string(),
        topic_id: topic.id,
        partition_states: topic.partitions.iter().map(partition).collect(),
    };
    let endpoint = |endpoint: &BrokerEndpoint| UpdateMetadataEndpoint {
        port: i32::from(endpoint.port),
        host: endpoint.host.clone(),
        listener: endpoint.listener.clone(),
        security_protocol: 0,
    };
    let broker = |broker: &BrokerInfo| UpdateMetadataBroker {
        id: broker.id,
        endpoints: broker.endpoints.iter().map(endpoint).collect(),
        rack: broker.rack.clone(),
        ..Default::default()
    };
    UpdateMetadataRequest {
        controller_id: update.controller_id,
        controller_epoch: update.controller_epoch,
        broker_epoch: head.stamp.broker_epoch,
        control_sequence: head.stamp.sequence,
        topic_states: update.topics.iter().map(topic).collect(),
        live_brokers: update.live_brokers.iter().map(broker).collect(),
        ..Default::default()
    }
}

pub(crate) fn metadata_update(request: UpdateMetadataRequest) -> (ControlStamp, MetadataUpdate) {
    let stamp = ControlStamp {
        controller_epoch: request.controller_epoch,
        broker_epoch: request.broker_epoch,
        sequence: request.control_sequence,
    };
    let partition = |state: UpdateMetadataPartitionState| PartitionUpdate {
        partition: state.partition_index,
        leader: state.leader,
        leader_epoch: state.leader_epoch,
        replicas: state.replicas,
        isr: state.isr,
        offline: state.offline_replicas,
    };
    let topic = |topic: UpdateMetadataTopicState| TopicUpdate {
        name: Arc::from(topic.topic_name),
        id: topic.topic_id,
        partitions: topic.partition_states.into_iter().map(partition).collect(),
    };
    let endpoint = |endpoint: UpdateMetadataEndpoint| {
        let port = u16::try_from(endpoint.port).ok()?;
        Some(BrokerEndpoint { listener: endpoint.listener, host: endpoint.host, port })
    };
    let broker = |broker: UpdateMetadataBroker| BrokerInfo {
        id: broker.id,
        rack: broker.rack,
        endpoints: broker.endpoints.into_iter().filter_map(endpoint).collect(),
    };
    let update = MetadataUpdate {
        controller_id: request.controller_id,
        controller_epoch: request.controller_epoch,
        live_brokers: request.live_brokers.into_iter().map(broker).collect(),
        topics: request.topic_states.into_iter().map(topic).collect(),
    };
    (stamp, update)
}
