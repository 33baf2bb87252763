//! ApiVersions (key 18), versions 0 to 5.
//!
//! Served: the versions of every API that is served, and of no other; Produce is announced from version 0 on, as Kafka 4
//! does, because librdkafka takes anything else for a broker without idempotence (KAFKA-18659). Versions 0 to 2 of Produce
//! themselves close the connection, as Kafka's do. Not served: features, of which this broker has none.

use milena_protocol::messages::api_versions_response::ApiVersion;
use milena_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse};
use milena_protocol::{ApiKey, ErrorCode, VersionRange, encode_response};

use super::{RequestContext, SERVED};
use crate::network::{CloseReason, Reply};

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 5);

/// `ApiKeys.PRODUCE_API_VERSIONS_RESPONSE_MIN_VERSION`.
const ANNOUNCED_PRODUCE_MIN: i16 = 0;

pub(super) fn handle(context: &RequestContext, request: &ApiVersionsRequest) -> ApiVersionsResponse {
    let error = if context.version() >= 3 && !names_its_software(request) {
        ErrorCode::INVALID_REQUEST
    } else if !is_meant_for(context, request) {
        ErrorCode::REBOOTSTRAP_REQUIRED
    } else {
        ErrorCode::NONE
    };
    if !error.is_ok() {
        return ApiVersionsResponse { error_code: error, ..Default::default() };
    }
    ApiVersionsResponse {
        api_keys: SERVED.iter().map(|(api, versions)| announced(*api, *versions)).collect(),
        ..Default::default()
    }
}

/// The answer to a version of this very API that is not served: in version 0, which every client can read, with the
/// versions that are.
pub(super) fn unsupported(context: &RequestContext) -> Result<Reply, CloseReason> {
    let response = ApiVersionsResponse {
        error_code: ErrorCode::UNSUPPORTED_VERSION,
        api_keys: vec![announced(ApiKey::ApiVersions, VERSIONS)],
        ..Default::default()
    };
    encode_response(ApiKey::ApiVersions, 0, context.head.correlation_id, &response)
        .map(|frame| Reply::Now(Some(frame)))
        .map_err(|error| CloseReason(error.to_string()))
}

fn announced(api: ApiKey, versions: VersionRange) -> ApiVersion {
    let min_version = if api == ApiKey::Produce { ANNOUNCED_PRODUCE_MIN } else { versions.min };
    ApiVersion { api_key: api as i16, min_version, max_version: versions.max }
}

/// Letters, digits, dots and hyphens, the first and the last being no punctuation (KIP-511).
fn names_its_software(request: &ApiVersionsRequest) -> bool {
    let valid = |text: &str| {
        let ends = text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.ends_with(|c: char| c.is_ascii_alphanumeric());
        ends && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'))
    };
    valid(&request.client_software_name) && valid(&request.client_software_version)
}

/// Whether the client has found the cluster and the node that it looked for (KIP-1242).
fn is_meant_for(context: &RequestContext, request: &ApiVersionsRequest) -> bool {
    let cluster = request.cluster_id.as_deref();
    cluster.is_none_or(|id| id == context.node.metadata_cache.load().cluster_id())
        && (request.node_id < 0 || request.node_id == context.node.config.node_id)
}
