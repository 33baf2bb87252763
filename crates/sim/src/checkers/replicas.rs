//! Replicas agree on every record below the lower of their high watermarks, and when all is calm on everything.

use super::{leader_logs, log_of};
use crate::history::History;

pub(super) fn check(history: &History) -> Vec<String> {
    let mut violations = Vec::new();
    for (partition, leader) in leader_logs(history) {
        for id in history.assignments.get(&partition).into_iter().flatten() {
            let Some(log) = log_of(history, *id, partition) else { continue };
            let bound = if history.calm_at.is_some() {
                leader.view.log_end_offset.max(log.view.log_end_offset)
            } else {
                leader.view.high_watermark.min(log.view.high_watermark)
            };
            let own = log.records.iter().filter(|logged| logged.offset < bound);
            let theirs = leader.records.iter().filter(|logged| logged.offset < bound);
            if let Some((own, theirs)) = own.clone().zip(theirs.clone()).find(|(own, theirs)| own != theirs) {
                violations.push(format!(
                    "replicas differ: in partition {partition} b{id} has {own:?} where its leader has {theirs:?}"
                ));
            } else if own.clone().count() != theirs.clone().count() {
                violations.push(format!(
                    "replicas differ: in partition {partition} b{id} has {} records below {bound}, its leader has {}",
                    own.count(),
                    theirs.count()
                ));
            }
        }
    }
    violations
}
