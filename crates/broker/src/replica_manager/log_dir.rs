//! What a failed log directory means for the partitions in it, and how they come back.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use milena_storage::StorageError;

use super::{HostedPartition, HostedTopic, ReplicaManager, Topics};
use crate::controller::ControllerState;

impl ReplicaManager {
    /// Waits until the log directory has failed, if it has not yet.
    pub(crate) async fn log_dir_failed(&self) -> String {
        loop {
            if let Some(failure) = self.logs.failures().failure() {
                return failure;
            }
            self.log_dir_failure.notified().await;
        }
    }

    /// Whether the log directory has failed and is not recovered.
    pub(crate) fn is_offline(&self) -> bool {
        self.offline.load(Ordering::SeqCst)
    }

    /// Serves no partition any more, because the log directory has failed (`ReplicaManager.handleLogDirFailure`): every
    /// request is refused with KAFKA_STORAGE_ERROR, those that wait too, and what the controller says about replicas is
    /// answered so. Blocking.
    pub(crate) fn go_offline(&self) {
        let _changing = self.changing.lock();
        if self.offline.swap(true, Ordering::SeqCst) {
            return;
        }
        // Those that come back know what they had known.
        let partitions = self.partitions();
        let known = partitions.iter().map(|partition| (partition.name().clone(), partition.high_watermark()));
        self.high_watermarks.lock().extend(known);
        let mut next = Topics::clone(&self.topics.load());
        for hosted in next.values_mut() {
            let offline = hosted.partitions.keys().map(|number| (*number, HostedPartition::Offline));
            *hosted = Arc::new(HostedTopic { id: hosted.id, partitions: offline.collect() });
        }
        self.topics.store(Arc::new(next));
        for partition in partitions {
            partition.go_offline();
        }
        self.offsets_roles.notify_one();
    }

    /// Recovers the logs of the directory that had failed, and deletes those that are not to be here any more. Nothing of
    /// it is served yet. Blocking.
    pub(crate) fn recover_logs(&self, state: &ControllerState) -> Result<(), StorageError> {
        let config_of = |topic: &str| self.topic_configs.log_config(&self.log_defaults, topic);
        self.logs.recover(config_of, self.clock.now_ms())?;
        remove_stray_logs(&self.logs, state, self.node_id);
        Ok(())
    }

    /// Has no partitions, as after a start, and takes roles again.
    pub(crate) fn go_online(&self) {
        let _changing = self.changing.lock();
        self.topics.store(Arc::default());
        self.offline.store(false, Ordering::SeqCst);
    }

    /// Deletes the logs that this broker is not to have, those among them that serve no replica yet, or could not be deleted
    /// when they were to be. Blocking.
    pub(crate) fn remove_stray_logs(&self, state: &ControllerState) {
        if self.is_offline() {
            return;
        }
        remove_stray_logs(&self.logs, state, self.node_id);
    }
}

/// Deletes the logs that this broker is not to have: the crash came between the decision and the deed, or the decision while
/// the broker was away.
pub(crate) fn remove_stray_logs(logs: &milena_storage::LogManager, state: &ControllerState, node_id: i32) {
    for log in logs.logs() {
        let name = log.topic_partition();
        let own_id = log.log().lock().topic_id();
        let current = state.topics.get(&name.topic).map(|topic| topic.id);
        let is_assigned =
            own_id.or(current).is_some_and(|id| state.assigns(&name.topic, id, name.partition, node_id));
        if is_assigned {
            continue;
        }
        tracing::warn!(partition = %name, "deleting the log of a replica that is no longer assigned");
        if let Err(error) = logs.delete(name) {
            tracing::error!(partition = %name, %error, "the log cannot be deleted");
        }
    }
}
