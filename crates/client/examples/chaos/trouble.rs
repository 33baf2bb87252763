//! What happens to brokers and to the network between them.

use std::{sync::Arc, time::Duration};

use milena_broker::EmbeddedCluster;
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use tokio::{sync::watch, time::sleep};

use crate::Error;

/// A broker that is away altogether; one at a time.
#[derive(Clone, Copy, Debug)]
enum Away {
    Killed,
    Stopped,
    Paused,
    BlackHole,
}

/// What is less than that; beside the others.
#[derive(Clone, Copy, Debug)]
enum Ill {
    Partition,
    OneWay,
    NoClients,
    Delay,
    SlowDisk,
}

/// Lets brokers be away, one after the other, until told to stop; answers how often.
pub(crate) async fn away(
    cluster: Arc<EmbeddedCluster>,
    seed: u64,
    mut stop: watch::Receiver<bool>,
) -> Result<u64, Error> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let kinds = [Away::Killed, Away::Killed, Away::Stopped, Away::Paused, Away::BlackHole];
    let mut count = 0;
    while rest(&mut stop, rng.random_range(100..2_000)).await {
        let id = one(&cluster.broker_ids(), &mut rng);
        let kind = kinds[rng.random_range(0..kinds.len())];
        let time = rng.random_range(100..4_000);
        count += 1;
        match kind {
            Away::Killed => {
                cluster.kill(id)?;
                rest(&mut stop, time).await;
                cluster.restart(id).await?;
            }
            Away::Stopped => {
                cluster.stop(id).await?;
                rest(&mut stop, time).await;
                cluster.restart(id).await?;
            }
            Away::Paused => {
                cluster.pause(id)?;
                rest(&mut stop, time).await;
                cluster.resume(id)?;
            }
            Away::BlackHole => {
                let gone = cluster.black_hole(id)?;
                rest(&mut stop, time).await;
                gone.heal();
            }
        }
    }
    Ok(count)
}

/// Lets the network and the disks be ill, until told to stop; answers how often.
pub(crate) async fn ill(
    cluster: Arc<EmbeddedCluster>,
    seed: u64,
    mut stop: watch::Receiver<bool>,
) -> Result<u64, Error> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let kinds = [Ill::Partition, Ill::OneWay, Ill::NoClients, Ill::Delay, Ill::SlowDisk];
    let mut count = 0;
    while rest(&mut stop, rng.random_range(500..3_000)).await {
        let ids = cluster.broker_ids();
        let a = one(&ids, &mut rng);
        let b = one(&ids.iter().copied().filter(|id| *id != a).collect::<Vec<_>>(), &mut rng);
        let some = Duration::from_millis(rng.random_range(1..100));
        let fault = match kinds[rng.random_range(0..kinds.len())] {
            Ill::Partition => cluster.partition(a, b)?,
            Ill::OneWay => cluster.partition_one_way(a, b)?,
            Ill::NoClients => cluster.partition_clients(a)?,
            Ill::Delay => cluster.delay(a, some)?,
            Ill::SlowDisk => cluster.slow_disk(a, some / 10)?,
        };
        count += 1;
        rest(&mut stop, rng.random_range(100..3_000)).await;
        fault.heal();
    }
    Ok(count)
}

fn one(ids: &[i32], rng: &mut SmallRng) -> i32 {
    ids[rng.random_range(0..ids.len())]
}

/// Waits some milliseconds; false if it is time to stop.
async fn rest(stop: &mut watch::Receiver<bool>, millis: u64) -> bool {
    if *stop.borrow_and_update() {
        return false;
    }
    tokio::select! {
        () = sleep(Duration::from_millis(millis)) => true,
        _ = stop.changed() => false,
    }
}
