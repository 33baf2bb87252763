//! What a client did before the fault and across it, in one run: no start counts, and like is compared with like.

use std::time::Duration;

use anyhow::{Context as _, Result};
use milena_bench::{Fate, Pace, Process, Waits, monotonic};

use crate::SICK;

/// What was sent later than this after the fault cannot be in flight to the dead broker: it has been suspected for half a second.
const SUSPECTED_AFTER: Duration = Duration::from_secs(1);

/// A time, and the CPU that a client has used up to then.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mark {
    pub at: Duration,
    cpu: Duration,
}

/// The times between which a client is looked at.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marks {
    /// The program's start is over.
    pub settled: Mark,
    /// The host dies.
    pub fault: Mark,
    /// The cluster has moved the leaders.
    pub moved: Mark,
    /// Sending is about to end.
    pub end: Mark,
}

/// What records waited between two marks, and how many there were in a second.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub seconds: f64,
    pub waits: Waits,
    pub pace: Pace,
}

/// Records on their way to the dead broker when it was suspected.
#[derive(Debug, Clone, Copy)]
pub struct InFlight {
    pub count: usize,
    pub worst_s: f64,
}

impl Mark {
    pub fn now(process: Process) -> Result<Self> {
        let cpu = process.cpu().context("the program has ended early: is --seconds too short?")?;
        Ok(Self { at: monotonic(), cpu })
    }

    /// A time of which the CPU is not asked.
    pub fn at(at: Duration) -> Self {
        Self { at, ..Self::default() }
    }

    /// Microseconds of CPU for each record that was due, at so many a second.
    fn per_record(&self, from: &Self, rate: u64) -> f64 {
        let records = (self.at - from.at).as_secs_f64() * rate as f64;
        (self.cpu - from.cpu).as_secs_f64() * 1e6 / records
    }
}

impl Marks {
    /// Microseconds of CPU for each record that was due: before the fault, until the leaders had moved, and from then on.
    pub fn cpu_per_record(&self, rate: u64) -> [f64; 3] {
        let Self { settled, fault, moved, end } = self;
        [(settled, fault), (fault, moved), (moved, end)].map(|(from, to)| to.per_record(from, rate))
    }

    /// Before the fault, of those records that `counts`.
    pub fn before(&self, fates: &[Fate], counts: impl Fn(&Fate) -> bool) -> Window {
        let (from, to) = (self.settled.at, self.fault.at);
        let inside = |fate: &&Fate| fate.sent >= from && fate.acknowledged < to && counts(fate);
        Window::of(fates.iter().filter(inside), from, to)
    }

    /// From the fault on, of those records that `counts`: whatever was sent before `end` and acknowledged after the fault.
    pub fn across(&self, fates: &[Fate], counts: impl Fn(&Fate) -> bool) -> Window {
        let (from, to) = (self.fault.at, self.end.at);
        let inside = |fate: &&Fate| fate.acknowledged >= from && fate.sent < to && counts(fate);
        Window::of(fates.iter().filter(inside), from, to)
    }

    /// Whether a record was in flight to the dead broker when it was suspected. That is so when it was sent before the suspicion, was
    /// sent again later, and is in a partition that the dead broker led. A record that waited in the client's queue was sent once.
    pub fn is_in_flight(&self, fate: &Fate) -> bool {
        fate.acknowledged >= self.fault.at
            && fate.sent < self.fault.at + SUSPECTED_AFTER
            && fate.attempts > 1
            && SICK.contains(&fate.partition)
    }

    pub fn in_flight(&self, fates: &[Fate]) -> InFlight {
        let waits = Waits::of(fates.iter().filter(|fate| self.is_in_flight(fate)));
        InFlight { count: waits.count, worst_s: waits.max / 1e3 }
    }
}

impl Window {
    fn of<'a>(fates: impl Iterator<Item = &'a Fate> + Clone, from: Duration, to: Duration) -> Self {
        Self {
            seconds: (to - from).as_secs_f64(),
            waits: Waits::of(fates.clone()),
            pace: Pace::of(fates, from, to),
        }
    }
}

/// Whether a record's partition has nothing to do with the dead host.
pub fn is_healthy(fate: &Fate) -> bool {
    !SICK.contains(&fate.partition)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(at: u64, cpu: u64) -> Mark {
        Mark { at: Duration::from_secs(at), cpu: Duration::from_millis(cpu) }
    }

    fn marks() -> Marks {
        Marks { settled: mark(5, 100), fault: mark(15, 300), moved: mark(25, 400), end: mark(35, 1_000) }
    }

    fn fate(sent: u64, wait: u64, partition: usize, attempts: u32) -> Fate {
        let [sent, wait] = [sent, wait].map(Duration::from_millis);
        Fate { sent, acknowledged: sent + wait, partition, attempts }
    }

    #[test]
    fn cpu_is_that_of_the_time_between() {
        assert_eq!(marks().cpu_per_record(1_000), [20.0, 10.0, 60.0]);
    }

    #[test]
    fn a_record_that_the_fault_delays_counts_as_across_it_and_the_start_counts_as_neither() {
        let fates =
            [fate(4_999, 9, 1, 1), fate(5_000, 3, 1, 1), fate(14_999, 11, 1, 1), fate(20_000, 5, 2, 1)];
        let before = marks().before(&fates, is_healthy);
        assert_eq!((before.waits.count, before.waits.max, before.seconds), (1, 3.0, 10.0));
        let across = marks().across(&fates, is_healthy);
        assert_eq!((across.waits.count, across.waits.max, across.seconds), (2, 11.0, 20.0));
        let late = [fate(35_000, 1, 1, 1), fate(20_000, 5, 0, 1)];
        assert_eq!(marks().across(&late, is_healthy).waits.count, 0);
    }

    #[test]
    fn only_what_was_sent_before_the_suspicion_and_again_was_in_flight() {
        let in_flight = [fate(14_990, 9_000, 0, 2), fate(15_400, 8_000, 3, 3)];
        let others = [
            // Acknowledged before; queued until the leader moved; on another partition; sent long after the suspicion.
            fate(14_900, 20, 0, 2),
            fate(15_400, 8_000, 3, 1),
            fate(15_400, 8_000, 1, 2),
            fate(16_000, 8_000, 0, 2),
        ];
        let is = |fate: &Fate| marks().is_in_flight(fate);
        assert!(in_flight.iter().all(is) && !others.iter().any(is));
        let found = marks().in_flight(&[in_flight, [others[0], others[1]]].concat());
        assert_eq!((found.count, found.worst_s), (2, 9.0));
    }
}
