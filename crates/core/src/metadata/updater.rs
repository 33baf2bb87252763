//! Does the asking: picks the broker, connects, sends, and never waits for a dead one (Kafka's `DefaultMetadataUpdater`).

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use milena_protocol::{VersionRange, messages::MetadataRequest};

use super::{Metadata, PlannedRequest, RefreshReason, UpdateOutcome};
use crate::{
    cluster::Cluster,
    config::ClientConfig,
    network::{
        ClientRequest, Completion, DisconnectCause, LeastLoaded, NetworkClient, NodeId, NodeReadiness,
        NodeStateChange, RequestFailure, RequestToken, Response, StateChange,
    },
    time::Instant,
};

/// The oldest metadata request that can say "all topics" and "no topics".
const OLDEST_VERSION: i16 = 1;
/// The oldest metadata request that can say "do not create topics".
const OLDEST_VERSION_WITHOUT_CREATION: i16 = 4;

/// A metadata request that is not answered for so long is asked of another broker as well: the first answer counts.
const HEDGE_AFTER: Duration = Duration::from_millis(250);

/// While a suspected broker leads something, so often is asked whether it still does.
const SUSPICION_INTERVAL: Duration = Duration::from_millis(250);

/// A metadata request under way.
#[derive(Debug)]
struct UnderWay {
    token: RequestToken,
    node: NodeId,
    planned: PlannedRequest,
    sent_at: Instant,
    /// Another broker was asked the same, because this one is silent.
    hedged: bool,
}

impl UnderWay {
    /// When another broker is to be asked.
    fn hedge_at(&self) -> Instant {
        if self.hedged { Instant::FAR_FUTURE } else { self.sent_at + HEDGE_AFTER }
    }
}

/// Refreshes [`Metadata`] over [`NetworkClient`].
#[derive(Debug)]
pub struct MetadataUpdater {
    request_timeout: Duration,
    rebootstrap: bool,
    rebootstrap_trigger: Duration,
    /// At most one for all topics and one for some, and the hedges of each: one for each broker at the most.
    under_way: Vec<UnderWay>,
    /// Nodes whose request failed since the last success or pause: the others are asked at once, these are not.
    failed: BTreeSet<NodeId>,
    /// Since when a refresh has been due without success (KIP-1102).
    due_since: Option<Instant>,
    /// True when a refresh is due and waits for a connection; then the next event is awaited, or `wake_at`.
    blocked: bool,
    /// While blocked: when to look for a broker again.
    wake_at: Instant,
    polled_at: Instant,
    /// The version of the cluster that the network client knows: the pointer is enough to see a change.
    known_nodes: Option<Arc<Cluster>>,
    /// While a broker is suspected: when to ask again what it leads.
    ask_leaders_at: Instant,
    /// A step after the last time: one more suspect does not make it more often.
    may_ask_leaders_at: Instant,
}

impl MetadataUpdater {
    /// An updater with nothing under way.
    pub fn new(config: &ClientConfig) -> Self {
        Self {
            request_timeout: config.request_timeout,
            rebootstrap: config.rebootstrap,
            rebootstrap_trigger: config.rebootstrap_trigger,
            under_way: Vec::new(),
            failed: BTreeSet::new(),
            due_since: None,
            blocked: false,
            wake_at: Instant::FAR_FUTURE,
            polled_at: Instant::ORIGIN,
            known_nodes: None,
            ask_leaders_at: Instant::FAR_FUTURE,
            may_ask_leaders_at: Instant::ORIGIN,
        }
    }

    /// Takes callers' wishes, tells the network client the latest nodes, and asks for metadata if that is due.
    pub fn poll(&mut self, metadata: &mut Metadata, network: &mut NetworkClient, now: Instant) {
        metadata.poll(now);
        metadata.publish_changes();
        self.update_nodes(metadata, network, now);
        self.polled_at = now;
        self.blocked = false;
        self.wake_at = Instant::FAR_FUTURE;
        self.trigger_rebootstrap(metadata, network, now);
        self.ask_about_suspects(metadata, network, now);
        self.hedge(network, now);
        // At most two requests can be due, one for all topics and one for some.
        while now >= metadata.next_update_at() {
            self.due_since.get_or_insert(now);
            if !self.ask(metadata, network, now) {
                self.blocked = true;
                break;
            }
        }
    }

