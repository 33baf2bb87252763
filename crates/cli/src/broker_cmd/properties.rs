//! Broker settings under the names of Kafka's `server.properties`.

use std::{str::FromStr, time::Duration};

use milena_broker::{BrokerConfig, ReplicaSelector, config::topic_setting};

/// Sets one property. What a topic can set for itself has the broker's name for it too: `log.segment.bytes` is every
/// topic's `segment.bytes`.
///
/// # Errors
/// An unknown name, or a value that it does not take; the text says which.
pub(super) fn set(config: &mut BrokerConfig, key: &str, value: &str) -> Result<(), String> {
    let invalid = |expected: &str| format!("`{key}={value}`: expected {expected}");
    match key {
        "node.id" | "broker.id" => {
            config.node_id = number(value).ok_or_else(|| invalid("a number, 0 or more"))?;
        }
        "broker.rack" => config.rack = Some(value.to_owned()),
        "auto.create.topics.enable" => {
            config.auto_create_topics = boolean(value).ok_or_else(|| invalid(BOOLEAN))?;
        }
        "delete.topic.enable" => config.delete_topics = boolean(value).ok_or_else(|| invalid(BOOLEAN))?,
        "num.partitions" => {
            config.num_partitions =
                number(value).filter(|n| *n > 0).ok_or_else(|| invalid("a number, 1 or more"))?;
        }
        "default.replication.factor" => {
            let factor = number(value).filter(|n| *n > 0);
            config.default_replication_factor = factor.ok_or_else(|| invalid("a number, 1 or more"))?;
        }
        "replica.lag.time.max.ms" => {
            config.replica_lag_time_max = millis(value).ok_or_else(|| invalid(MILLIS))?;
        }
        "log.retention.check.interval.ms" => {
            config.retention_check_interval = millis(value).ok_or_else(|| invalid(MILLIS))?;
        }
        "log.cleaner.backoff.ms" => {
            config.log_cleaner_backoff = millis(value).ok_or_else(|| invalid(MILLIS))?;
        }
        "socket.request.max.bytes" => {
            config.socket.request_max_bytes =
                number(value).filter(|n| *n > 0).ok_or_else(|| invalid("a number of bytes, 1 or more"))?;
        }
        "queued.max.request.bytes" => {
            config.socket.queued_max_request_bytes =
                number(value).filter(|n| *n > 0).ok_or_else(|| invalid("a number of bytes, 1 or more"))?;
        }
        "max.connections" => {
            config.socket.max_connections =
                number(value).ok_or_else(|| invalid("a number of connections"))?;
        }
        "connections.max.idle.ms" => {
            config.socket.connections_max_idle = millis(value).ok_or_else(|| invalid(MILLIS))?;
        }
        _ => return set_of_cluster(config, key, value),
    }
    Ok(())
}

const BOOLEAN: &str = "true or false";
const MILLIS: &str = "a number of milliseconds, 1 or more";

/// What brokers do for each other and for groups.
fn set_of_cluster(config: &mut BrokerConfig, key: &str, value: &str) -> Result<(), String> {
    let invalid = |expected: &str| format!("`{key}={value}`: expected {expected}");
    match key {
        "offsets.topic.num.partitions" => {
            let partitions = number(value).filter(|n| *n > 0);
            config.offsets_topic_num_partitions = partitions.ok_or_else(|| invalid("a number, 1 or more"))?;
        }
        "offsets.topic.replication.factor" => {
            let factor = number(value).filter(|n| *n > 0);
            config.offsets_topic_replication_factor = factor.ok_or_else(|| invalid("a number, 1 or more"))?;
        }
        "auto.leader.rebalance.enable" => {
            config.auto_leader_rebalance = boolean(value).ok_or_else(|| invalid(BOOLEAN))?;
        }
        "leader.imbalance.check.interval.seconds" => {
            let seconds = number(value).filter(|n| *n > 0).map(Duration::from_secs);
            config.leader_imbalance_check_interval =
                seconds.ok_or_else(|| invalid("a number of seconds, 1 or more"))?;
        }
        "leader.imbalance.per.broker.percentage" => {
            let percentage = number(value).filter(|n| *n <= 100);
            config.leader_imbalance_per_broker_percentage =
                percentage.ok_or_else(|| invalid("a percentage, 0 to 100"))?;
        }
        "replica.selector.class" => {
            let selector = REPLICA_SELECTORS.iter().find(|(class, _)| *class == value);
            let expected = || invalid(&REPLICA_SELECTORS.map(|(class, _)| class).join(" or "));
            config.replica_selector = selector.ok_or_else(expected)?.1;
        }
        _ => return set_log(config, key, value),
    }
    Ok(())
}

/// Kafka's class behind each.
const REPLICA_SELECTORS: [(&str, ReplicaSelector); 2] = [
    ("org.apache.kafka.common.replica.LeaderSelector", ReplicaSelector::Leader),
    ("org.apache.kafka.common.replica.RackAwareReplicaSelector", ReplicaSelector::RackAware),
];

