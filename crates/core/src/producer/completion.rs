//! One shared completion per batch, and an index and a timestamp per record: no allocation per record.

use std::{
    collections::BTreeMap,
    fmt,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use milena_protocol::ErrorCode;
use parking_lot::Mutex;

use super::ProduceError;
use crate::record::RecordMetadata;

/// What became of a batch.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The broker has it.
    Acknowledged {
        /// The first record's offset, unless the broker did not tell.
        base_offset: Option<i64>,
        /// The timestamp of all records, with LogAppendTime.
        log_append_time: Option<i64>,
    },
    /// None of it was, as far as is known, written.
    Failed(ProduceError),
    /// The broker refused it because of some of its records (KIP-467).
    Refused { code: ErrorCode, records: Arc<[(u32, Option<Arc<str>>)]> },
    /// It went on as other batches: for each run of its records where they went, ascending.
    Split(Vec<Piece>),
}

/// Some records of a batch that went on, in their order, in another one.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// The first one's index in the batch.
    pub(crate) first: u32,
    /// Its index in the other one.
    pub(crate) base: u32,
    pub(crate) completion: Arc<BatchCompletion>,
}

impl Outcome {
    /// Written, at an offset that the broker did not tell.
    pub(crate) const WRITTEN: Self = Self::Acknowledged { base_offset: None, log_append_time: None };
}

/// Shared by a batch and the [`Delivery`]s of its records; resolved once.
pub struct BatchCompletion {
    topic: Arc<str>,
    /// Another one when the records are moved before they are sent.
    partition: AtomicI32,
    /// How often its records were sent.
    attempts: AtomicU32,
    /// Its name in [`IncompleteBatches`].
    id: u64,
    outcome: OnceLock<Outcome>,
    /// A slot for each waiting future: thousands may wait, each is woken once.
    wakers: Mutex<Vec<Option<Waker>>>,
}

/// A future's slot in the list of wakers.
#[derive(Debug)]
struct Slot(u32);

impl Slot {
    const NONE: Self = Self(u32::MAX);
}

impl BatchCompletion {
    /// The topic's name.
    pub fn topic(&self) -> &Arc<str> {
        &self.topic
    }

    /// The partition.
    pub fn partition(&self) -> i32 {
        self.partition.load(Ordering::Relaxed)
    }

    /// The records go to another partition.
    pub(crate) fn move_to(&self, partition: i32) {
        self.partition.store(partition, Ordering::Relaxed);
    }

    pub(crate) fn note_sent(&self) {
        self.attempts.fetch_add(1, Ordering::Relaxed);
    }

    fn resolve(&self, outcome: Outcome) {
        if self.outcome.set(outcome).is_err() {
            return;
        }
        let wakers = std::mem::take(&mut *self.wakers.lock());
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    fn poll(&self, slot: &mut Slot, cx: &mut Context<'_>) -> Poll<&Outcome> {
        if let Some(outcome) = self.outcome.get() {
            return Poll::Ready(outcome);
        }
        let mut wakers = self.wakers.lock();
        // Resolving sets the outcome before it takes the wakers: whoever sees none under the lock will be woken.
        if let Some(outcome) = self.outcome.get() {
            return Poll::Ready(outcome);
        }
        match wakers.get_mut(slot.0 as usize) {
            Some(waker) => {
                if !waker.as_ref().is_some_and(|w| w.will_wake(cx.waker())) {
                    *waker = Some(cx.waker().clone());
                }
            }
            None => {
                *slot = Slot(u32::try_from(wakers.len()).unwrap_or(u32::MAX));
                wakers.push(Some(cx.waker().clone()));
            }
        }
        Poll::Pending
    }

    fn forget(&self, slot: &Slot) {
        if slot.0 != Slot::NONE.0
            && self.outcome.get().is_none()
            && let Some(waker) = self.wakers.lock().get_mut(slot.0 as usize)
        {
            *waker = None;
        }
    }
}

impl fmt::Debug for BatchCompletion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}: {:?}", self.topic, self.partition(), self.outcome.get())
    }
}

/// Resolves when the record is acknowledged, or when it is known that it will not be.
///
/// Dropping it cancels nothing. It needs no particular runtime.
pub struct Delivery {
    completion: Arc<BatchCompletion>,
    index: u32,
    slot: Slot,
    timestamp: i64,
}

impl Delivery {
    pub(crate) fn new(completion: Arc<BatchCompletion>, index: u32, timestamp: i64) -> Self {
        Self { completion, index, slot: Slot::NONE, timestamp }
    }

    /// The partition that the record is queued for. A record without a key goes to another one when the broker of this one
    /// stops answering before it is sent.
    pub fn partition(&self) -> i32 {
        self.completion.partition()
    }

    /// How often the record was sent so far: 0 while it waits in the producer's queue, 2 when it was sent again, because the
    /// broker asked for that, or stopped answering and leads no more. One that failed and was never sent is in no log.
    pub fn attempts(&self) -> u32 {
        self.completion.attempts.load(Ordering::Relaxed)
    }

    /// The record's result, if it is there already.
    pub fn result(&mut self) -> Option<Result<RecordMetadata, ProduceError>> {
        loop {
            let (completion, index) = match self.completion.outcome.get()? {
                Outcome::Split(pieces) => piece_of(pieces, self.index)?,
                outcome => return Some(self.read(outcome)),
            };
            self.follow(completion, index);
        }
    }

    /// Goes on with the piece of the batch that the record went to.
    fn follow(&mut self, completion: Arc<BatchCompletion>, index: u32) {
        self.completion = completion;
        self.index = index;
        self.slot = Slot::NONE;
    }

