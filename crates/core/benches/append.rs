//! What a record costs: on the caller's thread (`append`), and on the driver's.
//!
//! `cargo bench -p milena-core --bench append [-- RECORDS [BYTES]]`. Caller threads append records of 100 bytes without a
//! key to a topic of six partitions; a driver thread runs the whole engine against a broker that acknowledges at once.
//! CPU times are the threads' own, from /proc; nothing is asserted.

#![allow(clippy::print_stdout, reason = "a benchmark reports to people")]
#![allow(clippy::disallowed_methods, reason = "a benchmark has clocks and threads")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::{
    collections::VecDeque,
    env, fs,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Instant as Clock,
};

use milena_core::{
    cluster::TopicInfo,
    config::ProducerConfig,
    engine::{Command, Engine, Event},
    network::ConnectionId,
    producer::{Append, Delivery, ProducerEngine, ProducerShared, Reservation},
    record::Record,
    time::Instant,
};
use milena_protocol::{
    ApiKey, Decoder, Message, decode_request_head, encode_response,
    messages::{
        MetadataRequest, PartitionProduceResponse, ProduceRequest, ProduceResponse, TopicProduceResponse,
    },
};
use support::{FakeCluster, Harness, Peer, START, secs};

/// Deliveries that a caller keeps before it looks at the oldest.
const WINDOW: usize = 100_000;

struct Measured {
    records: u64,
    append_cpu: u64,
    driver_cpu: u64,
    wall: u64,
    requests: u64,
    batches: u64,
}

fn main() {
    let mut numbers = env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let records = numbers.next().unwrap_or(4_000_000);
    let size = numbers.next().unwrap_or(100) as usize;
    println!("{records} records of {size} bytes, 6 partitions, no key, every outcome observed");
    println!("threads  append ns/record  driver ns/record  records/s  batches  requests");
    for threads in [1, 2, 1, 2] {
        let m = measure(threads, records / threads as u64, size);
        println!(
            "{threads:7}  {:16.1}  {:16.1}  {:9.0}  {:7}  {:8}",
            m.append_cpu as f64 / m.records as f64,
            m.driver_cpu as f64 / m.records as f64,
            m.records as f64 / (m.wall as f64 / 1e9),
            m.batches,
            m.requests
        );
    }
}

fn measure(threads: usize, records: u64, size: usize) -> Measured {
    let (harness, shared, topic) = connected();
    let (engine, cluster) = (harness.engine, harness.peer.cluster);
    let stop = Arc::new(AtomicBool::new(false));
    let start = Clock::now();
    let driver = {
        let stop = Arc::clone(&stop);
        let shared = Arc::clone(&shared);
        thread::spawn(move || drive(engine, &cluster, &shared, start, &stop))
    };
    let callers: Vec<_> = (0..threads)
        .map(|_| {
            let (shared, topic) = (Arc::clone(&shared), Arc::clone(&topic));
            thread::spawn(move || call(&shared, &topic, records, size, start))
        })
        .collect();
    let append_cpu = callers.into_iter().map(|caller| caller.join().expect("a caller")).sum();
    let wall = start.elapsed().as_nanos() as u64;
    stop.store(true, Ordering::Release);
    shared.signal().notify();
    driver.thread().unpark();
    let (driver_cpu, batches, requests) = driver.join().expect("the driver");
    Measured { records: records * threads as u64, append_cpu, driver_cpu, wall, requests, batches }
}

/// A producer that knows its topic, has its id, and is connected.
fn connected() -> (Harness<ProducerEngine>, Arc<ProducerShared>, Arc<TopicInfo>) {
    let mut config = ProducerConfig::default();
    config.client.bootstrap = vec![("b1".to_owned(), 9092)];
    let mut peer = Peer::new(1);
    peer.cluster.create("t", &[1; 6]);
    peer.script(ApiKey::InitProducerId, |request, _| {
        let answer =
            milena_protocol::messages::InitProducerIdResponse { producer_id: 1, ..Default::default() };
        request.answer(&answer)
    });
    peer.script(ApiKey::Produce, |request, _| request.answer(&answer(&request.decode()).0));
    let (engine, shared) = ProducerEngine::new(config, 1, START);
    let mut harness = Harness::new(engine, peer);
    shared.metadata().want_topic("t");
    harness.run_until(secs(10), |_| shared.metadata().view().cluster.topic("t").is_some());
    let topic = Arc::clone(shared.metadata().view().cluster.topic("t").expect("known"));
    for partition in 0..6 {
        let record = Record::to("t").partition(partition).value("warm");
        let mut delivery = match shared.append(&topic, &record, 0, harness.now, None) {
            Ok(Append::Appended(delivery)) => delivery,
            other => panic!("{other:?}"),
        };
        harness.run_until(secs(10), |_| delivery.result().is_some());
    }
    (harness, shared, topic)
}

