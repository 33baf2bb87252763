//! The fetcher on its own, against answers made by hand.

use super::*;
use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::messages::fetch_response::{EpochEndOffset, PartitionData};
use milena_protocol::messages::list_offsets_response::{
    ListOffsetsPartitionResponse, ListOffsetsTopicResponse,
};
use milena_protocol::messages::{
    FetchRequest, FetchResponse, FetchableTopicResponse, ListOffsetsRequest, ListOffsetsResponse,
};
use milena_protocol::{ErrorCode, Uuid};
use milena_storage::TopicPartition;

const TOPIC: Uuid = Uuid([7; 16]);
const BACKOFF: Duration = Duration::from_millis(5);

/// Logs that remember what was done to them.
#[derive(Default)]
struct Logs {
    ends: BTreeMap<TopicPartition, LogEnd>,
    done: Vec<String>,
}

impl FollowerLogs for Logs {
    fn log_end(&mut self, partition: &FollowedPartition) -> Result<LogEnd, ErrorCode> {
        self.ends.get(&partition.name).copied().ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
    }

    fn append(&mut self, partition: &FollowedPartition, append: FollowerAppend) -> Result<(), ErrorCode> {
        let bytes = append.records.len();
        self.ends.get_mut(&partition.name).unwrap().end_offset += bytes as i64;
        self.done.push(format!(
            "{} epoch {}: {bytes} bytes, high watermark {}",
            partition.name, partition.leader_epoch, append.high_watermark
        ));
        Ok(())
    }

    fn truncate(&mut self, partition: &FollowedPartition, end: &EpochEndOffset) -> Result<(), ErrorCode> {
        self.done.push(format!(
            "{} epoch {}: {} ends at {}",
            partition.name, partition.leader_epoch, end.epoch, end.end_offset
        ));
        Ok(())
    }

    fn truncate_to(&mut self, partition: &FollowedPartition, offset: i64) -> Result<(), ErrorCode> {
        self.done.push(format!("{} epoch {}: cut at {offset}", partition.name, partition.leader_epoch));
        self.ends.get_mut(&partition.name).unwrap().end_offset = offset;
        Ok(())
    }

    fn restart_at(&mut self, partition: &FollowedPartition, offset: i64) -> Result<(), ErrorCode> {
        self.done.push(format!("{} epoch {}: anew at {offset}", partition.name, partition.leader_epoch));
        *self.ends.get_mut(&partition.name).unwrap() =
            LogEnd { start_offset: offset, end_offset: offset, ..LogEnd::default() };
        Ok(())
    }
}

fn name(partition: i32) -> TopicPartition {
    TopicPartition::new("t", partition)
}

fn following(partitions: i32) -> (ReplicaFetcher, Logs) {
    let mut fetcher = ReplicaFetcher::new(FetcherConfig::new(2, 40));
    let mut logs = Logs::default();
    for partition in 0..partitions {
        fetcher.add_partition(FollowedPartition { name: name(partition), topic_id: TOPIC, leader_epoch: 3 });
        let end = LogEnd { start_offset: 0, end_offset: 10, last_epoch: Some(2), high_watermark: 8 };
        logs.ends.insert(name(partition), end);
    }
    (fetcher, logs)
}

fn fetch(fetcher: &mut ReplicaFetcher, logs: &mut Logs, now: Duration) -> FetchRequest {
    match fetcher.poll_request(logs, now) {
        Some(FetcherRequest::Fetch(request)) => request,
        other => panic!("{other:?}"),
    }
}

fn list_offsets(fetcher: &mut ReplicaFetcher, logs: &mut Logs, now: Duration) -> ListOffsetsRequest {
    match fetcher.poll_request(logs, now) {
        Some(FetcherRequest::ListOffsets(request)) => request,
        other => panic!("{other:?}"),
    }
}

fn answer(partitions: Vec<PartitionData>) -> FetchResponse {
    let topic = FetchableTopicResponse { topic_id: TOPIC, partitions, ..Default::default() };
    FetchResponse { responses: vec![topic], ..Default::default() }
}

