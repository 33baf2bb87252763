// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::api_key::ApiFacts;
use crate::message::VersionRange;

/// The kinds of request that Kafka has, with their number on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i16)]
#[non_exhaustive]
pub enum ApiKey {
    /// Key 0, versions 3-13.
    Produce = 0,
    /// Key 1, versions 4-18.
    Fetch = 1,
    /// Key 2, versions 1-11.
    ListOffsets = 2,
    /// Key 3, versions 0-13.
    Metadata = 3,
    /// Key 4, versions 0-7.
    LeaderAndIsr = 4,
    /// Key 5, versions 0-4.
    StopReplica = 5,
    /// Key 6, versions 0-8.
    UpdateMetadata = 6,
    /// Key 7, versions 0-3.
    ControlledShutdown = 7,
    /// Key 8, versions 2-10.
    OffsetCommit = 8,
    /// Key 9, versions 1-10.
    OffsetFetch = 9,
    /// Key 10, versions 0-6.
    FindCoordinator = 10,
    /// Key 11, versions 0-9.
    JoinGroup = 11,
    /// Key 12, versions 0-4.
    Heartbeat = 12,
    /// Key 13, versions 0-5.
    LeaveGroup = 13,
    /// Key 14, versions 0-5.
    SyncGroup = 14,
    /// Key 15, versions 0-6.
    DescribeGroups = 15,
    /// Key 16, versions 0-5.
    ListGroups = 16,
    /// Key 17, versions 0-1.
    SaslHandshake = 17,
    /// Key 18, versions 0-5.
    ApiVersions = 18,
    /// Key 19, versions 2-7.
    CreateTopics = 19,
    /// Key 20, versions 1-6.
    DeleteTopics = 20,
    /// Key 21, versions 0-2.
    DeleteRecords = 21,
    /// Key 22, versions 0-6.
    InitProducerId = 22,
    /// Key 23, versions 2-4.
    OffsetForLeaderEpoch = 23,
    /// Key 24, versions 0-5.
    AddPartitionsToTxn = 24,
    /// Key 25, versions 0-4.
    AddOffsetsToTxn = 25,
    /// Key 26, versions 0-5.
    EndTxn = 26,
    /// Key 27, versions 1-2.
    WriteTxnMarkers = 27,
    /// Key 28, versions 0-6.
    TxnOffsetCommit = 28,
    /// Key 29, versions 1-3.
    DescribeAcls = 29,
    /// Key 30, versions 1-3.
    CreateAcls = 30,
    /// Key 31, versions 1-3.
    DeleteAcls = 31,
    /// Key 32, versions 1-4.
    DescribeConfigs = 32,
    /// Key 33, versions 0-2.
    AlterConfigs = 33,
    /// Key 34, versions 1-2.
    AlterReplicaLogDirs = 34,
    /// Key 35, versions 1-5.
    DescribeLogDirs = 35,
    /// Key 36, versions 0-2.
    SaslAuthenticate = 36,
    /// Key 37, versions 0-3.
    CreatePartitions = 37,
    /// Key 38, versions 1-3.
    CreateDelegationToken = 38,
    /// Key 39, versions 1-2.
    RenewDelegationToken = 39,
    /// Key 40, versions 1-2.
    ExpireDelegationToken = 40,
    /// Key 41, versions 1-3.
    DescribeDelegationToken = 41,
    /// Key 42, versions 0-3.
    DeleteGroups = 42,
    /// Key 43, versions 0-2.
    ElectLeaders = 43,
    /// Key 44, versions 0-1.
    IncrementalAlterConfigs = 44,
    /// Key 45, versions 0-1.
    AlterPartitionReassignments = 45,
    /// Key 46, versions 0.
    ListPartitionReassignments = 46,
    /// Key 47, versions 0.
    OffsetDelete = 47,
    /// Key 48, versions 0-1.
    DescribeClientQuotas = 48,
    /// Key 49, versions 0-1.
    AlterClientQuotas = 49,
    /// Key 50, versions 0.
    DescribeUserScramCredentials = 50,
    /// Key 51, versions 0.
    AlterUserScramCredentials = 51,
    /// Key 52, versions 0-2.
    Vote = 52,
    /// Key 53, versions 0-1.
    BeginQuorumEpoch = 53,
    /// Key 54, versions 0-1.
    EndQuorumEpoch = 54,
    /// Key 55, versions 0-2.
    DescribeQuorum = 55,
    /// Key 56, versions 2-3.
    AlterPartition = 56,
    /// Key 57, versions 0-2.
    UpdateFeatures = 57,
    /// Key 58, versions 0.
    Envelope = 58,
    /// Key 59, versions 0-1.
    FetchSnapshot = 59,
    /// Key 60, versions 0-2.
    DescribeCluster = 60,
    /// Key 61, versions 0.
    DescribeProducers = 61,
    /// Key 62, versions 0-4.
    BrokerRegistration = 62,
    /// Key 63, versions 0-2.
    BrokerHeartbeat = 63,
    /// Key 64, versions 0.
    UnregisterBroker = 64,
    /// Key 65, versions 0.
    DescribeTransactions = 65,
    /// Key 66, versions 0-2.
    ListTransactions = 66,
    /// Key 67, versions 0.
    AllocateProducerIds = 67,
    /// Key 68, versions 0-1.
    ConsumerGroupHeartbeat = 68,
    /// Key 69, versions 0-1.
    ConsumerGroupDescribe = 69,
    /// Key 70, versions 0.
    ControllerRegistration = 70,
    /// Key 71, versions 0.
    GetTelemetrySubscriptions = 71,
    /// Key 72, versions 0.
    PushTelemetry = 72,
    /// Key 73, versions 0.
    AssignReplicasToDirs = 73,
    /// Key 74, versions 0-1.
    ListConfigResources = 74,
    /// Key 75, versions 0.
    DescribeTopicPartitions = 75,
    /// Key 76, versions 1.
    ShareGroupHeartbeat = 76,
    /// Key 77, versions 1.
    ShareGroupDescribe = 77,
    /// Key 78, versions 1-2.
    ShareFetch = 78,
    /// Key 79, versions 1-2.
    ShareAcknowledge = 79,
    /// Key 80, versions 0-1.
    AddRaftVoter = 80,
    /// Key 81, versions 0.
    RemoveRaftVoter = 81,
    /// Key 82, versions 0.
    UpdateRaftVoter = 82,
    /// Key 83, versions 0.
    InitializeShareGroupState = 83,
    /// Key 84, versions 0.
    ReadShareGroupState = 84,
    /// Key 85, versions 0-1.
    WriteShareGroupState = 85,
    /// Key 86, versions 0.
    DeleteShareGroupState = 86,
    /// Key 87, versions 0-1.
    ReadShareGroupStateSummary = 87,
    /// Key 88, versions 0-1.
    StreamsGroupHeartbeat = 88,
    /// Key 89, versions 0-1.
    StreamsGroupDescribe = 89,
    /// Key 90, versions 0-1.
    DescribeShareGroupOffsets = 90,
    /// Key 91, versions 0.
    AlterShareGroupOffsets = 91,
    /// Key 92, versions 0.
    DeleteShareGroupOffsets = 92,
    /// Key 93, versions 0.
    StreamsGroupTopologyDescriptionUpdate = 93,
    /// Key 94, versions 0.
    UnregisterController = 94,
}

