//! Tells the user why nothing happens, when no broker of the bootstrap list answers.

use std::{collections::BTreeMap, time::Duration};

use milena::MetadataWatch;
use tokio::time::{Instant, sleep};

use crate::{cluster::Cluster, say};

/// From then on a user wonders.
const SILENCE: Duration = Duration::from_secs(2);
/// Failures come at the client's reconnect backoff, which is longer.
const LOOK: Duration = Duration::from_millis(10);

/// How long a command goes on trying, and which setting says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) time: Duration,
    pub(crate) setting: &'static str,
}

/// Says one line when no broker has answered by then. Ends by itself.
pub(crate) fn tell_of(cluster: &Cluster, metadata: MetadataWatch, limit: Option<Limit>) {
    // A broker that was started for this serves before anybody asks it; and the error is there as soon as this would be.
    if cluster.is_started() || limit.is_some_and(|limit| limit.time <= SILENCE) {
        return;
    }
    let addresses = cluster.bootstrap().split(',').map(str::trim).filter(|address| !address.is_empty());
    let mut failures: BTreeMap<String, Option<String>> =
        addresses.map(|address| (address.to_owned(), None)).collect();
    tokio::spawn(async move {
        let asked_at = Instant::now();
        while asked_at.elapsed() < SILENCE {
            let view = metadata.view();
            if view.closed || !view.cluster.is_bootstrap() {
                return;
            }
            if let Some(failure) = &view.last_failure {
                note(&mut failures, failure);
            }
            sleep(LOOK).await;
        }
        say(&in_words(&failures, limit));
    });
}

/// Takes note of a failure at the address that it names.
fn note(failures: &mut BTreeMap<String, Option<String>>, failure: &str) {
    // The longest one, because `b:9092` is in `bb:9092` too.
    let named = failures.iter_mut().filter(|(address, _)| failure.contains(address.as_str()));
    if let Some((_, last)) = named.max_by_key(|(address, _)| address.len()) {
        *last = Some(failure.to_owned());
    }
}

fn in_words(failures: &BTreeMap<String, Option<String>>, limit: Option<Limit>) -> String {
    let each = failures.iter().map(|(address, failure)| match failure {
        Some(failure) => failure.clone(),
        None => format!("{address}: neither an answer nor a refusal"),
    });
    let until = limit.map_or_else(
        || "Ctrl-C".to_owned(),
        |Limit { time, setting }| format!("{} ms have passed ({setting}), or Ctrl-C", time.as_millis()),
    );
    format!("no broker has answered yet ({}); going on until {until}", each.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_own_last_failure() {
        let mut failures = ["b:1", "bb:1", "c:1"].map(|address| (address.to_owned(), None)).into();
        for failure in
            ["cannot connect to b:1: first", "cannot connect to bb:1: refused", "no address at all"]
        {
            note(&mut failures, failure);
        }
        note(&mut failures, "cannot connect to b:1: no such host");
        let limit = Limit { time: Duration::from_secs(60), setting: "max.block.ms" };
        assert_eq!(
            in_words(&failures, Some(limit)),
            "no broker has answered yet (cannot connect to b:1: no such host; cannot connect to bb:1: refused; \
             c:1: neither an answer nor a refusal); going on until 60000 ms have passed (max.block.ms), or Ctrl-C"
        );
        assert!(in_words(&failures, None).ends_with("; going on until Ctrl-C"));
    }
}
