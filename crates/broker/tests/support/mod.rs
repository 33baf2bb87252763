//! A small client that says exactly what a test wants said, and the broker that it says it to.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)]

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use milena_broker::{Broker, BrokerConfig, ListenerConfig};
use milena_protocol::messages::fetch_response::PartitionData;
use milena_protocol::messages::produce_response::PartitionProduceResponse;
use milena_protocol::messages::{
    CreatableTopic, CreatableTopicConfig, CreateTopicsRequest, FetchPartition, FetchRequest, FetchTopic,
    FindCoordinatorRequest, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic, MetadataRequest,
    MetadataRequestTopic, MetadataResponse, PartitionProduceData, ProduceRequest, TopicProduceData,
};
use milena_protocol::records::{BatchBuilder, RecordBatches, Seal};
use milena_protocol::{
    ApiKey, Decoder, ErrorCode, FrameReader, Message, Request, decode_response_header, encode_request,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A limit for what should happen at once, so that a failure does not hang.
pub const SOON: Duration = Duration::from_secs(90);

pub async fn start(dir: &Path) -> Broker {
    Broker::start(BrokerConfig::new(dir)).await.unwrap()
}

/// A broker on the port that another one had.
pub fn config_on(dir: &Path, port: u16) -> BrokerConfig {
    BrokerConfig { listeners: vec![ListenerConfig::loopback(port)], ..BrokerConfig::new(dir) }
}

/// A connection.
pub struct Client {
    pub stream: TcpStream,
    received: BytesMut,
    next_correlation_id: i32,
}

impl Client {
    pub async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, received: BytesMut::new(), next_correlation_id: 0 }
    }

    pub async fn to(broker: &Broker) -> Self {
        Self::connect(broker.address()).await
    }

    /// Sends a request without waiting, and answers its correlation id.
    pub async fn send<R: Request>(&mut self, version: i16, request: &R) -> i32 {
        let id = self.next_correlation_id;
        self.next_correlation_id += 1;
        let frame = encode_request(request, version, id, Some("test")).unwrap();
        self.stream.write_all(&frame.to_bytes()).await.unwrap();
        id
    }

    pub async fn send_raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// The next frame's bytes, or None when the broker has closed the connection.
    pub async fn receive_frame(&mut self) -> Option<Bytes> {
        let frames = FrameReader::new(100 * 1024 * 1024);
        loop {
            if let Some(frame) = frames.next_frame(&mut self.received).unwrap() {
                return Some(frame);
            }
            match tokio::time::timeout(SOON, self.stream.read_buf(&mut self.received))
                .await
                .expect("no answer")
            {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    pub async fn receive<M: Message>(&mut self, api: ApiKey, version: i16) -> (i32, M) {
        let frame = self.receive_frame().await.expect("the connection was closed");
        let mut decoder = Decoder::new(frame);
        let id = decode_response_header(&mut decoder, api, version).unwrap();
        let message = M::decode(&mut decoder, version).unwrap();
        decoder.expect_empty(M::NAME).unwrap();
        (id, message)
    }

    pub async fn call<R: Request>(&mut self, version: i16, request: &R) -> R::Response {
        let id = self.send(version, request).await;
        let (answered, response) = self.receive(R::API_KEY, version).await;
        assert_eq!(answered, id);
        response
    }

    /// Says that the broker closes the connection without a word.
    pub async fn expect_closed(&mut self) {
        assert_eq!(self.receive_frame().await, None);
    }

    pub async fn create_topic(&mut self, name: &str, partitions: i32, configs: &[(&str, &str)]) {
        let configs = configs.iter().map(|(name, value)| CreatableTopicConfig {
            name: (*name).to_owned(),
            value: Some((*value).to_owned()),
        });
        let topic = CreatableTopic {
            name: name.to_owned(),
            num_partitions: partitions,
            replication_factor: 1,
            configs: configs.collect(),
            ..Default::default()
        };
        let request = CreateTopicsRequest { topics: vec![topic], ..Default::default() };
        let response = self.call(7, &request).await;
        assert_eq!(response.topics[0].error_code, ErrorCode::NONE, "{response:?}");
    }

    pub async fn metadata(&mut self, topics: &[&str]) -> MetadataResponse {
        let topic =
            |name: &&str| MetadataRequestTopic { name: Some((*name).to_owned()), ..Default::default() };
        let request =
            MetadataRequest { topics: Some(topics.iter().map(topic).collect()), ..Default::default() };
        self.call(12, &request).await
    }

    pub async fn produce(&mut self, topic: &str, partition: i32, records: Bytes) -> PartitionProduceResponse {
        self.call(9, &produce_request(topic, partition, records, -1)).await.responses[0].partition_responses
            [0]
        .clone()
    }

    pub async fn fetch(&mut self, topic: &str, partition: i32, offset: i64) -> PartitionData {
        self.call(12, &fetch_request(topic, partition, offset, 0)).await.responses[0].partitions[0].clone()
    }

    /// Everything from `offset` on.
    pub async fn read_all(&mut self, topic: &str, partition: i32, mut offset: i64) -> Vec<(i64, String)> {
        let mut all = Vec::new();
        loop {
            let data = self.fetch(topic, partition, offset).await;
            assert_eq!(data.error_code, ErrorCode::NONE);
            let records = data.records.unwrap();
            // Compaction leaves batches without records.
            let Some(last) = RecordBatches::new(records.clone()).last() else { return all };
            offset = last.unwrap().header().next_offset();
            all.extend(values(records));
        }
    }

    /// The broker that coordinates a group.
    pub async fn coordinator(&mut self, group: &str) -> i32 {
        let keys = vec![group.to_owned()];
        let request = FindCoordinatorRequest { coordinator_keys: keys, ..Default::default() };
        let started = tokio::time::Instant::now();
        loop {
            let found = self.call(6, &request).await.coordinators[0].clone();
            if found.error_code.is_ok() {
                return found.node_id;
            }
            assert_eq!(found.error_code, ErrorCode::COORDINATOR_NOT_AVAILABLE);
            assert!(started.elapsed() < SOON, "no coordinator");
            tokio::task::yield_now().await;
        }
    }

    pub async fn list_offset(
        &mut self,
        topic: &str,
        partition: i32,
        timestamp: i64,
    ) -> (ErrorCode, i64, i64) {
        let partition = ListOffsetsPartition { partition_index: partition, timestamp, ..Default::default() };
        let request = ListOffsetsRequest {
            replica_id: -1,
            topics: vec![ListOffsetsTopic { name: topic.to_owned(), partitions: vec![partition] }],
            ..Default::default()
        };
        let answer = self.call(8, &request).await.topics[0].partitions[0].clone();
        (answer.error_code, answer.offset, answer.timestamp)
    }
}

pub fn produce_request(topic: &str, partition: i32, records: Bytes, acks: i16) -> ProduceRequest {
    let data = PartitionProduceData { index: partition, records: Some(records) };
    ProduceRequest {
        acks,
        timeout_ms: 1_000,
        topic_data: vec![TopicProduceData {
            name: topic.to_owned(),
            partition_data: vec![data],
            ..Default::default()
        }],
        ..Default::default()
    }
}

pub fn fetch_request(topic: &str, partition: i32, offset: i64, max_wait_ms: i32) -> FetchRequest {
    let partition = FetchPartition {
        partition,
        fetch_offset: offset,
        partition_max_bytes: 1024 * 1024,
        ..Default::default()
    };
    FetchRequest {
        max_wait_ms,
        min_bytes: 1,
        max_bytes: 16 * 1024 * 1024,
        topics: vec![FetchTopic {
            topic: topic.to_owned(),
            partitions: vec![partition],
            ..Default::default()
        }],
        ..Default::default()
    }
}

pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis().try_into().unwrap()
}

/// An ordinary batch.
pub fn batch(values: &[&str]) -> Bytes {
    sealed(values, Seal::default())
}

/// A batch of an idempotent producer.
pub fn idempotent(values: &[&str], producer_id: i64, producer_epoch: i16, base_sequence: i32) -> Bytes {
    sealed(values, Seal { producer_id, producer_epoch, base_sequence, ..Default::default() })
}

pub fn sealed(values: &[&str], seal: Seal) -> Bytes {
    let mut builder = BatchBuilder::new(Vec::new());
    for value in values {
        builder.append(now_ms(), Some(b"key"), Some(value.as_bytes()), &[]);
    }
    builder.seal(seal).into()
}

/// Offsets and values of whole batches.
pub fn values(records: Bytes) -> Vec<(i64, String)> {
    let mut all = Vec::new();
    for batch in RecordBatches::new(records) {
        for record in batch.unwrap().records(1024 * 1024).unwrap() {
            let record = record.unwrap();
            all.push((record.offset, String::from_utf8(record.value.unwrap().to_vec()).unwrap()));
        }
    }
    all
}
