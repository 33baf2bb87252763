//! An error as the answer to a request, in the places where its API has errors.

use milena_protocol::messages::{
    alter_partition_reassignments_response as alter_reassignments, create_partitions_response as partitions,
    create_topics_response as create_topics, delete_groups_response as delete_groups,
    delete_records_response as delete_records, delete_topics_response as delete_topics,
    fetch_response as fetch, find_coordinator_response as coordinator, list_offsets_response as offsets,
    metadata_response as metadata, offset_commit_response as commit, offset_fetch_response as committed,
    offset_for_leader_epoch_response as epochs, produce_response as produce, *,
};
use milena_protocol::{ApiKey, ErrorCode, Request};

use super::make_answer::{MakeAnswer, make_answer};

/// The answer to any request of an API that says that it has failed; None for an API that cannot say so.
pub(super) fn error_answer(api: ApiKey, code: ErrorCode) -> Option<MakeAnswer> {
    for_the_whole(api, code).or_else(|| for_each_part(api, code)).or_else(|| for_each_name(api, code))
}

/// The APIs whose answers have one error.
fn for_the_whole(api: ApiKey, code: ErrorCode) -> Option<MakeAnswer> {
    macro_rules! whole {
        ($($request:ident => $response:ident),* $(,)?) => {
            match api {
                $(api if api == $request::API_KEY => Some(make_answer(move |_: &$request| {
                    let mut response = $response::default();
                    response.error_code = code;
                    response
                })),)*
                _ => None,
            }
        };
    }
    whole! {
        InitProducerIdRequest => InitProducerIdResponse,
        JoinGroupRequest => JoinGroupResponse,
        SyncGroupRequest => SyncGroupResponse,
        HeartbeatRequest => HeartbeatResponse,
        LeaveGroupRequest => LeaveGroupResponse,
        ListGroupsRequest => ListGroupsResponse,
        ApiVersionsRequest => ApiVersionsResponse,
        DescribeClusterRequest => DescribeClusterResponse,
        ElectLeadersRequest => ElectLeadersResponse,
        AlterPartitionRequest => AlterPartitionResponse,
        ListPartitionReassignmentsRequest => ListPartitionReassignmentsResponse,
        DescribeLogDirsRequest => DescribeLogDirsResponse,
        LeaderAndIsrRequest => LeaderAndIsrResponse,
        StopReplicaRequest => StopReplicaResponse,
        UpdateMetadataRequest => UpdateMetadataResponse,
        ControlledShutdownRequest => ControlledShutdownResponse,
    }
}

/// The APIs whose answers have an error for each partition.
fn for_each_part(api: ApiKey, code: ErrorCode) -> Option<MakeAnswer> {
    Some(match api {
        ApiKey::Produce => make_answer(move |request: &ProduceRequest| {
            let responses = request.topic_data.iter().map(|topic| produce::TopicProduceResponse {
                name: topic.name.clone(),
                topic_id: topic.topic_id,
                partition_responses: each(&topic.partition_data, |data| produce::PartitionProduceResponse {
                    index: data.index,
                    error_code: code,
                    base_offset: -1,
                    ..Default::default()
                }),
            });
            ProduceResponse { responses: responses.collect(), ..Default::default() }
        }),
        ApiKey::Fetch => make_answer(move |request: &FetchRequest| fetch_error(request, code)),
        ApiKey::ListOffsets => make_answer(move |request: &ListOffsetsRequest| {
            let topics = request.topics.iter().map(|topic| offsets::ListOffsetsTopicResponse {
                name: topic.name.clone(),
                partitions: each(&topic.partitions, |asked| offsets::ListOffsetsPartitionResponse {
                    partition_index: asked.partition_index,
                    error_code: code,
                    ..Default::default()
                }),
            });
            ListOffsetsResponse { topics: topics.collect(), ..Default::default() }
        }),
        ApiKey::OffsetForLeaderEpoch => make_answer(move |request: &OffsetForLeaderEpochRequest| {
            let topics = request.topics.iter().map(|topic| epochs::OffsetForLeaderTopicResult {
                topic: topic.topic.clone(),
                partitions: each(&topic.partitions, |asked| epochs::EpochEndOffset {
                    partition: asked.partition,
                    error_code: code,
                    ..Default::default()
                }),
            });
            OffsetForLeaderEpochResponse { topics: topics.collect(), ..Default::default() }
        }),
        ApiKey::OffsetCommit => make_answer(move |request: &OffsetCommitRequest| {
            let topics = request.topics.iter().map(|topic| commit::OffsetCommitResponseTopic {
                name: topic.name.clone(),
                topic_id: topic.topic_id,
                partitions: each(&topic.partitions, |asked| commit::OffsetCommitResponsePartition {
                    partition_index: asked.partition_index,
                    error_code: code,
                }),
            });
            OffsetCommitResponse { topics: topics.collect(), ..Default::default() }
        }),
        ApiKey::DeleteRecords => make_answer(move |request: &DeleteRecordsRequest| {
            let topics = request.topics.iter().map(|topic| delete_records::DeleteRecordsTopicResult {
                name: topic.name.clone(),
                partitions: each(&topic.partitions, |asked| delete_records::DeleteRecordsPartitionResult {
                    partition_index: asked.partition_index,
                    low_watermark: -1,
                    error_code: code,
                }),
            });
            DeleteRecordsResponse { topics: topics.collect(), ..Default::default() }
        }),
        ApiKey::AlterPartitionReassignments => make_answer(move |_: &AlterPartitionReassignmentsRequest| {
            let responses: Vec<alter_reassignments::ReassignableTopicResponse> = Vec::new();
            AlterPartitionReassignmentsResponse { error_code: code, responses, ..Default::default() }
        }),
        _ => return None,
    })
}

