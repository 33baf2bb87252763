//! A log's configuration: Kafka's topic settings, their defaults and what each of them allows.
//!
//! Kafka's source: `TopicConfig`, `LogConfig` (4.4).

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use milena_protocol::records::TimestampType;

use crate::error::{Result, StorageError};

const MIB: i32 = 1024 * 1024;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// When an append is on the disk, and so what an acknowledged record survives.
///
/// | policy | the process is killed | the machine loses power |
/// |---|---|---|
/// | `EveryBatch` | nothing acknowledged is lost | nothing acknowledged is lost |
/// | `Interval` | nothing acknowledged is lost | what was acknowledged since the last sync may be lost: at most the interval, plus the time until the caller came to [`flush_due`](crate::Log::flush_due) |
/// | `Os` | nothing acknowledged is lost | what the operating system had not written yet may be lost (Linux: about 30 s) |
///
/// In every case recovery keeps a prefix of the log: whole batches, no holes. Kafka's default is `Os`: it relies on
/// replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FsyncPolicy {
    /// `append` returns after the batch was synced.
    EveryBatch,
    /// The caller syncs by calling [`flush_due`](crate::Log::flush_due) at least this often.
    Interval(Duration),
    /// The operating system decides; full segments are still synced with each
    /// [`checkpoint`](crate::LogManager::checkpoint), and everything when the log is closed.
    #[default]
    Os,
}

/// `cleanup.policy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CleanupPolicy {
    /// Old segments are deleted by time and size.
    pub delete: bool,
    /// Only the last record of each key is kept ([`LogManager::clean_logs`](crate::LogManager::clean_logs)); records must
    /// have keys.
    pub compact: bool,
}

/// A log's settings. Parse them with [`LogConfig::from_pairs`]; the names in the fields' docs are Kafka's.
#[derive(Debug, Clone, PartialEq)]
pub struct LogConfig {
    /// `cleanup.policy`.
    pub cleanup_policy: CleanupPolicy,
    /// `compression.type`: only `producer` (store as received) is acted on.
    pub compression_type: String,
    /// `delete.retention.ms`, for compaction.
    pub delete_retention_ms: i64,
    /// `file.delete.delay.ms`: accepted; files are removed at once, readers keep their open handles.
    pub file_delete_delay_ms: i64,
    /// `flush.messages`: sync after this many records.
    pub flush_messages: i64,
    /// `flush.ms`: sync after this many milliseconds.
    pub flush_ms: i64,
    /// `index.interval.bytes`: an index entry at most every so many bytes.
    pub index_interval_bytes: i32,
    /// `max.compaction.lag.ms`, for compaction.
    pub max_compaction_lag_ms: i64,
    /// `max.message.bytes`: the largest batch, header included.
    pub max_message_bytes: i32,
    /// `message.timestamp.after.max.ms`: how far a timestamp may be ahead of the broker's clock.
    pub message_timestamp_after_max_ms: i64,
    /// `message.timestamp.before.max.ms`: how far a timestamp may be behind the broker's clock.
    pub message_timestamp_before_max_ms: i64,
    /// `message.timestamp.type`.
    pub message_timestamp_type: TimestampType,
    /// `min.cleanable.dirty.ratio`, for compaction.
    pub min_cleanable_dirty_ratio: f64,
    /// `min.compaction.lag.ms`, for compaction.
    pub min_compaction_lag_ms: i64,
    /// `min.insync.replicas`: for the replica manager.
    pub min_insync_replicas: i32,
    /// `preallocate`: accepted, not acted on.
    pub preallocate: bool,
    /// `retention.bytes`: bytes that are kept, −1 for all.
    pub retention_bytes: i64,
    /// `retention.ms`: milliseconds that records are kept, −1 for ever.
    pub retention_ms: i64,
    /// `segment.bytes`: when the active segment is rolled.
    pub segment_bytes: i32,
    /// `segment.index.bytes`: an index file of this size rolls the segment.
    pub segment_index_bytes: i32,
    /// `segment.jitter.ms`: accepted, not acted on.
    pub segment_jitter_ms: i64,
    /// `segment.ms`: when the active segment is rolled though it is not full.
    pub segment_ms: i64,
    /// `unclean.leader.election.enable`: for the controller.
    pub unclean_leader_election_enable: bool,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            cleanup_policy: CleanupPolicy { delete: true, compact: false },
            compression_type: "producer".to_owned(),
            delete_retention_ms: DAY_MS,
            file_delete_delay_ms: 60_000,
            flush_messages: i64::MAX,
            flush_ms: i64::MAX,
            index_interval_bytes: 4096,
            max_compaction_lag_ms: i64::MAX,
            max_message_bytes: MIB + 12,
            message_timestamp_after_max_ms: 60 * 60 * 1000,
            message_timestamp_before_max_ms: i64::MAX,
            message_timestamp_type: TimestampType::CreateTime,
            min_cleanable_dirty_ratio: 0.5,
            min_compaction_lag_ms: 0,
            min_insync_replicas: 1,
            preallocate: false,
            retention_bytes: -1,
            retention_ms: 7 * DAY_MS,
            segment_bytes: 1024 * MIB,
            segment_index_bytes: 10 * MIB,
            segment_jitter_ms: 0,
            segment_ms: 7 * DAY_MS,
            unclean_leader_election_enable: false,
        }
    }
}

