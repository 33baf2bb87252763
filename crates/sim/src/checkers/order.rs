//! Nothing is there twice, and what one producer sent to one partition is there in the order in which it was sent. Records whose
//! partition was not named have no order: those that were never sent may be moved to another partition.

use std::collections::{BTreeMap, BTreeSet};

use super::leader_logs;
use crate::history::History;

pub(super) fn check(history: &History) -> Vec<String> {
    let mut violations = Vec::new();
    let mut seen = BTreeMap::new();
    let placed: BTreeSet<u32> =
        history.sent.iter().filter(|sent| sent.is_placed).map(|sent| sent.producer).collect();
    for (partition, log) in leader_logs(history) {
        let mut last: BTreeMap<u32, u64> = BTreeMap::new();
        let mut next_offset = log.view.log_start_offset;
        for logged in &log.records {
            if logged.offset != next_offset {
                violations.push(format!("a hole: partition {partition} has no offset {next_offset}"));
            }
            next_offset = logged.offset + 1;
            if let Some(before) = seen.insert(logged.record, (partition, logged.offset)) {
                let now = (partition, logged.offset);
                violations.push(format!("twice: {:?} is at {before:?} and at {now:?}", logged.record));
                continue;
            }
            if !placed.contains(&logged.record.producer) {
                continue;
            }
            let number = logged.record.number;
            let before = last.insert(logged.record.producer, number);
            if let Some(before) = before.filter(|before| *before > number) {
                violations.push(format!(
                    "out of order: in partition {partition}, {:?} at {} is behind number {before}",
                    logged.record, logged.offset
                ));
            }
        }
    }
    violations
}
