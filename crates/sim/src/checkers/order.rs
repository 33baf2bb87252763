//! Nothing is there twice, and what one producer sent to one partition is there in the order in which it was sent. Records whose
//! partition was not named have no order: those that were never sent may be moved to another partition.
//!
//! The same holds for what was read of a topic that was deleted; whoever sends a record to the one that came after it does
//! not send it twice.

use std::collections::{BTreeMap, BTreeSet};

use milena_protocol::Uuid;

use super::leader_logs;
use crate::history::{History, RecordId};

pub(super) fn check(history: &History) -> Vec<String> {
    let placed: BTreeSet<u32> =
        history.sent.iter().filter(|sent| sent.is_placed).map(|sent| sent.producer).collect();
    let mut found = Topic::new(placed.clone());
    for (partition, log) in leader_logs(history) {
        found.next_offset.insert(partition, log.view.log_start_offset);
        for logged in &log.records {
            found.take(partition, logged.offset, logged.record);
        }
    }
    let mut violations = found.violations;
    let mut deleted: BTreeMap<(u32, Uuid), Topic> = BTreeMap::new();
    for read in history.read.iter().filter(|read| read.topic_id != history.topic_id) {
        let topic =
            deleted.entry((read.consumer, read.topic_id)).or_insert_with(|| Topic::new(placed.clone()));
        topic.take(read.partition, read.offset, read.record);
    }
    for ((consumer, id), topic) in deleted {
        let of_this =
            |violation| format!("{violation} (read by consumer {consumer} from {id}, which was deleted)");
        violations.extend(topic.violations.into_iter().map(of_this));
    }
    violations
}

/// What is in one topic, record by record.
struct Topic {
    /// The producers that name the partition of each record.
    placed: BTreeSet<u32>,
    seen: BTreeMap<RecordId, (i32, i64)>,
    last: BTreeMap<(i32, u32), u64>,
    next_offset: BTreeMap<i32, i64>,
    violations: Vec<String>,
}

impl Topic {
    fn new(placed: BTreeSet<u32>) -> Self {
        let (seen, last, next_offset) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { placed, seen, last, next_offset, violations: Vec::new() }
    }

    fn take(&mut self, partition: i32, offset: i64, record: RecordId) {
        let expected = self.next_offset.insert(partition, offset + 1).unwrap_or(0);
        if offset != expected {
            self.violations.push(format!("a hole: partition {partition} has no offset {expected}"));
        }
        let now = (partition, offset);
        if let Some(before) = self.seen.insert(record, now) {
            self.violations.push(format!("twice: {record:?} is at {before:?} and at {now:?}"));
            return;
        }
        if !self.placed.contains(&record.producer) {
            return;
        }
        let before = self.last.insert((partition, record.producer), record.number);
        if let Some(before) = before.filter(|before| *before > record.number) {
            self.violations.push(format!(
                "out of order: in partition {partition}, {record:?} at {offset} is behind number {before}"
            ));
        }
    }
}
