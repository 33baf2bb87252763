//! A consumer without a group: reads the partitions that it is told to, from where it is told to.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use milena_core::{
    admin::{self, AdminHandle, RetryPolicy, Target},
    config::ConfigError,
    metadata::{MetadataError, MetadataView, MetadataWait, RefreshReason},
    network::{NodeId, Response},
};
use milena_protocol::{
    ErrorCode, Uuid,
    messages::{FetchPartition, FetchRequest, FetchResponse, FetchTopic},
    records::{Record, RecordBatch, RecordBatches, RecordsError, TimestampType},
};
use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinSet},
};

use crate::{
    admin::{Admin, AdminBuilder, AdminError, OffsetSpec, Refusal, Versioned},
    clock::Clock,
    driver::BuildError,
    metadata::MetadataWatch,
};

/// Answers that wait for [`Consumer::next`]; fetching stops while so many do.
const FETCHED_QUEUE: usize = 8;
/// What the records of one batch may take when they are decompressed, in bytes.
const INFLATED_MAX: usize = 256 << 20;

/// Where to start reading a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartAt {
    /// The first record that is there.
    Beginning,
    /// The next record to be produced.
    End,
    /// This offset.
    Offset(i64),
    /// So many records before the end, or the beginning.
    Tail(i64),
    /// The first record with this timestamp or a later one (milliseconds since the Unix epoch), or the end.
    Timestamp(i64),
}

/// Why consuming cannot go on.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ConsumeError {
    /// The topic's partitions are not known.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// An offset could not be found out.
    #[error(transparent)]
    Admin(#[from] AdminError),
    /// The offset is not in the partition: it was deleted, or does not exist yet.
    #[error("offset {offset} of {topic}-{partition} is not there; available are {start} up to {end}")]
    OffsetOutOfRange {
        /// The topic.
        topic: Arc<str>,
        /// The partition.
        partition: i32,
        /// What was asked for.
        offset: i64,
        /// The first offset that is there.
        start: i64,
        /// The offset that the next record will get.
        end: i64,
    },
    /// The leader refuses to serve the partition, and trying again does not help.
    #[error("{topic}-{partition}: {refusal}")]
    Refused {
        /// The topic.
        topic: Arc<str>,
        /// The partition.
        partition: i32,
        /// Its words.
        refusal: Refusal,
    },
    /// What the broker sent is damaged, or is in a format that is not read.
    #[error("{topic}-{partition} at offset {offset}: {source}")]
    Records {
        /// The topic.
        topic: Arc<str>,
        /// The partition.
        partition: i32,
        /// Where.
        offset: i64,
        /// What is wrong.
        source: RecordsError,
    },
    /// The consumer has no partitions, or was closed.
    #[error("nothing is assigned to this consumer")]
    NothingAssigned,
}

/// Settings of the consumer beyond the client's.
#[derive(Debug, Clone, Copy)]
struct FetchConfig {
    min_bytes: i32,
    max_bytes: i32,
    max_partition_bytes: i32,
    max_wait: Duration,
}

impl Default for FetchConfig {
    fn default() -> Self {
        Self {
            min_bytes: 1,
            max_bytes: 50 << 20,
            max_partition_bytes: 1 << 20,
            max_wait: Duration::from_millis(500),
        }
    }
}

/// Collects settings under Kafka's names.
#[derive(Clone, Debug)]
pub struct ConsumerBuilder {
    client: AdminBuilder,
    fetch: FetchConfig,
    error: Option<ConfigError>,
}

impl ConsumerBuilder {
    /// The brokers to start from: `host:port,host:port` (bootstrap.servers).
    #[must_use]
    pub fn bootstrap(self, list: &str) -> Self {
        self.set("bootstrap.servers", list)
    }

