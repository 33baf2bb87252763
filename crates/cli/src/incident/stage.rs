//! [`Stage`]: the cluster on which the incident is played, and what kills a host of it.

use std::{
    io,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow};
use milena::{Admin, NewTopic};
use milena_broker::{EmbeddedCluster, FaultGuard};
use milena_protocol::ErrorCode;
use parking_lot::Mutex;
use tokio::{sync::mpsc, time::timeout};

use super::{args::IncidentArgs, time_line::Event};
use crate::{args::Global, say, usage_error};

/// How many partitions each broker leads.
const LED_BY_EACH: usize = 2;
/// More brokers are not needed to see it.
const MAX_BROKERS: usize = 50;
/// zookeeper.session.timeout.ms of Kafka 0.8. (Today's broker.session.timeout.ms is 9 s.)
const SESSION_TIMEOUT: Duration = Duration::from_secs(6);
/// How long a cluster may take to tell of itself.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where it is played.
#[derive(Debug)]
pub(super) enum Stage {
    Embedded(Box<Embedded>),
    Remote(Box<Remote>),
}

#[derive(Debug)]
pub(super) struct Embedded {
    cluster: EmbeddedCluster,
    admin: Admin,
    black_hole: Option<FaultGuard>,
}

#[derive(Debug)]
pub(super) struct Remote {
    bootstrap: String,
    fault: String,
    heal: Option<String>,
    admin: Admin,
    /// That it is not there before, and so is not to be there afterwards.
    made_topic: Option<String>,
    struck: bool,
    /// While the command that makes a host dead runs.
    striking: Running,
}

/// The process of a command that runs, which leads a group of its own.
type Running = Arc<Mutex<Option<u32>>>;

impl Stage {
    /// Three embedded brokers, or the cluster of -b; with the topic.
    ///
    /// # Errors
    /// What was said contradicts itself, the cluster does not come up, or refuses the topic.
    pub(super) async fn open(global: &Global, args: &IncidentArgs) -> anyhow::Result<Self> {
        match (global.bootstrap(), &args.fault) {
            (Some(bootstrap), Some(fault)) => Remote::open(bootstrap, fault, args).await.map(Self::Remote),
            (Some(_), None) => Err(usage_error(
                "--fault COMMAND is missing: how is the host of one of these brokers to die? (Without -b the play has a \
                 cluster of its own.)",
            )),
            (None, Some(_)) => Err(usage_error("--fault is for a cluster of yours: say where it is with -b")),
            (None, None) => Embedded::open(args).await.map(Self::Embedded),
        }
    }

    /// What both producers start from.
    pub(super) fn bootstrap(&self) -> String {
        match self {
            Self::Embedded(stage) => stage.cluster.bootstrap(),
            Self::Remote(stage) => stage.bootstrap.clone(),
        }
    }

    /// What it is, for people.
    pub(super) fn describe(&self, args: &IncidentArgs) -> String {
        match self {
            Self::Embedded(_) => {
                let session = args.scaled(SESSION_TIMEOUT);
                format!("three embedded brokers, whose sessions end after {session:?}")
            }
            Self::Remote(stage) => stage.bootstrap.clone(),
        }
    }

    /// A host dies. Says what happens, in words; a command that fails is told as an event.
    ///
    /// # Errors
    /// There is nobody to die.
    pub(super) fn strike(&mut self, events: mpsc::Sender<Event>) -> anyhow::Result<String> {
        match self {
            Self::Embedded(stage) => stage.strike(),
            Self::Remote(stage) => {
                let command = stage.fault.clone();
                stage.struck = true;
                let running = stage.striking.clone();
                let text = format!("FAULT: a host dies by `{command}`");
                tokio::spawn(async move {
                    let began = Instant::now();
                    let outcome = run(command, &running).await.map(|()| began.elapsed());
                    // Whoever reads the time line may have gone.
                    let _ = events
                        .send(Event::Struck(outcome.map_err(|error| format!("--fault: {error:#}"))))
                        .await;
                });
                Ok(text)
            }
        }
    }

    /// Ends the fault and whatever else there was not before.
    ///
    /// # Errors
    /// The fault may be there still.
    pub(super) async fn close(self) -> anyhow::Result<()> {
        match self {
            // A cluster that is not needed any more need not end in order.
            Self::Embedded(stage) => {
                stage.admin.close().await;
                Ok(())
            }
            Self::Remote(stage) => stage.close().await,
        }
    }
}

impl Embedded {
    async fn open(args: &IncidentArgs) -> anyhow::Result<Box<Self>> {
        let builder = EmbeddedCluster::builder().brokers(3).session_timeout(args.scaled(SESSION_TIMEOUT));
        let cluster = builder.start().await.context("the embedded cluster does not start")?;
        let admin = Admin::builder().bootstrap(&cluster.bootstrap()).timeout(PATIENCE).build()?;
        make_topic(&admin, &cluster.broker_ids(), &args.topic).await?;
        Ok(Box::new(Self { cluster, admin, black_hole: None }))
    }

