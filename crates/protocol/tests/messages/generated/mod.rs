// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

//! Fills every struct at random with what a version can carry.

#![allow(clippy::redundant_closure_for_method_calls, reason = "one form for all types")]

use bytes::Bytes;
use milena_protocol::{ErrorCode, Uuid, messages};

use super::fill::{Fill, Random};

impl Fill for messages::add_offsets_to_txn_request::AddOffsetsToTxnRequest {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            transactional_id: random.string(),
            producer_id: random.int(),
            producer_epoch: random.int() as i16,
            group_id: random.string(),
        }
    }
}

impl Fill for messages::add_offsets_to_txn_response::AddOffsetsToTxnResponse {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { throttle_time_ms: random.int() as i32, error_code: ErrorCode(random.int() as i16) }
    }
}

impl Fill for messages::add_partitions_to_txn_request::AddPartitionsToTxnRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            transactions: if version >= 4 {
                random.vec(|random| {
                    messages::add_partitions_to_txn_request::AddPartitionsToTxnTransaction::fill(
                        random, version,
                    )
                })
            } else {
                Vec::new()
            },
            v3_and_below_transactional_id: if version <= 3 { random.string() } else { String::new() },
            v3_and_below_producer_id: if version <= 3 { random.int() } else { 0 },
            v3_and_below_producer_epoch: if version <= 3 { random.int() as i16 } else { 0 },
            v3_and_below_topics: if version <= 3 {
                random.vec(|random| {
                    messages::add_partitions_to_txn_request::AddPartitionsToTxnTopic::fill(random, version)
                })
            } else {
                Vec::new()
            },
        }
    }
}

impl Fill for messages::add_partitions_to_txn_request::AddPartitionsToTxnTransaction {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            transactional_id: random.string(),
            producer_id: random.int(),
            producer_epoch: random.int() as i16,
            verify_only: random.bool(),
            topics: random.vec(|random| {
                messages::add_partitions_to_txn_request::AddPartitionsToTxnTopic::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::add_partitions_to_txn_request::AddPartitionsToTxnTopic {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { name: random.string(), partitions: random.vec(|random| random.int() as i32) }
    }
}

impl Fill for messages::add_partitions_to_txn_response::AddPartitionsToTxnResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            error_code: if version >= 4 { ErrorCode(random.int() as i16) } else { ErrorCode::NONE },
            results_by_transaction: if version >= 4 {
                random.vec(|random| {
                    messages::add_partitions_to_txn_response::AddPartitionsToTxnResult::fill(random, version)
                })
            } else {
                Vec::new()
            },
            results_by_topic_v3_and_below: if version <= 3 {
                random.vec(|random| {
                    messages::add_partitions_to_txn_response::AddPartitionsToTxnTopicResult::fill(
                        random, version,
                    )
                })
            } else {
                Vec::new()
            },
        }
    }
}

impl Fill for messages::add_partitions_to_txn_response::AddPartitionsToTxnResult {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            transactional_id: random.string(),
            topic_results: random.vec(|random| {
                messages::add_partitions_to_txn_response::AddPartitionsToTxnTopicResult::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::add_partitions_to_txn_response::AddPartitionsToTxnTopicResult {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            results_by_partition: random.vec(|random| {
                messages::add_partitions_to_txn_response::AddPartitionsToTxnPartitionResult::fill(
                    random, version,
                )
            }),
        }
    }
}

impl Fill for messages::add_partitions_to_txn_response::AddPartitionsToTxnPartitionResult {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { partition_index: random.int() as i32, partition_error_code: ErrorCode(random.int() as i16) }
    }
}

impl Fill for messages::alter_partition_reassignments_request::AlterPartitionReassignmentsRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            timeout_ms: random.int() as i32,
            allow_replication_factor_change: if version == 1 { random.bool() } else { true },
            topics: random.vec(|random| {
                messages::alter_partition_reassignments_request::ReassignableTopic::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::alter_partition_reassignments_request::ReassignableTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            partitions: random.vec(|random| {
                messages::alter_partition_reassignments_request::ReassignablePartition::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::alter_partition_reassignments_request::ReassignablePartition {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            replicas: random.option(|random| random.vec(|random| random.int() as i32)),
        }
    }
}

impl Fill for messages::alter_partition_reassignments_response::AlterPartitionReassignmentsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            allow_replication_factor_change: if version == 1 { random.bool() } else { true },
            error_code: ErrorCode(random.int() as i16),
            error_message: random.option(|random| random.string()),
            responses: random.vec(|random| {
                messages::alter_partition_reassignments_response::ReassignableTopicResponse::fill(
                    random, version,
                )
            }),
        }
    }
}

impl Fill for messages::alter_partition_reassignments_response::ReassignableTopicResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            partitions: random.vec(|random| {
                messages::alter_partition_reassignments_response::ReassignablePartitionResponse::fill(
                    random, version,
                )
            }),
        }
    }
}

impl Fill for messages::alter_partition_reassignments_response::ReassignablePartitionResponse {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
            error_message: random.option(|random| random.string()),
        }
    }
}

impl Fill for messages::alter_partition_request::AlterPartitionRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            broker_id: random.int() as i32,
            broker_epoch: random.int(),
            topics: random.vec(|random| messages::alter_partition_request::TopicData::fill(random, version)),
        }
    }
}

impl Fill for messages::alter_partition_request::TopicData {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic_id: Uuid(random.bytes()),
            partitions: random
                .vec(|random| messages::alter_partition_request::PartitionData::fill(random, version)),
        }
    }
}

impl Fill for messages::alter_partition_request::PartitionData {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            leader_epoch: random.int() as i32,
            new_isr: if version == 2 { random.vec(|random| random.int() as i32) } else { Vec::new() },
            new_isr_with_epochs: if version == 3 {
                random.vec(|random| messages::alter_partition_request::BrokerState::fill(random, version))
            } else {
                Vec::new()
            },
            leader_recovery_state: random.int() as i8,
            partition_epoch: random.int() as i32,
        }
    }
}

impl Fill for messages::alter_partition_request::BrokerState {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { broker_id: random.int() as i32, broker_epoch: random.int() }
    }
}

impl Fill for messages::alter_partition_response::AlterPartitionResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
            topics: random.vec(|random| messages::alter_partition_response::TopicData::fill(random, version)),
        }
    }
}

impl Fill for messages::alter_partition_response::TopicData {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic_id: Uuid(random.bytes()),
            partitions: random
                .vec(|random| messages::alter_partition_response::PartitionData::fill(random, version)),
        }
    }
}

impl Fill for messages::alter_partition_response::PartitionData {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
            leader_id: random.int() as i32,
            leader_epoch: random.int() as i32,
            isr: random.vec(|random| random.int() as i32),
            leader_recovery_state: random.int() as i8,
            partition_epoch: random.int() as i32,
        }
    }
}

impl Fill for messages::api_versions_request::ApiVersionsRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            client_software_name: if version >= 3 { random.string() } else { String::new() },
            client_software_version: if version >= 3 { random.string() } else { String::new() },
            cluster_id: if version == 5 { random.option(|random| random.string()) } else { None },
            node_id: if version == 5 { random.int() as i32 } else { -1 },
        }
    }
}

impl Fill for messages::api_versions_response::ApiVersionsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            api_keys: random.vec(|random| messages::api_versions_response::ApiVersion::fill(random, version)),
            throttle_time_ms: if version >= 1 { random.int() as i32 } else { 0 },
            supported_features: if version >= 3 {
                random
                    .vec(|random| messages::api_versions_response::SupportedFeatureKey::fill(random, version))
            } else {
                Vec::new()
            },
            finalized_features_epoch: if version >= 3 { random.int() } else { -1 },
            finalized_features: if version >= 3 {
                random
                    .vec(|random| messages::api_versions_response::FinalizedFeatureKey::fill(random, version))
            } else {
                Vec::new()
            },
            zk_migration_ready: if version >= 3 { random.bool() } else { false },
        }
    }
}

impl Fill for messages::api_versions_response::ApiVersion {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            api_key: random.int() as i16,
            min_version: random.int() as i16,
            max_version: random.int() as i16,
        }
    }
}

impl Fill for messages::api_versions_response::SupportedFeatureKey {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { name: random.string(), min_version: random.int() as i16, max_version: random.int() as i16 }
    }
}

impl Fill for messages::api_versions_response::FinalizedFeatureKey {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            name: random.string(),
            max_version_level: random.int() as i16,
            min_version_level: random.int() as i16,
        }
    }
}

impl Fill for messages::consumer_group_describe_request::ConsumerGroupDescribeRequest {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { group_ids: random.vec(|random| random.string()), include_authorized_operations: random.bool() }
    }
}

impl Fill for messages::consumer_group_describe_response::ConsumerGroupDescribeResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            groups: random.vec(|random| {
                messages::consumer_group_describe_response::DescribedGroup::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::consumer_group_describe_response::DescribedGroup {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            error_message: random.option(|random| random.string()),
            group_id: random.string(),
            group_state: random.string(),
            group_epoch: random.int() as i32,
            assignment_epoch: random.int() as i32,
            assignor_name: random.string(),
            members: random
                .vec(|random| messages::consumer_group_describe_response::Member::fill(random, version)),
            authorized_operations: random.int() as i32,
        }
    }
}

