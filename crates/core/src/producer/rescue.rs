//! Which records of an open batch may go to another partition, and how they part from the others.

use std::sync::Arc;

use bytes::Bytes;
use milena_protocol::records::{BatchBuilder, RecordBatches, RecordsError, Seal};

use super::{
    buffer_pool::BufferPool,
    completion::{Outcome, Piece},
    partition_queue::OpenBatch,
};

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

    /// Whether any of the records may go elsewhere.
    pub(crate) fn any_movable(&self) -> bool {
        !self.changes.is_empty()
    }

    fn all_movable(&self) -> bool {
        self.changes == [0]
    }

    fn is_movable(&self, index: u32) -> bool {
        self.changes.partition_point(|change| *change <= index) % 2 == 1
    }
}

impl OpenBatch {
    /// Parts the records that may go elsewhere from those that have to stay.
    ///
    /// # Errors
    /// The batch as it was, when it cannot be read: which would be this crate's own fault.
    pub(crate) fn part(self, pool: &Arc<BufferPool>) -> Result<Parted, Box<Self>> {
        if self.placement.all_movable() {
            return Ok(Parted { stay: None, go: self });
        }
        let Ok(([stay, go], runs)) = self.part_records() else { return Err(Box::new(self)) };
        let Self { mut memory, completer, created_at, .. } = self;
        let go = Self {
            memory: pool.force(go.len(), memory.account()),
            builder: go,
            completer: completer.piece(),
            created_at,
            placement: Placement { last: true, changes: vec![0] },
        };
        memory.shrink_to(stay.len());
        let stay = Self {
            memory,
            builder: stay,
            completer: completer.piece(),
            created_at,
            placement: Placement::default(),
        };
        let piece = |Run { first, base, moves }| {
            let batch = if moves { &go } else { &stay };
            Piece { first, base, completion: Arc::clone(batch.completer.completion()) }
        };
        completer.complete(Outcome::Split(runs.into_iter().map(piece).collect()));
        Ok(Parted { stay: Some(stay), go })
    }

    /// What stays, what goes, and where the records of each are.
    fn part_records(&self) -> Result<([BatchBuilder; 2], Vec<Run>), RecordsError> {
        let bytes = Bytes::from(self.builder.clone().seal(Seal::default()));
        let batch =
            RecordBatches::new(bytes).next().ok_or(RecordsError::Malformed { what: "no batch" })??;
        let mut parts = [BatchBuilder::new(Vec::new()), BatchBuilder::new(Vec::new())];
        let mut runs: Vec<Run> = Vec::new();
        for (first, record) in (0..).zip(batch.records(usize::MAX)?) {
            let moves = self.placement.is_movable(first);
            let base = parts[usize::from(moves)].append_record(&record?);
            if runs.last().is_none_or(|last| last.moves != moves) {
                runs.push(Run { first, base, moves });
            }
        }
        Ok((parts, runs))
    }
}

/// Records of one kind that follow each other: the first one's index in the batch, and in its part.
struct Run {
    first: u32,
    base: u32,
    moves: bool,
}

/// A batch of which a part may go elsewhere.
#[derive(Debug)]
pub(crate) struct Parted {
    /// None when all of it may go.
    pub(crate) stay: Option<OpenBatch>,
    pub(crate) go: OpenBatch,
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
