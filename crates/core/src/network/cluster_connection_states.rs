//! How each node's connection stands: its addresses, its backoffs, its requests in flight.
//!
//! Kafka's source: `ClusterConnectionStates`. This part decides about times and addresses; `NetworkClient` talks.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use rand::rngs::SmallRng;

use super::{
    ConnectionId, NodeApiVersions, NodeId, connect_race::ConnectRace, in_flight_requests::InFlightRequests,
    suspicion::ResponseTimes,
};
use crate::{backoff::ExponentialBackoff, cluster::Node, config::ClientConfig, time::Instant};

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// There is none.
    Disconnected,
    /// The host is being resolved or the socket is being opened.
    Connecting,
    /// The socket is open, the broker was asked which versions it speaks.
    CheckingApiVersions,
    /// Requests can be sent.
    Ready,
}

/// The rules of all nodes (KIP-580, KIP-601).
#[derive(Clone, Copy, Debug)]
pub(super) struct Backoffs {
    reconnect: ExponentialBackoff,
    setup: ExponentialBackoff,
    setup_base: Duration,
}

impl Backoffs {
    pub(super) fn new(config: &ClientConfig) -> Self {
        Self {
            reconnect: ExponentialBackoff::new(config.reconnect_backoff, config.reconnect_backoff_max),
            setup: ExponentialBackoff::new(
                config.connection_setup_timeout,
                config.connection_setup_timeout_max,
            ),
            setup_base: config.connection_setup_timeout,
        }
    }

    /// socket.connection.setup.timeout.ms, before it grows.
    pub(super) fn setup_base(&self) -> Duration {
        self.setup_base
    }
}

/// What to do next for a node that is to be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Ask for the host's addresses.
    Resolve,
    /// Open a socket.
    Connect(SocketAddr),
}

/// One node and its connection.
#[derive(Debug)]
pub(super) struct NodeConnection {
    pub(super) node: Arc<Node>,
    /// `host:port`, for people.
    pub(super) address: Arc<str>,
    pub(super) state: ConnectionState,
    /// The socket, while it is open.
    pub(super) connection: Option<ConnectionId>,
    /// The sockets that are being opened.
    pub(super) race: ConnectRace,
    pub(super) in_flight: InFlightRequests,
    /// Set exactly while the state is `Ready`.
    pub(super) api_versions: Option<NodeApiVersions>,
    pub(super) throttled_until: Instant,
    /// When the connection last carried anything.
    pub(super) last_used: Instant,
    /// When the last attempt began, at its first address.
    pub(super) connecting_since: Instant,
    /// While connecting: when the attempt has taken too long.
    pub(super) setup_deadline: Instant,
    /// While disconnected: when the next attempt may start.
    pub(super) retry_at: Instant,
    /// How long its answers take.
    pub(super) response_times: ResponseTimes,
    /// When it last answered anything.
    pub(super) answered_at: Instant,
    /// Since when it has been suspected of not answering any more; an answer clears it.
    pub(super) suspected_since: Option<Instant>,
    /// True for a bootstrap address that the metadata no longer names: it serves until a named broker is ready.
    pub(super) retiring: bool,
    /// Where the socket leads, or led last.
    last_address: Option<SocketAddr>,
    /// Set after an established connection dropped: that address is the last to be tried again.
    skip: Option<SocketAddr>,
    /// Attempts in a row that did not end in `Ready`.
    failed_attempts: u32,
    /// Attempts in a row whose socket did not open.
    failed_connects: u32,
}

impl NodeConnection {
    fn new(node: Arc<Node>) -> Self {
        Self {
            address: node.to_string().into(),
            node,
            state: ConnectionState::Disconnected,
            connection: None,
            race: ConnectRace::default(),
            in_flight: InFlightRequests::default(),
            api_versions: None,
            throttled_until: Instant::ORIGIN,
            last_used: Instant::ORIGIN,
            connecting_since: Instant::ORIGIN,
            setup_deadline: Instant::FAR_FUTURE,
            retry_at: Instant::ORIGIN,
            response_times: ResponseTimes::default(),
            answered_at: Instant::ORIGIN,
            suspected_since: None,
            retiring: false,
            last_address: None,
            skip: None,
            failed_attempts: 0,
            failed_connects: 0,
        }
    }

    pub(super) fn may_connect(&self, now: Instant) -> bool {
        self.state == ConnectionState::Disconnected && now >= self.retry_at && !self.retiring
    }

    pub(super) fn is_ready(&self, now: Instant) -> bool {
        self.state == ConnectionState::Ready && now >= self.throttled_until
    }

    /// When its silence becomes suspicious, if it owes an answer and is not suspected already.
    pub(super) fn suspect_at(&self, floor: Duration) -> Option<Instant> {
        if self.suspected_since.is_some() {
            return None;
        }
        match self.state {
            ConnectionState::Disconnected => None,
            ConnectionState::Connecting | ConnectionState::CheckingApiVersions => {
                Some(self.connecting_since + floor)
            }
            ConnectionState::Ready => {
                // Answers come in turn: what waits behind another request waits for that one's answer first.
                let silent_since = self.in_flight.oldest()?.sent_at.max(self.answered_at);
                Some(silent_since + self.response_times.bound(floor))
            }
        }
    }