    /// When [`poll`](Self::poll) has something to do at the latest.
    pub fn next_timeout(&self, metadata: &Metadata) -> Option<Instant> {
        let due = metadata.next_update_at();
        let due = if self.blocked && due <= self.polled_at { self.wake_at } else { due };
        let trigger =
            self.due_since.filter(|_| self.rebootstrap).map(|since| since + self.rebootstrap_trigger);
        // One that is due and found nobody to ask waits for an event.
        let hedges = self.under_way.iter().map(UnderWay::hedge_at).filter(|at| *at > self.polled_at);
        let hedge = hedges.min().unwrap_or(Instant::FAR_FUTURE);
        let at = due.min(trigger.unwrap_or(Instant::FAR_FUTURE)).min(self.ask_leaders_at).min(hedge);
        Some(at).filter(|at| *at != Instant::FAR_FUTURE)
    }

    /// True while a metadata request is under way.
    pub fn is_updating(&self) -> bool {
        !self.under_way.is_empty()
    }

    fn update_nodes(&mut self, metadata: &Metadata, network: &mut NetworkClient, now: Instant) {
        let cluster = metadata.cluster();
        if !self.known_nodes.as_ref().is_some_and(|known| Arc::ptr_eq(known, cluster)) {
            network.set_nodes(cluster, now);
            self.failed.retain(|node| cluster.node(*node).is_some());
            self.known_nodes = Some(Arc::clone(cluster));
        }
    }

    /// True if a request was sent.
    fn ask(&mut self, metadata: &mut Metadata, network: &mut NetworkClient, now: Instant) -> bool {
        let mut candidate = self.candidate(metadata.doubted(), network, now);
        if candidate.is_none() && self.bootstrap_again(metadata, network, now) {
            candidate = self.candidate(None, network, now);
        }
        match candidate {
            Some(LeastLoaded { node, readiness: NodeReadiness::Ready, .. }) => {
                return self.send(node, metadata, network, now);
            }
            Some(LeastLoaded { node, readiness: NodeReadiness::CanConnect, .. }) => {
                network.ready(node, now);
                // It is connecting now: when does that take too long?
                self.wake_at = network.least_loaded_node(now).map_or(now, |found| found.look_again_at);
            }
            Some(connecting) => self.wake_at = connecting.look_again_at,
            None => self.wake_at = network.next_candidate_at(now),
        }
        false
    }

    /// While suspected brokers lead something, asks others who leads now: when suspicion falls, and then again and again.
    fn ask_about_suspects(&mut self, metadata: &mut Metadata, network: &NetworkClient, now: Instant) {
        if now < self.ask_leaders_at {
            return;
        }
        let suspected = |node| network.is_suspected(node);
        let lead = network.any_suspected() && metadata.ask_about_leaders(suspected);
        if lead {
            self.may_ask_leaders_at = now + SUSPICION_INTERVAL;
        }
        self.ask_leaders_at = if lead { self.may_ask_leaders_at } else { Instant::FAR_FUTURE };
    }

    /// Asks another broker what one that is silent was asked.
    fn hedge(&mut self, network: &mut NetworkClient, now: Instant) {
        for place in 0..self.under_way.len() {
            if now < self.under_way[place].hedge_at() {
                continue;
            }
            let planned = self.under_way[place].planned.clone();
            let asked: Vec<NodeId> = self.same(&planned).map(|under_way| under_way.node).collect();
            let found =
                network.least_loaded_but(now, |node| asked.contains(&node) || self.failed.contains(&node));
            match found {
                Some(LeastLoaded { node, readiness: NodeReadiness::Ready, .. }) => {
                    // Whether it is taken or not: the next look is at the one asked last.
                    self.under_way[place].hedged = true;
                    let _taken = self.transmit(node, planned, network, now);
                }
                Some(LeastLoaded { node, readiness: NodeReadiness::CanConnect, .. }) => {
                    network.ready(node, now);
                }
                // It is connecting, or waits for its backoff: an event brings the next look.
                Some(_) | None => {}
            }
        }
    }

