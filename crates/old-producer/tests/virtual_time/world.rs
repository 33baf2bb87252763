//! A machine whose time passes only where something waits, and the brokers that it can connect to.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use milena_old_producer::{
    BrokerAddress, KeyedMessage, Machine, Partitioner, Producer, ProducerConfig, RefreshReport, Socket,
};
use milena_protocol::messages::{
    MetadataRequest, MetadataResponse, MetadataResponseBroker, MetadataResponsePartition,
    MetadataResponseTopic, PartitionProduceResponse, ProduceRequest, ProduceResponse, TopicProduceResponse,
};
use milena_protocol::records::RecordBatches;
use milena_protocol::{
    ApiKey, Decoder, ErrorCode, FrameReader, Message, decode_request_head, encode_response,
};

pub(crate) const TOPIC: &str = "t";

/// request.timeout.ms when nothing is said.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// What the host of a broker does with packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    Serves,
    /// No process listens: a connect is answered with RST.
    Refuses,
    /// No host is there: a connect waits for ever.
    Swallows,
    /// The kernel takes connections, and nobody reads them.
    Silent,
}

/// What has happened, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Happened {
    Connecting(i32),
    AskedMetadata(i32),
    Produced { broker: i32, partition: i32, value: String },
    Closed(i32),
    Slept(Duration),
}

#[derive(Debug)]
struct State {
    now: Duration,
    health: BTreeMap<i32, Health>,
    /// Those in the metadata's list of brokers.
    live: Vec<i32>,
    /// By partition; -1 for none.
    leaders: Vec<i32>,
    /// Produce requests that are to fail before one succeeds.
    refusals: u32,
    /// A topic that does not exist is not created.
    topic_exists: bool,
    happened: Vec<(Duration, Happened)>,
    refreshes: Vec<RefreshReport>,
}

/// Three brokers, 1 to 3, and a topic of three partitions, each led by the next broker.
#[derive(Debug, Clone)]
pub(crate) struct World {
    state: Arc<Mutex<State>>,
}

impl World {
    pub(crate) fn new() -> Self {
        let state = State {
            now: Duration::from_secs(1_000),
            health: (1..=3).map(|id| (id, Health::Serves)).collect(),
            live: vec![1, 2, 3],
            leaders: vec![1, 2, 3],
            refusals: 0,
            topic_exists: true,
            happened: Vec::new(),
            refreshes: Vec::new(),
        };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// A producer with all three brokers in its list, acks=-1, and these settings.
    pub(crate) fn producer(&self, seed: u64, settings: &[(&str, &str)]) -> Producer {
        let mut config = ProducerConfig::default();
        let common = [("metadata.broker.list", "b1:1,b2:2,b3:3"), ("request.required.acks", "-1")];
        for (key, value) in common.iter().chain(settings) {
            config.set(key, value).unwrap();
        }
        let world = self.clone();
        Producer::builder(config)
            .seed(seed)
            .machine(Arc::new(self.clone()))
            .partitioner(ByNumber)
            .on_refresh(move |report| world.lock().refreshes.push(report.clone()))
            .build()
            .unwrap()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.lock().now += by;
    }

    pub(crate) fn set(&self, broker: i32, health: Health) {
        self.lock().health.insert(broker, health);
    }

    /// The host of a broker dies, and the cluster has noticed: it is out of the metadata, and the others lead.
    pub(crate) fn die(&self, broker: i32, health: Health) {
        let mut state = self.lock();
        state.health.insert(broker, health);
        state.live.retain(|live| *live != broker);
        let others = state.live.clone();
        for (partition, leader) in state.leaders.iter_mut().enumerate() {
            if *leader == broker {
                *leader = others[partition % others.len()];
            }
        }
    }

    pub(crate) fn lead(&self, leaders: &[i32]) {
        self.lock().leaders = leaders.to_vec();
    }

    pub(crate) fn refuse(&self, times: u32) {
        self.lock().refusals = times;
    }

    pub(crate) fn without_topic(&self) {
        self.lock().topic_exists = false;
    }

    /// What has happened since the last call.
    pub(crate) fn happened(&self) -> Vec<Happened> {
        self.lock().happened.drain(..).map(|(_, happened)| happened).collect()
    }

    /// The refreshes since the last call.
    pub(crate) fn refreshes(&self) -> Vec<RefreshReport> {
        std::mem::take(&mut self.lock().refreshes)
    }

    /// Whom each refresh since the last call has asked.
    pub(crate) fn asked(&self) -> Vec<Vec<u16>> {
        let asked = |report: &RefreshReport| report.asked.iter().map(|asked| asked.broker.port).collect();
        self.refreshes().iter().map(asked).collect()
    }

    fn note(&self, happened: Happened) {
        let mut state = self.lock();
        let now = state.now;
        state.happened.push((now, happened));
    }

    /// How long it takes.
    pub(crate) fn time<T>(&self, work: impl FnOnce() -> T) -> (Duration, T) {
        let before = self.lock().now;
        let done = work();
        (self.lock().now - before, done)
    }
}

impl Machine for World {
    fn now(&self) -> Duration {
        self.lock().now
    }

    fn wall_millis(&self) -> i64 {
        1_380_000_000_000
    }

    fn sleep(&self, time: Duration) {
        self.advance(time);
        self.note(Happened::Slept(time));
    }

