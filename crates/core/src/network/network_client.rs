//! The client's side of all connections, without sockets.
//!
//! Kafka's source: `NetworkClient`. One driver owns it. It is told what happened ([`NetworkClient::handle_event`]) and
//! what to send ([`NetworkClient::send`]), and says what to do next ([`NetworkClient::poll_command`]), which requests
//! ended ([`NetworkClient::poll_completion`]) and how nodes fare ([`NetworkClient::poll_state_change`]).

mod events;
mod selection;

use std::{collections::VecDeque, net::SocketAddr, sync::Arc, time::Duration};

use milena_protocol::{ApiKey, VersionRange};
use rand::{SeedableRng, rngs::SmallRng};

pub use selection::{LeastLoaded, NodeReadiness};

use super::{
    ClientRequest, Completion, ConnectionId, ConnectionState, NodeApiVersions, NodeId, RequestFailure,
    RequestToken,
    cluster_connection_states::{Attempt, Backoffs, ClusterConnectionStates},
    connect_race::ConnectRace,
    handshake,
    in_flight_requests::{InFlightRequest, Purpose},
};
use crate::{cluster::Cluster, config::ClientConfig, engine::Command, time::Instant};

/// What became of a node's connection.
#[derive(Clone, Debug)]
pub struct NodeStateChange {
    /// The node.
    pub node: NodeId,
    /// Its `host:port`.
    pub address: Arc<str>,
    /// What happened.
    pub change: StateChange,
}

/// What happened to a node's connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateChange {
    /// An attempt to connect began.
    Connecting,
    /// Requests can be sent.
    Ready,
    /// It owes an answer for longer than its history and `milena.suspicion.floor.ms` suggest, or went without giving one.
    Suspected {
        /// How long it has been silent.
        silent: Duration,
    },
    /// A node that was suspected answers.
    Cleared,
    /// The attempt or the connection ended.
    Disconnected {
        /// Whose doing it was.
        cause: DisconnectCause,
        /// In words, without node and address.
        reason: Arc<str>,
    },
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisconnectCause {
    /// It never came to the point of carrying requests.
    SetupFailed,
    /// The peer or the network ended it.
    Lost,
    /// The peer said something that Kafka's protocol does not allow.
    ProtocolViolation,
    /// A request waited too long for its answer.
    RequestTimedOut,
    /// It was suspected, and nobody needs what it owes any more.
    Abandoned,
    /// Nobody used it for connections.max.idle.ms.
    Idle,
    /// The client did not need it any more: the node left the metadata, has another address, or the client closes.
    Dropped,
}

/// Connections, requests in flight and their timeouts, for all nodes.
#[derive(Debug)]
pub struct NetworkClient {
    client_id: String,
    request_timeout: Duration,
    connections_max_idle: Duration,
    in_flight_limit: usize,
    /// None: nobody is ever suspected.
    suspicion_floor: Option<Duration>,
    /// How often somebody was suspected or cleared.
    suspicion_changes: u64,
    backoffs: Backoffs,
    rng: SmallRng,
    nodes: ClusterConnectionStates,
    last_connection: u64,
    last_correlation: i32,
    last_token: u64,
    /// Not more than the events of one turn and the requests in flight cause; the driver empties it each turn.
    commands: VecDeque<Command>,
    /// Requests that could not be sent at all; they complete before all others.
    aborted: VecDeque<Completion>,
    /// At most one for each request in flight.
    completed: VecDeque<Completion>,
    /// Not more than the events of one turn cause.
    changes: VecDeque<NodeStateChange>,
}

impl NetworkClient {
    /// A client without nodes; [`set_nodes`](Self::set_nodes) names them.
    pub fn new(config: &ClientConfig, seed: u64) -> Self {
        Self {
            client_id: config.client_id.clone(),
            request_timeout: config.request_timeout,
            connections_max_idle: config.connections_max_idle,
            in_flight_limit: config.max_in_flight,
            suspicion_floor: Some(config.suspicion_floor).filter(|floor| !floor.is_zero()),
            suspicion_changes: 0,
            backoffs: Backoffs::new(config),
            rng: SmallRng::seed_from_u64(seed),
            nodes: ClusterConnectionStates::default(),
            last_connection: 0,
            last_correlation: -1,
            last_token: 0,
            commands: VecDeque::new(),
            aborted: VecDeque::new(),
            completed: VecDeque::new(),
            changes: VecDeque::new(),
        }
    }