    /// A setting by its Kafka name: those of every client, and fetch.min.bytes, fetch.max.bytes,
    /// max.partition.fetch.bytes, fetch.max.wait.ms. The first one that is wrong is reported by [`build`](Self::build).
    #[must_use]
    pub fn set(mut self, key: &str, value: &str) -> Self {
        let number = || {
            value.parse::<i32>().ok().filter(|n| *n >= 0).ok_or_else(|| ConfigError::Invalid {
                key: key.to_owned(),
                value: value.to_owned(),
                expected: "a whole number from 0 to 2147483647".to_owned(),
            })
        };
        let outcome = match key {
            "fetch.min.bytes" => number().map(|n| self.fetch.min_bytes = n),
            "fetch.max.bytes" => number().map(|n| self.fetch.max_bytes = n),
            "max.partition.fetch.bytes" => number().map(|n| self.fetch.max_partition_bytes = n),
            "fetch.max.wait.ms" => {
                number().map(|n| self.fetch.max_wait = Duration::from_millis(n.unsigned_abs().into()))
            }
            _ => {
                self.client = self.client.set(key, value);
                Ok(())
            }
        };
        self.error = self.error.or(outcome.err());
        self
    }

    /// How long a look-up of partitions or offsets may take (default.api.timeout.ms; 60 s).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.client = self.client.timeout(timeout);
        self
    }

    /// Starts the consumer, with nothing assigned.
    ///
    /// # Errors
    /// The first wrong setting, an empty bootstrap list, or the system's refusal of a thread.
    pub fn build(self) -> Result<Consumer, BuildError> {
        if let Some(error) = self.error {
            return Err(error.into());
        }
        // What is asked for must be accepted when it comes.
        let fetch_max = usize::try_from(self.fetch.max_bytes).unwrap_or(0);
        let admin = self.client.accept_larger_by(fetch_max).patient_for(self.fetch.max_wait).build()?;
        Ok(Consumer { admin, config: self.fetch, fetching: None })
    }
}

/// Reads partitions without a group: nothing is committed, nothing is shared with other consumers.
#[derive(Debug)]
pub struct Consumer {
    admin: Admin,
    config: FetchConfig,
    fetching: Option<Fetching>,
}

#[derive(Debug)]
struct Fetching {
    fetched: mpsc::Receiver<Result<Fetched, ConsumeError>>,
    task: AbortHandle,
    /// An error that nobody was told yet: who waits for it may give up while more is being found out about it.
    failed: Option<ConsumeError>,
}

impl Drop for Fetching {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Consumer {
    /// A builder with Kafka's defaults.
    pub fn builder() -> ConsumerBuilder {
        ConsumerBuilder { client: Admin::builder(), fetch: FetchConfig::default(), error: None }
    }

    /// The cluster as this consumer sees it.
    pub fn metadata(&self) -> MetadataWatch {
        self.admin.metadata()
    }