impl Fill for messages::consumer_group_describe_response::Member {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            member_id: random.string(),
            instance_id: random.option(|random| random.string()),
            rack_id: random.option(|random| random.string()),
            member_epoch: random.int() as i32,
            client_id: random.string(),
            client_host: random.string(),
            subscribed_topic_names: random.vec(|random| random.string()),
            subscribed_topic_regex: random.option(|random| random.string()),
            assignment: messages::consumer_group_describe_response::Assignment::fill(random, version),
            target_assignment: messages::consumer_group_describe_response::Assignment::fill(random, version),
            member_type: if version == 1 { random.int() as i8 } else { -1 },
        }
    }
}

impl Fill for messages::consumer_group_describe_response::TopicPartitions {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            topic_id: Uuid(random.bytes()),
            topic_name: random.string(),
            partitions: random.vec(|random| random.int() as i32),
        }
    }
}

impl Fill for messages::consumer_group_describe_response::Assignment {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic_partitions: random.vec(|random| {
                messages::consumer_group_describe_response::TopicPartitions::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::consumer_group_heartbeat_request::ConsumerGroupHeartbeatRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            group_id: random.string(),
            member_id: random.string(),
            member_epoch: random.int() as i32,
            instance_id: random.option(|random| random.string()),
            rack_id: random.option(|random| random.string()),
            rebalance_timeout_ms: random.int() as i32,
            subscribed_topic_names: random.option(|random| random.vec(|random| random.string())),
            subscribed_topic_regex: if version == 1 { random.option(|random| random.string()) } else { None },
            server_assignor: random.option(|random| random.string()),
            topic_partitions: random.option(|random| {
                random.vec(|random| {
                    messages::consumer_group_heartbeat_request::TopicPartitions::fill(random, version)
                })
            }),
        }
    }
}

impl Fill for messages::consumer_group_heartbeat_request::TopicPartitions {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { topic_id: Uuid(random.bytes()), partitions: random.vec(|random| random.int() as i32) }
    }
}

impl Fill for messages::consumer_group_heartbeat_response::ConsumerGroupHeartbeatResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
            error_message: random.option(|random| random.string()),
            member_id: random.option(|random| random.string()),
            member_epoch: random.int() as i32,
            heartbeat_interval_ms: random.int() as i32,
            assignment: random.option(|random| {
                messages::consumer_group_heartbeat_response::Assignment::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::consumer_group_heartbeat_response::Assignment {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic_partitions: random.vec(|random| {
                messages::consumer_group_heartbeat_response::TopicPartitions::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::consumer_group_heartbeat_response::TopicPartitions {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { topic_id: Uuid(random.bytes()), partitions: random.vec(|random| random.int() as i32) }
    }
}

impl Fill for messages::consumer_protocol_assignment::ConsumerProtocolAssignment {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            assigned_partitions: random
                .vec(|random| messages::consumer_protocol_assignment::TopicPartition::fill(random, version)),
            user_data: random.option(|random| Bytes::from(random.payload())),
        }
    }
}

impl Fill for messages::consumer_protocol_assignment::TopicPartition {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { topic: random.string(), partitions: random.vec(|random| random.int() as i32) }
    }
}

impl Fill for messages::consumer_protocol_subscription::ConsumerProtocolSubscription {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topics: random.vec(|random| random.string()),
            user_data: random.option(|random| Bytes::from(random.payload())),
            owned_partitions: if version >= 1 {
                random.vec(|random| {
                    messages::consumer_protocol_subscription::TopicPartition::fill(random, version)
                })
            } else {
                Vec::new()
            },
            generation_id: if version >= 2 { random.int() as i32 } else { -1 },
            rack_id: if version == 3 { random.option(|random| random.string()) } else { None },
        }
    }
}

impl Fill for messages::consumer_protocol_subscription::TopicPartition {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { topic: random.string(), partitions: random.vec(|random| random.int() as i32) }
    }
}

impl Fill for messages::controlled_shutdown_request::ControlledShutdownRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self { broker_id: random.int() as i32, broker_epoch: if version >= 2 { random.int() } else { -1 } }
    }
}

impl Fill for messages::controlled_shutdown_response::ControlledShutdownResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            remaining_partitions: random.vec(|random| {
                messages::controlled_shutdown_response::RemainingPartition::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::controlled_shutdown_response::RemainingPartition {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { topic_name: random.string(), partition_index: random.int() as i32 }
    }
}

impl Fill for messages::create_partitions_request::CreatePartitionsRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topics: random.vec(|random| {
                messages::create_partitions_request::CreatePartitionsTopic::fill(random, version)
            }),
            timeout_ms: random.int() as i32,
            validate_only: random.bool(),
        }
    }
}

impl Fill for messages::create_partitions_request::CreatePartitionsTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            count: random.int() as i32,
            assignments: random.option(|random| {
                random.vec(|random| {
                    messages::create_partitions_request::CreatePartitionsAssignment::fill(random, version)
                })
            }),
        }
    }
}

impl Fill for messages::create_partitions_request::CreatePartitionsAssignment {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { broker_ids: random.vec(|random| random.int() as i32) }
    }
}

impl Fill for messages::create_partitions_response::CreatePartitionsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            results: random.vec(|random| {
                messages::create_partitions_response::CreatePartitionsTopicResult::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::create_partitions_response::CreatePartitionsTopicResult {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            name: random.string(),
            error_code: ErrorCode(random.int() as i16),
            error_message: random.option(|random| random.string()),
        }
    }
}

impl Fill for messages::create_topics_request::CreateTopicsRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topics: random
                .vec(|random| messages::create_topics_request::CreatableTopic::fill(random, version)),
            timeout_ms: random.int() as i32,
            validate_only: random.bool(),
        }
    }
}

impl Fill for messages::create_topics_request::CreatableTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            num_partitions: random.int() as i32,
            replication_factor: random.int() as i16,
            assignments: random.vec(|random| {
                messages::create_topics_request::CreatableReplicaAssignment::fill(random, version)
            }),
            configs: random
                .vec(|random| messages::create_topics_request::CreatableTopicConfig::fill(random, version)),
        }
    }
}

impl Fill for messages::create_topics_request::CreatableReplicaAssignment {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { partition_index: random.int() as i32, broker_ids: random.vec(|random| random.int() as i32) }
    }
}

impl Fill for messages::create_topics_request::CreatableTopicConfig {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { name: random.string(), value: random.option(|random| random.string()) }
    }
}

impl Fill for messages::create_topics_response::CreateTopicsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            topics: random
                .vec(|random| messages::create_topics_response::CreatableTopicResult::fill(random, version)),
        }
    }
}

impl Fill for messages::create_topics_response::CreatableTopicResult {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            topic_id: if version == 7 { Uuid(random.bytes()) } else { Uuid::ZERO },
            error_code: ErrorCode(random.int() as i16),
            error_message: random.option(|random| random.string()),
            topic_config_error_code: if version >= 5 {
                ErrorCode(random.int() as i16)
            } else {
                ErrorCode::NONE
            },
            num_partitions: if version >= 5 { random.int() as i32 } else { -1 },
            replication_factor: if version >= 5 { random.int() as i16 } else { -1 },
            configs: if version >= 5 {
                random.option(|random| {
                    random.vec(|random| {
                        messages::create_topics_response::CreatableTopicConfigs::fill(random, version)
                    })
                })
            } else {
                Some(Vec::new())
            },
        }
    }
}

impl Fill for messages::create_topics_response::CreatableTopicConfigs {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            name: random.string(),
            value: random.option(|random| random.string()),
            read_only: random.bool(),
            config_source: random.int() as i8,
            is_sensitive: random.bool(),
        }
    }
}

impl Fill for messages::delete_groups_request::DeleteGroupsRequest {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { groups_names: random.vec(|random| random.string()) }
    }
}

impl Fill for messages::delete_groups_response::DeleteGroupsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            results: random
                .vec(|random| messages::delete_groups_response::DeletableGroupResult::fill(random, version)),
        }
    }
}

impl Fill for messages::delete_groups_response::DeletableGroupResult {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            group_id: random.string(),
            error_code: ErrorCode(random.int() as i16),
            error_message: if version == 3 { random.option(|random| random.string()) } else { None },
        }
    }
}

impl Fill for messages::delete_records_request::DeleteRecordsRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topics: random
                .vec(|random| messages::delete_records_request::DeleteRecordsTopic::fill(random, version)),
            timeout_ms: random.int() as i32,
        }
    }
}

