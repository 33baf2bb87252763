//! The one place where the client reads a clock.

use std::{
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
    time::{Duration, Instant as StdInstant, SystemTime, UNIX_EPOCH},
};

use milena_core::time::Instant;

/// A monotonic clock that also knows the wall clock, so that a record's timestamp costs no second reading.
#[derive(Debug)]
pub(crate) struct Clock {
    origin: StdInstant,
    /// Wall-clock milliseconds at `origin`: corrected now and then, since wall clocks get adjusted, and since the
    /// monotonic clock stands still while the machine sleeps.
    wall_at_origin: AtomicI64,
    /// When that was, in nanoseconds since `origin`.
    synced_at: AtomicU64,
}

impl Clock {
    /// So long the wall clock is not looked at again.
    const RESYNC: Duration = Duration::from_secs(1);

    pub(crate) fn new() -> Self {
        let clock = Self {
            origin: StdInstant::now(),
            wall_at_origin: AtomicI64::new(0),
            synced_at: AtomicU64::new(0),
        };
        clock.resync();
        clock
    }

    /// The time since this clock was made.
    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Milliseconds since the Unix epoch at `now`.
    pub(crate) fn wall_millis(&self, now: Instant) -> i64 {
        if now - Instant::from_nanos(self.synced_at.load(Ordering::Relaxed)) >= Self::RESYNC {
            self.resync();
        }
        self.wall_at_origin.load(Ordering::Relaxed).saturating_add(millis(now.as_nanos()))
    }

    /// Adopts the wall clock of this moment.
    #[cold]
    fn resync(&self) {
        let now = self.now().as_nanos();
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let wall = i64::try_from(wall.as_millis()).unwrap_or(i64::MAX);
        self.wall_at_origin.store(wall - millis(now), Ordering::Relaxed);
        self.synced_at.store(now, Ordering::Relaxed);
    }

    /// When `instant` is on tokio's clock.
    pub(crate) fn to_tokio(&self, instant: Instant) -> tokio::time::Instant {
        // Far beyond any timeout, yet within what tokio's timer can hold.
        const HORIZON: Duration = Duration::from_secs(86_400 * 365);
        let since_origin = Duration::from_nanos(instant.as_nanos());
        let ahead = since_origin.saturating_sub(self.origin.elapsed()).min(HORIZON);
        tokio::time::Instant::now() + ahead
    }
}

fn millis(nanos: u64) -> i64 {
    i64::try_from(nanos / 1_000_000).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_clock_that_jumped_is_noticed_with_no_driver_awake() {
        let clock = Clock::new();
        let before = clock.wall_millis(clock.now());
        // As after an hour of sleep, of which the monotonic clock knows nothing.
        clock.wall_at_origin.fetch_sub(3_600_000, Ordering::Relaxed);
        assert!(clock.wall_millis(clock.now() + Clock::RESYNC) >= before);
    }
}
