//! The records of one partition that no request has taken yet. Here, and only here, callers and the driver meet.

use std::{
    collections::VecDeque,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use milena_protocol::records::{BATCH_HEADER_LEN, BatchBuilder};
use parking_lot::Mutex;

use super::{buffer_pool::Reservation, completion::Completer, placement::Placement};
use crate::{record::Record, time::Instant};

/// A batch that grows, or has stopped growing and waits to be taken.
#[derive(Debug)]
pub(crate) struct OpenBatch {
    pub(crate) builder: BatchBuilder,
    pub(crate) memory: Reservation,
    pub(crate) completer: Completer,
    pub(crate) created_at: Instant,
    pub(crate) placement: Placement,
}

/// One partition's queue.
///
/// The driver holds the lock just long enough to take a batch: header, CRC and compression come after. What it asks at
/// each turn (is there something, since when, is it a batch full) it reads without the lock; the two words below are
/// written when a batch begins and when it becomes full, not at each record, and lie on a cache line of their own.
#[repr(align(128))]
pub(crate) struct PartitionQueue {
    state: Mutex<QueueState>,
    hints: Hints,
    pub(crate) topic: Arc<str>,
    pub(crate) partition: i32,
    batch_size: usize,
    /// The queue's place in the Sender's table: dense, in the order of creation.
    pub(crate) id: usize,
}

#[repr(align(128))]
struct Hints {
    /// When the oldest batch began, in nanoseconds; `u64::MAX` when there is none.
    oldest: AtomicU64,
    /// Whether the oldest batch has reached batch.size, or another waits behind it.
    full: AtomicBool,
    /// From how many bytes on the Sender wants to be woken: it knows how busy the partition's broker is.
    wake_size: AtomicUsize,
}

/// Invariant: `full` is in order of age, and all of it is older than `open`.
pub(crate) struct QueueState {
    pub(crate) open: Option<OpenBatch>,
    /// Batches that take no more records.
    full: VecDeque<OpenBatch>,
    /// Bytes without a key since the sticky partitioner was last told.
    pub(crate) sticky_bytes: usize,
    /// A batch stops growing at so many bytes: max.request.size, or less since the broker found one too large.
    pub(crate) max_batch: usize,
    /// Whether the Sender has the queue in its set of active ones, or is about to.
    listed: bool,
}

/// What appending a record changed for the Sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Appended {
    pub(crate) index: u32,
    /// Bytes that the record took.
    pub(crate) bytes: usize,
    /// A batch has reached the size from which on the Sender wants it.
    pub(crate) became_ready: bool,
}

impl PartitionQueue {
    pub(crate) fn new(
        topic: Arc<str>,
        partition: i32,
        id: usize,
        batch_size: usize,
        max_batch: usize,
    ) -> Self {
        // A batch of one record is never smaller than this.
        let batch_size = batch_size.max(BATCH_HEADER_LEN + 1);
        let state =
            QueueState { open: None, full: VecDeque::new(), sticky_bytes: 0, max_batch, listed: false };
        let hints = Hints {
            oldest: AtomicU64::new(u64::MAX),
            full: AtomicBool::new(false),
            wake_size: AtomicUsize::new(batch_size),
        };
        Self { state: Mutex::new(state), hints, topic, partition, batch_size, id }
    }

