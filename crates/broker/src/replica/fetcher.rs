//! [`ReplicaFetcher`]: what one follower asks one leader for, and what it does with the answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::messages::fetch_request::ReplicaState;
use milena_protocol::messages::fetch_response::{EpochEndOffset, PartitionData};
use milena_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use milena_protocol::messages::{
    FetchPartition, FetchRequest, FetchResponse, FetchTopic, ListOffsetsRequest, ListOffsetsResponse,
};
use milena_protocol::{ErrorCode, Uuid};
use milena_storage::{LeaderEpochFileCache, TopicPartition};

/// ListOffsets: the first offset that there is.
const EARLIEST_TIMESTAMP: i64 = -2;
/// ListOffsets: the end of the log, since a replica asks.
const LATEST_TIMESTAMP: i64 = -1;
/// The session epoch of a fetch that has no session (KIP-227).
const NO_SESSION: i32 = -1;

/// How a broker fetches from another one. Defaults are Kafka's.
#[derive(Debug, Clone)]
pub struct FetcherConfig {
    /// The follower's id.
    pub node_id: i32,
    /// The follower's broker epoch.
    pub broker_epoch: i64,
    /// `replica.fetch.wait.max.ms`.
    pub max_wait: Duration,
    /// `replica.fetch.min.bytes`.
    pub min_bytes: i32,
    /// `replica.fetch.response.max.bytes`.
    pub max_bytes: i32,
    /// `replica.fetch.max.bytes`, for each partition.
    pub partition_max_bytes: i32,
    /// How long a partition is left alone after a failure; twice as long after each one more.
    pub backoff: Duration,
    /// The most that it is left alone (`replica.fetch.backoff.ms`).
    pub backoff_max: Duration,
}

impl FetcherConfig {
    /// Kafka's defaults, except that the backoff begins short: a follower often hears of its role before the leader does.
    #[must_use]
    pub fn new(node_id: i32, broker_epoch: i64) -> Self {
        Self {
            node_id,
            broker_epoch,
            max_wait: Duration::from_millis(500),
            min_bytes: 1,
            max_bytes: 10 * 1024 * 1024,
            partition_max_bytes: 1024 * 1024,
            backoff: Duration::from_millis(5),
            backoff_max: Duration::from_secs(1),
        }
    }
}

/// A partition to follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowedPartition {
    /// Its name.
    pub name: TopicPartition,
    /// Its topic's id.
    pub topic_id: Uuid,
    /// The leader's epoch as the follower knows it.
    pub leader_epoch: i32,
}

/// The end of a follower's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogEnd {
    /// Offset of its first record.
    pub start_offset: i64,
    /// Offset after its last record.
    pub end_offset: i64,
    /// The leader epoch of its last record; None without records.
    pub last_epoch: Option<i32>,
    /// Its high watermark.
    pub high_watermark: i64,
}

/// What a follower appends.
#[derive(Debug, Clone)]
pub struct FollowerAppend {
    /// Whole batches, the last of which may be cut off; maybe none.
    pub records: Bytes,
    /// The leader's.
    pub high_watermark: i64,
    /// Where the leader's log starts: what lies before it may go.
    pub log_start_offset: i64,
}

/// The logs of the partitions that a [`ReplicaFetcher`] follows. Each change is made for a leader epoch and must be refused
/// with FENCED_LEADER_EPOCH once the partition has a newer one, under the lock that guards its role; and it is made for a
/// topic id and must be refused once the partition is one of another topic with the same name, whatever its epoch.
pub trait FollowerLogs {
    /// The log's end.
    ///
    /// # Errors
    /// When the partition is not here.
    fn log_end(&mut self, partition: &FollowedPartition) -> Result<LogEnd, ErrorCode>;

    /// Appends, and takes over the leader's high watermark as far as the log goes.
    ///
    /// # Errors
    /// When it is not appended.
    fn append(&mut self, partition: &FollowedPartition, append: FollowerAppend) -> Result<(), ErrorCode>;

    /// Cuts off what differs from a leader whose last epoch at or below the log's last one ends as `leader_end` says: see
    /// [`truncation_offset`].
    ///
    /// # Errors
    /// When it is not cut.
    fn truncate(
        &mut self,
        partition: &FollowedPartition,
        leader_end: &EpochEndOffset,
    ) -> Result<(), ErrorCode>;

    /// Cuts everything at or after `offset` off.
    ///
    /// # Errors
    /// When it is not cut.
    fn truncate_to(&mut self, partition: &FollowedPartition, offset: i64) -> Result<(), ErrorCode>;

    /// Forgets everything and starts anew at `offset`.
    ///
    /// # Errors
    /// When it is not done.
    fn restart_at(&mut self, partition: &FollowedPartition, offset: i64) -> Result<(), ErrorCode>;
}

