//! Whom to ask when any broker will do.

use std::time::Duration;

use rand::RngExt;

use super::{ConnectionState, NetworkClient, NodeId};
use crate::{network::cluster_connection_states::NodeConnection, time::Instant};

/// From when on a connected node whose oldest request is not answered counts as unresponsive: another one is asked
/// first, if another one can be. Longer than a healthy fetch or produce takes, shorter than anybody likes to wait.
const UNRESPONSIVE_AFTER: Duration = Duration::from_secs(1);

/// While nobody is connected, so long one broker may take to connect before the next one is tried beside it. More than
/// any healthy handshake takes, much less than the set-up timeout (client.md 39 in its simplest form).
const CONNECT_STAGGER: Duration = Duration::from_millis(250);

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
    /// flight; else one that began to connect just now; else one that can be connected; else one that is still
    /// connecting; else a connected one, unresponsive as it is.
    ///
    /// None when every node waits for its backoff or its throttling, or is full. The scan starts at random, so that the
    /// clients of a cluster spread over its brokers.
    pub fn least_loaded_node(&mut self, now: Instant) -> Option<LeastLoaded> {
        self.least_loaded_but(now, |_| false)
    }

    /// As [`least_loaded_node`](Self::least_loaded_node), from the nodes that `avoid` does not name.
    pub fn least_loaded_but(&mut self, now: Instant, avoid: impl Fn(NodeId) -> bool) -> Option<LeastLoaded> {
        let offset = if self.nodes.len() > 1 { self.rng.random_range(0..self.nodes.len()) } else { 0 };
        let rank = |(place, (node, state)): (usize, (NodeId, &NodeConnection))| {
            let (rank, readiness) = self.rank(state, now)?;
            let look_again_at = match (readiness, state.connecting_since + CONNECT_STAGGER) {
                (NodeReadiness::Connecting, at) if at > now => at,
                (NodeReadiness::Connecting, _) => Instant::FAR_FUTURE,
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

    /// Lower is better; none for a node that is of no use now.
    fn rank(&self, state: &NodeConnection, now: Instant) -> Option<(u8, NodeReadiness)> {
        match state.state {
            ConnectionState::Ready if state.is_ready(now) && state.in_flight.len() < self.in_flight_limit => {
                let responsive =
                    state.in_flight.oldest().is_none_or(|r| now - r.sent_at < UNRESPONSIVE_AFTER);
                let rank = match (responsive, state.retiring) {
                    (true, false) => 0,
                    (true, true) => 1,
                    (false, _) => 5,
                };
                Some((rank, NodeReadiness::Ready))
            }
            ConnectionState::Connecting | ConnectionState::CheckingApiVersions => {
                let rank = if now - state.connecting_since < CONNECT_STAGGER { 2 } else { 4 };
                Some((rank, NodeReadiness::Connecting))
            }
            ConnectionState::Disconnected if state.may_connect(now) => Some((3, NodeReadiness::CanConnect)),
            _ => None,
        }
    }
}
