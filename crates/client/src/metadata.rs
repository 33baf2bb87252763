//! Looking at the cluster as a client sees it.

use std::sync::Arc;

use milena_core::metadata::{MetadataHandle, MetadataView, RefreshReason, RefreshReport};

use crate::clock::Clock;

/// A client's current view of the cluster, and its changes.
#[derive(Clone, Debug)]
pub struct MetadataWatch {
    handle: MetadataHandle,
    clock: Arc<Clock>,
}

impl MetadataWatch {
    pub(crate) fn new(handle: MetadataHandle, clock: Arc<Clock>) -> Self {
        Self { handle, clock }
    }

    /// The current view: an immutable snapshot.
    pub fn view(&self) -> Arc<MetadataView> {
        self.handle.view_full()
    }

    /// How long ago the view was made.
    pub fn age(&self, view: &MetadataView) -> std::time::Duration {
        self.clock.now() - view.updated_at
    }

    /// Asks for a refresh now; wait for it with [`changed`](Self::changed) on the current version.
    pub fn refresh(&self) {
        self.handle.request_update(RefreshReason::Requested);
    }

    /// The refreshes since the last call, oldest first; at most the last 64.
    pub fn take_refreshes(&self) -> Vec<RefreshReport> {
        self.handle.take_refreshes()
    }

    /// The next view after `version`; at once when there is one already.
    pub async fn changed(&self, version: u64) -> Arc<MetadataView> {
        loop {
            let changed = self.handle.listen();
            let view = self.view();
            if view.version > version || view.closed {
                return view;
            }
            changed.await;
        }
    }
}
