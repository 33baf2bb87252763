//! When everything is healed, everything goes on: what is sent then is delivered, and all replicas come to the same.

use std::time::Duration;

use crate::history::{History, Outcome};

/// How long a cluster that is healed may take until it serves again: a session or two, and an election.
const RECOVERY: Duration = Duration::from_secs(12);

pub(super) fn check(history: &History) -> Vec<String> {
    let mut violations = Vec::new();
    if history.calm_at.is_none() {
        violations.push("no calm: long after everything was healed, not every replica is in sync".to_owned());
    }
    let patience = history.healed_at + RECOVERY;
    for producer in 0..history.producers {
        if !history.sent.iter().any(|sent| sent.producer == producer && sent.at > patience) {
            violations.push(format!("silent: producer {producer} sends nothing though all is well"));
        }
    }
    for sent in &history.sent {
        match &sent.outcome {
            None => violations.push(format!("no outcome: {sent:?}")),
            Some((_, Outcome::Failed(error))) if sent.at > patience => {
                violations.push(format!("failed though all was well: {sent:?}: {error}"));
            }
            Some(_) => {}
        }
    }
    violations
}
