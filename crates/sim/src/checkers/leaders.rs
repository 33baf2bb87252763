//! A leader epoch has one leader.

use std::collections::BTreeMap;

use crate::history::History;

pub(super) fn check(history: &History) -> Vec<String> {
    let mut leaders = BTreeMap::new();
    let mut violations = Vec::new();
    for (partition, epoch, broker) in &history.leaders {
        let first = *leaders.entry((*partition, *epoch)).or_insert(*broker);
        if first != *broker {
            violations.push(format!(
                "two leaders: b{first} and b{broker} lead partition {partition} in epoch {epoch}"
            ));
        }
    }
    violations
}