    fn connect(&self, broker: &BrokerAddress, timeout: Duration) -> io::Result<Box<dyn Socket>> {
        let id = i32::from(broker.port);
        assert_eq!(broker.host, format!("b{id}"));
        self.note(Happened::Connecting(id));
        let health = self.lock().health[&id];
        match health {
            Health::Swallows => {
                self.advance(timeout);
                Err(io::ErrorKind::TimedOut.into())
            }
            Health::Refuses => Err(io::ErrorKind::ConnectionRefused.into()),
            Health::Serves | Health::Silent => Ok(Box::new(Connection {
                world: self.clone(),
                broker: id,
                read_timeout: timeout,
                written: BytesMut::new(),
                answer: Bytes::new(),
            })),
        }
    }
}

/// The client's end of a connection, and the broker at the other one.
struct Connection {
    world: World,
    broker: i32,
    read_timeout: Duration,
    written: BytesMut,
    answer: Bytes,
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let frame = FrameReader::new(1 << 20).next_frame(&mut self.written).unwrap().unwrap();
        if self.world.lock().health[&self.broker] == Health::Serves {
            self.answer = self.serve(frame);
        }
        Ok(())
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.answer.is_empty() {
            self.world.advance(self.read_timeout);
            // What a read that timed out says on Unix.
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let part = self.answer.split_to(self.answer.len().min(buffer.len()));
        buffer[..part.len()].copy_from_slice(&part);
        Ok(part.len())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.world.note(Happened::Closed(self.broker));
    }
}

impl Connection {
    fn serve(&self, frame: Bytes) -> Bytes {
        let mut decoder = Decoder::new(frame);
        let head = decode_request_head(&mut decoder).unwrap();
        let (id, version) = (head.correlation_id, head.api_version);
        match head.supported().unwrap() {
            ApiKey::Metadata => {
                let request = MetadataRequest::decode(&mut decoder, version).unwrap();
                let response = self.metadata(&request);
                encode_response(ApiKey::Metadata, version, id, &response).unwrap().to_bytes()
            }
            ApiKey::Produce => {
                let request = ProduceRequest::decode(&mut decoder, version).unwrap();
                let acks = request.acks;
                let response = self.produce(request);
                let answer = encode_response(ApiKey::Produce, version, id, &response).unwrap();
                if acks == 0 { Bytes::new() } else { answer.to_bytes() }
            }
            other => panic!("{other:?} is not what 0.8 sends"),
        }
    }

    fn metadata(&self, request: &MetadataRequest) -> MetadataResponse {
        self.world.note(Happened::AskedMetadata(self.broker));
        let state = self.world.lock();
        let broker = |id: &i32| MetadataResponseBroker {
            node_id: *id,
            host: format!("b{id}"),
            port: *id,
            ..Default::default()
        };
        let partition = |(index, leader): (i32, &i32)| MetadataResponsePartition {
            error_code: if *leader < 0 { ErrorCode::LEADER_NOT_AVAILABLE } else { ErrorCode::NONE },
            partition_index: index,
            leader_id: *leader,
            ..Default::default()
        };
        let topic = |name: Option<String>| {
            let topic = MetadataResponseTopic { name, ..Default::default() };
            if state.topic_exists {
                let partitions = (0..).zip(&state.leaders).map(partition).collect();
                MetadataResponseTopic { partitions, ..topic }
            } else {
                MetadataResponseTopic { error_code: ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, ..topic }
            }
        };
        let asked = request.topics.iter().flatten().map(|topic| topic.name.clone());
        MetadataResponse {
            brokers: state.live.iter().map(broker).collect(),
            topics: asked.map(topic).collect(),
            ..Default::default()
        }
    }

    fn produce(&self, request: ProduceRequest) -> ProduceResponse {
        let mut response = ProduceResponse::default();
        for topic in request.topic_data {
            let mut answer = TopicProduceResponse { name: topic.name, ..Default::default() };
            for data in topic.partition_data {
                let error_code = self.append(data.index, data.records.unwrap());
                answer.partition_responses.push(PartitionProduceResponse {
                    index: data.index,
                    error_code,
                    ..Default::default()
                });
            }
            response.responses.push(answer);
        }
        response
    }

    fn append(&self, partition: i32, records: Bytes) -> ErrorCode {
        {
            let mut state = self.world.lock();
            if state.leaders[partition as usize] != self.broker {
                return ErrorCode::NOT_LEADER_OR_FOLLOWER;
            }
            if state.refusals > 0 {
                state.refusals -= 1;
                return ErrorCode::NOT_ENOUGH_REPLICAS;
            }
        }
        for batch in RecordBatches::new(records) {
            for record in batch.unwrap().records(1 << 20).unwrap() {
                let value = String::from_utf8(record.unwrap().value.unwrap().to_vec()).unwrap();
                self.world.note(Happened::Produced { broker: self.broker, partition, value });
            }
        }
        ErrorCode::NONE
    }
}

/// The key is the partition.
#[derive(Debug)]
struct ByNumber;

impl Partitioner for ByNumber {
    fn partition(&self, key: &[u8], _partitions: i32) -> i32 {
        i32::from(key[0])
    }
}

pub(crate) fn to_partition(partition: u8, value: &str) -> KeyedMessage {
    KeyedMessage::new(TOPIC, value.to_owned()).with_key(vec![partition])
}

pub(crate) fn keyless(value: &str) -> KeyedMessage {
    KeyedMessage::new(TOPIC, value.to_owned())
}

/// Where records went: broker, partition, value.
pub(crate) fn produced(happened: &[Happened]) -> Vec<(i32, i32, &str)> {
    let produced = happened.iter().filter_map(|happened| match happened {
        Happened::Produced { broker, partition, value } => Some((*broker, *partition, value.as_str())),
        _ => None,
    });
    produced.collect()
}
