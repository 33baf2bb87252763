//! Sends records with Milena as fast as it can, or at a rate, and prints a line of figures: the same command line and the same line as
//! the peers'. One sending loop; every record's outcome is observed and its latency taken, by the same task. A value begins with the
//! record's number, eight bytes, the highest first, so that what is read back can be checked.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use clap::Parser;
use hdrhistogram::Histogram;
use milena::{Delivery, Producer, Record};
use milena_bench::{Fate, Figures, Observer, Sink, Usage, monotonic};

/// At full speed, outcomes are looked for once in so many sends: often enough to take latencies to some ten microseconds.
const SENDS_PER_LOOK: u64 = 64;

/// The largest latency that is told apart, in microseconds: longer than any timeout.
const LATENCY_MAX_MICROS: u64 = 600_000_000;

/// Tokio's timers are no finer.
const TICK: Duration = Duration::from_millis(1);

#[derive(Parser)]
struct Args {
    #[arg(long)]
    bootstrap: String,
    #[arg(long)]
    topic: String,
    #[arg(long, default_value_t = 1_000_000)]
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
    /// Record i goes to partition i modulo this; 0: the partitioner chooses.
    #[arg(long, default_value_t = 0)]
    partitions: i32,
    /// Partitions to report apart.
    #[arg(long, default_value = "", value_delimiter = ',')]
    sick: Vec<String>,
    /// Where to write down what became of each record: when it was sent and acknowledged, its partition, how often it was sent.
    #[arg(long)]
    fates: Option<PathBuf>,
    /// Observes records in whatever order they arrive, for a fault that moves records without a key: costs CPU.
    #[arg(long)]
    any_order: bool,
    /// A property of the producer, key=value.
    #[arg(long = "set", short = 'X')]
    set: Vec<String>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    // The client's driver has a thread of its own.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("a tokio runtime")?;
    runtime.block_on(run(&args))
}

async fn run(args: &Args) -> Result<()> {
    let mut builder =
        Producer::builder().bootstrap(&args.bootstrap).set("linger.ms", &args.linger.to_string());
    for property in &args.set {
        let (key, value) =
            property.split_once('=').with_context(|| format!("`{property}` is not key=value"))?;
        builder = builder.set(key, value);
    }
    let producer = builder.build().context("building the producer")?;
    let mut payload = vec![b'x'; args.size];
    let sick = args.sick.iter().filter_map(|partition| partition.parse().ok()).collect();
    let (start, before) = (Instant::now(), Usage::now());
    let fates = args.fates.as_ref().map(|_| Fates::from(monotonic()));
    let mut observer = Observer::new(start, Latencies::new(sick, fates)?);
    if args.any_order {
        observer = observer.in_any_order();
    }
    let start_millis =
        SystemTime::now().duration_since(UNIX_EPOCH).context("a clock before 1970")?.as_millis() as i64;
    for number in 0..args.records {
        if let Some(due) = (number * 1_000_000_000).checked_div(args.rate) {
            let due = start + Duration::from_nanos(due);
            if due > Instant::now() + TICK {
                observer.observe_until(due).await;
            }
        }
        if let Some(first) = payload.first_chunk_mut() {
            *first = number.to_be_bytes();
        }
        // One reading of the clock is both the start of the latency and the record's time stamp.
        let sent = start.elapsed();
        let mut record =
            Record::to(&args.topic).value(&payload).timestamp(start_millis + sent.as_millis() as i64);
        if args.partitions > 0 {
            record = record.partition((number % args.partitions as u64) as i32);
        }
        match producer.send(record).await {
            Ok(delivery) => observer.add(sent, delivery),
            Err(error) => observer.sink.failed(&error),
        }
        if number % SENDS_PER_LOOK == 0 {
            observer.look();
        }
    }
    tokio::join!(producer.flush(), observer.observe_all());
    let (wall_s, after) = (start.elapsed().as_secs_f64(), Usage::now());
    observer.sink.report(args, wall_s, after.cpu_s - before.cpu_s, after.rss_mb)?;
    if let (Some(fates), Some(path)) = (&observer.sink.fates, &args.fates) {
        Fate::write_all(&fates.all, path)?;
    }
    producer.close(Duration::from_secs(10)).await;
    Ok(())
}

/// The latencies of the records that arrived.
struct Latencies {
    sick: Vec<i32>,
    healthy_ones: Histogram<u64>,
    sick_ones: Histogram<u64>,
    fates: Option<Fates>,
    errors: u64,
}

/// What became of each record, and the time at the start.
struct Fates {
    start: Duration,
    all: Vec<Fate>,
}

impl From<Duration> for Fates {
    fn from(start: Duration) -> Self {
        Self { start, all: Vec::new() }
    }
}

impl Sink for Latencies {
    fn acknowledged(&mut self, delivery: &Delivery, sent: u64, now: u64) {
        let micros = (now - sent) / 1_000;
        let is_sick = !self.sick.is_empty() && self.sick.contains(&delivery.partition());
        let latencies = if is_sick { &mut self.sick_ones } else { &mut self.healthy_ones };
        // The histogram grows as it must.
        _ = latencies.record(micros);
        if let Some(fates) = &mut self.fates {
            let [sent, acknowledged] = [sent, now].map(|nanos| fates.start + Duration::from_nanos(nanos));
            let partition = usize::try_from(delivery.partition()).unwrap_or(0);
            fates.all.push(Fate { sent, acknowledged, partition, attempts: delivery.attempts() });
        }
    }

    fn failed(&mut self, error: &dyn Display) {
        if self.errors == 0 {
            eprintln!("{error}");
        }
        self.errors += 1;
    }
}

impl Latencies {
    fn new(sick: Vec<i32>, fates: Option<Fates>) -> Result<Self> {
        let histogram = || Histogram::new_with_bounds(1, LATENCY_MAX_MICROS, 3).context("a histogram");
        Ok(Self { sick, healthy_ones: histogram()?, sick_ones: histogram()?, fates, errors: 0 })
    }

    fn report(&self, args: &Args, wall_s: f64, cpu_s: f64, rss_mb: i64) -> Result<()> {
        let milliseconds = |histogram: &Histogram<u64>, q: f64| {
            (histogram.value_at_quantile(q) as f64 / 10.0).round() / 100.0
        };
        let sick = &self.sick_ones;
        if !sick.is_empty() {
            let at = |q| milliseconds(sick, q);
            println!("sick: n={} p50={:.2} p99={:.2} max={:.2} ms", sick.len(), at(0.5), at(0.99), at(1.0));
        }
        let ok = self.healthy_ones.len() + sick.len();
        let at = |q| milliseconds(&self.healthy_ones, q);
        let round = |value: f64| (value * 1000.0).round() / 1000.0;
        let figures = Figures {
            client: "milena".to_owned(),
            records: args.records,
            size: args.size,
            ok,
            err: self.errors,
            wall_s: round(wall_s),
            rec_per_s: (ok as f64 / wall_s).round(),
            cpu_s: round(cpu_s),
            cpu_us_per_rec: round(cpu_s * 1e6 / ok.max(1) as f64),
            p50_ms: at(0.5),
            p99_ms: at(0.99),
            p999_ms: at(0.999),
            max_ms: at(1.0),
            rss_mb,
        };
        println!("{}", serde_json::to_string(&figures).context("the line of figures")?);
        Ok(())
    }
}
