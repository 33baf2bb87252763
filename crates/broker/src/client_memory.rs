//! [`ClientMemory`]: what clients may make a broker hold at a time, be it requests that arrive or records that they asked for.
//!
//! Whoever wants room gets all of it or waits, and holds nothing meanwhile. Whoever has room can therefore always come to an end,
//! if only its client goes on; and one whose client does not is given up when others have waited long enough.
//!
//! What is small does not wait for what is large: a part of the memory is for the small alone, or few who ask for much and then
//! stop would be in everybody's way.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep_until, timeout};

/// How long somebody waits for room before those who keep it for nothing are given up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
/// How long a client that has room may take or send nothing then: longer than a lost packet of a good network takes.
pub(crate) const STANDSTILL: Duration = Duration::from_millis(250);
/// What it has to take or send in a second on the average, once [`PATIENCE`] is over.
const LEAST_RATE: usize = 8 << 20;
/// The part of the memory that is for the small alone: one of so many.
const SMALL_PART: usize = 4;
/// What is small: one of so many of the whole memory, so that a few of them have room in their part.
const SMALL: usize = 16;

/// Room for what clients send or ask for, given out in the order in which it is asked for, the small and the large each in theirs.
#[derive(Debug)]
pub(crate) struct ClientMemory {
    /// The most that is small.
    small_limit: usize,
    small: Part,
    large: Part,
    impatient: watch::Sender<Impatient>,
}

/// How many have waited for longer than [`PATIENCE`].
#[derive(Debug, Default)]
struct Impatient {
    small: usize,
    large: usize,
}

#[derive(Debug)]
struct Part {
    bytes: usize,
    free: Arc<Semaphore>,
}

/// Room that somebody has; given back when dropped.
#[derive(Debug)]
pub(crate) struct Room {
    memory: Arc<ClientMemory>,
    bytes: usize,
    since: Instant,
    small: Option<OwnedSemaphorePermit>,
    large: Option<OwnedSemaphorePermit>,
}

impl ClientMemory {
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        let bytes = bytes.min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            small_limit: bytes / SMALL,
            small: Part::new(bytes / SMALL_PART),
            large: Part::new(bytes - bytes / SMALL_PART),
            impatient: watch::Sender::default(),
        })
    }

    /// Waits for room for so many bytes; more than the part for the large has take all of that.
    pub(crate) async fn reserve(self: &Arc<Self>, bytes: usize) -> Room {
        if let Some(room) = self.try_reserve(bytes) {
            return room;
        }
        let is_small = bytes <= self.small_limit;
        let part = if is_small { &self.small } else { &self.large };
        let mut permit = Box::pin(part.free.clone().acquire_many_owned(part.permits(bytes)));
        let permit = match timeout(PATIENCE, &mut permit).await {
            Ok(permit) => permit,
            Err(_) => {
                let _waits = WaitsTooLong::new(&self.impatient, is_small);
                permit.await
            }
        };
        // Nobody closes the semaphores.
        self.room(bytes, is_small, permit.ok())
    }

    /// Room for so many bytes, if nobody has to be waited for.
    pub(crate) fn try_reserve(self: &Arc<Self>, bytes: usize) -> Option<Room> {
        let of_small = (bytes <= self.small_limit).then(|| self.small.try_take(bytes)).flatten();
        match of_small {
            Some(permit) => Some(self.room(bytes, true, Some(permit))),
            None => self.large.try_take(bytes).map(|permit| self.room(bytes, false, Some(permit))),
        }
    }

    /// Takes at once as much of `wanted` as is free of the part for the large, or of the other one where that has more for somebody
    /// who is small.
    pub(crate) fn take_free(self: &Arc<Self>, wanted: usize) -> Room {
        let modest = wanted.min(self.small_limit);
        let is_small = self.large.free.available_permits() < modest;
        let (part, wanted) = if is_small { (&self.small, modest) } else { (&self.large, wanted) };
        loop {
            let bytes = wanted.min(part.free.available_permits());
            // Others may be quicker.
            if let Some(permit) = part.try_take(bytes) {
                return self.room(bytes, is_small, Some(permit));
            }
        }
    }

    fn room(self: &Arc<Self>, bytes: usize, is_small: bool, permit: Option<OwnedSemaphorePermit>) -> Room {
        let (small, large) = if is_small { (permit, None) } else { (None, permit) };
        Room { memory: self.clone(), bytes, since: Instant::now(), small, large }
    }
}

impl Part {
    fn new(bytes: usize) -> Self {
        let bytes = bytes.max(1);
        Self { bytes, free: Arc::new(Semaphore::new(bytes)) }
    }

    fn permits(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.min(self.bytes)).unwrap_or(u32::MAX)
    }

    fn try_take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        self.free.clone().try_acquire_many_owned(self.permits(bytes)).ok()
    }
}

