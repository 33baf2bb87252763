//! Exponential backoff with jitter (KIP-580): one rule for retries, reconnects, connection set-up and metadata.

use std::time::Duration;

use rand::{Rng, RngExt};

/// `initial × 2^attempts`, at most `max`, ± `jitter` of it, as Kafka's `ExponentialBackoff`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialBackoff {
    initial: Duration,
    max: Duration,
    jitter: f64,
}

impl ExponentialBackoff {
    /// Kafka's jitter: 20 % either way.
    pub const JITTER: f64 = 0.2;

    /// A backoff that starts at `initial`, doubles, and stays at `max` (never below `initial`).
    pub fn new(initial: Duration, max: Duration) -> Self {
        Self { initial, max: max.max(initial), jitter: Self::JITTER }
    }

    /// The wait after `attempts` failures in a row (0: the first).
    ///
    /// Without room between `initial` and `max` there is no jitter, as in Kafka.
    pub fn after(&self, attempts: u32, rng: &mut impl Rng) -> Duration {
        if self.initial == self.max {
            return self.initial;
        }
        let factor = 2f64.powi(i32::try_from(attempts.min(62)).unwrap_or(62));
        let term = (self.initial.as_secs_f64() * factor).min(self.max.as_secs_f64());
        let spread = 1.0 + self.jitter * (rng.random::<f64>() * 2.0 - 1.0);
        Duration::from_secs_f64(term * spread)
    }
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::SmallRng};

    use super::*;

    #[test]
    fn doubles_up_to_the_maximum_within_the_jitter() {
        let mut rng = SmallRng::seed_from_u64(1);
        let backoff = ExponentialBackoff::new(Duration::from_millis(100), Duration::from_secs(1));
        for (attempts, expected) in
            [(0, 100), (1, 200), (2, 400), (3, 800), (4, 1000), (60, 1000), (u32::MAX, 1000)]
        {
            let wait = backoff.after(attempts, &mut rng).as_secs_f64() * 1e3;
            assert!((wait / f64::from(expected) - 1.0).abs() <= 0.2, "{attempts}: {wait} ms");
        }
    }

    #[test]
    fn a_fixed_backoff_has_no_jitter() {
        let mut rng = SmallRng::seed_from_u64(1);
        let backoff = ExponentialBackoff::new(Duration::from_millis(50), Duration::from_millis(50));
        assert_eq!(backoff.after(7, &mut rng), Duration::from_millis(50));
    }
}
