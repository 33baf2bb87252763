//! What became of the records: counts, offsets, latencies, errors.

use std::{collections::BTreeMap, fmt::Display, time::Duration};

use hdrhistogram::Histogram;

use crate::output::{Align, count, size, table};

/// Distinct errors that are told apart; more are counted together.
const MAX_DISTINCT_ERRORS: usize = 20;
/// Latencies from 1 µs to an hour, at three digits.
const MAX_LATENCY_US: u64 = 3_600_000_000;

/// Counted while producing. An acknowledged record costs no allocation.
#[derive(Debug)]
pub(crate) struct Totals {
    acknowledged: u64,
    bytes: u64,
    failed: u64,
    partitions: BTreeMap<i32, Offsets>,
    latencies: Option<Histogram<u64>>,
    errors: Vec<Failure>,
}

/// Where the records of one partition went.
#[derive(Debug, Default, PartialEq, Eq)]
struct Offsets {
    records: u64,
    range: Option<(i64, i64)>,
}

/// Records that failed for the same reason.
#[derive(Debug)]
struct Failure {
    text: String,
    records: u64,
    first_line: u64,
}

impl Totals {
    pub(crate) fn new() -> Self {
        Self {
            acknowledged: 0,
            bytes: 0,
            failed: 0,
            partitions: BTreeMap::new(),
            latencies: Histogram::new_with_max(MAX_LATENCY_US, 3).ok(),
            errors: Vec::new(),
        }
    }

    /// A record is acknowledged. The offset is not known with acks=0.
    pub(crate) fn acknowledged(
        &mut self,
        partition: i32,
        offset: Option<i64>,
        bytes: usize,
        latency: Duration,
    ) {
        self.acknowledged += 1;
        self.bytes += bytes as u64;
        let offsets = self.partitions.entry(partition).or_default();
        offsets.records += 1;
        if let Some(offset) = offset {
            let (first, last) = offsets.range.unwrap_or((offset, offset));
            offsets.range = Some((first.min(offset), last.max(offset)));
        }
        if let Some(latencies) = &mut self.latencies {
            let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
            latencies.saturating_record(micros.max(1));
        }
    }

    /// A record failed.
    pub(crate) fn failed(&mut self, line: u64, error: impl Display) {
        self.failed += 1;
        let text = error.to_string();
        let known = self.errors.iter_mut().find(|failure| failure.text == text);
        if let Some(failure) = known {
            failure.records += 1;
        } else if self.errors.len() < MAX_DISTINCT_ERRORS {
            self.errors.push(Failure { text, records: 1, first_line: line });
        } else {
            let text = "other errors".to_owned();
            match self.errors.get_mut(MAX_DISTINCT_ERRORS) {
                Some(others) => others.records += 1,
                None => self.errors.push(Failure { text, records: 1, first_line: line }),
            }
        }
    }

    pub(crate) fn records_acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Records whose outcome is known.
    pub(crate) fn records(&self) -> u64 {
        self.acknowledged + self.failed
    }

    pub(crate) fn records_failed(&self) -> u64 {
        self.failed
    }

    /// The totals, for people: `to` says where the records went.
    pub(crate) fn report(&self, to: &str, took: Duration) -> String {
        let seconds = took.as_secs_f64().max(1e-6);
        let mut text = format!(
            "{} acknowledged, {} of keys and values, in {seconds:.2} s: {} records/s, {}/s\n",
            records(self.acknowledged),
            size(self.bytes),
            count((self.acknowledged as f64 / seconds) as u64),
            size((self.bytes as f64 / seconds) as u64),
        );
        text.push_str(&format!("to {to}\n"));
        if self.acknowledged == 0 {
            return text;
        }
        if let Some(latencies) = &self.latencies {
            let at = |quantile| Duration::from_micros(latencies.value_at_quantile(quantile));
            let (p50, p99) = (milliseconds(at(0.5)), milliseconds(at(0.99)));
            text.push_str(&format!("from send to acknowledgement: p50 {p50}, p99 {p99}\n"));
        }
        let rows = self.partitions.iter().map(|(partition, offsets)| {
            let range =
                offsets.range.map_or("not known".to_owned(), |(first, last)| format!("{first}–{last}"));
            [partition.to_string(), count(offsets.records).to_string(), range]
        });
        let columns = [("PARTITION", Align::Right), ("RECORDS", Align::Right), ("OFFSETS", Align::Left)];
        text.push('\n');
        text.push_str(&table(columns, rows));
        text
    }

    /// One line for each distinct error, most frequent first.
    pub(crate) fn failures(&self) -> Vec<String> {
        let mut failures: Vec<&Failure> = self.errors.iter().collect();
        failures.sort_by_key(|failure| std::cmp::Reverse(failure.records));
        let lines = failures.into_iter().map(|failure| {
            let Failure { text, records: number, first_line } = failure;
            format!("{} failed, the first in line {first_line}: {text}", records(*number))
        });
        lines.collect()
    }
}

/// `1 record`, `1,707 records`.
pub(crate) fn records(n: u64) -> String {
    if n == 1 { "1 record".to_owned() } else { format!("{} records", count(n)) }
}

/// Three digits: `0.412 ms`, `23.1 ms`.
fn milliseconds(duration: Duration) -> String {
    let ms = duration.as_secs_f64() * 1000.0;
    let digits = if ms < 1.0 { 3 } else { 1 };
    format!("{ms:.digits$} ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report() {
        let mut totals = Totals::new();
        for offset in 0..1500 {
            totals.acknowledged(0, Some(offset + 7), 100, Duration::from_millis(2));
        }
        totals.acknowledged(11, Some(3), 50, Duration::from_millis(40));
        let report = totals.report("topic t on a:1", Duration::from_secs(2));
        assert_eq!(
            report,
            "1,501 records acknowledged, 150.05 kB of keys and values, in 2.00 s: 750 records/s, 75.03 kB/s\n\
             to topic t on a:1\n\
             from send to acknowledgement: p50 2.0 ms, p99 2.0 ms\n\
             \n\
             PARTITION  RECORDS  OFFSETS\n        0    1,500  7–1506\n       11        1  3–3\n"
        );
    }

    #[test]
    fn without_offsets_and_without_records() {
        let mut totals = Totals::new();
        assert_eq!(totals.report("x", Duration::ZERO).lines().count(), 2);
        totals.acknowledged(0, None, 1, Duration::ZERO);
        assert!(totals.report("x", Duration::ZERO).contains("1 record acknowledged"));
        assert!(totals.report("x", Duration::ZERO).ends_with("        0        1  not known\n"));
    }

    #[test]
    fn each_distinct_error_is_one_line() {
        let mut totals = Totals::new();
        totals.failed(3, "too large");
        for line in 4..1_300 {
            totals.failed(line, "timed out");
        }
        assert_eq!(totals.records_failed(), 1_297);
        assert_eq!(
            totals.failures(),
            [
                "1,296 records failed, the first in line 4: timed out",
                "1 record failed, the first in line 3: too large"
            ]
        );
    }

    #[test]
    fn distinct_errors_are_bounded() {
        let mut totals = Totals::new();
        for line in 0..100 {
            totals.failed(line, line);
        }
        let failures = totals.failures();
        assert_eq!(failures.len(), MAX_DISTINCT_ERRORS + 1);
        assert_eq!(failures[0], "80 records failed, the first in line 20: other errors");
    }
}