/// Where the leader epoch of a reader's last record ends in a log, if the reader has records that the log does not: what
/// the leader answers a fetch with (KIP-595's diverging epoch).
#[must_use]
pub fn divergence(
    epochs: &LeaderEpochFileCache,
    log_end_offset: i64,
    last_fetched_epoch: i32,
    fetch_offset: i64,
) -> Option<EpochEndOffset> {
    let (epoch, end_offset) = epochs.end_offset_for(last_fetched_epoch, log_end_offset)?;
    (epoch < last_fetched_epoch || end_offset < fetch_offset).then_some(EpochEndOffset { epoch, end_offset })
}

/// Where a follower has to cut its log, given where the leader's last epoch at or below its own last one ends
/// (`AbstractFetcherThread.getOffsetTruncationState`). Epochs alone decide, not the high watermark.
#[must_use]
pub fn truncation_offset(
    epochs: &LeaderEpochFileCache,
    log_end_offset: i64,
    leader_end: &EpochEndOffset,
) -> i64 {
    let cut = match epochs.end_offset_for(leader_end.epoch, log_end_offset) {
        // Not one record of ours is from an epoch that the leader knows up to there.
        None => leader_end.end_offset,
        Some((epoch, end)) if epoch == leader_end.epoch => end.min(leader_end.end_offset),
        // The leader's epoch is one that we have nothing of: cut what is above it, and the next fetch compares an older one.
        Some((_, end)) => end,
    };
    cut.min(log_end_offset)
}

/// A request of a [`ReplicaFetcher`].
#[derive(Debug, Clone, PartialEq)]
pub enum FetcherRequest {
    /// Records.
    Fetch(FetchRequest),
    /// Where the leader's logs start and end, for a follower that is out of range.
    ListOffsets(ListOffsetsRequest),
}

/// The fetches of one follower from one leader: one request at a time, each partition on its own (Kafka:
/// `ReplicaFetcherThread`).
///
/// [`poll_request`](Self::poll_request) says what to send; then one of the `handle_*` is due, and until then nothing else
/// is sent.
#[derive(Debug)]
pub struct ReplicaFetcher {
    config: FetcherConfig,
    partitions: BTreeMap<TopicPartition, FetchState>,
    names: BTreeMap<Uuid, Arc<str>>,
    in_flight: Option<Kind>,
    /// The partition that comes first in the next request, so that none starves behind others that fill the answers.
    turn: usize,
}

#[derive(Debug)]
struct FetchState {
    followed: FollowedPartition,
    phase: Phase,
    /// Not to be asked for before.
    delayed_until: Duration,
    /// Failures since the last success.
    failures: u32,
    /// Where the log ended when the request that is in flight asked for the partition, if it did.
    asked_at: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Fetching,
    /// The leader does not have our next offset. Its end is asked for, and when we are not ahead of that, its start.
    OutOfRange {
        timestamp: i64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fetch,
    ListOffsets,
}

impl ReplicaFetcher {
    /// A fetcher without partitions.
    #[must_use]
    pub fn new(config: FetcherConfig) -> Self {
        Self { config, partitions: BTreeMap::new(), names: BTreeMap::new(), in_flight: None, turn: 0 }
    }

    /// This broker has registered anew.
    pub fn set_broker_epoch(&mut self, broker_epoch: i64) {
        self.config.broker_epoch = broker_epoch;
    }

    /// Follows a partition, from the end of its log; one that is followed already goes on in its new epoch.
    pub fn add_partition(&mut self, partition: FollowedPartition) {
        self.names.insert(partition.topic_id, partition.name.topic.as_str().into());
        let name = partition.name.clone();
        let state = FetchState {
            followed: partition,
            phase: Phase::Fetching,
            delayed_until: Duration::ZERO,
            failures: 0,
            asked_at: None,
        };
        self.partitions.insert(name, state);
    }

    /// Follows a partition no more. What is in flight for it changes nothing.
    pub fn remove_partition(&mut self, name: &TopicPartition) {
        let Some(removed) = self.partitions.remove(name) else { return };
        if !self.partitions.values().any(|state| state.followed.topic_id == removed.followed.topic_id) {
            self.names.remove(&removed.followed.topic_id);
        }
    }

    /// Whether there is nothing to follow.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.partitions.is_empty()
    }

    /// The partitions that are followed.
    pub fn partitions(&self) -> impl Iterator<Item = &TopicPartition> {
        self.partitions.keys()
    }

    /// The next request, if none is in flight and a partition is due.
    pub fn poll_request(&mut self, logs: &mut impl FollowerLogs, now: Duration) -> Option<FetcherRequest> {
        if self.in_flight.is_some() {
            return None;
        }
        self.list_offsets(logs, now).or_else(|| self.fetch(logs, now))
    }

