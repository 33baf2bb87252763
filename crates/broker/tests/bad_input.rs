//! What a broker does with clients that do not speak Kafka's protocol, or only nearly.

#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use milena_broker::{Broker, BrokerConfig, SocketConfig};
use milena_protocol::messages::{ApiVersionsRequest, MetadataRequest};
use milena_protocol::{ErrorCode, encode_request};
use support::{Client, batch, config_on, fetch_request, start};
use tokio::time::{Instant, sleep};

async fn broker() -> (tempfile::TempDir, Broker) {
    let dir = tempfile::tempdir().unwrap();
    let broker = start(dir.path()).await;
    (dir, broker)
}

/// Says that `bytes` close their own connection and no other.
async fn assert_closes(broker: &Broker, what: &str, bytes: &[u8]) {
    let mut bystander = Client::to(broker).await;
    bystander.call(0, &ApiVersionsRequest::default()).await;
    let mut client = Client::to(broker).await;
    client.send_raw(bytes).await;
    assert_eq!(client.receive_frame().await, None, "{what}");
    bystander.call(0, &ApiVersionsRequest::default()).await;
}

fn framed(body: &[u8]) -> Vec<u8> {
    [&(body.len() as i32).to_be_bytes()[..], body].concat()
}

#[tokio::test]
async fn bad_input_33_frames_that_are_none_close_the_connection() {
    let (_dir, broker) = broker().await;
    assert_closes(&broker, "a negative length", &(-1i32).to_be_bytes()).await;
    assert_closes(&broker, "a length above the limit", &(100 * 1024 * 1024 + 1i32).to_be_bytes()).await;
    assert_closes(&broker, "the longest length", &i32::MAX.to_be_bytes()).await;
    assert_closes(&broker, "HTTP", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_closes(&broker, "TLS", &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]).await;
    assert_closes(&broker, "an empty frame", &framed(&[])).await;
    assert_closes(&broker, "garbage in a frame", &framed(&[0xff; 64])).await;
    assert_closes(&broker, "half a header", &framed(&[0, 3, 0])).await;
}

#[tokio::test]
async fn bad_input_33_apis_and_versions_that_are_not_served_close_the_connection() {
    let (_dir, broker) = broker().await;
    let head = |key: i16, version: i16| {
        framed(&[&key.to_be_bytes()[..], &version.to_be_bytes(), &[0, 0, 0, 1, 0xff, 0xff]].concat())
    };
    assert_closes(&broker, "an API that Kafka does not have", &head(9_999, 0)).await;
    assert_closes(&broker, "an API below zero", &head(-5, 0)).await;
    assert_closes(&broker, "a control request", &head(6, 0)).await;
    assert_closes(&broker, "a version too high", &head(3, 99)).await;
    assert_closes(&broker, "a version below zero", &head(3, -1)).await;
    // Announced for librdkafka's sake, but gone since Kafka 4.
    assert_closes(&broker, "an old produce", &head(0, 2)).await;
}

#[tokio::test]
async fn bad_input_33_counts_above_what_has_arrived_close_the_connection() {
    let (_dir, broker) = broker().await;
    let request = MetadataRequest { topics: Some(Vec::new()), ..Default::default() };
    for count in [i32::MAX, 1_000_000, -2] {
        let mut bytes = encode_request(&request, 1, 7, Some("c")).unwrap().to_bytes().to_vec();
        let at = bytes.len() - 4;
        bytes[at..].copy_from_slice(&count.to_be_bytes());
        assert_closes(&broker, &format!("{count} topics"), &bytes).await;
    }
}

#[tokio::test]
async fn bad_input_33_what_follows_a_good_request_is_judged_on_its_own() {
    let (_dir, broker) = broker().await;
    let mut client = Client::to(&broker).await;
    client.send(0, &ApiVersionsRequest::default()).await;
    client.send_raw(&(-7i32).to_be_bytes()).await;
    // Whether the answer still comes depends on who is faster; that the connection ends does not.
    if client.receive_frame().await.is_some() {
        client.expect_closed().await;
    }
}

#[tokio::test]
async fn bad_input_33_the_limit_of_a_frame_can_be_set_and_is_exact() {
    let dir = tempfile::tempdir().unwrap();
    let request = MetadataRequest { topics: Some(Vec::new()), ..Default::default() };
    let frame = encode_request(&request, 12, 0, Some("test")).unwrap().to_bytes();
    let socket = SocketConfig { request_max_bytes: frame.len() - 4, ..Default::default() };
    let broker = Broker::start(BrokerConfig { socket, ..BrokerConfig::new(dir.path()) }).await.unwrap();
    assert_eq!(Client::to(&broker).await.call(12, &request).await.error_code, ErrorCode::NONE);
    let longer = encode_request(&request, 12, 0, Some("test1")).unwrap().to_bytes();
    assert_closes(&broker, "one byte more", &longer).await;
}

