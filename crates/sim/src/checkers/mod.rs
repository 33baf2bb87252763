//! The checkers: each looks at the [`History`] alone and says what must not be in it.

pub mod acknowledged;
pub mod high_watermark;
pub mod incarnations;
pub mod leaders;
pub mod liveness;
pub mod order;
pub mod replicas;
#[cfg(test)]
mod tests;

use crate::history::{FinalLog, History};

/// What is wrong with a history.
#[must_use]
pub fn check(history: &mut History) -> Vec<String> {
    let mut violations = std::mem::take(&mut history.broken);
    violations.append(&mut history.refused);
    violations.extend(acknowledged::check(history));
    violations.extend(order::check(history));
    violations.extend(high_watermark::check(history));
    violations.extend(leaders::check(history));
    violations.extend(incarnations::check(history));
    violations.extend(replicas::check(history));
    violations.extend(liveness::check(history));
    violations
}

/// The log that counts: that of the leader, when all was over.
fn leader_log(history: &History, partition: i32) -> Option<&FinalLog> {
    let (leader, _) = history.in_sync.get(&partition)?;
    log_of(history, *leader, partition)
}

/// A broker's log of a partition of the topic that there is in the end.
fn log_of(history: &History, broker: i32, partition: i32) -> Option<&FinalLog> {
    history.logs.get(&(broker, partition)).filter(|log| log.view.topic_id == history.topic_id)
}

/// The partitions whose leader's log is known, with it.
fn leader_logs(history: &History) -> impl Iterator<Item = (i32, &FinalLog)> {
    let partitions = history.in_sync.keys();
    partitions.filter_map(|partition| Some((*partition, leader_log(history, *partition)?)))
}
