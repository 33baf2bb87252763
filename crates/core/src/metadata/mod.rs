//! What the client knows of the cluster, and when it must ask again.
//!
//! [`Metadata`] belongs to the driver; [`MetadataHandle`] is the callers' side of it. [`MetadataUpdater`] does the asking.
//! Kafka's source: `Metadata`, `ProducerMetadata`, `NetworkClient.DefaultMetadataUpdater`.

mod hints;
mod merge;
mod refresh;
mod updater;
mod view;
mod wait;
mod wanted_topics;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use milena_protocol::{
    ErrorCode,
    messages::{MetadataRequest, MetadataRequestTopic, MetadataResponse},
};
use rand::{SeedableRng, rngs::SmallRng};

pub use hints::LeaderHint;
pub use refresh::{PlannedRequest, RefreshReason, RefreshReport};
pub use updater::MetadataUpdater;
pub use view::{MetadataHandle, MetadataView};
pub use wait::{MetadataError, MetadataWait};

use crate::{
    backoff::ExponentialBackoff, cluster::Cluster, config::ClientConfig, engine::DRIVER_LOST,
    network::NodeId, signal::Signal, time::Instant,
};
use merge::{Doubts, Merge};
use view::Shared;
use wanted_topics::WantedTopics;

/// The most addresses of brokers that are kept beside bootstrap.servers after a rebootstrap.
const LEARNED_ADDRESSES_MAX: usize = 16;

/// How often the same complaint is logged at the most.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Which topics a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MetadataTopics {
    /// Those that callers use; they expire after metadata.max.idle.ms.
    #[default]
    Wanted,
    /// All of the cluster.
    All,
}

/// What came of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateOutcome {
    /// There is a new view.
    Updated,
    /// The answer was of no use; the old view stays.
    Failed,
    /// The broker says that all brokers known are the wrong ones (KIP-1102, error 129).
    RebootstrapRequired,
}

/// The driver's side: what is known, what is wanted, and the times between requests.
#[derive(Debug)]
pub struct Metadata {
    shared: Arc<Shared>,
    cluster: Arc<Cluster>,
    topic_errors: Arc<BTreeMap<Arc<str>, ErrorCode>>,
    version: u64,
    updated_at: Instant,
    fatal: Option<Arc<str>>,
    last_failure: Option<Arc<str>>,
    closed: bool,
    /// True when the fields above differ from the published view.
    unpublished: bool,

    bootstrap: Vec<(Arc<str>, u16)>,
    topics: MetadataTopics,
    wanted: WantedTopics,
    doubts: Doubts,
    /// At which version each broker answered last.
    told_by: BTreeMap<NodeId, u64>,
    /// Better not to be asked: it may be a leader that was replaced and does not know it.
    doubted: Option<NodeId>,
    allow_auto_create: bool,
    max_age: Duration,
    max_idle: Duration,

    rng: SmallRng,
    backoff: ExponentialBackoff,
    /// Failures since the last success.
    failures: u32,
    /// Answers in a row that brought nothing new.
    equivalent: u32,
    /// No request before this one, except for a fresh topic.
    not_before: Instant,
    last_full_success: Option<Instant>,
    /// One more with each demand; an answer satisfies those up to the one that its request carries.
    request_version: u64,
    /// The latest demand for all topics, and why, while it is not satisfied.
    needed: Option<(u64, RefreshReason)>,
    full_in_flight: bool,
    partial_in_flight: bool,

    rebootstraps: u32,
    rebootstrap_not_before: Instant,
    next_log_at: Instant,
}

