//! Topics that are created because somebody names them (`kafka.server.AutoTopicCreationManager`): by the controller, be it
//! this broker or another one.

use std::io;
use std::time::Duration;

use milena_protocol::ErrorCode;
use milena_protocol::messages::{CreatableTopic, CreateTopicsRequest};

use crate::controller::CreateTopic;
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
    let wanted = names.iter().map(|name| CreateTopic {
        name: name.clone(),
        id: random_uuid(),
        num_partitions: -1,
        replication_factor: -1,
        assignments: Vec::new(),
        configs: Vec::new(),
    });
    let results = node.controller.create_topics(wanted.collect(), false, TIMEOUT).await;
    let code = |result: Result<_, crate::controller::ControllerError>| {
        result.map_or_else(|error| error.code, |_created| ErrorCode::NONE)
    };
    names.into_iter().zip(results.into_iter().map(code)).collect()
}

async fn create_there(node: &Node, names: &[String]) -> io::Result<Vec<(String, ErrorCode)>> {
    let topic = |name: &String| CreatableTopic {
        name: name.clone(),
        num_partitions: -1,
        replication_factor: -1,
        ..Default::default()
    };
    let request = CreateTopicsRequest {
        topics: names.iter().map(topic).collect(),
        timeout_ms: i32::try_from(TIMEOUT.as_millis()).unwrap_or(i32::MAX),
        ..Default::default()
    };
    let response = node.ask_controller(VERSION, &request).await?;
    Ok(response.topics.into_iter().map(|topic| (topic.name, topic.error_code)).collect())
}
