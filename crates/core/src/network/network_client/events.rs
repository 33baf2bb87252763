//! What happens on connections, and what follows from it.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use milena_protocol::{DecodeError, Decoder, decode_response_header};

use super::{
    Completion, ConnectionId, ConnectionState, DisconnectCause, InFlightRequest, NetworkClient, NodeId,
    NodeStateChange, Purpose, RequestFailure, StateChange, handshake,
};
use crate::{engine::Event, network::Response, time::Instant};

impl NetworkClient {
    /// Takes note of what the driver saw. Events of connections that are closed mean nothing any more.
    pub fn handle_event(&mut self, event: Event, now: Instant) {
        match event {
            Event::Resolved { node, host, result } => self.handle_resolved(node, &host, result, now),
            Event::Connected { connection } => self.handle_connected(connection, now),
            Event::Received { connection, frame } => self.handle_received(connection, frame, now),
            Event::Transmitted { connection } => self.handle_transmitted(connection, now),
            Event::Disconnected { connection, reason } => self.handle_disconnected(connection, &reason, now),
            Event::Compressed(_) => {}
        }
    }

    /// Ends what has taken too long.
    pub fn poll(&mut self, now: Instant) {
        if self.next_timeout().is_none_or(|at| now < at) {
            return;
        }
        for node in self.nodes.ids() {
            self.suspect_if_silent(node, now);
            let Some(state) = self.nodes.get(node) else { continue };
            if now >= state.setup_deadline {
                self.setup_timed_out(node, now);
            } else if now >= state.race.next_at() {
                if state.race.has_untried() {
                    self.begin_attempt(node, now);
                } else {
                    self.begin_anew(node, now);
                }
            } else if state.in_flight.next_deadline().is_some_and(|at| now >= at) {
                let reason = "a request was not answered in time";
                self.disconnect(node, DisconnectCause::RequestTimedOut, reason, now);
            }
        }
        self.close_idle(now);
    }

    fn suspect_if_silent(&mut self, node: NodeId, now: Instant) {
        let (Some(floor), Some(state)) = (self.suspicion_floor, self.nodes.get_mut(node)) else { return };
        if state.suspect_at(floor).is_some_and(|at| now >= at) {
            let since = match state.state {
                ConnectionState::Ready => state.in_flight.oldest().map_or(now, |oldest| oldest.sent_at),
                _ => state.connecting_since,
            };
            self.suspect(node, now - since, now);
        }
    }

    fn suspect(&mut self, node: NodeId, silent: Duration, now: Instant) {
        let Some(state) = self.nodes.get_mut(node).filter(|state| state.suspected_since.is_none()) else {
            return;
        };
        state.suspected_since = Some(now);
        self.suspicion_changes += 1;
        let address = self.address(node);
        tracing::debug!(node, %address, ?silent, "the broker is suspected of not answering");
        self.changes.push_back(NodeStateChange { node, address, change: StateChange::Suspected { silent } });
    }

    /// A broker that answers, whatever, is not suspected.
    fn note_answer(&mut self, node: NodeId, sent_at: Instant, now: Instant) {
        let (Some(floor), Some(state)) = (self.suspicion_floor, self.nodes.get_mut(node)) else { return };
        if state.answered(sent_at, floor, now) {
            self.suspicion_changes += 1;
            let address = self.address(node);
            tracing::debug!(node, %address, "the broker answers again");
            self.changes.push_back(NodeStateChange { node, address, change: StateChange::Cleared });
        }
    }

    fn setup_timed_out(&mut self, node: NodeId, now: Instant) {
        let state = self.nodes.get(node).map(|state| (state.state, state.race.is_empty()));
        match state {
            Some((ConnectionState::Connecting, false)) => {
                // The address tried last makes room for the next one, if there is one.
                let last = self.nodes.get_mut(node).and_then(|state| state.race.give_up_last());
                last.into_iter().for_each(|connection| self.drop_connection(connection));
                self.connect_failed(node, "no connection in time", now);
            }
            Some((ConnectionState::Connecting, true)) => self.connect_failed(node, "no address in time", now),
            _ => {
                let reason = "the broker does not say which versions it speaks";
                self.disconnect(node, DisconnectCause::SetupFailed, reason, now);
            }
        }
    }

    /// Closes the connection that was idle longest, if that is too long (Kafka's `Selector.IdleExpiryManager`).
    fn close_idle(&mut self, now: Instant) {
        let idle =
            self.nodes.iter().filter(|(_, s)| s.state == ConnectionState::Ready && s.in_flight.is_empty());
        let oldest =
            idle.min_by_key(|(_, state)| state.last_used).map(|(node, state)| (node, state.last_used));
        if let Some((node, _)) = oldest.filter(|(_, used)| now >= *used + self.connections_max_idle) {
            self.disconnect(node, DisconnectCause::Idle, "idle for connections.max.idle.ms", now);
        }
    }

