//! The old producer's part: one thread, as an application of its time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use milena_old_producer::{KeyedMessage, Partitioner, Producer, ProducerConfig};
use tokio::sync::mpsc;

use super::{
    args::IncidentArgs,
    meter::{Fate, Meter},
    schedule::{RECORD, Schedule, WARM_UP},
    time_line::Event,
};

/// Sends in a thread of its own until this is dropped, or what it is in the middle of has ended.
#[derive(Debug)]
pub(super) struct OldProducer {
    ended: Arc<AtomicBool>,
}

impl OldProducer {
    /// Its producer, with the settings of the play under their old names.
    ///
    /// # Errors
    /// The list of brokers is none.
    pub(super) fn build(
        args: &IncidentArgs,
        bootstrap: &str,
        events: mpsc::Sender<Event>,
    ) -> anyhow::Result<Producer> {
        let mut config = ProducerConfig::default();
        let interval =
            args.interval.0.map_or_else(|| "-1".to_owned(), |interval| interval.as_millis().to_string());
        for (key, value) in [
            ("metadata.broker.list", bootstrap),
            ("request.required.acks", "-1"),
            ("request.timeout.ms", &args.request_timeout.as_millis().to_string()),
            ("topic.metadata.refresh.interval.ms", &interval),
            ("client.id", "old-producer"),
        ] {
            config.set(key, value)?;
        }
        let told = move |report: &milena_old_producer::RefreshReport| {
            // Whoever reads the time line may have gone.
            let _ = events.blocking_send(Event::Refreshed { ended: Instant::now(), report: report.clone() });
        };
        Ok(Producer::builder(config).seed(args.seed).partitioner(ByNumber).on_refresh(told).build()?)
    }

    /// Sends a few records to each partition, so that the play begins with everything known and connected.
    ///
    /// # Errors
    /// They are not acknowledged.
    pub(super) async fn warm_up(
        producer: Producer,
        topic: String,
        partitions: i32,
    ) -> anyhow::Result<Producer> {
        let sent = tokio::task::spawn_blocking(move || {
            for _ in 0..WARM_UP {
                producer.send((0..partitions).map(|partition| message(&topic, partition)).collect())?;
            }
            Ok::<_, milena_old_producer::SendError>(producer)
        });
        sent.await?.context("the old producer, before the play")
    }

    /// Begins.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(super) fn start(
        producer: Producer,
        schedule: Schedule,
        meter: Arc<Meter>,
        events: mpsc::Sender<Event>,
    ) -> anyhow::Result<Self> {
        let ended = Arc::<AtomicBool>::default();
        let old = Self { ended: Arc::clone(&ended) };
        let run = move || send(&producer, schedule, &meter, &events, &ended);
        thread::Builder::new().name("old-producer".to_owned()).spawn(run).context("cannot start a thread")?;
        Ok(old)
    }
}

impl Drop for OldProducer {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// Whatever is due goes in one call; while that hangs, more becomes due.
fn send(
    producer: &Producer,
    mut schedule: Schedule,
    meter: &Meter,
    events: &mpsc::Sender<Event>,
    ended: &AtomicBool,
) {
    while !ended.load(Ordering::Relaxed) {
        let due = schedule.take_due();
        if due.is_empty() {
            let Some(pause) = schedule.until_next() else { return };
            thread::sleep(pause.min(Duration::from_millis(100)));
            continue;
        }
        for record in &due {
            meter.begin(record.number, record.due, record.partition);
        }
        let messages = due.iter().map(|record| message(&schedule.topic, record.partition));
        let sent = producer.send(messages.collect());
        let fate = if sent.is_ok() { Fate::Acknowledged } else { Fate::Failed };
        for record in &due {
            meter.end(record.number, fate);
        }
        if let Err(error) = sent {
            let (at, who) = (schedule.now(), "old");
            let _ = events.blocking_send(Event::Failed { at, who, error: error.to_string() });
        }
    }
}

fn message(topic: &str, partition: i32) -> KeyedMessage {
    KeyedMessage::new(topic, RECORD).with_partition_key(partition.to_be_bytes().to_vec())
}

/// The key says the partition.
#[derive(Debug)]
struct ByNumber;

impl Partitioner for ByNumber {
    fn partition(&self, key: &[u8], _partitions: i32) -> i32 {
        key.first_chunk().map_or(-1, |number| i32::from_be_bytes(*number))
    }
}
