//! Logs that take batches as Kafka's brokers do: leadership, topic ids, sequences, duplicates.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use bytes::Bytes;
use milena_core::time::Instant;
use milena_protocol::{
    ApiKey, ErrorCode, Uuid,
    messages::{
        InitProducerIdResponse, PartitionProduceResponse, ProduceRequest, ProduceResponse,
        TopicProduceResponse,
        produce_response::{LeaderIdAndEpoch, NodeEndpoint},
    },
    records::{BatchHeader, RecordBatch, RecordBatches, increment_sequence},
};

use crate::support::{FakeCluster, PeerRequest, Reply};

/// Longer than any test.
const NEVER: Duration = Duration::from_secs(1_000_000);

/// What goes wrong with one produce request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Nothing.
    None,
    /// Nothing is written; every partition answers this.
    Refuse(ErrorCode),
    /// It is written, and every partition answers this.
    WriteAndRefuse(ErrorCode),
    /// Nothing is written, and the connection ends.
    Lose,
    /// It is written, and the connection ends.
    WriteAndLose,
    /// Nothing is written, and nothing is said.
    Swallow,
    /// It is written, and nothing is said.
    WriteAndSwallow,
    /// It is written, and the answer takes so long.
    Slow(Duration),
    /// Nothing is written; answers as given, completed with topic and partition.
    Answer(Box<PartitionProduceResponse>),
}

/// A batch as a broker got it.
#[derive(Clone, Debug)]
pub struct Produced {
    pub at: Instant,
    pub broker: i32,
    pub version: i16,
    pub request: usize,
    pub topic: String,
    pub partition: i32,
    pub header: BatchHeader,
    pub bytes: Bytes,
    pub answer: ErrorCode,
}

impl Produced {
    pub fn line(&self) -> String {
        let h = &self.header;
        let batch = RecordBatches::new(self.bytes.clone()).next().expect("one").expect("valid");
        let text = |record: &Stored| {
            let text = String::from_utf8_lossy(record.value.as_deref().unwrap_or(b"null")).into_owned();
            text.chars().take(8).collect::<String>()
        };
        let values: Vec<String> = records(&batch).iter().map(text).collect();
        format!(
            "{:?} broker {} request {}: epoch {} sequence {} {values:?}: {}\n",
            self.at,
            self.broker,
            self.request,
            h.producer_epoch,
            h.base_sequence,
            self.answer.name()
        )
    }
}

/// A record in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub key: Option<Bytes>,
    pub value: Option<Bytes>,
    pub headers: Vec<(String, Option<Bytes>)>,
    pub timestamp: i64,
}

#[derive(Debug, Default)]
pub struct Log {
    pub records: Vec<Stored>,
    /// What the offsets of `records` begin with.
    pub first: i64,
    producers: BTreeMap<i64, Producer>,
}

#[derive(Debug)]
struct Producer {
    epoch: i16,
    /// First and last sequence and base offset of the last five batches.
    batches: VecDeque<(i32, i32, i64)>,
}

/// The logs of all brokers: what one has written, its successor has as well.
#[derive(Debug)]
pub struct Logs {
    pub logs: BTreeMap<(Uuid, i32), Log>,
    /// For the next produce requests, in order.
    pub faults: VecDeque<Fault>,
    /// For the next batches of a partition.
    pub refusals: BTreeMap<i32, VecDeque<ErrorCode>>,
    pub produced: Vec<Produced>,
    /// Whether NOT_LEADER_OR_FOLLOWER names the leader.
    pub hints: bool,
    /// Larger batches are refused.
    pub max_batch: usize,
    pub log_append_time: Option<i64>,
    /// What InitProducerId answers, instead of an id.
    pub init_errors: VecDeque<ErrorCode>,
    /// Epoch of new producers.
    pub first_epoch: i16,
    /// A duplicate is an error, as brokers answer when they do not remember the offset.
    pub duplicates_are_errors: bool,
    pub throttle: Duration,
    next_producer: i64,
    requests: usize,
}

impl Logs {
    pub fn new() -> Self {
        Self {
            logs: BTreeMap::new(),
            faults: VecDeque::new(),
            refusals: BTreeMap::new(),
            produced: Vec::new(),
            hints: true,
            max_batch: usize::MAX,
            log_append_time: None,
            init_errors: VecDeque::new(),
            first_epoch: 0,
            duplicates_are_errors: false,
            throttle: Duration::ZERO,
            next_producer: 1000,
            requests: 0,
        }
    }

