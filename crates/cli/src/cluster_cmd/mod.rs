//! `milena cluster`: says something to a running cluster, on its control socket.

mod control;
mod server;

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    time::Duration,
};

use anyhow::{Context as _, anyhow};
use milena_broker::{DataDirState, EmbeddedCluster};
use serde_json::json;

pub(crate) use server::ControlServer;

use self::control::{Answer, Broker, Place};
use crate::{
    Outcome,
    args::{ClusterArgs, ClusterCommand, Global},
    output::{Align, Sink, table},
    say,
};

pub(crate) async fn run(global: &Global, args: ClusterArgs) -> anyhow::Result<Outcome> {
    let (dir, command, limit) = (global.data.clone(), args.command, Duration::from_millis(args.timeout));
    let asked = command.clone();
    let asking = tokio::task::spawn_blocking(move || ask(&dir, &asked));
    // The thread that waits does not keep the process.
    let answer = tokio::time::timeout(limit, asking).await.map_err(|_| {
        anyhow!(
            "the cluster on {} has not answered for {limit:?}: what it was told may still be done, `milena cluster status` \
             shows whether it answers at all, and --timeout lets it take longer",
            global.data.display()
        )
    })???;
    if let Some(error) = answer.error {
        return Err(anyhow!(error));
    }
    if let Some(note) = answer.note {
        say(&note);
    }
    if let ClusterCommand::Status { json } = command {
        let text = if json { lines(&answer.brokers) } else { brokers(&answer.brokers) };
        let mut out = Sink::stdout();
        out.print(|out| out.write_all(text.as_bytes()))?;
        out.flush()?;
    }
    Ok(Outcome::Done)
}

/// Blocking: a controlled shutdown is answered when it is done.
fn ask(dir: &Path, command: &ClusterCommand) -> anyhow::Result<Answer> {
    let socket = match DataDirState::of(dir)? {
        DataDirState::Running(_) => Place::find(dir),
        DataDirState::Busy => {
            return Err(anyhow!("the brokers on {} are starting or stopping", dir.display()));
        }
        DataDirState::Free => return Err(no_cluster(dir)),
    };
    let Some(socket) = socket else {
        if EmbeddedCluster::size_of(dir).is_some() {
            return Err(anyhow!(
                "the cluster on {} has no control socket: it is starting or stopping, or runs in a program of its own",
                dir.display()
            ));
        }
        return Err(anyhow!(
            "a single broker runs on {}, not a cluster: start one on another directory, with `milena broker \
             --brokers 3 --data DIR`",
            dir.display()
        ));
    };
    let asking = || format!("asking the cluster on {} (socket {})", dir.display(), socket.display());
    let mut stream = control::connect(&socket).with_context(asking)?;
    let mut line = serde_json::to_string(command)?;
    line.push('\n');
    stream.write_all(line.as_bytes()).with_context(asking)?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).with_context(asking)?;
    if answer.is_empty() {
        return Err(anyhow!("the cluster on {} has ended before it answered", dir.display()));
    }
    serde_json::from_str(&answer).with_context(asking)
}

fn no_cluster(dir: &Path) -> anyhow::Error {
    let brokers = EmbeddedCluster::size_of(dir).map_or_else(|| " --brokers 3".to_owned(), |_| String::new());
    let dir = dir.display();
    anyhow!("no cluster runs on {dir}: start one with `milena broker{brokers} --data {dir}`")
}

fn brokers(brokers: &[Broker]) -> String {
    let columns = [
        ("BROKER", Align::Right),
        ("ADDRESS", Align::Left),
        ("STATE", Align::Left),
        ("ROLE", Align::Left),
        ("LEADS", Align::Right),
        ("FAULTS", Align::Left),
    ];
    let rows = brokers.iter().map(|broker| {
        let role = if broker.controller { "controller" } else { "" };
        [
            broker.broker.to_string(),
            broker.address.clone(),
            broker.state.clone(),
            role.to_owned(),
            broker.leads.to_string(),
            broker.faults.join(", "),
        ]
    });
    table(columns, rows)
}

fn lines(brokers: &[Broker]) -> String {
    brokers.iter().map(|broker| format!("{}\n", json!(broker))).collect()
}
