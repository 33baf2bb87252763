//! A leader epoch of a partition of one topic id has one leader.

use std::collections::BTreeMap;

use crate::history::{History, Leader};

pub(super) fn check(history: &History) -> Vec<String> {
    let mut leaders = BTreeMap::new();
    let mut violations = Vec::new();
    for Leader { topic_id, partition, leader_epoch, broker } in &history.leaders {
        let first = *leaders.entry((*topic_id, *partition, *leader_epoch)).or_insert(*broker);
        if first != *broker {
            violations.push(format!(
                "two leaders: b{first} and b{broker} lead partition {partition} of {topic_id} in epoch {leader_epoch}"
            ));
        }
    }
    violations
}