/// The broker's further names for a topic's setting, and what their values are multiplied by.
const LOG_KEYS: &[(&str, &str, i64)] = &[
    ("log.roll.hours", "segment.ms", 3_600_000),
    ("log.roll.jitter.hours", "segment.jitter.ms", 3_600_000),
    ("log.retention.minutes", "retention.ms", 60_000),
    ("log.retention.hours", "retention.ms", 3_600_000),
];

fn set_log(config: &mut BrokerConfig, key: &str, value: &str) -> Result<(), String> {
    let unknown = || format!("unknown broker setting `{key}`");
    let known = LOG_KEYS.iter().find(|(name, ..)| *name == key);
    let (topic_key, factor) = match known {
        Some((_, topic_key, factor)) => (*topic_key, *factor),
        None => (topic_setting(key).ok_or_else(unknown)?, 1),
    };
    let scaled = match (factor, value.parse::<i64>()) {
        // Kafka's −1 for "without limit" has no unit.
        (2.., Ok(n)) if n >= 0 => n.checked_mul(factor).map_or_else(|| value.to_owned(), |n| n.to_string()),
        _ => value.to_owned(),
    };
    config.log.set(topic_key, &scaled).map_err(|error| error.to_string())
}

fn number<T: FromStr + PartialOrd + Default>(value: &str) -> Option<T> {
    value.parse().ok().filter(|n| *n >= T::default())
}

fn boolean(value: &str) -> Option<bool> {
    value.parse().ok()
}

fn millis(value: &str) -> Option<Duration> {
    number(value).filter(|n| *n > 0).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> BrokerConfig {
        BrokerConfig::new("unused")
    }

    #[test]
    fn settings_have_kafkas_names() {
        let mut config = config();
        for (key, value) in [
            ("num.partitions", "6"),
            ("auto.create.topics.enable", "false"),
            ("log.segment.bytes", "1048576"),
            ("log.retention.hours", "2"),
            ("message.max.bytes", "2000000"),
            ("unclean.leader.election.enable", "true"),
            ("log.cleaner.min.compaction.lag.ms", "7"),
            ("log.roll.jitter.hours", "1"),
            ("connections.max.idle.ms", "5000"),
            ("log.cleaner.backoff.ms", "250"),
            ("offsets.topic.num.partitions", "50"),
            ("offsets.topic.replication.factor", "2"),
            ("auto.leader.rebalance.enable", "false"),
            ("leader.imbalance.check.interval.seconds", "3"),
            ("leader.imbalance.per.broker.percentage", "0"),
            ("replica.selector.class", "org.apache.kafka.common.replica.RackAwareReplicaSelector"),
        ] {
            assert_eq!(set(&mut config, key, value), Ok(()), "{key}");
        }
        assert_eq!(config.num_partitions, 6);
        assert!(!config.auto_create_topics);
        assert_eq!(config.log.segment_bytes, 1_048_576);
        assert_eq!(config.log.retention_ms, 7_200_000);
        assert_eq!(config.log.max_message_bytes, 2_000_000);
        assert!(config.log.unclean_leader_election_enable);
        assert_eq!(config.log.get("min.compaction.lag.ms").as_deref(), Some("7"));
        assert_eq!(config.log.get("segment.jitter.ms").as_deref(), Some("3600000"));
        assert_eq!(config.socket.connections_max_idle, Duration::from_secs(5));
        assert_eq!(config.log_cleaner_backoff, Duration::from_millis(250));
        assert_eq!((config.offsets_topic_num_partitions, config.offsets_topic_replication_factor), (50, 2));
        assert!(!config.auto_leader_rebalance);
        assert_eq!(config.leader_imbalance_check_interval, Duration::from_secs(3));
        assert_eq!(config.leader_imbalance_per_broker_percentage, 0);
        assert_eq!(config.replica_selector, ReplicaSelector::RackAware);
        assert_eq!(set(&mut config, "log.retention.hours", "-1"), Ok(()));
        assert_eq!(config.log.retention_ms, -1);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |key, value| set(&mut config(), key, value).unwrap_err();
        assert_eq!(error("nonsense", "1"), "unknown broker setting `nonsense`");
        assert_eq!(error("log.nonsense", "1"), "unknown broker setting `log.nonsense`");
        assert_eq!(
            error("log.min.compaction.lag.ms", "1"),
            "unknown broker setting `log.min.compaction.lag.ms`"
        );
        assert_eq!(error("num.partitions", "0"), "`num.partitions=0`: expected a number, 1 or more");
        assert!(error("socket.request.max.bytes", "0").contains("1 or more"));
        assert_eq!(error("delete.topic.enable", "yes"), "`delete.topic.enable=yes`: expected true or false");
        assert!(error("log.segment.bytes", "x").contains("segment.bytes"));
        assert!(error("offsets.topic.num.partitions", "0").contains("1 or more"));
        assert!(error("leader.imbalance.per.broker.percentage", "101").contains("0 to 100"));
        assert!(error("replica.selector.class", "Mine").contains("RackAwareReplicaSelector"));
    }
}
