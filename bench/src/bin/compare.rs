//! Produce programs in turns against one broker: a fresh topic for every run, the order turned round from round to round, and a table of
//! the least, the middle and the greatest figure of each. See README.md.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use milena_bench::contest::{Column, Contestant, in_turns, ratios, spreads};
use milena_bench::{Client, Does, Figures, Program};
use milena_interop::{RealKafka, tools};

#[derive(Parser)]
#[command(about = "Compares produce programs, in turns, against one real Kafka broker")]
struct Args {
    /// Which, in turns; the ratios are the first one's to each other's. One may stand twice. Java prints other figures and cannot take part.
    #[arg(long, value_delimiter = ',', default_value = "milena,franz-go")]
    clients: Vec<Client>,
    /// Turns that count.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Records of each run.
    #[arg(long, default_value_t = 5_000_000)]
    records: u64,
    /// Bytes of a record's value.
    #[arg(long, default_value_t = 100)]
    size: usize,
    /// Milliseconds.
    #[arg(long, default_value_t = 5)]
    linger: u64,
    /// Records per second; 0: as fast as possible.
    #[arg(long, default_value_t = 0)]
    rate: u64,
    /// Partitions of each topic.
    #[arg(long, default_value_t = 6)]
    topic_partitions: u32,
    /// Records of a first run of each client that does not count: it warms the broker's Java machine.
    #[arg(long, default_value_t = 1_000_000)]
    warm_up: u64,
    /// A running cluster in place of one started for this.
    #[arg(long)]
    bootstrap: Option<String>,
    /// The folder with the peers' sources.
    #[arg(long, env = "PEERS", default_value = milena_bench::PEERS)]
    peers: PathBuf,
    /// Further arguments for `ml`, such as `-X batch.size=65536`.
    #[arg(last = true)]
    milena: Vec<String>,
}

/// No run takes so long.
const PATIENCE: Duration = Duration::from_secs(1_200);

/// A program that sends, with arguments of its own.
struct Sends {
    program: Program,
    extra: Vec<String>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut contestants: Vec<Contestant<Sends>> = Vec::new();
    for client in &args.clients {
        let twice = contestants.iter().filter(|other| other.name.starts_with(client.name())).count();
        let name = client.name().to_owned();
        let name = if twice == 0 { name } else { format!("{name} ({})", twice + 1) };
        let extra = if *client == Client::Milena { args.milena.clone() } else { Vec::new() };
        let program = client.program(Does::Produce, &args.peers)?;
        contestants.push(Contestant::new(name, Sends { program, extra }));
    }
    let kafka = match args.bootstrap {
        Some(_) => None,
        // As the peers were measured: an ordinary Java machine. Deleted topics make room at once.
        None => {
            Some(RealKafka::builder().jvm(&["-Xmx512m"]).property("file.delete.delay.ms", "1000").start()?)
        }
    };
    let bootstrap =
        args.bootstrap.clone().or_else(|| kafka.as_ref().map(RealKafka::bootstrap)).context("no cluster")?;

    in_turns(&mut contestants, args.rounds, |contestant, round, at| {
        let records = if round == 0 { args.warm_up } else { args.records };
        if records == 0 {
            return Ok(None);
        }
        let topic = format!("compare-{}-{round}-{at}", std::process::id());
        run(&args, contestant, &bootstrap, &topic, records).map(|figures| Some(row(&figures)))
    })?;
    println!(
        "{} records of {} B, linger {} ms, rate {}, {} rounds: least / middle / greatest",
        args.records, args.size, args.linger, args.rate, args.rounds
    );
    println!("{}", spreads(&contestants, &COLUMNS));
    println!("{}", ratios(&contestants));
    Ok(())
}

/// One run on a topic of its own, which is gone afterwards.
fn run(
    args: &Args,
    contestant: &Contestant<Sends>,
    bootstrap: &str,
    topic: &str,
    records: u64,
) -> Result<Figures> {
    tools::create_topic(bootstrap, topic, args.topic_partitions, 1)?;
    let (count, size) = (records.to_string(), args.size.to_string());
    let (linger, rate) = (args.linger.to_string(), args.rate.to_string());
    let mut arguments =
        vec!["--bootstrap", bootstrap, "--topic", topic, "--records", &count, "--size", &size];
    arguments.extend(["--linger", &linger, "--rate", &rate]);
    arguments.extend(contestant.program.extra.iter().map(String::as_str));
    let ended = contestant.program.program.run(&arguments, PATIENCE)?;
    let (said, errors) = (ended.said, ended.complained);
    let line = said.lines().rev().find(|line| line.starts_with('{'));
    let line = line.with_context(|| format!("{} printed no figures: {said}\n{errors}", contestant.name))?;
    let figures: Figures = serde_json::from_str(line).with_context(|| format!("reading {line}"))?;
    ensure!(figures.ok == records && figures.err == 0, "{} lost records: {line}\n{errors}", contestant.name);
    tools::topics(bootstrap, &["--delete", "--topic", topic])?;
    Ok(figures)
}

const COLUMNS: [Column; 7] = [
    ("records/s", 0),
    ("CPU µs/record", 3),
    ("p50 ms", 2),
    ("p99 ms", 2),
    ("p99.9 ms", 2),
    ("max ms", 2),
    ("peak MB", 0),
];

fn row(figures: &Figures) -> Vec<f64> {
    let Figures { rec_per_s, cpu_us_per_rec, p50_ms, p99_ms, p999_ms, max_ms, rss_mb, .. } = *figures;
    vec![rec_per_s, cpu_us_per_rec, p50_ms, p99_ms, p999_ms, max_ms, rss_mb as f64]
}