impl ApiKey {
    /// All of them, in the order of their numbers.
    pub const ALL: &[Self] = &[
        Self::Produce,
        Self::Fetch,
        Self::ListOffsets,
        Self::Metadata,
        Self::LeaderAndIsr,
        Self::StopReplica,
        Self::UpdateMetadata,
        Self::ControlledShutdown,
        Self::OffsetCommit,
        Self::OffsetFetch,
        Self::FindCoordinator,
        Self::JoinGroup,
        Self::Heartbeat,
        Self::LeaveGroup,
        Self::SyncGroup,
        Self::DescribeGroups,
        Self::ListGroups,
        Self::SaslHandshake,
        Self::ApiVersions,
        Self::CreateTopics,
        Self::DeleteTopics,
        Self::DeleteRecords,
        Self::InitProducerId,
        Self::OffsetForLeaderEpoch,
        Self::AddPartitionsToTxn,
        Self::AddOffsetsToTxn,
        Self::EndTxn,
        Self::WriteTxnMarkers,
        Self::TxnOffsetCommit,
        Self::DescribeAcls,
        Self::CreateAcls,
        Self::DeleteAcls,
        Self::DescribeConfigs,
        Self::AlterConfigs,
        Self::AlterReplicaLogDirs,
        Self::DescribeLogDirs,
        Self::SaslAuthenticate,
        Self::CreatePartitions,
        Self::CreateDelegationToken,
        Self::RenewDelegationToken,
        Self::ExpireDelegationToken,
        Self::DescribeDelegationToken,
        Self::DeleteGroups,
        Self::ElectLeaders,
        Self::IncrementalAlterConfigs,
        Self::AlterPartitionReassignments,
        Self::ListPartitionReassignments,
        Self::OffsetDelete,
        Self::DescribeClientQuotas,
        Self::AlterClientQuotas,
        Self::DescribeUserScramCredentials,
        Self::AlterUserScramCredentials,
        Self::Vote,
        Self::BeginQuorumEpoch,
        Self::EndQuorumEpoch,
        Self::DescribeQuorum,
        Self::AlterPartition,
        Self::UpdateFeatures,
        Self::Envelope,
        Self::FetchSnapshot,
        Self::DescribeCluster,
        Self::DescribeProducers,
        Self::BrokerRegistration,
        Self::BrokerHeartbeat,
        Self::UnregisterBroker,
        Self::DescribeTransactions,
        Self::ListTransactions,
        Self::AllocateProducerIds,
        Self::ConsumerGroupHeartbeat,
        Self::ConsumerGroupDescribe,
        Self::ControllerRegistration,
        Self::GetTelemetrySubscriptions,
        Self::PushTelemetry,
        Self::AssignReplicasToDirs,
        Self::ListConfigResources,
        Self::DescribeTopicPartitions,
        Self::ShareGroupHeartbeat,
        Self::ShareGroupDescribe,
        Self::ShareFetch,
        Self::ShareAcknowledge,
        Self::AddRaftVoter,
        Self::RemoveRaftVoter,
        Self::UpdateRaftVoter,
        Self::InitializeShareGroupState,
        Self::ReadShareGroupState,
        Self::WriteShareGroupState,
        Self::DeleteShareGroupState,
        Self::ReadShareGroupStateSummary,
        Self::StreamsGroupHeartbeat,
        Self::StreamsGroupDescribe,
        Self::DescribeShareGroupOffsets,
        Self::AlterShareGroupOffsets,
        Self::DeleteShareGroupOffsets,
        Self::StreamsGroupTopologyDescriptionUpdate,
        Self::UnregisterController,
    ];

