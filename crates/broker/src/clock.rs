//! [`Clock`]: the wall clock of one broker.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::simulation;

/// Tells the time of day. Timeouts do not come from here but from tokio, whose clock tests can stop.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Clock;

impl Clock {
    /// Milliseconds since the epoch.
    pub(crate) fn now_ms(self) -> i64 {
        if let Some((world, broker)) = simulation::world() {
            return world.wall_clock_ms(broker);
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }
}