    /// The ids of a topic's partitions.
    ///
    /// # Errors
    /// [`ConsumeError::Metadata`] when there is no such topic, or nobody answers within the timeout.
    pub async fn partitions(&self, topic: &str) -> Result<Vec<i32>, ConsumeError> {
        let (clock, metadata) = (self.admin.clock(), self.admin.handle().metadata());
        let deadline = clock.now() + self.admin.timeout();
        let mut wait = MetadataWait::new(topic, None, deadline);
        let known = metadata.view().version;
        loop {
            let changed = metadata.listen();
            if let std::task::Poll::Ready(outcome) = wait.poll(metadata, clock.now()) {
                outcome?;
                let view = metadata.view();
                let count = view.cluster.topic(topic).map_or(0, |topic| topic.partitions.len());
                return Ok((0..i32::try_from(count).unwrap_or(i32::MAX)).collect());
            }
            // The consumer never creates topics, so there is no point in waiting for one that isn't there. What was
            // heard before this call may be out of date.
            let view = metadata.view_full();
            let error = view.topic_errors.get(topic).filter(|_| view.version > known);
            if error == Some(&ErrorCode::UNKNOWN_TOPIC_OR_PARTITION) {
                let (topic, code) = (topic.into(), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
                return Err(MetadataError::Topic { topic, code }.into());
            }
            let _ = tokio::time::timeout_at(clock.to_tokio(deadline), changed).await;
        }
    }

    /// The first offset that is there, and the one that the next record will get.
    ///
    /// # Errors
    /// [`ConsumeError::Admin`] when the partition's leader refuses or does not answer.
    pub async fn offsets(&self, topic: &str, partition: i32) -> Result<(i64, i64), ConsumeError> {
        let start = self.admin.offset(topic, partition, OffsetSpec::Earliest).await?.unwrap_or(0);
        let end = self.admin.offset(topic, partition, OffsetSpec::Latest).await?.unwrap_or(start);
        Ok((start, end))
    }

    /// Reads these partitions from now on, in place of those before. Finds out where to start first.
    ///
    /// # Errors
    /// [`ConsumeError`] when a start cannot be found out; then nothing is assigned.
    pub async fn assign(&mut self, partitions: Vec<(String, i32, StartAt)>) -> Result<(), ConsumeError> {
        self.fetching = None;
        let mut positions = BTreeMap::new();
        for (topic, partition, start) in partitions {
            let offset = self.resolve(&topic, partition, start).await?;
            positions.insert((Arc::from(topic), partition), Position { offset, paused_until: None });
        }
        let (send, fetched) = mpsc::channel(FETCHED_QUEUE);
        let fetcher = Fetcher {
            admin: self.admin.handle().clone(),
            clock: Arc::clone(self.admin.clock()),
            config: self.config,
            positions,
            busy: BTreeSet::new(),
            turn: 0,
            pending: JoinSet::new(),
            out: send,
        };
        let task = tokio::spawn(fetcher.run()).abort_handle();
        self.fetching = Some(Fetching { fetched, task, failed: None });
        Ok(())
    }

    /// The next answer of some partition: records, or only progress. A call that is dropped before it ends loses nothing.
    ///
    /// # Errors
    /// [`ConsumeError`] of one partition; it is not read any further, the others are.
    pub async fn next(&mut self) -> Result<Fetched, ConsumeError> {
        let fetching = self.fetching.as_mut().ok_or(ConsumeError::NothingAssigned)?;
        let failed = match fetching.failed.clone() {
            Some(failed) => failed,
            None => match fetching.fetched.recv().await {
                Some(Err(error)) => fetching.failed.insert(error).clone(),
                Some(fetched) => return fetched,
                None => return Err(ConsumeError::NothingAssigned),
            },
        };
        let error = self.with_range(failed).await;
        if let Some(fetching) = &mut self.fetching {
            fetching.failed = None;
        }
        Err(error)
    }

    /// Says what offsets there are, which the answer to a fetch does not.
    async fn with_range(&self, error: ConsumeError) -> ConsumeError {
        let ConsumeError::OffsetOutOfRange { topic, partition, offset, .. } = error else { return error };
        match self.offsets(&topic, partition).await {
            Ok((start, end)) => ConsumeError::OffsetOutOfRange { topic, partition, offset, start, end },
            Err(error) => error,
        }
    }

    /// Stops reading and closes the connections.
    pub async fn close(mut self) {
        self.fetching = None;
        self.admin.close().await;
    }

    /// The offset that this start means now. An offset is taken as it is, be it there or not.
    ///
    /// # Errors
    /// [`ConsumeError::Admin`] when the partition's leader refuses or does not answer.
    pub async fn resolve(&self, topic: &str, partition: i32, start: StartAt) -> Result<i64, ConsumeError> {
        let look_up = |spec| self.admin.offset(topic, partition, spec);
        Ok(match start {
            StartAt::Offset(offset) => offset,
            StartAt::Beginning => look_up(OffsetSpec::Earliest).await?.unwrap_or(0),
            StartAt::End => look_up(OffsetSpec::Latest).await?.unwrap_or(0),
            StartAt::Tail(count) => {
                let (start, end) = self.offsets(topic, partition).await?;
                end.saturating_sub(count).max(start)
            }
            StartAt::Timestamp(millis) => match look_up(OffsetSpec::AtTimestamp(millis)).await? {
                Some(offset) => offset,
                None => look_up(OffsetSpec::Latest).await?.unwrap_or(0),
            },
        })
    }
}

/// What one fetch brought of one partition.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// The topic.
    pub topic: Arc<str>,
    /// The partition.
    pub partition: i32,
    /// The offset after the last record that consumers may see.
    pub high_watermark: i64,
    /// Where reading goes on; beyond the last record where batches without records for consumers follow.
    pub next_offset: i64,
    from: i64,
    batches: Vec<RecordBatch>,
}

impl Fetched {
    /// Who set the timestamp of the record at this offset: the producer, or the broker (message.timestamp.type).
    pub fn timestamp_type(&self, offset: i64) -> TimestampType {
        let after = self.batches.partition_point(|batch| batch.header().base_offset <= offset);
        let batch = after.checked_sub(1).and_then(|index| self.batches.get(index));
        batch.map_or(TimestampType::CreateTime, |batch| batch.header().attributes.timestamp_type())
    }