impl Fill for messages::delete_records_request::DeleteRecordsTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            partitions: random.vec(|random| {
                messages::delete_records_request::DeleteRecordsPartition::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::delete_records_request::DeleteRecordsPartition {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { partition_index: random.int() as i32, offset: random.int() }
    }
}

impl Fill for messages::delete_records_response::DeleteRecordsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            topics: random.vec(|random| {
                messages::delete_records_response::DeleteRecordsTopicResult::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::delete_records_response::DeleteRecordsTopicResult {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            partitions: random.vec(|random| {
                messages::delete_records_response::DeleteRecordsPartitionResult::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::delete_records_response::DeleteRecordsPartitionResult {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            low_watermark: random.int(),
            error_code: ErrorCode(random.int() as i16),
        }
    }
}

impl Fill for messages::delete_topics_request::DeleteTopicsRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topics: if version == 6 {
                random.vec(|random| messages::delete_topics_request::DeleteTopicState::fill(random, version))
            } else {
                Vec::new()
            },
            topic_names: if version <= 5 { random.vec(|random| random.string()) } else { Vec::new() },
            timeout_ms: random.int() as i32,
        }
    }
}

impl Fill for messages::delete_topics_request::DeleteTopicState {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { name: random.option(|random| random.string()), topic_id: Uuid(random.bytes()) }
    }
}

impl Fill for messages::delete_topics_response::DeleteTopicsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            responses: random
                .vec(|random| messages::delete_topics_response::DeletableTopicResult::fill(random, version)),
        }
    }
}

impl Fill for messages::delete_topics_response::DeletableTopicResult {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: if version == 6 { random.option(|random| random.string()) } else { Some(random.string()) },
            topic_id: if version == 6 { Uuid(random.bytes()) } else { Uuid::ZERO },
            error_code: ErrorCode(random.int() as i16),
            error_message: if version >= 5 { random.option(|random| random.string()) } else { None },
        }
    }
}

impl Fill for messages::describe_cluster_request::DescribeClusterRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            include_cluster_authorized_operations: random.bool(),
            endpoint_type: if version >= 1 { random.int() as i8 } else { 1 },
            include_fenced_brokers: if version == 2 { random.bool() } else { false },
        }
    }
}

impl Fill for messages::describe_cluster_response::DescribeClusterResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
            error_message: random.option(|random| random.string()),
            endpoint_type: if version >= 1 { random.int() as i8 } else { 1 },
            cluster_id: random.string(),
            controller_id: random.int() as i32,
            brokers: random.vec(|random| {
                messages::describe_cluster_response::DescribeClusterBroker::fill(random, version)
            }),
            cluster_authorized_operations: random.int() as i32,
        }
    }
}

impl Fill for messages::describe_cluster_response::DescribeClusterBroker {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            broker_id: random.int() as i32,
            host: random.string(),
            port: random.int() as i32,
            rack: random.option(|random| random.string()),
            is_fenced: if version == 2 { random.bool() } else { false },
        }
    }
}

impl Fill for messages::describe_configs_request::DescribeConfigsRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            resources: random.vec(|random| {
                messages::describe_configs_request::DescribeConfigsResource::fill(random, version)
            }),
            include_synonyms: random.bool(),
            include_documentation: if version >= 3 { random.bool() } else { false },
        }
    }
}

impl Fill for messages::describe_configs_request::DescribeConfigsResource {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            resource_type: random.int() as i8,
            resource_name: random.string(),
            configuration_keys: random.option(|random| random.vec(|random| random.string())),
        }
    }
}

impl Fill for messages::describe_configs_response::DescribeConfigsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            results: random.vec(|random| {
                messages::describe_configs_response::DescribeConfigsResult::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::describe_configs_response::DescribeConfigsResult {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            error_message: random.option(|random| random.string()),
            resource_type: random.int() as i8,
            resource_name: random.string(),
            configs: random.vec(|random| {
                messages::describe_configs_response::DescribeConfigsResourceResult::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::describe_configs_response::DescribeConfigsResourceResult {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            value: random.option(|random| random.string()),
            read_only: random.bool(),
            config_source: random.int() as i8,
            is_sensitive: random.bool(),
            synonyms: random.vec(|random| {
                messages::describe_configs_response::DescribeConfigsSynonym::fill(random, version)
            }),
            config_type: if version >= 3 { random.int() as i8 } else { 0 },
            documentation: if version >= 3 {
                random.option(|random| random.string())
            } else {
                Some(String::new())
            },
        }
    }
}

impl Fill for messages::describe_configs_response::DescribeConfigsSynonym {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            name: random.string(),
            value: random.option(|random| random.string()),
            source: random.int() as i8,
        }
    }
}

impl Fill for messages::describe_groups_request::DescribeGroupsRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            groups: random.vec(|random| random.string()),
            include_authorized_operations: if version >= 3 { random.bool() } else { false },
        }
    }
}

impl Fill for messages::describe_groups_response::DescribeGroupsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: if version >= 1 { random.int() as i32 } else { 0 },
            groups: random
                .vec(|random| messages::describe_groups_response::DescribedGroup::fill(random, version)),
        }
    }
}

impl Fill for messages::describe_groups_response::DescribedGroup {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            error_message: if version == 6 { random.option(|random| random.string()) } else { None },
            group_id: random.string(),
            group_state: random.string(),
            protocol_type: random.string(),
            protocol_data: random.string(),
            members: random.vec(|random| {
                messages::describe_groups_response::DescribedGroupMember::fill(random, version)
            }),
            authorized_operations: if version >= 3 { random.int() as i32 } else { i32::MIN },
        }
    }
}

impl Fill for messages::describe_groups_response::DescribedGroupMember {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            member_id: random.string(),
            group_instance_id: if version >= 4 { random.option(|random| random.string()) } else { None },
            client_id: random.string(),
            client_host: random.string(),
            member_metadata: Bytes::from(random.payload()),
            member_assignment: Bytes::from(random.payload()),
        }
    }
}

impl Fill for messages::describe_log_dirs_request::DescribeLogDirsRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topics: random.option(|random| {
                random.vec(|random| {
                    messages::describe_log_dirs_request::DescribableLogDirTopic::fill(random, version)
                })
            }),
        }
    }
}

impl Fill for messages::describe_log_dirs_request::DescribableLogDirTopic {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { topic: random.string(), partitions: random.vec(|random| random.int() as i32) }
    }
}

impl Fill for messages::describe_log_dirs_response::DescribeLogDirsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            error_code: if version >= 3 { ErrorCode(random.int() as i16) } else { ErrorCode::NONE },
            results: random.vec(|random| {
                messages::describe_log_dirs_response::DescribeLogDirsResult::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::describe_log_dirs_response::DescribeLogDirsResult {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            log_dir: random.string(),
            topics: random.vec(|random| {
                messages::describe_log_dirs_response::DescribeLogDirsTopic::fill(random, version)
            }),
            total_bytes: if version >= 4 { random.int() } else { -1 },
            usable_bytes: if version >= 4 { random.int() } else { -1 },
            is_cordoned: if version == 5 { random.bool() } else { false },
        }
    }
}

impl Fill for messages::describe_log_dirs_response::DescribeLogDirsTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            partitions: random.vec(|random| {
                messages::describe_log_dirs_response::DescribeLogDirsPartition::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::describe_log_dirs_response::DescribeLogDirsPartition {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            partition_size: random.int(),
            offset_lag: random.int(),
            is_future_key: random.bool(),
        }
    }
}

impl Fill for messages::describe_producers_request::DescribeProducersRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topics: random
                .vec(|random| messages::describe_producers_request::TopicRequest::fill(random, version)),
        }
    }
}

impl Fill for messages::describe_producers_request::TopicRequest {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { name: random.string(), partition_indexes: random.vec(|random| random.int() as i32) }
    }
}

impl Fill for messages::describe_producers_response::DescribeProducersResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            topics: random
                .vec(|random| messages::describe_producers_response::TopicResponse::fill(random, version)),
        }
    }
}

impl Fill for messages::describe_producers_response::TopicResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            partitions: random.vec(|random| {
                messages::describe_producers_response::PartitionResponse::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::describe_producers_response::PartitionResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
            error_message: random.option(|random| random.string()),
            active_producers: random
                .vec(|random| messages::describe_producers_response::ProducerState::fill(random, version)),
        }
    }
}

impl Fill for messages::describe_producers_response::ProducerState {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            producer_id: random.int(),
            producer_epoch: random.int() as i32,
            last_sequence: random.int() as i32,
            last_timestamp: random.int(),
            coordinator_epoch: random.int() as i32,
            current_txn_start_offset: random.int(),
        }
    }
}

impl Fill for messages::describe_topic_partitions_request::DescribeTopicPartitionsRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topics: random.vec(|random| {
                messages::describe_topic_partitions_request::TopicRequest::fill(random, version)
            }),
            response_partition_limit: random.int() as i32,
            cursor: random
                .option(|random| messages::describe_topic_partitions_request::Cursor::fill(random, version)),
        }
    }
}

impl Fill for messages::describe_topic_partitions_request::TopicRequest {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { name: random.string() }
    }
}

impl Fill for messages::describe_topic_partitions_request::Cursor {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { topic_name: random.string(), partition_index: random.int() as i32 }
    }
}

