// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

/// `AddOffsetsToTxnRequest`, versions 0-4.
pub mod add_offsets_to_txn_request;
/// `AddOffsetsToTxnResponse`, versions 0-4.
pub mod add_offsets_to_txn_response;
/// `AddPartitionsToTxnRequest`, versions 0-5.
pub mod add_partitions_to_txn_request;
/// `AddPartitionsToTxnResponse`, versions 0-5.
pub mod add_partitions_to_txn_response;
/// `AlterPartitionReassignmentsRequest`, versions 0-1.
pub mod alter_partition_reassignments_request;
/// `AlterPartitionReassignmentsResponse`, versions 0-1.
pub mod alter_partition_reassignments_response;
/// `AlterPartitionRequest`, versions 2-3.
pub mod alter_partition_request;
/// `AlterPartitionResponse`, versions 2-3.
pub mod alter_partition_response;
pub(crate) mod api_key;
/// `ApiVersionsRequest`, versions 0-5.
pub mod api_versions_request;
/// `ApiVersionsResponse`, versions 0-5.
pub mod api_versions_response;
/// `ConsumerGroupDescribeRequest`, versions 0-1.
pub mod consumer_group_describe_request;
/// `ConsumerGroupDescribeResponse`, versions 0-1.
pub mod consumer_group_describe_response;
/// `ConsumerGroupHeartbeatRequest`, versions 0-1.
pub mod consumer_group_heartbeat_request;
/// `ConsumerGroupHeartbeatResponse`, versions 0-1.
pub mod consumer_group_heartbeat_response;
/// `ConsumerProtocolAssignment`, versions 0-3.
pub mod consumer_protocol_assignment;
/// `ConsumerProtocolSubscription`, versions 0-3.
pub mod consumer_protocol_subscription;
/// `ControlledShutdownRequest`, versions 0-3.
pub mod controlled_shutdown_request;
/// `ControlledShutdownResponse`, versions 0-3.
pub mod controlled_shutdown_response;
/// `CreatePartitionsRequest`, versions 0-3.
pub mod create_partitions_request;
/// `CreatePartitionsResponse`, versions 0-3.
pub mod create_partitions_response;
/// `CreateTopicsRequest`, versions 2-7.
pub mod create_topics_request;
/// `CreateTopicsResponse`, versions 2-7.
pub mod create_topics_response;
/// `DeleteGroupsRequest`, versions 0-3.
pub mod delete_groups_request;
/// `DeleteGroupsResponse`, versions 0-3.
pub mod delete_groups_response;
/// `DeleteRecordsRequest`, versions 0-2.
pub mod delete_records_request;
/// `DeleteRecordsResponse`, versions 0-2.
pub mod delete_records_response;
/// `DeleteTopicsRequest`, versions 1-6.
pub mod delete_topics_request;
/// `DeleteTopicsResponse`, versions 1-6.
pub mod delete_topics_response;
/// `DescribeClusterRequest`, versions 0-2.
pub mod describe_cluster_request;
/// `DescribeClusterResponse`, versions 0-2.
pub mod describe_cluster_response;
/// `DescribeConfigsRequest`, versions 1-4.
pub mod describe_configs_request;
/// `DescribeConfigsResponse`, versions 1-4.
pub mod describe_configs_response;
/// `DescribeGroupsRequest`, versions 0-6.
pub mod describe_groups_request;
/// `DescribeGroupsResponse`, versions 0-6.
pub mod describe_groups_response;
/// `DescribeLogDirsRequest`, versions 1-5.
pub mod describe_log_dirs_request;
/// `DescribeLogDirsResponse`, versions 1-5.
pub mod describe_log_dirs_response;
/// `DescribeProducersRequest`, versions 0.
pub mod describe_producers_request;
/// `DescribeProducersResponse`, versions 0.
pub mod describe_producers_response;
/// `DescribeTopicPartitionsRequest`, versions 0.
pub mod describe_topic_partitions_request;
/// `DescribeTopicPartitionsResponse`, versions 0.
pub mod describe_topic_partitions_response;
/// `ElectLeadersRequest`, versions 0-2.
pub mod elect_leaders_request;
/// `ElectLeadersResponse`, versions 0-2.
pub mod elect_leaders_response;
/// `EndTxnRequest`, versions 0-5.
pub mod end_txn_request;
/// `EndTxnResponse`, versions 0-5.
pub mod end_txn_response;
/// `FetchRequest`, versions 4-18.
pub mod fetch_request;
/// `FetchResponse`, versions 4-18.
pub mod fetch_response;
/// `FindCoordinatorRequest`, versions 0-6.
pub mod find_coordinator_request;
/// `FindCoordinatorResponse`, versions 0-6.
pub mod find_coordinator_response;
/// `HeartbeatRequest`, versions 0-4.
pub mod heartbeat_request;
/// `HeartbeatResponse`, versions 0-4.
pub mod heartbeat_response;
/// `IncrementalAlterConfigsRequest`, versions 0-1.
pub mod incremental_alter_configs_request;
/// `IncrementalAlterConfigsResponse`, versions 0-1.
pub mod incremental_alter_configs_response;
/// `InitProducerIdRequest`, versions 0-6.
pub mod init_producer_id_request;
/// `InitProducerIdResponse`, versions 0-6.
pub mod init_producer_id_response;
/// `JoinGroupRequest`, versions 0-9.
pub mod join_group_request;
/// `JoinGroupResponse`, versions 0-9.
pub mod join_group_response;
/// `LeaderAndIsrRequest`, versions 0-7.
pub mod leader_and_isr_request;
/// `LeaderAndIsrResponse`, versions 0-7.
pub mod leader_and_isr_response;
/// `LeaveGroupRequest`, versions 0-5.
pub mod leave_group_request;
/// `LeaveGroupResponse`, versions 0-5.
pub mod leave_group_response;
/// `ListGroupsRequest`, versions 0-5.
pub mod list_groups_request;
/// `ListGroupsResponse`, versions 0-5.
pub mod list_groups_response;
/// `ListOffsetsRequest`, versions 1-11.
pub mod list_offsets_request;
/// `ListOffsetsResponse`, versions 1-11.
pub mod list_offsets_response;
/// `ListPartitionReassignmentsRequest`, versions 0.
pub mod list_partition_reassignments_request;
/// `ListPartitionReassignmentsResponse`, versions 0.
pub mod list_partition_reassignments_response;
/// `MetadataRequest`, versions 0-13.
pub mod metadata_request;
/// `MetadataResponse`, versions 0-13.
pub mod metadata_response;
/// `OffsetCommitRequest`, versions 2-10.
pub mod offset_commit_request;
/// `OffsetCommitResponse`, versions 2-10.
pub mod offset_commit_response;
/// `OffsetFetchRequest`, versions 1-10.
pub mod offset_fetch_request;
/// `OffsetFetchResponse`, versions 1-10.
pub mod offset_fetch_response;
/// `OffsetForLeaderEpochRequest`, versions 2-4.
pub mod offset_for_leader_epoch_request;
/// `OffsetForLeaderEpochResponse`, versions 2-4.
pub mod offset_for_leader_epoch_response;
/// `ProduceRequest`, versions 3-13.
pub mod produce_request;
/// `ProduceResponse`, versions 3-13.
pub mod produce_response;
/// `RequestHeader`, versions 1-2.
pub mod request_header;
/// `ResponseHeader`, versions 0-1.
pub mod response_header;
/// `SaslAuthenticateRequest`, versions 0-2.
pub mod sasl_authenticate_request;
/// `SaslAuthenticateResponse`, versions 0-2.
pub mod sasl_authenticate_response;
/// `SaslHandshakeRequest`, versions 0-1.
pub mod sasl_handshake_request;
/// `SaslHandshakeResponse`, versions 0-1.
pub mod sasl_handshake_response;
/// `StopReplicaRequest`, versions 0-4.
pub mod stop_replica_request;
/// `StopReplicaResponse`, versions 0-4.
pub mod stop_replica_response;
/// `SyncGroupRequest`, versions 0-5.
pub mod sync_group_request;
/// `SyncGroupResponse`, versions 0-5.
pub mod sync_group_response;
/// `TxnOffsetCommitRequest`, versions 0-6.
pub mod txn_offset_commit_request;
/// `TxnOffsetCommitResponse`, versions 0-6.
pub mod txn_offset_commit_response;
/// `UpdateMetadataRequest`, versions 0-8.
pub mod update_metadata_request;
/// `UpdateMetadataResponse`, versions 0-8.
pub mod update_metadata_response;
/// `WriteTxnMarkersRequest`, versions 1-2.
pub mod write_txn_markers_request;
/// `WriteTxnMarkersResponse`, versions 1-2.
pub mod write_txn_markers_response;

