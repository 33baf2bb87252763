//! [`Background`]: what a broker does unasked: retention, compaction, checkpoints, replication, the groups' timeouts, and
//! fsync under an interval.

use std::sync::Arc;
use std::time::Duration;

use milena_storage::FsyncPolicy;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::blocking::blocking;
use crate::clock::FOR_EVER;
use crate::log_dir_failure::LogDirFailureHandler;
use crate::node::Node;
use crate::replica_manager::{Replication, ReplicationDeps};

/// `log.flush.offset.checkpoint.interval.ms`.
const CHECKPOINT_EVERY: Duration = Duration::from_mins(1);

/// `replica.high.watermark.checkpoint.interval.ms`.
const HIGH_WATERMARK_CHECKPOINT_EVERY: Duration = Duration::from_secs(5);

/// `producer.id.expiration.check.interval.ms`.
const PRODUCER_ID_EXPIRATION_CHECK_EVERY: Duration = Duration::from_mins(10);

/// The tasks; dropping it ends them.
#[derive(Debug)]
pub(crate) struct Background {
    tasks: Vec<JoinHandle<()>>,
    _replication: Replication,
}

impl Background {
    pub(crate) fn start(node: &Arc<Node>) -> Self {
        let mut tasks = vec![
            node.gate.spawn(every(node.config.retention_check_interval, node.clone(), |node| {
                node.replica_manager.delete_old_segments();
            })),
            node.gate.spawn(every(PRODUCER_ID_EXPIRATION_CHECK_EVERY, node.clone(), |node| {
                node.replica_manager.remove_expired_producers();
            })),
            node.gate.spawn(every(node.config.log_cleaner_backoff, node.clone(), |node| {
                node.replica_manager.clean_logs();
            })),
            node.gate.spawn(every(CHECKPOINT_EVERY, node.clone(), |node| {
                // One that has failed is recovered from what was written down before.
                if node.replica_manager.is_offline() {
                    return;
                }
                if let Err(error) = node.replica_manager.logs().checkpoint() {
                    tracing::warn!(%error, "the checkpoints cannot be written; a recovery will take longer");
                }
            })),
            node.gate.spawn(every(HIGH_WATERMARK_CHECKPOINT_EVERY, node.clone(), |node| {
                node.replica_manager.checkpoint_high_watermarks();
            })),
            node.gate.spawn(every(node.config.replica_lag_time_max / 2, node.clone(), |node| {
                node.replica_manager.shrink_isrs();
            })),
        ];
        tasks.push(node.gate.spawn(LogDirFailureHandler::new(node.clone()).run()));
        tasks.push(node.gate.spawn(node.groups.clone().run()));
        if node.config.auto_leader_rebalance {
            tasks.push(node.gate.spawn(node.controller.clone().run_timeouts()));
        }
        if let FsyncPolicy::Interval(wait) = node.config.fsync {
            tasks.push(node.gate.spawn(every(wait, node.clone(), |node| {
                if let Err(error) = node.replica_manager.logs().flush_due(node.clock.now_ms()) {
                    tracing::error!(%error, "a log cannot be synced");
                }
            })));
        }
        let _replication = Replication::start(ReplicationDeps {
            replica_manager: node.replica_manager.clone(),
            metadata_cache: node.metadata_cache.clone(),
            listener: node.config.inter_broker_listener().to_owned(),
            fsync: node.config.fsync,
            gate: node.gate.clone(),
            faults: node.faults.clone(),
        });
        Self { tasks, _replication }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Does `work` on a blocking thread once in each `period`, never twice at a time.
async fn every(period: Duration, node: Arc<Node>, work: fn(&Node)) {
    let mut ticks = interval(period.clamp(Duration::from_millis(1), FOR_EVER));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick is at once; nothing is due before the first period is over.
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let node = node.clone();
        if blocking(move || work(&node)).await.is_err() {
            return;
        }
    }
}
