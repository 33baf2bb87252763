//! buffer.memory: how much all batches together may hold, and the buffers that go from batch to batch.
//!
//! Kafka's source: `BufferPool`. Memory is charged per batch and given back when the last user of the batch's bytes,
//! the socket included, has let go (client.md 28 and 29). What waits for memory is bounded by its callers: each waiter
//! is one call of `send`.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use parking_lot::Mutex;

/// The spare buffers together hold at most this share of the total, so that a burst of large batches does not keep the
/// process large.
const SPARE_SHARE: usize = 4;

/// Accounts for buffer.memory and keeps spare buffers.
pub struct BufferPool {
    total: usize,
    /// How many waiters there are; read by the Sender at each turn, hence outside of the lock.
    waiting: AtomicUsize,
    state: Mutex<PoolState>,
}

struct PoolState {
    /// Bytes that nothing is charged for. Below zero after [`BufferPool::force`].
    free: i64,
    /// First come, first served: memory goes to the front one or to nobody.
    waiters: VecDeque<Arc<Waiter>>,
    spare: Vec<Vec<u8>>,
    /// The capacities of `spare` together.
    spare_bytes: usize,
    closed: bool,
}

struct Waiter {
    needed: usize,
    state: Mutex<WaiterState>,
}

enum WaiterState {
    Waiting(Option<Waker>),
    /// The bytes are charged and belong to the waiter.
    Granted,
    Closed,
    /// Taken by its future, or the future was dropped.
    Gone,
}

impl BufferPool {
    /// A pool of `total` bytes.
    pub fn new(total: usize) -> Self {
        let state = PoolState {
            free: i64::try_from(total).unwrap_or(i64::MAX),
            waiters: VecDeque::new(),
            spare: Vec::new(),
            spare_bytes: 0,
            closed: false,
        };
        Self { total, waiting: AtomicUsize::new(0), state: Mutex::new(state) }
    }

    /// buffer.memory, in bytes.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Bytes that nothing is charged for; equal to [`total`](Self::total) when nothing is queued or in flight.
    pub fn free(&self) -> usize {
        usize::try_from(self.state.lock().free).unwrap_or(0)
    }

