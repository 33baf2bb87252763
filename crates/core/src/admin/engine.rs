//! Finds the broker for each request, sends it, and sends it again if need be.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use milena_protocol::{ErrorCode, VersionRange};
use parking_lot::Mutex;
use rand::{SeedableRng, rngs::SmallRng};

use super::{AdminError, PendingResponse, RetryPolicy, Target, Verdict, pending::Slot};
use crate::{
    backoff::ExponentialBackoff,
    config::ClientConfig,
    engine::{Command, Engine, Event},
    metadata::{Metadata, MetadataHandle, MetadataTopics, MetadataUpdater, RefreshReason},
    network::{
        ClientRequest, Completion, LeastLoaded, NetworkClient, NodeId, NodeReadiness, OutboundRequest,
        RequestFailure, RequestToken, Response, SharedRequest,
    },
    signal::Signal,
    time::Instant,
};

/// The most requests that wait or are under way.
const REQUESTS_MAX: usize = 10_000;

/// The most requests in flight to one broker: a simple consumer polls many partitions of one leader.
const IN_FLIGHT_MAX: usize = 100;

#[derive(Debug)]
struct Submission {
    target: Target,
    request: SharedRequest,
    deadline: Instant,
    policy: RetryPolicy,
    slot: Slot,
}

#[derive(Debug, Default)]
struct Queue {
    submissions: VecDeque<Submission>,
    /// Requests in all: waiting here, or the engine's.
    requests: usize,
    closing: bool,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    signal: Arc<Signal>,
}

/// The callers' side of an [`AdminEngine`]; cheap to clone.
#[derive(Clone, Debug)]
pub struct AdminHandle {
    shared: Arc<Shared>,
    metadata: MetadataHandle,
}

impl AdminHandle {
    /// Queues a request. Its answer comes, or an error that says why not, by `deadline` on the driver's clock.
    pub fn submit(
        &self,
        target: Target,
        request: impl OutboundRequest + Sync + 'static,
        deadline: Instant,
        policy: RetryPolicy,
    ) -> PendingResponse {
        let (slot, pending) = Slot::new();
        let mut queue = self.shared.queue.lock();
        if queue.closing {
            slot.complete(Err(AdminError::Closed));
        } else if queue.requests >= REQUESTS_MAX {
            slot.complete(Err(AdminError::QueueFull(REQUESTS_MAX)));
        } else {
            queue.requests += 1;
            let request = SharedRequest(Arc::new(request));
            queue.submissions.push_back(Submission { target, request, deadline, policy, slot });
        }
        drop(queue);
        self.shared.signal.notify();
        pending
    }

    /// The metadata, which the engine keeps fresh.
    pub fn metadata(&self) -> &MetadataHandle {
        &self.metadata
    }

    /// What the driver sleeps on.
    pub fn signal(&self) -> &Arc<Signal> {
        &self.shared.signal
    }

    /// Ends the engine; what has no answer yet gets [`AdminError::Closed`].
    pub fn close(&self) {
        self.shared.queue.lock().closing = true;
        self.shared.signal.notify();
    }
}

/// A request that has no outcome yet.
#[derive(Debug)]
struct Task {
    target: Target,
    request: SharedRequest,
    submitted_at: Instant,
    deadline: Instant,
    policy: RetryPolicy,
    slot: Slot,
    /// Set while it is in flight.
    token: Option<RequestToken>,
    attempts: u32,
    /// While it is not in flight: not before this.
    not_before: Instant,
    /// The version of the metadata that does not say whom to ask.
    unroutable_at: Option<u64>,
    last_error: Option<Arc<str>>,
}

/// Where a task can go now.
enum Route {
    To(NodeId),
    /// Not now; look again then, or when something happens.
    Wait(Instant),
    /// The metadata does not say.
    Unknown,
}

/// An [`Engine`] for requests of all kinds.
#[derive(Debug)]
pub struct AdminEngine {
    shared: Arc<Shared>,
    metadata: Metadata,
    updater: MetadataUpdater,
    network: NetworkClient,
    request_timeout: Duration,
    backoff: ExponentialBackoff,
    rng: SmallRng,
    /// By number of submission. At most as many as may be submitted.
    tasks: BTreeMap<u64, Task>,
    in_flight: BTreeMap<RequestToken, u64>,
    last_task: u64,
    wake_at: Instant,
    closed: bool,
}

