//! [`Plan`]: the cluster, the clients and the times of a run, as its seed says.

use std::time::Duration;

use milena_core::config::{Acks, ProducerConfig};
use milena_protocol::records::Compression;
use milena_storage::{FsyncPolicy, LogConfig};

use crate::chance::Chance;
use crate::network::CLIENT_PORT;

/// The topic that everybody uses.
pub const TOPIC: &str = "orders";

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// What a run is made of, but for its faults.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The brokers' ids.
    pub brokers: Vec<i32>,
    /// What is added to a broker's id for that of its spare; 0 when there are none.
    pub spare_ids: i32,
    /// The topic's partitions.
    pub partitions: i32,
    /// The most partitions that it comes to have.
    pub partitions_max: i32,
    /// `min.insync.replicas`; there are three replicas.
    pub min_in_sync: usize,
    /// When brokers make records durable. Only with [`FsyncPolicy::EveryBatch`] does anything survive a power cut.
    pub fsync: FsyncPolicy,
    /// `broker.session.timeout.ms`.
    pub session_timeout: Duration,
    /// `replica.lag.time.max.ms`.
    pub lag_time_max: Duration,
    /// `log.segment.bytes`.
    pub segment_bytes: i32,
    /// How long a packet takes, from the fastest to the slowest.
    pub latency: (Duration, Duration),
    /// How long a disk takes at most.
    pub disk: Duration,
    /// The producers.
    pub producers: Vec<ProducerPlan>,
    /// How many consumers read everything.
    pub consumers: u32,
    /// For how long things go wrong.
    pub faults_for: Duration,
    /// For how long producers go on after that.
    pub calm_for: Duration,
}

/// One producer.
#[derive(Debug, Clone)]
pub struct ProducerPlan {
    /// Its settings.
    pub config: ProducerConfig,
    /// The longest pause between two bursts of records.
    pub pause: Duration,
    /// The most records in a burst.
    pub burst: u64,
    /// Whether it names the partition of each record.
    pub names_partitions: bool,
}

impl Plan {
    /// A cluster and its clients.
    pub fn random(chance: &mut Chance) -> Self {
        let brokers = chance.pick(&[3, 3, 3, 4, 5]);
        let is_durable = chance.percent(60);
        let segment_bytes = chance.pick(&[3_000, 8_000, 1 << 20]);
        // A batch has to fit into a segment.
        let largest = if segment_bytes < 1 << 20 { 2_048 } else { 1 << 20 };
        let producers = chance.range(1, 2);
        let partitions = chance.pick(&[1, 2, 3]);
        Self {
            brokers: (1..=brokers).collect(),
            spare_ids: 0,
            partitions,
            partitions_max: partitions,
            min_in_sync: 2,
            fsync: if is_durable { FsyncPolicy::EveryBatch } else { FsyncPolicy::Os },
            session_timeout: ms(chance.pick(&[2_000, 3_000, 5_000])),
            lag_time_max: ms(chance.pick(&[1_000, 2_000, 4_000])),
            segment_bytes,
            latency: chance.pick(&[(ms(0), ms(1)), (ms(0), ms(4)), (ms(1), ms(30))]),
            disk: ms(chance.pick(&[0, 0, 1, 10])),
            producers: (0..producers)
                .map(|index| ProducerPlan::random(index, brokers, largest, chance))
                .collect(),
            consumers: 1,
            faults_for: secs(chance.range(4, 20)),
            calm_for: secs(15),
        }
    }

    /// What a topic has that says nothing else.
    #[must_use]
    pub fn log_config(&self) -> LogConfig {
        LogConfig {
            segment_bytes: self.segment_bytes,
            index_interval_bytes: 200,
            min_insync_replicas: i32::try_from(self.min_in_sync).unwrap_or(1),
            ..LogConfig::default()
        }
    }
}

impl ProducerPlan {
    fn random(index: u64, brokers: i32, largest: usize, chance: &mut Chance) -> Self {
        let mut config = ProducerConfig { acks: Acks::All, ..ProducerConfig::default() };
        config.client.bootstrap = (1..=brokers).map(|id| (format!("broker-{id}"), CLIENT_PORT)).collect();
        config.client.client_id = format!("producer-{index}");
        config.client.request_timeout = ms(chance.pick(&[1_000, 3_000, 10_000]));
        config.client.connection_setup_timeout = ms(chance.pick(&[500, 2_000, 10_000]));
        config.client.metadata_max_age = secs(chance.pick(&[5, 300]));
        config.client.max_in_flight = chance.index(5) + 1;
        config.client.allow_auto_create_topics = false;
        config.linger = ms(chance.pick(&[0, 5, 50]));
        config.batch_size = chance.pick(&[0, 200, 1_000, 16 << 10]);
        config.max_request_size = largest.min(chance.pick(&[2_048, 1 << 20]));
        config.buffer_memory = chance.pick(&[16 << 10, 32 << 20]);
        config.delivery_timeout = secs(chance.pick(&[4, 10, 60]));
        if chance.one_in(5) {
            config.compression = Compression::Lz4;
        }
        Self {
            config,
            pause: ms(chance.pick(&[100, 300, 1_000])),
            burst: chance.pick(&[1, 3, 8]),
            names_partitions: chance.percent(70),
        }
    }
}