    /// The API of this number, if Kafka has it.
    pub const fn from_i16(key: i16) -> Option<Self> {
        Some(match key {
            0 => Self::Produce,
            1 => Self::Fetch,
            2 => Self::ListOffsets,
            3 => Self::Metadata,
            4 => Self::LeaderAndIsr,
            5 => Self::StopReplica,
            6 => Self::UpdateMetadata,
            7 => Self::ControlledShutdown,
            8 => Self::OffsetCommit,
            9 => Self::OffsetFetch,
            10 => Self::FindCoordinator,
            11 => Self::JoinGroup,
            12 => Self::Heartbeat,
            13 => Self::LeaveGroup,
            14 => Self::SyncGroup,
            15 => Self::DescribeGroups,
            16 => Self::ListGroups,
            17 => Self::SaslHandshake,
            18 => Self::ApiVersions,
            19 => Self::CreateTopics,
            20 => Self::DeleteTopics,
            21 => Self::DeleteRecords,
            22 => Self::InitProducerId,
            23 => Self::OffsetForLeaderEpoch,
            24 => Self::AddPartitionsToTxn,
            25 => Self::AddOffsetsToTxn,
            26 => Self::EndTxn,
            27 => Self::WriteTxnMarkers,
            28 => Self::TxnOffsetCommit,
            29 => Self::DescribeAcls,
            30 => Self::CreateAcls,
            31 => Self::DeleteAcls,
            32 => Self::DescribeConfigs,
            33 => Self::AlterConfigs,
            34 => Self::AlterReplicaLogDirs,
            35 => Self::DescribeLogDirs,
            36 => Self::SaslAuthenticate,
            37 => Self::CreatePartitions,
            38 => Self::CreateDelegationToken,
            39 => Self::RenewDelegationToken,
            40 => Self::ExpireDelegationToken,
            41 => Self::DescribeDelegationToken,
            42 => Self::DeleteGroups,
            43 => Self::ElectLeaders,
            44 => Self::IncrementalAlterConfigs,
            45 => Self::AlterPartitionReassignments,
            46 => Self::ListPartitionReassignments,
            47 => Self::OffsetDelete,
            48 => Self::DescribeClientQuotas,
            49 => Self::AlterClientQuotas,
            50 => Self::DescribeUserScramCredentials,
            51 => Self::AlterUserScramCredentials,
            52 => Self::Vote,
            53 => Self::BeginQuorumEpoch,
            54 => Self::EndQuorumEpoch,
            55 => Self::DescribeQuorum,
            56 => Self::AlterPartition,
            57 => Self::UpdateFeatures,
            58 => Self::Envelope,
            59 => Self::FetchSnapshot,
            60 => Self::DescribeCluster,
            61 => Self::DescribeProducers,
            62 => Self::BrokerRegistration,
            63 => Self::BrokerHeartbeat,
            64 => Self::UnregisterBroker,
            65 => Self::DescribeTransactions,
            66 => Self::ListTransactions,
            67 => Self::AllocateProducerIds,
            68 => Self::ConsumerGroupHeartbeat,
            69 => Self::ConsumerGroupDescribe,
            70 => Self::ControllerRegistration,
            71 => Self::GetTelemetrySubscriptions,
            72 => Self::PushTelemetry,
            73 => Self::AssignReplicasToDirs,
            74 => Self::ListConfigResources,
            75 => Self::DescribeTopicPartitions,
            76 => Self::ShareGroupHeartbeat,
            77 => Self::ShareGroupDescribe,
            78 => Self::ShareFetch,
            79 => Self::ShareAcknowledge,
            80 => Self::AddRaftVoter,
            81 => Self::RemoveRaftVoter,
            82 => Self::UpdateRaftVoter,
            83 => Self::InitializeShareGroupState,
            84 => Self::ReadShareGroupState,
            85 => Self::WriteShareGroupState,
            86 => Self::DeleteShareGroupState,
            87 => Self::ReadShareGroupStateSummary,
            88 => Self::StreamsGroupHeartbeat,
            89 => Self::StreamsGroupDescribe,
            90 => Self::DescribeShareGroupOffsets,
            91 => Self::AlterShareGroupOffsets,
            92 => Self::DeleteShareGroupOffsets,
            93 => Self::StreamsGroupTopologyDescriptionUpdate,
            94 => Self::UnregisterController,
            _ => return None,
        })
    }

