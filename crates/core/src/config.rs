//! Settings under Kafka's own names.
//!
//! A setting that Kafka's client knows and this one does not is an error that says so; nothing is silently ignored.

use std::{fmt, str::FromStr, time::Duration};

use milena_protocol::records::Compression;

/// A property that cannot be used: the caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// No such setting.
    #[error("unknown setting `{key}`{}", did_you_mean(.suggestion))]
    Unknown {
        /// The key as given.
        key: String,
        /// The known key nearest to it.
        suggestion: Option<&'static str>,
    },
    /// A value that the setting does not take.
    #[error("`{key}={value}`: expected {expected}")]
    Invalid {
        /// The key.
        key: String,
        /// The value as given.
        value: String,
        /// What it may be.
        expected: String,
    },
    /// Settings that contradict each other.
    #[error("{0}")]
    Conflict(String),
}

fn did_you_mean(suggestion: &Option<&'static str>) -> String {
    suggestion.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// Settings that every client has: metadata, connections, timeouts.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientConfig {
    /// bootstrap.servers: `host:port` each.
    pub bootstrap: Vec<(String, u16)>,
    /// client.id, sent with every request.
    pub client_id: String,
    /// request.timeout.ms (30 s): an unanswered request closes its connection.
    pub request_timeout: Duration,
    /// retry.backoff.ms (100 ms).
    pub retry_backoff: Duration,
    /// retry.backoff.max.ms (1 s).
    pub retry_backoff_max: Duration,
    /// reconnect.backoff.ms (50 ms).
    pub reconnect_backoff: Duration,
    /// reconnect.backoff.max.ms (1 s).
    pub reconnect_backoff_max: Duration,
    /// socket.connection.setup.timeout.ms (10 s).
    pub connection_setup_timeout: Duration,
    /// socket.connection.setup.timeout.max.ms (30 s).
    pub connection_setup_timeout_max: Duration,
    /// connections.max.idle.ms (9 min).
    pub connections_max_idle: Duration,
    /// metadata.max.age.ms (5 min): the periodic refresh.
    pub metadata_max_age: Duration,
    /// metadata.max.idle.ms (5 min): a producer forgets topics that it has not used for so long.
    pub metadata_max_idle: Duration,
    /// metadata.recovery.strategy: true for `rebootstrap`.
    pub rebootstrap: bool,
    /// metadata.recovery.rebootstrap.trigger.ms (300 s).
    pub rebootstrap_trigger: Duration,
    /// allow.auto.create.topics: whether asking for an unknown topic may create it.
    pub allow_auto_create_topics: bool,
    /// max.in.flight.requests.per.connection (5).
    pub max_in_flight: usize,
    /// milena.suspicion.floor.ms (500 ms): no broker is suspected of being dead before it has owed an answer for so long,
    /// however quickly it answered before; 0: none is suspected ever.
    pub suspicion_floor: Duration,
    /// The largest response that is accepted, in bytes (100 MiB, Kafka's broker-side socket.request.max.bytes).
    pub max_response_size: usize,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            bootstrap: Vec::new(),
            client_id: "milena".to_owned(),
            request_timeout: Duration::from_secs(30),
            retry_backoff: Duration::from_millis(100),
            retry_backoff_max: Duration::from_secs(1),
            reconnect_backoff: Duration::from_millis(50),
            reconnect_backoff_max: Duration::from_secs(1),
            connection_setup_timeout: Duration::from_secs(10),
            connection_setup_timeout_max: Duration::from_secs(30),
            connections_max_idle: Duration::from_secs(540),
            metadata_max_age: Duration::from_secs(300),
            metadata_max_idle: Duration::from_secs(300),
            rebootstrap: true,
            rebootstrap_trigger: Duration::from_secs(300),
            allow_auto_create_topics: true,
            max_in_flight: 5,
            suspicion_floor: Duration::from_millis(500),
            max_response_size: 100 << 20,
        }
    }
}

/// How many acknowledgements a batch needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// `0`: none; the outcome is not known.
    None,
    /// `1`: the leader's.
    Leader,
    /// `all` (−1): every in-sync replica's.
    All,
}

impl Acks {
    /// The number on the wire.
    pub const fn to_wire(self) -> i16 {
        match self {
            Self::None => 0,
            Self::Leader => 1,
            Self::All => -1,
        }
    }
}

impl FromStr for Acks {
    type Err = &'static str;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        match s {
            "0" => Ok(Self::None),
            "1" => Ok(Self::Leader),
            "all" | "-1" => Ok(Self::All),
            _ => Err("`all`, `1` or `0`"),
        }
    }
}

