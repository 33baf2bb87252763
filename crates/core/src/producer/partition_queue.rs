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

use super::{
    buffer_pool::{BufferPool, Reservation},
    completion::Completer,
    placement::Placement,
};
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
    /// The bytes of the batch that was taken last: what the next one will need as well, probably.
    typical: usize,
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
        let state = QueueState {
            open: None,
            full: VecDeque::new(),
            sticky_bytes: 0,
            typical: 0,
            max_batch,
            listed: false,
        };
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
        let mut batch = state.full.pop_front().or_else(|| state.open.take());
        state.typical = batch.as_ref().map_or(0, |batch| batch.builder.len());
        self.tell(&state);
        drop(state);
        if let Some(batch) = batch.as_mut().filter(|batch| batch.memory.bytes() > self.batch_size) {
            batch.give_back_unused();
        }
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

impl QueueState {
    /// Charges what a new batch will probably need, if that is free: neither is its buffer copied as it grows, nor are its pages
    /// fetched anew. Not for a broker that does not answer: there is room for as many records as can be.
    pub(crate) fn foresee(&self, memory: &mut Reservation) {
        let mut bytes = memory.bytes();
        while bytes < self.typical {
            bytes *= 2;
        }
        memory.grow_ahead_to(bytes.min(self.max_batch));
    }
}

impl OpenBatch {
    /// An empty batch with a buffer as large as what it is charged.
    pub(crate) fn new(memory: Reservation, pool: &BufferPool, completer: Completer, now: Instant) -> Self {
        let mut builder = BatchBuilder::new(pool.buffer(memory.bytes()));
        builder.reserve_to(memory.bytes());
        Self { builder, memory, completer, created_at: now, placement: Placement::default() }
    }

    /// Charges memory for at least `needed` bytes in all, twice what it has, and lets the buffer grow to that: what is charged
    /// is what is used.
    fn grow(&mut self, needed: usize, max_batch: usize) -> bool {
        let target = (self.memory.bytes() * 2).min(max_batch).max(needed);
        let grown = self.memory.grow_to(target);
        if grown {
            self.builder.reserve_to(self.memory.bytes());
        }
        grown
    }

    /// Gives back what was foreseen and did not come, if that is most of it.
    fn give_back_unused(&mut self) {
        let len = self.builder.len();
        if len * 4 <= self.memory.bytes() {
            self.builder.shrink_to_fit();
            self.memory.shrink_to(len);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    use super::*;
    use crate::producer::completion::IncompleteBatches;

    const STEP: usize = 16 << 10;
    const MAX_BATCH: usize = 1 << 20;
    const TOTAL: usize = 4 << 20;
    /// What appending may want at the end of a buffer.
    const SURPLUS: usize = 64;

    struct Queue {
        pool: Arc<BufferPool>,
        queue: PartitionQueue,
        incomplete: Arc<IncompleteBatches>,
    }

    impl Queue {
        fn new(pool: &Arc<BufferPool>, id: usize) -> Self {
            let queue = PartitionQueue::new("t".into(), 0, id, STEP, MAX_BATCH);
            Self { pool: Arc::clone(pool), queue, incomplete: Arc::default() }
        }

        /// False when there is no memory.
        fn append(&self, bytes: usize) -> bool {
            let value = vec![0; bytes];
            let record = Record::to("t").value(&value);
            let needed = bytes + SURPLUS;
            let mut state = self.queue.lock();
            if self.queue.append(&mut state, &record, 0, needed, false).is_some() {
                return true;
            }
            let step = STEP.max(BATCH_HEADER_LEN + needed);
            let Some(mut memory) = self.pool.try_reserve(step, self.queue.id) else { return false };
            state.foresee(&mut memory);
            let completer = self.incomplete.open("t".into(), 0);
            let batch = OpenBatch::new(memory, &self.pool, completer, Instant::ORIGIN);
            self.queue.open(&mut state, batch);
            self.queue.append(&mut state, &record, 0, needed, false).expect("the first one fits");
            true
        }

        fn check(&self) {
            let state = self.queue.lock();
            for batch in state.full.iter().chain(&state.open) {
                let (held, charged) = (batch.builder.capacity(), batch.memory.bytes());
                assert!(held <= charged + SURPLUS, "{held} bytes held, {charged} charged");
            }
        }
    }

    /// As when the socket has let go.
    fn let_go(batch: OpenBatch) {
        drop(batch.memory.hold(batch.builder.into_buffer()));
    }

    #[test]
    fn accumulator_28_a_batch_holds_what_it_is_charged_and_no_more() {
        let mut rng = SmallRng::seed_from_u64(28);
        let pool = Arc::new(BufferPool::new(TOTAL, TOTAL));
        let queues: Vec<_> = (0..5).map(|id| Queue::new(&pool, id)).collect();
        let mut taken: VecDeque<OpenBatch> = VecDeque::new();
        for _ in 0..20_000 {
            let queue = &queues[rng.random_range(0..queues.len())];
            let size = [100, 5_000, 100_000][rng.random_range(0..3)];
            let is_taken = rng.random_bool(0.03) || !queue.append(size);
            if is_taken && let Some(batch) = queue.queue.take() {
                assert!(batch.builder.capacity() <= batch.memory.bytes() + SURPLUS);
                taken.push_back(batch);
            }
            if taken.len() > rng.random_range(0..4) {
                taken.pop_front().into_iter().for_each(let_go);
            }
            queue.check();
        }
        let left = queues.iter().flat_map(|queue| std::iter::from_fn(|| queue.queue.take()));
        taken.into_iter().chain(left).for_each(let_go);
        assert_eq!(pool.free(), pool.total());
    }

    #[test]
    fn a_batch_begins_as_large_as_the_last_one_was() {
        let pool = Arc::new(BufferPool::new(2 * TOTAL, TOTAL));
        let queue = Queue::new(&pool, 0);
        while queue.queue.sizes().first < 600_000 {
            assert!(queue.append(10_000));
        }
        let first = queue.queue.take().expect("a batch");
        assert_eq!(first.memory.bytes(), MAX_BATCH);
        let buffer = first.builder.body().as_ptr();
        let_go(first);
        assert!(queue.append(10_000));
        let second = queue.queue.lock().open.take().expect("a batch");
        assert_eq!(second.memory.bytes(), MAX_BATCH);
        assert_eq!(second.builder.body().as_ptr(), buffer, "the buffer is used again");
        queue.queue.open(&mut queue.queue.lock(), second);
        // It was less this time: nothing is kept for it, and the next one begins small.
        let second = queue.queue.take().expect("a batch");
        assert_eq!(second.memory.bytes(), second.builder.len());
        assert!(queue.append(100));
        let third = queue.queue.take().expect("a batch");
        assert_eq!(third.memory.bytes(), STEP);
    }

    #[test]
    fn nothing_is_foreseen_for_a_broker_that_does_not_answer() {
        let pool = Arc::new(BufferPool::new(TOTAL, TOTAL));
        let queue = Queue::new(&pool, 7);
        while queue.queue.sizes().first < 600_000 {
            assert!(queue.append(10_000));
        }
        drop(queue.queue.take());
        pool.set_held_up(&[(7, "broker 1".into())].into());
        assert!(queue.append(100));
        assert_eq!(queue.queue.take().expect("a batch").memory.bytes(), STEP);
    }
}