    /// Takes the nodes of the latest metadata.
    ///
    /// A node that is gone or has another address loses its connection at once (client.md 17). A bootstrap address that
    /// is ready is kept until a named broker is.
    pub fn set_nodes(&mut self, cluster: &Cluster, now: Instant) {
        for id in self.nodes.ids() {
            let Some(state) = self.nodes.get_mut(id) else { continue };
            match cluster.node(id) {
                Some(node) if node.host == state.node.host && node.port == state.node.port => {
                    state.retiring = false;
                }
                Some(_) => self.forget(id, "the metadata gives another address", now),
                None if id < 0 && state.state == ConnectionState::Ready => state.retiring = true,
                None => self.forget(id, "the metadata does not name this node any more", now),
            }
        }
        for node in cluster.nodes() {
            if self.nodes.get(node.id).is_none() {
                self.nodes.insert(Arc::clone(node));
            }
        }
        self.drop_retiring(now);
    }

    fn forget(&mut self, node: NodeId, reason: &str, now: Instant) {
        self.disconnect(node, DisconnectCause::Dropped, reason, now);
        self.suspicion_changes += 1;
        self.nodes.remove(node);
    }

    /// A name for a request, never used twice in this client.
    pub fn next_token(&mut self) -> RequestToken {
        self.last_token += 1;
        RequestToken(self.last_token)
    }

    /// True when a request can be sent to the node now, or after nothing but waiting for room in flight. Otherwise
    /// starts to connect, if the node is known and its backoff is over.
    pub fn ready(&mut self, node: NodeId, now: Instant) -> bool {
        if self.nodes.get(node).is_some_and(|state| state.may_connect(now)) {
            self.begin_attempt(node, now);
            let address = self.address(node);
            self.changes.push_back(NodeStateChange { node, address, change: StateChange::Connecting });
        }
        self.is_ready(node, now)
    }

    fn begin_attempt(&mut self, node: NodeId, now: Instant) {
        let Some(state) = self.nodes.get_mut(node) else { return };
        match state.begin(&self.backoffs, &mut self.rng, now) {
            Attempt::Resolve => {
                let (host, port) = (Arc::clone(&state.node.host), state.node.port);
                self.commands.push_back(Command::Resolve { node, host, port });
            }
            Attempt::Connect(address) => self.connect(node, address, ConnectRace::began),
        }
    }

    /// None of a host's addresses answers: one is tried anew, beside what goes on.
    fn begin_anew(&mut self, node: NodeId, now: Instant) {
        let next = self.nodes.get_mut(node).and_then(|state| state.race.next_anew(now));
        let Some((address, before)) = next else { return };
        if let Some(before) = before {
            self.drop_connection(before);
        }
        self.connect(node, address, ConnectRace::began_anew);
    }

    fn connect(
        &mut self,
        node: NodeId,
        address: SocketAddr,
        began: impl Fn(&mut ConnectRace, ConnectionId, SocketAddr),
    ) {
        let Some(state) = self.nodes.get_mut(node) else { return };
        self.last_connection += 1;
        let connection = ConnectionId(self.last_connection);
        began(&mut state.race, connection, address);
        self.nodes.bind(node, connection);
        self.commands.push_back(Command::Connect { connection, node, address });
    }

    /// True when the node is connected, its versions are known and it is not throttled.
    pub fn is_ready(&self, node: NodeId, now: Instant) -> bool {
        self.nodes.get(node).is_some_and(|state| state.is_ready(now))
    }

    /// True when [`send`](Self::send) would take a request.
    pub fn can_send(&self, node: NodeId, now: Instant) -> bool {
        self.nodes
            .get(node)
            .is_some_and(|state| state.is_ready(now) && state.in_flight.len() < self.in_flight_limit)
    }