impl fmt::Display for Acks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "0",
            Self::Leader => "1",
            Self::All => "all",
        })
    }
}

/// Settings of the producer (defaults: Kafka 4.4, behaviours "Defaults").
#[derive(Clone, Debug, PartialEq)]
pub struct ProducerConfig {
    /// What it shares with every client.
    pub client: ClientConfig,
    /// acks (all).
    pub acks: Acks,
    /// enable.idempotence (true).
    pub idempotence: bool,
    /// linger.ms (5 ms): how long a batch that is not full may wait for more.
    pub linger: Duration,
    /// batch.size (16 KiB): from this size on a batch may go at once. It may grow further while its broker is busy.
    pub batch_size: usize,
    /// buffer.memory (32 MiB): bytes of all batches that are not acknowledged.
    pub buffer_memory: usize,
    /// max.block.ms (60 s): how long `send` waits for metadata or memory.
    pub max_block: Duration,
    /// max.request.size (1 MiB): the largest record and the largest request.
    pub max_request_size: usize,
    /// delivery.timeout.ms (120 s): from append to the end, retries included.
    pub delivery_timeout: Duration,
    /// retries (unlimited: delivery.timeout.ms bounds them).
    pub retries: u32,
    /// compression.type (none).
    pub compression: Compression,
    /// compression.gzip.level, or the codec's default.
    pub compression_gzip_level: Option<i32>,
    /// compression.lz4.level, or the codec's default.
    pub compression_lz4_level: Option<i32>,
    /// compression.zstd.level, or the codec's default.
    pub compression_zstd_level: Option<i32>,
    /// partitioner.ignore.keys (false).
    pub partitioner_ignore_keys: bool,
    /// partitioner.adaptive.partitioning.enable (true).
    pub partitioner_adaptive: bool,
    /// partitioner.availability.timeout.ms (0: off): a partition whose broker takes nothing for so long is avoided.
    pub partitioner_availability_timeout: Duration,
    /// milena.suspect.memory.percent (50): how much of buffer.memory may wait for brokers that do not answer, and for
    /// partitions without a leader. The rest is for the others.
    pub suspect_memory_percent: u8,
    /// milena.take.back.duplicates (false): without idempotence, whether what is in flight to a broker that leads no more
    /// is sent to the new leader at once, though both may write it. With idempotence that is always done.
    pub take_back_duplicates: bool,
}

impl Default for ProducerConfig {
    fn default() -> Self {
        Self {
            client: ClientConfig::default(),
            acks: Acks::All,
            idempotence: true,
            linger: Duration::from_millis(5),
            batch_size: 16 << 10,
            buffer_memory: 32 << 20,
            max_block: Duration::from_secs(60),
            max_request_size: 1 << 20,
            delivery_timeout: Duration::from_secs(120),
            retries: u32::MAX,
            compression: Compression::None,
            compression_gzip_level: None,
            compression_lz4_level: None,
            compression_zstd_level: None,
            partitioner_ignore_keys: false,
            partitioner_adaptive: true,
            partitioner_availability_timeout: Duration::ZERO,
            suspect_memory_percent: 50,
            take_back_duplicates: false,
        }
    }
}

/// Keys of [`ClientConfig::set`].
pub const CLIENT_KEYS: &[&str] = &[
    "bootstrap.servers",
    "client.id",
    "request.timeout.ms",
    "retry.backoff.ms",
    "retry.backoff.max.ms",
    "reconnect.backoff.ms",
    "reconnect.backoff.max.ms",
    "socket.connection.setup.timeout.ms",
    "socket.connection.setup.timeout.max.ms",
    "connections.max.idle.ms",
    "metadata.max.age.ms",
    "metadata.max.idle.ms",
    "metadata.recovery.strategy",
    "metadata.recovery.rebootstrap.trigger.ms",
    "allow.auto.create.topics",
    "max.in.flight.requests.per.connection",
    "milena.suspicion.floor.ms",
];

/// Keys of [`ProducerConfig::set`] beyond [`CLIENT_KEYS`].
pub const PRODUCER_KEYS: &[&str] = &[
    "acks",
    "enable.idempotence",
    "linger.ms",
    "batch.size",
    "buffer.memory",
    "max.block.ms",
    "max.request.size",
    "delivery.timeout.ms",
    "retries",
    "compression.type",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.zstd.level",
    "partitioner.ignore.keys",
    "partitioner.adaptive.partitioning.enable",
    "partitioner.availability.timeout.ms",
    "milena.suspect.memory.percent",
    "milena.take.back.duplicates",
];