impl Metadata {
    /// Knows the bootstrap addresses, and needs an update at once.
    pub fn new(config: &ClientConfig, signal: Arc<Signal>, seed: u64, now: Instant) -> Self {
        let bootstrap: Vec<(Arc<str>, u16)> =
            config.bootstrap.iter().map(|(host, port)| (Arc::from(host.as_str()), *port)).collect();
        let cluster = Arc::new(Cluster::bootstrap(bootstrap.iter().map(|(host, port)| (&**host, *port))));
        let view = MetadataView {
            cluster: Arc::clone(&cluster),
            version: 0,
            updated_at: now,
            topic_errors: Arc::default(),
            fatal: None,
            last_failure: None,
            closed: false,
        };
        Self {
            shared: Arc::new(Shared::new(view, signal)),
            cluster,
            topic_errors: Arc::default(),
            version: 0,
            updated_at: now,
            fatal: None,
            last_failure: None,
            closed: false,
            unpublished: false,
            bootstrap,
            topics: MetadataTopics::Wanted,
            wanted: WantedTopics::default(),
            doubts: Doubts::default(),
            told_by: BTreeMap::new(),
            doubted: None,
            allow_auto_create: config.allow_auto_create_topics,
            max_age: config.metadata_max_age,
            max_idle: config.metadata_max_idle,
            rng: SmallRng::seed_from_u64(seed),
            backoff: ExponentialBackoff::new(config.retry_backoff, config.retry_backoff_max),
            failures: 0,
            equivalent: 0,
            not_before: now,
            last_full_success: None,
            request_version: 1,
            needed: Some((1, RefreshReason::Bootstrap)),
            full_in_flight: false,
            partial_in_flight: false,
            rebootstraps: 0,
            rebootstrap_not_before: now,
            next_log_at: now,
        }
    }

    /// Which topics are asked for.
    #[must_use]
    pub fn with_topics(mut self, topics: MetadataTopics) -> Self {
        self.topics = topics;
        self
    }

    /// The callers' side.
    pub fn handle(&self) -> MetadataHandle {
        MetadataHandle { shared: Arc::clone(&self.shared) }
    }

    /// The latest state, newer than the published view between two turns.
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    /// One more with each successful update.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// True while a refresh of all wanted topics is needed, under way or not.
    pub fn update_requested(&self) -> bool {
        self.needed.is_some()
    }

    /// Demands a refresh of all that is wanted, and returns the current version: the answer's is greater.
    pub fn request_update(&mut self, reason: RefreshReason) -> u64 {
        self.request_version += 1;
        let reason = match self.needed {
            // An unsatisfied demand keeps its reason, unless its request is under way: then this is a new one.
            Some((_, first)) if !self.full_in_flight => first,
            _ => reason,
        };
        self.needed = Some((self.request_version, reason));
        self.version
    }

    /// Asks at once, without a backoff, for the topics in which a node leads that `is_suspected`: others may lead by now.
    /// Nothing is asked while an answer is owed anyway. When none of them leads anything, false.
    pub(crate) fn ask_about_leaders(&mut self, is_suspected: impl Fn(NodeId) -> bool) -> bool {
        let mut asked = false;
        let cluster = Arc::clone(&self.cluster);
        let leading = cluster.topics().filter_map(|topic| {
            let leaders = topic.partitions.iter().filter_map(|partition| partition.leader);
            leaders.into_iter().find(|leader| is_suspected(*leader)).map(|leader| (topic, leader))
        });
        for (topic, leader) in leading {
            asked = true;
            if self.full_in_flight || self.partial_in_flight {
                break;
            }
            self.request_version += 1;
            match self.topics {
                MetadataTopics::Wanted => self.wanted.ask_at_once(
                    &topic.name,
                    self.request_version,
                    RefreshReason::Suspected(leader),
                ),
                MetadataTopics::All => {
                    self.request_update(RefreshReason::Suspected(leader));
                    self.not_before = Instant::ORIGIN;
                    break;
                }
            }
        }
        asked
    }

    /// Renews a topic's expiry, and asks for it at once if it is new; otherwise, if it is not known, after the backoff.
    pub fn add_topic(&mut self, topic: &Arc<str>, now: Instant) {
        self.request_version += 1;
        if !self.wanted.add(topic, self.request_version, now) {
            self.wanted.ask_again(topic, self.request_version, RefreshReason::Missing);
        }
    }