    /// The records in order, decoded as they are asked for; keys and values are slices of what arrived.
    ///
    /// An error ends its batch.
    pub fn records(&self) -> impl Iterator<Item = Result<Record, ConsumeError>> + '_ {
        let data = self.batches.iter().filter(|batch| !batch.is_control());
        data.flat_map(move |batch| {
            let (records, error) = match batch.records(INFLATED_MAX) {
                Ok(records) => (Some(records), None),
                Err(error) => (None, Some(Err(error))),
            };
            let offset = batch.header().base_offset;
            records.into_iter().flatten().chain(error).map(move |record| {
                record.map_err(|source| ConsumeError::Records {
                    topic: Arc::clone(&self.topic),
                    partition: self.partition,
                    offset,
                    source,
                })
            })
        })
        // A batch may begin before the offset that was asked for.
        .filter(|record| record.as_ref().map_or(true, |record| record.offset >= self.from))
    }
}

#[derive(Debug)]
struct Position {
    offset: i64,
    /// Set after a retriable error.
    paused_until: Option<tokio::time::Instant>,
}

type Key = (Arc<str>, i32);

/// Keeps one fetch under way to each leader of an assigned partition.
struct Fetcher {
    admin: AdminHandle,
    clock: Arc<Clock>,
    config: FetchConfig,
    positions: BTreeMap<Key, Position>,
    /// Leaders that have been asked and have not answered.
    busy: BTreeSet<NodeId>,
    /// How often fetches were sent: who comes first in a fetch changes with each.
    turn: usize,
    pending: JoinSet<Answer>,
    out: mpsc::Sender<Result<Fetched, ConsumeError>>,
}

struct Answer {
    node: NodeId,
    asked: Asked,
    result: Result<Response, admin::AdminError>,
}

/// The partitions of one fetch: topic ids to names, and from where each was asked for.
#[derive(Default)]
struct Asked {
    names: BTreeMap<[u8; 16], Arc<str>>,
    offsets: BTreeMap<Key, i64>,
}

impl Fetcher {
    /// How long a partition rests after an error that passes (retry.backoff.ms).
    const BACKOFF: Duration = Duration::from_millis(100);

    async fn run(mut self) {
        while !self.positions.is_empty() {
            let changed = self.admin.metadata().listen();
            let view = self.admin.metadata().view_full();
            if view.closed {
                // Nothing will come any more. Nobody may be left to be told.
                let error = view.fatal.clone().map_or(MetadataError::Closed, MetadataError::Fatal);
                let _ = self.out.send(Err(error.into())).await;
                return;
            }
            let look_again = self.ask(&view);
            tokio::select! {
                Some(Ok(answer)) = self.pending.join_next() => {
                    if self.take(answer).await.is_err() {
                        return;
                    }
                }
                () = changed => {}
                () = tokio::time::sleep_until(look_again) => {}
            }
        }
    }