    fn read(&self, outcome: &Outcome) -> Result<RecordMetadata, ProduceError> {
        let (topic, partition) = (&self.completion.topic, self.completion.partition());
        match outcome {
            Outcome::Acknowledged { base_offset, log_append_time } => Ok(RecordMetadata {
                topic: Arc::clone(topic),
                partition,
                offset: base_offset.map(|base| base.saturating_add(i64::from(self.index))),
                timestamp: log_append_time.unwrap_or(self.timestamp),
            }),
            Outcome::Failed(error) => Err(error.clone()),
            Outcome::Refused { code, records } => {
                let (topic, code) = (Arc::clone(topic), *code);
                Err(match records.iter().find(|(index, _)| *index == self.index) {
                    Some((_, message)) => {
                        let message = message.clone().unwrap_or_else(|| Arc::from(code.message()));
                        ProduceError::InvalidRecord { topic, partition, code, message }
                    }
                    None => ProduceError::BatchMate { topic, partition, code },
                })
            }
            Outcome::Split(_) => Err(ProduceError::Closed),
        }
    }
}

/// The piece that holds record `index`, and its index there.
fn piece_of(pieces: &[Piece], index: u32) -> Option<(Arc<BatchCompletion>, u32)> {
    let after = pieces.partition_point(|piece| piece.first <= index);
    let piece = pieces.get(after.checked_sub(1)?)?;
    Some((Arc::clone(&piece.completion), piece.base + (index - piece.first)))
}

impl Future for Delivery {
    type Output = Result<RecordMetadata, ProduceError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            let next = match this.completion.poll(&mut this.slot, cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Outcome::Split(pieces)) => piece_of(pieces, this.index),
                Poll::Ready(outcome) => return Poll::Ready(this.read(outcome)),
            };
            let Some((completion, index)) = next else { return Poll::Ready(Err(ProduceError::Closed)) };
            this.follow(completion, index);
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        self.completion.forget(&self.slot);
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Delivery({}-{}, record {} of its batch)",
            self.completion.topic,
            self.completion.partition(),
            self.index
        )
    }
}

/// All batches that are queued or in flight, for `flush` (Kafka's `IncompleteBatches`). As many as buffer.memory holds.
#[derive(Debug, Default)]
pub(crate) struct IncompleteBatches {
    next: AtomicU64,
    batches: Mutex<BTreeMap<u64, Arc<BatchCompletion>>>,
}

impl IncompleteBatches {
    /// Makes the completion of a new batch.
    pub(crate) fn open(self: &Arc<Self>, topic: Arc<str>, partition: i32) -> Completer {
        self.open_after(topic, partition, 0)
    }

    fn open_after(self: &Arc<Self>, topic: Arc<str>, partition: i32, attempts: u32) -> Completer {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (outcome, wakers) = (OnceLock::new(), Mutex::default());
        let (partition, attempts) = (AtomicI32::new(partition), AtomicU32::new(attempts));
        let completion = Arc::new(BatchCompletion { topic, partition, attempts, id, outcome, wakers });
        self.batches.lock().insert(id, Arc::clone(&completion));
        Completer { completion, incomplete: Arc::clone(self) }
    }

    /// Those that are incomplete now, oldest first.
    pub(crate) fn snapshot(&self) -> Vec<Arc<BatchCompletion>> {
        self.batches.lock().values().cloned().collect()
    }

    /// How many batches are incomplete.
    pub(crate) fn len(&self) -> usize {
        self.batches.lock().len()
    }
}

/// The batch's end of its completion. A batch that is dropped unfinished fails its records, so that no
/// [`Delivery`] waits for ever.
#[derive(Debug)]
pub(crate) struct Completer {
    completion: Arc<BatchCompletion>,
    incomplete: Arc<IncompleteBatches>,
}

impl Completer {
    pub(crate) fn completion(&self) -> &Arc<BatchCompletion> {
        &self.completion
    }

    /// Makes a completion for a piece of this batch, which was sent as often as the whole.
    pub(crate) fn piece(&self) -> Self {
        let BatchCompletion { topic, attempts, .. } = &*self.completion;
        let attempts = attempts.load(Ordering::Relaxed);
        self.incomplete.open_after(Arc::clone(topic), self.completion.partition(), attempts)
    }

    /// Tells the records what became of them. Only the first call counts.
    pub(crate) fn complete(&self, outcome: Outcome) {
        self.completion.resolve(outcome);
        self.incomplete.batches.lock().remove(&self.completion.id);
    }

    /// Whether the records have been told.
    pub(crate) fn is_complete(&self) -> bool {
        self.completion.outcome.get().is_some()
    }
}

impl Drop for Completer {
    fn drop(&mut self) {
        if !self.is_complete() {
            self.complete(Outcome::Failed(ProduceError::Closed));
        }
    }
}

/// Waits until each of some batches is done, whatever became of it.
pub(crate) struct AllComplete {
    /// Those left, the next one last.
    left: Vec<Arc<BatchCompletion>>,
    slot: Slot,
}

impl AllComplete {
    pub(crate) fn new(mut batches: Vec<Arc<BatchCompletion>>) -> Self {
        batches.reverse();
        Self { left: batches, slot: Slot::NONE }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some(batch) = self.left.last() {
            let pieces = match batch.poll(&mut self.slot, cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Outcome::Split(pieces)) => {
                    pieces.iter().map(|piece| Arc::clone(&piece.completion)).collect()
                }
                Poll::Ready(_) => Vec::new(),
            };
            self.left.pop();
            self.left.extend(pieces);
            self.slot = Slot::NONE;
        }
        Poll::Ready(())
    }
}

impl Drop for AllComplete {
    fn drop(&mut self) {
        if let Some(batch) = self.left.last() {
            batch.forget(&self.slot);
        }
    }
}
