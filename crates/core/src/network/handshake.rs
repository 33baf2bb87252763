//! The first words on a connection: which versions does the broker speak? (KIP-35, KIP-511)

use std::time::Duration;

use bytes::Bytes;
use milena_protocol::{
    ApiKey, DecodeError, Decoder, EncodeError, ErrorCode, Frame, Message, VersionRange, encode_request,
    messages::{ApiVersionsRequest, ApiVersionsResponse},
};

use super::NodeApiVersions;

/// How this client calls itself to brokers, which keep it in their metrics.
const SOFTWARE_NAME: &str = "milena";

/// The version in which the broker is asked first.
pub(super) fn newest_version() -> i16 {
    ApiKey::ApiVersions.stable_versions().max
}

/// The question, in the version given.
pub(super) fn question(version: i16, correlation_id: i32, client_id: &str) -> Result<Frame, EncodeError> {
    let request = ApiVersionsRequest {
        client_software_name: SOFTWARE_NAME.into(),
        client_software_version: env!("CARGO_PKG_VERSION").into(),
        ..Default::default()
    };
    encode_request(&request, version, correlation_id, Some(client_id))
}

/// What an answer means.
#[derive(Debug)]
pub(super) enum Answer {
    /// The broker's versions, and how long it wants to be left alone.
    Versions(NodeApiVersions, Duration),
    /// The broker does not know the version asked in; ask in this one.
    AskAgain(i16),
    /// The broker will not talk to this client.
    Refused(ErrorCode),
}

/// Reads the answer to a question asked in `version`.
///
/// A broker that does not know the version answers in version 0 whatever was asked, and names the versions of
/// ApiVersions that it does know, or nothing at all when it is older than that rule (KIP-511).
pub(super) fn interpret(body: Bytes, version: i16) -> Result<Answer, DecodeError> {
    let code = Decoder::new(body.clone()).i16("ApiVersionsResponse.error_code").map(ErrorCode)?;
    if code == ErrorCode::UNSUPPORTED_VERSION && version > 0 {
        let response = ApiVersionsResponse::decode(&mut Decoder::new(body), 0)?;
        let offered = ranges(&response).find(|(key, _)| *key == ApiKey::ApiVersions as i16);
        let lower = offered.and_then(|(_, range)| range.intersect(VersionRange::new(0, version - 1)));
        return Ok(Answer::AskAgain(lower.map_or(0, |range| range.max)));
    }
    let response = ApiVersionsResponse::decode(&mut Decoder::new(body), version)?;
    if !code.is_ok() {
        return Ok(Answer::Refused(code));
    }
    let throttle = Duration::from_millis(u64::try_from(response.throttle_time_ms).unwrap_or(0));
    Ok(Answer::Versions(NodeApiVersions::new(ranges(&response)), throttle))
}

fn ranges(response: &ApiVersionsResponse) -> impl Iterator<Item = (i16, VersionRange)> {
    response.api_keys.iter().map(|api| (api.api_key, VersionRange::new(api.min_version, api.max_version)))
}