    /// Sends a fetch to each leader that has none, and says when to look again if nothing happens.
    fn ask(&mut self, view: &MetadataView) -> tokio::time::Instant {
        let (now, used_at) = (tokio::time::Instant::now(), self.clock.now());
        let mut look_again = now + Duration::from_secs(1);
        let mut by_leader: BTreeMap<NodeId, (Asked, BTreeMap<Arc<str>, FetchTopic>)> = BTreeMap::new();
        for ((topic, partition), position) in &mut self.positions {
            if let Some(until) = position.paused_until.filter(|until| *until > now) {
                look_again = look_again.min(until);
                continue;
            }
            position.paused_until = None;
            let known = view.cluster.topic(topic);
            // What a consumer reads does not expire, however long it reads.
            if let Some(topic) = known {
                topic.touch(used_at);
            }
            let known = known.and_then(|topic| topic.partition(*partition));
            let Some((info, leader)) = known.and_then(|info| Some((info, info.leader?))) else {
                self.admin.metadata().want_topic(topic);
                position.paused_until = Some(now + Self::BACKOFF);
                look_again = look_again.min(now + Self::BACKOFF);
                continue;
            };
            if self.busy.contains(&leader) {
                continue;
            }
            let id = view.cluster.topic_id(topic).unwrap_or(Uuid::ZERO);
            let (asked, topics) = by_leader.entry(leader).or_default();
            asked.names.insert(id.0, Arc::clone(topic));
            asked.offsets.insert((Arc::clone(topic), *partition), position.offset);
            let entry = topics.entry(Arc::clone(topic)).or_insert_with(|| FetchTopic {
                topic: topic.to_string(),
                topic_id: id,
                ..Default::default()
            });
            entry.partitions.push(FetchPartition {
                partition: *partition,
                current_leader_epoch: info.leader_epoch.unwrap_or(-1),
                fetch_offset: position.offset,
                partition_max_bytes: self.config.max_partition_bytes,
                ..Default::default()
            });
        }
        for (leader, (asked, topics)) in by_leader {
            self.send(leader, asked, rotated(topics.into_values().collect(), self.turn));
        }
        self.turn = self.turn.wrapping_add(1);
        look_again
    }

    fn send(&mut self, node: NodeId, asked: Asked, topics: Vec<FetchTopic>) {
        // Without ids for all of them the topics go by name, which ended with version 12.
        let by_id = topics.iter().all(|topic| topic.topic_id != Uuid::ZERO);
        let request = Versioned::new(FetchRequest {
            replica_id: -1,
            max_wait_ms: i32::try_from(self.config.max_wait.as_millis()).unwrap_or(i32::MAX),
            min_bytes: self.config.min_bytes,
            max_bytes: self.config.max_bytes,
            session_epoch: -1,
            topics,
            ..Default::default()
        })
        .at_most(if by_id { i16::MAX } else { 12 });
        let deadline = self.clock.now() + self.config.max_wait + Duration::from_secs(30);
        let pending = self.admin.submit(Target::Node(node), request, deadline, RetryPolicy::never());
        self.busy.insert(node);
        self.pending.spawn(async move { Answer { node, asked, result: pending.await } });
    }

    /// Err when nobody reads any more.
    async fn take(&mut self, answer: Answer) -> Result<(), Closed> {
        self.busy.remove(&answer.node);
        let decoded = answer
            .result
            .map_err(|error| error.to_string())
            .and_then(|response| response.decode::<FetchRequest>().map_err(|error| error.to_string()));
        let response: FetchResponse = match decoded {
            Ok(response) if response.error_code.is_ok() => response,
            Ok(response) => {
                self.rest(&answer.asked.offsets, &response.error_code.to_string());
                return Ok(());
            }
            Err(error) => {
                self.rest(&answer.asked.offsets, &error);
                return Ok(());
            }
        };
        for topic in response.responses {
            let name = match answer.asked.names.get(&topic.topic_id.0) {
                Some(name) if topic.topic.is_empty() => Arc::clone(name),
                _ => Arc::from(topic.topic),
            };
            for partition in topic.partitions {
                let key = (Arc::clone(&name), partition.partition_index);
                // A partition whose leader has moved is asked for at the new one while the old one owes an answer: the
                // first of the two counts.
                if let Some(offset) = answer.asked.offsets.get(&key).filter(|at| self.is_at(&key, **at)) {
                    self.take_partition(key, *offset, partition).await?;
                }
            }
        }
        Ok(())
    }

    fn is_at(&self, key: &Key, offset: i64) -> bool {
        self.positions.get(key).is_some_and(|position| position.offset == offset)
    }