impl LogConfig {
    /// The defaults, overridden by `pairs`; a later pair wins.
    ///
    /// # Errors
    /// [`StorageError::InvalidConfig`] names the key, the value and what is allowed.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let mut config = Self::default();
        for (key, value) in pairs {
            config.set(key, value)?;
        }
        Ok(config)
    }

    /// Sets one key.
    ///
    /// # Errors
    /// As [`from_pairs`](Self::from_pairs).
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let known = ConfigKey::find(key).ok_or_else(|| StorageError::InvalidConfig {
            key: key.to_owned(),
            value: value.to_owned(),
            expected: "there is no such topic setting".to_owned(),
        })?;
        (known.set)(self, value.trim()).ok_or_else(|| StorageError::InvalidConfig {
            key: key.to_owned(),
            value: value.to_owned(),
            expected: format!("{} is allowed", known.allowed),
        })
    }

    /// The value of a key as Kafka writes it; `None` for an unknown key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<String> {
        ConfigKey::find(key).map(|known| (known.get)(self))
    }
}

/// The type of a setting, as DescribeConfigs names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigType {
    /// true or false.
    Boolean,
    /// Text.
    String,
    /// A 32-bit integer.
    Int,
    /// A 64-bit integer.
    Long,
    /// A floating-point number.
    Double,
    /// Comma-separated values.
    List,
}

/// A known topic setting.
#[derive(Debug)]
pub struct ConfigKey {
    /// Kafka's name.
    pub name: &'static str,
    /// Its type.
    pub config_type: ConfigType,
    /// What it means, in a sentence.
    pub doc: &'static str,
    /// Which values are allowed.
    pub allowed: &'static str,
    get: fn(&LogConfig) -> String,
    set: fn(&mut LogConfig, &str) -> Option<()>,
}

impl ConfigKey {
    /// All topic settings in the order of their names.
    #[must_use]
    pub fn all() -> &'static [Self] {
        KEYS
    }

    /// The setting with this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The default as Kafka writes it.
    #[must_use]
    pub fn default_value(&self) -> String {
        (self.get)(&LogConfig::default())
    }
}

fn number<T: FromStr + PartialOrd>(value: &str, allowed: &RangeInclusive<T>, field: &mut T) -> Option<()> {
    let parsed = value.parse().ok()?;
    assign(field, allowed.contains(&parsed).then_some(parsed))
}

/// Replaces what `field` holds with what `value` means, if it means something.
fn assign<T>(field: &mut T, value: Option<T>) -> Option<()> {
    *field = value?;
    Some(())
}

fn parse_cleanup_policy(value: &str) -> Option<CleanupPolicy> {
    let mut policy = CleanupPolicy { delete: false, compact: false };
    for word in value.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match word {
            "delete" => policy.delete = true,
            "compact" => policy.compact = true,
            _ => return None,
        }
    }
    Some(policy)
}

impl Display for CleanupPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match (self.delete, self.compact) {
            (true, true) => "compact,delete",
            (false, true) => "compact",
            (true, false) => "delete",
            (false, false) => "",
        })
    }
}

fn parse_timestamp_type(value: &str) -> Option<TimestampType> {
    match value {
        "CreateTime" => Some(TimestampType::CreateTime),
        "LogAppendTime" => Some(TimestampType::LogAppendTime),
        _ => None,
    }
}