    fn handle_resolved(
        &mut self,
        node: NodeId,
        host: &str,
        result: Result<Vec<SocketAddr>, String>,
        now: Instant,
    ) {
        let Some(state) = self.nodes.get_mut(node) else { return };
        let asked = state.state == ConnectionState::Connecting && state.race.is_empty();
        if !asked || *state.node.host != *host {
            return;
        }
        match result {
            Ok(addresses) if !addresses.is_empty() => {
                state.resolved(addresses);
                self.begin_attempt(node, now);
            }
            Ok(_) => self.connect_failed(node, &format!("the name `{host}` has no address"), now),
            Err(reason) => self.connect_failed(node, &format!("cannot resolve `{host}`: {reason}"), now),
        }
    }

    /// The next address at once while there is one; then a backoff, and a new resolution (client.md 16).
    fn connect_failed(&mut self, node: NodeId, reason: &str, now: Instant) {
        let Some(state) = self.nodes.get_mut(node) else { return };
        state.connect_failed();
        if state.race.has_untried() {
            self.begin_attempt(node, now);
        } else {
            self.disconnect(node, DisconnectCause::SetupFailed, reason, now);
        }
    }

    fn handle_connected(&mut self, connection: ConnectionId, now: Instant) {
        let Some(node) = self.nodes.node_of(connection) else { return };
        let timeout = self.handshake_timeout();
        if let Some(state) =
            self.nodes.get_mut(node).filter(|state| state.state == ConnectionState::Connecting)
        {
            let others = state.won(connection);
            state.opened(timeout, now);
            others.into_iter().for_each(|other| self.drop_connection(other));
            self.ask_versions(node, handshake::newest_version(), now);
        }
    }

    fn ask_versions(&mut self, node: NodeId, version: i16, now: Instant) {
        let correlation_id = self.next_correlation();
        match handshake::question(version, correlation_id, &self.client_id) {
            Ok(frame) => {
                let question = InFlightRequest {
                    purpose: Purpose::Handshake,
                    correlation_id,
                    api: milena_protocol::ApiKey::ApiVersions,
                    version,
                    sent_at: now,
                    timeout: self.request_timeout,
                    expects_response: true,
                };
                self.transmit(node, question, frame, now);
            }
            Err(error) => self.disconnect(node, DisconnectCause::SetupFailed, &error.to_string(), now),
        }
    }

    fn handle_transmitted(&mut self, connection: ConnectionId, now: Instant) {
        let Some(node) = self.nodes.node_of(connection) else { return };
        let Some(state) = self.nodes.get_mut(node) else { return };
        state.last_used = now;
        if let Some(written) = state.in_flight.pop_written() {
            self.complete(node, &written, Ok(Response { version: written.version, body: Bytes::new() }));
        }
    }

    fn handle_received(&mut self, connection: ConnectionId, frame: Bytes, now: Instant) {
        let Some(node) = self.nodes.node_of(connection) else { return };
        // An answer proves that everything before its request was written.
        while let Some(written) = self.nodes.get_mut(node).and_then(|state| state.in_flight.pop_written()) {
            self.complete(node, &written, Ok(Response { version: written.version, body: Bytes::new() }));
        }
        let Some(state) = self.nodes.get_mut(node) else { return };
        state.last_used = now;
        let body = match state.in_flight.oldest() {
            None => Err("an answer to nothing".to_owned()),
            Some(oldest) => body_of(frame, oldest),
        };
        let request = if body.is_ok() { state.in_flight.pop_oldest() } else { None };
        if let Some(request) = &request {
            self.note_answer(node, request.sent_at, now);
        }
        match (body, request) {
            (Ok(body), Some(request)) if request.purpose == Purpose::Handshake => {
                self.handle_versions(node, body, request.version, now);
            }
            (Ok(body), Some(request)) => {
                self.complete(node, &request, Ok(Response { version: request.version, body }));
                self.drop_retiring(now);
            }
            (Err(reason), _) => self.disconnect(node, DisconnectCause::ProtocolViolation, &reason, now),
            (Ok(_), None) => {}
        }
    }

    fn handle_versions(&mut self, node: NodeId, body: Bytes, version: i16, now: Instant) {
        match handshake::interpret(body, version) {
            Ok(handshake::Answer::Versions(versions, throttle)) => {
                if let Some(state) = self.nodes.get_mut(node) {
                    state.ready(versions, now);
                }
                self.throttle(node, throttle, now);
                let address = self.address(node);
                self.changes.push_back(NodeStateChange { node, address, change: StateChange::Ready });
                self.drop_retiring(now);
            }
            Ok(handshake::Answer::AskAgain(version)) => self.ask_versions(node, version, now),
            Ok(handshake::Answer::Refused(code)) => {
                let reason = format!("the broker refuses ApiVersions: {code}: {}", code.message());
                self.disconnect(node, DisconnectCause::SetupFailed, &reason, now);
            }
            Err(error) => self.undecodable(node, &error, now),
        }
    }

