//! The Sender: takes batches when they are ready, sends them to whoever leads their partition, and sees to their end.
//!
//! Kafka's source: `Sender`, and the half of `RecordAccumulator` that it calls (`ready`, `drain`, `expiredBatches`).
//! One driver owns it. Each turn: who leads what, what is too old, the producer id, then for each node that has room:
//! is something ready, drain, send. Partitions without records cost nothing; nodes and partitions are looked at in the
//! order of their ids and of their first use, never in the order of a hash.

mod answers;
mod drain;
mod expiry;
mod held_up;
mod load;
mod ready;
mod taking_back;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use milena_protocol::{Uuid, records::Compression};
use rand::{SeedableRng, rngs::SmallRng};

use super::{
    AppendError, CompressionJob, ProduceError, RecordAccumulator, completion::Outcome,
    partition_queue::PartitionQueue, partition_state::PartitionState, producer_batch::ProducerBatch,
    transaction_manager::TransactionManager,
};
use crate::{
    backoff::ExponentialBackoff,
    cluster::Cluster,
    config::{Acks, ProducerConfig},
    engine::{Command, DRIVER_LOST},
    metadata::{Metadata, RefreshReason},
    network::{Completion, NetworkClient, NodeId, RequestToken},
    time::Instant,
};

/// What of [`ProducerConfig`] the Sender needs at each turn.
#[derive(Clone, Copy, Debug)]
struct Settings {
    acks: Acks,
    linger: Duration,
    batch_size: usize,
    max_request_size: usize,
    request_timeout: Duration,
    delivery_timeout: Duration,
    retries: u32,
    compression: Compression,
    compression_level: Option<i32>,
    /// max.in.flight.requests.per.connection=1: a partition with a batch in flight is not drained.
    in_order: bool,
    adaptive: bool,
    /// Whether what is in flight to a broker that leads no more may be sent to the one that does.
    takes_back: bool,
    availability_timeout: Duration,
}

/// A produce request that is not answered.
#[derive(Debug)]
struct InFlightProduce {
    node: NodeId,
    batches: Vec<InFlightBatch>,
    /// When the first of its batches expires, if none has.
    expires_at: Instant,
}

/// A batch on the wire, and the partition's place in the Sender's table.
#[derive(Debug)]
struct InFlightBatch {
    partition: usize,
    /// The id under which the topic was sent: the answer names it by that.
    topic_id: Uuid,
    batch: ProducerBatch,
}

/// The partitions of one node that have something to send.
#[derive(Debug, Default)]
struct NodeQueue {
    partitions: Vec<usize>,
    /// The partition with which the next drain begins (client.md 24).
    next: usize,
    /// When something was last there for it, and when it last took something or could have.
    ready_at: Option<Instant>,
    drained_at: Option<Instant>,
}

/// The driver's half of the producer.
#[derive(Debug)]
pub struct Sender {
    settings: Settings,
    accumulator: Arc<RecordAccumulator>,
    /// None without idempotence.
    transactions: Option<TransactionManager>,
    backoff: ExponentialBackoff,
    rng: SmallRng,
    /// By the queue's id; a partition that was used once stays, for its sequence.
    partitions: Vec<Option<PartitionState>>,
    /// Those with something queued, waiting, compressing or in flight, in the order in which they became active.
    active: Vec<usize>,
    /// Active ones by leader, and those without.
    nodes: BTreeMap<NodeId, NodeQueue>,
    leaderless: Vec<usize>,
    /// Active ones whose records cannot go, and why.
    held_up: BTreeMap<usize, Arc<str>>,
    /// What that was found from: the number of routes computed before, and of suspicions.
    held_up_as_of: (u64, u64),
    routes_computed: u64,
    /// What the routes were computed from; another pointer means other routes.
    routed: Option<Arc<Cluster>>,
    routes_stale: bool,
    /// At most max.in.flight.requests.per.connection for each node.
    in_flight: BTreeMap<RequestToken, InFlightProduce>,
    /// At most one compression for each partition.
    commands: VecDeque<Command>,
    arrivals: Vec<Arc<PartitionQueue>>,
    /// When the first batch expires, at the earliest.
    next_expiry: Instant,
    next_load: Instant,
    /// The suspicions that the partitioners know of.
    load_as_of: u64,
    load: load::LoadedTopics,
    /// When something lingers out or a backoff ends.
    wake_at: Instant,
    /// The time of the last turn.
    now: Instant,
    fatal: Option<ProduceError>,
    draining: bool,
}

