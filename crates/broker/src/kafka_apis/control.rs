//! What the requests of a controller have in common.

use std::sync::Arc;

use milena_protocol::ErrorCode;

use super::RequestContext;
use crate::blocking::blocking;
use crate::controller::Obedience;

impl RequestContext {
    /// Says that the request may be one of the cluster's own: it came in on the listener that brokers talk to each other
    /// on. A broker that is alone has none.
    pub(super) fn check_inter_broker(&self) -> Result<(), ErrorCode> {
        let listener = self.node.config.inter_broker_listener_name.as_deref();
        if listener == Some(&*self.peer.listener) {
            return Ok(());
        }
        tracing::warn!(
            peer = %self.peer.address,
            listener = %self.peer.listener,
            api = self.api.name(),
            "a request between brokers is refused on a listener for clients"
        );
        Err(ErrorCode::CLUSTER_AUTHORIZATION_FAILED)
    }

    /// Does what a controller says, on a blocking thread.
    pub(super) async fn obey<T: Send + 'static>(
        &self,
        what: impl FnOnce(&Obedience) -> Result<T, ErrorCode> + Send + 'static,
    ) -> Result<T, ErrorCode> {
        self.check_inter_broker()?;
        let obedience: Arc<Obedience> = self.node.obedience.clone();
        let done = blocking(move || what(&obedience)).await;
        // Cancelled: the broker is ending.
        done.unwrap_or(Err(ErrorCode::BROKER_NOT_AVAILABLE))
    }
}
