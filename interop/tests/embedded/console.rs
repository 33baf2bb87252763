//! `ConsoleProducer` and `ConsoleConsumer`.

use anyhow::{Context as _, Result};
use milena_interop::tools;

use crate::broker_for_kafkas_programs;
use crate::support::earthquakes;

#[tokio::test(flavor = "multi_thread")]
async fn the_earthquakes_go_through_kafkas_console_programs() -> Result<()> {
    let Some((broker, _folder)) = broker_for_kafkas_programs().await? else { return Ok(()) };
    let text = std::fs::read_to_string(earthquakes())?;
    let mut with_keys = String::new();
    for line in text.lines() {
        let record: serde_json::Value = serde_json::from_str(line)?;
        let net = record["net"].as_str().context("a line without `net`")?;
        with_keys.extend([net, "\t", line, "\n"]);
    }
    let bootstrap = broker.bootstrap();
    // The topic is created by the producer's asking for it.
    tools::console_producer(&bootstrap, "quakes", &with_keys, &["--reader-property", "parse.key=true"])?;
    let more = ["--partition", "0", "--offset", "earliest", "--formatter-property", "print.key=true"];
    let read = tools::console_consumer(&bootstrap, "quakes", text.lines().count(), &more)?;
    assert!(read == with_keys, "not what was produced");
    let from_the_end = ["--partition", "0", "--offset", "1706"];
    let last = tools::console_consumer(&bootstrap, "quakes", 1, &from_the_end)?;
    assert_eq!(last.lines().last(), text.lines().last());
    broker.shutdown().await?;
    Ok(())
}
