//! [`Stage`]: the cluster on which the incident is played, and what kills a host of it.

use std::{
    io,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow};
use milena::{Admin, NewTopic};
use milena_broker::{EmbeddedCluster, FaultGuard};
use milena_protocol::ErrorCode;
use tokio::{sync::mpsc, time::timeout};

use super::{args::IncidentArgs, time_line::Event};
use crate::{args::Global, say, usage_error};

/// Each of three brokers leads two.
const PARTITIONS: i32 = 6;
/// Of three brokers one has nothing to do with a partition, so that partitions are left that a dead one does not touch.
const REPLICATION_FACTOR: i16 = 2;
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
}

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
                let text = format!("FAULT: a host dies by `{command}`");
                tokio::spawn(async move {
                    let began = Instant::now();
                    let outcome = run(command).await.map(|()| began.elapsed());
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
    pub(super) async fn close(self) {
        match self {
            // A cluster that is not needed any more need not end in order.
            Self::Embedded(_) => {}
            Self::Remote(stage) => stage.close().await,
        }
    }
}

impl Embedded {
    async fn open(args: &IncidentArgs) -> anyhow::Result<Box<Self>> {
        let builder = EmbeddedCluster::builder().brokers(3).session_timeout(args.scaled(SESSION_TIMEOUT));
        let cluster = builder.start().await.context("the embedded cluster does not start")?;
        cluster.create_topic(&args.topic, PARTITIONS, REPLICATION_FACTOR).await?;
        Ok(Box::new(Self { cluster, black_hole: None }))
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
        let brokers = i16::try_from(view.cluster.nodes().count()).unwrap_or(REPLICATION_FACTOR);
        let topic = NewTopic {
            partitions: PARTITIONS,
            replication_factor: brokers.min(REPLICATION_FACTOR),
            ..NewTopic::new(&args.topic)
        };
        let mut made_topic = None;
        for (name, outcome) in admin.create_topics(&[topic]).await? {
            match outcome {
                Ok(_) => made_topic = Some(name),
                Err(refusal) if refusal.code == ErrorCode::TOPIC_ALREADY_EXISTS => {}
                Err(refusal) => return Err(refusal).context(format!("topic {name}")),
            }
        }
        let (bootstrap, fault, heal) = (bootstrap.to_owned(), fault.to_owned(), args.heal.clone());
        Ok(Box::new(Self { bootstrap, fault, heal, admin, made_topic, struck: false }))
    }

    async fn close(self) {
        if let Some(command) = self.heal.filter(|_| self.struck)
            && let Err(error) = run(command).await
        {
            say(&format!("--heal: {error:#}"));
        }
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
    }
}

/// Runs a shell command; what it prints is for standard error.
async fn run(command: String) -> anyhow::Result<()> {
    let status = tokio::task::spawn_blocking(move || {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&command).stdin(Stdio::null()).stdout(io::stderr());
        shell.status().with_context(|| format!("cannot run `{command}`"))
    });
    let status = status.await.context("the command was not waited for")??;
    if status.success() { Ok(()) } else { Err(anyhow!("the command failed: {status}")) }
}
