//! What a record costs the broker, beside a real Kafka.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use milena_bench::wire::{self, Placement};
use milena_bench::{Client, Does, Process, Program, Report, median, table};
use milena_interop::RealKafka;

use crate::{MilenaBroker, milena};

/// No run takes so long.
const PATIENCE: Duration = Duration::from_secs(600);

#[derive(clap::Args)]
pub struct Args {
    /// Which clients send.
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = [Client::Milena, Client::FranzGo])]
    clients: Vec<Client>,
    /// Turns that count.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Records of each run.
    #[arg(long, default_value_t = 5_000_000)]
    records: u64,
    /// Bytes of a record's value.
    #[arg(long, default_value_t = 100)]
    size: usize,
    /// Records of a first run of each client that does not count: it warms the Java machine.
    #[arg(long, default_value_t = 2_000_000)]
    warm_up: u64,
    /// The `milena` command [default: that of this source tree, built when needed]
    #[arg(long)]
    milena: Option<PathBuf>,
    /// The folder with the peers' sources.
    #[arg(long, env = "PEERS", default_value = milena_bench::PEERS)]
    peers: PathBuf,
}

/// A broker's process.
struct Side {
    name: &'static str,
    bootstrap: String,
    process: Process,
}

/// Microseconds of the broker's CPU per record, and records per second, of each round.
#[derive(Default)]
struct Runs {
    produced: Vec<f64>,
    speed: Vec<f64>,
    consumed: Vec<f64>,
}

pub fn run(args: &Args) -> Result<()> {
    let program = milena(args.milena.as_deref())?;
    let embedded = MilenaBroker::start(&program, 1)?;
    // Ordinary Java machine; deleted topics make room at once.
    let kafka = RealKafka::builder().jvm(&["-Xmx512m"]).property("file.delete.delay.ms", "1000").start()?;
    let home = kafka.log_dir(1);
    let home = home.parent().context("the broker's folder")?;
    let sides = [
        Side { name: "milena broker", bootstrap: embedded.bootstrap.clone(), process: embedded.process() },
        Side { name: "real Kafka", bootstrap: kafka.bootstrap(), process: real(home)? },
    ];
    let reader = Client::Milena.program(Does::Consume, &args.peers)?;
    let mut rows = Vec::new();
    for &client in &args.clients {
        let sender = client.program(Does::Produce, &args.peers)?;
        let mut runs = [Runs::default(), Runs::default()];
        for round in 0..=args.rounds {
            let mut order = [0, 1];
            if round % 2 == 1 {
                order.reverse();
            }
            for at in order {
                let records = if round == 0 { args.warm_up } else { args.records };
                let mut warm_up = Runs::default();
                let runs = if round == 0 { &mut warm_up } else { &mut runs[at] };
                let topic = format!("cpu-{}-{round}", client.name());
                turn(&sides[at], &sender, &reader, args, &topic, records, runs)?;
            }
        }
        for (side, runs) in sides.iter().zip(&runs) {
            rows.push([
                format!("{}, {} sending", side.name, client.name()),
                format!("{:.3}", median(&runs.produced)),
                format!("{:.0}", median(&runs.speed)),
                format!("{:.3}", median(&runs.consumed)),
            ]);
        }
    }
    println!(
        "One broker, 6 partitions, {} records of {} B a run, acks=all, median of {} rounds; `consume` reads\n",
        args.records, args.size, args.rounds
    );
    let heads =
        ["broker", "broker CPU µs per produced record", "records/s", "broker CPU µs per consumed record"];
    println!("{}", table(heads, &rows));
    Ok(())
}

/// The Java machine of a broker with its data in this folder, and not the shell that watches over it.
fn real(home: &Path) -> Result<Process> {
    Process::find("java", &home.join("server.properties"))
}

fn turn(
    side: &Side,
    sender: &Program,
    reader: &Program,
    args: &Args,
    topic: &str,
    records: u64,
    runs: &mut Runs,
) -> Result<()> {
    wire::create_topic(&side.bootstrap, topic, &Placement::Any(6, 1))?;
    let (count, size) = (records.to_string(), args.size.to_string());
    let common = ["--bootstrap", &side.bootstrap, "--topic", topic, "--records", &count];
    let per_record = |cpu_s: f64| cpu_s * 1e6 / records as f64;

    let before = side.process.cpu_s()?;
    let ended = sender.run(&[&common[..], &["--size", &size]].concat(), PATIENCE)?;
    let sent = side.process.cpu_s()?;
    let report = Report::read(&ended.said, records)?;
    ensure!(report.ok == records, "records failed: {}", ended.complained);
    reader.run(&common, PATIENCE)?;
    let read = side.process.cpu_s()?;

    runs.produced.push(per_record(sent - before));
    runs.speed.push(report.ok as f64 / report.wall_s);
    runs.consumed.push(per_record(read - sent));
    eprintln!(
        "{topic} on {}: {:.3} µs produced, {:.3} µs consumed",
        side.name,
        per_record(sent - before),
        per_record(read - sent)
    );
    wire::delete_topic(&side.bootstrap, topic)
}