pub use add_offsets_to_txn_request::AddOffsetsToTxnRequest;
pub use add_offsets_to_txn_response::AddOffsetsToTxnResponse;
pub use add_partitions_to_txn_request::{
    AddPartitionsToTxnRequest, AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
};
pub use add_partitions_to_txn_response::{
    AddPartitionsToTxnPartitionResult, AddPartitionsToTxnResponse, AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
};
pub use alter_partition_reassignments_request::{
    AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic,
};
pub use alter_partition_reassignments_response::{
    AlterPartitionReassignmentsResponse, ReassignablePartitionResponse, ReassignableTopicResponse,
};
pub use alter_partition_request::{AlterPartitionRequest, BrokerState};
pub use alter_partition_response::AlterPartitionResponse;
pub use api_versions_request::ApiVersionsRequest;
pub use api_versions_response::{ApiVersion, ApiVersionsResponse, FinalizedFeatureKey, SupportedFeatureKey};
pub use consumer_group_describe_request::ConsumerGroupDescribeRequest;
pub use consumer_group_describe_response::{ConsumerGroupDescribeResponse, Member};
pub use consumer_group_heartbeat_request::ConsumerGroupHeartbeatRequest;
pub use consumer_group_heartbeat_response::ConsumerGroupHeartbeatResponse;
pub use consumer_protocol_assignment::ConsumerProtocolAssignment;
pub use consumer_protocol_subscription::ConsumerProtocolSubscription;
pub use controlled_shutdown_request::ControlledShutdownRequest;
pub use controlled_shutdown_response::{ControlledShutdownResponse, RemainingPartition};
pub use create_partitions_request::{
    CreatePartitionsAssignment, CreatePartitionsRequest, CreatePartitionsTopic,
};
pub use create_partitions_response::{CreatePartitionsResponse, CreatePartitionsTopicResult};
pub use create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
};
pub use create_topics_response::{CreatableTopicConfigs, CreatableTopicResult, CreateTopicsResponse};
pub use delete_groups_request::DeleteGroupsRequest;
pub use delete_groups_response::{DeletableGroupResult, DeleteGroupsResponse};
pub use delete_records_request::{DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic};
pub use delete_records_response::{
    DeleteRecordsPartitionResult, DeleteRecordsResponse, DeleteRecordsTopicResult,
};
pub use delete_topics_request::{DeleteTopicState, DeleteTopicsRequest};
pub use delete_topics_response::{DeletableTopicResult, DeleteTopicsResponse};
pub use describe_cluster_request::DescribeClusterRequest;
pub use describe_cluster_response::{DescribeClusterBroker, DescribeClusterResponse};
pub use describe_configs_request::{DescribeConfigsRequest, DescribeConfigsResource};
pub use describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResponse, DescribeConfigsResult, DescribeConfigsSynonym,
};
pub use describe_groups_request::DescribeGroupsRequest;
pub use describe_groups_response::{DescribeGroupsResponse, DescribedGroupMember};
pub use describe_log_dirs_request::{DescribableLogDirTopic, DescribeLogDirsRequest};
pub use describe_log_dirs_response::{
    DescribeLogDirsPartition, DescribeLogDirsResponse, DescribeLogDirsResult, DescribeLogDirsTopic,
};
pub use describe_producers_request::DescribeProducersRequest;
pub use describe_producers_response::{
    DescribeProducersResponse, PartitionResponse, ProducerState, TopicResponse,
};
pub use describe_topic_partitions_request::DescribeTopicPartitionsRequest;
pub use describe_topic_partitions_response::{
    DescribeTopicPartitionsResponse, DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
};
pub use elect_leaders_request::ElectLeadersRequest;
pub use elect_leaders_response::{ElectLeadersResponse, PartitionResult, ReplicaElectionResult};
pub use end_txn_request::EndTxnRequest;
pub use end_txn_response::EndTxnResponse;
pub use fetch_request::{FetchPartition, FetchRequest, FetchTopic, ForgottenTopic, ReplicaState};
pub use fetch_response::{AbortedTransaction, FetchResponse, FetchableTopicResponse, SnapshotId};
pub use find_coordinator_request::FindCoordinatorRequest;
pub use find_coordinator_response::{Coordinator, FindCoordinatorResponse};
pub use heartbeat_request::HeartbeatRequest;
pub use heartbeat_response::HeartbeatResponse;
pub use incremental_alter_configs_request::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest,
};
pub use incremental_alter_configs_response::{AlterConfigsResourceResponse, IncrementalAlterConfigsResponse};
pub use init_producer_id_request::InitProducerIdRequest;
pub use init_producer_id_response::InitProducerIdResponse;
pub use join_group_request::{JoinGroupRequest, JoinGroupRequestProtocol};
pub use join_group_response::{JoinGroupResponse, JoinGroupResponseMember};
pub use leader_and_isr_request::{
    LeaderAndIsrLiveLeader, LeaderAndIsrPartitionState, LeaderAndIsrRequest, LeaderAndIsrTopicState,
};
pub use leader_and_isr_response::{LeaderAndIsrPartitionError, LeaderAndIsrResponse, LeaderAndIsrTopicError};
pub use leave_group_request::{LeaveGroupRequest, MemberIdentity};
pub use leave_group_response::{LeaveGroupResponse, MemberResponse};
pub use list_groups_request::ListGroupsRequest;
pub use list_groups_response::{ListGroupsResponse, ListedGroup};
pub use list_offsets_request::{ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic};
pub use list_offsets_response::{
    ListOffsetsPartitionResponse, ListOffsetsResponse, ListOffsetsTopicResponse,
};
pub use list_partition_reassignments_request::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsTopics,
};
pub use list_partition_reassignments_response::{
    ListPartitionReassignmentsResponse, OngoingPartitionReassignment, OngoingTopicReassignment,
};
pub use metadata_request::{MetadataRequest, MetadataRequestTopic};
pub use metadata_response::{
    MetadataResponse, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
pub use offset_commit_request::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
pub use offset_commit_response::{
    OffsetCommitResponse, OffsetCommitResponsePartition, OffsetCommitResponseTopic,
};
pub use offset_fetch_request::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
pub use offset_fetch_response::{
    OffsetFetchResponse, OffsetFetchResponseGroup, OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions, OffsetFetchResponseTopic, OffsetFetchResponseTopics,
};
pub use offset_for_leader_epoch_request::{
    OffsetForLeaderEpochRequest, OffsetForLeaderPartition, OffsetForLeaderTopic,
};
pub use offset_for_leader_epoch_response::{OffsetForLeaderEpochResponse, OffsetForLeaderTopicResult};
pub use produce_request::{PartitionProduceData, ProduceRequest, TopicProduceData};
pub use produce_response::{
    BatchIndexAndErrorMessage, PartitionProduceResponse, ProduceResponse, TopicProduceResponse,
};
pub use request_header::RequestHeader;
pub use response_header::ResponseHeader;
pub use sasl_authenticate_request::SaslAuthenticateRequest;
pub use sasl_authenticate_response::SaslAuthenticateResponse;
pub use sasl_handshake_request::SaslHandshakeRequest;
pub use sasl_handshake_response::SaslHandshakeResponse;
pub use stop_replica_request::{
    StopReplicaPartitionState, StopReplicaPartitionV0, StopReplicaRequest, StopReplicaTopicState,
    StopReplicaTopicV1,
};
pub use stop_replica_response::{StopReplicaPartitionError, StopReplicaResponse};
pub use sync_group_request::{SyncGroupRequest, SyncGroupRequestAssignment};
pub use sync_group_response::SyncGroupResponse;
pub use txn_offset_commit_request::{
    TxnOffsetCommitRequest, TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
pub use txn_offset_commit_response::{
    TxnOffsetCommitResponse, TxnOffsetCommitResponsePartition, TxnOffsetCommitResponseTopic,
};
pub use update_metadata_request::{
    UpdateMetadataBroker, UpdateMetadataEndpoint, UpdateMetadataPartitionState, UpdateMetadataRequest,
    UpdateMetadataTopicState,
};
pub use update_metadata_response::UpdateMetadataResponse;
pub use write_txn_markers_request::{WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest};
pub use write_txn_markers_response::{
    WritableTxnMarkerPartitionResult, WritableTxnMarkerResult, WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
};

/// Calls the macro `$callback` with a list of `(module Type)`, one for each message.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_message {
    ($callback:ident) => {
        $callback! { (add_offsets_to_txn_request AddOffsetsToTxnRequest)
        (add_offsets_to_txn_response AddOffsetsToTxnResponse)
        (add_partitions_to_txn_request AddPartitionsToTxnRequest)
        (add_partitions_to_txn_response AddPartitionsToTxnResponse)
        (alter_partition_reassignments_request AlterPartitionReassignmentsRequest)
        (alter_partition_reassignments_response AlterPartitionReassignmentsResponse)
        (alter_partition_request AlterPartitionRequest)
        (alter_partition_response AlterPartitionResponse)
        (api_versions_request ApiVersionsRequest)
        (api_versions_response ApiVersionsResponse)
        (consumer_group_describe_request ConsumerGroupDescribeRequest)
        (consumer_group_describe_response ConsumerGroupDescribeResponse)
        (consumer_group_heartbeat_request ConsumerGroupHeartbeatRequest)
        (consumer_group_heartbeat_response ConsumerGroupHeartbeatResponse)
        (consumer_protocol_assignment ConsumerProtocolAssignment)
        (consumer_protocol_subscription ConsumerProtocolSubscription)
        (controlled_shutdown_request ControlledShutdownRequest)
        (controlled_shutdown_response ControlledShutdownResponse)
        (create_partitions_request CreatePartitionsRequest)
        (create_partitions_response CreatePartitionsResponse)
        (create_topics_request CreateTopicsRequest)
        (create_topics_response CreateTopicsResponse)
        (delete_groups_request DeleteGroupsRequest)
        (delete_groups_response DeleteGroupsResponse)
        (delete_records_request DeleteRecordsRequest)
        (delete_records_response DeleteRecordsResponse)
        (delete_topics_request DeleteTopicsRequest)
        (delete_topics_response DeleteTopicsResponse)
        (describe_cluster_request DescribeClusterRequest)
        (describe_cluster_response DescribeClusterResponse)
        (describe_configs_request DescribeConfigsRequest)
        (describe_configs_response DescribeConfigsResponse)
        (describe_groups_request DescribeGroupsRequest)
        (describe_groups_response DescribeGroupsResponse)
        (describe_log_dirs_request DescribeLogDirsRequest)
        (describe_log_dirs_response DescribeLogDirsResponse)
        (describe_producers_request DescribeProducersRequest)
        (describe_producers_response DescribeProducersResponse)
        (describe_topic_partitions_request DescribeTopicPartitionsRequest)
        (describe_topic_partitions_response DescribeTopicPartitionsResponse)
        (elect_leaders_request ElectLeadersRequest)
        (elect_leaders_response ElectLeadersResponse)
        (end_txn_request EndTxnRequest)
        (end_txn_response EndTxnResponse)
        (fetch_request FetchRequest)
        (fetch_response FetchResponse)
        (find_coordinator_request FindCoordinatorRequest)
        (find_coordinator_response FindCoordinatorResponse)
        (heartbeat_request HeartbeatRequest)
        (heartbeat_response HeartbeatResponse)
        (incremental_alter_configs_request IncrementalAlterConfigsRequest)
        (incremental_alter_configs_response IncrementalAlterConfigsResponse)
        (init_producer_id_request InitProducerIdRequest)
        (init_producer_id_response InitProducerIdResponse)
        (join_group_request JoinGroupRequest)
        (join_group_response JoinGroupResponse)
        (leader_and_isr_request LeaderAndIsrRequest)
        (leader_and_isr_response LeaderAndIsrResponse)
        (leave_group_request LeaveGroupRequest)
        (leave_group_response LeaveGroupResponse)
        (list_groups_request ListGroupsRequest)
        (list_groups_response ListGroupsResponse)
        (list_offsets_request ListOffsetsRequest)
        (list_offsets_response ListOffsetsResponse)
        (list_partition_reassignments_request ListPartitionReassignmentsRequest)
        (list_partition_reassignments_response ListPartitionReassignmentsResponse)
        (metadata_request MetadataRequest)
        (metadata_response MetadataResponse)
        (offset_commit_request OffsetCommitRequest)
        (offset_commit_response OffsetCommitResponse)
        (offset_fetch_request OffsetFetchRequest)
        (offset_fetch_response OffsetFetchResponse)
        (offset_for_leader_epoch_request OffsetForLeaderEpochRequest)
        (offset_for_leader_epoch_response OffsetForLeaderEpochResponse)
        (produce_request ProduceRequest)
        (produce_response ProduceResponse)
        (request_header RequestHeader)
        (response_header ResponseHeader)
        (sasl_authenticate_request SaslAuthenticateRequest)
        (sasl_authenticate_response SaslAuthenticateResponse)
        (sasl_handshake_request SaslHandshakeRequest)
        (sasl_handshake_response SaslHandshakeResponse)
        (stop_replica_request StopReplicaRequest)
        (stop_replica_response StopReplicaResponse)
        (sync_group_request SyncGroupRequest)
        (sync_group_response SyncGroupResponse)
        (txn_offset_commit_request TxnOffsetCommitRequest)
        (txn_offset_commit_response TxnOffsetCommitResponse)
        (update_metadata_request UpdateMetadataRequest)
        (update_metadata_response UpdateMetadataResponse)
        (write_txn_markers_request WriteTxnMarkersRequest)
        (write_txn_markers_response WriteTxnMarkersResponse)
         }
    };
}

/// Calls the macro `$callback` with a list of `(ApiKey Type)`, one for each request.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_request {
    ($callback:ident) => {
        $callback! { (AddOffsetsToTxn AddOffsetsToTxnRequest)
        (AddPartitionsToTxn AddPartitionsToTxnRequest)
        (AlterPartitionReassignments AlterPartitionReassignmentsRequest)
        (AlterPartition AlterPartitionRequest)
        (ApiVersions ApiVersionsRequest)
        (ConsumerGroupDescribe ConsumerGroupDescribeRequest)
        (ConsumerGroupHeartbeat ConsumerGroupHeartbeatRequest)
        (ControlledShutdown ControlledShutdownRequest)
        (CreatePartitions CreatePartitionsRequest)
        (CreateTopics CreateTopicsRequest)
        (DeleteGroups DeleteGroupsRequest)
        (DeleteRecords DeleteRecordsRequest)
        (DeleteTopics DeleteTopicsRequest)
        (DescribeCluster DescribeClusterRequest)
        (DescribeConfigs DescribeConfigsRequest)
        (DescribeGroups DescribeGroupsRequest)
        (DescribeLogDirs DescribeLogDirsRequest)
        (DescribeProducers DescribeProducersRequest)
        (DescribeTopicPartitions DescribeTopicPartitionsRequest)
        (ElectLeaders ElectLeadersRequest)
        (EndTxn EndTxnRequest)
        (Fetch FetchRequest)
        (FindCoordinator FindCoordinatorRequest)
        (Heartbeat HeartbeatRequest)
        (IncrementalAlterConfigs IncrementalAlterConfigsRequest)
        (InitProducerId InitProducerIdRequest)
        (JoinGroup JoinGroupRequest)
        (LeaderAndIsr LeaderAndIsrRequest)
        (LeaveGroup LeaveGroupRequest)
        (ListGroups ListGroupsRequest)
        (ListOffsets ListOffsetsRequest)
        (ListPartitionReassignments ListPartitionReassignmentsRequest)
        (Metadata MetadataRequest)
        (OffsetCommit OffsetCommitRequest)
        (OffsetFetch OffsetFetchRequest)
        (OffsetForLeaderEpoch OffsetForLeaderEpochRequest)
        (Produce ProduceRequest)
        (SaslAuthenticate SaslAuthenticateRequest)
        (SaslHandshake SaslHandshakeRequest)
        (StopReplica StopReplicaRequest)
        (SyncGroup SyncGroupRequest)
        (TxnOffsetCommit TxnOffsetCommitRequest)
        (UpdateMetadata UpdateMetadataRequest)
        (WriteTxnMarkers WriteTxnMarkersRequest)
         }
    };
}