impl Sender {
    /// A sender for what `accumulator` collects; jitter follows from `seed`.
    pub fn new(config: &ProducerConfig, accumulator: Arc<RecordAccumulator>, seed: u64) -> Self {
        let client = &config.client;
        let backoff = ExponentialBackoff::new(client.retry_backoff, client.retry_backoff_max);
        Self {
            settings: Settings {
                acks: config.acks,
                linger: config.linger,
                batch_size: config.batch_size,
                max_request_size: config.max_request_size,
                request_timeout: client.request_timeout,
                delivery_timeout: config.delivery_timeout,
                retries: config.retries,
                compression: config.compression,
                compression_level: config.compression_level(),
                in_order: client.max_in_flight == 1,
                adaptive: config.partitioner_adaptive,
                takes_back: config.idempotence || config.take_back_duplicates,
                availability_timeout: config.partitioner_availability_timeout,
            },
            accumulator,
            transactions: config
                .idempotence
                .then(|| TransactionManager::new(backoff, client.request_timeout)),
            backoff,
            rng: SmallRng::seed_from_u64(seed),
            partitions: Vec::new(),
            active: Vec::new(),
            nodes: BTreeMap::new(),
            leaderless: Vec::new(),
            held_up: BTreeMap::new(),
            held_up_as_of: (0, 0),
            routes_computed: 0,
            routed: None,
            routes_stale: false,
            in_flight: BTreeMap::new(),
            commands: VecDeque::new(),
            arrivals: Vec::new(),
            next_expiry: Instant::FAR_FUTURE,
            next_load: Instant::ORIGIN,
            load_as_of: 0,
            load: load::LoadedTopics::default(),
            wake_at: Instant::FAR_FUTURE,
            now: Instant::ORIGIN,
            fatal: None,
            draining: false,
        }
    }

    /// Does everything that is due (`Sender.runOnce`).
    pub fn poll(&mut self, metadata: &mut Metadata, network: &mut NetworkClient, now: Instant) {
        self.now = now;
        self.wake_at = Instant::FAR_FUTURE;
        if let Some(fatal) = &self.fatal {
            // What came back from the wire or from a compression since: it is not sent again.
            abort_waiting(&mut self.partitions, fatal);
        }
        self.take_arrivals(now);
        if now >= self.next_expiry {
            self.expire(now);
        }
        self.route(metadata, now);
        self.update_load(network, now);
        if self.hold_up(network) {
            self.take_arrivals(now);
            self.route(metadata, now);
        }
        if let Some(transactions) = &mut self.transactions
            && self.fatal.is_none()
        {
            transactions.poll(network, now);
        }
        self.send_all(network, now);
        self.retire_idle(now);
    }

    /// Takes a completion that is the Sender's own; gives others back.
    pub fn handle_completion(
        &mut self,
        completion: Completion,
        metadata: &mut Metadata,
        network: &mut NetworkClient,
        now: Instant,
    ) -> Option<Completion> {
        if let Some(request) = self.in_flight.remove(&completion.token) {
            self.handle_produce(request, completion, metadata, network, now);
            return None;
        }
        match &mut self.transactions {
            Some(transactions) if transactions.owns(completion.token) => {
                if let Err(error) = transactions.handle_completion(&completion, network, &mut self.rng, now) {
                    self.fail_fatally(error);
                }
                None
            }
            _ => Some(completion),
        }
    }

