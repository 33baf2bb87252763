//! When a broker's silence is suspicious: its own history says, and a floor.
//!
//! Kafka's clients have nothing of the kind: they learn of a silent broker by request.timeout.ms. The estimate is TCP's
//! for its retransmissions (RFC 6298).

use std::time::Duration;

/// An answer that took longer than so many times the bound counts as that: one outage must not make the next one
/// unremarkable, but a broker that has become slow is known as slow after some answers.
const SAMPLE_LIMIT: u32 = 2;

/// How long a broker's answers take.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ResponseTimes {
    /// None before the first answer.
    estimate: Option<Estimate>,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// Both smoothed.
    mean: Duration,
    deviation: Duration,
}

impl ResponseTimes {
    /// Takes note of an answer.
    pub(super) fn note(&mut self, took: Duration, floor: Duration) {
        let took = took.min(self.bound(floor) * SAMPLE_LIMIT);
        let Some(Estimate { mean, deviation }) = &mut self.estimate else {
            self.estimate = Some(Estimate { mean: took, deviation: took / 2 });
            return;
        };
        *deviation = (*deviation * 3 + mean.abs_diff(took)) / 4;
        *mean = (*mean * 7 + took) / 8;
    }

    /// From how long a silence on it is suspected.
    pub(super) fn bound(&self, floor: Duration) -> Duration {
        self.estimate.map_or(floor, |Estimate { mean, deviation }| floor.max(mean + deviation * 4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOR: Duration = Duration::from_millis(500);

    fn after(answers: impl IntoIterator<Item = u64>) -> Duration {
        let mut times = ResponseTimes::default();
        answers.into_iter().for_each(|millis| times.note(Duration::from_millis(millis), FLOOR));
        times.bound(FLOOR)
    }

    #[test]
    fn a_quick_broker_has_the_floor() {
        assert_eq!(after([]), FLOOR);
        assert_eq!(after([2, 3, 2, 40, 2]), FLOOR);
    }

    #[test]
    fn a_slow_broker_has_its_own_bound() {
        let steady = after([700; 50]);
        assert!(steady > Duration::from_millis(700) && steady < Duration::from_millis(720), "{steady:?}");
        let unsteady = after([100, 900].repeat(50));
        assert!(unsteady > Duration::from_millis(1_500), "{unsteady:?}");
    }

    #[test]
    fn one_outage_does_not_hide_the_next() {
        let outage = after([2; 50].into_iter().chain([60_000]));
        assert!(outage < Duration::from_millis(1_500), "{outage:?}");
    }
}
