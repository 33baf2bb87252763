//! How long a start takes until the first record is acknowledged: with all of three bootstrap addresses alive, and with one of them a dead
//! host's, at the first, second and third place in turn. See README.md.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use milena::{Producer, Record};
use milena_bench::wire::{self, Placement, Wire};
use milena_bench::{Client, Does, On, Program, Report, Stage, greatest, median, table};

/// The host that dies.
const DEAD: i32 = 3;
/// No start takes longer.
const PATIENCE: Duration = Duration::from_secs(130);

#[derive(Parser)]
#[command(
    about = "The first acknowledged record with a dead bootstrap host (needs root and iptables, with --on real)"
)]
struct Args {
    /// Which cluster.
    #[arg(long, value_enum, default_value_t = On::Embedded)]
    on: On,
    /// Which clients.
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = [Client::Milena, Client::FranzGo, Client::Java])]
    clients: Vec<Client>,
    /// Milena's starts, healthy and with the dead host each; in this process, every one with a producer of its own.
    #[arg(long, default_value_t = 100)]
    starts: usize,
    /// The peers' starts, a process each.
    #[arg(long, default_value_t = 12)]
    peer_starts: usize,
    /// Starts before anything is measured.
    #[arg(long, default_value_t = 100)]
    warm_up: usize,
    /// The folder with the peers' sources.
    #[arg(long, env = "PEERS", default_value = milena_bench::PEERS)]
    peers: PathBuf,
}

/// A client, and the milliseconds of each of its starts.
struct Contestant {
    client: Client,
    /// None for Milena, which starts in this process.
    program: Option<Program>,
    healthy: Vec<f64>,
    dead: Vec<f64>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut contestants = Vec::new();
    for &client in &args.clients {
        let program = match client {
            Client::Milena => None,
            _ => Some(client.program(Does::Produce, &args.peers)?),
        };
        contestants.push(Contestant { client, program, healthy: Vec::new(), dead: Vec::new() });
    }
    let stage = Stage::start(args.on)?;
    let bootstrap = stage.bootstrap();
    let addresses: Vec<&str> = bootstrap.split(',').collect();
    let topic = format!("first-ack-{}", std::process::id());
    // Host 3 has no part in it: what is measured is the start and not the fault.
    let mut replicas = vec![vec![1, 2], vec![2, 1]];
    wire::create_topic(&bootstrap, &topic, &Placement::Given(replicas.clone()))?;
    // Another one that host 3 leads, so that its death is to be seen.
    let witness = format!("{topic}-witness");
    replicas[0] = vec![DEAD, 1];
    wire::create_topic(&bootstrap, &witness, &Placement::Given(replicas))?;

    // The brokers' Java machines are slow at first.
    for _ in 0..args.warm_up {
        start_here(&bootstrap, &topic)?;
    }
    for contestant in &mut contestants {
        contestant.healthy = starts(&args, contestant, &addresses, &topic)?;
    }
    let down = stage.host_down(DEAD)?;
    wire::wait_for_leaders(&mut Wire::connect(addresses[0])?, &witness, &[0], DEAD)?;
    for contestant in &mut contestants {
        contestant.dead = starts(&args, contestant, &addresses, &topic)?;
    }
    drop(down);
    println!(
        "First acknowledged record, milliseconds; {}; host {DEAD} of three bootstrap addresses dead, its place changing from start to start\n",
        args.on.words()
    );
    println!("{}", report(&contestants));
    Ok(())
}

/// All starts of a client, each with the addresses turned by one place.
fn starts(args: &Args, contestant: &Contestant, addresses: &[&str], topic: &str) -> Result<Vec<f64>> {
    let count = if contestant.program.is_none() { args.starts } else { args.peer_starts };
    let mut turned = addresses.to_vec();
    let mut millis = Vec::new();
    for _ in 0..count {
        millis.push(start(contestant, &turned, topic)?.as_secs_f64() * 1e3);
        turned.rotate_left(1);
    }
    let name = contestant.client.name();
    eprintln!("{name}: {count} starts, median {:.1} ms, worst {:.1} ms", median(&millis), greatest(&millis));
    Ok(millis)
}

fn start(contestant: &Contestant, addresses: &[&str], topic: &str) -> Result<Duration> {
    let bootstrap = addresses.join(",");
    let Some(program) = &contestant.program else { return start_here(&bootstrap, topic) };
    let arguments = ["--bootstrap", &bootstrap, "--topic", topic, "--records", "1", "--linger", "0"];
    let ended = program.run(&arguments, PATIENCE)?;
    let report = Report::read(&ended.said, 1)?;
    ensure!(report.ok == 1, "{} did not deliver its record: {}", contestant.client.name(), ended.complained);
    Ok(Duration::from_secs_f64(report.wall_s))
}

/// Milena's: from nothing to the acknowledgement. What follows is not counted.
fn start_here(bootstrap: &str, topic: &str) -> Result<Duration> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("a tokio runtime")?;
    runtime.block_on(async {
        let started = Instant::now();
        let producer = Producer::builder()
            .bootstrap(bootstrap)
            .set("linger.ms", "0")
            .build()
            .context("building the producer")?;
        producer.send(Record::to(topic).value("first")).await?.await?;
        let took = started.elapsed();
        producer.close(Duration::from_secs(1)).await;
        Ok(took)
    })
}

fn report(contestants: &[Contestant]) -> comfy_table::Table {
    let heads = [
        "client",
        "starts",
        "healthy: median / p90 / worst",
        "one host dead: median / p90 / worst",
        "dead : healthy, median / p90",
        "over 25 ms",
    ];
    let row = |contestant: &Contestant| {
        let over = contestant.dead.iter().filter(|millis| **millis > 25.0).count();
        let [healthy, dead] = [&contestant.healthy, &contestant.dead].map(|millis| Spread::of(millis));
        [
            contestant.client.name().to_owned(),
            contestant.dead.len().to_string(),
            healthy.words(),
            dead.words(),
            format!("{:.2} / {:.2}", dead.median / healthy.median, dead.p90 / healthy.p90),
            over.to_string(),
        ]
    };
    table(heads, &contestants.iter().map(row).collect::<Vec<_>>())
}

/// Some starts, in milliseconds.
struct Spread {
    median: f64,
    /// Nine of ten took no longer: with a dead host in the list a third of the starts may try that first.
    p90: f64,
    worst: f64,
}

impl Spread {
    fn of(millis: &[f64]) -> Self {
        let mut sorted = millis.to_vec();
        sorted.sort_by(f64::total_cmp);
        let p90 = sorted.get((sorted.len() * 9).div_ceil(10).saturating_sub(1)).copied().unwrap_or(f64::NAN);
        Self { median: median(millis), p90, worst: greatest(millis) }
    }

    fn words(&self) -> String {
        format!("{:.1} / {:.1} / {:.1}", self.median, self.p90, self.worst)
    }
}