    async fn take_partition(
        &mut self,
        key: Key,
        position: i64,
        data: milena_protocol::messages::fetch_response::PartitionData,
    ) -> Result<(), Closed> {
        let (topic, partition) = key.clone();
        if data.error_code == ErrorCode::OFFSET_OUT_OF_RANGE {
            let (start, end) = (data.log_start_offset, data.high_watermark);
            let error = ConsumeError::OffsetOutOfRange { topic, partition, offset: position, start, end };
            return self.fail(&key, error).await;
        }
        if !data.error_code.is_ok() {
            if data.error_code.is_retriable() {
                self.rest(&BTreeMap::from([(key, position)]), &data.error_code.to_string());
                return Ok(());
            }
            let refusal = Refusal { code: data.error_code, message: data.error_code.message().to_owned() };
            return self.fail(&key, ConsumeError::Refused { topic, partition, refusal }).await;
        }
        let mut fetched = Fetched {
            topic,
            partition,
            high_watermark: data.high_watermark,
            next_offset: position,
            from: position,
            batches: Vec::new(),
        };
        for batch in RecordBatches::new(data.records.unwrap_or_default()) {
            let checked = batch.and_then(|batch| batch.check_crc().map(|()| batch));
            match checked {
                Ok(batch) => {
                    fetched.next_offset = fetched.next_offset.max(batch.header().next_offset());
                    fetched.batches.push(batch);
                }
                Err(source) => {
                    let (topic, offset) = (Arc::clone(&fetched.topic), fetched.next_offset);
                    let error = ConsumeError::Records { topic, partition, offset, source };
                    self.deliver(&key, fetched).await?;
                    return self.fail(&key, error).await;
                }
            }
        }
        self.deliver(&key, fetched).await
    }

    async fn deliver(&mut self, key: &Key, fetched: Fetched) -> Result<(), Closed> {
        if fetched.batches.is_empty() {
            return Ok(());
        }
        if let Some(position) = self.positions.get_mut(key) {
            position.offset = fetched.next_offset;
        }
        self.out.send(Ok(fetched)).await.map_err(|_| Closed)
    }

    async fn fail(&mut self, key: &Key, error: ConsumeError) -> Result<(), Closed> {
        self.positions.remove(key);
        self.out.send(Err(error)).await.map_err(|_| Closed)
    }

    /// Lets partitions rest after an error that passes, and asks who leads them now.
    fn rest(&mut self, asked: &BTreeMap<Key, i64>, error: &str) {
        tracing::debug!(partitions = asked.len(), error, "a fetch failed; trying again");
        let until = tokio::time::Instant::now() + Self::BACKOFF;
        for (key, offset) in asked {
            if let Some(position) = self.positions.get_mut(key).filter(|position| position.offset == *offset)
            {
                position.paused_until = Some(until);
            }
        }
        self.admin.metadata().request_update(RefreshReason::Requested);
    }
}

/// The same partitions, another one first: a broker fills its answer in the order of the request, and those at its end
/// starve while those before have enough for all of fetch.max.bytes.
fn rotated(mut topics: Vec<FetchTopic>, turn: usize) -> Vec<FetchTopic> {
    for topic in &mut topics {
        let by = turn % topic.partitions.len().max(1);
        topic.partitions.rotate_left(by);
    }
    let by = turn % topics.len().max(1);
    topics.rotate_left(by);
    topics
}

/// The consumer was dropped or has been assigned anew.
struct Closed;

#[cfg(test)]
mod tests {
    use milena_core::{admin::AdminEngine, config::ClientConfig, metadata::MetadataTopics};
    use milena_protocol::{
        ApiKey, encode_response,
        messages::fetch_response::{FetchableTopicResponse, PartitionData},
    };

    use super::*;

    type Fetches = mpsc::Receiver<Result<Fetched, ConsumeError>>;

    /// Of partition 0 of topic `t`, from offset 10 on.
    fn fetcher() -> (AdminEngine, Fetcher, Fetches) {
        let clock = Arc::new(Clock::new());
        let (engine, admin) =
            AdminEngine::new(&ClientConfig::default(), MetadataTopics::Wanted, 1, clock.now());
        let (out, fetched) = mpsc::channel(FETCHED_QUEUE);
        let positions = BTreeMap::from([(("t".into(), 0), Position { offset: 10, paused_until: None })]);
        let (config, busy, pending) = (FetchConfig::default(), BTreeSet::new(), JoinSet::new());
        (engine, Fetcher { admin, clock, config, positions, busy, turn: 0, pending, out }, fetched)
    }