    pub fn values(&self, topic: Uuid, partition: i32) -> Vec<String> {
        let Some(log) = self.logs.get(&(topic, partition)) else { return Vec::new() };
        let text = |record: &Stored| {
            String::from_utf8_lossy(record.value.as_deref().unwrap_or(b"null")).into_owned()
        };
        log.records.iter().map(text).collect()
    }

    /// The records go, the producers' states stay.
    pub fn forget_records(&mut self) {
        for log in self.logs.values_mut() {
            log.first += i64::try_from(log.records.len()).expect("few");
            log.records.clear();
        }
    }

    /// The last batch, of one record, is gone from every log, as after an unclean election.
    pub fn lose_the_last_batch(&mut self) {
        for log in self.logs.values_mut() {
            log.records.pop();
            for producer in log.producers.values_mut() {
                producer.batches.pop_back();
            }
        }
    }

    pub fn serve(&mut self, request: &PeerRequest, cluster: &mut FakeCluster) -> Reply {
        match request.api {
            ApiKey::InitProducerId => self.init_producer_id(request),
            _ => self.produce(request, cluster),
        }
    }

    fn init_producer_id(&mut self, request: &PeerRequest) -> Reply {
        let error_code = self.init_errors.pop_front().unwrap_or(ErrorCode::NONE);
        self.next_producer += 1;
        let answer = InitProducerIdResponse {
            error_code,
            producer_id: self.next_producer,
            producer_epoch: self.first_epoch,
            ..Default::default()
        };
        request.answer(&answer)
    }

    fn produce(&mut self, request: &PeerRequest, cluster: &mut FakeCluster) -> Reply {
        let fault = self.faults.pop_front().unwrap_or(Fault::None);
        let body: ProduceRequest = request.decode();
        self.requests += 1;
        let mut response = ProduceResponse {
            throttle_time_ms: i32::try_from(self.throttle.as_millis()).expect("short"),
            ..Default::default()
        };
        for topic in &body.topic_data {
            let mut answers = TopicProduceResponse {
                name: topic.name.clone(),
                topic_id: topic.topic_id,
                ..Default::default()
            };
            let by_id = cluster.topics.iter().find(|(name, t)| match request.version >= 13 {
                true => t.id == topic.topic_id,
                false => **name == topic.name,
            });
            let named = by_id.map(|(name, t)| (name.clone(), t.id));
            for data in &topic.partition_data {
                let bytes = data.records.clone().expect("records");
                let mut answer = self.partition(request, cluster, named.as_ref(), data.index, &bytes, &fault);
                answer.index = data.index;
                let header = BatchHeader::parse(&bytes).expect("a batch");
                self.produced.push(Produced {
                    at: request.at,
                    broker: request.broker,
                    version: request.version,
                    request: self.requests,
                    topic: named.as_ref().map_or_else(|| "?".to_owned(), |(name, _)| name.clone()),
                    partition: data.index,
                    header,
                    bytes,
                    answer: answer.error_code,
                });
                if answer.current_leader.leader_id >= 0 {
                    let (host, port) = cluster.brokers[&answer.current_leader.leader_id].clone();
                    let node_id = answer.current_leader.leader_id;
                    response.node_endpoints.push(NodeEndpoint { node_id, host, port, ..Default::default() });
                }
                answers.partition_responses.push(answer);
            }
            response.responses.push(answers);
        }
        if request.version < 10 {
            response.node_endpoints.clear();
        }
        let delay = if let Fault::Slow(delay) = fault { delay } else { Duration::ZERO };
        match fault {
            _ if body.acks == 0 => Reply::Nothing,
            Fault::Lose | Fault::WriteAndLose => Reply::Disconnect,
            // The answers behind it do not come either: the connection is dead, and nobody says so.
            Fault::Swallow | Fault::WriteAndSwallow => {
                Reply::After(NEVER, Box::new(request.answer(&response)))
            }
            _ if delay.is_zero() => request.answer(&response),
            _ => Reply::After(delay, Box::new(request.answer(&response))),
        }
    }

