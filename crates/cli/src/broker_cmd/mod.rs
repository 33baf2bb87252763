//! `milena broker`: a broker in the foreground, or `several`.

mod properties;
mod several;

use std::{
    io::{self, IsTerminal as _, Write as _},
    net::SocketAddr,
    path::Path,
};

use anyhow::{Context as _, anyhow};
use milena_broker::{
    Broker, BrokerConfig, BrokerError, DataDirState, EmbeddedCluster, ListenerConfig,
    config::DEFAULT_LISTENER,
};

use crate::{
    Outcome,
    args::{BrokerArgs, Global},
    cluster::Lent,
    output::Sink,
    say,
    signals::Stop,
    usage_error,
};

pub(crate) async fn run(global: &Global, args: &BrokerArgs) -> anyhow::Result<Outcome> {
    allow_open_files();
    let stop = Stop::listen()?;
    if let Some(brokers) = args.brokers.or_else(|| EmbeddedCluster::size_of(&global.data)) {
        return several::run(global, args, brokers, &stop).await;
    }
    let config = config(&global.data, args).await?;
    try_ports(&global.data, config.listeners.iter().map(|listener| listener.bind))?;
    let broker = start(config).await?;
    Lent::forget(&global.data);
    let mut out = Sink::stdout();
    let bootstrap = broker.bootstrap();
    let told = out.print(|out| writeln!(out, "{bootstrap}")).and_then(|_| out.flush());
    if io::stderr().is_terminal() {
        say(&format!("the broker serves {} at {bootstrap}; Ctrl-C ends it", global.data.display()));
    }
    if told.is_ok() {
        stop.asked(1).await;
    }
    tokio::select! {
        closed = broker.shutdown() => closed.context("the broker did not shut down cleanly")?,
        () = stop.asked(2) => return Ok(Outcome::Interrupted),
    }
    told?;
    Ok(Outcome::Done)
}

/// As many open files as the system grants, as the JVM does for Kafka: each connection and each segment is one.
fn allow_open_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        // Where it is refused the broker takes fewer connections.
        if current != maximum && setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_err() {
            tracing::debug!(?current, ?maximum, "the limit of open files stays as it is");
        }
    }
}

async fn config(dir: &Path, args: &BrokerArgs) -> anyhow::Result<BrokerConfig> {
    let mut config = BrokerConfig::new(dir);
    config.fsync = args.fsync;
    let bind = resolve(&args.host, args.port).await?;
    config.listeners = vec![ListenerConfig {
        bind,
        advertised_host: args.advertised_host(bind),
        ..ListenerConfig::loopback(args.port)
    }];
    for property in &args.properties {
        properties::set(&mut config, &property.key, &property.value).map_err(usage_error)?;
    }
    Ok(config)
}

async fn resolve(host: &str, port: u16) -> anyhow::Result<SocketAddr> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let mut addresses = tokio::net::lookup_host((host, port))
        .await
        .with_context(|| format!("--host {host} cannot be resolved: name an address of this machine"))?;
    addresses.next().ok_or_else(|| anyhow!("--host {host} has no address: name an address of this machine"))
}

/// Finds out whether the ports can be had before anything is written for brokers that cannot come up: a start that fails
/// leaves nothing behind. Where brokers run on the directory that is what is wrong, and they have the ports.
fn try_ports(dir: &Path, addresses: impl IntoIterator<Item = SocketAddr>) -> anyhow::Result<()> {
    if !matches!(DataDirState::of(dir), Ok(DataDirState::Free)) {
        return Ok(());
    }
    for address in addresses {
        std::net::TcpListener::bind(address).map_err(|source| {
            port_error(&BrokerError::Bind { listener: DEFAULT_LISTENER.to_owned(), address, source })
        })?;
    }
    Ok(())
}

/// Of a [`BrokerError::Bind`], with what to do.
fn port_error(error: &dyn std::error::Error) -> anyhow::Error {
    anyhow!("{error}: choose another --port (0 lets the system choose) or --host")
}

async fn start(config: BrokerConfig) -> anyhow::Result<Broker> {
    Broker::start(config).await.map_err(|error| match error {
        BrokerError::InvalidConfig(_) => usage_error(error),
        BrokerError::Bind { .. } => port_error(&error),
        error => error.into(),
    })
}
