//! Topics that are created because somebody names them (`kafka.server.AutoTopicCreationManager`): by the controller, be it
//! this broker or another one. `__consumer_offsets` has settings of its own.

use std::io;
use std::time::Duration;

use milena_protocol::ErrorCode;
use milena_protocol::messages::{CreatableTopic, CreatableTopicConfig, CreateTopicsRequest};

use crate::controller::CreateTopic;
use crate::metadata_cache::OFFSETS_TOPIC;
use crate::node::{Node, random_uuid};

/// How long the controller may take.
const TIMEOUT: Duration = Duration::from_secs(10);
const VERSION: i16 = 7;

/// Creates topics with the defaults of the broker that is the controller.
pub(super) async fn create(node: &Node, names: Vec<String>) -> Vec<(String, ErrorCode)> {
    if node.controller.is_active() {
        return create_here(node, names).await;
    }
    match create_there(node, &names).await {
        Ok(answers) => answers,
        Err(error) => {
            tracing::warn!(%error, "the controller cannot be asked to create topics");
            // The client asks again, and then there may be a controller.
            names.into_iter().map(|name| (name, ErrorCode::LEADER_NOT_AVAILABLE)).collect()
        }
    }
}

async fn create_here(node: &Node, names: Vec<String>) -> Vec<(String, ErrorCode)> {
    let wanted = names.iter().map(|name| {
        let topic = wanted(node, name);
        CreateTopic {
            name: topic.name,
            id: random_uuid(),
            num_partitions: topic.num_partitions,
            replication_factor: topic.replication_factor,
            assignments: Vec::new(),
            configs: topic.configs.into_iter().map(|config| (config.name, config.value)).collect(),
        }
    });
    let results = node.controller.create_topics(wanted.collect(), false, TIMEOUT).await;
    let code = |result: Result<_, crate::controller::ControllerError>| {
        result.map_or_else(|error| error.code, |_created| ErrorCode::NONE)
    };
    names.into_iter().zip(results.into_iter().map(code)).collect()
}

async fn create_there(node: &Node, names: &[String]) -> io::Result<Vec<(String, ErrorCode)>> {
    let request = CreateTopicsRequest {
        topics: names.iter().map(|name| wanted(node, name)).collect(),
        timeout_ms: i32::try_from(TIMEOUT.as_millis()).unwrap_or(i32::MAX),
        ..Default::default()
    };
    let response = node.ask_controller(VERSION, &request).await?;
    Ok(response.topics.into_iter().map(|topic| (topic.name, topic.error_code)).collect())
}

/// `segment.bytes` of `__consumer_offsets` (`offsets.topic.segment.bytes`): small, so that it is compacted and loaded soon.
const OFFSETS_SEGMENT_BYTES: &str = "104857600";

fn wanted(node: &Node, name: &str) -> CreatableTopic {
    let mut topic = CreatableTopic {
        name: name.to_owned(),
        num_partitions: -1,
        replication_factor: -1,
        ..Default::default()
    };
    if name == OFFSETS_TOPIC {
        let config = &node.config;
        let alive = i16::try_from(node.metadata_cache.load().brokers().count()).unwrap_or(i16::MAX);
        topic.num_partitions = config.offsets_topic_num_partitions;
        topic.replication_factor = config.offsets_topic_replication_factor.min(alive).max(1);
        let set = |(name, value): (&str, &str)| CreatableTopicConfig {
            name: name.to_owned(),
            value: Some(value.to_owned()),
        };
        let configs = [("cleanup.policy", "compact"), ("segment.bytes", OFFSETS_SEGMENT_BYTES)];
        topic.configs = configs.into_iter().map(set).collect();
    }
    topic
}
