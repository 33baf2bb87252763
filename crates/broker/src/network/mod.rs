//! [`SocketServer`]: from sockets to requests and back.
//!
//! ```text
//! acceptor, one task a listener ──► connection, one task each: ┌ reader ─ frames ─► RequestHandler ─► Reply ┐
//!                                                              └ writer ◄─ bounded queue, in order ◄────────┘
//! ```
//!
//! Aborting an acceptor aborts its connections: tasks form a tree that hangs on the [`SocketServer`].

mod acceptor;
mod connection;
mod inter_broker;
mod patience;
mod peer_log;
mod silent;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use milena_protocol::Frame;
use tokio::sync::watch;

use crate::client_memory::{ClientMemory, Room};
use crate::config::SocketConfig;
use crate::task_gate::TaskGate;

pub(crate) use acceptor::{BoundListener, SocketServer, max_connections_of};
pub(crate) use inter_broker::InterBrokerConnection;
pub(crate) use patience::Patience;
pub(crate) use peer_log::PeerLog;
use silent::SilentConnections;

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a request is answered with. None is the silence that a produce request with acks=0 asks for.
pub(crate) type Answer = Result<Option<Frame>, CloseReason>;

/// What became of a request once everything is done that has to happen before the connection's next request.
pub(crate) enum Reply {
    /// The answer.
    Now(Option<Frame>),
    /// The answer comes later, from a future that waits for nothing but time and events, never for another request
    /// of the connection. It is polled when the answers before it are written.
    Later(BoxFuture<'static, Answer>),
    /// The same for an answer that is large, with the room that its bytes have until they are written. It is not begun
    /// before the answers in front of it are out, so that a client that does not take those holds no room.
    InTurn(BoxFuture<'static, Result<(Frame, Option<Room>), CloseReason>>),
}

/// Why the broker closes a connection. The text goes to the log beside the peer's address.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CloseReason(pub(crate) String);

/// Turns requests into replies.
pub(crate) trait RequestHandler: Send + Sync + 'static {
    /// Handles one frame. The next frame of the same connection is handled when the future is done, so what a
    /// request changes is changed in order; waiting belongs into [`Reply::Later`].
    fn handle(&self, peer: Arc<Peer>, frame: Bytes) -> BoxFuture<'_, Result<Reply, CloseReason>>;
}

/// Who is at the other end of a connection.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The client's address.
    pub(crate) address: SocketAddr,
    /// The listener that it came in on.
    pub(crate) listener: Arc<str>,
}

/// What the connections of a listener share.
pub(crate) struct Shared {
    handler: Arc<dyn RequestHandler>,
    config: SocketConfig,
    log: PeerLog,
    /// Shared with the other listeners for clients.
    request_memory: Arc<ClientMemory>,
    connections: AtomicUsize,
    silent: Arc<SilentConnections>,
    gate: TaskGate,
    /// Turns true when no more requests are to be read.
    stopping: watch::Receiver<bool>,
}

/// Waits until no more requests are to be read.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // An error means that the server is gone, which is the same.
    let _stopped = stopping.wait_for(|stop| *stop).await;
}

/// A place among [`SocketConfig::max_connections`].
struct ConnectionSlot(Arc<Shared>);

impl ConnectionSlot {
    fn take(shared: &Arc<Shared>) -> Option<Self> {
        let max = shared.config.max_connections;
        let taken = shared
            .connections
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count < max).then_some(count + 1));
        taken.is_ok().then(|| Self(shared.clone()))
    }

    /// The place of a connection that is about to end: until it has, there is one more than there may be.
    fn take_early(shared: &Arc<Shared>) -> Self {
        shared.connections.fetch_add(1, Ordering::Relaxed);
        Self(shared.clone())
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
