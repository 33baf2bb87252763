//! The seam between the pure core and its driver: events in, commands out.
//!
//! A driver owns one engine (producer, consumer or admin) and the sockets. It hands every event to
//! [`Engine::handle_event`], calls [`Engine::poll`], carries out what [`Engine::poll_command`] yields until it yields
//! nothing, and sleeps until an event, the [`Signal`](crate::signal::Signal) of the callers, or [`Engine::next_timeout`].

use std::{net::SocketAddr, sync::Arc};

use bytes::Bytes;
use milena_protocol::frame::Frame;

use crate::{
    network::{ConnectionId, NodeId},
    producer::CompressionJob,
    time::Instant,
};

/// Why nothing goes on when an engine is dropped that was not asked to close.
pub(crate) const DRIVER_LOST: &str =
    "the client's driver has ended unexpectedly, which is a bug in the client: its panic message says more";

/// What a driver must carry out, in the order given.
#[derive(Debug)]
pub enum Command {
    /// Resolve a host name and report [`Event::Resolved`]. Never blocks the driver (client.md 39).
    Resolve {
        /// The node whose host it is.
        node: NodeId,
        /// A host name or an address literal.
        host: Arc<str>,
        /// The port to pair with each address.
        port: u16,
    },
    /// Open a connection and report [`Event::Connected`] or [`Event::Disconnected`].
    Connect {
        /// The name by which all later events and commands call it; never used twice.
        connection: ConnectionId,
        /// The node it leads to, for logs.
        node: NodeId,
        /// Where to connect to.
        address: SocketAddr,
    },
    /// Write a frame; bytes go when the socket takes them, frames of one connection in order.
    Transmit {
        /// The connection.
        connection: ConnectionId,
        /// The request with its length prefix.
        frame: Frame,
        /// Report [`Event::Transmitted`] when the last byte went to the socket: a request that gets no answer (acks=0).
        notify: bool,
    },
    /// Close a connection and forget it. No event follows; events of it that are already under way are ignored.
    Close {
        /// The connection.
        connection: ConnectionId,
    },
    /// Run a compression off the driver and report [`Event::Compressed`].
    Compress(CompressionJob),
}

/// What happened, as the driver reports it.
#[derive(Debug)]
pub enum Event {
    /// The answer to [`Command::Resolve`]; an error or an empty list is a failed resolution.
    Resolved {
        /// The node that was asked for.
        node: NodeId,
        /// The host that was asked for: the node may have moved to another one since.
        host: Arc<str>,
        /// The addresses, in the resolver's order, or why there are none.
        result: Result<Vec<SocketAddr>, String>,
    },
    /// The socket is open (nothing has been said on it yet).
    Connected {
        /// The connection.
        connection: ConnectionId,
    },
    /// A frame arrived, without its length prefix.
    Received {
        /// The connection.
        connection: ConnectionId,
        /// The response header and body.
        frame: Bytes,
    },
    /// The oldest frame sent with `notify` is written whole.
    Transmitted {
        /// The connection.
        connection: ConnectionId,
    },
    /// The connection failed to open, was closed by the peer, or broke.
    Disconnected {
        /// The connection.
        connection: ConnectionId,
        /// Why, for people: the error and nothing else (the core adds node and address).
        reason: String,
    },
    /// A compression ended.
    Compressed(CompressionJob),
}

/// A pure state machine of a client.
///
/// Dropping one at any moment, as when its driver panics, tells all who wait for something that it will not come.
pub trait Engine: Send {
    /// Takes note of an event. Cheap: the work is done by [`poll`](Self::poll).
    fn handle_event(&mut self, event: Event, now: Instant);

    /// Does everything that is due. Called after events, signals and timeouts.
    fn poll(&mut self, now: Instant);

    /// The next thing for the driver to do, if any.
    fn poll_command(&mut self) -> Option<Command>;

    /// When [`poll`](Self::poll) must be called at the latest, if nothing happens before.
    fn next_timeout(&self) -> Option<Instant>;

    /// True when the engine was asked to close and has nothing left to do: the driver drops the connections and ends.
    fn is_closed(&self) -> bool;
}
