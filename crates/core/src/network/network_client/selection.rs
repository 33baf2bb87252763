//! Whom to ask when any broker will do.

use std::time::Duration;

use rand::RngExt;

use super::{ConnectionState, NetworkClient, NodeId};
use crate::{network::cluster_connection_states::NodeConnection, time::Instant};

/// While nobody is connected, so long the first broker may take to connect before the next one is tried beside it, and
/// twice as long each further one: more than a handshake takes in a data centre, and nothing that anybody would notice
/// when the first one is dead (client.md 39). Across a continent some brokers get a connection that they need not have.
const CONNECT_STAGGER: Duration = Duration::from_millis(5);

/// The stagger grows up to this (RFC 8305's).
const CONNECT_STAGGER_MAX: Duration = Duration::from_millis(250);

/// The node to ask, and how far it is from being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastLoaded {
    /// The node.
    pub node: NodeId,
    /// What it takes to ask it.
    pub readiness: NodeReadiness,
    /// When to look again if nothing happens before: now, unless it is connecting.
    pub look_again_at: Instant,
}

/// What it takes to ask a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeReadiness {
    /// Nothing: [`NetworkClient::send`] takes a request.
    Ready,
    /// It is connecting; no connected node can be asked instead.
    Connecting,
    /// It can be connected; no other node is connected, and what is connecting has been at it for long.
    CanConnect,
}

impl NetworkClient {
    /// The node to ask when any will do (client.md 21): the connected and responsive one with the fewest requests in
    /// flight; else one that is connecting, while it is not time to try another one as well; else one that can be
    /// connected, a suspected one last; else one that is still connecting.
    ///
    /// None when every node waits for its backoff or its throttling, is full, or is connected and suspected. The scan starts at random, so that the
    /// clients of a cluster spread over its brokers.
    pub fn least_loaded_node(&mut self, now: Instant) -> Option<LeastLoaded> {
        self.least_loaded_but(now, |_| false)
    }

    /// As [`least_loaded_node`](Self::least_loaded_node), from the nodes that `avoid` does not name.
    pub fn least_loaded_but(&mut self, now: Instant, avoid: impl Fn(NodeId) -> bool) -> Option<LeastLoaded> {
        let offset = if self.nodes.len() > 1 { self.rng.random_range(0..self.nodes.len()) } else { 0 };
        let next_attempt_at = self.next_attempt_at();
        let rank = |(place, (node, state)): (usize, (NodeId, &NodeConnection))| {
            let (rank, readiness) = self.rank(state, next_attempt_at, now)?;
            let look_again_at = match readiness {
                NodeReadiness::Connecting if next_attempt_at > now => next_attempt_at,
                NodeReadiness::Connecting => Instant::FAR_FUTURE,
                _ => now,
            };
            Some(((rank, state.in_flight.len(), place), LeastLoaded { node, readiness, look_again_at }))
        };
        let rotated = self.nodes.iter().skip(offset).chain(self.nodes.iter().take(offset));
        let allowed = rotated.filter(|(node, _)| !avoid(*node)).enumerate();
        let mut found = allowed.filter_map(rank).min_by_key(|(rank, _)| *rank).map(|(_, found)| found)?;
        if found.look_again_at == Instant::FAR_FUTURE {
            // Not when one of those may be tried that are avoided: the answer would be the same.
            found.look_again_at = self.next_candidate_but(now, avoid);
        }
        Some(found)
    }

    /// True when a node is connected, whether it takes requests just now or not.
    pub fn any_connected(&self) -> bool {
        self.nodes.iter().any(|(_, state)| state.state == ConnectionState::Ready)
    }

    /// When the first of the nodes may be tried again, if none can be asked now.
    pub fn next_candidate_at(&self, now: Instant) -> Instant {
        self.next_candidate_but(now, |_| false)
    }

    fn next_candidate_but(&self, now: Instant, avoid: impl Fn(NodeId) -> bool) -> Instant {
        let waits = self.nodes.iter().filter(|(node, state)| !state.retiring && !avoid(*node));
        waits.map(|(node, _)| self.poll_delay(node, now)).min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// When another node may be tried beside those that are connecting.
    fn next_attempt_at(&self) -> Instant {
        let connecting = |state: &NodeConnection| {
            matches!(state.state, ConnectionState::Connecting | ConnectionState::CheckingApiVersions)
        };
        let attempts = self.nodes.iter().filter(|(_, state)| connecting(state));
        let (count, latest) = attempts.fold((0_u32, Instant::ORIGIN), |(count, latest), (_, state)| {
            (count + 1, latest.max(state.connecting_since))
        });
        let doublings = count.saturating_sub(1).min(u32::BITS - 1);
        latest + CONNECT_STAGGER.saturating_mul(1 << doublings).min(CONNECT_STAGGER_MAX)
    }

    /// Lower is better; none for a node that is of no use now.
    fn rank(
        &self,
        state: &NodeConnection,
        next_attempt_at: Instant,
        now: Instant,
    ) -> Option<(u8, NodeReadiness)> {
        let suspected = state.suspected_since.is_some();
        match state.state {
            ConnectionState::Ready
                if state.is_ready(now) && state.in_flight.len() < self.in_flight_limit && !suspected =>
            {
                Some((u8::from(state.retiring), NodeReadiness::Ready))
            }
            ConnectionState::Connecting | ConnectionState::CheckingApiVersions => {
                let rank = if now < next_attempt_at { 2 } else { 5 };
                Some((rank, NodeReadiness::Connecting))
            }
            ConnectionState::Disconnected if state.may_connect(now) => {
                Some((if suspected { 4 } else { 3 }, NodeReadiness::CanConnect))
            }
            _ => None,
        }
    }
}