    /// Closes a connection whose answer could not be decoded: the peer's fault, and nothing that follows can be trusted.
    pub fn undecodable(&mut self, node: NodeId, error: &DecodeError, now: Instant) {
        let reason = format!("the answer cannot be decoded: {error}");
        self.disconnect(node, DisconnectCause::ProtocolViolation, &reason, now);
    }

    fn handle_disconnected(&mut self, connection: ConnectionId, reason: &str, now: Instant) {
        let Some(node) = self.nodes.node_of(connection) else { return };
        match self.state(node) {
            ConnectionState::Connecting => {
                self.drop_connection(connection);
                let others = self.nodes.get_mut(node).is_some_and(|state| state.race.lost(connection));
                if !others {
                    self.connect_failed(node, reason, now);
                }
            }
            ConnectionState::CheckingApiVersions => {
                self.disconnect(node, DisconnectCause::SetupFailed, reason, now);
            }
            _ => self.disconnect(node, DisconnectCause::Lost, reason, now),
        }
    }

    /// Ends a node's connection or its attempt, and everything in flight on it, in order (client.md 19).
    pub(super) fn disconnect(&mut self, node: NodeId, cause: DisconnectCause, reason: &str, now: Instant) {
        let Some(state) = self.nodes.get_mut(node) else { return };
        if state.state == ConnectionState::Disconnected {
            return;
        }
        let (connection, rivals) = (state.connection, state.race.end());
        let unwanted = matches!(cause, DisconnectCause::Idle | DisconnectCause::Dropped);
        // Who went without an answer, or does not let anybody in, is no better than one who is silent.
        let owed = state.in_flight.oldest().map(|oldest| oldest.sent_at);
        let owed = owed.or((cause == DisconnectCause::SetupFailed).then_some(state.connecting_since));
        if unwanted && state.suspected_since.take().is_some() {
            self.suspicion_changes += 1;
        }
        state.ended(!unwanted, &self.backoffs, &mut self.rng, now);
        let retiring = state.retiring;
        connection.into_iter().chain(rivals).for_each(|connection| self.drop_connection(connection));
        self.fail_in_flight(node, cause, reason, now);
        let change = StateChange::Disconnected { cause, reason: reason.into() };
        self.changes.push_back(NodeStateChange { node, address: self.address(node), change });
        if let Some(since) = owed.filter(|_| !unwanted && self.suspicion_floor.is_some()) {
            self.suspect(node, now - since, now);
        }
        if retiring {
            self.nodes.remove(node);
        }
    }

    pub(super) fn drop_connection(&mut self, connection: ConnectionId) {
        self.nodes.unbind(connection);
        // Harmless when the driver has seen its end already: it forgets it all the same.
        self.commands.push_back(crate::engine::Command::Close { connection });
    }

    fn fail_in_flight(&mut self, node: NodeId, cause: DisconnectCause, reason: &str, now: Instant) {
        let node_address = self.address(node);
        let reason: Arc<str> = reason.into();
        while let Some(request) = self.nodes.get_mut(node).and_then(|state| state.in_flight.pop_oldest()) {
            let timed_out = cause == DisconnectCause::RequestTimedOut && now >= request.deadline();
            let failure = if timed_out {
                let (node_address, timeout) = (Arc::clone(&node_address), request.timeout);
                RequestFailure::TimedOut { node_address, timeout }
            } else {
                RequestFailure::Disconnected {
                    node_address: Arc::clone(&node_address),
                    reason: Arc::clone(&reason),
                }
            };
            self.complete(node, &request, Err(failure));
        }
    }

    fn complete(
        &mut self,
        node: NodeId,
        request: &InFlightRequest,
        result: Result<Response, RequestFailure>,
    ) {
        if let Purpose::Client(token) = request.purpose {
            self.completed.push_back(Completion { token, node, sent_at: request.sent_at, result });
        }
    }

    /// Lets go of bootstrap connections that are no longer needed: a named broker is ready, and they owe no answer.
    pub(super) fn drop_retiring(&mut self, now: Instant) {
        let named_ready = self.nodes.iter().any(|(_, s)| !s.retiring && s.state == ConnectionState::Ready);
        if !named_ready {
            return;
        }
        let idle = |(id, s): (NodeId, &super::super::cluster_connection_states::NodeConnection)| {
            (s.retiring && s.in_flight.is_empty()).then_some(id)
        };
        let done: Vec<NodeId> = self.nodes.iter().filter_map(idle).collect();
        for node in done {
            self.forget(node, "the brokers themselves are connected now", now);
        }
    }
}

/// The body of an answer that must be the one to `request`.
fn body_of(frame: Bytes, request: &InFlightRequest) -> Result<Bytes, String> {
    let mut decoder = Decoder::new(frame);
    let correlation_id = decode_response_header(&mut decoder, request.api, request.version)
        .map_err(|error| format!("the answer's header cannot be decoded: {error}"))?;
    if correlation_id != request.correlation_id {
        let expected = request.correlation_id;
        return Err(format!("an answer with correlation id {correlation_id} where {expected} is due"));
    }
    decoder.raw(decoder.remaining(), "ResponseBody").map_err(|error| error.to_string())
}
