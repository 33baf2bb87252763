//! `--rate`: when the next record is due.

use std::time::{Duration, Instant};

/// How far behind its schedule a sender may catch up. What is later than that is not made up for, so that a stall does
/// not end in a burst.
const CATCH_UP: Duration = Duration::from_secs(1);

/// A schedule of evenly spaced records.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Records a second.
    rate: f64,
    start: Instant,
    /// Records since `start`.
    sent: u64,
}

impl Pace {
    pub(crate) fn new(rate: f64, now: Instant) -> Self {
        Self { rate, start: now, sent: 0 }
    }

    /// When the next record may go.
    pub(crate) fn due(&self) -> Instant {
        self.start + Duration::from_secs_f64(self.sent as f64 / self.rate)
    }

    /// Takes note of a record.
    pub(crate) fn sent(&mut self, now: Instant) {
        if now.saturating_duration_since(self.due()) > CATCH_UP {
            self.start = now;
            self.sent = 0;
        }
        self.sent += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_evenly_spaced() {
        let start = Instant::now();
        let mut pace = Pace::new(4.0, start);
        for i in 0..9 {
            assert_eq!(pace.due(), start + Duration::from_millis(250) * i);
            pace.sent(pace.due());
        }
    }

    #[test]
    fn a_short_delay_is_made_up_for_and_a_stall_is_not() {
        let start = Instant::now();
        let mut pace = Pace::new(10.0, start);
        pace.sent(start + Duration::from_millis(900));
        assert_eq!(pace.due(), start + Duration::from_millis(100));
        let late = start + Duration::from_secs(60);
        pace.sent(late);
        assert_eq!(pace.due(), late + Duration::from_millis(100));
    }
}
