//! Everything is read back: what was acknowledged must be there, once, and in order.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::{Context as _, Result};
use milena::{Consumer, StartAt};

/// How long reading may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// What is in a topic: of each record the first eight bytes of its value as a number, by partition and in order.
#[derive(Debug, Clone, Default)]
pub struct Found(Vec<Vec<u64>>);

/// What is wrong with it. All zero when nothing is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Acknowledged records that are not there.
    pub lost: u64,
    /// Records that are there once more.
    pub twice: u64,
    /// Records that come after a later one of their partition; None where the program numbers none, or placed them by itself.
    pub disordered: Option<u64>,
}

impl Found {
    /// Reads a topic of so many partitions from beginning to end.
    ///
    /// # Errors
    /// When it cannot be read within two minutes.
    pub fn read(bootstrap: &str, topic: &str, partitions: usize) -> Result<Self> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().context("a tokio runtime")?;
        let reading = async {
            tokio::time::timeout(PATIENCE, read(bootstrap, topic, partitions))
                .await
                .context("reading back")?
        };
        runtime.block_on(reading)
    }

    /// How many records there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.0.iter().map(|partition| partition.len() as u64).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Of a program that numbers its records from 0 to `sent`, of which `acknowledged` were; `placed`: and says where each goes.
    #[must_use]
    pub fn judge_numbered(&self, sent: u64, acknowledged: u64, placed: bool) -> Verdict {
        let distinct: HashSet<u64> = self.0.iter().flatten().copied().collect();
        let known = distinct.iter().filter(|number| **number < sent).count() as u64;
        let disordered = |partition: &Vec<u64>| {
            let mut newest = None;
            let late = partition.iter().filter(|&&number| {
                let late = newest.is_some_and(|newest| number < newest);
                newest = newest.max(Some(number));
                late
            });
            late.count() as u64
        };
        Verdict {
            lost: acknowledged.saturating_sub(known),
            twice: self.len() - distinct.len() as u64,
            disordered: placed.then(|| self.0.iter().map(disordered).sum()),
        }
    }

    /// Of a program that does not number its records: only their count tells.
    #[must_use]
    pub fn judge_counted(&self, sent: u64, acknowledged: u64) -> Verdict {
        let found = self.len();
        Verdict {
            lost: acknowledged.saturating_sub(found),
            twice: found.saturating_sub(sent),
            disordered: None,
        }
    }
}

impl Verdict {
    /// `lost / twice / out of order`.
    #[must_use]
    pub fn words(&self) -> String {
        let disordered = self.disordered.map_or_else(|| "-".to_owned(), |count| count.to_string());
        format!("{} / {} / {disordered}", self.lost, self.twice)
    }
}

async fn read(bootstrap: &str, topic: &str, partitions: usize) -> Result<Found> {
    let mut consumer = Consumer::builder().bootstrap(bootstrap).build().context("building a consumer")?;
    let (mut ends, mut all) = (Vec::new(), Vec::new());
    for partition in 0..i32::try_from(partitions)? {
        let (_, end) = consumer.offsets(topic, partition).await.context("asking for the log's end")?;
        ends.push(end);
        all.push((topic.to_owned(), partition, StartAt::Beginning));
    }
    consumer.assign(all).await.context("assigning the partitions")?;
    let mut found = vec![Vec::new(); partitions];
    let mut left: HashSet<usize> = (0..partitions).filter(|partition| ends[*partition] > 0).collect();
    while !left.is_empty() {
        let fetched = consumer.next().await.context("fetching")?;
        let partition = usize::try_from(fetched.partition)?;
        for record in fetched.records() {
            let value = record.context("reading a record")?.value;
            let number =
                value.as_deref().and_then(|value| value.first_chunk()).copied().map(u64::from_be_bytes);
            found[partition].push(number.unwrap_or(u64::MAX));
        }
        if fetched.next_offset >= ends[partition] {
            left.remove(&partition);
        }
    }
    consumer.close().await;
    Ok(Found(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_counted() {
        let found = Found(vec![vec![0, 2, 4], vec![1, 5, 3, 3]]);
        let verdict = Verdict { lost: 0, twice: 1, disordered: Some(2) };
        assert_eq!(found.judge_numbered(6, 6, true), verdict);
        assert_eq!(found.judge_numbered(8, 7, false), Verdict { lost: 1, twice: 1, disordered: None });
        assert_eq!(found.judge_counted(6, 6), Verdict { lost: 0, twice: 1, disordered: None });
        assert_eq!(found.judge_counted(9, 9), Verdict { lost: 2, twice: 0, disordered: None });
    }
}
