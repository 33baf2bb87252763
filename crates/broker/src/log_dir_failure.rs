//! [`LogDirFailureHandler`]: a log directory that fails, until it can be used again.
//!
//! Kafka takes a directory with an I/O error out of service for good, and a broker whose last one has failed halts, so that
//! the controller moves its leaderships. Here the directory is the broker's only one, but nobody would start a halted broker
//! of an embedded cluster again when its fault is healed; so it stays a member of its cluster, as one of Kafka's with
//! another directory, tells the registry, and looks whether the disk is sound again.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::blocking::blocking;
use crate::node::Node;

/// How soon after a failure the directory is tried, and how long the pauses between two tries get at most.
const FIRST_TRY: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// A directory that fails again sooner than this is not tried any sooner than before.
const SOUND_AFTER: Duration = Duration::from_secs(30);

/// Takes a broker's partitions offline when its log directory fails (Kafka: `ReplicaManager.LogDirFailureHandler`), and
/// brings the broker back.
pub(crate) struct LogDirFailureHandler {
    node: Arc<Node>,
    pause: Duration,
}

impl LogDirFailureHandler {
    pub(crate) fn new(node: Arc<Node>) -> Self {
        Self { node, pause: FIRST_TRY }
    }

    /// Ends when the runtime does.
    pub(crate) async fn run(mut self) {
        let mut online_since = Instant::now();
        loop {
            let failure = self.node.replica_manager.log_dir_failed().await;
            let dir = self.node.replica_manager.logs().dir().display().to_string();
            tracing::error!(dir, failure, "the log directory has failed; its partitions are offline");
            if online_since.elapsed() >= SOUND_AFTER {
                self.pause = FIRST_TRY;
            }
            loop {
                let node = self.node.clone();
                if blocking(move || go_offline(&node)).await.is_err() {
                    return;
                }
                sleep(self.pause).await;
                self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                let node = self.node.clone();
                match blocking(move || comes_back(&node)).await {
                    Ok(true) => break,
                    Ok(false) => {}
                    Err(_) => return,
                }
            }
            online_since = Instant::now();
            tracing::info!(dir, "the log directory is recovered, and the broker back in service");
        }
    }
}

/// Serves nothing, and has the controller hear of it. Once more with each try: a session that was lost meanwhile has
/// another epoch now, and the registry may have been out of reach.
fn go_offline(node: &Node) {
    node.replica_manager.go_offline();
    if node.faults.host.is_gone() {
        return;
    }
    let told = node.registry.log_dir_failed(node.config.node_id, node.obedience.broker_epoch());
    if let Err(error) = told {
        tracing::debug!(%error, "the registry is not told of the log directory");
    }
}

/// If the directory can be used again: recovers it and registers, as a broker that has just started. Its earlier life is
/// fenced off, and the controller tells it everything.
fn comes_back(node: &Node) -> bool {
    if node.faults.host.is_gone() {
        return false;
    }
    let manager = &node.replica_manager;
    if let Err(error) = manager.logs().probe() {
        tracing::debug!(%error, "the log directory cannot be used yet");
        return false;
    }
    if let Err(error) = manager.recover_logs(&node.registry.cluster_state()) {
        tracing::error!(%error, "the log directory cannot be recovered");
        return false;
    }
    if let Err(error) = node.obedience.register_recovered(node.info.clone()) {
        tracing::error!(%error, "cannot register");
        return false;
    }
    !node.controller.is_alone() || {
        node.controller.look_at_registry(node.obedience.broker_epoch());
        node.controller.is_active()
    }
}