impl ClientConfig {
    /// Sets one property by its Kafka name.
    ///
    /// # Errors
    /// [`ConfigError::Unknown`] for a key that is none of [`CLIENT_KEYS`], [`ConfigError::Invalid`] for its value.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        match key {
            "bootstrap.servers" => self.bootstrap = parse_bootstrap(value)?,
            "client.id" => value.clone_into(&mut self.client_id),
            "request.timeout.ms" => self.request_timeout = millis(key, value)?,
            "retry.backoff.ms" => self.retry_backoff = millis(key, value)?,
            "retry.backoff.max.ms" => self.retry_backoff_max = millis(key, value)?,
            "reconnect.backoff.ms" => self.reconnect_backoff = millis(key, value)?,
            "reconnect.backoff.max.ms" => self.reconnect_backoff_max = millis(key, value)?,
            "socket.connection.setup.timeout.ms" => self.connection_setup_timeout = millis(key, value)?,
            "socket.connection.setup.timeout.max.ms" => {
                self.connection_setup_timeout_max = millis(key, value)?;
            }
            "connections.max.idle.ms" => self.connections_max_idle = millis(key, value)?,
            "metadata.max.age.ms" => self.metadata_max_age = millis(key, value)?,
            "metadata.max.idle.ms" => self.metadata_max_idle = millis(key, value)?,
            "metadata.recovery.strategy" => {
                self.rebootstrap = match value {
                    "rebootstrap" => true,
                    "none" => false,
                    _ => return Err(invalid(key, value, "`rebootstrap` or `none`")),
                }
            }
            "metadata.recovery.rebootstrap.trigger.ms" => self.rebootstrap_trigger = millis(key, value)?,
            "allow.auto.create.topics" => self.allow_auto_create_topics = boolean(key, value)?,
            "max.in.flight.requests.per.connection" => {
                self.max_in_flight = number(key, value, 1, i32::MAX as usize)?;
            }
            "milena.suspicion.floor.ms" => self.suspicion_floor = millis(key, value)?,
            _ => return Err(unknown(key, CLIENT_KEYS.iter())),
        }
        Ok(())
    }
}

