//! What the project is for: a real file, keyed, to a real cluster.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use milena_interop::{milena, tools};

use crate::cluster::cluster;
use crate::support::earthquakes;

/// Lines by their key, in order: equal when the same lines are there, byte for byte, and in order for each key.
type ByKey = BTreeMap<String, Vec<String>>;

#[tokio::test(flavor = "multi_thread")]
async fn kafkas_consumer_and_ours_read_the_earthquakes_that_our_command_produced() -> Result<()> {
    let Some(kafka) = cluster().await else { return Ok(()) };
    let (bootstrap, file) = (kafka.bootstrap(), earthquakes());
    tools::create_topic(&bootstrap, "quakes", 6, 3)?;
    let path = file.to_str().context("a path that is not UTF-8")?;
    let produce = ["-b", &bootstrap, "produce", "-t", "quakes", "--json-key", "net", path];
    let totals = milena(&produce, b"")?.text()?;
    ensure!(totals.starts_with("1,707 records acknowledged, "), "{totals}");

    let text = std::fs::read_to_string(&file)?;
    let wanted = wanted(&text)?;
    let with_keys =
        ["--formatter-property", "print.key=true", "--formatter-property", "print.partition=true"];
    let theirs = tools::console_consumer(&bootstrap, "quakes", 1_707, &with_keys)?;
    ensure!(by_key(&theirs)? == wanted, "Kafka's consumer does not agree");
    let consume = ["-b", &bootstrap, "consume", "-t", "quakes", "-e", "-f", r"Partition:%p\t%k\t%s\n"];
    let ours = milena(&consume, b"")?.text()?;
    ensure!(by_key(&ours)? == wanted, "our consumer does not agree");
    ensure!(partitions(&theirs) == partitions(&ours), "a key is in different partitions");
    Ok(())
}

fn wanted(text: &str) -> Result<ByKey> {
    let mut wanted = ByKey::new();
    for line in text.lines() {
        let record: serde_json::Value = serde_json::from_str(line)?;
        let net = record["net"].as_str().context("a line without `net`")?;
        wanted.entry(net.to_owned()).or_default().push(line.to_owned());
    }
    Ok(wanted)
}

/// Reads lines of partition, key and value.
fn by_key(consumed: &str) -> Result<ByKey> {
    let mut found = ByKey::new();
    for line in consumed.lines() {
        let mut fields = line.splitn(3, '\t').skip(1);
        let key = fields.next().with_context(|| format!("no key in {line}"))?;
        let value = fields.next().with_context(|| format!("no value in {line}"))?;
        found.entry(key.to_owned()).or_default().push(value.to_owned());
    }
    Ok(found)
}

/// Each partition with each key that is in it.
fn partitions(consumed: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (partition, rest) in consumed.lines().filter_map(|line| line.split_once('\t')) {
        let keys = found.entry(partition).or_default();
        let key = rest.split('\t').next().unwrap_or_default();
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    found.values_mut().for_each(|keys| keys.sort_unstable());
    found
}
