//! [`MetadataCache`]: what this broker knows of the cluster, and the only thing that metadata answers are made of.
//!
//! Readers take the current [`MetadataSnapshot`], which never changes; an update builds the next one and swaps it in
//! whole (`kafka.server.metadata.ZkMetadataCache`, whose fields these are). So a lookup takes no lock, and one
//! answer is made of one state of the cluster.

mod snapshot;
mod update;

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use parking_lot::Mutex;

pub use snapshot::{
    BrokerEndpoint, BrokerInfo, MetadataSnapshot, NO_LEADER, OFFSETS_TOPIC, PartitionMetadata, TopicMetadata,
    is_internal_topic,
};
pub use update::{LEADER_DURING_DELETE, MetadataUpdate, PartitionUpdate, StaleControllerEpoch, TopicUpdate};

/// One broker's view of the cluster.
#[derive(Debug)]
pub struct MetadataCache {
    snapshot: ArcSwap<MetadataSnapshot>,
    /// Held while the next snapshot is built, so that no update is lost between two writers.
    updating: Mutex<()>,
}

impl MetadataCache {
    /// A cache that knows its cluster's id and nothing else.
    #[must_use]
    pub fn new(cluster_id: impl Into<Arc<str>>) -> Self {
        Self { snapshot: ArcSwap::from_pointee(MetadataSnapshot::new(cluster_id)), updating: Mutex::new(()) }
    }

    /// The current state of the cluster, for a short look.
    pub fn load(&self) -> Guard<Arc<MetadataSnapshot>> {
        self.snapshot.load()
    }

    /// The current state of the cluster, to keep.
    pub fn snapshot(&self) -> Arc<MetadataSnapshot> {
        self.snapshot.load_full()
    }

    /// Applies what the controller says (`maybeUpdateMetadataCache`): live brokers are replaced whole, the partitions
    /// named are replaced, those with leader [`LEADER_DURING_DELETE`] removed, the others kept.
    ///
    /// # Errors
    /// When the update is from an older controller than the last one; nothing has changed then.
    pub fn update(&self, update: &MetadataUpdate) -> Result<(), StaleControllerEpoch> {
        let _updating = self.updating.lock();
        let next = self.snapshot.load().updated(update)?;
        self.snapshot.store(Arc::new(next));
        Ok(())
    }
}