    fn out_of_range(asked_at: i64) -> Result<Answer, Box<dyn std::error::Error>> {
        let error_code = ErrorCode::OFFSET_OUT_OF_RANGE;
        let partitions = vec![PartitionData { partition_index: 0, error_code, ..Default::default() }];
        let topic = FetchableTopicResponse { topic: "t".to_owned(), partitions, ..Default::default() };
        let response = FetchResponse { responses: vec![topic], ..Default::default() };
        let frame = encode_response(ApiKey::Fetch, 12, 0, &response)?.to_bytes();
        // Behind the length, the correlation id and the count of tagged fields.
        let response = Response { version: 12, body: frame.slice(9..) };
        let asked = Asked { offsets: BTreeMap::from([(("t".into(), 0), asked_at)]), ..Default::default() };
        Ok(Answer { node: 1, asked, result: Ok(response) })
    }

    #[tokio::test]
    async fn an_answer_to_an_earlier_position_means_nothing() -> Result<(), Box<dyn std::error::Error>> {
        let (_engine, mut fetcher, mut fetched) = fetcher();
        assert!(fetcher.take(out_of_range(5)?).await.is_ok());
        assert!(fetched.try_recv().is_err() && fetcher.positions.len() == 1, "asked of the old leader");
        assert!(fetcher.take(out_of_range(10)?).await.is_ok());
        let error = fetched.try_recv()?.expect_err("out of range");
        assert!(matches!(error, ConsumeError::OffsetOutOfRange { offset: 10, .. }), "{error}");
        Ok(())
    }

    #[tokio::test]
    async fn an_error_is_told_to_who_asks_again() -> Result<(), Box<dyn std::error::Error>> {
        let mut consumer = Consumer::builder().bootstrap("127.0.0.1:1").build()?;
        let (out, fetched) = mpsc::channel(1);
        let task = tokio::spawn(std::future::pending::<()>()).abort_handle();
        consumer.fetching = Some(Fetching { fetched, task, failed: None });
        let (topic, partition, offset) = (Arc::from("t"), 0, 7);
        out.send(Err(ConsumeError::OffsetOutOfRange { topic, partition, offset, start: -1, end: -1 }))
            .await?;
        drop(out);
        // Gives up while the leader is being asked what offsets there are.
        assert!(tokio::time::timeout(Duration::ZERO, consumer.next()).await.is_err());
        consumer.admin.close().await;
        let error = consumer.next().await.expect_err("it is still to be told");
        assert!(matches!(error, ConsumeError::Admin(_)), "{error}");
        let error = consumer.next().await.expect_err("once");
        assert!(matches!(error, ConsumeError::NothingAssigned), "{error}");
        Ok(())
    }

    #[tokio::test]
    async fn an_offset_beyond_all_is_survived() {
        let (_engine, mut fetcher, mut fetched) = fetcher();
        let mut batch = milena_protocol::records::BatchBuilder::new(Vec::new());
        batch.append(0, None, Some(b"v"), &[]);
        let seal = milena_protocol::records::Seal { base_offset: i64::MAX, ..Default::default() };
        let records = Some(batch.seal(seal).into());
        let data = PartitionData { records, ..Default::default() };
        assert!(fetcher.take_partition(("t".into(), 0), 10, data).await.is_ok());
        assert!(fetched.try_recv().is_ok_and(|fetched| fetched.is_ok_and(|f| f.next_offset == 10)));
    }

    #[tokio::test]
    async fn a_reader_is_told_that_the_client_has_ended() {
        let (engine, fetcher, mut fetched) = fetcher();
        drop(engine);
        fetcher.run().await;
        let error = fetched.recv().await.expect("told").expect_err("why nothing comes");
        assert!(matches!(error, ConsumeError::Metadata(MetadataError::Fatal(_))), "{error}");
    }

    #[test]
    fn each_partition_comes_first_in_its_turn() {
        let topics = || {
            let partitions = (0..3).map(|partition| FetchPartition { partition, ..Default::default() });
            vec![FetchTopic { topic: "t".to_owned(), partitions: partitions.collect(), ..Default::default() }]
        };
        let first = |turn| rotated(topics(), turn)[0].partitions[0].partition;
        assert_eq!((0..4).map(first).collect::<Vec<_>>(), [0, 1, 2, 0]);
        assert!(rotated(Vec::new(), 7).is_empty());
    }
}
