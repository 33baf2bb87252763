//! The producer as an [`Engine`]: metadata, network and Sender together, and what callers' threads share with it.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{Append, AppendError, Flush, ProduceError, RecordAccumulator, Reservation, Sender};
use crate::{
    cluster::TopicInfo,
    config::ProducerConfig,
    engine::{Command, Engine, Event},
    metadata::{Metadata, MetadataHandle, MetadataUpdater, RefreshReport},
    network::NetworkClient,
    record::Record,
    signal::Signal,
    time::Instant,
};

/// What callers' threads share with the driver of one producer.
#[derive(Debug)]
pub struct ProducerShared {
    config: ProducerConfig,
    accumulator: Arc<RecordAccumulator>,
    metadata: MetadataHandle,
    signal: Arc<Signal>,
    /// When the close must have ended, in nanoseconds; [`OPEN`] before `begin_close`.
    close_at: AtomicU64,
}

/// The producer is not being closed.
const OPEN: u64 = u64::MAX;

impl ProducerShared {
    /// The settings that it was made with.
    pub fn config(&self) -> &ProducerConfig {
        &self.config
    }

    /// What is known of the cluster; `send` waits here until its topic is known.
    pub fn metadata(&self) -> &MetadataHandle {
        &self.metadata
    }

    /// What wakes the driver.
    pub fn signal(&self) -> &Arc<Signal> {
        &self.signal
    }

    /// The queues.
    pub fn accumulator(&self) -> &Arc<RecordAccumulator> {
        &self.accumulator
    }

    /// Queues a record; see [`RecordAccumulator::append`].
    ///
    /// # Errors
    /// [`AppendError`]; nothing is queued then.
    pub fn append(
        &self,
        topic: &TopicInfo,
        record: &Record<'_>,
        timestamp: i64,
        now: Instant,
        memory: Option<Reservation>,
    ) -> Result<Append, AppendError> {
        self.accumulator.append(topic, record, timestamp, now, memory)
    }

    /// Waits until everything that is queued now is delivered or has failed.
    pub fn flush(&self) -> Flush {
        self.accumulator.flush()
    }

    /// Refuses records from now on. The driver sends what is queued until `deadline`, fails the rest, and ends.
    pub fn begin_close(&self, deadline: Instant) {
        let deadline = deadline.as_nanos().min(OPEN - 1);
        self.close_at.fetch_min(deadline, Ordering::AcqRel);
        self.accumulator.refuse(AppendError::Closed);
    }

    /// The metadata refreshes since the last call.
    pub fn take_refreshes(&self) -> Vec<RefreshReport> {
        self.metadata.take_refreshes()
    }

    fn close_at(&self) -> Option<Instant> {
        let nanos = self.close_at.load(Ordering::Acquire);
        (nanos != OPEN).then(|| Instant::from_nanos(nanos))
    }
}

/// The driver's side of one producer.
#[derive(Debug)]
pub struct ProducerEngine {
    shared: Arc<ProducerShared>,
    metadata: Metadata,
    updater: MetadataUpdater,
    network: NetworkClient,
    sender: Sender,
    /// Compressions that came back since the last turn: at most one for each partition.
    compressed: VecDeque<super::CompressionJob>,
    closed: bool,
}

impl ProducerEngine {
    /// A producer with these settings, which are to be validated by the caller. All that is random follows from `seed`.
    pub fn new(config: ProducerConfig, seed: u64, now: Instant) -> (Self, Arc<ProducerShared>) {
        let signal = Arc::new(Signal::default());
        let metadata = Metadata::new(&config.client, Arc::clone(&signal), seed, now);
        let accumulator = Arc::new(RecordAccumulator::new(&config, Arc::clone(&signal), seed));
        let updater = MetadataUpdater::new(&config.client);
        let network = NetworkClient::new(&config.client, seed ^ 1);
        let sender = Sender::new(&config, Arc::clone(&accumulator), seed ^ 2);
        let shared = Arc::new(ProducerShared {
            config,
            accumulator,
            metadata: metadata.handle(),
            signal,
            close_at: AtomicU64::new(OPEN),
        });
        let engine = Self {
            shared: Arc::clone(&shared),
            metadata,
            updater,
            network,
            sender,
            compressed: VecDeque::new(),
            closed: false,
        };
        (engine, shared)
    }

    /// What callers' threads need.
    pub fn shared(&self) -> &Arc<ProducerShared> {
        &self.shared
    }

    /// The metadata, for those who look in.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The connections, for those who look in.
    pub fn network(&self) -> &NetworkClient {
        &self.network
    }

    /// True if a request has ended.
    fn take_completions(&mut self, now: Instant) -> bool {
        let mut any = false;
        while let Some(change) = self.network.poll_state_change() {
            self.updater.handle_state_change(&change, &mut self.metadata);
        }
        while let Some(completion) = self.network.poll_completion() {
            any = true;
            let Self { updater, metadata, network, sender, .. } = self;
            // Whatever nobody owns was given up by its sender.
            let _unclaimed = updater
                .handle_completion(completion, metadata, network, now)
                .and_then(|completion| sender.handle_completion(completion, metadata, network, now));
        }
        any
    }

    fn poll_close(&mut self, now: Instant) {
        let Some(deadline) = self.shared.close_at() else { return };
        if !self.sender.is_drained() && now < deadline {
            return;
        }
        self.sender.abort(&ProduceError::Closed);
        self.metadata.close();
        self.network.close_all(now);
        self.closed = true;
    }
}

impl Engine for ProducerEngine {
    fn handle_event(&mut self, event: Event, now: Instant) {
        match event {
            Event::Compressed(job) => self.compressed.push_back(job),
            event => self.network.handle_event(event, now),
        }
    }

    fn poll(&mut self, now: Instant) {
        if self.closed {
            return;
        }
        while let Some(job) = self.compressed.pop_front() {
            self.sender.handle_compressed(job);
        }
        if self.shared.close_at().is_some() {
            self.sender.begin_close();
        }
        self.network.poll(now);
        self.take_completions(now);
        self.updater.poll(&mut self.metadata, &mut self.network, now);
        loop {
            self.sender.poll(&mut self.metadata, &mut self.network, now);
            // What the Sender has learned or demanded is not left for the next turn, which may be long in coming. What could not
            // be sent at all has ended already, and more can go; each such batch ends, so this ends.
            let any = self.take_completions(now);
            self.updater.poll(&mut self.metadata, &mut self.network, now);
            if !any {
                break;
            }
        }
        self.poll_close(now);
    }

    fn poll_command(&mut self) -> Option<Command> {
        self.network.poll_command().or_else(|| self.sender.poll_command())
    }

    fn next_timeout(&self) -> Option<Instant> {
        if self.closed {
            return None;
        }
        let updater = self.updater.next_timeout(&self.metadata);
        let timeouts =
            [self.network.next_timeout(), updater, self.sender.next_timeout(), self.shared.close_at()];
        timeouts.into_iter().flatten().min()
    }

    fn is_closed(&self) -> bool {
        self.closed
    }
}
