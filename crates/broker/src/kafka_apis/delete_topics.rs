//! DeleteTopics (key 20), versions 1 to 6.
//!
//! Served: everything; by name, and by id from version 6. The partitions' directories are renamed before the answer, so
//! that a topic of the same name can be created at once. By the controller.

use milena_protocol::messages::{DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse};
use milena_protocol::{ErrorCode, Uuid, VersionRange};

use super::{RequestContext, timeout};
use crate::controller::{ControllerError, TopicSelector};

pub(super) const VERSIONS: VersionRange = VersionRange::new(1, 6);

pub(super) async fn handle(context: &RequestContext, request: DeleteTopicsRequest) -> DeleteTopicsResponse {
    let by_name = request.topic_names.into_iter().map(|name| (Some(name), Uuid::ZERO));
    let by_either = request.topics.into_iter().map(|topic| (topic.name, topic.topic_id));
    let mut responses = Vec::new();
    let mut wanted = Vec::new();
    for asked in by_name.chain(by_either) {
        match selector(context, &asked) {
            Ok(selector) => wanted.push((asked, selector)),
            Err(error) => responses.push(answer(asked, Err(error))),
        }
    }
    let (asked, selectors): (Vec<_>, Vec<_>) = wanted.into_iter().unzip();
    let results = context.node.controller.delete_topics(selectors, timeout(request.timeout_ms)).await;
    responses.extend(asked.into_iter().zip(results).map(|(asked, result)| answer(asked, result)));
    DeleteTopicsResponse { responses, ..Default::default() }
}

fn selector(
    context: &RequestContext,
    asked: &(Option<String>, Uuid),
) -> Result<TopicSelector, ControllerError> {
    let refuse = |code, message: &str| Err(ControllerError { code, message: message.to_owned() });
    if !context.node.config.delete_topics {
        return refuse(
            ErrorCode::TOPIC_DELETION_DISABLED,
            "This broker does not delete topics (delete.topic.enable).",
        );
    }
    match asked {
        (Some(name), id) if id.is_zero() => Ok(TopicSelector::Name(name.clone())),
        (None, id) if !id.is_zero() => Ok(TopicSelector::Id(*id)),
        (None, _) => refuse(ErrorCode::INVALID_REQUEST, "Neither topic name nor id were specified."),
        (Some(_), _) => {
            refuse(ErrorCode::INVALID_REQUEST, "You may not specify both topic name and topic id.")
        }
    }
}

fn answer(
    (name, id): (Option<String>, Uuid),
    result: Result<(String, Uuid), ControllerError>,
) -> DeletableTopicResult {
    match result {
        Ok((name, topic_id)) => DeletableTopicResult { name: Some(name), topic_id, ..Default::default() },
        Err(error) => DeletableTopicResult {
            name,
            topic_id: id,
            error_code: error.code,
            error_message: Some(error.message),
        },
    }
}
