//! CreateTopics (key 19), versions 2 to 7.
//!
//! Served: everything, by the controller. A topic is led and in every live broker's metadata cache before the answer.

use std::collections::BTreeMap;

use milena_protocol::messages::{
    CreatableTopic, CreatableTopicConfigs, CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse,
};
use milena_protocol::{ErrorCode, VersionRange};

use super::describe_configs::topic_configs;
use super::{RequestContext, timeout};
use crate::controller::{ControllerError, CreateTopic, CreatedTopic};
use crate::node::random_uuid;

pub(super) const VERSIONS: VersionRange = VersionRange::new(2, 7);

pub(super) async fn handle(context: &RequestContext, request: CreateTopicsRequest) -> CreateTopicsResponse {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for topic in &request.topics {
        *times.entry(topic.name.clone()).or_default() += 1;
    }
    let (once, repeated): (Vec<_>, Vec<_>) =
        request.topics.into_iter().partition(|topic| times.get(&topic.name) == Some(&1));
    let names: Vec<String> = once.iter().map(|topic| topic.name.clone()).collect();
    let wanted = once.into_iter().map(wanted).collect();
    let wait = timeout(request.timeout_ms);
    let results = context.node.controller.create_topics(wanted, request.validate_only, wait).await;
    let mut topics: Vec<_> =
        names.into_iter().zip(results).map(|(name, result)| answer(context, name, result)).collect();
    let repeated: BTreeMap<String, CreatableTopic> =
        repeated.into_iter().map(|topic| (topic.name.clone(), topic)).collect();
    topics.extend(repeated.into_keys().map(|name| {
        let error = ControllerError {
            code: ErrorCode::INVALID_REQUEST,
            message: format!("The request names the topic {name} more than once."),
        };
        refused(name, error)
    }));
    CreateTopicsResponse { topics, ..Default::default() }
}

fn wanted(topic: CreatableTopic) -> CreateTopic {
    CreateTopic {
        name: topic.name,
        id: random_uuid(),
        num_partitions: topic.num_partitions,
        replication_factor: topic.replication_factor,
        assignments: topic.assignments.into_iter().map(|a| (a.partition_index, a.broker_ids)).collect(),
        configs: topic.configs.into_iter().map(|config| (config.name, config.value)).collect(),
    }
}

fn answer(
    context: &RequestContext,
    name: String,
    result: Result<CreatedTopic, ControllerError>,
) -> CreatableTopicResult {
    let created = match result {
        Ok(created) => created,
        Err(error) => return refused(name, error),
    };
    let configs = topic_configs(&context.node.config.log, &created.configs).into_iter().map(|config| {
        CreatableTopicConfigs {
            name: config.name.to_owned(),
            value: Some(config.value),
            read_only: false,
            config_source: config.source,
            is_sensitive: false,
        }
    });
    CreatableTopicResult {
        name,
        topic_id: created.id,
        num_partitions: created.num_partitions,
        replication_factor: created.replication_factor,
        configs: Some(configs.collect()),
        ..Default::default()
    }
}

fn refused(name: String, error: ControllerError) -> CreatableTopicResult {
    let error_message = Some(error.message);
    CreatableTopicResult { name, error_code: error.code, error_message, ..Default::default() }
}
