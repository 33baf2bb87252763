//! What was acknowledged is there, where it was said to be; and what a consumer has read stays there.
//!
//! What was acknowledged in a topic that was deleted went with it, and so did what was read from it.

use std::collections::BTreeMap;

use super::{leader_log, leader_logs};
use crate::history::{History, Outcome, RecordId};

pub(super) fn check(history: &History) -> Vec<String> {
    let mut violations = Vec::new();
    let mut places: BTreeMap<(i32, RecordId), i64> = BTreeMap::new();
    let mut records: BTreeMap<(i32, i64), RecordId> = BTreeMap::new();
    for (partition, log) in leader_logs(history) {
        places.extend(log.records.iter().map(|logged| ((partition, logged.record), logged.offset)));
        records.extend(log.records.iter().map(|logged| ((partition, logged.offset), logged.record)));
    }
    for sent in &history.sent {
        let Some((at, Outcome::Acknowledged(offset))) = &sent.outcome else { continue };
        let id = RecordId { producer: sent.producer, number: sent.number };
        if sent.acknowledged_in.is_none() {
            violations
                .push(format!("made up: no broker has acknowledged record {id:?} that the producer says is"));
        }
        let is_here = sent.acknowledged_in == Some(history.topic_id);
        if !is_here || leader_log(history, sent.partition).is_none() {
            continue;
        }
        let found = places.get(&(sent.partition, id));
        match (found, offset) {
            (None, offset) => violations.push(format!(
                "lost: record {id:?} of partition {}, acknowledged at {at:?} with offset {offset:?}",
                sent.partition
            )),
            (Some(found), Some(offset)) if found != offset => violations.push(format!(
                "moved: record {id:?} of partition {} was acknowledged with offset {offset}, and is at {found}",
                sent.partition
            )),
            _ => {}
        }
    }
    for read in history.read.iter().filter(|read| read.topic_id == history.topic_id) {
        let now = records.get(&(read.partition, read.offset));
        if now != Some(&read.record) && leader_log(history, read.partition).is_some() {
            violations.push(format!("read and gone: {read:?}; now there is {now:?}"));
        }
    }
    violations
}
