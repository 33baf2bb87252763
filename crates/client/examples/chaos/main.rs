//! A cluster of three on disk, two producers at full speed, and everything that can happen to brokers and to the network
//! between them, for as long as wanted; then all is read back and compared.
//!
//! `cargo run --release -p milena --example chaos -- [SECONDS] [SEED]` (600 s, and a seed of its own, which it prints).
//!
//! It goes in rounds of half a minute, each with a topic of its own: trouble, peace, and the checks. What must hold: what was
//! acknowledged is there, once, in the order of sending; the replicas' logs are byte for byte the same.

#![expect(clippy::print_stdout, reason = "it says what it sees")]

mod records;
mod round;
mod trouble;

use std::time::{Duration, Instant};

type Error = Box<dyn std::error::Error + Send + Sync>;

const ROUND: Duration = Duration::from_secs(30);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments.next().map_or(Ok(600), |seconds| seconds.parse())?;
    let seed: u64 = arguments.next().map_or(Ok(rand::random()), |seed| seed.parse())?;
    println!("seed {seed}");
    let folder = tempfile::tempdir()?;
    let cluster = round::cluster(folder.path()).await?;
    let (began, mut left, mut number) = (Instant::now(), Duration::from_secs(seconds), 0);
    let mut total = records::Totals::default();
    while !left.is_zero() {
        let trouble = ROUND.min(left);
        left -= trouble;
        let (totals, failures) = round::play(&cluster, folder.path(), number, seed, trouble).await?;
        println!("{:>6.1} s  round {number}: {totals}", began.elapsed().as_secs_f64());
        failures.iter().for_each(|failure| println!("         {failure}"));
        total += totals;
        number += 1;
    }
    // Nobody else holds it any more.
    if let Some(cluster) = std::sync::Arc::into_inner(cluster) {
        cluster.shutdown().await?;
    }
    println!("{number} rounds: {total}");
    Ok(())
}
