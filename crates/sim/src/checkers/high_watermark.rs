//! The high watermark of one leader in one epoch never goes back, seen from inside and by consumers.

use std::collections::BTreeMap;

use crate::history::{History, Watermark};

pub(super) fn check(history: &History) -> Vec<String> {
    let mut violations = falls("a leader", &history.watermarks);
    for (consumer, seen) in &history.consumer_watermarks {
        violations.extend(falls(&format!("consumer {consumer}"), seen));
    }
    violations
}

fn falls(who: &str, seen: &[Watermark]) -> Vec<String> {
    let mut last: BTreeMap<_, Watermark> = BTreeMap::new();
    let mut violations = Vec::new();
    for watermark in seen {
        let Watermark { broker, life, topic_id, partition, leader_epoch, .. } = *watermark;
        let key = (broker, life, topic_id, partition, leader_epoch);
        let before = last.insert(key, *watermark);
        if let Some(before) = before.filter(|before| before.offset > watermark.offset) {
            violations
                .push(format!("the high watermark fell, seen by {who}: {before:?}, then {watermark:?}"));
        }
    }
    violations
}
