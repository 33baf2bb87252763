//! What became of each record, one by one: Milena's program writes it down, for those who know what happened meanwhile.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// An acknowledged record. Times are those of [`monotonic`](crate::monotonic).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fate {
    /// When it was handed to the client.
    pub sent: Duration,
    /// When its acknowledgement was seen.
    pub acknowledged: Duration,
    /// The partition that has it.
    pub partition: usize,
    /// How often the client sent it to a broker.
    pub attempts: u32,
}

/// What records waited, in milliseconds; NaN when there are none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waits {
    /// How many.
    pub count: usize,
    /// The median.
    pub p50: f64,
    /// The 99.9th percentile.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}

/// Acknowledgements per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// All of them over the time.
    pub mean: f64,
    /// In the worst of the whole seconds.
    pub least: u64,
}

impl Fate {
    /// From its sending to its acknowledgement.
    #[must_use]
    pub fn wait(&self) -> Duration {
        self.acknowledged.saturating_sub(self.sent)
    }

    /// Writes them to a file, a line for each.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn write_all(fates: &[Self], path: &Path) -> Result<()> {
        let mut text = String::new();
        for Self { sent, acknowledged, partition, attempts } in fates {
            _ = writeln!(text, "{} {} {partition} {attempts}", sent.as_nanos(), acknowledged.as_nanos());
        }
        std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
    }

    /// Reads what [`write_all`](Self::write_all) has written.
    ///
    /// # Errors
    /// When it is something else.
    pub fn read_all(path: &Path) -> Result<Vec<Self>> {
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        text.lines().map(|line| Self::read(line).with_context(|| format!("`{line}` is no fate"))).collect()
    }

    fn read(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let mut nanos = || Some(Duration::from_nanos(words.next()?.parse().ok()?));
        let (sent, acknowledged) = (nanos()?, nanos()?);
        let (partition, attempts) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Self { sent, acknowledged, partition, attempts })
    }
}

impl Waits {
    /// Of these records.
    #[must_use]
    pub fn of<'a>(fates: impl Iterator<Item = &'a Fate>) -> Self {
        let mut waits: Vec<Duration> = fates.map(Fate::wait).collect();
        waits.sort_unstable();
        let at = |quantile: f64| {
            let rank = (quantile * waits.len() as f64).ceil() as usize;
            waits.get(rank.saturating_sub(1)).map_or(f64::NAN, |wait| wait.as_secs_f64() * 1e3)
        };
        Self { count: waits.len(), p50: at(0.5), p999: at(0.999), max: at(1.0) }
    }
}

impl Pace {
    /// `mean / least`.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{:.0} / {}", self.mean, self.least)
    }

    /// Of these records' acknowledgements, all between `from` and `to`.
    #[must_use]
    pub fn of<'a>(fates: impl Iterator<Item = &'a Fate>, from: Duration, to: Duration) -> Self {
        let time = to.saturating_sub(from);
        let mut seconds = vec![0_u64; usize::try_from(time.as_secs()).unwrap_or(0)];
        let mut count = 0;
        for fate in fates {
            count += 1;
            let second = fate.acknowledged.saturating_sub(from).as_secs();
            if let Some(second) = usize::try_from(second).ok().and_then(|second| seconds.get_mut(second)) {
                *second += 1;
            }
        }
        Self { mean: f64::from(count) / time.as_secs_f64(), least: seconds.into_iter().min().unwrap_or(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fate(sent: u64, acknowledged: u64) -> Fate {
        let [sent, acknowledged] = [sent, acknowledged].map(Duration::from_millis);
        Fate { sent, acknowledged, partition: 4, attempts: 2 }
    }

    #[test]
    fn what_is_written_is_read() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("fates");
        let fates = [fate(1, 2), fate(5_000_000_000, 5_000_000_001)];
        Fate::write_all(&fates, &path)?;
        assert_eq!(Fate::read_all(&path)?, fates);
        std::fs::write(&path, "1 2 3")?;
        assert!(Fate::read_all(&path).is_err());
        Ok(())
    }

    #[test]
    fn the_slowest_of_a_thousand_is_not_in_the_quantile_but_the_second_is() {
        let fates: Vec<Fate> = (1..=2_000).map(|wait| fate(10, 10 + wait)).collect();
        let waits = Waits::of(fates.iter());
        assert_eq!(waits, Waits { count: 2_000, p50: 1_000.0, p999: 1_998.0, max: 2_000.0 });
        assert!(Waits::of([].iter()).max.is_nan());
    }

    #[test]
    fn a_second_without_acknowledgements_is_seen_and_one_cut_short_is_not_counted() {
        let at = |millis: u64| fate(0, millis);
        let fates = [at(1_000), at(1_500), at(2_100), at(4_000), at(4_999), at(5_100)];
        let [from, to] = [1_000, 5_250].map(Duration::from_millis);
        assert_eq!(Pace::of(fates.iter(), from, to).least, 0);
        assert_eq!(Pace::of(fates[..3].iter(), from, from + Duration::from_millis(2_500)).least, 1);
        let mean = Pace::of(fates.iter(), from, from + Duration::from_secs(6)).mean;
        assert!((mean - 1.0).abs() < 1e-9, "{mean}");
    }
}