impl Fill for messages::describe_topic_partitions_response::DescribeTopicPartitionsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            topics: random.vec(|random| {
                messages::describe_topic_partitions_response::DescribeTopicPartitionsResponseTopic::fill(
                    random, version,
                )
            }),
            next_cursor: random
                .option(|random| messages::describe_topic_partitions_response::Cursor::fill(random, version)),
        }
    }
}

impl Fill for messages::describe_topic_partitions_response::DescribeTopicPartitionsResponseTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            name: random.option(|random| random.string()),
            topic_id: Uuid(random.bytes()),
            is_internal: random.bool(),
            partitions: random.vec(|random| {
                messages::describe_topic_partitions_response::DescribeTopicPartitionsResponsePartition::fill(
                    random, version,
                )
            }),
            topic_authorized_operations: random.int() as i32,
        }
    }
}

impl Fill for messages::describe_topic_partitions_response::DescribeTopicPartitionsResponsePartition {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            partition_index: random.int() as i32,
            leader_id: random.int() as i32,
            leader_epoch: random.int() as i32,
            replica_nodes: random.vec(|random| random.int() as i32),
            isr_nodes: random.vec(|random| random.int() as i32),
            eligible_leader_replicas: random.option(|random| random.vec(|random| random.int() as i32)),
            last_known_elr: random.option(|random| random.vec(|random| random.int() as i32)),
            offline_replicas: random.vec(|random| random.int() as i32),
        }
    }
}

impl Fill for messages::describe_topic_partitions_response::Cursor {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { topic_name: random.string(), partition_index: random.int() as i32 }
    }
}

impl Fill for messages::elect_leaders_request::ElectLeadersRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            election_type: if version >= 1 { random.int() as i8 } else { 0 },
            topic_partitions: random.option(|random| {
                random.vec(|random| messages::elect_leaders_request::TopicPartitions::fill(random, version))
            }),
            timeout_ms: random.int() as i32,
        }
    }
}

impl Fill for messages::elect_leaders_request::TopicPartitions {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { topic: random.string(), partitions: random.vec(|random| random.int() as i32) }
    }
}

impl Fill for messages::elect_leaders_response::ElectLeadersResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            error_code: if version >= 1 { ErrorCode(random.int() as i16) } else { ErrorCode::NONE },
            replica_election_results: random
                .vec(|random| messages::elect_leaders_response::ReplicaElectionResult::fill(random, version)),
        }
    }
}

impl Fill for messages::elect_leaders_response::ReplicaElectionResult {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic: random.string(),
            partition_result: random
                .vec(|random| messages::elect_leaders_response::PartitionResult::fill(random, version)),
        }
    }
}

impl Fill for messages::elect_leaders_response::PartitionResult {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            partition_id: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
            error_message: random.option(|random| random.string()),
        }
    }
}

impl Fill for messages::end_txn_request::EndTxnRequest {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            transactional_id: random.string(),
            producer_id: random.int(),
            producer_epoch: random.int() as i16,
            committed: random.bool(),
        }
    }
}

impl Fill for messages::end_txn_response::EndTxnResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
            producer_id: if version == 5 { random.int() } else { -1 },
            producer_epoch: if version == 5 { random.int() as i16 } else { -1 },
        }
    }
}

impl Fill for messages::fetch_request::FetchRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            cluster_id: if version >= 12 { random.option(|random| random.string()) } else { None },
            replica_id: if version <= 14 { random.int() as i32 } else { -1 },
            replica_state: if version >= 15 {
                messages::fetch_request::ReplicaState::fill(random, version)
            } else {
                messages::fetch_request::ReplicaState::default()
            },
            max_wait_ms: random.int() as i32,
            min_bytes: random.int() as i32,
            max_bytes: random.int() as i32,
            isolation_level: random.int() as i8,
            session_id: if version >= 7 { random.int() as i32 } else { 0 },
            session_epoch: if version >= 7 { random.int() as i32 } else { -1 },
            topics: random.vec(|random| messages::fetch_request::FetchTopic::fill(random, version)),
            forgotten_topics_data: if version >= 7 {
                random.vec(|random| messages::fetch_request::ForgottenTopic::fill(random, version))
            } else {
                Vec::new()
            },
            rack_id: if version >= 11 { random.string() } else { String::new() },
        }
    }
}

impl Fill for messages::fetch_request::ReplicaState {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { replica_id: random.int() as i32, replica_epoch: random.int() }
    }
}

impl Fill for messages::fetch_request::FetchTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic: if version <= 12 { random.string() } else { String::new() },
            topic_id: if version >= 13 { Uuid(random.bytes()) } else { Uuid::ZERO },
            partitions: random.vec(|random| messages::fetch_request::FetchPartition::fill(random, version)),
        }
    }
}

impl Fill for messages::fetch_request::FetchPartition {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            partition: random.int() as i32,
            current_leader_epoch: if version >= 9 { random.int() as i32 } else { -1 },
            fetch_offset: random.int(),
            last_fetched_epoch: if version >= 12 { random.int() as i32 } else { -1 },
            log_start_offset: if version >= 5 { random.int() } else { -1 },
            partition_max_bytes: random.int() as i32,
            replica_directory_id: if version >= 17 { Uuid(random.bytes()) } else { Uuid::ZERO },
            high_watermark: if version == 18 { random.int() } else { i64::MAX },
        }
    }
}

impl Fill for messages::fetch_request::ForgottenTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic: if version <= 12 { random.string() } else { String::new() },
            topic_id: if version >= 13 { Uuid(random.bytes()) } else { Uuid::ZERO },
            partitions: random.vec(|random| random.int() as i32),
        }
    }
}

impl Fill for messages::fetch_response::FetchResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            error_code: if version >= 7 { ErrorCode(random.int() as i16) } else { ErrorCode::NONE },
            session_id: if version >= 7 { random.int() as i32 } else { 0 },
            responses: random
                .vec(|random| messages::fetch_response::FetchableTopicResponse::fill(random, version)),
            node_endpoints: if version >= 16 {
                random.vec(|random| messages::fetch_response::NodeEndpoint::fill(random, version))
            } else {
                Vec::new()
            },
        }
    }
}

impl Fill for messages::fetch_response::FetchableTopicResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic: if version <= 12 { random.string() } else { String::new() },
            topic_id: if version >= 13 { Uuid(random.bytes()) } else { Uuid::ZERO },
            partitions: random.vec(|random| messages::fetch_response::PartitionData::fill(random, version)),
        }
    }
}

impl Fill for messages::fetch_response::PartitionData {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
            high_watermark: random.int(),
            last_stable_offset: random.int(),
            log_start_offset: if version >= 5 { random.int() } else { -1 },
            diverging_epoch: if version >= 12 {
                messages::fetch_response::EpochEndOffset::fill(random, version)
            } else {
                messages::fetch_response::EpochEndOffset::default()
            },
            current_leader: if version >= 12 {
                messages::fetch_response::LeaderIdAndEpoch::fill(random, version)
            } else {
                messages::fetch_response::LeaderIdAndEpoch::default()
            },
            snapshot_id: if version >= 12 {
                messages::fetch_response::SnapshotId::fill(random, version)
            } else {
                messages::fetch_response::SnapshotId::default()
            },
            aborted_transactions: random.option(|random| {
                random.vec(|random| messages::fetch_response::AbortedTransaction::fill(random, version))
            }),
            preferred_read_replica: if version >= 11 { random.int() as i32 } else { -1 },
            records: random.option(|random| Bytes::from(random.payload())),
        }
    }
}

impl Fill for messages::fetch_response::EpochEndOffset {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { epoch: random.int() as i32, end_offset: random.int() }
    }
}

impl Fill for messages::fetch_response::LeaderIdAndEpoch {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { leader_id: random.int() as i32, leader_epoch: random.int() as i32 }
    }
}

impl Fill for messages::fetch_response::SnapshotId {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { end_offset: random.int(), epoch: random.int() as i32 }
    }
}

impl Fill for messages::fetch_response::AbortedTransaction {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { producer_id: random.int(), first_offset: random.int() }
    }
}

impl Fill for messages::fetch_response::NodeEndpoint {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            node_id: random.int() as i32,
            host: random.string(),
            port: random.int() as i32,
            rack: random.option(|random| random.string()),
        }
    }
}

impl Fill for messages::find_coordinator_request::FindCoordinatorRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            key: if version <= 3 { random.string() } else { String::new() },
            key_type: if version >= 1 { random.int() as i8 } else { 0 },
            coordinator_keys: if version >= 4 { random.vec(|random| random.string()) } else { Vec::new() },
        }
    }
}

impl Fill for messages::find_coordinator_response::FindCoordinatorResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: if version >= 1 { random.int() as i32 } else { 0 },
            error_code: if version <= 3 { ErrorCode(random.int() as i16) } else { ErrorCode::NONE },
            error_message: if (1..=3).contains(&version) {
                random.option(|random| random.string())
            } else {
                Some(String::new())
            },
            node_id: if version <= 3 { random.int() as i32 } else { 0 },
            host: if version <= 3 { random.string() } else { String::new() },
            port: if version <= 3 { random.int() as i32 } else { 0 },
            coordinators: if version >= 4 {
                random.vec(|random| messages::find_coordinator_response::Coordinator::fill(random, version))
            } else {
                Vec::new()
            },
        }
    }
}