fn timestamp_type_name(timestamp_type: TimestampType) -> String {
    match timestamp_type {
        TimestampType::CreateTime => "CreateTime".to_owned(),
        TimestampType::LogAppendTime => "LogAppendTime".to_owned(),
    }
}

/// An integer or floating-point setting within bounds.
macro_rules! numeric {
    ($name:literal, $type:ident, $field:ident, $min:expr, $max:expr, $allowed:literal, $doc:literal) => {
        ConfigKey {
            name: $name,
            config_type: ConfigType::$type,
            doc: $doc,
            allowed: $allowed,
            get: |config| config.$field.to_string(),
            set: |config, value| number(value, &($min..=$max), &mut config.$field),
        }
    };
}

/// A setting with a parser of its own.
macro_rules! parsed {
    ($name:literal, $type:ident, $field:ident, $parse:expr, $show:expr, $allowed:literal, $doc:literal) => {
        ConfigKey {
            name: $name,
            config_type: ConfigType::$type,
            doc: $doc,
            allowed: $allowed,
            get: |config| $show(config),
            set: |config, value| assign(&mut config.$field, $parse(value)),
        }
    };
}

const COMPRESSION_TYPES: [&str; 6] = ["producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"];
const NOT_NEGATIVE: i64 = 0;

static KEYS: &[ConfigKey] = &[
    parsed!(
        "cleanup.policy",
        List,
        cleanup_policy,
        parse_cleanup_policy,
        |config: &LogConfig| config.cleanup_policy.to_string(),
        "a list of delete and compact",
        "What happens to old segments: delete them by time and size, or compact them by key."
    ),
    parsed!(
        "compression.type",
        String,
        compression_type,
        |value: &str| COMPRESSION_TYPES.contains(&value).then(|| value.to_owned()),
        |config: &LogConfig| config.compression_type.clone(),
        "producer, uncompressed, gzip, snappy, lz4 or zstd",
        "The codec of stored batches; producer keeps what arrived."
    ),
    numeric!(
        "delete.retention.ms",
        Long,
        delete_retention_ms,
        NOT_NEGATIVE,
        i64::MAX,
        "a number from 0",
        "Milliseconds that compaction keeps tombstones."
    ),
    numeric!(
        "file.delete.delay.ms",
        Long,
        file_delete_delay_ms,
        NOT_NEGATIVE,
        i64::MAX,
        "a number from 0",
        "Milliseconds to wait before a deleted segment's files are removed."
    ),
    numeric!(
        "flush.messages",
        Long,
        flush_messages,
        1,
        i64::MAX,
        "a number from 1",
        "Sync the log after this many records."
    ),
    numeric!(
        "flush.ms",
        Long,
        flush_ms,
        NOT_NEGATIVE,
        i64::MAX,
        "a number from 0",
        "Sync the log after this many milliseconds."
    ),
    numeric!(
        "index.interval.bytes",
        Int,
        index_interval_bytes,
        0,
        i32::MAX,
        "a number from 0",
        "An index entry is added at most every so many bytes."
    ),
    numeric!(
        "max.compaction.lag.ms",
        Long,
        max_compaction_lag_ms,
        1,
        i64::MAX,
        "a number from 1",
        "Milliseconds after which a record must have become eligible for compaction."
    ),
    numeric!(
        "max.message.bytes",
        Int,
        max_message_bytes,
        0,
        i32::MAX,
        "a number from 0",
        "The largest batch that is accepted, in bytes, after compression."
    ),
    numeric!(
        "message.timestamp.after.max.ms",
        Long,
        message_timestamp_after_max_ms,
        NOT_NEGATIVE,
        i64::MAX,
        "a number from 0",
        "Milliseconds that a record's timestamp may be ahead of the broker's clock."
    ),
    numeric!(
        "message.timestamp.before.max.ms",
        Long,
        message_timestamp_before_max_ms,
        NOT_NEGATIVE,
        i64::MAX,
        "a number from 0",
        "Milliseconds that a record's timestamp may be behind the broker's clock."
    ),
    parsed!(
        "message.timestamp.type",
        String,
        message_timestamp_type,
        parse_timestamp_type,
        |config: &LogConfig| timestamp_type_name(config.message_timestamp_type),
        "CreateTime or LogAppendTime",
        "Whether records keep the producer's timestamp or get the time of the append."
    ),
    numeric!(
        "min.cleanable.dirty.ratio",
        Double,
        min_cleanable_dirty_ratio,
        0.0,
        1.0,
        "a number from 0 to 1",
        "How much of the log must be dirty before it is compacted."
    ),
    numeric!(
        "min.compaction.lag.ms",
        Long,
        min_compaction_lag_ms,
        NOT_NEGATIVE,
        i64::MAX,
        "a number from 0",
        "Milliseconds that a record stays uncompacted at the least."
    ),
    numeric!(
        "min.insync.replicas",
        Int,
        min_insync_replicas,
        1,
        i32::MAX,
        "a number from 1",
        "Replicas that must be in sync for acks=all to succeed."
    ),
    parsed!(
        "preallocate",
        Boolean,
        preallocate,
        |value: &str| value.parse().ok(),
        |config: &LogConfig| config.preallocate.to_string(),
        "true or false",
        "Whether a new segment's file is preallocated."
    ),
    numeric!(
        "retention.bytes",
        Long,
        retention_bytes,
        -1,
        i64::MAX,
        "a number from 0, or -1 for no limit",
        "Bytes that a partition keeps before old segments are deleted."
    ),
    numeric!(
        "retention.ms",
        Long,
        retention_ms,
        -1,
        i64::MAX,
        "a number from 0, or -1 for no limit",
        "Milliseconds that records are kept before old segments are deleted."
    ),
    numeric!(
        "segment.bytes",
        Int,
        segment_bytes,
        MIB,
        i32::MAX,
        "a number from 1048576",
        "The size in bytes at which a segment is rolled."
    ),
    numeric!(
        "segment.index.bytes",
        Int,
        segment_index_bytes,
        4,
        i32::MAX,
        "a number from 4",
        "The size in bytes at which a segment's index is full."
    ),
    numeric!(
        "segment.jitter.ms",
        Long,
        segment_jitter_ms,
        NOT_NEGATIVE,
        i64::MAX,
        "a number from 0",
        "At most this much is taken off segment.ms at random, so that segments do not roll all at once."
    ),
    numeric!(
        "segment.ms",
        Long,
        segment_ms,
        1,
        i64::MAX,
        "a number from 1",
        "Milliseconds after which a segment is rolled though it is not full."
    ),
    parsed!(
        "unclean.leader.election.enable",
        Boolean,
        unclean_leader_election_enable,
        |value: &str| value.parse().ok(),
        |config: &LogConfig| config.unclean_leader_election_enable.to_string(),
        "true or false",
        "Whether a replica that is not in sync may become the leader, losing records."
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_allowed_and_read_back() {
        let mut config = LogConfig::default();
        for key in ConfigKey::all() {
            config.set(key.name, &key.default_value()).unwrap();
            assert_eq!(config.get(key.name), Some(key.default_value()), "{}", key.name);
        }
        assert_eq!(config, LogConfig::default());
        assert!(ConfigKey::all().is_sorted_by_key(|key| key.name));
    }

    #[test]
    fn kafkas_defaults() {
        let default = |key| LogConfig::default().get(key).unwrap();
        assert_eq!(default("max.message.bytes"), "1048588");
        assert_eq!(default("segment.bytes"), "1073741824");
        assert_eq!(default("retention.ms"), "604800000");
        assert_eq!(default("message.timestamp.after.max.ms"), "3600000");
        assert_eq!(default("cleanup.policy"), "delete");
    }

    #[test]
    fn errors_name_the_key_the_value_and_what_is_allowed() {
        let error = |key, value| LogConfig::from_pairs([(key, value)]).unwrap_err().to_string();
        assert_eq!(error("segment.bytes", "5"), "segment.bytes=5: a number from 1048576 is allowed");
        assert_eq!(
            error("retention.ms", "week"),
            "retention.ms=week: a number from 0, or -1 for no limit is allowed"
        );
        assert_eq!(
            error("cleanup.policy", "delete,shred"),
            "cleanup.policy=delete,shred: a list of delete and compact is allowed"
        );
        assert_eq!(error("retention", "1"), "retention=1: there is no such topic setting");
    }

    #[test]
    fn later_pairs_win() {
        let pairs = [("retention.ms", "1"), ("retention.ms", "-1"), ("cleanup.policy", "compact, delete")];
        let config = LogConfig::from_pairs(pairs).unwrap();
        assert_eq!(config.retention_ms, -1);
        assert_eq!(config.cleanup_policy, CleanupPolicy { delete: true, compact: true });
    }
}