fn fetch_error(request: &FetchRequest, code: ErrorCode) -> FetchResponse {
    let responses: Vec<_> = each(&request.topics, |topic| fetch::FetchableTopicResponse {
        topic: topic.topic.clone(),
        topic_id: topic.topic_id,
        partitions: each(&topic.partitions, |asked| fetch::PartitionData {
            partition_index: asked.partition,
            error_code: code,
            high_watermark: -1,
            ..Default::default()
        }),
    });
    // Within a session a request may name nothing.
    let error_code = if responses.is_empty() { code } else { ErrorCode::NONE };
    FetchResponse { error_code, responses, ..Default::default() }
}

/// The APIs whose answers have an error for each topic or group.
fn for_each_name(api: ApiKey, code: ErrorCode) -> Option<MakeAnswer> {
    Some(match api {
        ApiKey::Metadata => make_answer(move |request: &MetadataRequest| {
            let topics = each(request.topics.as_deref().unwrap_or_default(), |topic| {
                metadata::MetadataResponseTopic {
                    error_code: code,
                    name: topic.name.clone(),
                    topic_id: topic.topic_id,
                    ..Default::default()
                }
            });
            MetadataResponse { topics, ..Default::default() }
        }),
        ApiKey::FindCoordinator => make_answer(move |request: &FindCoordinatorRequest| {
            if request.coordinator_keys.is_empty() {
                return FindCoordinatorResponse {
                    error_code: code,
                    node_id: -1,
                    port: -1,
                    ..Default::default()
                };
            }
            let coordinators = each(&request.coordinator_keys, |key| coordinator::Coordinator {
                key: key.clone(),
                node_id: -1,
                port: -1,
                error_code: code,
                ..Default::default()
            });
            FindCoordinatorResponse { coordinators, ..Default::default() }
        }),
        ApiKey::OffsetFetch => make_answer(move |request: &OffsetFetchRequest| {
            if request.groups.is_empty() {
                // The first versions have no error for the whole.
                let topics = request.topics.as_deref().unwrap_or_default();
                let topics = each(topics, |topic| committed::OffsetFetchResponseTopic {
                    name: topic.name.clone(),
                    partitions: each(&topic.partition_indexes, |index| {
                        committed::OffsetFetchResponsePartition {
                            partition_index: *index,
                            committed_offset: -1,
                            error_code: code,
                            ..Default::default()
                        }
                    }),
                });
                return OffsetFetchResponse { topics, error_code: code, ..Default::default() };
            }
            let groups = each(&request.groups, |group| committed::OffsetFetchResponseGroup {
                group_id: group.group_id.clone(),
                topics: Vec::new(),
                error_code: code,
            });
            OffsetFetchResponse { groups, ..Default::default() }
        }),
        ApiKey::CreateTopics => make_answer(move |request: &CreateTopicsRequest| {
            let topics = each(&request.topics, |topic| create_topics::CreatableTopicResult {
                name: topic.name.clone(),
                error_code: code,
                ..Default::default()
            });
            CreateTopicsResponse { topics, ..Default::default() }
        }),
        ApiKey::DeleteTopics => make_answer(move |request: &DeleteTopicsRequest| {
            let named = request.topic_names.iter().map(|name| (Some(name.clone()), Default::default()));
            let topics = request.topics.iter().map(|topic| (topic.name.clone(), topic.topic_id));
            let failed = named.chain(topics).map(|(name, topic_id)| delete_topics::DeletableTopicResult {
                name,
                topic_id,
                error_code: code,
                ..Default::default()
            });
            DeleteTopicsResponse { responses: failed.collect(), ..Default::default() }
        }),
        ApiKey::CreatePartitions => make_answer(move |request: &CreatePartitionsRequest| {
            let results = each(&request.topics, |topic| partitions::CreatePartitionsTopicResult {
                name: topic.name.clone(),
                error_code: code,
                ..Default::default()
            });
            CreatePartitionsResponse { results, ..Default::default() }
        }),
        ApiKey::DeleteGroups => make_answer(move |request: &DeleteGroupsRequest| {
            let results = each(&request.groups_names, |group| delete_groups::DeletableGroupResult {
                group_id: group.clone(),
                error_code: code,
                ..Default::default()
            });
            DeleteGroupsResponse { results, ..Default::default() }
        }),
        _ => return None,
    })
}