    /// All that ask the same.
    fn same(&self, planned: &PlannedRequest) -> impl Iterator<Item = &UnderWay> {
        let (version, partial) = (planned.request_version, planned.partial);
        let is_it = move |other: &&UnderWay| {
            (other.planned.request_version, other.planned.partial) == (version, partial)
        };
        self.under_way.iter().filter(is_it)
    }

    /// The least loaded node, one that has not just failed, nor is doubted, if there is one.
    fn candidate(
        &self,
        doubted: Option<NodeId>,
        network: &mut NetworkClient,
        now: Instant,
    ) -> Option<LeastLoaded> {
        network
            .least_loaded_but(now, |node| self.failed.contains(&node) || doubted == Some(node))
            .or_else(|| network.least_loaded_but(now, |node| self.failed.contains(&node)))
            .or_else(|| network.least_loaded_node(now))
    }

    fn send(
        &mut self,
        node: NodeId,
        metadata: &mut Metadata,
        network: &mut NetworkClient,
        now: Instant,
    ) -> bool {
        let Some(planned) = metadata.next_request(now) else { return false };
        let Err(planned) = self.transmit(node, planned, network, now) else { return true };
        metadata.handle_failure(&planned, "the broker chosen takes no requests", now);
        false
    }

    fn transmit(
        &mut self,
        node: NodeId,
        mut planned: PlannedRequest,
        network: &mut NetworkClient,
        now: Instant,
    ) -> Result<(), Box<PlannedRequest>> {
        planned.broker = Some(network.address(node));
        let creates = planned.request.allow_auto_topic_creation;
        let oldest = if creates { OLDEST_VERSION } else { OLDEST_VERSION_WITHOUT_CREATION };
        let token = network.next_token();
        let request = ClientRequest {
            token,
            request: Box::new(planned.request.clone()),
            versions: VersionRange::new(oldest, i16::MAX),
            timeout: self.request_timeout,
            expects_response: true,
        };
        if network.send(node, request, now).is_err() {
            return Err(Box::new(planned));
        }
        self.under_way.push(UnderWay { token, node, planned, sent_at: now, hedged: false });
        Ok(())
    }

    /// Takes a completion that is the updater's own; gives others back.
    pub fn handle_completion(
        &mut self,
        completion: Completion,
        metadata: &mut Metadata,
        network: &mut NetworkClient,
        now: Instant,
    ) -> Option<Completion> {
        let Some(place) = self.under_way.iter().position(|under_way| under_way.token == completion.token)
        else {
            return Some(completion);
        };
        let planned = self.under_way.remove(place).planned;
        if completion.result.is_err() && self.same(&planned).next().is_some() {
            // Another broker was asked as well, and still may answer.
            self.failed.insert(completion.node);
            return None;
        }
        match completion.result {
            Ok(response) => {
                self.handle_response(&planned, &response, completion.node, metadata, network, now);
            }
            Err(failure) => self.handle_failure(&planned, &failure, completion.node, metadata, network, now),
        }
        self.update_nodes(metadata, network, now);
        None
    }

    fn handle_response(
        &mut self,
        planned: &PlannedRequest,
        response: &Response,
        node: NodeId,
        metadata: &mut Metadata,
        network: &mut NetworkClient,
        now: Instant,
    ) {
        let decoded = match response.decode::<MetadataRequest>() {
            Ok(decoded) => decoded,
            Err(error) => {
                network.undecodable(node, &error, now);
                let text = format!("the metadata answer cannot be decoded: {error}");
                return self.failed(planned, &text, node, metadata, network, now);
            }
        };
        // Who is slower may answer what it likes.
        let (version, partial) = (planned.request_version, planned.partial);
        self.under_way
            .retain(|other| (other.planned.request_version, other.planned.partial) != (version, partial));
        let throttle = Duration::from_millis(u64::try_from(decoded.throttle_time_ms).unwrap_or(0));
        network.throttle(node, throttle, now);
        match metadata.handle_response(planned, &decoded, response.version, now) {
            UpdateOutcome::Updated => {
                metadata.told_by(node);
                self.failed.clear();
                self.due_since = None;
            }
            UpdateOutcome::Failed => {
                self.failed.insert(node);
            }
            UpdateOutcome::RebootstrapRequired if self.rebootstrap => {
                self.start_again(metadata, network, now);
            }
            UpdateOutcome::RebootstrapRequired => {}
        }
    }