impl ProducerConfig {
    /// Sets one property by its Kafka name.
    ///
    /// # Errors
    /// [`ConfigError`] names the key, the value and what it may be.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        match key {
            "acks" => self.acks = value.parse().map_err(|expected| invalid(key, value, expected))?,
            "enable.idempotence" => self.idempotence = boolean(key, value)?,
            "linger.ms" => self.linger = millis(key, value)?,
            "batch.size" => self.batch_size = number(key, value, 0, i32::MAX as usize)?,
            "buffer.memory" => self.buffer_memory = number(key, value, 1, usize::MAX)?,
            "max.block.ms" => self.max_block = millis(key, value)?,
            "max.request.size" => self.max_request_size = number(key, value, 1, i32::MAX as usize)?,
            "delivery.timeout.ms" => self.delivery_timeout = millis(key, value)?,
            "retries" => {
                self.retries = u32::try_from(number(key, value, 0, i32::MAX as usize)?).unwrap_or(u32::MAX);
            }
            "compression.type" => {
                self.compression = value
                    .parse()
                    .map_err(|_| invalid(key, value, "`none`, `gzip`, `snappy`, `lz4` or `zstd`"))?;
            }
            // Kafka's −1: zlib's own default.
            "compression.gzip.level" if value.trim() == "-1" => self.compression_gzip_level = None,
            "compression.gzip.level" => self.compression_gzip_level = level(key, value, Compression::Gzip)?,
            "compression.lz4.level" => self.compression_lz4_level = level(key, value, Compression::Lz4)?,
            "compression.zstd.level" => self.compression_zstd_level = level(key, value, Compression::Zstd)?,
            "partitioner.ignore.keys" => self.partitioner_ignore_keys = boolean(key, value)?,
            "partitioner.adaptive.partitioning.enable" => self.partitioner_adaptive = boolean(key, value)?,
            "partitioner.availability.timeout.ms" => {
                self.partitioner_availability_timeout = millis(key, value)?;
            }
            "milena.suspect.memory.percent" => {
                self.suspect_memory_percent = u8::try_from(number(key, value, 0, 100)?).unwrap_or(100);
            }
            "milena.take.back.duplicates" => self.take_back_duplicates = boolean(key, value)?,
            _ if CLIENT_KEYS.contains(&key) => self.client.set(key, value)?,
            _ => return Err(unknown(key, CLIENT_KEYS.iter().chain(PRODUCER_KEYS))),
        }
        Ok(())
    }

    /// The bytes of buffer.memory that milena.suspect.memory.percent comes to.
    #[must_use]
    pub fn suspect_memory(&self) -> usize {
        self.buffer_memory / 100 * usize::from(self.suspect_memory_percent)
    }

    /// The level of the codec in use; `None` for its default (KIP-390: each codec has a level of its own).
    #[must_use]
    pub fn compression_level(&self) -> Option<i32> {
        match self.compression {
            Compression::None | Compression::Snappy => None,
            Compression::Gzip => self.compression_gzip_level,
            Compression::Lz4 => self.compression_lz4_level,
            Compression::Zstd => self.compression_zstd_level,
        }
    }

    /// Checks the settings against each other, as Kafka's `ProducerConfig` does.
    ///
    /// # Errors
    /// [`ConfigError::Conflict`] says which settings contradict each other and which values would do.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let conflict = |text: String| Err(ConfigError::Conflict(text));
        if self.client.bootstrap.is_empty() {
            return conflict(
                "`bootstrap.servers` is empty: name at least one broker as host:port".to_owned(),
            );
        }
        if self.idempotence && self.acks != Acks::All {
            return conflict(format!(
                "`enable.idempotence=true` needs `acks=all`, but acks={}: set `enable.idempotence=false` to go without",
                self.acks
            ));
        }
        if self.idempotence && self.client.max_in_flight > 5 {
            return conflict(format!(
                "`enable.idempotence=true` needs `max.in.flight.requests.per.connection` of at most 5, but it is {}",
                self.client.max_in_flight
            ));
        }
        if self.idempotence && self.retries == 0 {
            return conflict("`enable.idempotence=true` needs `retries` greater than 0".to_owned());
        }
        let needed = self.linger + self.client.request_timeout;
        if self.delivery_timeout < needed {
            return conflict(format!(
                "`delivery.timeout.ms` ({} ms) must be at least `linger.ms` + `request.timeout.ms` ({} ms)",
                self.delivery_timeout.as_millis(),
                needed.as_millis()
            ));
        }
        if self.buffer_memory < self.batch_size {
            return conflict(format!(
                "`buffer.memory` ({} bytes) must hold at least one batch of `batch.size` ({} bytes)",
                self.buffer_memory, self.batch_size
            ));
        }
        Ok(())
    }
}

/// Parses `host:port,host:port`; an IPv6 address stands in brackets.
///
/// # Errors
/// [`ConfigError::Invalid`] names the entry.
pub fn parse_bootstrap(list: &str) -> Result<Vec<(String, u16)>, ConfigError> {
    let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let bad =
                || invalid("bootstrap.servers", entry, "host:port, such as `localhost:9092` or `[::1]:9092`");
            // A scheme such as PLAINTEXT:// is what brokers print; Kafka's client accepts it too.
            let address = entry.rsplit_once("://").map_or(entry, |(_, address)| address);
            let (host, port) = address.rsplit_once(':').ok_or_else(bad)?;
            let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
            let port: u16 = port.parse().map_err(|_| bad())?;
            if host.is_empty() || port == 0 || (host.contains(':') && !address.starts_with('[')) {
                return Err(bad());
            }
            Ok((host.to_owned(), port))
        })
        .collect()
}

fn invalid(key: &str, value: &str, expected: impl Into<String>) -> ConfigError {
    ConfigError::Invalid { key: key.to_owned(), value: value.to_owned(), expected: expected.into() }
}

fn unknown<'a>(key: &str, known: impl Iterator<Item = &'a &'static str>) -> ConfigError {
    let nearest = known.map(|name| (distance(key, name), *name)).min().filter(|(d, _)| *d <= 3);
    ConfigError::Unknown { key: key.to_owned(), suggestion: nearest.map(|(_, name)| name) }
}

/// The Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

// As Kafka's `ConfigDef.parseType`: blanks around numbers and truths mean nothing, nor do the letters' cases in the latter.

fn millis(key: &str, value: &str) -> Result<Duration, ConfigError> {
    let expected = "a whole number of milliseconds, 0 or more";
    value.trim().parse().map(Duration::from_millis).map_err(|_| invalid(key, value, expected))
}