    pub(crate) const fn facts(self) -> ApiFacts {
        match self {
            Self::Produce => ApiFacts {
                name: "Produce",
                valid: VersionRange::new(3, 13),
                latest_unstable: false,
                flexible: Some(9),
            },
            Self::Fetch => ApiFacts {
                name: "Fetch",
                valid: VersionRange::new(4, 18),
                latest_unstable: false,
                flexible: Some(12),
            },
            Self::ListOffsets => ApiFacts {
                name: "ListOffsets",
                valid: VersionRange::new(1, 11),
                latest_unstable: false,
                flexible: Some(6),
            },
            Self::Metadata => ApiFacts {
                name: "Metadata",
                valid: VersionRange::new(0, 13),
                latest_unstable: false,
                flexible: Some(9),
            },
            Self::LeaderAndIsr => ApiFacts {
                name: "LeaderAndIsr",
                valid: VersionRange::new(0, 7),
                latest_unstable: false,
                flexible: Some(4),
            },
            Self::StopReplica => ApiFacts {
                name: "StopReplica",
                valid: VersionRange::new(0, 4),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::UpdateMetadata => ApiFacts {
                name: "UpdateMetadata",
                valid: VersionRange::new(0, 8),
                latest_unstable: false,
                flexible: Some(6),
            },
            Self::ControlledShutdown => ApiFacts {
                name: "ControlledShutdown",
                valid: VersionRange::new(0, 3),
                latest_unstable: false,
                flexible: Some(3),
            },
            Self::OffsetCommit => ApiFacts {
                name: "OffsetCommit",
                valid: VersionRange::new(2, 10),
                latest_unstable: false,
                flexible: Some(8),
            },
            Self::OffsetFetch => ApiFacts {
                name: "OffsetFetch",
                valid: VersionRange::new(1, 10),
                latest_unstable: false,
                flexible: Some(6),
            },
            Self::FindCoordinator => ApiFacts {
                name: "FindCoordinator",
                valid: VersionRange::new(0, 6),
                latest_unstable: false,
                flexible: Some(3),
            },
            Self::JoinGroup => ApiFacts {
                name: "JoinGroup",
                valid: VersionRange::new(0, 9),
                latest_unstable: false,
                flexible: Some(6),
            },
            Self::Heartbeat => ApiFacts {
                name: "Heartbeat",
                valid: VersionRange::new(0, 4),
                latest_unstable: false,
                flexible: Some(4),
            },
            Self::LeaveGroup => ApiFacts {
                name: "LeaveGroup",
                valid: VersionRange::new(0, 5),
                latest_unstable: false,
                flexible: Some(4),
            },
            Self::SyncGroup => ApiFacts {
                name: "SyncGroup",
                valid: VersionRange::new(0, 5),
                latest_unstable: false,
                flexible: Some(4),
            },
            Self::DescribeGroups => ApiFacts {
                name: "DescribeGroups",
                valid: VersionRange::new(0, 6),
                latest_unstable: false,
                flexible: Some(5),
            },
            Self::ListGroups => ApiFacts {
                name: "ListGroups",
                valid: VersionRange::new(0, 5),
                latest_unstable: false,
                flexible: Some(3),
            },
            Self::SaslHandshake => ApiFacts {
                name: "SaslHandshake",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: None,
            },
            Self::ApiVersions => ApiFacts {
                name: "ApiVersions",
                valid: VersionRange::new(0, 5),
                latest_unstable: false,
                flexible: Some(3),
            },
            Self::CreateTopics => ApiFacts {
                name: "CreateTopics",
                valid: VersionRange::new(2, 7),
                latest_unstable: false,
                flexible: Some(5),
            },
            Self::DeleteTopics => ApiFacts {
                name: "DeleteTopics",
                valid: VersionRange::new(1, 6),
                latest_unstable: false,
                flexible: Some(4),
            },
            Self::DeleteRecords => ApiFacts {
                name: "DeleteRecords",
                valid: VersionRange::new(0, 2),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::InitProducerId => ApiFacts {
                name: "InitProducerId",
                valid: VersionRange::new(0, 6),
                latest_unstable: true,
                flexible: Some(2),
            },
            Self::OffsetForLeaderEpoch => ApiFacts {
                name: "OffsetForLeaderEpoch",
                valid: VersionRange::new(2, 4),
                latest_unstable: false,
                flexible: Some(4),
            },
            Self::AddPartitionsToTxn => ApiFacts {
                name: "AddPartitionsToTxn",
                valid: VersionRange::new(0, 5),
                latest_unstable: false,
                flexible: Some(3),
            },
            Self::AddOffsetsToTxn => ApiFacts {
                name: "AddOffsetsToTxn",
                valid: VersionRange::new(0, 4),
                latest_unstable: false,
                flexible: Some(3),
            },
            Self::EndTxn => ApiFacts {
                name: "EndTxn",
                valid: VersionRange::new(0, 5),
                latest_unstable: false,
                flexible: Some(3),
            },
            Self::WriteTxnMarkers => ApiFacts {
                name: "WriteTxnMarkers",
                valid: VersionRange::new(1, 2),
                latest_unstable: false,
                flexible: Some(1),
            },
            Self::TxnOffsetCommit => ApiFacts {
                name: "TxnOffsetCommit",
                valid: VersionRange::new(0, 6),
                latest_unstable: false,
                flexible: Some(3),
            },
            Self::DescribeAcls => ApiFacts {
                name: "DescribeAcls",
                valid: VersionRange::new(1, 3),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::CreateAcls => ApiFacts {
                name: "CreateAcls",
                valid: VersionRange::new(1, 3),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::DeleteAcls => ApiFacts {
                name: "DeleteAcls",
                valid: VersionRange::new(1, 3),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::DescribeConfigs => ApiFacts {
                name: "DescribeConfigs",
                valid: VersionRange::new(1, 4),
                latest_unstable: false,
                flexible: Some(4),
            },
            Self::AlterConfigs => ApiFacts {
                name: "AlterConfigs",
                valid: VersionRange::new(0, 2),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::AlterReplicaLogDirs => ApiFacts {
                name: "AlterReplicaLogDirs",
                valid: VersionRange::new(1, 2),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::DescribeLogDirs => ApiFacts {
                name: "DescribeLogDirs",
                valid: VersionRange::new(1, 5),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::SaslAuthenticate => ApiFacts {
                name: "SaslAuthenticate",
                valid: VersionRange::new(0, 2),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::CreatePartitions => ApiFacts {
                name: "CreatePartitions",
                valid: VersionRange::new(0, 3),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::CreateDelegationToken => ApiFacts {
                name: "CreateDelegationToken",
                valid: VersionRange::new(1, 3),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::RenewDelegationToken => ApiFacts {
                name: "RenewDelegationToken",
                valid: VersionRange::new(1, 2),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::ExpireDelegationToken => ApiFacts {
                name: "ExpireDelegationToken",
                valid: VersionRange::new(1, 2),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::DescribeDelegationToken => ApiFacts {
                name: "DescribeDelegationToken",
                valid: VersionRange::new(1, 3),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::DeleteGroups => ApiFacts {
                name: "DeleteGroups",
                valid: VersionRange::new(0, 3),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::ElectLeaders => ApiFacts {
                name: "ElectLeaders",
                valid: VersionRange::new(0, 2),
                latest_unstable: false,
                flexible: Some(2),
            },
            Self::IncrementalAlterConfigs => ApiFacts {
                name: "IncrementalAlterConfigs",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(1),
            },
            Self::AlterPartitionReassignments => ApiFacts {
                name: "AlterPartitionReassignments",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::ListPartitionReassignments => ApiFacts {
                name: "ListPartitionReassignments",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::OffsetDelete => ApiFacts {
                name: "OffsetDelete",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: None,
            },
            Self::DescribeClientQuotas => ApiFacts {
                name: "DescribeClientQuotas",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(1),
            },
            Self::AlterClientQuotas => ApiFacts {
                name: "AlterClientQuotas",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(1),
            },
            Self::DescribeUserScramCredentials => ApiFacts {
                name: "DescribeUserScramCredentials",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::AlterUserScramCredentials => ApiFacts {
                name: "AlterUserScramCredentials",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::Vote => ApiFacts {
                name: "Vote",
                valid: VersionRange::new(0, 2),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::BeginQuorumEpoch => ApiFacts {
                name: "BeginQuorumEpoch",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(1),
            },
            Self::EndQuorumEpoch => ApiFacts {
                name: "EndQuorumEpoch",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(1),
            },
            Self::DescribeQuorum => ApiFacts {
                name: "DescribeQuorum",
                valid: VersionRange::new(0, 2),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::AlterPartition => ApiFacts {
                name: "AlterPartition",
                valid: VersionRange::new(2, 3),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::UpdateFeatures => ApiFacts {
                name: "UpdateFeatures",
                valid: VersionRange::new(0, 2),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::Envelope => ApiFacts {
                name: "Envelope",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::FetchSnapshot => ApiFacts {
                name: "FetchSnapshot",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::DescribeCluster => ApiFacts {
                name: "DescribeCluster",
                valid: VersionRange::new(0, 2),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::DescribeProducers => ApiFacts {
                name: "DescribeProducers",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::BrokerRegistration => ApiFacts {
                name: "BrokerRegistration",
                valid: VersionRange::new(0, 4),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::BrokerHeartbeat => ApiFacts {
                name: "BrokerHeartbeat",
                valid: VersionRange::new(0, 2),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::UnregisterBroker => ApiFacts {
                name: "UnregisterBroker",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::DescribeTransactions => ApiFacts {
                name: "DescribeTransactions",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::ListTransactions => ApiFacts {
                name: "ListTransactions",
                valid: VersionRange::new(0, 2),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::AllocateProducerIds => ApiFacts {
                name: "AllocateProducerIds",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::ConsumerGroupHeartbeat => ApiFacts {
                name: "ConsumerGroupHeartbeat",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::ConsumerGroupDescribe => ApiFacts {
                name: "ConsumerGroupDescribe",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::ControllerRegistration => ApiFacts {
                name: "ControllerRegistration",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::GetTelemetrySubscriptions => ApiFacts {
                name: "GetTelemetrySubscriptions",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::PushTelemetry => ApiFacts {
                name: "PushTelemetry",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::AssignReplicasToDirs => ApiFacts {
                name: "AssignReplicasToDirs",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::ListConfigResources => ApiFacts {
                name: "ListConfigResources",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::DescribeTopicPartitions => ApiFacts {
                name: "DescribeTopicPartitions",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::ShareGroupHeartbeat => ApiFacts {
                name: "ShareGroupHeartbeat",
                valid: VersionRange::new(1, 1),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::ShareGroupDescribe => ApiFacts {
                name: "ShareGroupDescribe",
                valid: VersionRange::new(1, 1),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::ShareFetch => ApiFacts {
                name: "ShareFetch",
                valid: VersionRange::new(1, 2),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::ShareAcknowledge => ApiFacts {
                name: "ShareAcknowledge",
                valid: VersionRange::new(1, 2),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::AddRaftVoter => ApiFacts {
                name: "AddRaftVoter",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::RemoveRaftVoter => ApiFacts {
                name: "RemoveRaftVoter",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::UpdateRaftVoter => ApiFacts {
                name: "UpdateRaftVoter",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::InitializeShareGroupState => ApiFacts {
                name: "InitializeShareGroupState",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::ReadShareGroupState => ApiFacts {
                name: "ReadShareGroupState",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::WriteShareGroupState => ApiFacts {
                name: "WriteShareGroupState",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::DeleteShareGroupState => ApiFacts {
                name: "DeleteShareGroupState",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::ReadShareGroupStateSummary => ApiFacts {
                name: "ReadShareGroupStateSummary",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::StreamsGroupHeartbeat => ApiFacts {
                name: "StreamsGroupHeartbeat",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::StreamsGroupDescribe => ApiFacts {
                name: "StreamsGroupDescribe",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::DescribeShareGroupOffsets => ApiFacts {
                name: "DescribeShareGroupOffsets",
                valid: VersionRange::new(0, 1),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::AlterShareGroupOffsets => ApiFacts {
                name: "AlterShareGroupOffsets",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::DeleteShareGroupOffsets => ApiFacts {
                name: "DeleteShareGroupOffsets",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::StreamsGroupTopologyDescriptionUpdate => ApiFacts {
                name: "StreamsGroupTopologyDescriptionUpdate",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
            Self::UnregisterController => ApiFacts {
                name: "UnregisterController",
                valid: VersionRange::new(0, 0),
                latest_unstable: false,
                flexible: Some(0),
            },
        }
    }
}
