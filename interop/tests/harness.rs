//! The harness itself, with nothing of ours in play.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use milena_interop::{RealKafka, tools};

#[test]
fn topics_are_created_and_listed() -> Result<()> {
    let Some(kafka) = RealKafka::shared_or_skip(1) else { return Ok(()) };
    tools::create_topic(&kafka.bootstrap(), "listed", 4, 1)?;
    let listed = tools::topics(&kafka.bootstrap(), &["--list"])?;
    assert!(listed.lines().any(|topic| topic == "listed"), "{listed}");
    let described = tools::topics(&kafka.bootstrap(), &["--describe", "--topic", "listed"])?;
    assert_eq!(described.matches("Leader: 1").count(), 4, "{described}");
    assert!(tools::create_topic(&kafka.bootstrap(), "listed", 1, 1).is_err());
    Ok(())
}

#[test]
fn lines_come_back_and_the_log_can_be_dumped() -> Result<()> {
    let Some(kafka) = RealKafka::shared_or_skip(1) else { return Ok(()) };
    let bootstrap = kafka.bootstrap();
    tools::create_topic(&bootstrap, "lines", 1, 1)?;
    tools::console_producer(&bootstrap, "lines", "one\ntwo\nthree\n", &[])?;
    assert_eq!(tools::console_consumer(&bootstrap, "lines", 3, &[])?, "one\ntwo\nthree\n");
    let log = kafka.log_dir(1).join("lines-0").join("00000000000000000000.log");
    let dump = tools::dump_log_segments(&[&log])?;
    assert!(dump.contains("payload: three"), "{dump}");

    let torn = tempfile::tempdir()?;
    let torn_log = torn.path().join("00000000000000000000.log");
    let mut bytes = std::fs::read(&log)?;
    let at = bytes.windows(5).position(|window| window == b"three").context("the record in the log")?;
    bytes[at] ^= 1;
    std::fs::write(&torn_log, bytes)?;
    assert!(tools::dump_log_segments(&[&torn_log]).is_err(), "a wrong checksum goes unnoticed");
    Ok(())
}

#[test]
fn kafkas_producers_and_kcat_run() -> Result<()> {
    let Some(kafka) = RealKafka::shared_or_skip(1) else { return Ok(()) };
    let bootstrap = kafka.bootstrap();
    tools::create_topic(&bootstrap, "numbers", 1, 1)?;
    let lines = tools::verifiable_producer(&bootstrap, "numbers", 20)?;
    assert_eq!(lines.matches("producer_send_success").count(), 20, "{lines}");
    let report = tools::producer_performance(&bootstrap, "performance", 1_000, 100, &["acks=all"])?;
    assert!(report.contains("1000 records sent"), "{report}");
    let arguments =
        ["-b", &bootstrap, "-C", "-t", "numbers", "-o", "beginning", "-e", "-q", "-f", "%p %o %s\n"];
    let Some(output) = tools::kcat(&arguments, b"")? else { return Ok(()) };
    let wanted: String = (0..20).map(|number| format!("0 {number} {number}\n")).collect();
    assert_eq!(output.text()?, wanted);
    Ok(())
}

#[test]
fn brokers_die_and_come_back() -> Result<()> {
    let Some(kafka) = RealKafka::start_or_skip(3) else { return Ok(()) };
    tools::create_topic(&kafka.bootstrap(), "replicated", 3, 3)?;
    kafka.kill(3)?;
    assert!(kafka.kill(3).is_err());
    tools::console_producer(&kafka.bootstrap(), "replicated", "kept\n", &[])?;
    kafka.start(3)?;
    kafka.pause(2)?;
    kafka.resume(2)?;
    assert_eq!(tools::console_consumer(&kafka.bootstrap(), "replicated", 1, &[])?, "kept\n");
    Ok(())
}

/// However a test ends, no broker may outlive it: neither its process nor its data.
#[test]
fn nothing_outlives_a_cluster() -> Result<()> {
    let Some(kafka) = RealKafka::start_or_skip(1) else { return Ok(()) };
    let data = kafka.log_dir(1);
    assert!(data.is_dir());
    let port = kafka.port(1);
    drop(kafka);
    assert!(!data.exists());
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
    Ok(())
}

#[test]
fn clusters_share_nothing() -> Result<()> {
    let Some(one) = RealKafka::shared_or_skip(1) else { return Ok(()) };
    let again = RealKafka::shared_or_skip(1).context("the shared cluster")?;
    assert_eq!(one.bootstrap(), again.bootstrap());
    let Some(other) = RealKafka::start_or_skip(1) else { return Ok(()) };
    let folders: BTreeSet<_> = [one.log_dir(1), other.log_dir(1)].into();
    assert_eq!(folders.len(), 2);
    assert_ne!(one.port(1), other.port(1));
    Ok(())
}
