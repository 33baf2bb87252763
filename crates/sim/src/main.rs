//! `sim`: plays seeds and says which of them show a fault of ours.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Parser;
use milena_sim::scenario::Scenario;
use milena_sim::trace::TraceMode;
use milena_sim::{Options, Report, count_panics, run};
use parking_lot::Mutex;

/// Plays a whole cluster in virtual time, with faults, from a seed.
#[derive(Debug, Parser)]
#[command(name = "sim", version)]
struct Arguments {
    /// Play this seed alone.
    #[arg(long, conflicts_with = "seeds")]
    seed: Option<u64>,
    /// Play these seeds, the last one excluded.
    #[arg(long, value_name = "A..B", default_value = "0..200")]
    seeds: String,
    /// Tell the whole story of the one seed.
    #[arg(long, requires = "seed")]
    trace: bool,
    /// Also tell what the brokers log.
    #[arg(long, requires = "trace")]
    logs: bool,
    /// What it is about: random, dead-host, zombie, partial-partition, asymmetric, slow-broker, flapping, leaders-flip,
    /// all-replaced, topic-recreated.
    #[arg(long, value_name = "NAME", default_value_t)]
    scenario: Scenario,
    /// Play so many seeds at a time.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    if arguments.logs {
        tracing_subscriber::fmt()
            .with_env_filter(tracing_subscriber::EnvFilter::new(
                "milena_broker=debug,milena_storage=debug,milena_core=debug",
            ))
            .without_time()
            .with_writer(std::io::stdout)
            .init();
    }
    count_panics();
    let failed = match arguments.seed {
        Some(seed) => {
            let trace = if arguments.trace { TraceMode::Print } else { TraceMode::Hash };
            let report = run(seed, Options { trace, scenario: arguments.scenario });
            summarise(&report)?;
            usize::from(!report.violations.is_empty())
        }
        None => play_all(parse_range(&arguments.seeds)?, arguments.scenario, arguments.jobs)?,
    };
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn parse_range(text: &str) -> Result<Range<u64>> {
    let (first, last) = text.split_once("..").context("--seeds wants a range, for instance 0..200")?;
    let range = first.parse()?..last.parse()?;
    if range.is_empty() {
        bail!("--seeds {text} is empty");
    }
    Ok(range)
}

fn play_all(seeds: Range<u64>, scenario: Scenario, jobs: usize) -> Result<usize> {
    let (next, started) = (AtomicU64::new(seeds.start), Instant::now());
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let report = run(seed, Options { scenario, ..Options::default() });
                    if !report.violations.is_empty() {
                        let _unread = summarise(&report);
                        failed.lock().push(seed);
                    }
                }
            });
        }
    });
    let (mut failed, count, took) = (failed.into_inner(), seeds.end - seeds.start, started.elapsed());
    failed.sort_unstable();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{count} seeds in {took:.1?}, {:.0} a second", count as f64 / took.as_secs_f64())?;
    if !failed.is_empty() {
        writeln!(out, "{} failed: {failed:?}", failed.len())?;
    }
    Ok(failed.len())
}

fn summarise(report: &Report) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let history = &report.history;
    writeln!(
        out,
        "seed {}: {} records sent, {} read, {:?} of virtual time, history {:016x}",
        report.seed,
        history.sent.len(),
        history.read.len(),
        report.lasted,
        report.hash
    )?;
    // One of each kind is enough to begin with.
    let kind = |violation: &String| violation.split(':').next().unwrap_or_default().to_owned();
    let mut kinds = BTreeMap::new();
    for violation in &report.violations {
        kinds.entry(kind(violation)).or_insert((violation, 0)).1 += 1;
    }
    for (violation, count) in kinds.into_values() {
        let others = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
        writeln!(out, "  {violation}{others}")?;
    }
    Ok(())
}