fn level(key: &str, value: &str, codec: Compression) -> Result<Option<i32>, ConfigError> {
    let levels = codec.levels().unwrap_or(0..=0);
    let expected =
        || invalid(key, value, format!("a whole number from {} to {}", levels.start(), levels.end()));
    value.trim().parse().ok().filter(|level| levels.contains(level)).map(Some).ok_or_else(expected)
}

fn boolean(key: &str, value: &str) -> Result<bool, ConfigError> {
    value.trim().to_ascii_lowercase().parse().map_err(|_| invalid(key, value, "`true` or `false`"))
}

fn number(key: &str, value: &str, min: usize, max: usize) -> Result<usize, ConfigError> {
    let parsed = value.trim().parse().ok().filter(|n| (min..=max).contains(n));
    parsed.ok_or_else(|| invalid(key, value, format!("a whole number from {min} to {max}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_key_is_understood() {
        for key in CLIENT_KEYS.iter().chain(PRODUCER_KEYS) {
            let mut config = ProducerConfig::default();
            let tried = ["1", "true", "none", "localhost:9092"].map(|value| config.set(key, value));
            assert!(tried.iter().any(Result::is_ok), "{key}: {tried:?}");
            assert!(!tried.iter().any(|t| matches!(t, Err(ConfigError::Unknown { .. }))), "{key}: {tried:?}");
        }
    }

    #[test]
    fn an_unknown_key_names_its_neighbour() {
        let error = ProducerConfig::default().set("linger.mss", "5").expect_err("unknown");
        assert_eq!(error.to_string(), "unknown setting `linger.mss`; did you mean `linger.ms`?");
    }

    #[test]
    fn a_bad_value_says_what_is_expected() {
        let error = ProducerConfig::default().set("acks", "2").expect_err("invalid");
        assert_eq!(error.to_string(), "`acks=2`: expected `all`, `1` or `0`");
    }

    #[test]
    fn blanks_around_numbers_mean_nothing_as_in_kafka() {
        let mut config = ProducerConfig::default();
        for (key, value) in [
            ("linger.ms", " 7 "),
            ("batch.size", "9\t"),
            ("enable.idempotence", " False"),
            ("compression.gzip.level", "3 "),
        ] {
            config.set(key, value).expect("valid");
        }
        let ProducerConfig { linger, batch_size, idempotence, compression_gzip_level, .. } = config;
        assert_eq!((linger, batch_size, idempotence), (Duration::from_millis(7), 9, false));
        assert_eq!(compression_gzip_level, Some(3));
    }

    #[test]
    fn each_codec_has_a_level_of_its_own() {
        let mut config = ProducerConfig::default();
        for (key, value) in [("compression.gzip.level", "9"), ("compression.zstd.level", "-3")] {
            config.set(key, value).expect("valid");
        }
        let level = |compression| ProducerConfig { compression, ..config.clone() }.compression_level();
        let codecs = [Compression::Gzip, Compression::Zstd, Compression::Lz4, Compression::Snappy];
        assert_eq!(codecs.map(level), [Some(9), Some(-3), None, None]);
        let error = config.set("compression.zstd.level", "23").expect_err("out of range");
        assert_eq!(
            error.to_string(),
            "`compression.zstd.level=23`: expected a whole number from -131072 to 22"
        );
        for (key, value) in [("compression.gzip.level", "0"), ("compression.lz4.level", "18")] {
            assert!(config.set(key, value).is_err(), "{key}={value}");
        }
        config.set("compression.gzip.level", "-1").expect("Kafka's default");
        assert_eq!(config.compression_gzip_level, None);
    }

    #[test]
    fn bootstrap_lists() {
        let parsed = parse_bootstrap("a:1, [::1]:9092,PLAINTEXT://b:3,").expect("valid");
        assert_eq!(parsed, [("a".to_owned(), 1), ("::1".to_owned(), 9092), ("b".to_owned(), 3)]);
        for bad in ["a", "a:", ":1", "a:0", "::1:9092", "a:70000"] {
            assert!(parse_bootstrap(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn conflicts_are_refused() {
        let mut config = ProducerConfig::default();
        config.set("bootstrap.servers", "localhost:9092").expect("valid");
        assert_eq!(config.validate(), Ok(()));
        for (key, value) in [("acks", "1"), ("max.in.flight.requests.per.connection", "6"), ("retries", "0")]
        {
            let mut config = config.clone();
            config.set(key, value).expect("valid alone");
            assert!(matches!(config.validate(), Err(ConfigError::Conflict(_))), "{key}");
        }
    }
}