impl Fill for messages::find_coordinator_response::Coordinator {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            key: random.string(),
            node_id: random.int() as i32,
            host: random.string(),
            port: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
            error_message: random.option(|random| random.string()),
        }
    }
}

impl Fill for messages::heartbeat_request::HeartbeatRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            group_id: random.string(),
            generation_id: random.int() as i32,
            member_id: random.string(),
            group_instance_id: if version >= 3 { random.option(|random| random.string()) } else { None },
        }
    }
}

impl Fill for messages::heartbeat_response::HeartbeatResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: if version >= 1 { random.int() as i32 } else { 0 },
            error_code: ErrorCode(random.int() as i16),
        }
    }
}

impl Fill for messages::incremental_alter_configs_request::IncrementalAlterConfigsRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            resources: random.vec(|random| {
                messages::incremental_alter_configs_request::AlterConfigsResource::fill(random, version)
            }),
            validate_only: random.bool(),
        }
    }
}

impl Fill for messages::incremental_alter_configs_request::AlterConfigsResource {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            resource_type: random.int() as i8,
            resource_name: random.string(),
            configs: random.vec(|random| {
                messages::incremental_alter_configs_request::AlterableConfig::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::incremental_alter_configs_request::AlterableConfig {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            name: random.string(),
            config_operation: random.int() as i8,
            value: random.option(|random| random.string()),
        }
    }
}

impl Fill for messages::incremental_alter_configs_response::IncrementalAlterConfigsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            responses: random.vec(|random| {
                messages::incremental_alter_configs_response::AlterConfigsResourceResponse::fill(
                    random, version,
                )
            }),
        }
    }
}

impl Fill for messages::incremental_alter_configs_response::AlterConfigsResourceResponse {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            error_message: random.option(|random| random.string()),
            resource_type: random.int() as i8,
            resource_name: random.string(),
        }
    }
}

impl Fill for messages::init_producer_id_request::InitProducerIdRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            transactional_id: random.option(|random| random.string()),
            transaction_timeout_ms: random.int() as i32,
            producer_id: if version >= 3 { random.int() } else { -1 },
            producer_epoch: if version >= 3 { random.int() as i16 } else { -1 },
            enable2_pc: if version == 6 { random.bool() } else { false },
            keep_prepared_txn: if version == 6 { random.bool() } else { false },
        }
    }
}

impl Fill for messages::init_producer_id_response::InitProducerIdResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
            producer_id: random.int(),
            producer_epoch: random.int() as i16,
            ongoing_txn_producer_id: if version == 6 { random.int() } else { -1 },
            ongoing_txn_producer_epoch: if version == 6 { random.int() as i16 } else { -1 },
        }
    }
}

impl Fill for messages::join_group_request::JoinGroupRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            group_id: random.string(),
            session_timeout_ms: random.int() as i32,
            rebalance_timeout_ms: if version >= 1 { random.int() as i32 } else { -1 },
            member_id: random.string(),
            group_instance_id: if version >= 5 { random.option(|random| random.string()) } else { None },
            protocol_type: random.string(),
            protocols: random
                .vec(|random| messages::join_group_request::JoinGroupRequestProtocol::fill(random, version)),
            reason: if version >= 8 { random.option(|random| random.string()) } else { None },
        }
    }
}

impl Fill for messages::join_group_request::JoinGroupRequestProtocol {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { name: random.string(), metadata: Bytes::from(random.payload()) }
    }
}

impl Fill for messages::join_group_response::JoinGroupResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: if version >= 2 { random.int() as i32 } else { 0 },
            error_code: ErrorCode(random.int() as i16),
            generation_id: random.int() as i32,
            protocol_type: if version >= 7 { random.option(|random| random.string()) } else { None },
            protocol_name: if version >= 7 {
                random.option(|random| random.string())
            } else {
                Some(random.string())
            },
            leader: random.string(),
            skip_assignment: if version == 9 { random.bool() } else { false },
            member_id: random.string(),
            members: random
                .vec(|random| messages::join_group_response::JoinGroupResponseMember::fill(random, version)),
        }
    }
}

impl Fill for messages::join_group_response::JoinGroupResponseMember {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            member_id: random.string(),
            group_instance_id: if version >= 5 { random.option(|random| random.string()) } else { None },
            metadata: Bytes::from(random.payload()),
        }
    }
}

impl Fill for messages::leader_and_isr_request::LeaderAndIsrRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            controller_id: random.int() as i32,
            is_kraft_controller: if version == 7 { random.bool() } else { false },
            controller_epoch: random.int() as i32,
            broker_epoch: if version >= 2 { random.int() } else { -1 },
            r#type: if version >= 5 { random.int() as i8 } else { 0 },
            ungrouped_partition_states: if version <= 1 {
                random.vec(|random| {
                    messages::leader_and_isr_request::LeaderAndIsrPartitionState::fill(random, version)
                })
            } else {
                Vec::new()
            },
            topic_states: if version >= 2 {
                random.vec(|random| {
                    messages::leader_and_isr_request::LeaderAndIsrTopicState::fill(random, version)
                })
            } else {
                Vec::new()
            },
            live_leaders: random.vec(|random| {
                messages::leader_and_isr_request::LeaderAndIsrLiveLeader::fill(random, version)
            }),
            control_sequence: if version >= 4 { random.int() } else { -1 },
        }
    }
}

impl Fill for messages::leader_and_isr_request::LeaderAndIsrTopicState {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic_name: random.string(),
            topic_id: if version >= 5 { Uuid(random.bytes()) } else { Uuid::ZERO },
            partition_states: random.vec(|random| {
                messages::leader_and_isr_request::LeaderAndIsrPartitionState::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::leader_and_isr_request::LeaderAndIsrLiveLeader {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { broker_id: random.int() as i32, host_name: random.string(), port: random.int() as i32 }
    }
}

impl Fill for messages::leader_and_isr_request::LeaderAndIsrPartitionState {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic_name: if version <= 1 { random.string() } else { String::new() },
            partition_index: random.int() as i32,
            controller_epoch: random.int() as i32,
            leader: random.int() as i32,
            leader_epoch: random.int() as i32,
            isr: random.vec(|random| random.int() as i32),
            partition_epoch: random.int() as i32,
            replicas: random.vec(|random| random.int() as i32),
            adding_replicas: if version >= 3 { random.vec(|random| random.int() as i32) } else { Vec::new() },
            removing_replicas: if version >= 3 {
                random.vec(|random| random.int() as i32)
            } else {
                Vec::new()
            },
            is_new: if version >= 1 { random.bool() } else { false },
            leader_recovery_state: if version >= 6 { random.int() as i8 } else { 0 },
        }
    }
}

impl Fill for messages::leader_and_isr_response::LeaderAndIsrResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            partition_errors: if version <= 4 {
                random.vec(|random| {
                    messages::leader_and_isr_response::LeaderAndIsrPartitionError::fill(random, version)
                })
            } else {
                Vec::new()
            },
            topics: if version >= 5 {
                random.vec(|random| {
                    messages::leader_and_isr_response::LeaderAndIsrTopicError::fill(random, version)
                })
            } else {
                Vec::new()
            },
        }
    }
}

impl Fill for messages::leader_and_isr_response::LeaderAndIsrTopicError {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic_id: Uuid(random.bytes()),
            partition_errors: random.vec(|random| {
                messages::leader_and_isr_response::LeaderAndIsrPartitionError::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::leader_and_isr_response::LeaderAndIsrPartitionError {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic_name: if version <= 4 { random.string() } else { String::new() },
            partition_index: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
        }
    }
}

impl Fill for messages::leave_group_request::LeaveGroupRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            group_id: random.string(),
            member_id: if version <= 2 { random.string() } else { String::new() },
            members: if version >= 3 {
                random.vec(|random| messages::leave_group_request::MemberIdentity::fill(random, version))
            } else {
                Vec::new()
            },
        }
    }
}

impl Fill for messages::leave_group_request::MemberIdentity {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            member_id: random.string(),
            group_instance_id: random.option(|random| random.string()),
            reason: if version == 5 { random.option(|random| random.string()) } else { None },
        }
    }
}

impl Fill for messages::leave_group_response::LeaveGroupResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: if version >= 1 { random.int() as i32 } else { 0 },
            error_code: ErrorCode(random.int() as i16),
            members: if version >= 3 {
                random.vec(|random| messages::leave_group_response::MemberResponse::fill(random, version))
            } else {
                Vec::new()
            },
        }
    }
}

impl Fill for messages::leave_group_response::MemberResponse {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            member_id: random.string(),
            group_instance_id: random.option(|random| random.string()),
            error_code: ErrorCode(random.int() as i16),
        }
    }
}