    /// Takes a batch back that was compressed.
    pub fn handle_compressed(&mut self, job: CompressionJob) {
        let index = job.queue;
        let (completer, created_at, result) = job.finish();
        let Some(Some(partition)) = self.partitions.get_mut(index) else { return };
        partition.compressing = false;
        match result {
            Ok((batch, memory)) => {
                // Nobody looked at its age while it was away.
                self.next_expiry = self.next_expiry.min(created_at + self.settings.delivery_timeout);
                let order = partition.next_order(batch.record_count());
                let batch = ProducerBatch::unsealed(completer, batch, memory, created_at, order);
                partition.waiting.push_back(batch);
            }
            Err(error) => {
                let (topic, id) = (Arc::clone(&partition.queue.topic), partition.queue.partition);
                let error = ProduceError::Encoding { topic, partition: id, cause: error.to_string().into() };
                completer.complete(Outcome::Failed(error));
            }
        }
    }

    /// The next compression to carry out.
    pub fn poll_command(&mut self) -> Option<Command> {
        self.commands.pop_front()
    }

    /// When [`poll`](Self::poll) has something to do at the latest.
    pub fn next_timeout(&self) -> Option<Instant> {
        let idle = self.active.is_empty() && self.arrivals.is_empty();
        let id = match &self.transactions {
            Some(transactions) if self.fatal.is_none() => transactions.next_timeout(self.now),
            _ => Instant::FAR_FUTURE,
        };
        let batches = if idle { Instant::FAR_FUTURE } else { self.wake_at.min(self.next_expiry) };
        Some(batches.min(id)).filter(|at| *at != Instant::FAR_FUTURE)
    }

    /// From now on nothing lingers: the producer is being closed.
    pub fn begin_close(&mut self) {
        self.draining = true;
    }

    /// True when no record is queued or in flight.
    pub fn is_drained(&self) -> bool {
        self.accumulator.incomplete_batches() == 0
    }

    /// Fails everything that is not acknowledged, in flight or not.
    pub fn abort(&mut self, error: &ProduceError) {
        self.accumulator.abort(error);
        abort_waiting(&mut self.partitions, error);
        for request in std::mem::take(&mut self.in_flight).into_values() {
            for InFlightBatch { batch, .. } in request.batches {
                batch.complete(Outcome::Failed(error.clone()));
            }
        }
        self.commands.clear();
        self.active.clear();
        self.nodes.clear();
        self.leaderless.clear();
    }

    /// The producer cannot go on: refuses records, and fails those that are not in flight.
    fn fail_fatally(&mut self, error: ProduceError) {
        if self.fatal.is_some() {
            return;
        }
        tracing::error!(%error, "the producer cannot go on");
        self.accumulator.refuse(AppendError::Fatal(error.clone()));
        self.accumulator.abort(&error);
        abort_waiting(&mut self.partitions, &error);
        self.fatal = Some(error);
    }