impl AdminEngine {
    /// An engine and the callers' side of it. It never creates topics by asking for them, whatever the settings say.
    pub fn new(
        config: &ClientConfig,
        topics: MetadataTopics,
        seed: u64,
        now: Instant,
    ) -> (Self, AdminHandle) {
        let mut config = config.clone();
        config.allow_auto_create_topics = false;
        config.max_in_flight = IN_FLIGHT_MAX;
        let shared = Arc::<Shared>::default();
        let metadata = Metadata::new(&config, Arc::clone(&shared.signal), seed, now).with_topics(topics);
        let handle = AdminHandle { shared: Arc::clone(&shared), metadata: metadata.handle() };
        let engine = Self {
            shared,
            metadata,
            updater: MetadataUpdater::new(&config),
            network: NetworkClient::new(&config, seed),
            request_timeout: config.request_timeout,
            backoff: ExponentialBackoff::new(config.retry_backoff, config.retry_backoff_max),
            rng: SmallRng::seed_from_u64(seed),
            tasks: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            last_task: 0,
            wake_at: Instant::FAR_FUTURE,
            closed: false,
        };
        (engine, handle)
    }

    /// The metadata, for those who own the engine.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The connections, for those who own the engine.
    pub fn network(&self) -> &NetworkClient {
        &self.network
    }

    fn take_submissions(&mut self, now: Instant) {
        let mut queue = self.shared.queue.lock();
        let closing = queue.closing;
        for submission in queue.submissions.drain(..) {
            let Submission { target, request, deadline, policy, slot } = submission;
            self.last_task += 1;
            let task = Task {
                target,
                request,
                submitted_at: now,
                deadline,
                policy,
                slot,
                token: None,
                attempts: 0,
                not_before: now,
                unroutable_at: None,
                last_error: None,
            };
            self.tasks.insert(self.last_task, task);
        }
        drop(queue);
        if closing && !self.closed {
            self.closed = true;
            for id in self.task_ids() {
                self.end(id, Err(AdminError::Closed));
            }
            self.metadata.close();
            self.network.close_all(now);
        }
    }

    fn task_ids(&self) -> Vec<u64> {
        self.tasks.keys().copied().collect()
    }

    /// Takes what came from the network. True if anything did.
    fn settle(&mut self, now: Instant) -> bool {
        let mut any = false;
        while let Some(change) = self.network.poll_state_change() {
            any = true;
            self.updater.handle_state_change(&change, &mut self.metadata);
        }
        while let Some(completion) = self.network.poll_completion() {
            any = true;
            let other =
                self.updater.handle_completion(completion, &mut self.metadata, &mut self.network, now);
            if let Some(completion) = other {
                self.handle_completion(completion, now);
            }
        }
        any
    }

    fn handle_completion(&mut self, completion: Completion, now: Instant) {
        let Some(id) = self.in_flight.remove(&completion.token) else { return };
        let Some(task) = self.tasks.get_mut(&id) else { return };
        task.token = None;
        match completion.result {
            Ok(response) => match task.policy.judge(&response) {
                Verdict::Done => self.end(id, Ok(response)),
                Verdict::Retry(code) => self.retry_after_answer(id, code, now),
            },
            Err(failure @ (RequestFailure::Disconnected { .. } | RequestFailure::TimedOut { .. }))
                if task.policy.retries_lost() =>
            {
                self.retry(id, &failure.to_string(), now);
            }
            Err(failure) => self.end(id, Err(failure.into())),
        }
    }

    fn retry_after_answer(&mut self, id: u64, code: ErrorCode, now: Instant) {
        if code.is_invalid_metadata() || code == ErrorCode::NOT_CONTROLLER {
            self.refresh_for(id, RefreshReason::Stale(code), now);
        }
        self.retry(id, &format!("{code}: {}", code.message()), now);
    }

    /// Demands what a task needs to know, whoever else is using its topic.
    fn refresh_for(&mut self, id: u64, reason: RefreshReason, now: Instant) {
        match self.tasks.get(&id).map(|task| &task.target) {
            Some(Target::Leader { topic, .. }) => self.metadata.add_topic(topic, now),
            Some(_) => drop(self.metadata.request_update(reason)),
            None => {}
        }
    }

    fn retry(&mut self, id: u64, error: &str, now: Instant) {
        let Some(task) = self.tasks.get_mut(&id) else { return };
        task.last_error = Some(error.into());
        task.not_before = now + self.backoff.after(task.attempts, &mut self.rng);
        task.attempts = task.attempts.saturating_add(1);
    }

    fn end(&mut self, id: u64, outcome: Result<Response, AdminError>) {
        if let Some(task) = self.tasks.remove(&id) {
            if let Some(token) = task.token {
                self.in_flight.remove(&token);
            }
            self.shared.queue.lock().requests -= 1;
            task.slot.complete(outcome);
        }
    }

    /// Sends what can be sent, gives up what is too late.
    fn dispatch(&mut self, now: Instant) {
        self.wake_at = Instant::FAR_FUTURE;
        for id in self.task_ids() {
            let Some(task) = self.tasks.get(&id) else { continue };
            if task.slot.is_abandoned() {
                self.end(id, Err(AdminError::Closed));
            } else if now >= task.deadline {
                self.time_out(id, now);
            } else {
                self.wake_at = self.wake_at.min(task.deadline);
                if task.token.is_none() {
                    let look_again_at =
                        if now < task.not_before { task.not_before } else { self.advance(id, now) };
                    self.wake_at = self.wake_at.min(look_again_at);
                }
            }
        }
    }

