//! [`Schedule`]: when the records of a producer are due, whatever becomes of them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Each record's value: 100 bytes, as in the benchmarks.
pub(super) const RECORD: &[u8] = &[b'.'; 100];

/// Records that each producer sends to each partition before the play.
pub(super) const WARM_UP: u32 = 10;

/// Evenly spaced records, to one partition after the other.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    pub(super) topic: Arc<str>,
    partitions: u32,
    /// Records a second.
    rate: u32,
    start: Instant,
    /// From the start.
    end: Duration,
    next: u64,
}

/// A record that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) number: u64,
    /// From the play's start.
    pub(super) due: Duration,
    pub(super) partition: i32,
}

impl Schedule {
    pub(super) fn new(topic: &str, partitions: u32, rate: u32, start: Instant, end: Duration) -> Self {
        Self { topic: topic.into(), partitions: partitions.max(1), rate, start, end, next: 0 }
    }

    /// The play's time.
    pub(super) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// How long until the next one is due; None when there is none.
    pub(super) fn until_next(&self) -> Option<Duration> {
        let due = self.due(self.next);
        (due < self.end).then(|| due.saturating_sub(self.now()))
    }

    /// Those that are due and were not taken.
    pub(super) fn take_due(&mut self) -> Vec<Due> {
        self.take_due_at(self.now())
    }

    fn take_due_at(&mut self, now: Duration) -> Vec<Due> {
        let taken = self.due_from(self.next, now);
        self.next += taken.len() as u64;
        taken
    }

    /// Those from this number on that are due at `now`.
    pub(super) fn due_from(&self, number: u64, now: Duration) -> Vec<Due> {
        let partition = |number: u64| (number % u64::from(self.partitions)) as i32;
        (number..)
            .map(|number| Due { number, due: self.due(number), partition: partition(number) })
            .take_while(|record| record.due <= now && record.due < self.end)
            .collect()
    }

    fn due(&self, number: u64) -> Duration {
        Duration::from_secs_f64(number as f64 / f64::from(self.rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_record_is_due_once_and_none_after_the_end() {
        let second = Duration::from_secs(1);
        let mut schedule = Schedule::new("t", 3, 4, Instant::now(), second * 2);
        let first = schedule.take_due_at(Duration::from_millis(300));
        let at = |number, millis| Due {
            number,
            due: Duration::from_millis(millis),
            partition: (number % 3) as i32,
        };
        assert_eq!(first, [at(0, 0), at(1, 250)]);
        assert_eq!(schedule.take_due_at(Duration::from_millis(300)), []);
        let rest = schedule.take_due_at(second * 10);
        assert_eq!((rest.len(), rest[0], rest[5]), (6, at(2, 500), at(7, 1750)));
        assert_eq!(schedule.until_next(), None);
    }
}