    fn handle_failure(
        &mut self,
        planned: &PlannedRequest,
        failure: &RequestFailure,
        node: NodeId,
        metadata: &mut Metadata,
        network: &mut NetworkClient,
        now: Instant,
    ) {
        let text = failure.to_string();
        self.failed(planned, &text, node, metadata, network, now);
        if matches!(failure, RequestFailure::UnsupportedVersion { .. } | RequestFailure::Encode(_)) {
            metadata.fail_fatally(&text);
        }
    }

    /// Another broker is asked at once; only when all have failed there is a pause.
    fn failed(
        &mut self,
        planned: &PlannedRequest,
        text: &str,
        node: NodeId,
        metadata: &mut Metadata,
        network: &mut NetworkClient,
        now: Instant,
    ) {
        metadata.handle_failure(planned, text, now);
        self.failed.insert(node);
        if network.least_loaded_but(now, |other| self.failed.contains(&other)).is_some() {
            metadata.retry_at_once(now);
        } else {
            self.failed.clear();
        }
    }

    /// Takes note of how nodes fare: that demands refreshes, and is what spent waits name as their cause.
    pub fn handle_state_change(&mut self, change: &NodeStateChange, metadata: &mut Metadata) {
        let (node, address) = (change.node, &change.address);
        match &change.change {
            // A bootstrap address is connected for the sake of a refresh that is due already.
            StateChange::Connecting if node >= 0 => {
                metadata.request_update(RefreshReason::Connecting(node));
            }
            StateChange::Ready if node >= 0 => metadata.note_broker_ready(),
            // The next turn asks, unless one has asked just now. Its history says that it is silent, so what is asked goes to others.
            StateChange::Suspected { silent } => {
                self.ask_leaders_at = self.ask_leaders_at.min(self.may_ask_leaders_at);
                metadata.note_connection_failure(&format!("{address} has not answered for {silent:?}"));
            }
            StateChange::Connecting | StateChange::Ready | StateChange::Cleared => {}
            StateChange::Disconnected {
                cause: DisconnectCause::Idle | DisconnectCause::Dropped | DisconnectCause::Abandoned,
                ..
            } => {}
            StateChange::Disconnected { cause, reason } => {
                let text = match cause {
                    DisconnectCause::SetupFailed => format!("cannot connect to {address}: {reason}"),
                    _ => format!("disconnected from {address}: {reason}"),
                };
                metadata.note_connection_failure(&text);
                metadata.request_update(match cause {
                    DisconnectCause::RequestTimedOut => RefreshReason::RequestTimedOut(node),
                    _ => RefreshReason::Disconnected(node),
                });
            }
        }
    }

    /// When no node can be asked at all (KIP-899).
    fn bootstrap_again(
        &mut self,
        metadata: &mut Metadata,
        network: &mut NetworkClient,
        now: Instant,
    ) -> bool {
        let hopeless = !network.any_connected() && !metadata.cluster().is_bootstrap();
        self.rebootstrap && hopeless && self.start_again(metadata, network, now)
    }

    /// When refreshes have been failing for too long (KIP-1102).
    fn trigger_rebootstrap(&mut self, metadata: &mut Metadata, network: &mut NetworkClient, now: Instant) {
        let Some(since) = self.due_since.filter(|_| self.rebootstrap) else { return };
        if now >= since + self.rebootstrap_trigger {
            self.due_since = Some(now);
            self.start_again(metadata, network, now);
        }
    }

    fn start_again(&mut self, metadata: &mut Metadata, network: &mut NetworkClient, now: Instant) -> bool {
        if !metadata.rebootstrap(now) {
            return false;
        }
        // What was learned is not to be trusted: also a connection that serves a bootstrap address goes.
        network.close_all(now);
        self.failed.clear();
        self.update_nodes(metadata, network, now);
        true
    }
}
