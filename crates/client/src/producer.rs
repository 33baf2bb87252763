//! The producer: `send` queues a record, a [`Delivery`] says where it went.

use std::{sync::Arc, task::Poll, time::Duration};

pub use milena_core::{
    config::ConfigError,
    metadata::MetadataError,
    producer::{AppendError, Delivery, ProduceError},
    record::{Header, Record, RecordMetadata},
};
use milena_core::{
    config::ProducerConfig,
    metadata::MetadataWait,
    producer::{Append, MemoryWait, PoolClosed, ProducerEngine, ProducerShared, Reservation},
    time::Instant,
};

use crate::{
    clock::Clock,
    driver::{self, BuildError, DriverHandle},
    metadata::MetadataWatch,
};

/// Why a record was not queued. Nothing of it was sent.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SendError {
    /// The topic's partitions are not known (max.block.ms passed, no such topic, not allowed, no such partition).
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// The record cannot be taken as it is, or the producer is closed.
    #[error(transparent)]
    Refused(#[from] AppendError),
    /// Only from [`Producer::try_send`]: queueing this record means waiting for metadata or memory.
    #[error("the record cannot be queued without waiting")]
    WouldBlock,
}

/// Collects settings under Kafka's names.
#[derive(Clone, Debug, Default)]
pub struct ProducerBuilder {
    config: ProducerConfig,
    error: Option<ConfigError>,
}

impl ProducerBuilder {
    /// The brokers to start from: `host:port,host:port` (bootstrap.servers).
    #[must_use]
    pub fn bootstrap(self, list: &str) -> Self {
        self.set("bootstrap.servers", list)
    }

    /// A setting by its Kafka name, such as `linger.ms`; the first one that is wrong is reported by
    /// [`build`](Self::build).
    #[must_use]
    pub fn set(mut self, key: &str, value: &str) -> Self {
        if self.error.is_none() {
            self.error = self.config.set(key, value).err();
        }
        self
    }

    /// Starts the producer. Nothing is asked of the network or DNS yet: a cluster that is down delays the first `send`,
    /// not this.
    ///
    /// # Errors
    /// The first wrong setting, settings that contradict each other, or the system's refusal of a thread.
    pub fn build(self) -> Result<Producer, BuildError> {
        if let Some(error) = self.error {
            return Err(error.into());
        }
        self.config.validate()?;
        Producer::start(self.config)
    }
}

/// Sends records to Kafka. Cheap to share by reference or [`Arc`]; all methods take `&self`.
///
/// Dropping it closes it in the background: what is queued is still sent, within delivery.timeout.ms, for as long as the
/// process lives. Call [`close`](Self::close) to wait for that.
#[derive(Debug)]
pub struct Producer {
    shared: Arc<ProducerShared>,
    clock: Arc<Clock>,
    driver: DriverHandle,
    max_block: Duration,
}

impl Producer {
    /// A builder with Kafka's defaults.
    pub fn builder() -> ProducerBuilder {
        ProducerBuilder::default()
    }

    fn start(config: ProducerConfig) -> Result<Self, BuildError> {
        let clock = Arc::new(Clock::new());
        let (max_block, max_frame) = (config.max_block, config.client.max_response_size);
        let (engine, shared) = ProducerEngine::new(config, rand::random(), clock.now());
        let signal = Arc::clone(shared.signal());
        let driver = driver::spawn("milena-producer", engine, signal, Arc::clone(&clock), max_frame)?;
        Ok(Self { shared, clock, driver, max_block })
    }

    /// Queues a record, and gives the future of its delivery. Most often it does not wait; it does, for at most
    /// max.block.ms, while the topic's partitions are not known or buffer.memory is full.
    ///
    /// The record's bytes are copied before this returns. Dropping the [`Delivery`] cancels nothing.
    ///
    /// # Errors
    /// [`SendError`]: the record was not queued.
    ///
    /// # Panics
    /// When it has to wait outside of a tokio runtime.
    pub async fn send(&self, record: Record<'_>) -> Result<Delivery, SendError> {
        if let Some(delivery) = self.append_to_open(&record) {
            return Ok(delivery);
        }
        // Boxed so that the common case carries none of the waiting's state, and keeps its result in registers.
        Box::pin(self.send_slowly(record)).await.map(|delivery| *delivery)
    }

