//! [`SocketServer`]: the listeners of one broker.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::connection::serve;
use super::{ConnectionSlot, Peer, PeerLog, RequestHandler, Shared, stopped};
use crate::BrokerError;
use crate::client_memory::ClientMemory;
use crate::config::{ListenerConfig, SocketConfig};
use crate::faults::{FaultyListener, FaultyStream, Host};
use crate::task_gate::TaskGate;

/// How long to wait when the system will not accept: most often it is out of file descriptors, and trying again at
/// once would only burn a core.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// A listener that has its port, but accepts nobody yet.
pub(crate) struct BoundListener {
    pub(crate) config: ListenerConfig,
    pub(crate) address: SocketAddr,
    from_clients: bool,
    socket: FaultyListener,
}

/// The acceptors of a broker. Dropping it aborts them and their connections.
#[derive(Debug)]
pub(crate) struct SocketServer {
    stop: watch::Sender<bool>,
    acceptors: Vec<AbortOnDrop>,
}

impl SocketServer {
    /// Takes a listener's port, so that the broker can say where it is before it serves.
    pub(crate) async fn bind(
        config: &ListenerConfig,
        host: &Host,
        from_clients: bool,
    ) -> Result<BoundListener, BrokerError> {
        let failed =
            |source| BrokerError::Bind { listener: config.name.clone(), address: config.bind, source };
        let socket = host.bind(&config.name, config.bind, from_clients).await.map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        Ok(BoundListener { config: config.clone(), address, from_clients, socket })
    }

    /// Starts to serve.
    pub(crate) fn start(
        listeners: Vec<BoundListener>,
        mut config: SocketConfig,
        handler: &Arc<dyn RequestHandler>,
        gate: &TaskGate,
    ) -> Self {
        let limit = max_connections_of(listeners.len());
        config.max_connections = config.max_connections.min(limit);
        let (stop, stopping) = watch::channel(false);
        let of_clients = ClientMemory::new(config.queued_max_request_bytes);
        let start = |listener: BoundListener| {
            // Each listener has places of its own: clients, however many, must not keep the other brokers out (KIP-402).
            let shared = Arc::new(Shared {
                handler: handler.clone(),
                config: config.clone(),
                log: PeerLog::new(),
                // What brokers tell each other must not wait for clients (Kafka's control plane has no pool either).
                request_memory: match listener.from_clients {
                    true => of_clients.clone(),
                    false => ClientMemory::new(usize::MAX),
                },
                connections: AtomicUsize::new(0),
                silent: Arc::default(),
                stopping: stopping.clone(),
                gate: gate.clone(),
            });
            AbortOnDrop(gate.spawn(accept(shared, listener)))
        };
        Self { acceptors: listeners.into_iter().map(start).collect(), stop }
    }

    /// Closes the listeners, lets the requests that were read be answered for at most `grace`, closes the rest.
    pub(crate) async fn shutdown(mut self, grace: Duration) {
        self.stop.send_replace(true);
        let drained = async {
            for acceptor in &mut self.acceptors {
                // An acceptor that panicked has no connections left to wait for.
                let _ended = (&mut acceptor.0).await;
            }
        };
        let _in_time = tokio::time::timeout(grace, drained).await;
    }
}

#[derive(Debug)]
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// How many files and sockets this process may have open.
fn open_files_limit() -> Option<u64> {
    #[cfg(unix)]
    return rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    None
}

/// How many connections each of so many listeners may have, with all files that this process may open shared among them.
pub(crate) fn max_connections_of(listeners: usize) -> usize {
    connections_within(open_files_limit()) / listeners.max(1)
}

/// Connections that leave a quarter of the files to the log: without any, no segment could be opened or rolled.
fn connections_within(open_files: Option<u64>) -> usize {
    open_files.map_or(usize::MAX, |files| usize::try_from(files - files / 4).unwrap_or(usize::MAX))
}

/// Accepts until the broker stops, then waits for the connections to end.
async fn accept(shared: Arc<Shared>, mut listener: BoundListener) {
    let mut stopping = shared.stopping.clone();
    let mut connections = JoinSet::new();
    let name: Arc<str> = listener.config.name.as_str().into();
    loop {
        tokio::select! {
            accepted = listener.socket.accept() => match accepted {
                Ok((stream, address)) => {
                    let peer = Arc::new(Peer { address, listener: name.clone() });
                    admit(&shared, &mut connections, stream, peer);
                }
                Err(error) => {
                    tracing::warn!(listener = %name, %error, "cannot accept connections");
                    tokio::time::sleep(ACCEPT_BACKOFF).await;
                }
            },
            Some(_) = connections.join_next() => {}
            () = stopped(&mut stopping) => break,
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

fn admit(shared: &Arc<Shared>, connections: &mut JoinSet<()>, stream: FaultyStream, peer: Arc<Peer>) {
    let Some(slot) = ConnectionSlot::take(shared).or_else(|| place_of_a_silent_one(shared, &peer)) else {
        let reason =
            format!("there are {} connections already (max_connections)", shared.config.max_connections);
        shared.log.closed(&peer.listener, peer.address, &reason);
        return;
    };
    // Answers go out as soon as they are whole; Nagle's algorithm would hold back the small ones.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(peer = %peer.address, %error, "cannot set TCP_NODELAY");
    }
    let shared = shared.clone();
    let gate = shared.gate.clone();
    shared.silent.clone().enter(peer.address, |silent| {
        connections.spawn(gate.guard(async move {
            serve(&shared, stream, peer, silent).await;
            drop(slot);
        }))
    });
}

/// Closes the oldest of the connections that have said nothing for too long, for one that may.
fn place_of_a_silent_one(shared: &Arc<Shared>, newcomer: &Peer) -> Option<ConnectionSlot> {
    let patience = shared.config.first_request_timeout;
    let evicted = shared.silent.evict(patience)?;
    let reason = format!("no request in {patience:?}, and others want its place (max_connections)");
    shared.log.closed(&newcomer.listener, evicted, &reason);
    Some(ConnectionSlot::take_early(shared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_to_the_log() {
        assert_eq!(connections_within(Some(1024)), 768);
        assert_eq!(connections_within(Some(0)), 0);
        assert_eq!(connections_within(None), usize::MAX);
    }
}