    /// Takes the callers' wishes. Called in each turn, before [`next_update_at`](Self::next_update_at).
    pub fn poll(&mut self, now: Instant) {
        let mail = self.shared.take_mail();
        for topic in &mail.topics {
            self.add_topic(topic, now);
        }
        if let Some(reason) = mail.update {
            self.request_update(reason);
        }
    }

    /// When the next request is due: in the past or now, if it is. [`Instant::FAR_FUTURE`] while an answer is owed that
    /// decides.
    pub fn next_update_at(&self) -> Instant {
        if self.closed {
            return Instant::FAR_FUTURE;
        }
        if !self.partial_in_flight && self.wanted.has_fresh() {
            return Instant::ORIGIN;
        }
        if self.full_in_flight {
            return Instant::FAR_FUTURE;
        }
        let repeated = !self.partial_in_flight && self.wanted.owed().next().is_some();
        if self.needed.is_some() || repeated {
            self.not_before
        } else {
            self.expires_at().max(self.not_before)
        }
    }

    fn expires_at(&self) -> Instant {
        self.last_full_success.map_or(Instant::ORIGIN, |at| at + self.max_age)
    }

    /// The request that is due, if one is. It counts as under way until its answer or its failure is handled.
    pub fn next_request(&mut self, now: Instant) -> Option<PlannedRequest> {
        if now < self.next_update_at() {
            return None;
        }
        let expired = now >= self.expires_at();
        if !self.full_in_flight && now >= self.not_before && (self.needed.is_some() || expired) {
            if expired {
                // What the clock asks for is no repetition of what brought nothing new.
                self.equivalent = 0;
            }
            return Some(self.plan_full(now));
        }
        self.plan_partial(now)
    }

    fn plan_full(&mut self, now: Instant) -> PlannedRequest {
        self.wanted.expire(self.max_idle, now);
        let names: Vec<Arc<str>> = self.wanted.names().cloned().collect();
        let reason = self.needed.map_or(RefreshReason::Periodic, |(_, reason)| reason);
        self.wanted.asked(&names);
        self.full_in_flight = true;
        self.planned(Some(names).filter(|_| self.topics == MetadataTopics::Wanted), false, reason, now)
    }

    fn plan_partial(&mut self, now: Instant) -> Option<PlannedRequest> {
        // Fresh topics first in the report: they are why it does not wait.
        let fresh = self.wanted.has_fresh();
        let reason = self.wanted.owed().map(|(_, reason)| reason);
        let reason = reason.max_by_key(|reason| fresh && *reason == RefreshReason::NewTopic)?;
        let names: Vec<Arc<str>> = self.wanted.owed().map(|(name, _)| Arc::clone(name)).collect();
        self.wanted.asked(&names);
        self.partial_in_flight = true;
        Some(self.planned(Some(names), true, reason, now))
    }

    fn planned(
        &self,
        names: Option<Vec<Arc<str>>>,
        partial: bool,
        reason: RefreshReason,
        now: Instant,
    ) -> PlannedRequest {
        let topic =
            |name: &Arc<str>| MetadataRequestTopic { name: Some((**name).into()), ..Default::default() };
        let request = MetadataRequest {
            topics: names.as_ref().map(|names| names.iter().map(topic).collect()),
            allow_auto_topic_creation: self.allow_auto_create,
            ..Default::default()
        };
        let request_version = self.request_version;
        PlannedRequest {
            request,
            request_version,
            partial,
            reason,
            topics: names,
            planned_at: now,
            broker: None,
        }
    }