    /// As [`send`](Self::send), for callers that never wait; needs no runtime.
    ///
    /// # Errors
    /// [`SendError::WouldBlock`] when the topic is not known yet (it is asked for) or the buffer is full; otherwise as
    /// for [`send`](Self::send). What the brokers have said against the topic or the partition is told as it was last heard,
    /// and asked for anew.
    pub fn try_send(&self, record: Record<'_>) -> Result<Delivery, SendError> {
        if let Some(delivery) = self.append_to_open(&record) {
            return Ok(delivery);
        }
        let now = self.clock.now();
        match self.append(&record, now, None)? {
            Some(Append::Appended(delivery)) => Ok(delivery),
            Some(Append::NeedsMemory(_)) => Err(SendError::WouldBlock),
            None => {
                let mut wait = MetadataWait::new(record.topic, record.partition, Instant::FAR_FUTURE);
                match wait.poll(self.shared.metadata(), now) {
                    Poll::Ready(Err(error)) => Err(error.into()),
                    _ => Err(wait
                        .said_last(self.shared.metadata(), now)
                        .map_or(SendError::WouldBlock, SendError::from)),
                }
            }
        }
    }

    /// Waits until every record that was queued before is acknowledged or has failed. Sends what lingers at once.
    pub async fn flush(&self) {
        self.shared.flush().await;
    }

    /// Closes: takes no more records, sends what is queued for at most `timeout`, fails the rest, and returns when all
    /// is done. Callers that wait in `send` are woken with an error.
    pub async fn close(&self, timeout: Duration) {
        self.shared.begin_close(self.clock.now() + timeout);
        self.shared.signal().notify();
        self.driver.ended().await;
    }

    /// The cluster as this producer sees it.
    pub fn metadata(&self) -> MetadataWatch {
        MetadataWatch::new(self.shared.metadata().clone(), Arc::clone(&self.clock))
    }

    /// What nearly every record comes to: its topic is known and its partition has an open batch with room. None when not.
    #[inline]
    fn append_to_open(&self, record: &Record<'_>) -> Option<Delivery> {
        let view = self.shared.metadata().view();
        let topic = view.cluster.topic(record.topic)?;
        let timestamp = record.timestamp.unwrap_or_else(|| self.clock.wall_millis(self.clock.now()));
        self.shared.accumulator().append_to_open(topic, record, timestamp)
    }

    /// Ok(None): the topic, or that partition of it, is not in the current view.
    fn append(
        &self,
        record: &Record<'_>,
        now: Instant,
        memory: Option<Reservation>,
    ) -> Result<Option<Append>, SendError> {
        let view = self.shared.metadata().view();
        let Some(topic) = view.cluster.topic(record.topic) else { return Ok(None) };
        // The caller waits for these as for the topic: the view may be older than the partition.
        if topic.partitions.is_empty() || record.partition.is_some_and(|p| topic.partition(p).is_none()) {
            return Ok(None);
        }
        let timestamp = record.timestamp.unwrap_or_else(|| self.clock.wall_millis(now));
        Ok(Some(self.shared.accumulator().append(topic, record, timestamp, now, memory)?))
    }