    /// True when the last attempt to connect failed, or the connection broke, and the node waits for its backoff.
    pub fn connection_failed(&self, node: NodeId, now: Instant) -> bool {
        let waits =
            |s: ConnectionState, retry_at: Instant| s == ConnectionState::Disconnected && now < retry_at;
        self.nodes.get(node).is_some_and(|state| waits(state.state, state.retry_at))
    }

    /// When to look at the node again, if nothing happens before: the end of its backoff or of its throttling.
    pub fn poll_delay(&self, node: NodeId, now: Instant) -> Instant {
        match self.nodes.get(node) {
            Some(state) if state.state == ConnectionState::Disconnected => state.retry_at.max(now),
            Some(state) if state.state == ConnectionState::Ready && now < state.throttled_until => {
                state.throttled_until
            }
            _ => Instant::FAR_FUTURE,
        }
    }

    /// How far the node's connection has come.
    pub fn state(&self, node: NodeId) -> ConnectionState {
        self.nodes.get(node).map_or(ConnectionState::Disconnected, |state| state.state)
    }

    /// The node's `host:port`.
    pub fn address(&self, node: NodeId) -> Arc<str> {
        self.nodes
            .get(node)
            .map_or_else(|| Arc::from(format!("node {node}")), |state| Arc::clone(&state.address))
    }

    /// How many requests to the node are not answered.
    pub fn in_flight(&self, node: NodeId) -> usize {
        self.nodes.get(node).map_or(0, |state| state.in_flight.len())
    }

    /// How long the oldest request to the node has been waiting for its answer.
    pub fn oldest_wait(&self, node: NodeId, now: Instant) -> Option<Duration> {
        Some(now - self.nodes.get(node)?.in_flight.oldest()?.sent_at)
    }

    /// True while the node owes an answer, or a connection, for longer than its history suggests: nothing goes to it that
    /// can go elsewhere, and nothing more than what finds out whether it is back.
    pub fn is_suspected(&self, node: NodeId) -> bool {
        self.nodes.get(node).is_some_and(|state| state.suspected_since.is_some())
    }

    /// Another number whenever other nodes are suspected than before.
    pub(crate) fn suspicion_changes(&self) -> u64 {
        self.suspicion_changes
    }

    /// True while any node is suspected.
    pub fn any_suspected(&self) -> bool {
        self.nodes.iter().any(|(_, state)| state.suspected_since.is_some())
    }

    /// max.in.flight.requests.per.connection.
    pub fn in_flight_limit(&self) -> usize {
        self.in_flight_limit
    }

    /// The versions that a connected node speaks.
    pub fn api_versions(&self, node: NodeId) -> Option<&NodeApiVersions> {
        self.nodes.get(node)?.api_versions.as_ref()
    }

    /// The version in which a request of `api` goes to a connected node.
    ///
    /// # Errors
    /// [`RequestFailure::UnsupportedVersion`] when there is none, or the node is not connected.
    pub fn api_version_for(
        &self,
        node: NodeId,
        api: ApiKey,
        client: VersionRange,
    ) -> Result<i16, RequestFailure> {
        let broker = self.api_versions(node).and_then(|versions| versions.versions(api));
        // Versions that Kafka may still change are not for the wire.
        let client = client.intersect(api.stable_versions()).unwrap_or(VersionRange::EMPTY);
        broker.and_then(|broker| broker.intersect(client)).map(|both| both.max).ok_or_else(|| {
            let broker = broker.unwrap_or(VersionRange::EMPTY).to_string();
            RequestFailure::UnsupportedVersion { api, broker, client: client.to_string() }
        })
    }

    /// Notes that a broker wants to be left alone for so long (KIP-219). A throttle never ends earlier for it.
    pub fn throttle(&mut self, node: NodeId, time: Duration, now: Instant) {
        if let Some(state) = self.nodes.get_mut(node) {
            state.throttled_until = state.throttled_until.max(now + time);
        }
    }