    /// Takes a broker's answer.
    pub fn handle_response(
        &mut self,
        planned: &PlannedRequest,
        response: &MetadataResponse,
        api_version: i16,
        now: Instant,
    ) -> UpdateOutcome {
        if response.error_code == ErrorCode::REBOOTSTRAP_REQUIRED {
            self.handle_failure(planned, "the broker asks to bootstrap again (REBOOTSTRAP_REQUIRED)", now);
            return UpdateOutcome::RebootstrapRequired;
        }
        if !response.error_code.is_ok() {
            let text =
                format!("metadata answered {}: {}", response.error_code, response.error_code.message());
            self.handle_failure(planned, &text, now);
            return UpdateOutcome::Failed;
        }
        if !response.brokers.iter().any(|broker| u16::try_from(broker.port).is_ok()) {
            self.handle_failure(planned, "the metadata answer names no brokers", now);
            return UpdateOutcome::Failed;
        }
        self.satisfied(planned, now);
        let merge = Merge {
            wanted: Some(&self.wanted).filter(|_| self.topics == MetadataTopics::Wanted),
            doubts: &mut self.doubts,
            old: &self.cluster,
            old_errors: &self.topic_errors,
            api_version,
            partial: planned.partial,
        };
        let merged = merge.run(response);
        self.log_errors(&merged.topic_errors, now);
        self.cluster = Arc::new(merged.cluster);
        self.topic_errors = Arc::new(merged.topic_errors);
        self.request_version += 1;
        for (topic, reason) in &merged.ask_again {
            match self.topics {
                MetadataTopics::Wanted => self.wanted.ask_again(topic, self.request_version, *reason),
                MetadataTopics::All => drop(self.request_update(*reason)),
            }
        }
        self.equivalent = if merged.progress { 0 } else { self.equivalent.saturating_add(1) };
        self.rest(now);
        self.publish();
        self.report(planned, None, now);
        UpdateOutcome::Updated
    }

    /// The answer that was taken last came from this node.
    pub(crate) fn told_by(&mut self, node: NodeId) {
        let cluster = &self.cluster;
        self.told_by.retain(|node, _| cluster.node(*node).is_some());
        // A bootstrap address may be any broker's.
        if node >= 0 {
            self.told_by.insert(node, self.version);
        }
        self.doubted = self.doubted.filter(|doubted| *doubted == node);
    }

    /// Whether any broker but `node` has answered since that version.
    pub(crate) fn was_told_by_another(&self, node: NodeId, version: u64) -> bool {
        self.told_by.iter().any(|(other, at)| *other != node && *at > version)
    }

    /// What this node says of itself is not to be believed: another one is to be asked.
    pub(crate) fn doubt(&mut self, node: NodeId, reason: RefreshReason) {
        self.doubted = Some(node);
        self.request_update(reason);
    }

    /// The node that is better not asked, if there is one.
    pub(crate) fn doubted(&self) -> Option<NodeId> {
        self.doubted
    }

    fn satisfied(&mut self, planned: &PlannedRequest, now: Instant) {
        self.arrived(planned);
        if let Some(topics) = &planned.topics {
            self.wanted.answered(topics, planned.request_version);
        }
        if !planned.partial {
            self.needed = self.needed.filter(|(version, _)| *version > planned.request_version);
            self.last_full_success = Some(now);
        }
        self.version += 1;
        self.updated_at = now;
        self.failures = 0;
        self.fatal = None;
        self.last_failure = None;
    }

    fn arrived(&mut self, planned: &PlannedRequest) {
        let in_flight = if planned.partial { &mut self.partial_in_flight } else { &mut self.full_in_flight };
        *in_flight = false;
    }

    /// Takes note that a request got no usable answer, and why.
    pub fn handle_failure(&mut self, planned: &PlannedRequest, text: &str, now: Instant) {
        self.arrived(planned);
        if let Some(topics) = &planned.topics {
            self.wanted.failed(topics);
        }
        if !planned.partial && self.needed.is_none() {
            self.needed = Some((planned.request_version, planned.reason));
        }
        self.failures = self.failures.saturating_add(1);
        let text: Arc<str> = match &planned.broker {
            Some(broker) if !text.contains(&**broker) => format!("{broker}: {text}").into(),
            _ => text.into(),
        };
        self.last_failure = Some(Arc::clone(&text));
        self.rest(now);
        self.publish();
        self.report(planned, Some(text), now);
    }

