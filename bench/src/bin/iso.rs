//! Two loops on one producer, one for the healthy partitions (1, 2, 4, 5), one for the sick (0, 3), whose leader is about to fail: the
//! peers' command line, BOOTSTRAP TOPIC SECONDS RATE SIZE, and their line: the acknowledgements of each loop, second by second. The
//! producer has its defaults.

use std::fmt::Display;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Parser;
use milena::{Delivery, Producer, Record};
use milena_bench::{Observer, Sink};

/// Tokio's timers are no finer.
const TICK: Duration = Duration::from_millis(1);

#[derive(Parser)]
struct Args {
    bootstrap: String,
    topic: String,
    seconds: u64,
    /// Records per second, of both loops; two thirds go to healthy partitions.
    rate: u64,
    /// Bytes of a record's value.
    size: usize,
    /// A property of the producer, key=value.
    #[arg(long = "set", short = 'X')]
    set: Vec<String>,
}

/// Acknowledgements by second.
struct Seconds {
    acknowledged: Vec<u64>,
    errors: u64,
}

impl Sink for Seconds {
    fn acknowledged(&mut self, _: &Delivery, _: u64, now: u64) {
        if let Some(count) = self.acknowledged.get_mut((now / 1_000_000_000) as usize) {
            *count += 1;
        }
    }

    fn failed(&mut self, error: &dyn Display) {
        if self.errors == 0 {
            eprintln!("{error}");
        }
        self.errors += 1;
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("a tokio runtime")?;
    runtime.block_on(run(&args))
}

async fn run(args: &Args) -> Result<()> {
    let mut builder = Producer::builder().bootstrap(&args.bootstrap);
    for property in &args.set {
        let (key, value) =
            property.split_once('=').with_context(|| format!("`{property}` is not key=value"))?;
        builder = builder.set(key, value);
    }
    let producer = builder.build().context("building the producer")?;
    let start = Instant::now();
    let (healthy, sick) = tokio::join!(
        send(args, &producer, start, &[1, 2, 4, 5], args.rate * 2 / 3),
        send(args, &producer, start, &[0, 3], args.rate / 3),
    );
    let line = |seconds: &[u64]| seconds.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    println!(
        "milena healthy/s: {} | sick/s: {} err {}",
        line(&healthy.acknowledged),
        line(&sick.acknowledged),
        healthy.errors + sick.errors
    );
    // What is still under way was not to be waited for.
    std::process::exit(0);
}

/// Sends to `partitions` in turn, until the time is over.
async fn send(args: &Args, producer: &Producer, start: Instant, partitions: &[i32], rate: u64) -> Seconds {
    let end = start + Duration::from_secs(args.seconds);
    let acknowledged = vec![0; usize::try_from(args.seconds).unwrap_or(0)];
    let mut observer = Observer::new(start, Seconds { acknowledged, errors: 0 });
    let payload = vec![b'x'; args.size];
    for (number, partition) in (0u64..).zip(partitions.iter().cycle()) {
        let due = start + Duration::from_nanos(number * 1_000_000_000 / rate.max(1));
        if due.min(end) > Instant::now() + TICK {
            observer.observe_until(due.min(end)).await;
        }
        if Instant::now() + TICK >= end {
            break;
        }
        let record = Record::to(&args.topic).value(&payload).partition(*partition);
        let sent = start.elapsed();
        // A loop that waits for memory still sees what arrives, and ends when the time is over.
        let sending = tokio::time::timeout_at(end.into(), producer.send(record));
        match observer.observe_while(sending).await {
            Ok(Ok(delivery)) => observer.add(sent, delivery),
            Ok(Err(error)) => observer.sink.failed(&error),
            Err(_) => break,
        }
    }
    observer.look();
    observer.sink
}