    /// When a partition that is delayed is due, if none is due now.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Duration> {
        if self.in_flight.is_some() {
            return None;
        }
        self.partitions.values().map(|state| state.delayed_until).min()
    }

    /// The leader has answered a fetch.
    pub fn handle_fetch_response(
        &mut self,
        response: FetchResponse,
        logs: &mut impl FollowerLogs,
        now: Duration,
    ) {
        if self.in_flight.take() != Some(Kind::Fetch) || !response.error_code.is_ok() {
            return self.back_off_all(now);
        }
        for topic in response.responses {
            let Some(name) = self.names.get(&topic.topic_id).cloned() else { continue };
            for data in topic.partitions {
                let partition = TopicPartition::new(&*name, data.partition_index);
                if let Some((state, end_offset)) = asked(&mut self.partitions, &partition) {
                    let result = state.handle_fetched(end_offset, data, logs);
                    state.done(result, &self.config, now);
                }
            }
        }
    }

    /// The leader has answered a ListOffsets request.
    pub fn handle_list_offsets_response(
        &mut self,
        response: ListOffsetsResponse,
        logs: &mut impl FollowerLogs,
        now: Duration,
    ) {
        if self.in_flight.take() != Some(Kind::ListOffsets) {
            return self.back_off_all(now);
        }
        for topic in response.topics {
            for data in topic.partitions {
                let partition = TopicPartition::new(&*topic.name, data.partition_index);
                if let Some((state, end_offset)) = asked(&mut self.partitions, &partition) {
                    let result = match data.error_code {
                        ErrorCode::NONE => state.handle_offset(end_offset, data.offset, logs),
                        code => Err(code),
                    };
                    state.done(result, &self.config, now);
                }
            }
        }
    }

    /// The request was lost, or will not be answered.
    pub fn handle_disconnect(&mut self, now: Duration) {
        self.in_flight = None;
        self.back_off_all(now);
    }

    /// The request is given up for another one.
    pub fn handle_cancelled(&mut self) {
        self.in_flight = None;
        for state in self.partitions.values_mut() {
            state.asked_at = None;
        }
    }

    fn fetch(&mut self, logs: &mut impl FollowerLogs, now: Duration) -> Option<FetcherRequest> {
        let mut topics: Vec<FetchTopic> = Vec::new();
        for (name, state) in in_turn(&mut self.partitions, self.turn) {
            if state.phase != Phase::Fetching {
                continue;
            }
            let Some(end) = state.ask(logs, &self.config, now) else { continue };
            let partition = FetchPartition {
                partition: name.partition,
                current_leader_epoch: state.followed.leader_epoch,
                fetch_offset: end.end_offset,
                last_fetched_epoch: end.last_epoch.unwrap_or(-1),
                log_start_offset: end.start_offset,
                partition_max_bytes: self.config.partition_max_bytes,
                high_watermark: end.high_watermark,
                ..Default::default()
            };
            match topics.last_mut().filter(|topic| topic.topic_id == state.followed.topic_id) {
                Some(topic) => topic.partitions.push(partition),
                // By id alone: the versions that know high watermarks and broker epochs have no names.
                None => topics.push(FetchTopic {
                    topic_id: state.followed.topic_id,
                    partitions: vec![partition],
                    ..Default::default()
                }),
            }
        }
        if topics.is_empty() {
            return None;
        }
        self.turn = self.turn.wrapping_add(1);
        self.in_flight = Some(Kind::Fetch);
        Some(FetcherRequest::Fetch(FetchRequest {
            replica_state: ReplicaState {
                replica_id: self.config.node_id,
                replica_epoch: self.config.broker_epoch,
            },
            max_wait_ms: i32::try_from(self.config.max_wait.as_millis()).unwrap_or(i32::MAX),
            min_bytes: self.config.min_bytes,
            max_bytes: self.config.max_bytes,
            session_epoch: NO_SESSION,
            topics,
            ..Default::default()
        }))
    }

    fn list_offsets(&mut self, logs: &mut impl FollowerLogs, now: Duration) -> Option<FetcherRequest> {
        let mut topics: Vec<ListOffsetsTopic> = Vec::new();
        for (name, state) in &mut self.partitions {
            let Phase::OutOfRange { timestamp } = state.phase else { continue };
            if state.ask(logs, &self.config, now).is_none() {
                continue;
            }
            let partition = ListOffsetsPartition {
                partition_index: name.partition,
                current_leader_epoch: state.followed.leader_epoch,
                timestamp,
            };
            match topics.last_mut().filter(|topic| topic.name == name.topic) {
                Some(topic) => topic.partitions.push(partition),
                None => {
                    topics.push(ListOffsetsTopic { name: name.topic.clone(), partitions: vec![partition] });
                }
            }
        }
        if topics.is_empty() {
            return None;
        }
        self.in_flight = Some(Kind::ListOffsets);
        let replica_id = self.config.node_id;
        Some(FetcherRequest::ListOffsets(ListOffsetsRequest { replica_id, topics, ..Default::default() }))
    }

    /// Leaves alone for a while what was asked for in vain.
    fn back_off_all(&mut self, now: Duration) {
        for state in self.partitions.values_mut() {
            if state.asked_at.take().is_some() {
                state.back_off(&self.config, now);
            }
        }
    }
}

