//! InitProducerId (key 22), versions 0 to 5.
//!
//! Served: idempotent producers, each of which gets an id that nobody had before, with epoch 0; as in Kafka, an id and an
//! epoch in the request (KIP-360) change nothing about that, since only a transactional id would make them mean something.
//! Not served: transactional ids, refused with UNSUPPORTED_VERSION; version 6 (KIP-939), which is unstable.

use milena_protocol::messages::{InitProducerIdRequest, InitProducerIdResponse};
use milena_protocol::{ErrorCode, VersionRange};

use super::RequestContext;

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 5);

pub(super) async fn handle(
    context: &RequestContext,
    request: &InitProducerIdRequest,
) -> InitProducerIdResponse {
    let refuse = |error_code| InitProducerIdResponse {
        error_code,
        producer_id: -1,
        producer_epoch: -1,
        ..Default::default()
    };
    match request.transactional_id.as_deref() {
        None => {}
        Some("") => return refuse(ErrorCode::INVALID_REQUEST),
        Some(id) => {
            tracing::debug!(transactional_id = id, "transactions are not served");
            return refuse(ErrorCode::UNSUPPORTED_VERSION);
        }
    }
    match context.node.producer_ids.next(&context.node.controller).await {
        Ok(producer_id) => InitProducerIdResponse { producer_id, producer_epoch: 0, ..Default::default() },
        Err(error) => {
            tracing::warn!(%error, "no producer id can be given away");
            // Retriable, unlike a storage error, which the client would take for a partition's.
            refuse(ErrorCode::COORDINATOR_NOT_AVAILABLE)
        }
    }
}
