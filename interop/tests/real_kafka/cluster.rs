//! The cluster that these tests share.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::{Context as _, Result};
use milena::Admin;
use milena_interop::RealKafka;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Read by those who want a healthy cluster, written by who hurts it: a start of one more would cost more than waiting.
static HEALTHY: RwLock<()> = RwLock::const_new(());

/// A cluster of three brokers, on loan.
pub(crate) struct Cluster<Guard> {
    kafka: &'static RealKafka,
    _guard: Guard,
}

impl<Guard> Cluster<Guard> {
    /// The cluster's brokers, for what has to outlive a borrow.
    pub(crate) fn brokers(&self) -> &'static RealKafka {
        self.kafka
    }

    /// The log file of a partition with less than a segment in it, at its leader.
    pub(crate) async fn log(&self, topic: &str, partition: i32) -> Result<PathBuf> {
        let leader = leader(&self.kafka.bootstrap(), topic, partition).await?;
        let folder = self.kafka.log_dir(leader).join(format!("{topic}-{partition}"));
        Ok(folder.join("00000000000000000000.log"))
    }
}

impl<Guard> Deref for Cluster<Guard> {
    type Target = RealKafka;

    fn deref(&self) -> &RealKafka {
        self.kafka
    }
}

/// The cluster, with all of its brokers alive.
pub(crate) async fn cluster() -> Option<Cluster<RwLockReadGuard<'static, ()>>> {
    let guard = HEALTHY.read().await;
    Some(Cluster { kafka: shared()?, _guard: guard })
}

/// The cluster for one test alone, which leaves all brokers alive.
pub(crate) async fn cluster_to_hurt() -> Option<Cluster<RwLockWriteGuard<'static, ()>>> {
    let guard = HEALTHY.write().await;
    Some(Cluster { kafka: shared()?, _guard: guard })
}

/// Who leads a partition.
pub(crate) async fn leader(bootstrap: &str, topic: &str, partition: i32) -> Result<usize> {
    let admin = Admin::builder().bootstrap(bootstrap).build()?;
    let (_, described) = admin.describe_topics(&[topic]).await?.pop().context("a description")?;
    let partitions = described?.partitions;
    let leader = partitions.iter().find(|known| known.partition == partition).and_then(|known| known.leader);
    admin.close().await;
    Ok(usize::try_from(leader.with_context(|| format!("{topic}-{partition} has no leader"))?)?)
}

fn shared() -> Option<&'static RealKafka> {
    static SHARED: OnceLock<Option<RealKafka>> = OnceLock::new();
    // A dead broker keeps its leadership for the session's time: half of Kafka's default is spent waiting.
    let builder = RealKafka::builder().brokers(3).property("broker.session.timeout.ms", "4500");
    let builder = builder.property("auto.create.topics.enable", "false");
    SHARED.get_or_init(|| builder.start_or_skip()).as_ref()
}
