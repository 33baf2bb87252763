//! [`ProducerIdManager`]: gives idempotent producers their ids.

use std::ops::Range;
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::controller::{Controller, ControllerError};

/// The producer ids of this broker: a block at a time, from the controller, which never gives one out twice. What is left
/// of a block when the broker stops is lost.
#[derive(Debug)]
pub(crate) struct ProducerIdManager {
    block: Mutex<Range<i64>>,
}

impl ProducerIdManager {
    pub(crate) fn new() -> Self {
        Self { block: Mutex::new(0..0) }
    }

    /// An id that nobody has had.
    pub(crate) async fn next(&self, controller: &Arc<Controller>) -> Result<i64, ControllerError> {
        let mut block = self.block.lock().await;
        if block.is_empty() {
            *block = controller.allocate_producer_ids().await?;
        }
        let id = block.start;
        block.start += 1;
        Ok(id)
    }
}