    /// Lets the next request go without a backoff: another broker can be asked.
    pub(crate) fn retry_at_once(&mut self, now: Instant) {
        self.not_before = now;
    }

    /// Takes note of a failure to connect, for those whose wait ends without anything better to say.
    pub fn note_connection_failure(&mut self, text: &str) {
        self.last_failure = Some(text.into());
        self.publish();
    }

    /// Wakes all who wait with an error that waiting does not help against. A later success lifts it.
    pub fn fail_fatally(&mut self, text: &str) {
        self.fatal = Some(text.into());
        self.publish();
    }

    /// Begins the pause before the next request.
    fn rest(&mut self, now: Instant) {
        let failed = self.backoff.after(self.failures.saturating_sub(1), &mut self.rng);
        let idle = match self.equivalent {
            0 => Duration::ZERO,
            n => self.backoff.after(n - 1, &mut self.rng),
        };
        self.not_before = now + failed.max(idle);
    }

    fn report(&self, planned: &PlannedRequest, error: Option<Arc<str>>, now: Instant) {
        self.shared.report(RefreshReport {
            reason: planned.reason,
            partial: planned.partial,
            topics: planned.topics.clone(),
            broker: planned.broker.clone(),
            took: now - planned.planned_at,
            version: self.version,
            error,
            ended_at: now,
        });
    }

    fn log_errors(&mut self, errors: &BTreeMap<Arc<str>, ErrorCode>, now: Instant) {
        if let Some((topic, code)) = errors.first_key_value().filter(|_| now >= self.next_log_at) {
            self.next_log_at = now + LOG_INTERVAL;
            tracing::warn!(%topic, error = %code, topics_with_errors = errors.len(), "no metadata for a topic");
        }
    }

    /// Drops all that was learned and starts again from bootstrap.servers, whose names are then resolved again
    /// (KIP-899). The addresses of the brokers that were known come after them: one of them may come back first.
    ///
    /// The first time at once; again and again with the backoff, until a broker is connected. False if it is too early.
    pub fn rebootstrap(&mut self, now: Instant) -> bool {
        if now < self.rebootstrap_not_before {
            return false;
        }
        self.rebootstrap_not_before = now + self.backoff.after(self.rebootstraps, &mut self.rng);
        self.rebootstraps = self.rebootstraps.saturating_add(1);
        let mut addresses = self.bootstrap.clone();
        for node in self.cluster.nodes() {
            let address = (Arc::clone(&node.host), node.port);
            if addresses.len() < self.bootstrap.len() + LEARNED_ADDRESSES_MAX && !addresses.contains(&address)
            {
                addresses.push(address);
            }
        }
        self.cluster = Arc::new(Cluster::bootstrap(addresses.iter().map(|(host, port)| (&**host, *port))));
        self.topic_errors = Arc::default();
        self.doubts = Doubts::default();
        self.equivalent = 0;
        self.request_version += 1;
        self.needed = Some((self.request_version, RefreshReason::Rebootstrap));
        self.not_before = now;
        self.publish();
        true
    }

    /// Takes note that a broker that the metadata named is connected: rebootstrapping worked.
    pub fn note_broker_ready(&mut self) {
        self.rebootstraps = 0;
    }

    /// Wakes all who wait; nothing is asked any more.
    pub fn close(&mut self) {
        self.closed = true;
        self.publish();
    }

    /// Shows callers the latest state.
    fn publish(&mut self) {
        self.unpublished = false;
        self.shared.publish(MetadataView {
            cluster: Arc::clone(&self.cluster),
            version: self.version,
            updated_at: self.updated_at,
            topic_errors: Arc::clone(&self.topic_errors),
            fatal: self.fatal.clone(),
            last_failure: self.last_failure.clone(),
            closed: self.closed,
        });
    }
}

impl Drop for Metadata {
    /// Nobody is left to ask: whoever waits is told.
    fn drop(&mut self) {
        if !self.closed {
            self.fatal = Some(DRIVER_LOST.into());
            self.close();
        }
    }
}
