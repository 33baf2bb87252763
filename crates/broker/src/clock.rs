//! [`Clock`]: the wall clock of one broker.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::simulation;

/// Nobody waits for longer. What is said to take longer takes so long, because timers have an end.
pub(crate) const FOR_EVER: Duration = Duration::from_hours(24 * 365);

/// Tells the time of day. Timeouts do not come from here but from tokio, whose clock tests can stop. Clones go wrong
/// together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    /// In milliseconds.
    skew: Arc<AtomicI64>,
}

impl Clock {
    /// Milliseconds since the epoch.
    pub(crate) fn now_ms(&self) -> i64 {
        if let Some((world, broker)) = simulation::world() {
            return world.wall_clock_ms(broker);
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_ms = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        // Before the epoch there are no records.
        now_ms.saturating_add(self.skew.load(Ordering::Relaxed)).max(0)
    }

    /// Goes wrong by so many milliseconds.
    pub(crate) fn set_skew(&self, ms: i64) {
        self.skew.store(ms, Ordering::Relaxed);
    }
}