impl Fill for messages::list_groups_request::ListGroupsRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            states_filter: if version >= 4 { random.vec(|random| random.string()) } else { Vec::new() },
            types_filter: if version == 5 { random.vec(|random| random.string()) } else { Vec::new() },
        }
    }
}

impl Fill for messages::list_groups_response::ListGroupsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: if version >= 1 { random.int() as i32 } else { 0 },
            error_code: ErrorCode(random.int() as i16),
            groups: random.vec(|random| messages::list_groups_response::ListedGroup::fill(random, version)),
        }
    }
}

impl Fill for messages::list_groups_response::ListedGroup {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            group_id: random.string(),
            protocol_type: random.string(),
            group_state: if version >= 4 { random.string() } else { String::new() },
            group_type: if version == 5 { random.string() } else { String::new() },
        }
    }
}

impl Fill for messages::list_offsets_request::ListOffsetsRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            replica_id: random.int() as i32,
            isolation_level: if version >= 2 { random.int() as i8 } else { 0 },
            topics: random
                .vec(|random| messages::list_offsets_request::ListOffsetsTopic::fill(random, version)),
            timeout_ms: if version >= 10 { random.int() as i32 } else { 0 },
        }
    }
}

impl Fill for messages::list_offsets_request::ListOffsetsTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            partitions: random
                .vec(|random| messages::list_offsets_request::ListOffsetsPartition::fill(random, version)),
        }
    }
}

impl Fill for messages::list_offsets_request::ListOffsetsPartition {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            current_leader_epoch: if version >= 4 { random.int() as i32 } else { -1 },
            timestamp: random.int(),
        }
    }
}

impl Fill for messages::list_offsets_response::ListOffsetsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: if version >= 2 { random.int() as i32 } else { 0 },
            topics: random.vec(|random| {
                messages::list_offsets_response::ListOffsetsTopicResponse::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::list_offsets_response::ListOffsetsTopicResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            partitions: random.vec(|random| {
                messages::list_offsets_response::ListOffsetsPartitionResponse::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::list_offsets_response::ListOffsetsPartitionResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
            timestamp: random.int(),
            offset: random.int(),
            leader_epoch: if version >= 4 { random.int() as i32 } else { -1 },
        }
    }
}

impl Fill for messages::list_partition_reassignments_request::ListPartitionReassignmentsRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            timeout_ms: random.int() as i32,
            topics: random.option(|random| {
                random.vec(|random| {
                    messages::list_partition_reassignments_request::ListPartitionReassignmentsTopics::fill(
                        random, version,
                    )
                })
            }),
        }
    }
}

impl Fill for messages::list_partition_reassignments_request::ListPartitionReassignmentsTopics {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { name: random.string(), partition_indexes: random.vec(|random| random.int() as i32) }
    }
}

impl Fill for messages::list_partition_reassignments_response::ListPartitionReassignmentsResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
            error_message: random.option(|random| random.string()),
            topics: random.vec(|random| {
                messages::list_partition_reassignments_response::OngoingTopicReassignment::fill(
                    random, version,
                )
            }),
        }
    }
}

impl Fill for messages::list_partition_reassignments_response::OngoingTopicReassignment {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            partitions: random.vec(|random| {
                messages::list_partition_reassignments_response::OngoingPartitionReassignment::fill(
                    random, version,
                )
            }),
        }
    }
}

impl Fill for messages::list_partition_reassignments_response::OngoingPartitionReassignment {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            replicas: random.vec(|random| random.int() as i32),
            adding_replicas: random.vec(|random| random.int() as i32),
            removing_replicas: random.vec(|random| random.int() as i32),
        }
    }
}

impl Fill for messages::metadata_request::MetadataRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topics: if version >= 1 {
                random.option(|random| {
                    random
                        .vec(|random| messages::metadata_request::MetadataRequestTopic::fill(random, version))
                })
            } else {
                Some(
                    random.vec(|random| {
                        messages::metadata_request::MetadataRequestTopic::fill(random, version)
                    }),
                )
            },
            allow_auto_topic_creation: if version >= 4 { random.bool() } else { true },
            include_cluster_authorized_operations: if (8..=10).contains(&version) {
                random.bool()
            } else {
                false
            },
            include_topic_authorized_operations: if version >= 8 { random.bool() } else { false },
        }
    }
}

impl Fill for messages::metadata_request::MetadataRequestTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic_id: if version >= 10 { Uuid(random.bytes()) } else { Uuid::ZERO },
            name: if version >= 10 { random.option(|random| random.string()) } else { Some(random.string()) },
        }
    }
}

impl Fill for messages::metadata_response::MetadataResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: if version >= 3 { random.int() as i32 } else { 0 },
            brokers: random
                .vec(|random| messages::metadata_response::MetadataResponseBroker::fill(random, version)),
            cluster_id: if version >= 2 { random.option(|random| random.string()) } else { None },
            controller_id: if version >= 1 { random.int() as i32 } else { -1 },
            topics: random
                .vec(|random| messages::metadata_response::MetadataResponseTopic::fill(random, version)),
            cluster_authorized_operations: if (8..=10).contains(&version) {
                random.int() as i32
            } else {
                i32::MIN
            },
            error_code: if version == 13 { ErrorCode(random.int() as i16) } else { ErrorCode::NONE },
        }
    }
}

impl Fill for messages::metadata_response::MetadataResponseBroker {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            node_id: random.int() as i32,
            host: random.string(),
            port: random.int() as i32,
            rack: if version >= 1 { random.option(|random| random.string()) } else { None },
        }
    }
}

impl Fill for messages::metadata_response::MetadataResponseTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            name: if version >= 12 { random.option(|random| random.string()) } else { Some(random.string()) },
            topic_id: if version >= 10 { Uuid(random.bytes()) } else { Uuid::ZERO },
            is_internal: if version >= 1 { random.bool() } else { false },
            partitions: random
                .vec(|random| messages::metadata_response::MetadataResponsePartition::fill(random, version)),
            topic_authorized_operations: if version >= 8 { random.int() as i32 } else { i32::MIN },
        }
    }
}

impl Fill for messages::metadata_response::MetadataResponsePartition {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            partition_index: random.int() as i32,
            leader_id: random.int() as i32,
            leader_epoch: if version >= 7 { random.int() as i32 } else { -1 },
            replica_nodes: random.vec(|random| random.int() as i32),
            isr_nodes: random.vec(|random| random.int() as i32),
            offline_replicas: if version >= 5 {
                random.vec(|random| random.int() as i32)
            } else {
                Vec::new()
            },
        }
    }
}

impl Fill for messages::offset_commit_request::OffsetCommitRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            group_id: random.string(),
            generation_id_or_member_epoch: random.int() as i32,
            member_id: random.string(),
            group_instance_id: if version >= 7 { random.option(|random| random.string()) } else { None },
            retention_time_ms: if version <= 4 { random.int() } else { -1 },
            topics: random.vec(|random| {
                messages::offset_commit_request::OffsetCommitRequestTopic::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::offset_commit_request::OffsetCommitRequestTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: if version <= 9 { random.string() } else { String::new() },
            topic_id: if version == 10 { Uuid(random.bytes()) } else { Uuid::ZERO },
            partitions: random.vec(|random| {
                messages::offset_commit_request::OffsetCommitRequestPartition::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::offset_commit_request::OffsetCommitRequestPartition {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            committed_offset: random.int(),
            committed_leader_epoch: if version >= 6 { random.int() as i32 } else { -1 },
            committed_metadata: random.option(|random| random.string()),
        }
    }
}

impl Fill for messages::offset_commit_response::OffsetCommitResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: if version >= 3 { random.int() as i32 } else { 0 },
            topics: random.vec(|random| {
                messages::offset_commit_response::OffsetCommitResponseTopic::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::offset_commit_response::OffsetCommitResponseTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: if version <= 9 { random.string() } else { String::new() },
            topic_id: if version == 10 { Uuid(random.bytes()) } else { Uuid::ZERO },
            partitions: random.vec(|random| {
                messages::offset_commit_response::OffsetCommitResponsePartition::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::offset_commit_response::OffsetCommitResponsePartition {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { partition_index: random.int() as i32, error_code: ErrorCode(random.int() as i16) }
    }
}

impl Fill for messages::offset_fetch_request::OffsetFetchRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            group_id: if version <= 7 { random.string() } else { String::new() },
            topics: if version <= 7 {
                if version >= 2 {
                    random.option(|random| {
                        random.vec(|random| {
                            messages::offset_fetch_request::OffsetFetchRequestTopic::fill(random, version)
                        })
                    })
                } else {
                    Some(random.vec(|random| {
                        messages::offset_fetch_request::OffsetFetchRequestTopic::fill(random, version)
                    }))
                }
            } else {
                Some(Vec::new())
            },
            groups: if version >= 8 {
                random.vec(|random| {
                    messages::offset_fetch_request::OffsetFetchRequestGroup::fill(random, version)
                })
            } else {
                Vec::new()
            },
            require_stable: if version >= 7 { random.bool() } else { false },
        }
    }
}

impl Fill for messages::offset_fetch_request::OffsetFetchRequestTopic {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { name: random.string(), partition_indexes: random.vec(|random| random.int() as i32) }
    }
}

impl Fill for messages::offset_fetch_request::OffsetFetchRequestGroup {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            group_id: random.string(),
            member_id: if version >= 9 { random.option(|random| random.string()) } else { None },
            member_epoch: if version >= 9 { random.int() as i32 } else { -1 },
            topics: random.option(|random| {
                random.vec(|random| {
                    messages::offset_fetch_request::OffsetFetchRequestTopics::fill(random, version)
                })
            }),
        }
    }
}