    /// It answered a request that was sent at `sent_at`; true if it was suspected until now.
    pub(super) fn answered(&mut self, sent_at: Instant, floor: Duration, now: Instant) -> bool {
        self.response_times.note(now - sent_at.max(self.answered_at), floor);
        self.answered_at = now;
        self.suspected_since.take().is_some()
    }

    /// Starts an attempt with the next untried address, or with a resolution when there is none.
    pub(super) fn begin(&mut self, backoffs: &Backoffs, rng: &mut SmallRng, now: Instant) -> Attempt {
        if self.state != ConnectionState::Connecting {
            self.state = ConnectionState::Connecting;
            self.connecting_since = now;
        }
        self.setup_deadline = now + backoffs.setup.after(self.failed_connects, rng);
        self.race.next(now).map_or(Attempt::Resolve, Attempt::Connect)
    }

    /// One of the race's sockets is open: it is the connection. Gives the others, to be closed.
    pub(super) fn won(&mut self, winner: ConnectionId) -> Vec<ConnectionId> {
        let (address, others) = self.race.won(winner);
        (self.connection, self.last_address) = (Some(winner), address);
        others
    }

    /// Takes the resolver's addresses; the one whose established connection dropped last comes last.
    pub(super) fn resolved(&mut self, addresses: Vec<SocketAddr>) {
        self.race.resolved(addresses, self.skip.take());
    }

    /// The socket did not open.
    pub(super) fn connect_failed(&mut self) {
        self.failed_connects = self.failed_connects.saturating_add(1);
    }

    /// The socket is open: from now on a failure is not the network's way to the host.
    pub(super) fn opened(&mut self, handshake: Duration, now: Instant) {
        self.state = ConnectionState::CheckingApiVersions;
        self.failed_connects = 0;
        self.setup_deadline = now + handshake;
        self.last_used = now;
    }

    /// The broker can be talked to: only now the reconnect backoff starts anew.
    pub(super) fn ready(&mut self, versions: NodeApiVersions, now: Instant) {
        self.state = ConnectionState::Ready;
        self.api_versions = Some(versions);
        self.failed_attempts = 0;
        self.setup_deadline = Instant::FAR_FUTURE;
        self.last_used = now;
    }

    /// The attempt or the connection ended; a backoff begins unless it was the client that did not need it any more.
    pub(super) fn ended(&mut self, wanted: bool, backoffs: &Backoffs, rng: &mut SmallRng, now: Instant) {
        if matches!(self.state, ConnectionState::CheckingApiVersions | ConnectionState::Ready) {
            self.skip = self.last_address.filter(|_| wanted);
        }
        self.state = ConnectionState::Disconnected;
        self.connection = None;
        self.api_versions = None;
        self.setup_deadline = Instant::FAR_FUTURE;
        self.retry_at = now;
        if wanted {
            self.retry_at = now + backoffs.reconnect.after(self.failed_attempts, rng);
            self.failed_attempts = self.failed_attempts.saturating_add(1);
        }
    }
}

/// All nodes by id, and the way back from a connection to its node.
#[derive(Debug, Default)]
pub(super) struct ClusterConnectionStates {
    nodes: BTreeMap<NodeId, NodeConnection>,
    by_connection: BTreeMap<ConnectionId, NodeId>,
}

impl ClusterConnectionStates {
    pub(super) fn get(&self, node: NodeId) -> Option<&NodeConnection> {
        self.nodes.get(&node)
    }

    pub(super) fn get_mut(&mut self, node: NodeId) -> Option<&mut NodeConnection> {
        self.nodes.get_mut(&node)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All nodes, by id.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (NodeId, &NodeConnection)> + Clone {
        self.nodes.iter().map(|(id, node)| (*id, node))
    }

    pub(super) fn ids(&self) -> Vec<NodeId> {
        self.nodes.keys().copied().collect()
    }

    pub(super) fn insert(&mut self, node: Arc<Node>) {
        self.nodes.insert(node.id, NodeConnection::new(node));
    }

    pub(super) fn remove(&mut self, node: NodeId) {
        self.nodes.remove(&node);
    }

    /// Whose socket it is.
    pub(super) fn bind(&mut self, node: NodeId, connection: ConnectionId) {
        self.by_connection.insert(connection, node);
    }

    /// Forgets a connection: what its socket still says means nothing.
    pub(super) fn unbind(&mut self, connection: ConnectionId) {
        self.by_connection.remove(&connection);
    }

    /// The node whose connection it is, unless it was closed.
    pub(super) fn node_of(&self, connection: ConnectionId) -> Option<NodeId> {
        self.by_connection.get(&connection).copied()
    }
}