    /// Of a broker that is not the controller, so that the cluster is as quick as it can be.
    fn strike(&mut self) -> anyhow::Result<String> {
        let controller = self.cluster.controller();
        let ids = self.cluster.running();
        let id =
            ids.into_iter().rfind(|id| Some(*id) != controller).ok_or_else(|| anyhow!("no broker runs"))?;
        self.black_hole = Some(self.cluster.black_hole(id)?);
        Ok(format!("FAULT: the host of broker {id} dies; it answers nothing, not even with a RST"))
    }
}

impl Remote {
    async fn open(bootstrap: &str, fault: &str, args: &IncidentArgs) -> anyhow::Result<Box<Self>> {
        let admin = Admin::builder().bootstrap(bootstrap).timeout(PATIENCE).all_topics().build();
        let admin = admin.map_err(|error| usage_error(error.to_string()))?;
        let metadata = admin.metadata();
        metadata.refresh();
        let view = timeout(PATIENCE, metadata.changed(0)).await;
        let view =
            view.map_err(|_| anyhow!("no broker of {bootstrap} has told its metadata within {PATIENCE:?}"))?;
        let brokers: Vec<i32> = view.cluster.nodes().map(|node| node.id).take(MAX_BROKERS).collect();
        let made_topic = make_topic(&admin, &brokers, &args.topic).await?.then(|| args.topic.clone());
        let (bootstrap, fault, heal) = (bootstrap.to_owned(), fault.to_owned(), args.heal.clone());
        Ok(Box::new(Self {
            bootstrap,
            fault,
            heal,
            admin,
            made_topic,
            struck: false,
            striking: Running::default(),
        }))
    }

    async fn close(self) -> anyhow::Result<()> {
        // A fault that is not there yet must not come after its healing.
        if let Some(leader) = self.striking.lock().take() {
            end_group(leader);
        }
        let healed = match self.heal.filter(|_| self.struck) {
            Some(command) => run(command, &Running::default()).await,
            None => Ok(()),
        };
        if let Some(topic) = self.made_topic {
            let deleted = self.admin.delete_topics(&[&topic]).await;
            let refused = deleted.map_err(anyhow::Error::from).and_then(|outcomes| {
                outcomes.into_iter().try_for_each(|(_, outcome)| outcome.map(drop)).map_err(Into::into)
            });
            if let Err(error) = refused {
                say(&format!("topic {topic} is left behind: {error:#}"));
            }
        }
        self.admin.close().await;
        healed.context("--heal: the host may be dead still")
    }
}

/// Whether the topic was not there before.
async fn make_topic(admin: &Admin, brokers: &[i32], name: &str) -> anyhow::Result<bool> {
    let topic = NewTopic { assignments: ring(brokers), ..NewTopic::new(name) };
    match admin.create_topics(&[topic]).await?.pop() {
        None | Some((_, Ok(_))) => Ok(true),
        Some((_, Err(refusal))) if refusal.code == ErrorCode::TOPIC_ALREADY_EXISTS => Ok(false),
        Some((_, Err(refusal))) => Err(refusal).context(format!("topic {name}")),
    }
}

/// The replicas of each partition: a broker and the next one. So, whoever dies, there is a broker whose partitions all have
/// nothing to do with it. Those of the others wait, and as a broker's answers are in order they would hold up any that were
/// led beside them.
fn ring(brokers: &[i32]) -> Vec<Vec<i32>> {
    let next = brokers.iter().cycle().skip(1);
    let pairs = brokers.iter().zip(next);
    let replicas: Vec<Vec<i32>> = pairs
        .map(|(leader, next)| if leader == next { vec![*leader] } else { vec![*leader, *next] })
        .collect();
    replicas.iter().cycle().take(replicas.len() * LED_BY_EACH).cloned().collect()
}

/// Runs a shell command, in a process group of its own: Ctrl-C is for the play. What it prints is for standard error.
async fn run(command: String, running: &Running) -> anyhow::Result<()> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(&command).stdin(Stdio::null()).stdout(io::stderr());
    lead_a_group(&mut shell);
    let mut child = shell.spawn().with_context(|| format!("cannot run `{command}`"))?;
    *running.lock() = Some(child.id());
    let status = tokio::task::spawn_blocking(move || child.wait()).await;
    running.lock().take();
    let status = status.context("the command was not waited for")??;
    if status.success() { Ok(()) } else { Err(anyhow!("the command failed: {status}")) }
}

#[cfg(unix)]
fn lead_a_group(shell: &mut Command) {
    std::os::unix::process::CommandExt::process_group(shell, 0);
}

#[cfg(not(unix))]
fn lead_a_group(_shell: &mut Command) {}

#[cfg(unix)]
fn end_group(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(leader) = Pid::from_raw(leader.cast_signed()) {
        let _ended_already = kill_process_group(leader, Signal::TERM);
    }
}

#[cfg(not(unix))]
fn end_group(_leader: u32) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_are_a_ring() {
        assert_eq!(ring(&[1, 2, 3]), [[1, 2], [2, 3], [3, 1], [1, 2], [2, 3], [3, 1]]);
        assert_eq!(ring(&[7]), [[7], [7]]);
    }
}
