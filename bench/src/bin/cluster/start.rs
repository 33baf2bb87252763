//! From nothing to the first acknowledged produce.

use std::time::Instant;

use anyhow::{Context as _, Result};
use milena::{Producer, Record};
use milena_bench::{greatest, median, table};
use milena_broker::EmbeddedCluster;

#[derive(clap::Args)]
pub struct Args {
    /// How often, for each kind.
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    /// How many brokers.
    #[arg(long, default_value_t = 3)]
    brokers: i32,
}

/// Milliseconds from the beginning until the brokers know each other, the topic is served, and the record is acknowledged by all.
#[derive(Clone, Copy)]
struct Steps {
    started: f64,
    created: f64,
    acknowledged: f64,
}

pub fn run(args: &Args) -> Result<()> {
    let mut rows = Vec::new();
    for on_disk in [false, true] {
        let mut rounds = Vec::new();
        for _ in 0..args.rounds {
            rounds.push(round(args, on_disk)?);
        }
        let column = |step: fn(&Steps) -> f64| rounds.iter().map(step).collect::<Vec<_>>();
        let all = column(|steps| steps.acknowledged);
        rows.push([
            if on_disk { "on disk" } else { "in memory" }.to_owned(),
            format!("{:.1}", median(&column(|steps| steps.started))),
            format!("{:.1}", median(&column(|steps| steps.created))),
            format!("{:.1}", median(&all)),
            format!("{:.1}", greatest(&all)),
        ]);
    }
    println!(
        "{} brokers from nothing, milliseconds, median of {} rounds; the topic has a replica on each of up to three\n",
        args.brokers, args.rounds
    );
    let heads = ["data", "brokers know each other", "topic is served", "first produce acknowledged", "worst"];
    println!("{}", table(heads, &rows));
    Ok(())
}

fn round(args: &Args, on_disk: bool) -> Result<Steps> {
    let data = tempfile::tempdir().context("making a folder for the cluster")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let replicas = i16::try_from(args.brokers.min(3))?;
    runtime.block_on(async {
        let begun = Instant::now();
        let millis = || begun.elapsed().as_secs_f64() * 1e3;
        let mut builder = EmbeddedCluster::builder().brokers(args.brokers);
        if on_disk {
            builder = builder.data_dir(data.path());
        }
        let cluster = builder.start().await?;
        let started = millis();
        cluster.create_topic("first", 1, replicas).await?;
        let created = millis();
        let producer = Producer::builder().bootstrap(&cluster.bootstrap()).set("linger.ms", "0").build()?;
        producer.send(Record::to("first").value("first")).await?.await?;
        let acknowledged = millis();
        producer.close(std::time::Duration::from_secs(1)).await;
        drop(cluster);
        Ok(Steps { started, created, acknowledged })
    })
}