fn data(partition_index: i32, records: &'static [u8]) -> PartitionData {
    let records = Some(Bytes::from_static(records));
    PartitionData { partition_index, high_watermark: 9, log_start_offset: 0, records, ..Default::default() }
}

fn failed(partition_index: i32, error_code: ErrorCode) -> PartitionData {
    PartitionData { partition_index, error_code, ..Default::default() }
}

fn offset(partition_index: i32, offset: i64) -> ListOffsetsResponse {
    let partition = ListOffsetsPartitionResponse { partition_index, offset, ..Default::default() };
    let topic = ListOffsetsTopicResponse { name: "t".to_owned(), partitions: vec![partition] };
    ListOffsetsResponse { topics: vec![topic], ..Default::default() }
}

#[test]
fn replication_23_followers_fetch_with_their_id_epochs_and_the_end_of_their_logs() {
    let (mut fetcher, mut logs) = following(2);
    let request = fetch(&mut fetcher, &mut logs, Duration::ZERO);
    assert_eq!((request.replica_state.replica_id, request.replica_state.replica_epoch), (2, 40));
    assert_eq!((request.topics.len(), request.topics[0].topic_id), (1, TOPIC));
    let asked = &request.topics[0].partitions[0];
    assert_eq!((asked.partition, asked.current_leader_epoch), (0, 3));
    assert_eq!((asked.fetch_offset, asked.last_fetched_epoch, asked.high_watermark), (10, 2, 8));
    // One at a time.
    assert_eq!(fetcher.poll_request(&mut logs, Duration::ZERO), None);
    let response = answer(vec![data(0, b"abc"), data(1, b"")]);
    fetcher.handle_fetch_response(response, &mut logs, Duration::ZERO);
    assert_eq!(
        logs.done,
        ["t-0 epoch 3: 3 bytes, high watermark 9", "t-1 epoch 3: 0 bytes, high watermark 9"]
    );
    // Another one comes first the next time.
    let request = fetch(&mut fetcher, &mut logs, Duration::ZERO);
    let asked: Vec<_> =
        request.topics[0].partitions.iter().map(|asked| (asked.partition, asked.fetch_offset)).collect();
    assert_eq!(asked, [(1, 10), (0, 13)]);
}

#[test]
fn replication_28_a_diverging_epoch_truncates() {
    let (mut fetcher, mut logs) = following(1);
    fetch(&mut fetcher, &mut logs, Duration::ZERO);
    let diverging_epoch = EpochEndOffset { epoch: 1, end_offset: 6 };
    let response = answer(vec![PartitionData { diverging_epoch, ..data(0, b"") }]);
    fetcher.handle_fetch_response(response, &mut logs, Duration::ZERO);
    assert_eq!(logs.done, ["t-0 epoch 3: 1 ends at 6"]);
    assert!(fetcher.poll_request(&mut logs, Duration::ZERO).is_some());
}

#[test]
fn an_answer_for_another_epoch_or_another_log_end_changes_nothing() {
    let (mut fetcher, mut logs) = following(3);
    fetch(&mut fetcher, &mut logs, Duration::ZERO);
    fetcher.add_partition(FollowedPartition { name: name(0), topic_id: TOPIC, leader_epoch: 4 });
    logs.ends.get_mut(&name(1)).unwrap().end_offset = 5;
    fetcher.remove_partition(&name(2));
    let response = answer(vec![data(0, b"abc"), data(1, b"abc"), data(2, b"abc"), data(9, b"abc")]);
    fetcher.handle_fetch_response(response, &mut logs, Duration::ZERO);
    assert_eq!(logs.done, Vec::<String>::new());
    let request = fetch(&mut fetcher, &mut logs, Duration::ZERO);
    let epochs =
        request.topics[0].partitions.iter().map(|asked| (asked.partition, asked.current_leader_epoch));
    assert_eq!(epochs.collect::<BTreeMap<_, _>>(), BTreeMap::from([(0, 4), (1, 3)]));
}

