//! Small clients for tests that are not about producing: metadata only, and bare connections.

use std::{sync::Arc, task::Poll, time::Duration};

use milena_core::{
    admin::{AdminEngine, AdminHandle},
    cluster::Cluster,
    config::ClientConfig,
    engine::{Command, Engine, Event},
    metadata::{Metadata, MetadataError, MetadataTopics, MetadataWait, UpdateOutcome},
    network::{ClientRequest, Completion, NetworkClient, NodeStateChange, RequestToken},
    signal::Signal,
    time::Instant,
};
use milena_protocol::{Request, VersionRange};

use super::{FakeCluster, Harness, Peer, START, secs};

/// The newest version of Metadata with reliable epochs and ids.
pub const METADATA_VERSION: i16 = 13;

/// Settings with the defaults, and the first so many pretended brokers as bootstrap.servers.
pub fn config(bootstrap: i32) -> ClientConfig {
    ClientConfig {
        bootstrap: (1..=bootstrap).map(|id| (format!("b{id}"), 9092)).collect(),
        ..ClientConfig::default()
    }
}

/// A client that does nothing but keep its metadata fresh, and what admins ask.
pub struct Client {
    pub harness: Harness<AdminEngine>,
    pub handle: AdminHandle,
}

impl Client {
    pub fn new(peer: Peer, config: &ClientConfig) -> Self {
        Self::seeded(peer, config, 7)
    }

    pub fn seeded(peer: Peer, config: &ClientConfig, seed: u64) -> Self {
        let (engine, handle) = AdminEngine::new(config, MetadataTopics::Wanted, seed, START);
        Self { harness: Harness::new(engine, peer), handle }
    }

    /// A client that has its first metadata.
    pub fn connected(peer: Peer, config: &ClientConfig) -> Self {
        let mut client = Self::new(peer, config);
        let handle = client.handle.clone();
        client.harness.run_until(secs(5), |_| handle.metadata().view().version > 0);
        client
    }

    pub fn cluster(&self) -> Arc<Cluster> {
        Arc::clone(&self.handle.metadata().view().cluster)
    }

    pub fn version(&self) -> u64 {
        self.handle.metadata().view().version
    }

    /// Waits for a topic as `send` does; the outcome, and how long it took.
    pub fn wait(
        &mut self,
        topic: &str,
        partition: Option<i32>,
        max_block: Duration,
    ) -> (Result<(), MetadataError>, Duration) {
        let begun = self.harness.now;
        let mut wait = MetadataWait::new(topic, partition, begun + max_block);
        loop {
            if let Poll::Ready(outcome) = wait.poll(self.handle.metadata(), self.harness.now) {
                return (outcome, self.harness.now - begun);
            }
            self.harness.poll();
            if !self.harness.step(wait.deadline()) {
                let rest = wait.deadline() - self.harness.now;
                self.harness.advance(rest);
            }
        }
    }
}

/// A metadata without network, and the pretended cluster that answers it.
pub struct Pure {
    pub metadata: Metadata,
    pub cluster: FakeCluster,
    pub now: Instant,
}

impl Pure {
    pub fn new(brokers: i32) -> Self {
        let metadata = Metadata::new(&config(1), Arc::new(Signal::default()), 3, START);
        Self { metadata, cluster: FakeCluster::new(brokers), now: START }
    }

    /// With a topic, known.
    pub fn with_topic(brokers: i32, topic: &str, leaders: &[i32]) -> Self {
        let mut pure = Self::new(brokers);
        pure.cluster.create(topic, leaders);
        pure.metadata.handle().want_topic(topic);
        pure.refresh();
        pure
    }

    /// Goes to the next request that is due and answers it with the truth.
    #[track_caller]
    pub fn refresh(&mut self) -> UpdateOutcome {
        self.refresh_in(METADATA_VERSION)
    }

    #[track_caller]
    pub fn refresh_in(&mut self, version: i16) -> UpdateOutcome {
        self.metadata.poll(self.now);
        self.now = self.now.max(self.metadata.next_update_at());
        let planned = self.metadata.next_request(self.now).expect("a request is due");
        let answer = self.cluster.metadata(&planned.request);
        self.metadata.handle_response(&planned, &answer, version, self.now)
    }

    /// Leader and epoch as the client sees them.
    pub fn leader(&self, topic: &str, partition: i32) -> (Option<i32>, Option<i32>) {
        let known = self.metadata.cluster().partition(topic, partition).expect("a known partition");
        (known.leader, known.leader_epoch)
    }
}

/// Connections without metadata: what was asked of it is connected and nothing else.
pub struct Bare {
    pub network: NetworkClient,
    pub completions: Vec<Completion>,
    pub changes: Vec<NodeStateChange>,
    /// Kept connected.
    pub wanted: Vec<i32>,
    now: Instant,
}

impl Bare {
    /// Knows the pretended brokers 1 to `brokers` under their own ids.
    pub fn harness(brokers: i32, config: &ClientConfig) -> Harness<Self> {
        let mut network = NetworkClient::new(config, 5);
        network.set_nodes(&named(brokers), START);
        let bare =
            Self { network, completions: Vec::new(), changes: Vec::new(), wanted: Vec::new(), now: START };
        Harness::new(bare, Peer::new(brokers))
    }

    /// As [`harness`](Self::harness), with all brokers connected.
    pub fn connected(brokers: i32, config: &ClientConfig) -> Harness<Self> {
        let mut harness = Self::harness(brokers, config);
        harness.engine.wanted = (1..=brokers).collect();
        let all_ready = |h: &mut Harness<Self>| (1..=brokers).all(|id| h.engine.network.is_ready(id, h.now));
        harness.run_until(secs(1), all_ready);
        harness
    }

    pub fn send<R: Request>(
        &mut self,
        node: i32,
        request: R,
        timeout: Duration,
        now: Instant,
    ) -> RequestToken {
        let token = self.network.next_token();
        let versions = VersionRange::new(0, i16::MAX);
        let request =
            ClientRequest { token, request: Box::new(request), versions, timeout, expects_response: true };
        self.network.send(node, request, now).expect("the node takes a request");
        token
    }

    fn collect(&mut self) {
        while let Some(change) = self.network.poll_state_change() {
            self.changes.push(change);
        }
        while let Some(completion) = self.network.poll_completion() {
            self.completions.push(completion);
        }
    }
}

/// A cluster of the pretended brokers, as metadata would tell it.
pub fn named(brokers: i32) -> Cluster {
    let mut pure = Pure::new(brokers);
    pure.refresh();
    Cluster::clone(pure.metadata.cluster())
}

impl Engine for Bare {
    fn handle_event(&mut self, event: Event, now: Instant) {
        self.network.handle_event(event, now);
    }

    fn poll(&mut self, now: Instant) {
        self.now = now;
        self.network.poll(now);
        for node in self.wanted.clone() {
            self.network.ready(node, now);
        }
        self.collect();
    }

    fn poll_command(&mut self) -> Option<Command> {
        self.network.poll_command()
    }

    fn next_timeout(&self) -> Option<Instant> {
        let far = Instant::FAR_FUTURE;
        let retries = self.wanted.iter().map(|node| self.network.poll_delay(*node, self.now));
        self.network.next_timeout().into_iter().chain(retries.filter(|at| *at != far)).min()
    }

    fn is_closed(&self) -> bool {
        false
    }
}