#[tokio::test(start_paused = true)]
async fn bad_input_34_clients_that_never_read_share_a_bounded_memory() {
    const BATCH: usize = 100_000;
    let dir = tempfile::tempdir().unwrap();
    let config = BrokerConfig { fetch_memory: 4 * BATCH, ..config_on(dir.path(), 0) };
    let broker = Broker::start(config).await.unwrap();
    let mut client = Client::to(&broker).await;
    client.create_topic("t", 1, &[]).await;
    let value = "x".repeat(BATCH);
    for _ in 0..20 {
        assert!(client.produce("t", 0, batch(&[&value])).await.error_code.is_ok());
    }
    let healthy = client.fetch("t", 0, 0).await.records.unwrap().len();
    assert!((2 * BATCH..5 * BATCH).contains(&healthy), "{healthy}");
    // One that is larger than all the memory.
    client.create_topic("large", 1, &[]).await;
    let large = batch(&["x".repeat(8 * BATCH).as_str()]);
    assert!(client.produce("large", 0, large.clone()).await.error_code.is_ok());
    let topics = ["t", "t", "large", "t", "large"];
    let mut silent = Vec::new();
    for topic in topics {
        let mut one = Client::to(&broker).await;
        // More answers than the system's buffers between the two can hold.
        for _ in 0..100 {
            one.send(12, &fetch_request(topic, 0, 0, 0)).await;
        }
        silent.push(one);
    }
    // What is small is not in their way, nor what is sent.
    let started = Instant::now();
    client.create_topic("small", 1, &[]).await;
    assert!(client.produce("small", 0, batch(&["a", "b"])).await.error_code.is_ok());
    assert_eq!(client.read_all("small", 0, 0).await.len(), 2);
    assert_eq!(started.elapsed(), Duration::ZERO, "nothing had to be waited for");
    // For the rest they have to make way, and everybody gets at least the one batch that is owed.
    assert_eq!(client.read_all("t", 0, 0).await.len(), 20);
    assert_eq!(client.fetch("large", 0, 0).await.records.unwrap().len(), large.len());
    for mut one in silent {
        let mut answers = 0;
        while one.receive_frame().await.is_some() {
            answers += 1;
        }
        assert!(answers < 100, "it was served to the end");
    }
    assert_eq!(client.fetch("t", 0, 0).await.records.unwrap().len(), healthy);
}

#[tokio::test(start_paused = true)]
async fn bad_input_34_requests_on_a_brokers_only_listener_share_a_bounded_memory() {
    const MB: usize = 1 << 20;
    let dir = tempfile::tempdir().unwrap();
    let socket = SocketConfig { queued_max_request_bytes: 4 * MB, ..Default::default() };
    let broker = Broker::start(BrokerConfig { socket, ..BrokerConfig::new(dir.path()) }).await.unwrap();
    let mut client = Client::to(&broker).await;
    client.create_topic("t", 1, &[]).await;
    let mut half = Client::to(&broker).await;
    half.send_raw(&framed(&vec![0; 3 * MB])[..100_000]).await;
    sleep(Duration::from_secs(10)).await;
    let started = Instant::now();
    assert!(client.produce("t", 0, batch(&["x".repeat(MB / 2).as_str()])).await.error_code.is_ok());
    assert_eq!(started.elapsed(), Duration::from_secs(1));
    half.expect_closed().await;
}

#[tokio::test(start_paused = true)]
async fn bad_input_34_a_fetch_that_waits_for_more_holds_nothing_meanwhile() {
    const BATCH: usize = 100_000;
    let dir = tempfile::tempdir().unwrap();
    let config = BrokerConfig { fetch_memory: 4 * BATCH, ..config_on(dir.path(), 0) };
    let broker = Broker::start(config).await.unwrap();
    let mut client = Client::to(&broker).await;
    client.create_topic("t", 1, &[]).await;
    let value = "x".repeat(BATCH);
    for _ in 0..2 {
        assert!(client.produce("t", 0, batch(&[&value])).await.error_code.is_ok());
    }
    let whole = client.fetch("t", 0, 0).await.records.unwrap().len();
    let mut waiting = Vec::new();
    for _ in 0..10 {
        let mut one = Client::to(&broker).await;
        let mut request = fetch_request("t", 0, 0, 60_000);
        request.min_bytes = 10_000_000;
        one.send(12, &request).await;
        waiting.push(one);
    }
    sleep(Duration::from_secs(10)).await;
    let started = Instant::now();
    assert_eq!(client.fetch("t", 0, 0).await.records.unwrap().len(), whole);
    assert_eq!(started.elapsed(), Duration::ZERO);
}