    /// Takes a request that will have exactly one [`Completion`].
    ///
    /// # Errors
    /// Gives the request back when [`can_send`](Self::can_send) is false.
    pub fn send(&mut self, node: NodeId, request: ClientRequest, now: Instant) -> Result<(), ClientRequest> {
        if !self.can_send(node, now) {
            return Err(request);
        }
        let api = request.request.api_key();
        let both = request.versions.intersect(request.request.versions()).unwrap_or(VersionRange::EMPTY);
        let correlation_id = self.next_correlation();
        let frame = self.api_version_for(node, api, both).and_then(|version| {
            let frame = request.request.encode(version, correlation_id, &self.client_id);
            Ok((version, frame.map_err(|error| RequestFailure::Encode(Arc::new(error)))?))
        });
        match frame {
            Ok((version, frame)) => {
                let in_flight = InFlightRequest {
                    purpose: Purpose::Client(request.token),
                    correlation_id,
                    api,
                    version,
                    sent_at: now,
                    timeout: request.timeout,
                    expects_response: request.expects_response,
                };
                self.transmit(node, in_flight, frame, now);
            }
            Err(failure) => {
                let completion =
                    Completion { token: request.token, node, sent_at: now, result: Err(failure) };
                self.aborted.push_back(completion);
            }
        }
        Ok(())
    }

    fn transmit(
        &mut self,
        node: NodeId,
        request: InFlightRequest,
        frame: milena_protocol::Frame,
        now: Instant,
    ) {
        let Some(state) = self.nodes.get_mut(node) else { return };
        let Some(connection) = state.connection else { return };
        let notify = !request.expects_response;
        state.last_used = now;
        state.in_flight.push(request);
        self.commands.push_back(Command::Transmit { connection, frame, notify });
    }

    fn next_correlation(&mut self) -> i32 {
        self.last_correlation = self.last_correlation.checked_add(1).unwrap_or(0);
        self.last_correlation
    }

    /// The next thing for the driver to do.
    pub fn poll_command(&mut self) -> Option<Command> {
        self.commands.pop_front()
    }

    /// The next request that ended: those that were never sent first, then in the order in which they ended.
    pub fn poll_completion(&mut self) -> Option<Completion> {
        self.aborted.pop_front().or_else(|| self.completed.pop_front())
    }

    /// The next change of a node's connection.
    pub fn poll_state_change(&mut self) -> Option<NodeStateChange> {
        self.changes.pop_front()
    }

    /// Closes all connections; what is in flight fails.
    pub fn close_all(&mut self, now: Instant) {
        for node in self.nodes.ids() {
            self.disconnect(node, DisconnectCause::Dropped, "the client was closed", now);
        }
    }

    /// Closes one node's connection, as when the metadata says that it must be asked for again; what is in flight fails.
    pub fn close(&mut self, node: NodeId, reason: &str, now: Instant) {
        self.disconnect(node, DisconnectCause::Dropped, reason, now);
    }

    /// Gives up a suspected node's connection, since nobody needs what it owes. It stays suspected; a new connection finds
    /// out whether it is back, which an old one whose host has forgotten it would not.
    pub(crate) fn abandon(&mut self, node: NodeId, now: Instant) {
        if self.is_suspected(node) {
            let reason = "it does not answer, and what it was asked is asked elsewhere";
            self.disconnect(node, DisconnectCause::Abandoned, reason, now);
        }
    }

    /// When [`poll`](Self::poll) has something to do at the latest.
    pub fn next_timeout(&self) -> Option<Instant> {
        let due = self.nodes.iter().map(|(_, state)| {
            let idle = if state.state == ConnectionState::Ready && state.in_flight.is_empty() {
                state.last_used + self.connections_max_idle
            } else {
                Instant::FAR_FUTURE
            };
            let request = state.in_flight.next_deadline().unwrap_or(Instant::FAR_FUTURE);
            let suspicion = self.suspicion_floor.and_then(|floor| state.suspect_at(floor));
            state
                .setup_deadline
                .min(state.race.next_at())
                .min(request)
                .min(idle)
                .min(suspicion.unwrap_or(Instant::FAR_FUTURE))
        });
        due.min().filter(|at| *at != Instant::FAR_FUTURE)
    }

    /// The shortest of the timeouts that bound a handshake: neither a stuck socket nor a stuck request may take longer.
    fn handshake_timeout(&self) -> Duration {
        self.backoffs.setup_base().min(self.request_timeout)
    }
}