impl Fill for messages::offset_fetch_request::OffsetFetchRequestTopics {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: if version <= 9 { random.string() } else { String::new() },
            topic_id: if version == 10 { Uuid(random.bytes()) } else { Uuid::ZERO },
            partition_indexes: random.vec(|random| random.int() as i32),
        }
    }
}

impl Fill for messages::offset_fetch_response::OffsetFetchResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: if version >= 3 { random.int() as i32 } else { 0 },
            topics: if version <= 7 {
                random.vec(|random| {
                    messages::offset_fetch_response::OffsetFetchResponseTopic::fill(random, version)
                })
            } else {
                Vec::new()
            },
            error_code: if (2..=7).contains(&version) {
                ErrorCode(random.int() as i16)
            } else {
                ErrorCode::NONE
            },
            groups: if version >= 8 {
                random.vec(|random| {
                    messages::offset_fetch_response::OffsetFetchResponseGroup::fill(random, version)
                })
            } else {
                Vec::new()
            },
        }
    }
}

impl Fill for messages::offset_fetch_response::OffsetFetchResponseTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            partitions: random.vec(|random| {
                messages::offset_fetch_response::OffsetFetchResponsePartition::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::offset_fetch_response::OffsetFetchResponsePartition {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            committed_offset: random.int(),
            committed_leader_epoch: if version >= 5 { random.int() as i32 } else { -1 },
            metadata: random.option(|random| random.string()),
            error_code: ErrorCode(random.int() as i16),
        }
    }
}

impl Fill for messages::offset_fetch_response::OffsetFetchResponseGroup {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            group_id: random.string(),
            topics: random.vec(|random| {
                messages::offset_fetch_response::OffsetFetchResponseTopics::fill(random, version)
            }),
            error_code: ErrorCode(random.int() as i16),
        }
    }
}

impl Fill for messages::offset_fetch_response::OffsetFetchResponseTopics {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: if version <= 9 { random.string() } else { String::new() },
            topic_id: if version == 10 { Uuid(random.bytes()) } else { Uuid::ZERO },
            partitions: random.vec(|random| {
                messages::offset_fetch_response::OffsetFetchResponsePartitions::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::offset_fetch_response::OffsetFetchResponsePartitions {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            committed_offset: random.int(),
            committed_leader_epoch: random.int() as i32,
            metadata: random.option(|random| random.string()),
            error_code: ErrorCode(random.int() as i16),
        }
    }
}

impl Fill for messages::offset_for_leader_epoch_request::OffsetForLeaderEpochRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            replica_id: if version >= 3 { random.int() as i32 } else { -2 },
            topics: random.vec(|random| {
                messages::offset_for_leader_epoch_request::OffsetForLeaderTopic::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::offset_for_leader_epoch_request::OffsetForLeaderTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic: random.string(),
            partitions: random.vec(|random| {
                messages::offset_for_leader_epoch_request::OffsetForLeaderPartition::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::offset_for_leader_epoch_request::OffsetForLeaderPartition {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            partition: random.int() as i32,
            current_leader_epoch: random.int() as i32,
            leader_epoch: random.int() as i32,
        }
    }
}

impl Fill for messages::offset_for_leader_epoch_response::OffsetForLeaderEpochResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            topics: random.vec(|random| {
                messages::offset_for_leader_epoch_response::OffsetForLeaderTopicResult::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::offset_for_leader_epoch_response::OffsetForLeaderTopicResult {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic: random.string(),
            partitions: random.vec(|random| {
                messages::offset_for_leader_epoch_response::EpochEndOffset::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::offset_for_leader_epoch_response::EpochEndOffset {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            partition: random.int() as i32,
            leader_epoch: random.int() as i32,
            end_offset: random.int(),
        }
    }
}

impl Fill for messages::produce_request::ProduceRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            transactional_id: random.option(|random| random.string()),
            acks: random.int() as i16,
            timeout_ms: random.int() as i32,
            topic_data: random
                .vec(|random| messages::produce_request::TopicProduceData::fill(random, version)),
        }
    }
}

impl Fill for messages::produce_request::TopicProduceData {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: if version <= 12 { random.string() } else { String::new() },
            topic_id: if version == 13 { Uuid(random.bytes()) } else { Uuid::ZERO },
            partition_data: random
                .vec(|random| messages::produce_request::PartitionProduceData::fill(random, version)),
        }
    }
}

impl Fill for messages::produce_request::PartitionProduceData {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { index: random.int() as i32, records: random.option(|random| Bytes::from(random.payload())) }
    }
}

impl Fill for messages::produce_response::ProduceResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            responses: random
                .vec(|random| messages::produce_response::TopicProduceResponse::fill(random, version)),
            throttle_time_ms: random.int() as i32,
            node_endpoints: if version >= 10 {
                random.vec(|random| messages::produce_response::NodeEndpoint::fill(random, version))
            } else {
                Vec::new()
            },
        }
    }
}

impl Fill for messages::produce_response::TopicProduceResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: if version <= 12 { random.string() } else { String::new() },
            topic_id: if version == 13 { Uuid(random.bytes()) } else { Uuid::ZERO },
            partition_responses: random
                .vec(|random| messages::produce_response::PartitionProduceResponse::fill(random, version)),
        }
    }
}

impl Fill for messages::produce_response::PartitionProduceResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            index: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
            base_offset: random.int(),
            log_append_time_ms: random.int(),
            log_start_offset: if version >= 5 { random.int() } else { -1 },
            record_errors: if version >= 8 {
                random.vec(|random| {
                    messages::produce_response::BatchIndexAndErrorMessage::fill(random, version)
                })
            } else {
                Vec::new()
            },
            error_message: if version >= 8 { random.option(|random| random.string()) } else { None },
            current_leader: if version >= 10 {
                messages::produce_response::LeaderIdAndEpoch::fill(random, version)
            } else {
                messages::produce_response::LeaderIdAndEpoch::default()
            },
        }
    }
}

impl Fill for messages::produce_response::BatchIndexAndErrorMessage {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            batch_index: random.int() as i32,
            batch_index_error_message: random.option(|random| random.string()),
        }
    }
}

impl Fill for messages::produce_response::LeaderIdAndEpoch {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { leader_id: random.int() as i32, leader_epoch: random.int() as i32 }
    }
}

impl Fill for messages::produce_response::NodeEndpoint {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            node_id: random.int() as i32,
            host: random.string(),
            port: random.int() as i32,
            rack: random.option(|random| random.string()),
        }
    }
}

impl Fill for messages::request_header::RequestHeader {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            request_api_key: random.int() as i16,
            request_api_version: random.int() as i16,
            correlation_id: random.int() as i32,
            client_id: random.option(|random| random.string()),
        }
    }
}

impl Fill for messages::response_header::ResponseHeader {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { correlation_id: random.int() as i32 }
    }
}

impl Fill for messages::sasl_authenticate_request::SaslAuthenticateRequest {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { auth_bytes: Bytes::from(random.payload()) }
    }
}

impl Fill for messages::sasl_authenticate_response::SaslAuthenticateResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            error_message: random.option(|random| random.string()),
            auth_bytes: Bytes::from(random.payload()),
            session_lifetime_ms: if version >= 1 { random.int() } else { 0 },
        }
    }
}

impl Fill for messages::sasl_handshake_request::SaslHandshakeRequest {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { mechanism: random.string() }
    }
}

impl Fill for messages::sasl_handshake_response::SaslHandshakeResponse {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { error_code: ErrorCode(random.int() as i16), mechanisms: random.vec(|random| random.string()) }
    }
}

impl Fill for messages::stop_replica_request::StopReplicaRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            controller_id: random.int() as i32,
            is_kraft_controller: if version == 4 { random.bool() } else { false },
            controller_epoch: random.int() as i32,
            broker_epoch: if version >= 1 { random.int() } else { -1 },
            delete_partitions: if version <= 2 { random.bool() } else { false },
            ungrouped_partitions: if version == 0 {
                random.vec(|random| {
                    messages::stop_replica_request::StopReplicaPartitionV0::fill(random, version)
                })
            } else {
                Vec::new()
            },
            topics: if (1..=2).contains(&version) {
                random.vec(|random| messages::stop_replica_request::StopReplicaTopicV1::fill(random, version))
            } else {
                Vec::new()
            },
            topic_states: if version >= 3 {
                random.vec(|random| {
                    messages::stop_replica_request::StopReplicaTopicState::fill(random, version)
                })
            } else {
                Vec::new()
            },
            control_sequence: if version >= 2 { random.int() } else { -1 },
        }
    }
}