impl Room {
    /// For how many bytes it is.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Gives back what is more than `bytes`.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        for permit in [&mut self.small, &mut self.large].into_iter().flatten() {
            let surplus = permit.num_permits().saturating_sub(bytes);
            drop(permit.split(surplus));
        }
        self.bytes = self.bytes.min(bytes);
    }

    /// Makes one of this one and another one of the same memory.
    pub(crate) fn merge(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.since = self.since.min(other.since);
        for (own, more) in [(&mut self.small, other.small), (&mut self.large, other.large)] {
            match (own.as_mut(), more) {
                (Some(own), Some(more)) => own.merge(more),
                (None, more) => *own = more,
                (Some(_), None) => {}
            }
        }
    }

    /// Comes when others have waited too long for this room, and its client has taken or sent nothing since `progress`, or too little
    /// in all.
    pub(crate) async fn is_overdue(&self, progress: Instant) {
        let needed = Duration::from_millis((self.bytes as u64).saturating_mul(1000) / LEAST_RATE as u64);
        sleep_until((progress + STANDSTILL).min(self.since + PATIENCE + needed)).await;
        let mut impatient = self.memory.impatient.subscribe();
        let wanted = |wait: &Impatient| {
            wait.small > 0 && is_some(self.small.as_ref()) || wait.large > 0 && is_some(self.large.as_ref())
        };
        // The sender lives as long as this.
        let _wanted = impatient.wait_for(wanted).await;
    }
}

fn is_some(permit: Option<&OwnedSemaphorePermit>) -> bool {
    permit.is_some_and(|permit| permit.num_permits() > 0)
}

/// Counted among the [`Impatient`] for as long as it lives.
struct WaitsTooLong<'a> {
    impatient: &'a watch::Sender<Impatient>,
    is_small: bool,
}

impl<'a> WaitsTooLong<'a> {
    fn new(impatient: &'a watch::Sender<Impatient>, is_small: bool) -> Self {
        let waits = Self { impatient, is_small };
        waits.count(|count| count + 1);
        waits
    }

    fn count(&self, change: impl FnOnce(usize) -> usize) {
        self.impatient.send_modify(|wait| {
            let count = if self.is_small { &mut wait.small } else { &mut wait.large };
            *count = change(*count);
        });
    }
}

impl Drop for WaitsTooLong<'_> {
    fn drop(&mut self) {
        self.count(|count| count - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,200 bytes for the large, 400 for the small, which are those of at most 100.
    fn memory() -> Arc<ClientMemory> {
        ClientMemory::new(1_600)
    }

    async fn is_overdue_within(room: &Room, time: Duration) -> bool {
        timeout(time, room.is_overdue(Instant::now())).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn room_is_given_out_in_order_and_wanted_back_only_when_somebody_has_waited() {
        let memory = memory();
        let all = memory.reserve(5_000).await;
        assert!(!is_overdue_within(&all, 10 * PATIENCE).await, "nobody waits");
        let started = Instant::now();
        let first = tokio::spawn({
            let memory = memory.clone();
            async move { memory.reserve(1_000).await }
        });
        all.is_overdue(Instant::now()).await;
        assert_eq!(started.elapsed(), PATIENCE);
        let mut second = Box::pin(memory.reserve(300));
        assert!(timeout(PATIENCE, &mut second).await.is_err());
        drop(all);
        let first = first.await.unwrap();
        assert!(timeout(2 * PATIENCE, &mut second).await.is_err(), "200 are left");
        assert!(is_overdue_within(&first, STANDSTILL).await);
        drop(first);
        assert!(!is_overdue_within(&second.await, 10 * PATIENCE).await);
    }

    #[tokio::test(start_paused = true)]
    async fn the_small_do_not_wait_for_the_large_and_have_both_parts() {
        let memory = memory();
        let mut small = Vec::new();
        for _ in 0..16 {
            small.push(memory.try_reserve(100).unwrap());
        }
        assert!(memory.try_reserve(1).is_none());
        let mut large = Box::pin(memory.reserve(1_000));
        assert!(timeout(2 * PATIENCE, &mut large).await.is_err());
        assert!(!is_overdue_within(&small[0], PATIENCE).await, "a large one could not use it");
        assert!(is_overdue_within(&small[15], PATIENCE).await);
        drop(small.pop());
        assert!(memory.try_reserve(100).is_none(), "the large one is first");
        drop(small.swap_remove(0));
        assert!(memory.try_reserve(100).is_some());
        small.truncate(3);
        assert_eq!(large.await.bytes(), 1_000);
    }

    #[tokio::test(start_paused = true)]
    async fn who_goes_on_too_slowly_is_overdue_as_well() {
        let memory = ClientMemory::new(16 * LEAST_RATE);
        let slow = memory.reserve(12 * LEAST_RATE).await;
        let waits = memory.reserve(LEAST_RATE + 1);
        let started = Instant::now();
        let goes_on =
            async { while timeout(STANDSTILL / 2, slow.is_overdue(Instant::now())).await.is_err() {} };
        tokio::select! {
            _ = waits => panic!("there is no room"),
            () = goes_on => {}
        }
        assert_eq!(started.elapsed(), PATIENCE + Duration::from_secs(12));
    }

    #[tokio::test]
    async fn what_is_free_is_shared_and_given_back() {
        let memory = memory();
        let mut first = memory.take_free(2_000);
        assert_eq!(first.bytes(), 1_200);
        first.shrink_to(1_150);
        let second = memory.take_free(2_000);
        assert_eq!(second.bytes(), 100, "there is more in the part for the small");
        first.merge(second);
        assert_eq!((first.bytes(), memory.take_free(40).bytes()), (1_250, 40));
        drop(first);
        assert_eq!(memory.take_free(2_000).bytes(), 1_200);
        // One that is larger than all there is has it for itself.
        let mut larger = memory.try_reserve(9_000).unwrap();
        assert!(memory.try_reserve(101).is_none());
        larger.shrink_to(9_000);
        assert_eq!(larger.bytes(), 9_000);
        drop(larger);
        assert!(memory.try_reserve(1_200).is_some());
    }
}