    fn time_out(&mut self, id: u64, now: Instant) {
        let Some(task) = self.tasks.get(&id) else { return };
        let view = self.metadata.handle().view_full();
        let cause = task.last_error.clone().or_else(|| view.last_failure.clone());
        let cause = cause.unwrap_or_else(|| "no broker has answered".into());
        let error =
            AdminError::TimedOut { target: task.target.clone(), waited: now - task.submitted_at, cause };
        self.end(id, Err(error));
    }

    /// Sends a task if its broker can be asked now; else says when to look again if nothing happens.
    fn advance(&mut self, id: u64, now: Instant) -> Instant {
        let Some(task) = self.tasks.get(&id) else { return Instant::FAR_FUTURE };
        let node = match self.route(&task.target.clone(), now) {
            Route::To(node) => node,
            Route::Wait(until) => return until,
            Route::Unknown => {
                self.demand_route(id, now);
                return Instant::FAR_FUTURE;
            }
        };
        if !self.network.ready(node, now) {
            return self.network.poll_delay(node, now);
        }
        let Some(task) = self.tasks.get_mut(&id) else { return Instant::FAR_FUTURE };
        task.unroutable_at = None;
        let token = self.network.next_token();
        let request = ClientRequest {
            token,
            request: Box::new(task.request.clone()),
            versions: VersionRange::new(0, i16::MAX),
            timeout: self.request_timeout,
            expects_response: true,
        };
        // A broker that is full has answers to give first, and those wake the engine.
        if self.network.send(node, request, now).is_ok() {
            task.token = Some(token);
            self.in_flight.insert(token, id);
        }
        Instant::FAR_FUTURE
    }

    fn route(&mut self, target: &Target, now: Instant) -> Route {
        let cluster = self.metadata.cluster();
        let node = match target {
            Target::Any => return self.route_to_any(now),
            Target::Controller => cluster.controller(),
            Target::Node(id) => cluster.node(*id),
            Target::Leader { topic, partition } => cluster.leader(topic, *partition),
        };
        node.map_or(Route::Unknown, |node| Route::To(node.id))
    }

    fn route_to_any(&mut self, now: Instant) -> Route {
        match self.network.least_loaded_node(now) {
            Some(LeastLoaded { readiness: NodeReadiness::Connecting, look_again_at, .. }) => {
                Route::Wait(look_again_at)
            }
            Some(LeastLoaded { node, .. }) => Route::To(node),
            None => Route::Wait(self.network.next_candidate_at(now)),
        }
    }

    /// Asks for the metadata that a task lacks, once for each version of it.
    fn demand_route(&mut self, id: u64, now: Instant) {
        let version = self.metadata.version();
        let Some(task) = self.tasks.get_mut(&id).filter(|task| task.unroutable_at != Some(version)) else {
            return;
        };
        task.unroutable_at = Some(version);
        let known = self.metadata.cluster();
        let cause = match &task.target {
            Target::Leader { topic, partition } => match known.topic(topic) {
                None => format!("topic `{topic}` is not in the metadata"),
                Some(info) if info.partition(*partition).is_none() => {
                    format!("topic `{topic}` has the partitions [0, {})", info.partitions.len())
                }
                Some(_) => format!("{topic}-{partition} has no leader"),
            },
            target => format!("{target} is not in the metadata"),
        };
        if version > 0 {
            task.last_error = Some(cause.into());
        }
        self.refresh_for(id, RefreshReason::Missing, now);
    }
}

impl Drop for AdminEngine {
    /// Nobody is left to ask anybody: what waits is dropped, which tells its callers, and more is refused.
    fn drop(&mut self) {
        let mut queue = self.shared.queue.lock();
        queue.closing = true;
        let unsent = std::mem::take(&mut queue.submissions);
        drop(queue);
        drop(unsent);
    }
}

impl Engine for AdminEngine {
    fn handle_event(&mut self, event: Event, now: Instant) {
        self.network.handle_event(event, now);
    }

    fn poll(&mut self, now: Instant) {
        self.take_submissions(now);
        if self.closed {
            return;
        }
        self.network.poll(now);
        self.settle(now);
        loop {
            self.updater.poll(&mut self.metadata, &mut self.network, now);
            self.dispatch(now);
            // What could not be sent at all is known at once; each such request ends, so this ends.
            if !self.settle(now) {
                break;
            }
        }
    }

    fn poll_command(&mut self) -> Option<Command> {
        self.network.poll_command()
    }

    fn next_timeout(&self) -> Option<Instant> {
        if self.closed {
            return None;
        }
        let others = [self.network.next_timeout(), self.updater.next_timeout(&self.metadata)];
        let tasks = Some(self.wake_at).filter(|at| *at != Instant::FAR_FUTURE);
        others.into_iter().flatten().chain(tasks).min()
    }

    fn is_closed(&self) -> bool {
        self.closed
    }
}
