//! [`Meter`]: how long each record of one producer waits.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::schedule::Schedule;

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Acknowledged,
    Failed,
    /// At the end of the play, so its wait is only the least.
    Waiting,
}

/// A record: when it was due, counted from the play's start, and how long its outcome took from then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) due: Duration,
    pub(super) wait: Duration,
    pub(super) partition: i32,
    pub(super) fate: Fate,
}

/// The longest wait of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Worst {
    pub(super) wait: Duration,
    /// It is not over.
    pub(super) waits_still: bool,
}

/// The waits of one producer's records. Shared by those who send and the one who looks.
#[derive(Debug)]
pub(super) struct Meter {
    /// The play's start.
    start: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By number; the lowest is the oldest.
    waiting: BTreeMap<u64, (Duration, i32)>,
    /// The number of the next record to be handed in.
    next: u64,
    done: Vec<Sample>,
    worst_since_look: Option<Duration>,
}

impl Meter {
    pub(super) fn new(start: Instant) -> Self {
        Self { start, state: Mutex::default() }
    }

    /// A record is handed to its producer.
    pub(super) fn begin(&self, number: u64, due: Duration, partition: i32) {
        let mut state = self.lock();
        state.waiting.insert(number, (due, partition));
        state.next = number + 1;
    }

    /// Its outcome is known.
    pub(super) fn end(&self, number: u64, fate: Fate) {
        let now = self.start.elapsed();
        let mut state = self.lock();
        let Some((due, partition)) = state.waiting.remove(&number) else { return };
        let wait = now.saturating_sub(due);
        state.done.push(Sample { due, wait, partition, fate });
        state.worst_since_look = state.worst_since_look.max(Some(wait));
    }

    /// The longest wait of those that have ended since the last look, or not at all; None without any.
    pub(super) fn look(&self, now: Duration) -> Option<Worst> {
        let mut state = self.lock();
        let ended = state.worst_since_look.take().map(|wait| Worst { wait, waits_still: false });
        let oldest = state.waiting.values().next();
        let waiting = oldest.map(|(due, _)| Worst { wait: now.saturating_sub(*due), waits_still: true });
        ended.into_iter().chain(waiting).max_by_key(|worst| worst.wait)
    }

    /// Whether every outcome is known.
    pub(super) fn is_idle(&self) -> bool {
        self.lock().waiting.is_empty()
    }

    /// All records, in the order in which they were due: also those that could not even be handed in, because the producer
    /// hangs.
    pub(super) fn samples(&self, now: Duration, schedule: &Schedule) -> Vec<Sample> {
        let state = self.lock();
        let late =
            schedule.due_from(state.next, now).into_iter().map(|record| (record.due, record.partition));
        let waiting = state.waiting.values().copied().chain(late).map(|(due, partition)| Sample {
            due,
            wait: now.saturating_sub(due),
            partition,
            fate: Fate::Waiting,
        });
        let mut samples: Vec<Sample> = state.done.iter().copied().chain(waiting).collect();
        samples.sort_by_key(|sample| sample.due);
        samples
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn who_waits_still_counts() {
        let meter = Meter::new(Instant::now());
        assert_eq!(meter.look(SECOND), None);
        meter.begin(0, SECOND, 0);
        meter.begin(1, SECOND * 2, 1);
        assert_eq!(meter.look(SECOND * 5), Some(Worst { wait: SECOND * 4, waits_still: true }));
        assert!(!meter.is_idle());
        // Two a second, the first at 0 s; so 2 to 5 were due by then, and were not taken.
        let schedule = Schedule::new("t", 2, 2, Instant::now(), SECOND * 10);
        let samples = meter.samples(Duration::from_millis(2_600), &schedule);
        assert_eq!(samples.len(), 6);
        assert_eq!(samples.iter().filter(|sample| sample.fate == Fate::Waiting).count(), 6);
        let samples = meter.samples(SECOND * 5, &Schedule::new("t", 1, 1, Instant::now(), SECOND));
        assert_eq!(samples.len(), 2);
        assert_eq!(
            samples[1],
            Sample { due: SECOND * 2, wait: SECOND * 3, partition: 1, fate: Fate::Waiting }
        );
    }

    #[test]
    fn an_end_is_seen_by_one_look() {
        let meter = Meter::new(Instant::now());
        meter.begin(0, Duration::ZERO, 3);
        meter.end(0, Fate::Failed);
        meter.end(0, Fate::Acknowledged);
        let seen = meter.look(SECOND).unwrap();
        assert!(!seen.waits_still);
        assert_eq!(meter.look(SECOND), None);
        let samples = meter.samples(SECOND, &Schedule::new("t", 1, 1, Instant::now(), SECOND));
        assert_eq!((samples.len(), samples[0].fate, samples[0].partition), (1, Fate::Failed, 3));
        assert!(meter.is_idle());
    }
}
