//! UpdateMetadata (key 6), version 8 of Kafka 3.9, on the inter-broker listener alone. Served: everything.

use milena_protocol::VersionRange;
use milena_protocol::messages::{UpdateMetadataRequest, UpdateMetadataResponse};

use super::RequestContext;
use crate::controller::wire::{UPDATE_METADATA_VERSION, metadata_update};

pub(super) const VERSIONS: VersionRange = VersionRange::new(UPDATE_METADATA_VERSION, UPDATE_METADATA_VERSION);

pub(super) async fn handle(
    context: &RequestContext,
    request: UpdateMetadataRequest,
) -> UpdateMetadataResponse {
    let (stamp, update) = metadata_update(request);
    let done = context.obey(move |broker_side| broker_side.update_metadata(stamp, &update)).await;
    UpdateMetadataResponse { error_code: done.err().unwrap_or_default() }
}
