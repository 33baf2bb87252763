//! IncrementalAlterConfigs (key 44), versions 0 and 1: by the controller, to which every other broker hands it on.
//!
//! Served: topics. A broker's settings do not change while it runs: to take one back that was never set is accepted, as
//! `kafka-reassign-partitions --verify` does with replication throttles, and to set one is refused with INVALID_CONFIG. Not
//! served: other resources; refused with INVALID_REQUEST.

use milena_protocol::messages::incremental_alter_configs_request::AlterConfigsResource;
use milena_protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse;
use milena_protocol::messages::{IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse};
use milena_protocol::{ErrorCode, VersionRange};

use super::RequestContext;
use crate::controller::{ConfigChange, ConfigOp, ControllerError};

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 1);

/// `ConfigResource.Type`.
const TOPIC: i8 = 2;
const BROKER: i8 = 4;

/// `AlterConfigOp.OpType`.
const DELETE: i8 = 1;

pub(super) async fn handle(
    context: &RequestContext,
    request: IncrementalAlterConfigsRequest,
) -> IncrementalAlterConfigsResponse {
    if context.node.controller.is_active() {
        return alter(context, request).await;
    }
    match context.node.ask_controller(VERSIONS.max, &request).await {
        Ok(response) => response,
        Err(error) => {
            let refusal = ControllerError {
                code: ErrorCode::NOT_CONTROLLER,
                message: format!("The controller cannot be reached: {error}"),
            };
            let answers = request.resources.iter().map(|resource| answer(resource, Err(refusal.clone())));
            IncrementalAlterConfigsResponse { responses: answers.collect(), ..Default::default() }
        }
    }
}

async fn alter(
    context: &RequestContext,
    request: IncrementalAlterConfigsRequest,
) -> IncrementalAlterConfigsResponse {
    let wanted: Vec<_> = request.resources.iter().map(changes).collect();
    let valid = wanted.iter().filter_map(|wanted| wanted.as_ref().ok()?.clone()).collect();
    let mut altered = match context.node.controller.alter_configs(valid, request.validate_only).await {
        Ok(answers) => answers.into_iter(),
        Err(error) => vec![Err(error); request.resources.len()].into_iter(),
    };
    let answers = request.resources.iter().zip(wanted).map(|(resource, wanted)| match wanted {
        Err(error) => answer(resource, Err(error)),
        Ok(None) => answer(resource, Ok(())),
        Ok(Some(_)) => answer(resource, altered.next().unwrap_or(Ok(()))),
    });
    IncrementalAlterConfigsResponse { responses: answers.collect(), ..Default::default() }
}

/// A topic, and what is to be changed on it.
type TopicChanges = (String, Vec<ConfigChange>);

/// What is to be changed; None when nothing is.
fn changes(resource: &AlterConfigsResource) -> Result<Option<TopicChanges>, ControllerError> {
    let refuse = |message: String| Err(ControllerError { code: ErrorCode::INVALID_REQUEST, message });
    let mut set = resource.configs.iter().filter(|config| config.config_operation != DELETE);
    if let Some(throttle) = set.clone().find(|config| config.name.contains(".replication.throttled.")) {
        let message =
            format!("{} cannot be set: this broker has no throttles for replication.", throttle.name);
        return Err(ControllerError { code: ErrorCode::INVALID_CONFIG, message });
    }
    if resource.resource_type == BROKER {
        return match set.next() {
            None => Ok(None),
            Some(config) => Err(ControllerError {
                code: ErrorCode::INVALID_CONFIG,
                message: format!(
                    "{} cannot be set: the settings of an embedded broker do not change while it runs.",
                    config.name
                ),
            }),
        };
    }
    if resource.resource_type != TOPIC {
        return refuse(format!(
            "Only the settings of topics can be changed here, not those of resource type {}.",
            resource.resource_type
        ));
    }
    let mut changes = Vec::new();
    for config in &resource.configs {
        let op = match config.config_operation {
            0 => ConfigOp::Set,
            DELETE => ConfigOp::Delete,
            2 => ConfigOp::Append,
            3 => ConfigOp::Subtract,
            other => return refuse(format!("There is no operation {other} on {}.", config.name)),
        };
        changes.push(ConfigChange { name: config.name.clone(), op, value: config.value.clone() });
    }
    Ok(Some((resource.resource_name.clone(), changes)))
}

fn answer(
    resource: &AlterConfigsResource,
    result: Result<(), ControllerError>,
) -> AlterConfigsResourceResponse {
    let (error_code, error_message) = match result {
        Ok(()) => (ErrorCode::NONE, None),
        Err(error) => (error.code, Some(error.message)),
    };
    AlterConfigsResourceResponse {
        error_code,
        error_message,
        resource_type: resource.resource_type,
        resource_name: resource.resource_name.clone(),
    }
}
