//! `milena broker --brokers N`: a cluster in the foreground.

use std::{
    io::{self, IsTerminal as _, Write as _},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use milena_broker::{BrokerConfig, BrokerError, ClusterError, EmbeddedCluster};

use super::{port_error, properties, resolve, try_ports};
use crate::{
    Outcome,
    args::{BrokerArgs, Global},
    cluster::Lent,
    cluster_cmd::ControlServer,
    output::Sink,
    say,
    signals::Stop,
    usage_error,
};

/// What is the cluster's affair, and not a broker's.
const SESSION_TIMEOUT: &str = "broker.session.timeout.ms";

pub(super) async fn run(
    global: &Global,
    args: &BrokerArgs,
    brokers: i32,
    stop: &Stop,
) -> anyhow::Result<Outcome> {
    let dir = &global.data;
    let cluster = Arc::new(start(global, args, brokers).await?);
    Lent::forget(dir);
    let control = ControlServer::start(dir, &cluster, args.fsync)
        .with_context(|| format!("no control socket for the cluster on {}", dir.display()))?;
    let mut out = Sink::stdout();
    let bootstrap = cluster.bootstrap();
    let told = out.print(|out| writeln!(out, "{bootstrap}")).and_then(|_| out.flush());
    if io::stderr().is_terminal() {
        say(&format!("{brokers} brokers serve {} at {bootstrap}; Ctrl-C ends them", dir.display()));
    }
    if told.is_ok() {
        stop.asked(1).await;
    }
    drop(control);
    tokio::select! {
        closed = close(cluster) => closed.context("the brokers did not shut down cleanly")?,
        () = stop.asked(2) => return Ok(Outcome::Interrupted),
    }
    told?;
    Ok(Outcome::Done)
}

async fn start(global: &Global, args: &BrokerArgs, brokers: i32) -> anyhow::Result<EmbeddedCluster> {
    let first = resolve(&args.host, args.port).await?;
    let mut builder = EmbeddedCluster::builder().brokers(brokers).data_dir(&global.data).listen(first);
    if let Some(host) = args.advertised_host(first) {
        builder = builder.advertised_host(host);
    }
    let mut unused = BrokerConfig::new(&global.data);
    for property in &args.properties {
        let (key, value) = (&property.key, &property.value);
        match key.as_str() {
            SESSION_TIMEOUT => {
                let millis = value.parse().ok().filter(|millis| *millis > 0).map(Duration::from_millis);
                let expected = || usage_error(format!("`{key}={value}`: expected milliseconds, 1 or more"));
                builder = builder.session_timeout(millis.ok_or_else(expected)?);
            }
            "node.id" | "broker.id" => {
                return Err(usage_error(format!("`{key}`: with --brokers they are numbered from 1")));
            }
            _ => properties::set(&mut unused, key, value).map_err(usage_error)?,
        }
    }
    // With port 0 the system chooses each, and with none for all of them the cluster says so.
    let port_of =
        |further: i32| Some(first.port()).filter(|port| *port != 0)?.checked_add(further.try_into().ok()?);
    let port = |further| port_of(further).map(|port| SocketAddr::new(first.ip(), port));
    try_ports(&global.data, (0..brokers).map_while(port))?;
    let (fsync, settings) = (args.fsync, args.properties.clone());
    let configure = move |config: &mut BrokerConfig| {
        config.fsync = fsync;
        for property in settings.iter().filter(|property| property.key != SESSION_TIMEOUT) {
            // Each has been set once before.
            let _ = properties::set(config, &property.key, &property.value);
        }
    };
    builder.configure(configure).start().await.map_err(|error| match error {
        ClusterError::Cluster(BrokerError::InvalidConfig(_)) => usage_error(error),
        ClusterError::Broker { source: BrokerError::Bind { .. }, .. } => port_error(&error),
        error => error.into(),
    })
}

async fn close(cluster: Arc<EmbeddedCluster>) -> anyhow::Result<()> {
    // Nobody who is cut off can leave in order.
    cluster.heal_all();
    // A command that is being done holds the cluster until it is.
    let mut cluster = cluster;
    let cluster = loop {
        match Arc::try_unwrap(cluster) {
            Ok(cluster) => break cluster,
            Err(shared) => cluster = shared,
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    };
    Ok(cluster.shutdown().await?)
}