/// All partitions, another one first in each turn.
fn in_turn(
    partitions: &mut BTreeMap<TopicPartition, FetchState>,
    turn: usize,
) -> impl Iterator<Item = (&TopicPartition, &mut FetchState)> {
    let first = turn.checked_rem(partitions.len()).unwrap_or(0);
    let mut all: Vec<_> = partitions.iter_mut().collect();
    all.rotate_left(first);
    all.into_iter()
}

/// The partition, if the request that is answered asked for it, and where its log ended then.
fn asked<'a>(
    partitions: &'a mut BTreeMap<TopicPartition, FetchState>,
    name: &TopicPartition,
) -> Option<(&'a mut FetchState, i64)> {
    let state = partitions.get_mut(name)?;
    let end_offset = state.asked_at.take()?;
    Some((state, end_offset))
}

impl FetchState {
    /// The end of the partition's log, if it is due to be asked for.
    fn ask(&mut self, logs: &mut impl FollowerLogs, config: &FetcherConfig, now: Duration) -> Option<LogEnd> {
        if self.delayed_until > now {
            return None;
        }
        match logs.log_end(&self.followed) {
            Ok(end) => {
                self.asked_at = Some(end.end_offset);
                Some(end)
            }
            Err(code) => {
                self.done(Err(code), config, now);
                None
            }
        }
    }

    fn handle_fetched(
        &mut self,
        asked_at: i64,
        data: PartitionData,
        logs: &mut impl FollowerLogs,
    ) -> Result<(), ErrorCode> {
        // An answer about a log that has changed since says nothing.
        if logs.log_end(&self.followed)?.end_offset != asked_at {
            return Ok(());
        }
        match data.error_code {
            ErrorCode::NONE if data.diverging_epoch.end_offset >= 0 => {
                logs.truncate(&self.followed, &data.diverging_epoch)
            }
            ErrorCode::NONE => {
                let append = FollowerAppend {
                    records: data.records.unwrap_or_default(),
                    high_watermark: data.high_watermark,
                    log_start_offset: data.log_start_offset,
                };
                logs.append(&self.followed, append)
            }
            ErrorCode::OFFSET_OUT_OF_RANGE => {
                self.phase = Phase::OutOfRange { timestamp: LATEST_TIMESTAMP };
                Ok(())
            }
            code => Err(code),
        }
    }

    /// The leader's log ends or starts at `offset` (`AbstractFetcherThread.fetchOffsetAndTruncate`).
    fn handle_offset(
        &mut self,
        asked_at: i64,
        offset: i64,
        logs: &mut impl FollowerLogs,
    ) -> Result<(), ErrorCode> {
        if logs.log_end(&self.followed)?.end_offset != asked_at {
            return Ok(());
        }
        match self.phase {
            Phase::OutOfRange { timestamp: LATEST_TIMESTAMP } if offset >= asked_at => {
                self.phase = Phase::OutOfRange { timestamp: EARLIEST_TIMESTAMP };
                return Ok(());
            }
            Phase::OutOfRange { timestamp: LATEST_TIMESTAMP } => {
                logs.truncate_to(&self.followed, offset)?;
            }
            Phase::OutOfRange { .. } if offset > asked_at => {
                logs.restart_at(&self.followed, offset)?;
            }
            Phase::OutOfRange { .. } | Phase::Fetching => {}
        }
        self.phase = Phase::Fetching;
        Ok(())
    }

    fn done(&mut self, result: Result<(), ErrorCode>, config: &FetcherConfig, now: Duration) {
        match result {
            Ok(()) => self.failures = 0,
            Err(code) => {
                tracing::debug!(partition = %self.followed.name, %code, "a partition is fetched again later");
                self.back_off(config, now);
            }
        }
    }

    fn back_off(&mut self, config: &FetcherConfig, now: Duration) {
        let backoff = config.backoff.saturating_mul(1 << self.failures.min(20));
        self.delayed_until = now + backoff.min(config.backoff_max);
        self.failures = self.failures.saturating_add(1);
    }
}