impl Fill for messages::stop_replica_request::StopReplicaPartitionV0 {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { topic_name: random.string(), partition_index: random.int() as i32 }
    }
}

impl Fill for messages::stop_replica_request::StopReplicaTopicV1 {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { name: random.string(), partition_indexes: random.vec(|random| random.int() as i32) }
    }
}

impl Fill for messages::stop_replica_request::StopReplicaTopicState {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic_name: random.string(),
            partition_states: random.vec(|random| {
                messages::stop_replica_request::StopReplicaPartitionState::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::stop_replica_request::StopReplicaPartitionState {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            leader_epoch: random.int() as i32,
            delete_partition: random.bool(),
        }
    }
}

impl Fill for messages::stop_replica_response::StopReplicaResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            error_code: ErrorCode(random.int() as i16),
            partition_errors: random.vec(|random| {
                messages::stop_replica_response::StopReplicaPartitionError::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::stop_replica_response::StopReplicaPartitionError {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self {
            topic_name: random.string(),
            partition_index: random.int() as i32,
            error_code: ErrorCode(random.int() as i16),
        }
    }
}

impl Fill for messages::sync_group_request::SyncGroupRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            group_id: random.string(),
            generation_id: random.int() as i32,
            member_id: random.string(),
            group_instance_id: if version >= 3 { random.option(|random| random.string()) } else { None },
            protocol_type: if version == 5 { random.option(|random| random.string()) } else { None },
            protocol_name: if version == 5 { random.option(|random| random.string()) } else { None },
            assignments: random.vec(|random| {
                messages::sync_group_request::SyncGroupRequestAssignment::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::sync_group_request::SyncGroupRequestAssignment {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { member_id: random.string(), assignment: Bytes::from(random.payload()) }
    }
}

impl Fill for messages::sync_group_response::SyncGroupResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: if version >= 1 { random.int() as i32 } else { 0 },
            error_code: ErrorCode(random.int() as i16),
            protocol_type: if version == 5 { random.option(|random| random.string()) } else { None },
            protocol_name: if version == 5 { random.option(|random| random.string()) } else { None },
            assignment: Bytes::from(random.payload()),
        }
    }
}

impl Fill for messages::txn_offset_commit_request::TxnOffsetCommitRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            transactional_id: random.string(),
            group_id: random.string(),
            producer_id: random.int(),
            producer_epoch: random.int() as i16,
            generation_id_or_member_epoch: if version >= 3 { random.int() as i32 } else { -1 },
            member_id: if version >= 3 { random.string() } else { String::new() },
            group_instance_id: if version >= 3 { random.option(|random| random.string()) } else { None },
            topics: random.vec(|random| {
                messages::txn_offset_commit_request::TxnOffsetCommitRequestTopic::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::txn_offset_commit_request::TxnOffsetCommitRequestTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: if version <= 5 { random.string() } else { String::new() },
            topic_id: if version == 6 { Uuid(random.bytes()) } else { Uuid::ZERO },
            partitions: random.vec(|random| {
                messages::txn_offset_commit_request::TxnOffsetCommitRequestPartition::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::txn_offset_commit_request::TxnOffsetCommitRequestPartition {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            partition_index: random.int() as i32,
            committed_offset: random.int(),
            committed_leader_epoch: if version >= 2 { random.int() as i32 } else { -1 },
            committed_metadata: random.option(|random| random.string()),
        }
    }
}

impl Fill for messages::txn_offset_commit_response::TxnOffsetCommitResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            throttle_time_ms: random.int() as i32,
            topics: random.vec(|random| {
                messages::txn_offset_commit_response::TxnOffsetCommitResponseTopic::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::txn_offset_commit_response::TxnOffsetCommitResponseTopic {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: if version <= 5 { random.string() } else { String::new() },
            topic_id: if version == 6 { Uuid(random.bytes()) } else { Uuid::ZERO },
            partitions: random.vec(|random| {
                messages::txn_offset_commit_response::TxnOffsetCommitResponsePartition::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::txn_offset_commit_response::TxnOffsetCommitResponsePartition {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { partition_index: random.int() as i32, error_code: ErrorCode(random.int() as i16) }
    }
}

impl Fill for messages::update_metadata_request::UpdateMetadataRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            controller_id: random.int() as i32,
            is_kraft_controller: if version == 8 { random.bool() } else { false },
            r#type: if version == 8 { random.int() as i8 } else { 0 },
            controller_epoch: random.int() as i32,
            broker_epoch: if version >= 5 { random.int() } else { -1 },
            ungrouped_partition_states: if version <= 4 {
                random.vec(|random| {
                    messages::update_metadata_request::UpdateMetadataPartitionState::fill(random, version)
                })
            } else {
                Vec::new()
            },
            topic_states: if version >= 5 {
                random.vec(|random| {
                    messages::update_metadata_request::UpdateMetadataTopicState::fill(random, version)
                })
            } else {
                Vec::new()
            },
            live_brokers: random
                .vec(|random| messages::update_metadata_request::UpdateMetadataBroker::fill(random, version)),
            control_sequence: if version >= 6 { random.int() } else { -1 },
        }
    }
}

impl Fill for messages::update_metadata_request::UpdateMetadataTopicState {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic_name: random.string(),
            topic_id: if version >= 7 { Uuid(random.bytes()) } else { Uuid::ZERO },
            partition_states: random.vec(|random| {
                messages::update_metadata_request::UpdateMetadataPartitionState::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::update_metadata_request::UpdateMetadataBroker {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            id: random.int() as i32,
            v0_host: if version == 0 { random.string() } else { String::new() },
            v0_port: if version == 0 { random.int() as i32 } else { 0 },
            endpoints: if version >= 1 {
                random.vec(|random| {
                    messages::update_metadata_request::UpdateMetadataEndpoint::fill(random, version)
                })
            } else {
                Vec::new()
            },
            rack: if version >= 2 { random.option(|random| random.string()) } else { Some(String::new()) },
        }
    }
}

impl Fill for messages::update_metadata_request::UpdateMetadataEndpoint {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            port: random.int() as i32,
            host: random.string(),
            listener: if version >= 3 { random.string() } else { String::new() },
            security_protocol: random.int() as i16,
        }
    }
}

impl Fill for messages::update_metadata_request::UpdateMetadataPartitionState {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            topic_name: if version <= 4 { random.string() } else { String::new() },
            partition_index: random.int() as i32,
            controller_epoch: random.int() as i32,
            leader: random.int() as i32,
            leader_epoch: random.int() as i32,
            isr: random.vec(|random| random.int() as i32),
            zk_version: random.int() as i32,
            replicas: random.vec(|random| random.int() as i32),
            offline_replicas: if version >= 4 {
                random.vec(|random| random.int() as i32)
            } else {
                Vec::new()
            },
        }
    }
}

impl Fill for messages::update_metadata_response::UpdateMetadataResponse {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { error_code: ErrorCode(random.int() as i16) }
    }
}

impl Fill for messages::write_txn_markers_request::WriteTxnMarkersRequest {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            markers: random
                .vec(|random| messages::write_txn_markers_request::WritableTxnMarker::fill(random, version)),
        }
    }
}

impl Fill for messages::write_txn_markers_request::WritableTxnMarker {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            producer_id: random.int(),
            producer_epoch: random.int() as i16,
            transaction_result: random.bool(),
            topics: random.vec(|random| {
                messages::write_txn_markers_request::WritableTxnMarkerTopic::fill(random, version)
            }),
            coordinator_epoch: random.int() as i32,
            transaction_version: if version == 2 { random.int() as i8 } else { 0 },
        }
    }
}

impl Fill for messages::write_txn_markers_request::WritableTxnMarkerTopic {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { name: random.string(), partition_indexes: random.vec(|random| random.int() as i32) }
    }
}

impl Fill for messages::write_txn_markers_response::WriteTxnMarkersResponse {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            markers: random.vec(|random| {
                messages::write_txn_markers_response::WritableTxnMarkerResult::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::write_txn_markers_response::WritableTxnMarkerResult {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            producer_id: random.int(),
            topics: random.vec(|random| {
                messages::write_txn_markers_response::WritableTxnMarkerTopicResult::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::write_txn_markers_response::WritableTxnMarkerTopicResult {
    fn fill(random: &mut Random, version: i16) -> Self {
        Self {
            name: random.string(),
            partitions: random.vec(|random| {
                messages::write_txn_markers_response::WritableTxnMarkerPartitionResult::fill(random, version)
            }),
        }
    }
}

impl Fill for messages::write_txn_markers_response::WritableTxnMarkerPartitionResult {
    fn fill(random: &mut Random, _version: i16) -> Self {
        Self { partition_index: random.int() as i32, error_code: ErrorCode(random.int() as i16) }
    }
}
