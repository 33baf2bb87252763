//! [`Placement`]: which records of an open batch may go to another partition.

/// Which of a batch's records the sticky partitioner placed: any other partition would do for those.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placement {
    last: bool,
    /// The indices of the records that differ in this from the one before them; the one before the first is one that has
    /// to stay. Empty, or [0], unless the batch has records of both kinds.
    changes: Vec<u32>,
}

/// The most often that a batch may change between the two kinds and still be told apart: enough for what is mixed now and
/// then, and a bound for what is mixed always.
const CHANGES_MAX: usize = 1 << 10;

impl Placement {
    /// Takes note of the next record.
    #[inline]
    pub(crate) fn note(&mut self, index: u32, sticky: bool) {
        if sticky != self.last {
            self.change(index, sticky);
        }
    }

    #[cold]
    fn change(&mut self, index: u32, sticky: bool) {
        // What cannot be told apart any more stays.
        if !sticky || self.changes.len() < CHANGES_MAX {
            self.changes.push(index);
            self.last = sticky;
        }
    }

    /// Of a batch with nothing but records that may go elsewhere.
    pub(super) fn sticky() -> Self {
        Self { last: true, changes: vec![0] }
    }

    /// Whether any of the records may go elsewhere.
    pub(crate) fn any_movable(&self) -> bool {
        !self.changes.is_empty()
    }

    pub(super) fn all_movable(&self) -> bool {
        self.changes == [0]
    }

    pub(super) fn is_movable(&self, index: u32) -> bool {
        self.changes.partition_point(|change| *change <= index) % 2 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placement_tells_the_kinds_apart() {
        let of = |kinds: &[bool]| {
            let mut placement = Placement::default();
            (0..).zip(kinds).for_each(|(index, sticky)| placement.note(index, *sticky));
            placement
        };
        assert!(of(&[true, true]).all_movable() && of(&[true]).any_movable());
        assert!(!of(&[false, false]).any_movable());
        let kinds = [false, true, true, false, true, false, false];
        let mixed = of(&kinds);
        assert!(mixed.any_movable() && !mixed.all_movable());
        assert!((0..).zip(kinds).all(|(index, sticky)| mixed.is_movable(index) == sticky));
    }

    #[test]
    fn what_is_mixed_always_is_bounded() {
        let mut placement = Placement::default();
        for index in 0..10_000 {
            placement.note(index, index % 2 == 1);
        }
        assert!(placement.changes.len() <= CHANGES_MAX);
        assert!(placement.is_movable(1) && !placement.is_movable(2) && !placement.is_movable(9_999));
    }
}
