//! A small blocking client over a plain socket: what it sees does not depend on the client that is measured.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use bytes::Bytes;
use milena_protocol::messages::{
    CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest, DeleteTopicsRequest, MetadataRequest,
    MetadataRequestTopic, MetadataResponse,
};
use milena_protocol::{Decoder, ErrorCode, Message as _, Request, decode_response_header, encode_request};

/// How long an answer may take, and a connect. A broker that has died gives none at all.
const TIMEOUT: Duration = Duration::from_secs(2);
/// What a cluster may take to create a topic, or to become whole again, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);
/// How often the cluster is looked at while something is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// No answer that is asked for here is larger.
const ANSWER_MAX: usize = 64 << 20;

/// Versions that Kafka 4 and the embedded broker have in common.
const METADATA: i16 = 12;
const CREATE_TOPICS: i16 = 7;
const DELETE_TOPICS: i16 = 5;

/// A connection to one broker.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    correlation_id: i32,
}

/// A topic as one broker tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// The brokers that are alive: ids and addresses.
    pub brokers: Vec<(i32, String)>,
    /// The broker that is to be asked for changes.
    pub controller: i32,
    /// The partitions in order.
    pub partitions: Vec<Partition>,
}

/// A partition as one broker tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The leader, or a negative number.
    pub leader: i32,
    /// All replicas.
    pub replicas: Vec<i32>,
    /// Those in sync.
    pub isr: Vec<i32>,
}

impl Wire {
    /// Connects to `host:port`.
    ///
    /// # Errors
    /// When nobody answers there within two seconds.
    pub fn connect(address: &str) -> Result<Self> {
        let resolved: SocketAddr =
            address.to_socket_addrs()?.next().with_context(|| format!("no address {address}"))?;
        let stream = TcpStream::connect_timeout(&resolved, TIMEOUT)
            .with_context(|| format!("connecting to {address}"))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        Ok(Self { stream, correlation_id: 0 })
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// When the connection breaks or is silent, or the answer is not one.
    pub fn ask<R: Request>(&mut self, request: &R, version: i16) -> Result<R::Response> {
        self.correlation_id += 1;
        let frame = encode_request(request, version, self.correlation_id, Some("probe"))?;
        self.stream.write_all(&frame.to_bytes()).context("sending a request")?;
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).context("waiting for an answer")?;
        let length = usize::try_from(i32::from_be_bytes(length)).context("a negative length")?;
        ensure!(length <= ANSWER_MAX, "an answer of {length} bytes");
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).context("reading an answer")?;
        let mut decoder = Decoder::new(Bytes::from(body));
        let answered = decode_response_header(&mut decoder, R::API_KEY, version)?;
        ensure!(answered == self.correlation_id, "an answer to another request");
        Ok(R::Response::decode(&mut decoder, version)?)
    }

    /// A topic, and the brokers; without partitions when there is no such topic.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn view(&mut self, topic: &str) -> Result<View> {
        let named = MetadataRequestTopic { name: Some(topic.to_owned()), ..Default::default() };
        let request = MetadataRequest {
            topics: Some(vec![named]),
            allow_auto_topic_creation: false,
            ..Default::default()
        };
        Ok(View::of(&self.ask(&request, METADATA)?, topic))
    }
}

impl View {
    fn of(answer: &MetadataResponse, topic: &str) -> Self {
        let brokers =
            answer.brokers.iter().map(|broker| (broker.node_id, format!("{}:{}", broker.host, broker.port)));
        let found = answer.topics.iter().find(|found| found.name.as_deref() == Some(topic));
        let mut partitions: Vec<_> = found.into_iter().flat_map(|topic| &topic.partitions).collect();
        partitions.sort_by_key(|partition| partition.partition_index);
        let partitions = partitions.into_iter().map(|partition| Partition {
            leader: partition.leader_id,
            replicas: partition.replica_nodes.clone(),
            isr: partition.isr_nodes.clone(),
        });
        Self {
            brokers: brokers.collect(),
            controller: answer.controller_id,
            partitions: partitions.collect(),
        }
    }

    /// Whether there are so many partitions, and every replica of each is alive and in sync.
    #[must_use]
    pub fn is_whole(&self, partitions: usize) -> bool {
        let alive = |id: &i32| self.brokers.iter().any(|(broker, _)| broker == id);
        self.partitions.len() == partitions
            && self.partitions.iter().all(|partition| {
                partition.isr.len() == partition.replicas.len()
                    && partition.isr.iter().all(alive)
                    && partition.leader >= 0
            })
    }
}

