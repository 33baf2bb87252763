//! Whom a command talks to: a cluster by its bootstrap list, or the embedded broker of a data directory, joined or started.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, anyhow};
use milena_broker::{
    Broker, BrokerConfig, BrokerError, DataDirState, EmbeddedCluster, ListenerConfig, RunningBroker,
    StartedOrJoined,
};
use tokio::{sync::Mutex, task::JoinHandle, time::sleep};

use crate::args::Global;

/// How often a command looks whether the one whose broker it uses still runs.
const LOOK: Duration = Duration::from_millis(100);
/// In the data directory: [`Lent`].
const LENT_FILE: &str = "milena-command";

/// A cluster that can be talked to.
#[derive(Debug)]
pub(crate) struct Cluster {
    bootstrap: String,
    origin: Origin,
    /// The embedded broker, if this process runs it: from the start, or since the one that it relied on has ended.
    own: Own,
    /// Takes the broker over when the command that ran it ends.
    successor: Option<JoinHandle<()>>,
}

type Own = Arc<Mutex<Option<Box<Broker>>>>;

#[derive(Debug, PartialEq, Eq)]
enum Origin {
    Remote,
    Started { dir: PathBuf },
    Joined { dir: PathBuf, pid: u32 },
}

impl Cluster {
    /// The cluster of `-b`, or the embedded broker.
    ///
    /// # Errors
    /// The data directory cannot be used, or its broker does not come up.
    pub(crate) async fn connect(global: &Global) -> anyhow::Result<Self> {
        match global.bootstrap() {
            Some(list) => Ok(Self {
                bootstrap: list.to_owned(),
                origin: Origin::Remote,
                own: Own::default(),
                successor: None,
            }),
            None => Self::embedded(&global.data).await,
        }
    }

    async fn embedded(dir: &Path) -> anyhow::Result<Self> {
        let found = start_or_join(dir).await?;
        let bootstrap = found.bootstrap();
        Ok(match found {
            StartedOrJoined::Started(broker) => Self {
                bootstrap,
                origin: Origin::Started { dir: dir.to_owned() },
                own: Arc::new(Mutex::new(Some(broker))),
                successor: None,
            },
            StartedOrJoined::Joined(RunningBroker { pid, .. }) => {
                let own = Own::default();
                let succeed = succeed(dir.to_owned(), bootstrap.clone(), Arc::clone(&own));
                let origin = Origin::Joined { dir: dir.to_owned(), pid };
                Self { bootstrap, origin, own, successor: Some(tokio::spawn(succeed)) }
            }
        })
    }

    /// Whether it is a broker that was started for this command.
    pub(crate) fn is_started(&self) -> bool {
        matches!(self.origin, Origin::Started { .. })
    }

    /// bootstrap.servers.
    pub(crate) fn bootstrap(&self) -> &str {
        &self.bootstrap
    }

    /// Shuts the embedded broker down, if this process runs it. Close the clients first.
    ///
    /// # Errors
    /// What was acknowledged may not be on the disk.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        if let Some(successor) = self.successor {
            successor.abort();
            // So that it is not starting a broker any more.
            let _ = successor.await;
        }
        let Some(broker) = self.own.lock().await.take() else { return Ok(()) };
        broker.shutdown().await.context("the embedded broker did not shut down cleanly")
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Remote => write!(f, "{}", self.bootstrap),
            Origin::Started { dir } => {
                write!(f, "the embedded broker on {} (started for this command)", dir.display())
            }
            Origin::Joined { dir, pid } => {
                write!(f, "the embedded broker on {} (at {}, process {pid})", dir.display(), self.bootstrap)
            }
        }
    }
}

/// Two commands may start at once: one gets the directory, the other one joins it.
///
/// The broker comes up where the last command's broker was, because others may rely on that one: they look for it there.
async fn start_or_join(dir: &Path) -> anyhow::Result<StartedOrJoined> {
    if let (Some(brokers), Ok(DataDirState::Free)) = (EmbeddedCluster::size_of(dir), DataDirState::of(dir)) {
        return Err(anyhow!(
            "the cluster of {brokers} brokers on {0} does not run: start it with `milena broker --data {0}`",
            dir.display()
        ));
    }
    let start = async |port| {
        let mut config = BrokerConfig::new(dir);
        config.listeners = vec![ListenerConfig::loopback(port)];
        Broker::start_or_join(config).await
    };
    let found = match start(Lent::last(dir).map_or(0, |lent| lent.port)).await {
        // Something else has the port meanwhile.
        Err(BrokerError::Bind { .. }) => start(0).await,
        found => found,
    };
    let found = found.with_context(|| {
        format!(
            "no broker on the data directory {} (another one: --data DIR; a cluster: -b HOST:PORT)",
            dir.display()
        )
    })?;
    if let StartedOrJoined::Started(broker) = &found {
        Lent { port: broker.address().port() }.write(dir);
    }
    Ok(found)
}

/// What a command leaves in the data directory when it runs the broker for its own sake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lent {
    /// Where the broker listens.
    port: u16,
}

impl Lent {
    fn last(dir: &Path) -> Option<Self> {
        let text = fs::read_to_string(dir.join(LENT_FILE)).ok()?;
        Some(Self { port: text.trim().parse().ok()? })
    }

    /// A `milena broker` serves the directory now: nobody is to take over from it.
    pub(crate) fn forget(dir: &Path) {
        let _ = fs::remove_file(dir.join(LENT_FILE));
    }

    /// Without the file others only do not take over; that is no reason to fail.
    fn write(self, dir: &Path) {
        let _ = fs::write(dir.join(LENT_FILE), format!("{}\n", self.port));
    }
}

/// Waits for the end of the command whose broker this one uses, and runs a broker at the same address from then on, so that
/// clients find it again. Not so for a `milena broker`, which its user ends and starts again.
async fn succeed(dir: PathBuf, bootstrap: String, own: Own) {
    let port = bootstrap.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    loop {
        sleep(LOOK).await;
        // The port and not the process: others may have come and gone since the last look.
        let is_lent = || Lent::last(&dir).is_some_and(|lent| Some(lent.port) == port);
        if !matches!(DataDirState::of(&dir), Ok(DataDirState::Free)) || !is_lent() {
            continue;
        }
        let mut own = own.lock().await;
        match start_or_join(&dir).await {
            Ok(StartedOrJoined::Started(broker)) => {
                tracing::info!(
                    bootstrap,
                    "the command that ran the broker has ended; this one goes on with it"
                );
                *own = Some(broker);
                return;
            }
            Ok(StartedOrJoined::Joined(_)) => {}
            Err(error) => tracing::warn!("cannot take the embedded broker over: {error:#}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_leaves_is_found() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Lent::last(dir.path()), None);
        let lent = Lent { port: 40_000 };
        lent.write(dir.path());
        assert_eq!(Lent::last(dir.path()), Some(lent));
        Lent::forget(dir.path());
        assert_eq!(Lent::last(dir.path()), None);
    }
}
