//! Compaction in a running broker.

#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use milena_broker::{Broker, BrokerConfig};
use milena_protocol::ErrorCode;
use milena_protocol::records::{BatchBuilder, Seal};
use support::{Client, SOON, now_ms};

#[tokio::test]
async fn log_32_a_compacted_topic_keeps_the_last_value_of_each_key() {
    let dir = tempfile::tempdir().unwrap();
    let mut config =
        BrokerConfig { log_cleaner_backoff: Duration::from_millis(20), ..BrokerConfig::new(dir.path()) };
    config.log.segment_bytes = 2_000;
    let broker = Broker::start(config.clone()).await.unwrap();
    let mut client = Client::to(&broker).await;
    client.create_topic("t", 1, &[("cleanup.policy", "compact")]).await;
    for n in 0..400 {
        let mut batch = BatchBuilder::new(Vec::new());
        let (key, value) = (format!("key {}", n % 5), format!("{n}"));
        batch.append(now_ms(), Some(key.as_bytes()), Some(value.as_bytes()), &[]);
        let produced = client.produce("t", 0, batch.seal(Seal::default()).into()).await;
        assert_eq!((produced.error_code, produced.base_offset), (ErrorCode::NONE, n));
    }
    let keyless = {
        let mut batch = BatchBuilder::new(Vec::new());
        batch.append(now_ms(), None, Some(b"v"), &[]);
        batch.seal(Seal::default()).into()
    };
    assert_eq!(client.produce("t", 0, keyless).await.error_code, ErrorCode::INVALID_RECORD);

    let started = tokio::time::Instant::now();
    let compacted = loop {
        let all = client.read_all("t", 0, 0).await;
        assert!(
            all.iter().all(|(offset, value)| *value == offset.to_string()),
            "what is there is what was sent"
        );
        assert_eq!(all.iter().rev().take(5).map(|(at, _)| *at).min(), Some(395), "the newest are there");
        if all.len() < 100 {
            break all;
        }
        assert!(started.elapsed() < SOON, "{} records are still there", all.len());
        tokio::task::yield_now().await;
    };
    drop(broker);
    let rarely = BrokerConfig { log_cleaner_backoff: Duration::from_hours(1), ..config };
    let broker = Broker::start(rarely).await.unwrap();
    let mut client = Client::to(&broker).await;
    let after = client.read_all("t", 0, 0).await;
    // It may have gone on until it was killed.
    assert!(after.len() >= 5 && compacted.ends_with(&after), "{after:?} of {compacted:?}");
}
