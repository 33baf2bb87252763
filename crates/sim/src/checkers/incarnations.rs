//! A topic that is created again is another topic: nothing of the deleted one is in it, and nothing is left of that one.

use crate::history::{Held, History};

pub(super) fn check(history: &History) -> Vec<String> {
    let mut violations = Vec::new();
    for Held { broker, topic_id, partition } in &history.held {
        let is_assigned = *topic_id == Some(history.topic_id)
            && history.assignments.get(partition).is_some_and(|replicas| replicas.contains(broker));
        if !is_assigned {
            violations.push(format!(
                "a stray: b{broker} has a log of partition {partition} of topic {topic_id:?}, which it is not to have"
            ));
        }
    }
    for ((broker, partition), log) in &history.logs {
        for logged in &log.records {
            if !history.carried.contains(&(logged.record, log.view.topic_id)) {
                violations.push(format!(
                    "of another topic: b{broker} has {logged:?} in partition {partition} of {}, to which no producer has \
                     sent it",
                    log.view.topic_id
                ));
            }
        }
    }
    violations
}
