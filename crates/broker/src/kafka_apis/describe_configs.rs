//! DescribeConfigs (key 32), versions 1 to 4.
//!
//! Served: topics, with every setting, where its value comes from and its synonyms; brokers, with the settings that this
//! broker acts on, all of them read-only. Not served: broker loggers, client metrics and groups.

use std::collections::BTreeMap;

use milena_protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
};
use milena_protocol::messages::{DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse};
use milena_protocol::{ErrorCode, VersionRange};
use milena_storage::{ConfigKey, ConfigType, LogConfig};

use super::RequestContext;
use crate::config::{BrokerConfig, broker_name};
use crate::controller::validate_topic_name;

pub(super) const VERSIONS: VersionRange = VersionRange::new(1, 4);

/// `ConfigResource.Type`.
const TOPIC: i8 = 2;
const BROKER: i8 = 4;

/// `DescribeConfigsResponse.ConfigSource`.
const DYNAMIC_TOPIC_CONFIG: i8 = 1;
const STATIC_BROKER_CONFIG: i8 = 4;
const DEFAULT_CONFIG: i8 = 5;

pub(super) fn handle(context: &RequestContext, request: DescribeConfigsRequest) -> DescribeConfigsResponse {
    let (synonyms, documentation) = (request.include_synonyms, request.include_documentation);
    let describe = |resource: DescribeConfigsResource| {
        let described = match resource.resource_type {
            TOPIC => describe_topic(context, &resource.resource_name),
            BROKER => describe_broker(&context.node.config, &resource.resource_name),
            other => Err((
                ErrorCode::INVALID_REQUEST,
                format!("This broker has no configs of resource type {other}."),
            )),
        };
        let mut result = DescribeConfigsResult {
            resource_type: resource.resource_type,
            resource_name: resource.resource_name,
            ..Default::default()
        };
        match described {
            Err((code, message)) => {
                result.error_code = code;
                result.error_message = Some(message);
            }
            Ok(configs) => {
                let keys = resource.configuration_keys;
                let wanted = |name: &str| keys.as_ref().is_none_or(|keys| keys.iter().any(|key| key == name));
                let wanted = configs.into_iter().filter(|config| wanted(config.name));
                result.configs = wanted.map(|config| config.answer(synonyms, documentation)).collect();
            }
        }
        result
    };
    DescribeConfigsResponse {
        results: request.resources.into_iter().map(describe).collect(),
        ..Default::default()
    }
}

/// One setting and where it comes from.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) name: &'static str,
    pub(super) value: String,
    pub(super) source: i8,
    config_type: ConfigType,
    doc: &'static str,
    read_only: bool,
    synonyms: Vec<DescribeConfigsSynonym>,
}

impl Config {
    fn answer(self, synonyms: bool, documentation: bool) -> DescribeConfigsResourceResult {
        DescribeConfigsResourceResult {
            name: self.name.to_owned(),
            value: Some(self.value),
            read_only: self.read_only,
            config_source: self.source,
            is_sensitive: false,
            synonyms: if synonyms { self.synonyms } else { Vec::new() },
            config_type: type_code(self.config_type),
            documentation: documentation.then(|| self.doc.to_owned()),
        }
    }
}

fn describe_topic(context: &RequestContext, name: &str) -> Result<Vec<Config>, (ErrorCode, String)> {
    if let Err(message) = validate_topic_name(name) {
        return Err((ErrorCode::INVALID_TOPIC_EXCEPTION, message));
    }
    if context.node.metadata_cache.load().topic(name).is_none() {
        let message = "This server does not host this topic-partition.".to_owned();
        return Err((ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, message));
    }
    Ok(topic_configs(&context.node.config.log, &context.node.topic_configs.get(name)))
}

/// Every setting of a topic that overrides `own` of the broker's defaults.
pub(super) fn topic_configs(broker: &LogConfig, own: &BTreeMap<String, String>) -> Vec<Config> {
    let describe = |key: &'static ConfigKey| {
        let default = broker.get(key.name).unwrap_or_default();
        let broker_source =
            if default == key.default_value() { DEFAULT_CONFIG } else { STATIC_BROKER_CONFIG };
        let mut synonyms = Vec::new();
        if let Some(value) = own.get(key.name) {
            synonyms.push(synonym(key.name, value, DYNAMIC_TOPIC_CONFIG));
        }
        synonyms.push(synonym(broker_name(key.name), &default, broker_source));
        let (value, source) = match own.get(key.name) {
            Some(value) => (value.clone(), DYNAMIC_TOPIC_CONFIG),
            None => (default, broker_source),
        };
        let (config_type, doc) = (key.config_type, key.doc);
        Config { name: key.name, value, source, config_type, doc, read_only: false, synonyms }
    };
    ConfigKey::all().iter().map(describe).collect()
}

