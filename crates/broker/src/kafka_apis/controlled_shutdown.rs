//! ControlledShutdown (key 7), versions 0 to 3 of Kafka 3.9, by the controller, on the inter-broker listener alone.
//!
//! Served: everything.

use milena_protocol::VersionRange;
use milena_protocol::messages::controlled_shutdown_response::RemainingPartition;
use milena_protocol::messages::{ControlledShutdownRequest, ControlledShutdownResponse};

use super::RequestContext;

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 3);

pub(super) async fn handle(
    context: &RequestContext,
    request: &ControlledShutdownRequest,
) -> ControlledShutdownResponse {
    if let Err(error_code) = context.check_inter_broker() {
        return ControlledShutdownResponse { error_code, ..Default::default() };
    }
    match context.node.controller.controlled_shutdown(request.broker_id, request.broker_epoch).await {
        Ok(remaining) => ControlledShutdownResponse {
            remaining_partitions: remaining
                .into_iter()
                .map(|(topic_name, partition_index)| RemainingPartition { topic_name, partition_index })
                .collect(),
            ..Default::default()
        },
        Err(error) => {
            tracing::info!(broker = request.broker_id, %error, "a controlled shutdown is refused");
            ControlledShutdownResponse { error_code: error.code, ..Default::default() }
        }
    }
}