fn now(start: Clock) -> Instant {
    START + secs(10) + start.elapsed()
}

const TIMESTAMP: i64 = 1_700_000_000_000;

/// A caller: appends, and looks at every outcome. Returns its CPU time in nanoseconds.
fn call(shared: &ProducerShared, topic: &TopicInfo, records: u64, size: usize, start: Clock) -> u64 {
    let value = vec![b'x'; size];
    let record = Record::to("t").value(&value);
    let mut deliveries: VecDeque<Delivery> = VecDeque::with_capacity(WINDOW);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let cpu = thread_cpu();
    for _ in 0..records {
        let mut appended = shared.accumulator().append_to_open(topic, &record, TIMESTAMP);
        let mut memory: Option<Reservation> = None;
        while appended.is_none() {
            match shared.append(topic, &record, TIMESTAMP, now(start), memory.take()) {
                Ok(Append::Appended(delivery)) => appended = Some(delivery),
                Ok(Append::NeedsMemory(wait)) => memory = Some(block_on(wait, &waker).expect("open")),
                Err(error) => panic!("{error}"),
            }
        }
        deliveries.extend(appended);
        if deliveries.len() == WINDOW {
            let oldest = deliveries.pop_front().expect("a full window");
            block_on(oldest, &waker).expect("acknowledged");
        }
    }
    for delivery in deliveries {
        block_on(delivery, &waker).expect("acknowledged");
    }
    thread_cpu() - cpu
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F, waker: &Waker) -> F::Output {
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// The driver: the engine, and a broker that acknowledges at once. Returns its CPU time, batches and requests.
fn drive(
    mut engine: ProducerEngine,
    cluster: &FakeCluster,
    shared: &ProducerShared,
    start: Clock,
    stop: &AtomicBool,
) -> (u64, u64, u64) {
    let cpu = thread_cpu();
    let (mut batches, mut requests) = (0, 0);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut answers: Vec<(ConnectionId, milena_protocol::Frame)> = Vec::new();
    while !stop.load(Ordering::Acquire) {
        engine.poll(now(start));
        while let Some(command) = engine.poll_command() {
            let Command::Transmit { connection, frame, .. } = command else { continue };
            answers.push((connection, frame));
        }
        if answers.is_empty() {
            if shared.signal().poll_notified(&mut Context::from_waker(&waker)).is_pending() {
                let next = engine.next_timeout().map(|at| at - now(start));
                thread::park_timeout(next.unwrap_or(secs(1)));
            }
            continue;
        }
        for (connection, frame) in answers.drain(..) {
            let (event, count) = acknowledge(connection, cluster, &frame);
            requests += 1;
            batches += count;
            drop(frame);
            engine.handle_event(event, now(start));
        }
    }
    (thread_cpu() - cpu, batches, requests)
}

/// The broker copies the frame, as a socket would, and reads all but the records.
fn acknowledge(
    connection: ConnectionId,
    cluster: &FakeCluster,
    frame: &milena_protocol::Frame,
) -> (Event, u64) {
    let mut decoder = Decoder::new(frame.to_bytes().slice(4..));
    let head = decode_request_head(&mut decoder).expect("a header");
    if head.api() == Some(ApiKey::Metadata) {
        let request = MetadataRequest::decode(&mut decoder, head.api_version).expect("a request");
        let response = cluster.metadata(&request);
        let frame = encode_response(ApiKey::Metadata, head.api_version, head.correlation_id, &response)
            .expect("fits");
        return (Event::Received { connection, frame: frame.to_bytes().slice(4..) }, 0);
    }
    let request = ProduceRequest::decode(&mut decoder, head.api_version).expect("a request");
    let (response, batches) = answer(&request);
    let frame =
        encode_response(ApiKey::Produce, head.api_version, head.correlation_id, &response).expect("fits");
    (Event::Received { connection, frame: frame.to_bytes().slice(4..) }, batches)
}

fn answer(request: &ProduceRequest) -> (ProduceResponse, u64) {
    let mut batches = 0;
    let mut response = ProduceResponse::default();
    for topic in &request.topic_data {
        let mut answers = TopicProduceResponse { topic_id: topic.topic_id, ..Default::default() };
        answers.name.clone_from(&topic.name);
        for data in &topic.partition_data {
            batches += 1;
            answers
                .partition_responses
                .push(PartitionProduceResponse { index: data.index, ..Default::default() });
        }
        response.responses.push(answers);
    }
    (response, batches)
}

/// The CPU time of this thread, in nanoseconds.
fn thread_cpu() -> u64 {
    let schedstat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    schedstat.split_whitespace().next().and_then(|text| text.parse().ok()).unwrap_or(0)
}