fn describe_broker(config: &BrokerConfig, name: &str) -> Result<Vec<Config>, (ErrorCode, String)> {
    // The empty name stands for the cluster's dynamic defaults, of which there are none.
    if name.is_empty() {
        return Ok(Vec::new());
    }
    if name.parse() != Ok(config.node_id) {
        let id = config.node_id;
        let message = format!("Unexpected broker id, expected {id} or empty string, but received {name}");
        return Err((ErrorCode::INVALID_REQUEST, message));
    }
    let log = ConfigKey::all().iter().map(|key| {
        let value = config.log.get(key.name).unwrap_or_default();
        let source = if value == key.default_value() { DEFAULT_CONFIG } else { STATIC_BROKER_CONFIG };
        broker_config(broker_name(key.name), value, source, key.config_type, key.doc)
    });
    let mut configs: Vec<Config> = own_configs(config).chain(log).collect();
    configs.sort_by_key(|config| config.name);
    Ok(configs)
}

fn own_configs(config: &BrokerConfig) -> impl Iterator<Item = Config> {
    use ConfigType::{Boolean, Int, List, Long, String as Text};
    let listeners: Vec<String> =
        config.listeners.iter().map(|listener| format!("{}://{}", listener.name, listener.bind)).collect();
    let millis = |duration: std::time::Duration| duration.as_millis().to_string();
    let log_dir = config.data_dir.display().to_string();
    [
        (
            "auto.create.topics.enable",
            config.auto_create_topics.to_string(),
            Boolean,
            "Create topics that clients ask for.",
        ),
        ("broker.id", config.node_id.to_string(), Int, "The broker's id."),
        ("broker.rack", config.rack.clone().unwrap_or_default(), Text, "The broker's rack."),
        (
            "connections.max.idle.ms",
            millis(config.socket.connections_max_idle),
            Long,
            "Milliseconds after which a silent connection is closed.",
        ),
        (
            "default.replication.factor",
            config.default_replication_factor.to_string(),
            Int,
            "Replicas of a topic that is created without a number.",
        ),
        ("delete.topic.enable", config.delete_topics.to_string(), Boolean, "Whether topics can be deleted."),
        ("listeners", listeners.join(","), List, "Where the broker listens."),
        ("log.dirs", log_dir, List, "Where the logs are."),
        (
            "log.retention.check.interval.ms",
            millis(config.retention_check_interval),
            Long,
            "Milliseconds between two looks at what is too old.",
        ),
        ("max.connections", config.socket.max_connections.to_string(), Int, "Connections at a time."),
        ("node.id", config.node_id.to_string(), Int, "The broker's id."),
        (
            "num.partitions",
            config.num_partitions.to_string(),
            Int,
            "Partitions of a topic that is created without a number.",
        ),
        (
            "queued.max.request.bytes",
            config.socket.queued_max_request_bytes.to_string(),
            Long,
            "Bytes of all requests that have arrived, or are arriving, and wait to be handled.",
        ),
        (
            "socket.request.max.bytes",
            config.socket.request_max_bytes.to_string(),
            Int,
            "Bytes of the largest request.",
        ),
    ]
    .into_iter()
    .map(|(name, value, config_type, doc)| broker_config(name, value, STATIC_BROKER_CONFIG, config_type, doc))
}

fn broker_config(
    name: &'static str,
    value: String,
    source: i8,
    config_type: ConfigType,
    doc: &'static str,
) -> Config {
    let synonyms = vec![synonym(name, &value, source)];
    Config { name, value, source, config_type, doc, read_only: true, synonyms }
}

fn synonym(name: &str, value: &str, source: i8) -> DescribeConfigsSynonym {
    DescribeConfigsSynonym { name: name.to_owned(), value: Some(value.to_owned()), source }
}

/// `DescribeConfigsResponse.ConfigType`.
fn type_code(config_type: ConfigType) -> i8 {
    match config_type {
        ConfigType::Boolean => 1,
        ConfigType::String => 2,
        ConfigType::Int => 3,
        ConfigType::Long => 5,
        ConfigType::Double => 6,
        ConfigType::List => 7,
    }
}
