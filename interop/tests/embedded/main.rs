//! Kafka's own programs and kcat on the embedded broker.

mod console;
mod groups;
mod kcat;
mod producers;
mod segments;
#[path = "../support/mod.rs"]
mod support;
mod topics;

use anyhow::Result;
use milena_broker::{Broker, BrokerConfig};
use milena_interop::tools;
use tempfile::TempDir;

/// A broker on a folder of its own. None where Kafka's programs cannot be run.
async fn broker_for_kafkas_programs() -> Result<Option<(Broker, TempDir)>> {
    if !tools::available() {
        return Ok(None);
    }
    broker().await.map(Some)
}

async fn broker() -> Result<(Broker, TempDir)> {
    let folder = tempfile::tempdir()?;
    Ok((Broker::start(BrokerConfig::new(folder.path())).await?, folder))
}
