//! `milena metadata`: the cluster as the client sees it, once or at each refresh.

use std::{
    io::Write as _,
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow};
use milena::{Admin, Cluster as View, MetadataView, MetadataWatch, PartitionInfo, RefreshReport};
use serde_json::{Value, json};

use crate::{
    Outcome,
    args::{Global, MetadataArgs, Property},
    client::{self, Scope},
    cluster::Cluster,
    output::{Align, Sink, table},
    signals::Stop,
};

/// How long the first answer may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How old the view of --watch gets, so that it shows leaders move soon after they have.
const WATCHED_AGE: (&str, &str) = ("metadata.max.age.ms", "1000");
/// How often --watch looks for refreshes that failed, which change no version.
const LOOK: Duration = Duration::from_millis(100);

pub(crate) async fn run(global: &Global, args: &MetadataArgs) -> anyhow::Result<Outcome> {
    let stop = Stop::listen()?;
    let mut patience = PATIENCE;
    for property in &args.properties.properties {
        patience = client::timeout(property)?.unwrap_or(patience);
    }
    let cluster = Cluster::connect(global).await?;
    let mut settings = args.properties.clone();
    if args.watch {
        // What the user says comes later, and counts.
        let (key, value) = WATCHED_AGE;
        settings.properties.insert(0, Property { key: key.to_owned(), value: value.to_owned() });
    }
    let outcome =
        match client::admin(&cluster, &settings, if args.watch { Scope::Watched } else { Scope::Shown }) {
            Ok(admin) => {
                let shown = tokio::select! {
                    shown = show(&admin, args, patience) => shown,
                    () = stop.asked(1) => Ok(()),
                };
                admin.close().await;
                shown
            }
            Err(error) => Err(error),
        };
    let closed = cluster.close().await;
    outcome?;
    closed?;
    Ok(Outcome::Done)
}

async fn show(admin: &Admin, args: &MetadataArgs, patience: Duration) -> anyhow::Result<()> {
    let metadata = admin.metadata();
    metadata.refresh();
    if args.watch {
        return watch(&metadata, args).await;
    }
    let view = tokio::time::timeout(patience, metadata.changed(0)).await.map_err(|_| {
        let failure = metadata.view().last_failure.clone();
        let cause = failure.map_or_else(String::new, |cause| format!(": {cause}"));
        anyhow!("no broker has told its metadata within {} ms{cause}", patience.as_millis())
    })?;
    if let Some(missing) = args.topics.iter().find(|topic| view.cluster.topic(topic).is_none()) {
        return Err(anyhow!("there is no topic {missing}; `milena topics list` names those that there are"));
    }
    let age = metadata.age(&view);
    let mut out = Sink::stdout();
    let text = if args.json {
        format!("{}\n", as_json(&view, age, args))
    } else {
        format!("{}{}", heading(&view, age), tables(&view.cluster, args))
    };
    out.print(|out| out.write_all(text.as_bytes()))?;
    out.flush()?;
    Ok(())
}

/// Prints each refresh, and the view when it is another, until nobody reads it.
async fn watch(metadata: &MetadataWatch, args: &MetadataArgs) -> anyhow::Result<()> {
    let started = Instant::now();
    let mut out = Sink::stdout();
    let mut shown = String::new();
    let mut version = 0;
    loop {
        let _ = tokio::time::timeout(LOOK, metadata.changed(version)).await;
        let refreshes = metadata.take_refreshes();
        let view = metadata.view();
        version = view.version;
        let tables = tables(&view.cluster, args);
        let changed = tables != shown && !view.cluster.is_bootstrap();
        let last = refreshes.len().saturating_sub(1);
        for (index, refresh) in refreshes.iter().enumerate() {
            let with_view = changed && index == last;
            let text = if args.json {
                let mut object = json!({ "refresh": refresh_as_json(refresh) });
                if with_view {
                    object["view"] = as_json(&view, metadata.age(&view), args);
                }
                format!("{object}\n")
            } else {
                let line = refresh_line(refresh, started.elapsed());
                if with_view { format!("{line}{tables}\n") } else { line }
            };
            if !out.print(|out| out.write_all(text.as_bytes()))? {
                return Ok(());
            }
        }
        if !refreshes.is_empty() {
            if changed {
                shown = tables;
            }
            if !out.flush().context("--watch")? {
                return Ok(());
            }
        }
    }
}

