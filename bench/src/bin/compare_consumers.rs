//! Consume programs in turns against one broker: all of them read one topic from its beginning, and a table shows the least, the middle
//! and the greatest figure of each. See README.md.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use milena_bench::contest::{Column, Contestant, in_turns, ratios, spreads};
use milena_bench::{Client, Does};
use milena_interop::{RealKafka, tools};
use serde::Deserialize;

#[derive(Parser)]
#[command(about = "Compares consume programs, in turns, against one real Kafka broker")]
struct Args {
    /// Which, in turns; the ratios are the first one's to each other's.
    #[arg(long, value_delimiter = ',', default_value = "milena,franz-go")]
    clients: Vec<Client>,
    /// Turns that count.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Records of the topic.
    #[arg(long, default_value_t = 5_000_000)]
    records: u64,
    /// Bytes of a record's value.
    #[arg(long, default_value_t = 100)]
    size: usize,
    /// Partitions of the topic.
    #[arg(long, default_value_t = 6)]
    topic_partitions: u32,
    /// The folder with the peers' sources.
    #[arg(long, env = "PEERS", default_value = milena_bench::PEERS)]
    peers: PathBuf,
}

/// No run takes so long.
const PATIENCE: Duration = Duration::from_secs(1_200);
const TOPIC: &str = "compare-consumers";
const COLUMNS: [Column; 3] = [("records/s", 0), ("CPU µs/record", 3), ("peak MB", 0)];

/// The line that a program prints at its end; Java's does not tell its memory.
#[derive(Deserialize)]
struct Consumed {
    consumed: u64,
    bytes: u64,
    rec_per_s: f64,
    cpu_us_per_rec: f64,
    #[serde(default)]
    rss_mb: Option<f64>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let contestant = |client: &Client| {
        Ok(Contestant::new(client.name().to_owned(), client.program(Does::Consume, &args.peers)?))
    };
    let mut contestants = args.clients.iter().map(contestant).collect::<Result<Vec<_>>>()?;
    let kafka = RealKafka::builder().jvm(&["-Xmx512m"]).start()?;
    let bootstrap = kafka.bootstrap();
    let (records, size) = (args.records.to_string(), args.size.to_string());
    let partitions = args.topic_partitions.to_string();
    tools::create_topic(&bootstrap, TOPIC, args.topic_partitions, 1)?;
    let fill = ["--bootstrap", &bootstrap, "--topic", TOPIC, "--records", &records, "--size", &size];
    Client::Milena.program(Does::Produce, &args.peers)?.run(&fill, PATIENCE)?;

    in_turns(&mut contestants, args.rounds, |contestant, _, _| {
        let mut arguments = vec!["--bootstrap", &bootstrap, "--topic", TOPIC, "--records", &records];
        if contestant.name == Client::Milena.name() {
            arguments.extend(["--partitions", &partitions]);
        }
        let ended = contestant.program.run(&arguments, PATIENCE)?;
        let line = ended.said.lines().rev().find(|line| line.starts_with('{'));
        let line = line.with_context(|| format!("{} printed no figures: {}", contestant.name, ended.said))?;
        let told: Consumed = serde_json::from_str(line).with_context(|| format!("reading {line}"))?;
        let expected = (args.records, args.records * args.size as u64);
        ensure!((told.consumed, told.bytes) == expected, "{} read something else: {line}", contestant.name);
        Ok(Some(vec![told.rec_per_s, told.cpu_us_per_rec, told.rss_mb.unwrap_or(f64::NAN)]))
    })?;
    println!(
        "{} records of {} B from the beginning of {} partitions, no group, {} rounds: least / middle / greatest",
        args.records, args.size, args.topic_partitions, args.rounds
    );
    println!("{}", spreads(&contestants, &COLUMNS));
    println!("{}", ratios(&contestants));
    Ok(())
}
