//! [`Node`]: what the requests of one broker work on.

use std::sync::Arc;

use milena_protocol::Uuid;

use crate::clock::Clock;
use crate::config::BrokerConfig;
use crate::controller::Controller;
use crate::coordinator::GroupCoordinator;
use crate::data_dir::DataDir;
use crate::metadata_cache::MetadataCache;
use crate::producer_ids::ProducerIdManager;
use crate::replica_manager::ReplicaManager;
use crate::topic_configs::TopicConfigs;

/// One broker without its sockets.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) config: BrokerConfig,
    pub(crate) clock: Clock,
    pub(crate) metadata_cache: Arc<MetadataCache>,
    pub(crate) topic_configs: Arc<TopicConfigs>,
    pub(crate) replica_manager: Arc<ReplicaManager>,
    pub(crate) controller: Arc<Controller>,
    pub(crate) producer_ids: ProducerIdManager,
    pub(crate) groups: Arc<GroupCoordinator>,
    /// The last field, so that the directory is given up when nothing of the broker uses it any more.
    pub(crate) data_dir: DataDir,
}

/// A random id, never [`Uuid::ZERO`] and never with a leading hyphen, which tools would take for an option
/// (`Uuid.randomUuid`).
pub(crate) fn random_uuid() -> Uuid {
    loop {
        let mut bytes: [u8; 16] = rand::random();
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let id = Uuid(bytes);
        if !id.is_zero() && !id.to_string().starts_with('-') {
            return id;
        }
    }
}