/// How a topic's replicas are placed.
#[derive(Debug, Clone)]
pub enum Placement {
    /// The replicas of each partition, the leader first.
    Given(Vec<Vec<i32>>),
    /// So many partitions with so many replicas, wherever the controller likes.
    Any(i32, i16),
}

impl Placement {
    /// How many partitions.
    #[must_use]
    pub fn partitions(&self) -> usize {
        match self {
            Self::Given(replicas) => replicas.len(),
            Self::Any(partitions, _) => usize::try_from(*partitions).unwrap_or(0),
        }
    }
}

/// Creates a topic, and waits until every broker of `bootstrap` tells of it as whole.
///
/// # Errors
/// When the controller refuses, or it takes longer than a minute and a half.
pub fn create_topic(bootstrap: &str, topic: &str, placement: &Placement) -> Result<()> {
    let (num_partitions, replication_factor) = match placement {
        Placement::Given(_) => (-1, -1),
        Placement::Any(partitions, replicas) => (*partitions, *replicas),
    };
    let assignments = match placement {
        Placement::Given(replicas) => replicas.as_slice(),
        Placement::Any(..) => &[],
    };
    let assignments = (0..)
        .zip(assignments)
        .map(|(partition_index, ids)| CreatableReplicaAssignment { partition_index, broker_ids: ids.clone() })
        .collect();
    let name = topic.to_owned();
    let new = CreatableTopic { name, num_partitions, replication_factor, assignments, ..Default::default() };
    let request = CreateTopicsRequest { topics: vec![new], timeout_ms: 30_000, ..Default::default() };
    let answer = controller(bootstrap, topic)?.ask(&request, CREATE_TOPICS)?;
    let result = answer.topics.first().context("no answer for the topic")?;
    let why = result.error_message.as_deref().unwrap_or("no reason given");
    ensure!(result.error_code == ErrorCode::NONE, "creating {topic}: {:?}, {why}", result.error_code);
    wait_until_whole(bootstrap, topic, placement.partitions())
}

/// Deletes a topic.
///
/// # Errors
/// When the controller refuses.
pub fn delete_topic(bootstrap: &str, topic: &str) -> Result<()> {
    let request =
        DeleteTopicsRequest { topic_names: vec![topic.to_owned()], timeout_ms: 30_000, ..Default::default() };
    let answer = controller(bootstrap, topic)?.ask(&request, DELETE_TOPICS)?;
    let result = answer.responses.first().context("no answer for the topic")?;
    ensure!(result.error_code == ErrorCode::NONE, "deleting {topic}: {:?}", result.error_code);
    Ok(())
}

/// Waits until every broker of `bootstrap` tells that all replicas are alive and in sync.
///
/// # Errors
/// When it takes longer than a minute and a half.
pub fn wait_until_whole(bootstrap: &str, topic: &str, partitions: usize) -> Result<()> {
    let until = Instant::now() + PATIENCE;
    let whole =
        |address: &str| -> Result<bool> { Ok(Wire::connect(address)?.view(topic)?.is_whole(partitions)) };
    while !bootstrap.split(',').all(|address| whole(address).unwrap_or(false)) {
        ensure!(Instant::now() < until, "the replicas of {topic} were not whole within {PATIENCE:?}");
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

fn controller(bootstrap: &str, topic: &str) -> Result<Wire> {
    for address in bootstrap.split(',') {
        let Ok(mut wire) = Wire::connect(address) else { continue };
        let view = wire.view(topic)?;
        let controller = view.brokers.iter().find(|(id, _)| *id == view.controller);
        let (_, controller) = controller.context("a cluster without a controller")?;
        return Wire::connect(controller);
    }
    bail!("nobody answers at {bootstrap}")
}

/// Asks one broker every 20 ms who leads, until `sick` partitions are led by others than `dead`; the answer is when.
///
/// # Errors
/// When they are not within a minute and a half, or the broker does not answer.
pub fn wait_for_leaders(wire: &mut Wire, topic: &str, sick: &[usize], dead: i32) -> Result<Instant> {
    let until = Instant::now() + PATIENCE;
    loop {
        let view = wire.view(topic)?;
        let moved = |&partition: &usize| {
            view.partitions.get(partition).is_some_and(|found| found.leader >= 0 && found.leader != dead)
        };
        if sick.iter().all(moved) {
            return Ok(Instant::now());
        }
        ensure!(Instant::now() < until, "the leaders did not move within {PATIENCE:?}");
        thread::sleep(LOOK_EVERY);
    }
}
