//! The cluster of three that is measured against: a real Apache Kafka, or brokers embedded in this process.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use milena_broker::{EmbeddedCluster, FaultGuard};
use milena_interop::RealKafka;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::PortDown;

/// Kafka's `broker.session.timeout.ms`: so long a dead broker keeps its leaderships.
const SESSION_TIMEOUT: Duration = Duration::from_secs(9);

/// Which cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum On {
    /// A real Apache Kafka 4.4.0 of three brokers.
    Real,
    /// The embedded cluster, on disk, with Kafka's session timeout.
    Embedded,
}

/// A running cluster of three brokers, with ids from 1 to 3.
#[derive(Debug)]
pub struct Stage(Kind);

#[derive(Debug)]
enum Kind {
    Real(RealKafka),
    Embedded { cluster: EmbeddedCluster, runtime: Runtime, _data: TempDir },
}

/// A host that is down; up again when this is dropped.
#[derive(Debug)]
pub struct HostDown<'a> {
    stage: &'a Stage,
    id: i32,
    /// From when on nothing got through.
    pub since: Instant,
    packets: Option<Packets>,
}

#[derive(Debug)]
enum Packets {
    Port { _guard: PortDown },
    BlackHole { _guard: FaultGuard },
}

impl On {
    /// In the words of a table's heading.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Real => "a real Apache Kafka 4.4.0, three brokers",
            Self::Embedded => "the embedded cluster, three brokers, session timeout 9 s",
        }
    }
}

impl Stage {
    /// Starts it.
    ///
    /// # Errors
    /// When it does not come up, or a host of it could not be taken down.
    pub fn start(on: On) -> Result<Self> {
        match on {
            On::Real => {
                PortDown::check()?;
                // As the peers were measured: ordinary Java machines.
                Ok(Self(Kind::Real(RealKafka::builder().brokers(3).jvm(&["-Xmx512m"]).start()?)))
            }
            On::Embedded => {
                let runtime = tokio::runtime::Builder::new_multi_thread()
                    .worker_threads(2)
                    .enable_all()
                    .build()
                    .context("a tokio runtime")?;
                let data = tempfile::tempdir().context("making a folder for the cluster")?;
                let builder =
                    EmbeddedCluster::builder().data_dir(data.path()).session_timeout(SESSION_TIMEOUT);
                let cluster = runtime.block_on(builder.start()).context("starting the embedded cluster")?;
                Ok(Self(Kind::Embedded { cluster, runtime, _data: data }))
            }
        }
    }

    /// The addresses of the three, in the order of their ids.
    #[must_use]
    pub fn bootstrap(&self) -> String {
        match &self.0 {
            Kind::Real(kafka) => kafka.bootstrap(),
            Kind::Embedded { cluster, .. } => cluster.bootstrap(),
        }
    }

    /// Takes a broker's host down: packets vanish, and its process stands still.
    ///
    /// # Errors
    /// When that cannot be done here; says why.
    pub fn host_down(&self, id: i32) -> Result<HostDown<'_>> {
        let packets = match &self.0 {
            Kind::Real(kafka) => Packets::Port { _guard: PortDown::new(kafka.port(number(id)?))? },
            Kind::Embedded { cluster, runtime, .. } => {
                let _inside = runtime.enter();
                Packets::BlackHole { _guard: cluster.black_hole(id)? }
            }
        };
        let down = HostDown { stage: self, id, since: Instant::now(), packets: Some(packets) };
        match &self.0 {
            Kind::Real(kafka) => kafka.pause(number(id)?)?,
            Kind::Embedded { cluster, .. } => cluster.pause(id)?,
        }
        Ok(down)
    }

    fn resume(&self, id: i32) -> Result<()> {
        match &self.0 {
            Kind::Real(kafka) => kafka.resume(number(id)?),
            Kind::Embedded { cluster, .. } => Ok(cluster.resume(id)?),
        }
    }
}

impl Drop for HostDown<'_> {
    fn drop(&mut self) {
        // The packets first, as when a cable is plugged in again.
        drop(self.packets.take());
        if let Err(error) = self.stage.resume(self.id) {
            eprintln!("broker {} does not go on: {error:#}", self.id);
        }
    }
}

fn number(id: i32) -> Result<usize> {
    usize::try_from(id).context("a negative broker id")
}
