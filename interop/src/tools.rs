//! Other people's clients, run against any bootstrap list: Kafka's own command-line tools and kcat.
//!
//! Each ends within [`PATIENCE`], or is killed and the error says what it had said.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::process::{self, Output};
use crate::{Program, jars, skip};

/// How long a tool may take: a Java machine on a busy computer needs seconds to start.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// How long [`console_consumer`] waits for the next record.
const CONSUMER_TIMEOUT_MS: &str = "90000";

/// `ConsoleProducer` gives a request 1.5 s and three tries: less than a cluster takes on a busy machine to notice that a broker is dead.
/// These are the defaults of every other producer, and two minutes for the first metadata.
pub const PATIENT_PRODUCER: [&str; 6] =
    ["--request-timeout-ms", "30000", "--message-send-max-retries", "2147483647", "--max-block-ms", "120000"];

/// What `DumpLogSegments` says of what it dislikes; it exits with 0 all the same.
const COMPLAINTS: [&str; 9] = [
    "isvalid: false",
    "isValid: false",
    "invalid bytes at the end of",
    "Non-consecutive offsets in",
    "Mismatches in",
    "indexed offsets are not found in",
    "Found out of order timestamp",
    "Found timestamp mismatch",
    "Exception",
];

/// Whether Kafka's tools can be run here; says why not.
///
/// # Panics
/// When they cannot and `MILENA_REQUIRE_KAFKA=1`.
#[must_use]
pub fn available() -> bool {
    jars::missing(jars::VERSION).map(skip).is_none()
}

/// Runs one of Kafka's own classes, such as `org.apache.kafka.tools.TopicCommand`.
///
/// # Errors
/// When it cannot be started or does not end in time. How it ended is in the output.
pub fn run(class: &str, arguments: &[&str], stdin: &[u8]) -> Result<Output> {
    let mut java = java(class, arguments)?;
    process::run(&mut java, stdin, PATIENCE).with_context(|| format!("{class} {}", arguments.join(" ")))
}

/// Starts one of Kafka's own classes, to talk to it while it runs.
///
/// # Errors
/// When it cannot be started.
pub fn start(class: &str, arguments: &[&str]) -> Result<Program> {
    Program::start(java(class, arguments)?)
}

