//! buffer.memory: how much all batches together may hold, and the buffers that go from batch to batch.
//!
//! Kafka's source: `BufferPool`. Memory is charged per batch and given back when the last user of the batch's bytes,
//! the socket included, has let go (client.md 28 and 29). What waits for memory is bounded by its callers: each waiter
//! is one call of `send`.

use std::{
    collections::{BTreeMap, VecDeque},
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

/// How much larger than what a batch is charged its buffer may be: a few bytes that appending wants at the end.
const SPARE_SURPLUS: usize = 64;

/// The most spare buffers, since a batch that begins looks through them: as many as there can be of the usual 16 KiB in the usual
/// 32 MiB. There could be a hundred thousand that hold some compressed records.
const SPARES_MAX: usize = 512;

/// Accounts for buffer.memory and keeps spare buffers.
///
/// Each partition's queue has an account. The accounts whose broker does not answer may together hold a share of the
/// memory only, so that those of the other brokers always find some (client.md 37).
pub struct BufferPool {
    total: usize,
    /// What the held-up accounts may hold together.
    share: usize,
    /// How many waiters there are; read by the Sender at each turn, hence outside of the lock.
    waiting: AtomicUsize,
    state: Mutex<PoolState>,
}

struct PoolState {
    /// Bytes that nothing is charged for. Below zero after [`BufferPool::force`].
    free: i64,
    /// First come, first served: memory goes to the front one or to nobody.
    waiters: VecDeque<Arc<Waiter>>,
    /// Those of held-up accounts, while the share is used up: they keep nobody else waiting.
    parked: VecDeque<Arc<Waiter>>,
    /// By the queue's id.
    accounts: Vec<Account>,
    /// What the held-up accounts hold.
    held_up_bytes: usize,
    /// The oldest first.
    spare: VecDeque<Vec<u8>>,
    /// The capacities of `spare` together.
    spare_bytes: usize,
    closed: bool,
}

#[derive(Clone, Default)]
struct Account {
    bytes: usize,
    /// What holds its records up, in words; none while nothing does.
    held_up_by: Option<Arc<str>>,
}

struct Waiter {
    needed: usize,
    account: usize,
    /// Whether its record may go to another partition.
    movable: bool,
    state: Mutex<WaiterState>,
}

enum WaiterState {
    Waiting(Option<Waker>),
    /// The bytes are charged and belong to the waiter.
    Granted,
    /// Its account is held up now, and its record may go elsewhere.
    Again,
    Closed,
    /// Taken by its future, or the future was dropped.
    Gone,
}

impl BufferPool {
    /// A pool of `total` bytes, of which held-up accounts together get at most `share`.
    pub fn new(total: usize, share: usize) -> Self {
        let state = PoolState {
            free: i64::try_from(total).unwrap_or(i64::MAX),
            waiters: VecDeque::new(),
            parked: VecDeque::new(),
            accounts: Vec::new(),
            held_up_bytes: 0,
            spare: VecDeque::new(),
            spare_bytes: 0,
            closed: false,
        };
        Self { total, share, waiting: AtomicUsize::new(0), state: Mutex::new(state) }
    }

    /// What accounts that are held up may hold together, in bytes.
    pub fn share(&self) -> usize {
        self.share
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

    /// Charges `bytes` to an account, if they are free, nobody waits, and the account is not held up with its share used up.
    pub fn try_reserve(self: &Arc<Self>, bytes: usize, account: usize) -> Option<Reservation> {
        self.take(bytes, account).then(|| Reservation { pool: Arc::clone(self), bytes, account })
    }

    /// Charges `bytes` whether they are free or not: for records that are inside already and change their form, when a
    /// batch is split or sealed anew.
    pub(crate) fn force(self: &Arc<Self>, bytes: usize, account: usize) -> Reservation {
        self.state.lock().charge(bytes, account);
        Reservation { pool: Arc::clone(self), bytes, account }
    }

    /// Waits for `bytes`, which must not exceed [`total`](Self::total), behind everybody who waits already; for a held-up
    /// account behind those of held-up accounts alone. When the account becomes held up meanwhile and the record is
    /// `movable`, the wait ends with nothing: another partition may have room.
    pub fn wait(self: &Arc<Self>, bytes: usize, account: usize, movable: bool) -> MemoryWait {
        let waiting = Mutex::new(WaiterState::Waiting(None));
        let waiter = Arc::new(Waiter { needed: bytes, account, movable, state: waiting });
        let mut state = self.state.lock();
        if state.closed {
            *waiter.state.lock() = WaiterState::Closed;
        } else if !state.may_hold(bytes, account, self.share) {
            state.parked.push_back(Arc::clone(&waiter));
        } else {
            state.waiters.push_back(Arc::clone(&waiter));
            self.settle(state);
        }
        MemoryWait { pool: Arc::clone(self), waiter }
    }

    /// Says which accounts are held up now, and by what. All others are not.
    pub(crate) fn set_held_up(&self, held_up: &BTreeMap<usize, Arc<str>>) {
        let mut state = self.state.lock();
        for account in held_up.keys() {
            state.account(*account);
        }
        let mut held_up_bytes = 0;
        for (id, account) in state.accounts.iter_mut().enumerate() {
            account.held_up_by = held_up.get(&id).map(Arc::clone);
            if account.held_up_by.is_some() {
                held_up_bytes += account.bytes;
            }
        }
        state.held_up_bytes = held_up_bytes;
        self.settle(state);
    }

    /// What holds an account up.
    pub(crate) fn held_up_by(&self, account: usize) -> Option<Arc<str>> {
        self.state.lock().accounts.get(account)?.held_up_by.clone()
    }

    /// A spare buffer for a batch that is charged `bytes`, or an empty one. Never one that is much larger: what a batch is
    /// charged must be what it holds.
    pub fn buffer(&self, bytes: usize) -> Vec<u8> {
        let mut state = self.state.lock();
        let fits = |spare: &Vec<u8>| (bytes..=bytes + SPARE_SURPLUS).contains(&spare.capacity());
        let place = state.spare.iter().rposition(fits);
        let spare = place.and_then(|place| state.spare.remove(place)).unwrap_or_default();
        state.spare_bytes -= spare.capacity();
        spare
    }

    /// Ends all waits with an error, and all later ones.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let (waiters, parked) = (std::mem::take(&mut state.waiters), std::mem::take(&mut state.parked));
        self.waiting.store(0, Ordering::Relaxed);
        let all = waiters.iter().chain(&parked);
        let wakers: Vec<Waker> = all.filter_map(|waiter| waiter.resolve(WaiterState::Closed)).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn take(&self, bytes: usize, account: usize) -> bool {
        let mut state = self.state.lock();
        let nobody_before =
            state.waiters.is_empty() && (state.parked.is_empty() || !state.is_held_up(account));
        let taken =
            nobody_before && state.free >= as_i64(bytes) && state.may_hold(bytes, account, self.share);
        if taken {
            state.charge(bytes, account);
        }
        taken
    }

    fn give_back(&self, bytes: usize, account: usize, buffer: Option<Vec<u8>>) {
        let mut state = self.state.lock();
        state.discharge(bytes, account);
        let mut surplus = Vec::new();
        if let Some(buffer) = buffer {
            state.spare_bytes += buffer.capacity();
            state.spare.push_back(buffer);
            while state.spare_bytes > self.total / SPARE_SHARE || state.spare.len() > SPARES_MAX {
                // The sizes that nobody wants any more go first.
                let Some(oldest) = state.spare.pop_front() else { break };
                state.spare_bytes -= oldest.capacity();
                surplus.push(oldest);
            }
        }
        self.settle(state);
        drop(surplus);
    }

    /// Gives memory to whoever is next, and wakes them with the lock released.
    fn settle(&self, mut state: parking_lot::MutexGuard<'_, PoolState>) {
        if state.waiters.is_empty() && state.parked.is_empty() {
            return;
        }
        let mut wakers = Vec::new();
        state.unpark_freed();
        // What was given back may be enough for more than one of those who are parked.
        while let Some(front) = state.next_waiter(self.share) {
            let (needed, account) = (front.needed, front.account);
            if !state.may_hold(needed, account, self.share) {
                let Some(front) = state.waiters.pop_front() else { break };
                if front.movable {
                    wakers.extend(front.resolve(WaiterState::Again));
                } else {
                    state.parked.push_back(front);
                }
                continue;
            }
            if state.free < as_i64(needed) {
                break;
            }
            state.charge(needed, account);
            // Under the pool's lock, so that a future that is dropped meanwhile sees what it got and gives it back.
            wakers.extend(state.waiters.pop_front().and_then(|w| w.resolve(WaiterState::Granted)));
        }
        self.waiting.store(state.waiters.len(), Ordering::Relaxed);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl PoolState {
    fn account(&mut self, id: usize) -> &mut Account {
        if self.accounts.len() <= id {
            self.accounts.resize_with(id + 1, Account::default);
        }
        &mut self.accounts[id]
    }

    fn is_held_up(&self, account: usize) -> bool {
        self.accounts.get(account).is_some_and(|account| account.held_up_by.is_some())
    }

    /// Whether the share leaves room. One record always has some, however large it is.
    fn may_hold(&self, bytes: usize, account: usize, share: usize) -> bool {
        !self.is_held_up(account) || self.held_up_bytes == 0 || self.held_up_bytes + bytes <= share
    }

    fn charge(&mut self, bytes: usize, account: usize) {
        self.free -= as_i64(bytes);
        self.account(account).bytes += bytes;
        if self.is_held_up(account) {
            self.held_up_bytes += bytes;
        }
    }

    fn discharge(&mut self, bytes: usize, account: usize) {
        self.free += as_i64(bytes);
        let held = &mut self.account(account).bytes;
        *held = held.saturating_sub(bytes);
        if self.is_held_up(account) {
            self.held_up_bytes = self.held_up_bytes.saturating_sub(bytes);
        }
    }

    /// Lets those wait for memory as all do whose accounts are held up no more.
    fn unpark_freed(&mut self) {
        if self.parked.iter().all(|waiter| self.is_held_up(waiter.account)) {
            return;
        }
        // It happens when brokers come back, and not for each record.
        let parked = std::mem::take(&mut self.parked);
        let (held_up, free): (VecDeque<_>, VecDeque<_>) =
            parked.into_iter().partition(|waiter| self.is_held_up(waiter.account));
        self.parked = held_up;
        self.waiters.extend(free);
    }

    /// Who gets memory next. When nobody else waits, that is the first of those who are parked, if there is some for it.
    fn next_waiter(&mut self, share: usize) -> Option<&Waiter> {
        if self.waiters.is_empty()
            && let Some(first) = self.parked.pop_front_if(|first| {
                let may_hold = self.held_up_bytes == 0 || self.held_up_bytes + first.needed <= share;
                may_hold && self.free >= as_i64(first.needed)
            })
        {
            self.waiters.push_back(first);
        }
        self.waiters.front().map(|first| &**first)
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
            WaiterState::Granted | WaiterState::Again | WaiterState::Closed | WaiterState::Gone => None,
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
    /// The queue that it is charged to.
    account: usize,
}

impl Reservation {
    /// How many bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whom it is charged to.
    pub(crate) fn account(&self) -> usize {
        self.account
    }

    /// Charges it to another account, whatever that holds already: the records are inside.
    pub(crate) fn move_to(&mut self, account: usize) {
        let mut state = self.pool.state.lock();
        state.discharge(self.bytes, self.account);
        state.charge(self.bytes, account);
        self.account = account;
        self.pool.settle(state);
    }

    /// Charges more, up to `bytes` in all, if that is free and nobody waits.
    pub fn grow_to(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let grown = more == 0 || self.pool.take(more, self.account);
        if grown {
            self.bytes += more;
        }
        grown
    }

    /// As [`grow_to`](Self::grow_to), for what may be needed: nothing for an account that is held up.
    pub(crate) fn grow_ahead_to(&mut self, bytes: usize) {
        if bytes > self.bytes && self.pool.held_up_by(self.account).is_none() {
            self.grow_to(bytes);
        }
    }

    /// Gives back what exceeds `bytes`.
    pub fn shrink_to(&mut self, bytes: usize) {
        let surplus = self.bytes.saturating_sub(bytes);
        if surplus > 0 {
            self.bytes -= surplus;
            self.pool.give_back(surplus, self.account, None);
        }
    }

    /// Gives a buffer to the pool for another batch; the memory stays charged.
    pub(crate) fn recycle(&self, buffer: Vec<u8>) {
        self.pool.give_back(0, self.account, Some(buffer));
    }

    /// Binds the memory to the bytes that it was charged for: both are given back together.
    pub fn hold(self, buffer: Vec<u8>) -> PooledBuffer {
        PooledBuffer { buffer, reservation: self }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.pool.give_back(self.bytes, self.account, None);
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
        let account = self.reservation.account;
        self.reservation.pool.give_back(bytes, account, Some(std::mem::take(&mut self.buffer)));
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

    /// What holds the records of its partition up, when it waits for their share of the memory.
    pub fn held_up_by(&self) -> Option<Arc<str>> {
        self.pool.held_up_by(self.waiter.account)
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
                let Waiter { needed, account, .. } = *self.waiter;
                Poll::Ready(Ok(Reservation { pool: Arc::clone(&self.pool), bytes: needed, account }))
            }
            WaiterState::Again => {
                *state = WaiterState::Gone;
                let (pool, account) = (Arc::clone(&self.pool), self.waiter.account);
                Poll::Ready(Ok(Reservation { pool, bytes: 0, account }))
            }
            WaiterState::Closed | WaiterState::Gone => Poll::Ready(Err(PoolClosed)),
        }
    }
}

impl Drop for MemoryWait {
    fn drop(&mut self) {
        if let WaiterState::Gone | WaiterState::Again | WaiterState::Closed = *self.waiter.state.lock() {
            return;
        }
        let mut state = self.pool.state.lock();
        let was = std::mem::replace(&mut *self.waiter.state.lock(), WaiterState::Gone);
        match was {
            WaiterState::Waiting(_) => {
                state.waiters.retain(|waiter| !Arc::ptr_eq(waiter, &self.waiter));
                state.parked.retain(|waiter| !Arc::ptr_eq(waiter, &self.waiter));
            }
            WaiterState::Granted => state.discharge(self.waiter.needed, self.waiter.account),
            WaiterState::Again | WaiterState::Closed | WaiterState::Gone => {}
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Where partition 0 is led by a broker that does not answer, and may hold 400 of 1,000 bytes.
    fn held_up() -> Arc<BufferPool> {
        let pool = Arc::new(BufferPool::new(1_000, 400));
        pool.set_held_up(&[(0, "broker 1 does not answer".into())].into());
        pool
    }

    fn poll(wait: &mut MemoryWait) -> Poll<Result<Reservation, PoolClosed>> {
        Pin::new(wait).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn accumulator_28_memory_that_comes_back_at_once_goes_to_all_who_are_parked_for_it() {
        let pool = held_up();
        let large = pool.try_reserve(400, 0).expect("the share");
        let mut waits: Vec<_> = (0..5).map(|_| pool.wait(100, 0, false)).collect();
        assert!(waits.iter_mut().all(|wait| poll(wait).is_pending()), "the share is used up");
        drop(large);
        let got: Vec<_> = waits.iter_mut().map(poll).collect();
        assert!(got[..4].iter().all(|wait| matches!(wait, Poll::Ready(Ok(memory)) if memory.bytes() == 100)));
        assert!(got[4].is_pending(), "no more than the share");
        drop(got);
        assert!(matches!(poll(&mut waits[4]), Poll::Ready(Ok(_))));
        assert_eq!(pool.free(), pool.total());
    }

    #[test]
    fn spare_buffers_are_few_however_small_they_are() {
        let pool = Arc::new(BufferPool::new(32 << 20, 0));
        for _ in 0..10_000 {
            let memory = pool.try_reserve(100, 0).expect("free");
            drop(memory.hold(Vec::with_capacity(100)));
        }
        assert_eq!(pool.state.lock().spare.len(), SPARES_MAX);
        assert_eq!(pool.state.lock().spare_bytes, SPARES_MAX * 100);
    }
}
