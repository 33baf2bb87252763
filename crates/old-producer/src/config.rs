//! [`ProducerConfig`]: the settings under their old names.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::ConfigError;

const KNOWN: &str = "metadata.broker.list, request.required.acks, request.timeout.ms, message.send.max.retries, \
                     retry.backoff.ms, topic.metadata.refresh.interval.ms, client.id";

/// What the producer of 0.8 was told, with its defaults (`kafka.producer.ProducerConfig`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProducerConfig {
    /// `metadata.broker.list`: whom a refresh asks, now and ever after. It has no default.
    pub metadata_broker_list: Vec<BrokerAddress>,
    /// `request.required.acks`: 0 (the default of 0.8: nobody answers), 1 (the leader) or -1 (all in sync).
    pub request_required_acks: i16,
    /// `request.timeout.ms` (10 s): how long a connect may take, a read, and the broker with a produce request. Each of them.
    pub request_timeout: Duration,
    /// `message.send.max.retries` (3): tries beyond the first.
    pub message_send_max_retries: u32,
    /// `retry.backoff.ms` (100 ms): the wait before the refresh that comes before each retry.
    pub retry_backoff: Duration,
    /// `topic.metadata.refresh.interval.ms` (10 min): how old the metadata may be when something is sent. Zero: a refresh
    /// before each send. None, which is spelled as a negative number: never, but for a retry and for a new topic.
    pub topic_metadata_refresh_interval: Option<Duration>,
    /// `client.id` (empty): what brokers call it in their logs.
    pub client_id: String,
}

impl Default for ProducerConfig {
    fn default() -> Self {
        Self {
            metadata_broker_list: Vec::new(),
            request_required_acks: 0,
            request_timeout: Duration::from_secs(10),
            message_send_max_retries: 3,
            retry_backoff: Duration::from_millis(100),
            topic_metadata_refresh_interval: Some(Duration::from_mins(10)),
            client_id: String::new(),
        }
    }
}

impl ProducerConfig {
    /// Sets what Kafka 0.8 called `key`.
    ///
    /// # Errors
    /// [`ConfigError`] when there is no such setting here, or the value is none for it.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        let value = value.trim();
        let invalid =
            |expected| ConfigError::Invalid { key: key.to_owned(), value: value.to_owned(), expected };
        let millis = || value.parse::<u32>().map(|millis| Duration::from_millis(millis.into()));
        match key {
            "metadata.broker.list" => self.metadata_broker_list = parse_broker_list(value)?,
            "request.required.acks" => {
                let acks = value.parse().ok().filter(|acks| (-1..=1).contains(acks));
                self.request_required_acks = acks.ok_or_else(|| invalid("0, 1 or -1"))?;
            }
            "request.timeout.ms" => {
                let timeout = millis().ok().filter(|timeout| !timeout.is_zero());
                self.request_timeout = timeout.ok_or_else(|| invalid("a number of milliseconds above 0"))?;
            }
            "message.send.max.retries" => {
                self.message_send_max_retries =
                    value.parse().map_err(|_| invalid("a number of retries from 0 on"))?;
            }
            "retry.backoff.ms" => {
                self.retry_backoff = millis().map_err(|_| invalid("a number of milliseconds"))?;
            }
            "topic.metadata.refresh.interval.ms" => {
                let interval: i64 =
                    value.parse().map_err(|_| invalid("a number of milliseconds; negative for never"))?;
                self.topic_metadata_refresh_interval =
                    u64::try_from(interval).ok().map(Duration::from_millis);
            }
            "client.id" => value.clone_into(&mut self.client_id),
            _ => return Err(ConfigError::Unknown { key: key.to_owned(), known: KNOWN }),
        }
        Ok(())
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        if self.metadata_broker_list.is_empty() { Err(ConfigError::NoBrokers) } else { Ok(()) }
    }
}

/// Where a broker is said to be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BrokerAddress {
    /// A name or an address.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl fmt::Display for BrokerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl FromStr for BrokerAddress {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let parts = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let (host, port) = parts
            .filter(|(host, _): &(&str, u16)| !host.is_empty())
            .ok_or_else(|| ConfigError::Address(text.to_owned()))?;
        Ok(Self { host: host.trim_start_matches('[').trim_end_matches(']').to_owned(), port })
    }
}

fn parse_broker_list(list: &str) -> Result<Vec<BrokerAddress>, ConfigError> {
    let brokers = list.split(',').map(str::trim).filter(|broker| !broker.is_empty()).map(str::parse);
    let brokers: Vec<BrokerAddress> = brokers.collect::<Result<_, _>>()?;
    if brokers.is_empty() { Err(ConfigError::NoBrokers) } else { Ok(brokers) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_0_8() {
        let config = ProducerConfig::default();
        assert_eq!(config.topic_metadata_refresh_interval, Some(Duration::from_secs(600)));
        assert_eq!(config.request_timeout, Duration::from_secs(10));
        assert_eq!((config.message_send_max_retries, config.request_required_acks), (3, 0));
        assert_eq!(config.retry_backoff, Duration::from_millis(100));
        assert!(matches!(config.validate(), Err(ConfigError::NoBrokers)));
    }

    #[test]
    fn settings_have_their_old_names() {
        let mut config = ProducerConfig::default();
        for (key, value) in [
            ("metadata.broker.list", "a:1, [::1]:2,"),
            ("request.required.acks", "-1"),
            ("request.timeout.ms", "1500"),
            ("message.send.max.retries", "0"),
            ("retry.backoff.ms", "0"),
            ("topic.metadata.refresh.interval.ms", "-1"),
            ("client.id", "old"),
        ] {
            config.set(key, value).unwrap();
            assert!(KNOWN.contains(key), "{key}");
        }
        let expected = ProducerConfig {
            metadata_broker_list: vec![
                BrokerAddress { host: "a".to_owned(), port: 1 },
                BrokerAddress { host: "::1".to_owned(), port: 2 },
            ],
            request_required_acks: -1,
            request_timeout: Duration::from_millis(1500),
            message_send_max_retries: 0,
            retry_backoff: Duration::ZERO,
            topic_metadata_refresh_interval: None,
            client_id: "old".to_owned(),
        };
        assert_eq!(config, expected);
        assert_eq!(config.metadata_broker_list[1].to_string(), "[::1]:2");
        config.set("topic.metadata.refresh.interval.ms", "0").unwrap();
        assert_eq!(config.topic_metadata_refresh_interval, Some(Duration::ZERO));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (key, value) in [
            ("metadata.broker.list", "a"),
            ("metadata.broker.list", ":1"),
            ("metadata.broker.list", ","),
            ("request.required.acks", "2"),
            ("request.timeout.ms", "0"),
            ("retry.backoff.ms", "-1"),
            ("topic.metadata.refresh.interval.ms", "10 min"),
            ("bootstrap.servers", "a:1"),
        ] {
            assert!(ProducerConfig::default().set(key, value).is_err(), "{key}={value}");
        }
    }
}