    /// Whether somebody waits for memory: then every batch is ready to go (client.md 22).
    pub fn has_waiters(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Charges `bytes`, if they are free and nobody waits.
    pub fn try_reserve(self: &Arc<Self>, bytes: usize) -> Option<Reservation> {
        self.take(bytes).then(|| Reservation { pool: Arc::clone(self), bytes })
    }

    /// Charges `bytes` whether they are free or not: for records that are inside already and change their form, when a
    /// batch is split or sealed anew.
    pub(crate) fn force(self: &Arc<Self>, bytes: usize) -> Reservation {
        self.state.lock().free -= as_i64(bytes);
        Reservation { pool: Arc::clone(self), bytes }
    }

    /// Waits for `bytes`, which must not exceed [`total`](Self::total), behind everybody who waits already.
    pub fn wait(self: &Arc<Self>, bytes: usize) -> MemoryWait {
        let waiter = Arc::new(Waiter { needed: bytes, state: Mutex::new(WaiterState::Waiting(None)) });
        let mut state = self.state.lock();
        if state.closed {
            *waiter.state.lock() = WaiterState::Closed;
        } else {
            state.waiters.push_back(Arc::clone(&waiter));
            self.settle(state);
        }
        MemoryWait { pool: Arc::clone(self), waiter }
    }

    /// A spare buffer, or a new one with room for `capacity` bytes.
    pub fn buffer(&self, capacity: usize) -> Vec<u8> {
        let mut state = self.state.lock();
        let spare = state.spare.pop();
        if let Some(buffer) = &spare {
            state.spare_bytes -= buffer.capacity();
        }
        drop(state);
        spare.unwrap_or_else(|| Vec::with_capacity(capacity))
    }

    /// Ends all waits with an error, and all later ones.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let waiters = std::mem::take(&mut state.waiters);
        self.waiting.store(0, Ordering::Relaxed);
        let wakers: Vec<Waker> = waiters.iter().filter_map(|w| w.resolve(WaiterState::Closed)).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn take(&self, bytes: usize) -> bool {
        let mut state = self.state.lock();
        if state.waiters.is_empty() && state.free >= as_i64(bytes) {
            state.free -= as_i64(bytes);
            return true;
        }
        false
    }

    fn give_back(&self, bytes: usize, buffer: Option<Vec<u8>>) {
        let mut state = self.state.lock();
        state.free += as_i64(bytes);
        let mut dropped = None;
        if let Some(buffer) = buffer {
            if state.spare_bytes + buffer.capacity() <= self.total / SPARE_SHARE {
                state.spare_bytes += buffer.capacity();
                state.spare.push(buffer);
            } else {
                dropped = Some(buffer);
            }
        }
        self.settle(state);
        drop(dropped);
    }

    /// Gives memory to whoever is next, and wakes them with the lock released.
    fn settle(&self, mut state: parking_lot::MutexGuard<'_, PoolState>) {
        if state.waiters.is_empty() {
            return;
        }
        let mut wakers = Vec::new();
        while let Some(front) = state.waiters.front()
            && state.free >= as_i64(front.needed)
        {
            state.free -= as_i64(front.needed);
            // Under the pool's lock, so that a future that is dropped meanwhile sees what it got and gives it back.
            wakers.extend(state.waiters.pop_front().and_then(|w| w.resolve(WaiterState::Granted)));
        }
        self.waiting.store(state.waiters.len(), Ordering::Relaxed);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl fmt::Debug for BufferPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferPool")
            .field("free", &self.free())
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}

impl Waiter {
    /// Changes the state and returns whom to wake. Lock order: the pool, then its waiters.
    fn resolve(&self, to: WaiterState) -> Option<Waker> {
        match std::mem::replace(&mut *self.state.lock(), to) {
            WaiterState::Waiting(waker) => waker,
            WaiterState::Granted | WaiterState::Closed | WaiterState::Gone => None,
        }
    }
}

fn as_i64(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Bytes of buffer.memory that belong to its owner until it is dropped.
#[derive(Debug)]
pub struct Reservation {
    pool: Arc<BufferPool>,
    bytes: usize,
}

impl Reservation {
    /// How many bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Charges more, up to `bytes` in all, if that is free and nobody waits.
    pub fn grow_to(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let grown = more == 0 || self.pool.take(more);
        if grown {
            self.bytes += more;
        }
        grown
    }

    /// Gives back what exceeds `bytes`.
    pub fn shrink_to(&mut self, bytes: usize) {
        let surplus = self.bytes.saturating_sub(bytes);
        if surplus > 0 {
            self.bytes -= surplus;
            self.pool.give_back(surplus, None);
        }
    }

    /// Gives a buffer to the pool for another batch; the memory stays charged.
    pub(crate) fn recycle(&self, buffer: Vec<u8>) {
        self.pool.give_back(0, Some(buffer));
    }

    /// Binds the memory to the bytes that it was charged for: both are given back together.
    pub fn hold(self, buffer: Vec<u8>) -> PooledBuffer {
        PooledBuffer { buffer, reservation: self }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.pool.give_back(self.bytes, None);
        }
    }
}

/// A buffer and the memory that is charged for it. As the owner of a `Bytes` it returns both to the pool when the last
/// clone is dropped: after the socket has let go (field report 21).
#[derive(Debug)]
pub struct PooledBuffer {
    buffer: Vec<u8>,
    reservation: Reservation,
}

impl AsRef<[u8]> for PooledBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.reservation.bytes);
        self.reservation.pool.give_back(bytes, Some(std::mem::take(&mut self.buffer)));
    }
}

/// The pool was closed while, or before, somebody waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the producer is closed")]
pub struct PoolClosed;

/// Waits for memory, first come, first served. Dropping it leaves the queue and gives back what it may have got.
pub struct MemoryWait {
    pool: Arc<BufferPool>,
    waiter: Arc<Waiter>,
}

impl MemoryWait {
    /// The bytes that it waits for.
    pub fn needed(&self) -> usize {
        self.waiter.needed
    }
}

impl Future for MemoryWait {
    type Output = Result<Reservation, PoolClosed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.waiter.state.lock();
        match &mut *state {
            WaiterState::Waiting(waker) => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
            WaiterState::Granted => {
                *state = WaiterState::Gone;
                Poll::Ready(Ok(Reservation { pool: Arc::clone(&self.pool), bytes: self.waiter.needed }))
            }
            WaiterState::Closed | WaiterState::Gone => Poll::Ready(Err(PoolClosed)),
        }
    }
}

impl Drop for MemoryWait {
    fn drop(&mut self) {
        if let WaiterState::Gone | WaiterState::Closed = *self.waiter.state.lock() {
            return;
        }
        let mut state = self.pool.state.lock();
        let was = std::mem::replace(&mut *self.waiter.state.lock(), WaiterState::Gone);
        match was {
            WaiterState::Waiting(_) => state.waiters.retain(|waiter| !Arc::ptr_eq(waiter, &self.waiter)),
            WaiterState::Granted => state.free += as_i64(self.waiter.needed),
            WaiterState::Closed | WaiterState::Gone => {}
        }
        self.pool.waiting.store(state.waiters.len(), Ordering::Relaxed);
        // The one behind may fit where this one did not.
        self.pool.settle(state);
    }
}

impl fmt::Debug for MemoryWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryWait").field("needed", &self.waiter.needed).finish_non_exhaustive()
    }
}