    async fn send_slowly(&self, record: Record<'_>) -> Result<Box<Delivery>, SendError> {
        let started = self.clock.now();
        let deadline = started + self.max_block;
        let mut blocked = self.append(&record, started, None)?;
        loop {
            let memory = match blocked {
                Some(Append::Appended(delivery)) => return Ok(Box::new(delivery)),
                Some(Append::NeedsMemory(wait)) => {
                    let (mut wait, limit) = (wait, self.clock.to_tokio(deadline));
                    match tokio::time::timeout_at(limit, &mut wait).await {
                        Ok(Ok(reservation)) => Some(reservation),
                        // Why no more records are taken, the next try is told.
                        Ok(Err(PoolClosed)) => None,
                        Err(_) => return Err(self.buffer_full(&wait).into()),
                    }
                }
                None => {
                    self.wait_on_metadata(&record, deadline).await?;
                    None
                }
            };
            blocked = self.append(&record, self.clock.now(), memory)?;
        }
    }

    async fn wait_on_metadata(&self, record: &Record<'_>, deadline: Instant) -> Result<(), MetadataError> {
        let handle = self.shared.metadata();
        let mut wait = MetadataWait::new(record.topic, record.partition, deadline);
        loop {
            let changed = handle.listen();
            if let Poll::Ready(outcome) = wait.poll(handle, self.clock.now()) {
                return outcome;
            }
            // At the deadline the next poll names the cause.
            let _ = tokio::time::timeout_at(self.clock.to_tokio(deadline), changed).await;
        }
    }

    fn buffer_full(&self, wait: &MemoryWait) -> AppendError {
        let (pool, needed, waited) = (self.shared.accumulator().pool(), wait.needed(), self.max_block);
        match wait.held_up_by() {
            Some(reason) => AppendError::HeldUp { reason, needed, share: pool.share(), waited },
            None => AppendError::BufferFull { needed, total: pool.total(), waited },
        }
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        self.shared.begin_close(self.clock.now() + self.shared.config().delivery_timeout);
        self.shared.signal().notify();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use milena_core::engine::{Command, Engine, Event};

    use super::*;

    /// A producer's engine that panics when it is told to, as one with a bug would.
    struct Panics {
        engine: ProducerEngine,
        now: Arc<AtomicBool>,
    }

    impl Engine for Panics {
        fn handle_event(&mut self, event: Event, now: Instant) {
            self.engine.handle_event(event, now);
        }

        fn poll(&mut self, now: Instant) {
            assert!(!self.now.load(Ordering::Relaxed), "this panic belongs to a test");
            self.engine.poll(now);
        }

        fn poll_command(&mut self) -> Option<Command> {
            self.engine.poll_command()
        }

        fn next_timeout(&self) -> Option<Instant> {
            self.engine.next_timeout()
        }

        fn is_closed(&self) -> bool {
            self.engine.is_closed()
        }
    }

    #[tokio::test]
    async fn when_the_driver_panics_everybody_who_waits_is_told() -> Result<(), Box<dyn std::error::Error>> {
        // Connections are taken, and nothing is ever said on them.
        let broker = std::net::TcpListener::bind("127.0.0.1:0")?;
        let mut config = ProducerConfig::default();
        config.set("bootstrap.servers", &broker.local_addr()?.to_string())?;
        let (clock, max_block) = (Arc::new(Clock::new()), config.max_block);
        let (engine, shared) = ProducerEngine::new(config, 1, clock.now());
        let (signal, now) = (Arc::clone(shared.signal()), Arc::<AtomicBool>::default());
        let engine = Panics { engine, now: Arc::clone(&now) };
        let driver = driver::spawn("milena-test", engine, signal, Arc::clone(&clock), 1 << 20)?;
        let producer = Producer { shared, clock, driver, max_block };

        let record = Record::to("t").value("v");
        let (sent, ()) = tokio::join!(producer.send(record), async {
            now.store(true, Ordering::Relaxed);
            producer.shared.signal().notify();
        });
        for outcome in [sent, producer.try_send(record)] {
            let error = outcome.expect_err("nobody would send it");
            assert!(matches!(error, SendError::Metadata(MetadataError::Fatal(_))), "{error}");
        }
        producer.flush().await;
        producer.close(Duration::from_secs(60)).await;
        Ok(())
    }
}