fn java(class: &str, arguments: &[&str]) -> Result<Command> {
    let mut java = Command::new("java");
    java.args(["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
    java.args([
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-cp",
        &jars::classpath(jars::VERSION)?,
        class,
    ])
    .args(arguments);
    Ok(java)
}

/// Runs a single file of Java source against Kafka's own classes.
///
/// # Errors
/// As [`run`]. A compiler is needed: with a JRE alone, the output says that `jdk.compiler` is missing.
pub fn run_source(file: &Path, arguments: &[&str], stdin: &[u8]) -> Result<Output> {
    run(file.to_str().context("a path that is not UTF-8")?, arguments, stdin)
}

/// [`run`] without input, and the output of a success.
///
/// # Errors
/// When it failed; the error holds what it said.
pub fn output(class: &str, arguments: &[&str]) -> Result<String> {
    text(class, arguments, b"")
}

/// [`run`], and the output of a success.
fn text(class: &str, arguments: &[&str], stdin: &[u8]) -> Result<String> {
    run(class, arguments, stdin)?.text().with_context(|| format!("{class} {}", arguments.join(" ")))
}

/// `TopicCommand --bootstrap-server … arguments`: what it printed.
///
/// # Errors
/// When it failed.
pub fn topics(bootstrap: &str, arguments: &[&str]) -> Result<String> {
    text(
        "org.apache.kafka.tools.TopicCommand",
        &[&["--bootstrap-server", bootstrap], arguments].concat(),
        b"",
    )
}

/// Creates a topic.
///
/// # Errors
/// When Kafka's tool failed, as it does when there is one already.
pub fn create_topic(bootstrap: &str, topic: &str, partitions: u32, replication_factor: u16) -> Result<()> {
    let (partitions, factor) = (partitions.to_string(), replication_factor.to_string());
    let arguments =
        ["--create", "--topic", topic, "--partitions", &partitions, "--replication-factor", &factor];
    topics(bootstrap, &arguments).map(drop)
}

/// `ConsoleProducer`: each line of `lines` becomes a record. `more` are further arguments, such as `--reader-property parse.key=true`.
///
/// # Errors
/// When it failed. It exits with 0 even for records that were not delivered, so an error in its log is a failure too.
pub fn console_producer(bootstrap: &str, topic: &str, lines: &str, more: &[&str]) -> Result<()> {
    let class = "org.apache.kafka.tools.ConsoleProducer";
    let arguments =
        [&["--bootstrap-server", bootstrap, "--topic", topic], &PATIENT_PRODUCER[..], more].concat();
    let output = run(class, &arguments, lines.as_bytes())?;
    ensure!(!output.stderr.contains("ERROR"), "{class}: {}", output.stderr);
    output.text().map(drop)
}

/// `ConsoleConsumer`: reads `count` records from the beginning, without a group of a known name, and answers what it printed: a line for
/// each. `more` are further arguments, such as `--formatter-property print.key=true` or `--partition 0`.
///
/// # Errors
/// When it failed, or fewer records came.
pub fn console_consumer(bootstrap: &str, topic: &str, count: usize, more: &[&str]) -> Result<String> {
    let limit = count.to_string();
    let mut arguments = vec!["--bootstrap-server", bootstrap, "--topic", topic, "--max-messages", &limit];
    arguments.extend(["--timeout-ms", CONSUMER_TIMEOUT_MS]);
    if !more.contains(&"--offset") {
        arguments.push("--from-beginning");
    }
    arguments.extend(more);
    let output = run("org.apache.kafka.tools.consumer.ConsoleConsumer", &arguments, b"")?;
    let summary = format!("Processed a total of {count} messages");
    ensure!(output.stderr.contains(&summary), "not the {count} records wanted: {}", output.stderr);
    output.text()
}

/// `ProducerPerformance`: sends `records` of `size` bytes as fast as it can; the answer is its report. `more` are properties, `key=value`.
///
/// # Errors
/// When it failed.
pub fn producer_performance(
    bootstrap: &str,
    topic: &str,
    records: u64,
    size: usize,
    more: &[&str],
) -> Result<String> {
    let (records, size, bootstrap) =
        (records.to_string(), size.to_string(), format!("bootstrap.servers={bootstrap}"));
    let arguments = [
        &["--topic", topic, "--num-records", &records, "--record-size", &size, "--throughput", "-1"][..],
        &["--producer-props", &bootstrap],
        more,
    ]
    .concat();
    text("org.apache.kafka.tools.ProducerPerformance", &arguments, b"")
}

/// `VerifiableProducer`: sends the numbers from 0 to `records`; the answer is its lines of JSON, one for each acknowledgement and a summary.
///
/// # Errors
/// When it failed.
pub fn verifiable_producer(bootstrap: &str, topic: &str, records: u64) -> Result<String> {
    let records = records.to_string();
    let arguments = ["--bootstrap-server", bootstrap, "--topic", topic, "--max-messages", &records];
    text("org.apache.kafka.tools.VerifiableProducer", &arguments, b"")
}

/// `DumpLogSegments --deep-iteration --print-data-log` over segment files (`….log`, `….index`, `….timeindex`): what it printed.
///
/// # Errors
/// When it failed, or complained of what it read: of a batch with a wrong checksum, of an index that does not fit its log.
pub fn dump_log_segments(files: &[&Path]) -> Result<String> {
    dump(files, &["--deep-iteration", "--print-data-log"], without_false_gaps)
}

/// As [`dump_log_segments`], of a log that was compacted: offsets that are missing are no fault there.
///
/// # Errors
/// As [`dump_log_segments`].
pub fn dump_compacted_log_segments(files: &[&Path]) -> Result<String> {
    let is_gap =
        |line: &&str| line.starts_with("Non-consecutive offsets in ") || line.contains(" is followed by ");
    let without_gaps = |said: &str| said.lines().filter(|line| !is_gap(line)).collect::<Vec<_>>().join("\n");
    dump(files, &["--deep-iteration", "--print-data-log"], without_gaps)
}

/// `DumpLogSegments --verify-index-only`, then `--index-sanity-check`, over index files (`….index`, `….timeindex`) beside their logs.
///
/// # Errors
/// When it failed, or complained, or did not say of each file that it passed.
pub fn check_indexes(files: &[&Path]) -> Result<()> {
    dump(files, &["--verify-index-only"], without_false_gaps)?;
    let said = dump(files, &["--index-sanity-check"], without_false_gaps)?;
    ensure!(said.matches("passed sanity check").count() == files.len(), "not all indexes passed: {said}");
    Ok(())
}

/// `relevant` leaves out of what was said what is no complaint.
fn dump(files: &[&Path], how: &[&str], relevant: impl Fn(&str) -> String) -> Result<String> {
    let files: Vec<&str> =
        files.iter().map(|file| file.to_str().context("a path that is not UTF-8")).collect::<Result<_>>()?;
    let files = files.join(",");
    let output = run("org.apache.kafka.tools.DumpLogSegments", &[how, &["--files", &files]].concat(), b"")?;
    let errors = output.stderr.clone();
    let dump = output.text()?;
    let said = relevant(&format!("{dump}\n{errors}"));
    let complaint = COMPLAINTS.iter().find(|complaint| said.contains(**complaint));
    ensure!(complaint.is_none(), "DumpLogSegments complains: {said}");
    Ok(dump)
}

/// `DumpLogSegments` 4.4.0 takes the start of each segment but the log's first for a gap: "-1 is followed by 555" in 00000000000000000555.log.
fn without_false_gaps(said: &str) -> String {
    let mut kept = String::new();
    let mut heading = None;
    for line in said.lines() {
        if line.starts_with("Non-consecutive offsets in ") {
            heading = Some(line);
            continue;
        }
        let first =
            line.trim().strip_prefix("-1 is followed by ").and_then(|first| first.parse::<i64>().ok());
        let of_segment = first.map(|first| format!("{first:020}.log"));
        if heading.zip(of_segment).is_some_and(|(heading, segment)| heading.ends_with(&segment)) {
            continue;
        }
        let heading = heading.take_if(|_| line.contains(" is followed by "));
        for line in heading.into_iter().chain([line]) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Runs kcat with the arguments given; `None`, with a word about it, where it is not installed.
///
/// # Errors
/// When it does not end in time. How it ended is in the output.
///
/// # Panics
/// When it is not installed and `MILENA_REQUIRE_KAFKA=1`.
pub fn kcat(arguments: &[&str], stdin: &[u8]) -> Result<Option<Output>> {
    if Command::new("kcat").arg("-V").output().is_err() {
        skip("kcat is not installed (Debian: apt-get install kcat)");
        return Ok(None);
    }
    process::run(Command::new("kcat").args(arguments), stdin, PATIENCE).map(Some)
}

/// Starts kcat, to talk to it while it runs; `None`, with a word about it, where it is not installed.
///
/// # Errors
/// When it cannot be started.
///
/// # Panics
/// As [`kcat`].
pub fn start_kcat(arguments: &[&str]) -> Result<Option<Program>> {
    if kcat(&["-V"], b"")?.is_none() {
        return Ok(None);
    }
    let mut command = Command::new("kcat");
    command.args(arguments);
    Program::start(command).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_start_of_a_segment_is_no_gap() {
        let heading = "Non-consecutive offsets in /data/t-0/00000000000000000555.log";
        let said = |gaps: &str| without_false_gaps(&format!("{heading}\n{gaps}after\n"));
        assert_eq!(said("  -1 is followed by 555\n"), "after\n");
        for gap in ["  -1 is followed by 556\n", "  560 is followed by 562\n"] {
            assert_eq!(said(gap), format!("{heading}\n{gap}after\n"));
        }
        assert_eq!(
            said("  -1 is followed by 555\n  560 is followed by 562\n"),
            format!("{heading}\n  560 is followed by 562\nafter\n")
        );
    }
}