    fn partition(
        &mut self,
        request: &PeerRequest,
        cluster: &FakeCluster,
        topic: Option<&(String, Uuid)>,
        partition: i32,
        bytes: &Bytes,
        fault: &Fault,
    ) -> PartitionProduceResponse {
        let refusal =
            |error_code| PartitionProduceResponse { error_code, base_offset: -1, ..Default::default() };
        match fault {
            Fault::Refuse(code) => return refusal(*code),
            Fault::Answer(answer) => return (**answer).clone(),
            Fault::Lose | Fault::Swallow => return refusal(ErrorCode::NETWORK_EXCEPTION),
            _ => {}
        }
        if let Some(code) = self.refusals.get_mut(&partition).and_then(VecDeque::pop_front) {
            return refusal(code);
        }
        let Some((name, id)) = topic else {
            let unknown_id = request.version >= 13;
            return refusal(match unknown_id {
                true => ErrorCode::UNKNOWN_TOPIC_ID,
                false => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
            });
        };
        let known = &cluster.topics[name].partitions[usize::try_from(partition).expect("valid")];
        if known.leader != request.broker {
            let mut answer = refusal(ErrorCode::NOT_LEADER_OR_FOLLOWER);
            if self.hints && request.version >= 10 && known.leader >= 0 {
                answer.current_leader =
                    LeaderIdAndEpoch { leader_id: known.leader, leader_epoch: known.epoch };
            }
            return answer;
        }
        if bytes.len() > self.max_batch {
            return refusal(ErrorCode::MESSAGE_TOO_LARGE);
        }
        let log = self.logs.entry((*id, partition)).or_default();
        let mut answer = match log.append(bytes, self.duplicates_are_errors) {
            Ok(base_offset) => PartitionProduceResponse {
                base_offset,
                log_append_time_ms: self.log_append_time.unwrap_or(-1),
                ..Default::default()
            },
            Err(code) => refusal(code),
        };
        if let Fault::WriteAndRefuse(code) = fault {
            answer = refusal(*code);
        }
        answer
    }
}

impl Log {
    /// As `ProducerAppendInfo` and `ProducerStateManager` check it.
    fn append(&mut self, bytes: &Bytes, duplicates_are_errors: bool) -> Result<i64, ErrorCode> {
        let batch = RecordBatches::new(bytes.clone()).next().expect("one batch").expect("a valid batch");
        batch.check_crc().expect("a good checksum");
        let header = *batch.header();
        let base_offset = self.first + i64::try_from(self.records.len()).expect("few");
        if header.has_producer_id() {
            let last_sequence = header.last_sequence();
            if let Some(producer) = self.producers.get(&header.producer_id) {
                if header.producer_epoch < producer.epoch {
                    return Err(ErrorCode::INVALID_PRODUCER_EPOCH);
                }
                if header.producer_epoch == producer.epoch {
                    let same = |b: &&(i32, i32, i64)| (b.0, b.1) == (header.base_sequence, last_sequence);
                    if let Some((_, _, offset)) = producer.batches.iter().find(same) {
                        return match duplicates_are_errors {
                            true => Err(ErrorCode::DUPLICATE_SEQUENCE_NUMBER),
                            false => Ok(*offset),
                        };
                    }
                }
                let expected = match producer.batches.back() {
                    Some((_, last, _)) if header.producer_epoch == producer.epoch => {
                        increment_sequence(*last, 1)
                    }
                    _ => 0,
                };
                if header.base_sequence != expected {
                    return Err(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
                }
            }
            let producer = self
                .producers
                .entry(header.producer_id)
                .or_insert_with(|| Producer { epoch: header.producer_epoch, batches: VecDeque::new() });
            if producer.epoch != header.producer_epoch {
                producer.epoch = header.producer_epoch;
                producer.batches.clear();
            }
            producer.batches.push_back((header.base_sequence, last_sequence, base_offset));
            if producer.batches.len() > 5 {
                producer.batches.pop_front();
            }
        }
        self.records.extend(records(&batch));
        Ok(base_offset)
    }

    /// The broker forgets what it knew of producers, as after retention.
    pub fn forget_producers(&mut self) {
        self.producers.clear();
    }
}

pub fn records(batch: &RecordBatch) -> Vec<Stored> {
    let records = batch.records(usize::MAX).expect("a known codec");
    records
        .map(|record| {
            let record = record.expect("a valid record");
            let headers = record
                .headers
                .iter()
                .map(|header| (String::from_utf8_lossy(header.key.as_bytes()).into_owned(), header.value));
            Stored {
                key: record.key.clone(),
                value: record.value.clone(),
                headers: headers.collect(),
                timestamp: record.timestamp,
            }
        })
        .collect()
}