fn each<T, U>(asked: &[T], answer: impl Fn(&T) -> U) -> Vec<U> {
    asked.iter().map(answer).collect()
}

#[cfg(test)]
mod tests {
    use milena_protocol::{Decoder, Message, Uuid, encode_request};

    use super::super::make_answer::Call;
    use super::*;

    /// In all versions that can say what the request says; answers how many that are.
    fn check<R: Request>(request: &R) -> usize {
        check_from(0, request)
    }

    fn check_from<R: Request>(first: i16, request: &R) -> usize {
        let answer = error_answer(R::API_KEY, ErrorCode::UNKNOWN_SERVER_ERROR).unwrap();
        let versions = R::VERSIONS.intersect(R::Response::VERSIONS).unwrap();
        let mut checked = 0;
        for version in versions.min.max(first)..=versions.max {
            let Ok(frame) = encode_request(request, version, 1, None) else { continue };
            let mut decoder = Decoder::new(frame.to_bytes().slice(4..));
            milena_protocol::decode_request_head(&mut decoder).unwrap();
            let call = Call { version, correlation_id: 1 };
            let frame = answer(&mut decoder, call).unwrap().unwrap();
            let mut decoder = Decoder::new(frame.to_bytes().slice(4..));
            milena_protocol::decode_response_header(&mut decoder, R::API_KEY, version).unwrap();
            let response = R::Response::decode(&mut decoder, version).unwrap();
            assert!(format!("{response:?}").contains("UNKNOWN_SERVER_ERROR"), "{version}: {response:?}");
            checked += 1;
        }
        checked
    }

    #[test]
    fn every_version_of_an_answer_says_the_error() {
        assert!(check(&HeartbeatRequest::default()) > 2);
        assert!(check(&InitProducerIdRequest::default()) > 2);
        assert!(check(&LeaderAndIsrRequest::default()) > 2);
        for (name, id) in [("t", Uuid::ZERO), ("", Uuid([1; 16]))] {
            let (name, topic_id) = (name.to_owned(), id);
            let data = vec![PartitionProduceData::default()];
            let topic_data = vec![TopicProduceData { name: name.clone(), topic_id, partition_data: data }];
            assert!(check(&ProduceRequest { acks: -1, topic_data, ..Default::default() }) > 0);
            let partitions = vec![FetchPartition::default()];
            let topics = vec![FetchTopic { topic: name.clone(), topic_id, partitions }];
            assert!(check(&FetchRequest { topics, ..Default::default() }) > 0);
            let topics = Some(vec![MetadataRequestTopic { name: Some(name.clone()), topic_id }]);
            assert!(check(&MetadataRequest { topics, ..Default::default() }) > 0);
        }
        // Before there were sessions, a fetch that named nothing got nothing.
        assert!(check_from(7, &FetchRequest::default()) > 2);
        assert!(check(&FindCoordinatorRequest { key: "g".to_owned(), ..Default::default() }) > 2);
        let coordinator_keys = vec!["g".to_owned()];
        assert!(check(&FindCoordinatorRequest { coordinator_keys, ..Default::default() }) > 1);
        let topics = Some(vec![OffsetFetchRequestTopic { name: "t".to_owned(), partition_indexes: vec![0] }]);
        assert!(check(&OffsetFetchRequest { group_id: "g".to_owned(), topics, ..Default::default() }) > 2);
        let topics = vec![CreatableTopic { name: "t".to_owned(), ..Default::default() }];
        assert!(check(&CreateTopicsRequest { topics, ..Default::default() }) > 2);
    }
}
