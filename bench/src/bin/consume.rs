//! Reads a topic from its beginning with Milena, without a group, and prints a line of figures: the peers' command line and line.

use std::time::Instant;

use anyhow::{Context as _, Result};
use clap::Parser;
use milena::{Consumer, StartAt};
use milena_bench::Usage;

#[derive(Parser)]
struct Args {
    #[arg(long)]
    bootstrap: String,
    #[arg(long)]
    topic: String,
    /// Ends after so many.
    #[arg(long, default_value_t = 1_000_000)]
    records: u64,
    /// How many partitions the topic has.
    #[arg(long, default_value_t = 6)]
    partitions: i32,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("a tokio runtime")?;
    runtime.block_on(run(&args))
}

async fn run(args: &Args) -> Result<()> {
    let mut consumer =
        Consumer::builder().bootstrap(&args.bootstrap).build().context("building the consumer")?;
    let partitions =
        (0..args.partitions).map(|partition| (args.topic.clone(), partition, StartAt::Beginning));
    consumer.assign(partitions.collect()).await.context("assigning the partitions")?;

    let (start, before) = (Instant::now(), Usage::now());
    let (mut records, mut bytes) = (0u64, 0u64);
    while records < args.records {
        for record in consumer.next().await.context("fetching")?.records() {
            records += 1;
            bytes += record.context("reading a record")?.value.map_or(0, |value| value.len() as u64);
        }
    }
    let (wall_s, after) = (start.elapsed().as_secs_f64(), Usage::now());
    let (speed, cpu) = (records as f64 / wall_s, (after.cpu_s - before.cpu_s) * 1e6 / records as f64);
    println!(
        "{{\"client\":\"milena\",\"consumed\":{records},\"bytes\":{bytes},\"wall_s\":{wall_s:.3},\"rec_per_s\":{speed:.0},\
         \"cpu_us_per_rec\":{cpu:.3},\"rss_mb\":{}}}",
        after.rss_mb
    );
    consumer.close().await;
    Ok(())
}
