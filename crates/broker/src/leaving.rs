//! Controlled shutdown: a broker that leaves a cluster asks the controller to move its leaderships first.

use std::io;
use std::time::Duration;

use milena_protocol::ErrorCode;
use milena_protocol::messages::{ControlledShutdownRequest, ControlledShutdownResponse};
use tokio::time::{sleep, timeout};

use crate::node::Node;

/// `controlled.shutdown.max.retries`, and one more.
const TRIES: usize = 4;
/// `controlled.shutdown.retry.backoff.ms`; Kafka waits 5 s, but there the brokers are not in one process.
const RETRY_BACKOFF: Duration = Duration::from_millis(100);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
const VERSION: i16 = 3;

/// Asks until nothing is left to move. A broker whose partitions nobody else can lead leaves nevertheless, and so does one
/// that reaches nobody who could be asked.
pub(crate) async fn move_leaderships_away(node: &Node) {
    for _ in 0..TRIES {
        if node.faults.host.is_gone() {
            tracing::info!(
                broker = node.config.node_id,
                "the controller is out of reach; no leadership moves"
            );
            return;
        }
        let asked = tokio::select! {
            biased;
            answer = timeout(REQUEST_TIMEOUT, ask(node)) => answer,
            () = another_controller(node) => Ok(Err(io::Error::other("another controller was elected"))),
        };
        let reason = match asked {
            Ok(Ok(answer)) if !answer.error_code.is_ok() => answer.error_code.to_string(),
            Ok(Ok(answer)) if answer.remaining_partitions.is_empty() => return,
            Ok(Ok(answer)) => {
                format!("{} partitions have no other leader", answer.remaining_partitions.len())
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => ErrorCode::REQUEST_TIMED_OUT.to_string(),
        };
        tracing::info!(broker = node.config.node_id, reason, "not all leaderships have moved");
        sleep(RETRY_BACKOFF).await;
    }
}

/// Waits until the broker knows of another controller: one whose host is gone does not answer.
pub(crate) async fn another_controller(node: &Node) {
    let known = || node.metadata_cache.load().controller_id();
    let asked = known();
    while known() == asked {
        sleep(RETRY_BACKOFF).await;
    }
}

async fn ask(node: &Node) -> io::Result<ControlledShutdownResponse> {
    let request = ControlledShutdownRequest {
        broker_id: node.config.node_id,
        broker_epoch: node.obedience.broker_epoch(),
    };
    node.ask_controller(VERSION, &request).await
}