#[test]
fn a_partition_that_fails_waits_and_the_others_go_on() {
    let (mut fetcher, mut logs) = following(2);
    fetch(&mut fetcher, &mut logs, Duration::ZERO);
    let response = answer(vec![failed(0, ErrorCode::UNKNOWN_LEADER_EPOCH), data(1, b"a")]);
    fetcher.handle_fetch_response(response, &mut logs, Duration::ZERO);
    let request = fetch(&mut fetcher, &mut logs, Duration::ZERO);
    assert_eq!(request.topics[0].partitions.iter().map(|asked| asked.partition).collect::<Vec<_>>(), [1]);
    // A connection that breaks delays what was asked for.
    fetcher.handle_disconnect(Duration::ZERO);
    assert_eq!(fetcher.poll_request(&mut logs, Duration::ZERO), None);
    assert_eq!(fetcher.next_timeout(), Some(BACKOFF));
    assert_eq!(fetch(&mut fetcher, &mut logs, BACKOFF).topics[0].partitions.len(), 2);
    // So does an error of the whole answer, and twice as long.
    let response = FetchResponse { error_code: ErrorCode::FETCH_SESSION_ID_NOT_FOUND, ..Default::default() };
    fetcher.handle_fetch_response(response, &mut logs, BACKOFF);
    assert_eq!(fetcher.next_timeout(), Some(BACKOFF * 3));
    let mut now = BACKOFF;
    for _ in 0..20 {
        now = fetcher.next_timeout().unwrap();
        fetch(&mut fetcher, &mut logs, now);
        fetcher.handle_disconnect(now);
    }
    assert_eq!(fetcher.next_timeout(), Some(now + Duration::from_secs(1)));
    // A success forgets the failures.
    now += Duration::from_secs(1);
    fetch(&mut fetcher, &mut logs, now);
    fetcher.handle_fetch_response(answer(vec![data(0, b""), data(1, b"")]), &mut logs, now);
    fetch(&mut fetcher, &mut logs, now);
    fetcher.handle_disconnect(now);
    assert_eq!(fetcher.next_timeout(), Some(now + BACKOFF));
}

#[test]
fn a_follower_behind_the_leaders_first_offset_starts_anew_there() {
    let (mut fetcher, mut logs) = following(1);
    fetch(&mut fetcher, &mut logs, Duration::ZERO);
    fetcher.handle_fetch_response(
        answer(vec![failed(0, ErrorCode::OFFSET_OUT_OF_RANGE)]),
        &mut logs,
        Duration::ZERO,
    );
    let request = list_offsets(&mut fetcher, &mut logs, Duration::ZERO);
    assert_eq!((request.replica_id, request.topics[0].partitions[0].timestamp), (2, -1));
    fetcher.handle_list_offsets_response(offset(0, 100), &mut logs, Duration::ZERO);
    let request = list_offsets(&mut fetcher, &mut logs, Duration::ZERO);
    assert_eq!(request.topics[0].partitions[0].timestamp, -2);
    fetcher.handle_list_offsets_response(offset(0, 60), &mut logs, Duration::ZERO);
    assert_eq!(logs.done, ["t-0 epoch 3: anew at 60"]);
    assert_eq!(fetch(&mut fetcher, &mut logs, Duration::ZERO).topics[0].partitions[0].fetch_offset, 60);
}

#[test]
fn a_follower_ahead_of_the_leaders_end_is_cut_there() {
    let (mut fetcher, mut logs) = following(1);
    fetch(&mut fetcher, &mut logs, Duration::ZERO);
    fetcher.handle_fetch_response(
        answer(vec![failed(0, ErrorCode::OFFSET_OUT_OF_RANGE)]),
        &mut logs,
        Duration::ZERO,
    );
    list_offsets(&mut fetcher, &mut logs, Duration::ZERO);
    fetcher.handle_list_offsets_response(offset(0, 4), &mut logs, Duration::ZERO);
    assert_eq!(logs.done, ["t-0 epoch 3: cut at 4"]);
    assert_eq!(fetch(&mut fetcher, &mut logs, Duration::ZERO).topics[0].partitions[0].fetch_offset, 4);
}
