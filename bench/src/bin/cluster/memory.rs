//! What `milena broker` has in memory after many records, sent by another process.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use milena_bench::wire::{self, Placement};
use milena_bench::{Client, Does, Report, table};

use crate::{MilenaBroker, milena};

/// No run takes so long.
const PATIENCE: Duration = Duration::from_secs(1_200);

#[derive(clap::Args)]
pub struct Args {
    /// How many brokers, in one process; a topic has a replica on each of up to three. One run for each number.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 3])]
    brokers: Vec<usize>,
    /// Records of 100 B, on disk.
    #[arg(long, default_value_t = 15_000_000)]
    records: u64,
    /// The `milena` command [default: that of this source tree, built when needed]
    #[arg(long)]
    milena: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<()> {
    let program = milena(args.milena.as_deref())?;
    let sender = Client::Milena.program(Does::Produce, "".as_ref())?;
    let mut rows = Vec::new();
    for &brokers in &args.brokers {
        let broker = MilenaBroker::start(&program, brokers)?;
        let replicas = i16::try_from(brokers.min(3))?;
        wire::create_topic(&broker.bootstrap, "many", &Placement::Any(6, replicas))?;
        let (before, _) = broker.process().resident_mb()?;
        let records = args.records.to_string();
        let arguments = ["--bootstrap", &broker.bootstrap, "--topic", "many", "--records", &records];
        let ended = sender.run(&arguments, PATIENCE)?;
        let report = Report::read(&ended.said, args.records)?;
        ensure!(report.ok == args.records, "records failed: {}", ended.complained);
        let (now, peak) = broker.process().resident_mb()?;
        rows.push([
            format!("{brokers} × {replicas} replicas"),
            format!("{:.0}", report.ok as f64 / report.wall_s),
            format!("{before:.1}"),
            format!("{now:.1}"),
            format!("{peak:.1}"),
        ]);
    }
    println!("`milena broker` with {} records of 100 B on disk, sent by `ml`\n", args.records);
    let heads = ["brokers", "records/s", "MiB resident before", "after", "at most"];
    println!("{}", table(heads, &rows));
    Ok(())
}
