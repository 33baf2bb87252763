//! [`Producer`]: what callers hold (`kafka.producer.Producer`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use rand::SeedableRng as _;
use rand::rngs::SmallRng;

use crate::broker_partition_info::OnRefresh;
use crate::default_event_handler::DefaultEventHandler;
use crate::{
    ByteArrayPartitioner, ConfigError, Host, Machine, Partitioner, ProducerConfig, RefreshReport, SendError,
};

/// A message for a topic, perhaps with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedMessage {
    /// The topic.
    pub topic: String,
    /// What it is stored with.
    pub key: Option<Bytes>,
    /// What decides the partition instead of the key; it is not stored.
    pub partition_key: Option<Bytes>,
    /// The value.
    pub message: Bytes,
}

impl KeyedMessage {
    /// One without a key: it goes where all of these go until the next refresh.
    pub fn new(topic: impl Into<String>, message: impl Into<Bytes>) -> Self {
        Self { topic: topic.into(), key: None, partition_key: None, message: message.into() }
    }

    /// With a key.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<Bytes>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// With something else than the key to decide the partition.
    #[must_use]
    pub fn with_partition_key(mut self, key: impl Into<Bytes>) -> Self {
        self.partition_key = Some(key.into());
        self
    }

    pub(crate) fn partitioned_by(&self) -> Option<&Bytes> {
        self.partition_key.as_ref().or(self.key.as_ref())
    }
}

/// What a producer is made of.
pub struct ProducerBuilder {
    config: ProducerConfig,
    seed: u64,
    machine: Arc<dyn Machine>,
    partitioner: Box<dyn Partitioner>,
    on_refresh: Option<OnRefresh>,
}

impl ProducerBuilder {
    /// What all that is random follows from: the order in which brokers are asked, and where messages without a key go.
    /// Random itself when nothing is said.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The machine; [`Host`] when nothing is said.
    #[must_use]
    pub fn machine(mut self, machine: Arc<dyn Machine>) -> Self {
        self.machine = machine;
        self
    }

    /// `partitioner.class`; [`ByteArrayPartitioner`] when nothing is said.
    #[must_use]
    pub fn partitioner(mut self, partitioner: impl Partitioner + 'static) -> Self {
        self.partitioner = Box::new(partitioner);
        self
    }

    /// Is told of each refresh when it is over, in the thread that wanted to send something.
    #[must_use]
    pub fn on_refresh(mut self, told: impl FnMut(&RefreshReport) + Send + 'static) -> Self {
        self.on_refresh = Some(Box::new(told));
        self
    }

    /// The producer. Nothing is asked of the network yet: the first send pays for that.
    ///
    /// # Errors
    /// [`ConfigError::NoBrokers`].
    pub fn build(self) -> Result<Producer, ConfigError> {
        let Self { config, seed, machine, partitioner, on_refresh } = self;
        config.validate()?;
        let rng = SmallRng::seed_from_u64(seed);
        let handler = DefaultEventHandler::new(config, machine, partitioner, rng, on_refresh);
        Ok(Producer { event_handler: Mutex::new(Some(handler)) })
    }
}

impl std::fmt::Debug for ProducerBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProducerBuilder").field("config", &self.config).finish_non_exhaustive()
    }
}

/// The old producer, with `producer.type=sync`. See the crate's documentation for why not to use it.
#[derive(Debug)]
pub struct Producer {
    /// None when closed. Held for as long as a send takes, as 0.8 held its lock.
    event_handler: Mutex<Option<DefaultEventHandler>>,
}

impl Producer {
    /// A builder.
    pub fn builder(config: ProducerConfig) -> ProducerBuilder {
        ProducerBuilder {
            config,
            seed: rand::random(),
            machine: Arc::new(Host::new()),
            partitioner: Box::new(ByteArrayPartitioner),
            on_refresh: None,
        }
    }

    /// Sends messages, and returns when all are acknowledged (with request.required.acks=0: written). Everybody else who
    /// wants to send something waits meanwhile.
    ///
    /// In the worst case that takes, for each try, request.timeout.ms for each broker of metadata.broker.list and for each
    /// leader, twice where a connect succeeds and an answer does not come.
    ///
    /// # Errors
    /// [`SendError::FailedToSend`] when the retries are used up; some of the messages may have arrived, and with retries
    /// some more than once. [`SendError::Closed`].
    pub fn send(&self, messages: Vec<KeyedMessage>) -> Result<(), SendError> {
        self.lock().as_mut().ok_or(SendError::Closed)?.handle(messages)
    }

    /// Closes its connections.
    pub fn close(&self) {
        if let Some(mut handler) = self.lock().take() {
            handler.close();
        }
    }

    /// A panic in a caller's hook leaves nothing half done.
    fn lock(&self) -> MutexGuard<'_, Option<DefaultEventHandler>> {
        self.event_handler.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
