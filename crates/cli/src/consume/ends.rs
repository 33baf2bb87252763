//! `-e`: the ends of the partitions as they were when the command started.

use std::collections::BTreeMap;

/// Partitions that have not been read to their ends.
#[derive(Debug, Default)]
pub(super) struct Ends {
    ends: BTreeMap<i32, i64>,
    /// Of `ends`: those not reached.
    open: BTreeMap<i32, i64>,
}

impl Ends {
    /// A partition is read from `start`, and ends before `end`. One that starts beyond its end is not at it: reading it
    /// gives an error, which is worth waiting for.
    pub(super) fn expect(&mut self, partition: i32, start: i64, end: i64) {
        self.ends.insert(partition, end);
        if start != end {
            self.open.insert(partition, end);
        }
    }

    /// Whether a record came after the command started.
    pub(super) fn is_beyond(&self, partition: i32, offset: i64) -> bool {
        self.ends.get(&partition).is_some_and(|end| offset >= *end)
    }

    /// A partition has been read up to `next`.
    pub(super) fn passed(&mut self, partition: i32, next: i64) {
        if self.open.get(&partition).is_some_and(|end| next >= *end) {
            self.open.remove(&partition);
        }
    }

    pub(super) fn are_reached(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_partitions_must_be_at_their_ends() {
        let mut ends = Ends::default();
        ends.expect(0, 0, 10);
        ends.expect(1, 5, 5);
        ends.expect(2, 3, 4);
        assert!(!ends.are_reached());
        ends.passed(2, 4);
        ends.passed(0, 9);
        assert!(!ends.are_reached());
        assert!(!ends.is_beyond(0, 9));
        assert!(ends.is_beyond(0, 10) && ends.is_beyond(1, 5));
        ends.passed(0, 12);
        assert!(ends.are_reached());
    }

    #[test]
    fn a_start_beyond_the_end_is_not_at_the_end() {
        let mut ends = Ends::default();
        ends.expect(0, 200, 100);
        assert!(!ends.are_reached());
        ends.passed(0, i64::MAX);
        assert!(ends.are_reached());
    }
}