fn refresh_line(refresh: &RefreshReport, since_start: Duration) -> String {
    let scope = match &refresh.topics {
        Some(topics) if refresh.partial => format!(" of {}", topics.join(", ")),
        _ => String::new(),
    };
    let outcome = match &refresh.error {
        None => format!("version {}", refresh.version),
        Some(error) => format!("failed: {error}"),
    };
    let (at, took) = (since_start.as_secs_f64(), refresh.took.as_secs_f64() * 1000.0);
    format!("{at:8.3} s  refresh{scope}: {}; took {took:.1} ms; {outcome}\n", refresh.reason)
}

fn refresh_as_json(refresh: &RefreshReport) -> Value {
    json!({
        "reason": refresh.reason.to_string(),
        "took_ms": refresh.took.as_secs_f64() * 1000.0,
        "partial": refresh.partial,
        "topics": refresh.topics.as_ref().map(|topics| topics.iter().map(ToString::to_string).collect::<Vec<_>>()),
        "version": refresh.version,
        "error": refresh.error.as_deref(),
    })
}

fn heading(view: &MetadataView, age: Duration) -> String {
    let id = view.cluster.cluster_id().map_or("without an id", |id| id);
    format!("cluster {id}, as this client sees it: version {}, {} ms old\n\n", view.version, age.as_millis())
}

fn tables(cluster: &View, args: &MetadataArgs) -> String {
    let controller = cluster.controller().map(|node| node.id);
    let columns = [
        ("NODE", Align::Right),
        ("HOST", Align::Left),
        ("PORT", Align::Right),
        ("RACK", Align::Left),
        ("ROLE", Align::Left),
    ];
    let rows = cluster.nodes().map(|node| {
        let role = if controller == Some(node.id) { "controller" } else { "" };
        let rack = node.rack.as_deref().unwrap_or_default();
        [node.id.to_string(), node.host.to_string(), node.port.to_string(), rack.to_owned(), role.to_owned()]
    });
    let nodes = table(columns, rows);
    let columns = [
        ("TOPIC", Align::Left),
        ("PARTITION", Align::Right),
        ("LEADER", Align::Right),
        ("EPOCH", Align::Right),
        ("REPLICAS", Align::Left),
        ("IN SYNC", Align::Left),
        ("OFFLINE", Align::Left),
    ];
    let rows: Vec<_> = partitions(cluster, args)
        .map(|partition| {
            [
                partition.topic.to_string(),
                partition.partition.to_string(),
                partition.leader.map_or("none".to_owned(), |leader| leader.to_string()),
                partition.leader_epoch.map_or("-".to_owned(), |epoch| epoch.to_string()),
                ids(&partition.replicas),
                ids(&partition.isr),
                ids(&partition.offline_replicas),
            ]
        })
        .collect();
    if rows.is_empty() {
        format!("{nodes}\nno topics\n")
    } else {
        format!("{nodes}\n{}", table(columns, rows))
    }
}

/// All that were asked for.
fn partitions<'a>(cluster: &'a View, args: &'a MetadataArgs) -> impl Iterator<Item = &'a PartitionInfo> {
    let wanted = |name: &str| args.topics.is_empty() || args.topics.iter().any(|topic| topic == name);
    cluster.topics().filter(move |topic| wanted(&topic.name)).flat_map(|topic| &topic.partitions)
}

fn as_json(view: &MetadataView, age: Duration, args: &MetadataArgs) -> Value {
    let cluster = &view.cluster;
    let nodes = cluster.nodes().map(
        |node| json!({ "id": node.id, "host": &*node.host, "port": node.port, "rack": node.rack.as_deref() }),
    );
    let wanted = |name: &str| args.topics.is_empty() || args.topics.iter().any(|topic| topic == name);
    let topics = cluster.topics().filter(|topic| wanted(&topic.name)).map(|topic| {
        let partitions = topic.partitions.iter().map(|partition| {
            json!({
                "partition": partition.partition,
                "leader": partition.leader,
                "leader_epoch": partition.leader_epoch,
                "replicas": &*partition.replicas,
                "isr": &*partition.isr,
                "offline_replicas": &*partition.offline_replicas,
            })
        });
        json!({
            "topic": &*topic.name,
            "id": topic.id.to_string(),
            "internal": topic.is_internal,
            "partitions": partitions.collect::<Vec<_>>(),
        })
    });
    json!({
        "cluster_id": cluster.cluster_id().map(ToString::to_string),
        "version": view.version,
        "age_ms": u64::try_from(age.as_millis()).unwrap_or(u64::MAX),
        "controller": cluster.controller().map(|node| node.id),
        "nodes": nodes.collect::<Vec<_>>(),
        "topics": topics.collect::<Vec<_>>(),
    })
}

/// `1,2,3`.
fn ids(nodes: &[i32]) -> String {
    nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
