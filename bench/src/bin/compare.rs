//! Produce programs in turns against one broker: a fresh topic for every run, the order turned round from round to round, and a table of
//! the least, the middle and the greatest figure of each. See README.md.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN};
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

/// A client to be measured, and what came of it.
struct Contestant {
    /// Its name in the table.
    name: String,
    program: Program,
    extra: Vec<String>,
    runs: Vec<Figures>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut contestants: Vec<Contestant> = Vec::new();
    for client in &args.clients {
        let twice = contestants.iter().filter(|other| other.name.starts_with(client.name())).count();
        let name = client.name().to_owned();
        let name = if twice == 0 { name } else { format!("{name} ({})", twice + 1) };
        let extra = if *client == Client::Milena { args.milena.clone() } else { Vec::new() };
        contestants.push(Contestant {
            name,
            program: client.program(Does::Produce, &args.peers)?,
            extra,
            runs: Vec::new(),
        });
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

    for round in 0..=args.rounds {
        let mut order: Vec<usize> = (0..contestants.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let contestant = &mut contestants[at];
            let records = if round == 0 { args.warm_up } else { args.records };
            if records == 0 {
                continue;
            }
            let topic = format!("compare-{}-{round}-{at}", std::process::id());
            let figures = run(&args, contestant, &bootstrap, &topic, records)?;
            let (speed, cpu) = (figures.rec_per_s, figures.cpu_us_per_rec);
            let which = if round == 0 { "warm-up".to_owned() } else { format!("round {round}") };
            eprintln!("{which}: {:<14} {speed:>9.0} records/s {cpu:>7.3} µs CPU", contestant.name);
            if round > 0 {
                contestant.runs.push(figures);
            }
        }
    }
    println!(
        "{} records of {} B, linger {} ms, rate {}, {} rounds: least / middle / greatest",
        args.records, args.size, args.linger, args.rate, args.rounds
    );
    println!("{}", table(&contestants));
    println!("{}", ratios(&contestants));
    Ok(())
}

/// One run on a topic of its own, which is gone afterwards.
fn run(args: &Args, contestant: &Contestant, bootstrap: &str, topic: &str, records: u64) -> Result<Figures> {
    tools::create_topic(bootstrap, topic, args.topic_partitions, 1)?;
    let (count, size) = (records.to_string(), args.size.to_string());
    let (linger, rate) = (args.linger.to_string(), args.rate.to_string());
    let mut arguments =
        vec!["--bootstrap", bootstrap, "--topic", topic, "--records", &count, "--size", &size];
    arguments.extend(["--linger", &linger, "--rate", &rate]);
    arguments.extend(contestant.extra.iter().map(String::as_str));
    let ended = contestant.program.run(&arguments, PATIENCE)?;
    let (said, errors) = (ended.said, ended.complained);
    let line = said.lines().rev().find(|line| line.starts_with('{'));
    let line = line.with_context(|| format!("{} printed no figures: {said}\n{errors}", contestant.name))?;
    let figures: Figures = serde_json::from_str(line).with_context(|| format!("reading {line}"))?;
    ensure!(figures.ok == records && figures.err == 0, "{} lost records: {line}\n{errors}", contestant.name);
    tools::topics(bootstrap, &["--delete", "--topic", topic])?;
    Ok(figures)
}

/// A column of the table: its head, the figure, and how many digits follow its point.
type Column = (&'static str, fn(&Figures) -> f64, usize);

const COLUMNS: [Column; 7] = [
    ("records/s", |figures| figures.rec_per_s, 0),
    ("CPU µs/record", |figures| figures.cpu_us_per_rec, 3),
    ("p50 ms", |figures| figures.p50_ms, 2),
    ("p99 ms", |figures| figures.p99_ms, 2),
    ("p99.9 ms", |figures| figures.p999_ms, 2),
    ("max ms", |figures| figures.max_ms, 2),
    ("peak MB", |figures| figures.rss_mb as f64, 0),
];

fn table(contestants: &[Contestant]) -> Table {
    let mut table = Table::new();
    table
        .load_style(ASCII_MARKDOWN)
        .set_header(std::iter::once("client").chain(COLUMNS.map(|column| column.0)));
    for contestant in contestants {
        let cells =
            COLUMNS.map(|(_, figure, digits)| spread(contestant.runs.iter().map(figure).collect(), digits));
        table.add_row(std::iter::once(contestant.name.clone()).chain(cells));
    }
    right_aligned(table)
}

/// The first client's throughput and CPU against each other's, round by round: what drifts from round to round falls out.
fn ratios(contestants: &[Contestant]) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(["ratio in each round", "records/s", "CPU per record"]);
    let Some((first, others)) = contestants.split_first() else { return table };
    for other in others {
        let ratio = |figure: fn(&Figures) -> f64| {
            spread(
                first.runs.iter().zip(&other.runs).map(|(one, two)| figure(one) / figure(two)).collect(),
                2,
            )
        };
        let name = format!("{} : {}", first.name, other.name);
        table.add_row([name, ratio(|figures| figures.rec_per_s), ratio(|figures| figures.cpu_us_per_rec)]);
    }
    right_aligned(table)
}

fn right_aligned(mut table: Table) -> Table {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// `least / middle / greatest`.
fn spread(mut figures: Vec<f64>, digits: usize) -> String {
    figures.sort_by(f64::total_cmp);
    match (figures.first(), figures.get(figures.len() / 2), figures.last()) {
        (Some(least), Some(middle), Some(greatest)) => {
            format!("{least:.digits$} / {middle:.digits$} / {greatest:.digits$}")
        }
        _ => "-".to_owned(),
    }
}