    /// Queues that have got their first record since the last turn.
    fn take_arrivals(&mut self, now: Instant) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        self.accumulator.take_active(&mut arrivals);
        for queue in arrivals.drain(..) {
            let id = queue.id;
            if self.partitions.len() <= id {
                self.partitions.resize_with(id + 1, || None);
            }
            let oldest = queue.oldest().unwrap_or(now);
            self.next_expiry = self.next_expiry.min(oldest + self.settings.delivery_timeout);
            if let Some(slot) = self.partitions.get_mut(id) {
                slot.get_or_insert_with(|| PartitionState::new(queue));
            }
            self.active.push(id);
            self.routes_stale = true;
        }
        self.arrivals = arrivals;
    }

    /// Lets go of partitions that have had nothing for linger.ms; their next record brings them back. Before that a
    /// new batch does not have to wake the Sender, which is awake again in time for its linger.
    fn retire_idle(&mut self, now: Instant) {
        let Self { partitions, settings, .. } = self;
        let mut retired = |id: &usize| {
            let Some(Some(partition)) = partitions.get_mut(*id) else { return true };
            if !partition.is_idle() {
                partition.idle_since = None;
                return false;
            }
            let since = *partition.idle_since.get_or_insert(now);
            let long = partition.leader.is_none() || now >= since + settings.linger;
            long && partition.queue.unlist_if_empty()
        };
        let before = self.active.len();
        self.active.retain(|id| !retired(id));
        self.routes_stale |= self.active.len() != before;
    }

    /// Computes who leads what, when the metadata changed or other partitions are active (field report 12).
    fn route(&mut self, metadata: &mut Metadata, now: Instant) {
        let changed = self.routed.as_ref().is_none_or(|routed| !Arc::ptr_eq(routed, metadata.cluster()));
        if changed || self.routes_stale {
            self.routed = Some(Arc::clone(metadata.cluster()));
            self.routes_stale = false;
            self.compute_routes();
            if changed {
                self.take_back_moved();
            }
        }
        if self.leaderless.is_empty() {
            return;
        }
        let mut unknown_topics: Vec<&Arc<str>> = Vec::new();
        for partition in self.leaderless.iter().filter_map(|id| self.partitions.get(*id)?.as_ref()) {
            let topic = &partition.queue.topic;
            if metadata.cluster().topic(topic).is_none() && !unknown_topics.contains(&topic) {
                unknown_topics.push(topic);
            }
        }
        if changed {
            for topic in unknown_topics {
                metadata.add_topic(topic, now);
            }
        }
        // One demand at a time: a newer one would make the answer to the last one too old.
        if !metadata.update_requested() {
            metadata.request_update(RefreshReason::UnknownLeader);
        }
    }

    fn compute_routes(&mut self) {
        let Some(cluster) = &self.routed else { return };
        self.routes_computed += 1;
        self.leaderless.clear();
        for queue in self.nodes.values_mut() {
            queue.partitions.clear();
        }
        for id in &self.active {
            let Some(Some(partition)) = self.partitions.get_mut(*id) else { continue };
            let topic = cluster.topic(&partition.queue.topic);
            if let Some(topic) = topic {
                partition.set_topic_id(topic.id);
            }
            let info = topic.and_then(|topic| topic.partition(partition.queue.partition));
            partition.leader = info.and_then(|info| info.leader);
            partition.leader_epoch = info.and_then(|info| info.leader_epoch);
            if let Some(transactions) = &mut self.transactions {
                partition.resolve(transactions);
            }
            if partition.is_led_by_an_older_one() {
                partition.leader = None;
            }
            match partition.leader {
                Some(node) => self.nodes.entry(node).or_default().partitions.push(*id),
                None => self.leaderless.push(*id),
            }
        }
        let cluster = Arc::clone(cluster);
        self.nodes.retain(|node, queue| !queue.partitions.is_empty() || cluster.node(*node).is_some());
    }
}

fn abort_waiting(partitions: &mut [Option<PartitionState>], error: &ProduceError) {
    for partition in partitions.iter_mut().flatten() {
        for batch in partition.waiting.drain(..) {
            batch.complete(Outcome::Failed(error.clone()));
        }
    }
}

impl Drop for Sender {
    /// Nobody is left to deliver anything: whoever waits is told. Nobody asked for that, unless records are refused
    /// already: then the driver panicked.
    fn drop(&mut self) {
        let (refusal, error) = if self.accumulator.is_refusing() {
            (AppendError::Closed, ProduceError::Closed)
        } else {
            let lost = ProduceError::Fatal { code: None, cause: DRIVER_LOST.into() };
            (AppendError::Fatal(lost.clone()), lost)
        };
        self.accumulator.refuse(refusal);
        self.abort(&error);
    }
}
