//! Random messages against ourselves, and against the `kafka-protocol` crate in both directions.

use std::fmt::Debug;

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages as theirs;
use kafka_protocol::protocol::{Decodable, Encodable, Message as TheirMessage};
use milena_protocol::{Message, VersionRange, messages as ours};

use crate::fill::{Fill, Random};
use crate::{decode, encode};

const ROUNDS: u64 = 60;

fn round_trip<M: Message + Fill>() {
    for version in M::VERSIONS.min..=M::VERSIONS.max {
        for seed in 0..ROUNDS {
            let message = M::fill(&mut Random::new(seed), version);
            let bytes = encode(&message, version).unwrap_or_else(|error| panic!("{error}: {message:?}"));
            assert_eq!(decode::<M>(&bytes, version), message, "{} version {version}, seed {seed}", M::NAME);
        }
    }
}

/// Our bytes, read and written by them, are what we read back; and their bytes are ours.
fn agree<M, T>()
where
    M: Message + Fill,
    T: TheirMessage + Encodable + Decodable + Debug,
{
    let known = VersionRange::new(T::VERSIONS.min, T::VERSIONS.max);
    let common = M::VERSIONS.intersect(known).unwrap_or(VersionRange::EMPTY);
    assert!(!common.is_empty(), "{}: no version that both know", M::NAME);
    for version in common.min..=common.max {
        for seed in 0..ROUNDS {
            let message = M::fill(&mut Random::new(seed), version);
            let bytes = encode(&message, version).unwrap();
            let case = format!("{} version {version}, seed {seed}", M::NAME);
            let mut rest = bytes.clone();
            let theirs = T::decode(&mut rest, version)
                .unwrap_or_else(|error| panic!("{case}: they cannot read {message:?}: {error}"));
            assert!(rest.is_empty(), "{case}: they leave {} bytes of {message:?}", rest.len());
            let mut written = BytesMut::new();
            theirs
                .encode(&mut written, version)
                .unwrap_or_else(|error| panic!("{case}: {error}: {theirs:?}"));
            let written: Bytes = written.freeze();
            assert_eq!(decode::<M>(&written, version), message, "{case}");
            assert_eq!(written, bytes, "{case}: {message:?}");
        }
    }
}

#[test]
fn what_is_encoded_decodes_to_the_same() {
    macro_rules! check_all {
        ($(($module:ident $Message:ident))*) => { $(round_trip::<ours::$Message>();)* };
    }
    milena_protocol::for_each_message!(check_all);
}

#[test]
fn another_implementation_reads_and_writes_the_same_bytes() {
    macro_rules! check_all {
        ($($Message:ident)*) => { $(agree::<ours::$Message, theirs::$Message>();)* };
    }
    check_all! {
        AddOffsetsToTxnRequest AddOffsetsToTxnResponse AddPartitionsToTxnRequest AddPartitionsToTxnResponse
        AlterPartitionReassignmentsRequest AlterPartitionReassignmentsResponse AlterPartitionRequest
        AlterPartitionResponse ApiVersionsRequest ApiVersionsResponse ConsumerGroupDescribeRequest
        ConsumerGroupDescribeResponse ConsumerGroupHeartbeatRequest ConsumerGroupHeartbeatResponse
        ConsumerProtocolAssignment ConsumerProtocolSubscription CreatePartitionsRequest CreatePartitionsResponse
        CreateTopicsRequest CreateTopicsResponse DeleteGroupsRequest DeleteGroupsResponse DeleteRecordsRequest
        DeleteRecordsResponse DeleteTopicsRequest DeleteTopicsResponse DescribeClusterRequest
        DescribeClusterResponse DescribeConfigsRequest DescribeConfigsResponse DescribeGroupsRequest
        DescribeGroupsResponse DescribeLogDirsRequest DescribeLogDirsResponse DescribeProducersRequest
        DescribeProducersResponse DescribeTopicPartitionsRequest DescribeTopicPartitionsResponse
        ElectLeadersRequest ElectLeadersResponse EndTxnRequest EndTxnResponse FetchRequest FetchResponse
        FindCoordinatorRequest FindCoordinatorResponse HeartbeatRequest HeartbeatResponse
        IncrementalAlterConfigsRequest IncrementalAlterConfigsResponse InitProducerIdRequest
        InitProducerIdResponse JoinGroupRequest JoinGroupResponse LeaveGroupRequest LeaveGroupResponse
        ListGroupsRequest ListGroupsResponse ListOffsetsRequest ListOffsetsResponse
        ListPartitionReassignmentsRequest ListPartitionReassignmentsResponse MetadataRequest MetadataResponse
        OffsetCommitRequest OffsetCommitResponse OffsetFetchRequest OffsetFetchResponse
        OffsetForLeaderEpochRequest OffsetForLeaderEpochResponse ProduceRequest ProduceResponse RequestHeader
        ResponseHeader SaslAuthenticateRequest SaslAuthenticateResponse SaslHandshakeRequest
        SaslHandshakeResponse SyncGroupRequest SyncGroupResponse TxnOffsetCommitRequest TxnOffsetCommitResponse
        WriteTxnMarkersRequest WriteTxnMarkersResponse
    }
}
