//! What a produce program printed, ours or a peer's: they agree in the names of their figures and not in all else.

use anyhow::{Context as _, Result};
use serde_json::Value;

/// The figures of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Records that were acknowledged.
    pub ok: u64,
    /// Records that failed.
    pub err: u64,
    /// Seconds from the first send to the last outcome.
    pub wall_s: f64,
    /// Microseconds of CPU per acknowledged record.
    pub cpu_us_per_rec: f64,
    /// Milliseconds from send to acknowledgement, of partitions that are not sick: the median.
    pub p50_ms: f64,
    /// The 99.9th percentile.
    pub p999_ms: f64,
    /// The longest.
    pub max_ms: f64,
    /// The longest on a sick partition.
    pub sick_max_ms: Option<f64>,
}

impl Report {
    /// Reads what a program printed that was to send `records`.
    ///
    /// # Errors
    /// When there are no figures in it.
    pub fn read(said: &str, records: u64) -> Result<Self> {
        let mut report = Self::default();
        let mut found = false;
        for line in said.lines() {
            if let Some(sick) = line.strip_prefix("sick: ") {
                report.sick_max_ms = Some(named(sick, "max")?);
            } else if line.starts_with('{') {
                let figures: Value = serde_json::from_str(line).with_context(|| format!("reading {line}"))?;
                let number = |key: &str| figures.get(key).and_then(Value::as_f64);
                if figures["client"].as_str().is_some_and(|client| client.ends_with("-sick-partitions")) {
                    report.sick_max_ms = number("max_ms").filter(|max| *max > 0.0);
                    continue;
                }
                let need = |key: &str| number(key).with_context(|| format!("no {key} in {line}"));
                report.err = need("err")? as u64;
                // Java counts only those on healthy partitions.
                report.ok = number("ok").map_or(records.saturating_sub(report.err), |ok| ok as u64);
                report.wall_s = need("wall_s")?;
                report.cpu_us_per_rec = need("cpu_us_per_rec")?;
                report.p50_ms = need("p50_ms")?;
                report.p999_ms = need("p999_ms")?;
                report.max_ms = need("max_ms")?;
                found = true;
            }
        }
        anyhow::ensure!(found, "no line of figures in: {said}");
        Ok(report)
    }
}

/// The number in `… name=number …`.
fn named(line: &str, name: &str) -> Result<f64> {
    let mut words = line.split(' ').filter_map(|word| word.split_once('='));
    let (_, number) =
        words.find(|(found, _)| *found == name).with_context(|| format!("no {name} in `{line}`"))?;
    number.parse().with_context(|| format!("`{number}` is no number"))
}

/// What a program with two loops printed: acknowledgements in each second, of healthy and of sick partitions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TwoLoops {
    /// Of healthy partitions.
    pub healthy: Vec<u64>,
    /// Of sick ones.
    pub sick: Vec<u64>,
}

impl TwoLoops {
    /// Reads `… healthy/s: 1 2 3 | sick/s: 1 2 3 …`.
    ///
    /// # Errors
    /// When there is no such line.
    pub fn read(said: &str) -> Result<Self> {
        let line = said.lines().find(|line| line.contains("healthy/s:") && line.contains("sick/s:"));
        let line = line.with_context(|| format!("no line of two loops in: {said}"))?;
        let (healthy, sick) = line.split_once('|').context("one loop only")?;
        let numbers = |text: &str| -> Vec<u64> {
            let text = text.split_once("/s:").map_or("", |(_, numbers)| numbers);
            let text = text.split("err").next().unwrap_or("");
            let words = text.split(|c: char| !c.is_ascii_digit());
            words.filter_map(|word| word.parse().ok()).collect()
        };
        Ok(Self { healthy: numbers(healthy), sick: numbers(sick) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clients_lines_are_read() -> Result<()> {
        let milena = "sick: n=4 p50=1.00 p99=2.00 max=9612.34 ms\n{\"client\":\"milena\",\"records\":12,\
                      \"size\":100,\"ok\":11,\"err\":1,\"wall_s\":1.5,\"rec_per_s\":8,\"cpu_s\":0.1,\"cpu_us_per_rec\":40.5,\
                      \"p50_ms\":1.0,\"p99_ms\":2.0,\"p999_ms\":3.0,\"max_ms\":4.0,\"rss_mb\":20}";
        let report = Report::read(milena, 12)?;
        assert_eq!((report.ok, report.err, report.sick_max_ms), (11, 1, Some(9612.34)));
        let java = "{\"client\":\"java-sick-partitions\",\"n\":4,\"p50_ms\":1.00,\"p99_ms\":2.00,\"p999_ms\":2.00,\"max_ms\":30000.00}\n\
                    {\"client\":\"java\",\"n\":8,\"p50_ms\":1.00,\"p99_ms\":2.00,\"p999_ms\":2.00,\"max_ms\":2.00,\"err\":0,\
                    \"wall_s\":38.0,\"rec_per_s\":8,\"cpu_us_per_rec\":114.0}";
        let report = Report::read(java, 12)?;
        assert_eq!((report.ok, report.err, report.sick_max_ms), (12, 0, Some(30_000.0)));
        assert!(Report::read("nothing", 1).is_err());
        Ok(())
    }

    #[test]
    fn both_loops_are_read() -> Result<()> {
        for line in [
            "java healthy/s: 4 5 6 | sick/s: 1 0 2  err 17",
            "franz-go healthy/s: [4 5 6] | sick/s: [1 0 2]",
            "librdkafka healthy/s: 4 5 6 | sick/s: 1 0 2",
        ] {
            let loops = TwoLoops::read(line)?;
            assert_eq!((loops.healthy, loops.sick), (vec![4, 5, 6], vec![1, 0, 2]), "{line}");
        }
        Ok(())
    }
}
