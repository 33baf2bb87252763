//! Our client and our command on a real Apache Kafka of three brokers.

mod admin;
mod cluster;
mod codecs;
mod main_job;
mod older;
mod records;
mod restarts;
#[path = "../support/mod.rs"]
mod support;

use anyhow::{Context as _, Result};
use milena_protocol::records::Record;

/// The values of records that are text.
fn values(records: &[Record]) -> Result<Vec<&str>> {
    let values = records.iter().map(|record| record.value.as_deref().context("a null value"));
    values.map(|value| std::str::from_utf8(value?).context("a value that is not UTF-8")).collect()
}