    pub(crate) fn lock(&self) -> parking_lot::MutexGuard<'_, QueueState> {
        self.state.lock()
    }

    /// Puts a new batch behind the others; true if the queue has to be listed with the Sender.
    pub(crate) fn open(&self, state: &mut QueueState, batch: OpenBatch) -> bool {
        if state.open.is_none() && state.full.is_empty() {
            self.hints.oldest.store(batch.created_at.as_nanos(), Ordering::Relaxed);
        }
        self.close_open(state);
        state.open = Some(batch);
        !std::mem::replace(&mut state.listed, true)
    }

    /// The open batch takes no more records.
    pub(crate) fn close_open(&self, state: &mut QueueState) {
        if let Some(batch) = state.open.take() {
            state.full.push_back(batch);
            self.hints.full.store(true, Ordering::Relaxed);
        }
    }

    /// Encodes a record into the open batch; none if it has no room, or there is no batch.
    ///
    /// `needed` is what the record may take at most; `sticky` says that any other partition would do for it.
    #[inline]
    pub(crate) fn append(
        &self,
        state: &mut QueueState,
        record: &Record<'_>,
        timestamp: i64,
        needed: usize,
        sticky: bool,
    ) -> Option<Appended> {
        let max_batch = state.max_batch;
        let batch = state.open.as_mut()?;
        let before = batch.builder.len();
        // The first record of a batch always fits: its memory was taken for it.
        if !batch.builder.is_empty() {
            let after = before + needed;
            if after > max_batch || (after > batch.memory.bytes() && !batch.grow(after, max_batch)) {
                return None;
            }
        }
        let index = batch.builder.append(timestamp, record.key, record.value, record.headers);
        batch.placement.note(index, sticky);
        let after = batch.builder.len();
        let crossed = |size: usize| before < size && after >= size;
        let mut wake_size = self.hints.wake_size.load(Ordering::Relaxed);
        if crossed(self.batch_size) {
            // Either the Sender sees that the batch is full, or this thread sees the size that it has set: see is_full.
            self.hints.full.swap(true, Ordering::SeqCst);
            wake_size = self.hints.wake_size.load(Ordering::SeqCst);
        }
        let became_ready = crossed(wake_size);
        Some(Appended { index, bytes: after - before, became_ready })
    }

    /// When the oldest batch began; none when nothing is queued.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        let nanos = self.hints.oldest.load(Ordering::Relaxed);
        (nanos != u64::MAX).then(|| Instant::from_nanos(nanos))
    }

    /// Whether the oldest batch has batch.size bytes, or another one waits behind it.
    pub(crate) fn is_full(&self) -> bool {
        self.hints.full.load(Ordering::SeqCst)
    }

    /// Says from how many bytes on the Sender wants to be woken. It looks at the size after this: whoever appends
    /// meanwhile is either seen or has seen the new size.
    pub(crate) fn set_wake_size(&self, bytes: usize) {
        if self.hints.wake_size.load(Ordering::Relaxed) != bytes {
            self.hints.wake_size.store(bytes, Ordering::SeqCst);
        }
    }

    /// Bytes of the oldest batch, of all batches, and whether the oldest one can still grow.
    pub(crate) fn sizes(&self) -> QueueSizes {
        let state = self.state.lock();
        let open = state.open.as_ref().map_or(0, |batch| batch.builder.len());
        let first = state.full.front().map_or(open, |batch| batch.builder.len());
        let all = open + state.full.iter().map(|batch| batch.builder.len()).sum::<usize>();
        QueueSizes { first, all, closed: !state.full.is_empty() }
    }

    /// Takes the oldest batch, if it has at most `room` bytes.
    pub(crate) fn take_within(&self, room: usize) -> Option<OpenBatch> {
        let state = self.state.lock();
        let first = state.full.front().or(state.open.as_ref());
        if first.is_none_or(|first| first.builder.len() > room) {
            return None;
        }
        self.take_from(state)
    }

    /// Takes the oldest batch.
    pub(crate) fn take(&self) -> Option<OpenBatch> {
        self.take_from(self.state.lock())
    }

    /// Takes the first batch of which some records may go to another partition, and its place. The driver alone takes
    /// batches: the place stays what it is until it puts something back.
    pub(crate) fn take_movable(&self) -> Option<(usize, OpenBatch)> {
        let mut state = self.state.lock();
        let place = state.full.iter().position(|batch| batch.placement.any_movable());
        let batch = match place {
            Some(place) => state.full.remove(place),
            None => state.open.take_if(|batch| batch.placement.any_movable()),
        };
        self.tell(&state);
        let place = place.unwrap_or(state.full.len());
        batch.map(|batch| (place, batch))
    }

    /// Puts back what [`take_movable`](Self::take_movable) gave; it takes no more records.
    pub(crate) fn put_back(&self, place: usize, batch: OpenBatch) {
        let mut state = self.state.lock();
        let place = place.min(state.full.len());
        state.full.insert(place, batch);
        self.tell(&state);
    }

    /// Puts another partition's batch among its own, by age; true if the queue has to be listed with the Sender.
    pub(crate) fn adopt(&self, batch: OpenBatch) -> bool {
        let mut state = self.state.lock();
        self.close_open(&mut state);
        let place = state.full.partition_point(|other| other.created_at <= batch.created_at);
        state.full.insert(place, batch);
        self.tell(&state);
        !std::mem::replace(&mut state.listed, true)
    }

    fn take_from(&self, mut state: parking_lot::MutexGuard<'_, QueueState>) -> Option<OpenBatch> {
        let batch = state.full.pop_front().or_else(|| state.open.take());
        self.tell(&state);
        batch
    }

    /// Keeps what can be read without the lock true.
    fn tell(&self, state: &QueueState) {
        let next = state.full.front().or(state.open.as_ref());
        let oldest = next.map_or(u64::MAX, |next| next.created_at.as_nanos());
        let full = !state.full.is_empty() || next.is_some_and(|next| next.builder.len() >= self.batch_size);
        self.hints.oldest.store(oldest, Ordering::Relaxed);
        self.hints.full.store(full, Ordering::Relaxed);
    }

    /// Takes the oldest batch if it began at `before` or earlier.
    pub(crate) fn take_older(&self, before: Instant) -> Option<OpenBatch> {
        // Only the driver takes: what it sees as the oldest stays the oldest.
        self.oldest().filter(|oldest| *oldest <= before).and_then(|_| self.take())
    }

    /// Leaves the Sender's set, if nothing is queued; the next batch lists it again.
    pub(crate) fn unlist_if_empty(&self) -> bool {
        let mut state = self.state.lock();
        let empty = state.open.is_none() && state.full.is_empty();
        if empty {
            state.listed = false;
        }
        empty
    }

    /// The broker found a batch too large: later ones stop growing at `bytes`.
    pub(crate) fn lower_max_batch(&self, bytes: usize) {
        let mut state = self.state.lock();
        state.max_batch = state.max_batch.min(bytes);
    }
}

impl fmt::Debug for PartitionQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PartitionQueue({}-{})", self.topic, self.partition)
    }
}

/// How much a queue holds, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueSizes {
    pub(crate) first: usize,
    pub(crate) all: usize,
    /// The first batch cannot grow any more.
    pub(crate) closed: bool,
}

impl OpenBatch {
    /// Charges memory for at least `needed` bytes in all: twice what it has, as its buffer grows, so that what is
    /// charged is what is used.
    fn grow(&mut self, needed: usize, max_batch: usize) -> bool {
        let target = (self.memory.bytes() * 2).min(max_batch).max(needed);
        self.memory.grow_to(target)
    }
}
