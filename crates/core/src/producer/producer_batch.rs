//! A batch that the Sender has taken: its bytes, its place in the producer's sequence, and its tries.
//!
//! Kafka's source: `ProducerBatch`.

use std::sync::Arc;

use bytes::Bytes;
use milena_protocol::{
    Uuid,
    records::{CompressedBatch, RecordBatches, RecordsError, Seal, reseal, split},
};

use super::{
    buffer_pool::{BufferPool, Reservation},
    completion::{BatchCompletion, Completer, Outcome, Piece},
    partition_queue::OpenBatch,
};
use crate::time::Instant;

/// Id and epoch of an idempotent producer (KIP-98).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProducerIdentity {
    /// The id, from the broker.
    pub id: i64,
    /// The epoch; each bump lets sequences begin at 0 again (KIP-360).
    pub epoch: i16,
}

/// A batch's place in the producer's sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub(crate) identity: ProducerIdentity,
    pub(crate) base: i32,
}

/// What a batch was in a topic that its partition has left for another one of the same name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeftBehind {
    pub(crate) topic_id: Uuid,
    pub(crate) sequence: Sequence,
    pub(crate) attempted_epoch: Option<i32>,
    pub(crate) may_be_written: bool,
}

#[derive(Debug)]
pub(crate) struct ProducerBatch {
    completer: Completer,
    body: Body,
    /// Whom its memory is charged to.
    account: usize,
    pub(crate) created_at: Instant,
    pub(crate) records: u32,
    /// How many records of the partition were taken before it: retries go back to their place by this.
    pub(crate) order: u64,
    pub(crate) sequence: Option<Sequence>,
    /// How often it was sent.
    pub(crate) attempts: u32,
    /// Not sent again before this, unless a newer leader is known.
    pub(crate) retry_at: Instant,
    /// The leader epoch that the last try was addressed to.
    pub(crate) attempted_epoch: Option<i32>,
    /// Whether a broker may have it, for all that is known: then it is sent again as it is, or not at all.
    pub(crate) may_be_written: bool,
    /// At most one for each of the topics that the partition remembers.
    pub(crate) left_behind: Vec<LeftBehind>,
    /// What went wrong last.
    pub(crate) last_error: Option<Arc<str>>,
}

/// Invariant: once sealed the bytes stay what they are, unless the sequence changes (field report 19).
#[derive(Debug)]
enum Body {
    Unsealed {
        batch: CompressedBatch,
        memory: Reservation,
    },
    Sealed {
        bytes: Bytes,
        sequence: Option<Sequence>,
    },
    /// Between the two, and after a split.
    Nothing,
}

impl ProducerBatch {
    pub(crate) fn new(batch: OpenBatch, order: u64) -> Self {
        let OpenBatch { builder, memory, completer, created_at, .. } = batch;
        Self::unsealed(completer, builder.uncompressed(), memory, created_at, order)
    }

    pub(crate) fn unsealed(
        completer: Completer,
        batch: CompressedBatch,
        memory: Reservation,
        created_at: Instant,
        order: u64,
    ) -> Self {
        Self {
            completer,
            records: batch.record_count(),
            account: memory.account(),
            body: Body::Unsealed { batch, memory },
            created_at,
            order,
            sequence: None,
            attempts: 0,
            retry_at: Instant::ORIGIN,
            attempted_epoch: None,
            may_be_written: false,
            left_behind: Vec::new(),
            last_error: None,
        }
    }

    /// Bytes on the wire.
    pub(crate) fn size(&self) -> usize {
        match &self.body {
            Body::Unsealed { batch, .. } => batch.len(),
            Body::Sealed { bytes, .. } => bytes.len(),
            Body::Nothing => 0,
        }
    }

    /// The bytes to send. Header and CRC are written the first time; after that they change only with the sequence.
    pub(crate) fn seal(&mut self, pool: &Arc<BufferPool>) -> Result<Bytes, RecordsError> {
        let sealed = match std::mem::replace(&mut self.body, Body::Nothing) {
            Body::Unsealed { batch, memory } => {
                Bytes::from_owner(memory.hold(batch.seal(self.sequence.map_or_else(Seal::default, as_seal))))
            }
            Body::Sealed { bytes, sequence } if sequence == self.sequence => bytes,
            Body::Sealed { bytes, .. } => {
                let Seal { producer_id, producer_epoch, base_sequence, .. } =
                    self.sequence.map_or_else(Seal::default, as_seal);
                let out = pool.buffer(bytes.len());
                let anew = reseal(&bytes, producer_id, producer_epoch, base_sequence, out)?;
                Bytes::from_owner(pool.force(anew.len(), self.account).hold(anew))
            }
            Body::Nothing => Bytes::new(),
        };
        self.body = Body::Sealed { bytes: sealed.clone(), sequence: self.sequence };
        Ok(sealed)
    }

    /// Makes smaller batches of it, each with its part of the sequence (client.md 26).
    ///
    /// # Errors
    /// When the batch was never sent, or cannot be read.
    pub(crate) fn split(
        &mut self,
        max_size: usize,
        level: Option<i32>,
        pool: &Arc<BufferPool>,
    ) -> Result<Vec<Self>, RecordsError> {
        let pieces = match &self.body {
            Body::Sealed { bytes, .. } => split_bytes(bytes, max_size, level),
            Body::Unsealed { .. } | Body::Nothing => {
                Err(RecordsError::Malformed { what: "a batch that was not sent" })
            }
        };
        let pieces = pieces?;
        self.body = Body::Nothing;
        let mut first = 0;
        let batches: Vec<Self> = pieces
            .into_iter()
            .map(|piece| {
                let memory = pool.force(piece.len(), self.account);
                let order = self.order + u64::from(first);
                let mut batch = Self::unsealed(self.completer.piece(), piece, memory, self.created_at, order);
                batch.sequence = self.sequence.map(|sequence| sequence.after(first));
                batch.last_error.clone_from(&self.last_error);
                first += batch.records;
                batch
            })
            .collect();
        let completions = batches.iter().map(|batch| {
            let first = u32::try_from(batch.order - self.order).unwrap_or(u32::MAX);
            Piece { first, base: 0, completion: Arc::clone(batch.completion()) }
        });
        self.completer.complete(Outcome::Split(completions.collect()));
        Ok(batches)
    }

    pub(crate) fn complete(&self, outcome: Outcome) {
        self.completer.complete(outcome);
    }

    /// True when its records were told an outcome, as those of a batch that expired in flight are.
    pub(crate) fn is_complete(&self) -> bool {
        self.completer.is_complete()
    }

    pub(crate) fn completion(&self) -> &Arc<BatchCompletion> {
        self.completer.completion()
    }
}

impl Sequence {
    /// The place of a record `records` behind this one.
    fn after(self, records: u32) -> Self {
        let increment = i32::try_from(records).unwrap_or(i32::MAX);
        Self { base: milena_protocol::records::increment_sequence(self.base, increment), ..self }
    }
}

fn as_seal(sequence: Sequence) -> Seal {
    let Sequence { identity, base } = sequence;
    Seal { producer_id: identity.id, producer_epoch: identity.epoch, base_sequence: base, ..Seal::default() }
}

/// No limit on what the batch inflates to: these are the caller's own records.
fn split_bytes(
    bytes: &Bytes,
    max_size: usize,
    level: Option<i32>,
) -> Result<Vec<CompressedBatch>, RecordsError> {
    let batch = RecordBatches::new(bytes.clone())
        .next()
        .ok_or(RecordsError::Malformed { what: "a batch without bytes" })??;
    split(&batch, max_size, level, usize::MAX)
}
