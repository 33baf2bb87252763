//! The probe: who leads, by the brokers' own word, seen by neither of the producers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use milena_old_producer::{BrokerAddress, Host, SyncProducer};
use milena_protocol::messages::MetadataResponse;
use tokio::sync::mpsc;

/// How often each broker is asked.
const EVERY: Duration = Duration::from_millis(50);
/// How long a broker may take; far less than a producer's, because the others are asked meanwhile.
const TIMEOUT: Duration = Duration::from_millis(500);

/// The cluster as one broker tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    pub(super) brokers: BTreeMap<i32, String>,
    /// By partition.
    pub(super) leaders: BTreeMap<i32, Option<i32>>,
    /// By partition.
    pub(super) replicas: BTreeMap<i32, Vec<i32>>,
}

/// What a probe has seen, and when.
pub(super) type Seen = (Instant, View);

impl View {
    fn of(response: &MetadataResponse, topic: &str) -> Self {
        let address = |host: &str, port: i32| format!("{host}:{port}");
        let brokers = response.brokers.iter();
        let brokers: BTreeMap<i32, String> =
            brokers.map(|broker| (broker.node_id, address(&broker.host, broker.port))).collect();
        let mut view = Self { brokers, ..Self::default() };
        let topics = response.topics.iter().filter(|found| found.name.as_deref() == Some(topic));
        for partition in topics.flat_map(|topic| &topic.partitions) {
            let leader = Some(partition.leader_id).filter(|leader| view.brokers.contains_key(leader));
            view.leaders.insert(partition.partition_index, leader);
            view.replicas.insert(partition.partition_index, partition.replica_nodes.clone());
        }
        view
    }

    /// Whether every partition has a leader.
    pub(super) fn is_led(&self) -> bool {
        !self.leaders.is_empty() && self.leaders.values().all(Option::is_some)
    }

    /// The partitions that have a replica on one of these brokers: with acks=all each of them waits for it.
    pub(super) fn touched_by(&self, brokers: &BTreeSet<i32>) -> BTreeSet<i32> {
        let touched =
            self.replicas.iter().filter(|(_, replicas)| replicas.iter().any(|id| brokers.contains(id)));
        touched.map(|(partition, _)| *partition).collect()
    }

    /// The brokers that were here `before` and are no more, when the cluster has got over it: others lead all of what they led.
    pub(super) fn has_moved_from(&self, before: &Self) -> Option<BTreeSet<i32>> {
        let gone: BTreeSet<i32> =
            before.brokers.keys().filter(|id| !self.brokers.contains_key(id)).copied().collect();
        (!gone.is_empty() && self.is_led()).then_some(gone)
    }

    /// `2 → 1, 5 → 3`: partitions and their new leaders.
    pub(super) fn moves_from(&self, before: &Self) -> String {
        let moved =
            self.leaders.iter().filter(|(partition, leader)| before.leaders.get(partition) != Some(*leader));
        let moves: Vec<String> = moved
            .map(|(partition, leader)| {
                let leader = leader.map_or_else(|| "nobody".to_owned(), |leader| leader.to_string());
                format!("{partition} → {leader}")
            })
            .collect();
        moves.join(", ")
    }
}

/// One thread for each broker of the list, until this is dropped; so that a dead one keeps nobody.
#[derive(Debug)]
pub(super) struct Probe {
    ended: Arc<AtomicBool>,
}

impl Probe {
    /// Begins; the threads tell of each view that is new to them.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(super) fn start(
        brokers: &[BrokerAddress],
        topic: &str,
        seen: &mpsc::Sender<Seen>,
    ) -> anyhow::Result<Self> {
        let probe = Self { ended: Arc::default() };
        for broker in brokers {
            let (ended, seen, topic) = (Arc::clone(&probe.ended), seen.clone(), topic.to_owned());
            let producer =
                SyncProducer::new(broker.clone(), "milena-incident-probe", TIMEOUT, Arc::new(Host::new()));
            let spawned = thread::Builder::new()
                .name(format!("probe-{broker}"))
                .spawn(move || watch(producer, &topic, &ended, &seen));
            spawned.context("cannot start a thread")?;
        }
        Ok(probe)
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

fn watch(mut producer: SyncProducer, topic: &str, ended: &AtomicBool, seen: &mpsc::Sender<Seen>) {
    let mut last = None;
    for correlation_id in 0.. {
        if ended.load(Ordering::Relaxed) {
            return;
        }
        if let Ok(response) = producer.fetch_metadata([topic], correlation_id) {
            let view = View::of(&response, topic);
            if last.as_ref() != Some(&view) {
                last = Some(view.clone());
                if seen.blocking_send((Instant::now(), view)).is_err() {
                    return;
                }
            }
        }
        thread::sleep(EVERY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(brokers: &[i32], leaders: &[i32]) -> View {
        View {
            brokers: brokers.iter().map(|id| (*id, format!("b{id}:1"))).collect(),
            leaders: (0..).zip(leaders.iter().map(|id| Some(*id).filter(|id| *id >= 0))).collect(),
            replicas: (0..).zip(leaders.iter().map(|id| vec![*id, *id % 3 + 1])).collect(),
        }
    }

    #[test]
    fn leaders_have_moved_when_all_of_the_dead_ones_partitions_have_another() {
        let before = view(&[1, 2, 3], &[1, 2, 3, 3]);
        assert!(before.is_led());
        assert_eq!(before.touched_by(&BTreeSet::from([3])), BTreeSet::from([1, 2, 3]));
        assert_eq!(before.has_moved_from(&before), None);
        assert_eq!(view(&[1, 2, 3], &[1, 2, 2, 3]).has_moved_from(&before), None, "an election as any other");
        assert_eq!(view(&[1, 2], &[1, 2, 2, -1]).has_moved_from(&before), None);
        let after = view(&[1, 2], &[1, 2, 2, 1]);
        assert_eq!(after.has_moved_from(&before), Some(BTreeSet::from([3])));
        assert_eq!(after.moves_from(&before), "2 → 2, 3 → 1");
        assert!(!view(&[1], &[]).is_led());
    }
}
