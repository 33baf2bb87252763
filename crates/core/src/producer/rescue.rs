//! How the records of an open batch that may go to another partition part from the others.

use std::sync::Arc;

use bytes::Bytes;
use milena_protocol::records::{BatchBuilder, RecordBatches, RecordsError, Seal};

use super::{
    buffer_pool::BufferPool,
    completion::{Outcome, Piece},
    partition_queue::OpenBatch,
    placement::Placement,
};

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
            placement: Placement::sticky(),
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
