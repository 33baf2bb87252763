//! Where callers put records and the Sender finds them: a queue of batches per partition.
//!
//! Kafka's source: `RecordAccumulator`. Everything here may be called from any thread; nothing waits, and no clock is
//! read. What is queued is bounded by buffer.memory.
//!
//! Lock order: a partition's queue, then the incomplete batches, then the buffer pool. Nobody is woken under a lock.

use std::{
    collections::HashMap,
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use arc_swap::ArcSwap;
use milena_protocol::records::{BATCH_HEADER_LEN, batch_size_upper_bound};
use parking_lot::Mutex;

use super::{
    AppendError, Delivery, ProduceError,
    buffer_pool::{BufferPool, MemoryWait, Reservation},
    completion::{AllComplete, IncompleteBatches, Outcome},
    partition_queue::{Appended, OpenBatch, PartitionQueue, QueueState},
    partitioner::{BuiltInPartitioner, partition_for_key},
    placement::Placement,
    rescue::Parted,
};
use crate::{cluster::TopicInfo, config::ProducerConfig, record::Record, signal::Signal, time::Instant};

/// Memory is charged in steps of batch.size, but of no less than this.
const MIN_STEP: usize = 1 << 10;

/// How [`RecordAccumulator::append`] went.
#[derive(Debug)]
pub enum Append {
    /// The record is queued.
    Appended(Delivery),
    /// buffer.memory is used up. Wait, and append again with what the wait gives.
    NeedsMemory(MemoryWait),
}

/// The queues of all partitions.
pub struct RecordAccumulator {
    batch_size: usize,
    max_request_size: usize,
    /// What fits neither a request nor the buffer is refused.
    max_record_size: usize,
    linger: Duration,
    ignore_keys: bool,
    seed: u64,
    pool: Arc<BufferPool>,
    signal: Arc<Signal>,
    incomplete: Arc<IncompleteBatches>,
    /// Swapped whole when a topic is used first, or has got more partitions.
    topics: ArcSwap<Topics>,
    /// Queues that went from empty to not empty since the Sender last looked; each is in it once at most.
    active: Mutex<Vec<Arc<PartitionQueue>>>,
    /// How many flushes are under way: then every batch is ready.
    flushing: AtomicUsize,
    /// Checked under a partition's lock, so that nothing is appended behind the last drain; `refusal` says why.
    refusing: AtomicBool,
    refusal: Mutex<Option<AppendError>>,
}

#[derive(Clone, Default)]
struct Topics {
    by_name: HashMap<Arc<str>, Arc<TopicQueues>, foldhash::fast::FixedState>,
    /// How many queues there are in all: the next one's id.
    queues: usize,
}

/// The queues of one topic, one for each partition.
#[derive(Debug)]
pub(crate) struct TopicQueues {
    /// Whose they are: a snapshot of a topic may be shown to the accumulator of another producer.
    owner: usize,
    partitioner: Arc<BuiltInPartitioner>,
    partitions: Vec<Arc<PartitionQueue>>,
}

impl RecordAccumulator {
    /// An empty accumulator; `signal` wakes the driver, the sticky partitions follow from `seed`.
    pub fn new(config: &ProducerConfig, signal: Arc<Signal>, seed: u64) -> Self {
        Self {
            batch_size: config.batch_size,
            max_request_size: config.max_request_size,
            max_record_size: config.max_request_size.min(config.buffer_memory),
            linger: config.linger,
            ignore_keys: config.partitioner_ignore_keys,
            seed,
            pool: Arc::new(BufferPool::new(config.buffer_memory, config.suspect_memory())),
            signal,
            incomplete: Arc::default(),
            topics: ArcSwap::default(),
            active: Mutex::default(),
            flushing: AtomicUsize::new(0),
            refusing: AtomicBool::new(false),
            refusal: Mutex::new(None),
        }
    }

    /// Queues a record for a partition of `topic`, which the caller has from the metadata.
    ///
    /// `timestamp` is the record's, in milliseconds since the Unix epoch. `memory` is what an earlier call waited for.
    /// No allocation per record, one copy, and one lock, the partition's. Try [`append_to_open`](Self::append_to_open) first.
    ///
    /// # Errors
    /// [`AppendError`]; nothing is queued then.
    pub fn append(
        &self,
        topic: &TopicInfo,
        record: &Record<'_>,
        timestamp: i64,
        now: Instant,
        memory: Option<Reservation>,
    ) -> Result<Append, AppendError> {
        let size = batch_size_upper_bound(record.key, record.value, record.headers);
        self.check(size, timestamp)?;
        topic.touch(now);
        if let Some(queues) = self.known_queues(topic) {
            return self.append_to(queues, topic, record, timestamp, now, size, memory);
        }
        let queues = self.queues(topic);
        self.append_to(&queues, topic, record, timestamp, now, size, memory)
    }

    /// As [`append`](Self::append), for what nearly every record finds: an open batch with room for it. None when that is
    /// not so; nothing is queued then, and `append` does, or says, what is to be done.
    ///
    /// It reads no clock, and all of it can become part of the caller's own code.
    #[inline]
    pub fn append_to_open(&self, topic: &TopicInfo, record: &Record<'_>, timestamp: i64) -> Option<Delivery> {
        let size = batch_size_upper_bound(record.key, record.value, record.headers);
        if size > self.max_record_size || timestamp < 0 {
            return None;
        }
        let queues = self.known_queues(topic)?;
        let (partition, sticky) = self.partition(queues, topic, record)?;
        let queue = queues.queue(topic, partition)?;

        let mut state = queue.lock();
        if self.refusing.load(Ordering::Acquire) {
            return None;
        }
        let appended = queue.append(&mut state, record, timestamp, size - BATCH_HEADER_LEN, sticky)?;
        let completion = Arc::clone(state.open.as_ref()?.completer.completion());
        let switch = sticky && self.count_sticky(&mut state, appended);
        drop(state);
        self.appended(queues, topic, partition, switch, appended.became_ready);
        Some(Delivery::new(completion, appended.index, timestamp))
    }

    /// Waits until everything that is queued now is delivered or has failed; meanwhile nothing lingers.
    pub fn flush(self: &Arc<Self>) -> Flush {
        self.flushing.fetch_add(1, Ordering::AcqRel);
        let batches = AllComplete::new(self.incomplete.snapshot());
        self.signal.notify();
        Flush { accumulator: Arc::clone(self), batches }
    }

    /// The memory that all batches share.
    pub fn pool(&self) -> &Arc<BufferPool> {
        &self.pool
    }

    /// Batches that are queued or in flight.
    pub fn incomplete_batches(&self) -> usize {
        self.incomplete.len()
    }

    /// Refuses records from now on. What is queued stays; whoever waits for memory gets an error.
    pub fn refuse(&self, why: AppendError) {
        {
            let mut refusal = self.refusal.lock();
            // A fatal error says more than that the producer was closed after it.
            if !matches!(*refusal, Some(AppendError::Fatal(_))) {
                *refusal = Some(why);
            }
        }
        self.refusing.store(true, Ordering::Release);
        self.pool.close();
        self.signal.notify();
    }

    /// Whether records are refused.
    pub(crate) fn is_refusing(&self) -> bool {
        self.refusing.load(Ordering::Acquire)
    }

    /// Fails what is queued; to be called after [`refuse`](Self::refuse), so that nothing follows.
    pub(crate) fn abort(&self, error: &ProduceError) {
        // Not a plain load: whoever adds a topic after this has seen the refusal as well.
        for queue in self.topics.rcu(Arc::clone).all() {
            while let Some(batch) = queue.take() {
                batch.completer.complete(Outcome::Failed(error.clone()));
            }
        }
    }

    /// Moves what the sticky partitioner placed on a partition to others that it chooses now, as long as those are of any use;
    /// true if there was anything.
    pub(crate) fn rescue(
        &self,
        topic: &TopicInfo,
        from: &PartitionQueue,
        is_usable: impl Fn(i32) -> bool,
    ) -> bool {
        let Some(queues) = self.topics.load().by_name.get(&topic.name).map(Arc::clone) else { return false };
        let mut moved = false;
        loop {
            let to = queues.partitioner.partition(topic);
            let to = to.filter(|partition| *partition != from.partition && is_usable(*partition));
            let Some(to) = to.and_then(|partition| queues.queue(topic, partition)) else { return moved };
            let Some((place, batch)) = from.take_movable() else { return moved };
            let Parted { stay, mut go } = match batch.part(&self.pool) {
                Ok(parted) => parted,
                Err(mut whole) => {
                    whole.placement = Placement::default();
                    from.put_back(place, *whole);
                    continue;
                }
            };
            if let Some(stay) = stay {
                from.put_back(place, stay);
            }
            go.memory.move_to(to.id);
            go.completer.completion().move_to(to.partition);
            if to.adopt(go) {
                self.active.lock().push(Arc::clone(to));
            }
            queues.partitioner.switch(to.partition, topic);
            moved = true;
        }
    }

    /// The queues that have become active, in the order in which they did.
    pub(crate) fn take_active(&self, into: &mut Vec<Arc<PartitionQueue>>) {
        into.append(&mut self.active.lock());
    }

    /// Whether a flush is under way.
    pub(crate) fn is_flushing(&self) -> bool {
        self.flushing.load(Ordering::Acquire) > 0
    }

    /// The partitioner of a topic that was used.
    pub(crate) fn partitioner(&self, topic: &str) -> Option<Arc<BuiltInPartitioner>> {
        self.topics.load().by_name.get(topic).map(|queues| Arc::clone(&queues.partitioner))
    }

    #[expect(clippy::too_many_arguments, reason = "append's own, and what it has computed from them")]
    fn append_to(
        &self,
        queues: &TopicQueues,
        topic: &TopicInfo,
        record: &Record<'_>,
        timestamp: i64,
        now: Instant,
        size: usize,
        memory: Option<Reservation>,
    ) -> Result<Append, AppendError> {
        let chosen = self.partition(queues, topic, record);
        let (partition, sticky) = chosen.ok_or_else(|| unknown_partition(topic, 0))?;
        let queue = queues.queue(topic, partition).ok_or_else(|| unknown_partition(topic, partition))?;

        let step = self.step(size);
        // A wait may end with nothing: then the record is to try its luck again.
        let mut memory = memory.filter(|memory| memory.bytes() >= step);
        // It may have waited on behalf of another partition. Whoever is woken by that is woken under no lock.
        if let Some(memory) = memory.as_mut().filter(|memory| memory.account() != queue.id) {
            memory.move_to(queue.id);
        }
        let mut state = queue.lock();
        if self.refusing.load(Ordering::Acquire) {
            drop(state);
            return Err(self.refusal());
        }
        let needed = size - BATCH_HEADER_LEN;
        let mut changed = false;
        let appended = match queue.append(&mut state, record, timestamp, needed, sticky) {
            Some(appended) => appended,
            None => {
                let open = state.open.is_some();
                queue.close_open(&mut state);
                let Some(memory) = memory.or_else(|| self.pool.try_reserve(step, queue.id)) else {
                    drop(state);
                    let wait = self.pool.wait(step, queue.id, sticky);
                    self.signal.notify();
                    return Ok(Append::NeedsMemory(wait));
                };
                changed = self.open_batch(queue, &mut state, memory, now) || open;
                let Some(appended) = queue.append(&mut state, record, timestamp, needed, sticky) else {
                    // A batch that was opened just now takes its first record whatever its size.
                    return Err(AppendError::Closed);
                };
                appended
            }
        };
        let delivery = state
            .open
            .as_ref()
            .map(|batch| Delivery::new(Arc::clone(batch.completer.completion()), appended.index, timestamp));
        let switch = sticky && self.count_sticky(&mut state, appended);
        drop(state);

        self.appended(queues, topic, partition, switch, changed || appended.became_ready);
        delivery.map(Append::Appended).ok_or(AppendError::Closed)
    }

    /// The record's partition, and whether the sticky partitioner chose it; none when the topic has none.
    #[inline]
    fn partition(&self, queues: &TopicQueues, topic: &TopicInfo, record: &Record<'_>) -> Option<(i32, bool)> {
        if let Some(partition) = record.partition {
            return Some((partition, false));
        }
        match record.key {
            Some(key) if !self.ignore_keys => Some((partition_for_key(key, topic.partitions.len()), false)),
            _ => queues.partitioner.partition(topic).map(|partition| (partition, true)),
        }
    }

    /// What follows an append once the lock is released.
    #[inline]
    fn appended(&self, queues: &TopicQueues, topic: &TopicInfo, partition: i32, switch: bool, notify: bool) {
        if switch {
            queues.partitioner.switch(partition, topic);
        }
        if notify {
            self.signal.notify();
        }
    }

    /// Counts a record without a key; true when batch.size bytes went to the partition (KIP-794).
    #[inline]
    fn count_sticky(&self, state: &mut QueueState, appended: Appended) -> bool {
        state.sticky_bytes += appended.bytes;
        let switch = state.sticky_bytes >= self.batch_size;
        if switch {
            state.sticky_bytes = 0;
        }
        switch
    }

    /// Opens a batch; true if the Sender has to know of it at once.
    fn open_batch(
        &self,
        queue: &Arc<PartitionQueue>,
        state: &mut QueueState,
        mut memory: Reservation,
        now: Instant,
    ) -> bool {
        state.foresee(&mut memory);
        let completer = self.incomplete.open(Arc::clone(&queue.topic), queue.partition);
        let batch = OpenBatch::new(memory, &self.pool, completer, now);
        let to_list = queue.open(state, batch);
        if to_list {
            self.active.lock().push(Arc::clone(queue));
        }
        // A queue that is listed is looked at within linger.ms anyway: that is when the batch has to go at the latest.
        to_list || self.linger.is_zero()
    }

    fn check(&self, size: usize, timestamp: i64) -> Result<(), AppendError> {
        let too_large = |limit, setting| Err(AppendError::RecordTooLarge { size, limit, setting });
        if size > self.max_request_size {
            return too_large(self.max_request_size, "max.request.size");
        }
        if size > self.pool.total() {
            return too_large(self.pool.total(), "buffer.memory");
        }
        if timestamp < 0 {
            return Err(AppendError::NegativeTimestamp(timestamp));
        }
        Ok(())
    }

    /// What a batch that begins with a record of `size` is charged.
    fn step(&self, size: usize) -> usize {
        size.max(self.batch_size).max(MIN_STEP).min(self.pool.total())
    }

    fn refusal(&self) -> AppendError {
        self.refusal.lock().clone().unwrap_or(AppendError::Closed)
    }

    /// The snapshot of the topic remembers its queues: no look-up, and no shared counter is touched.
    #[inline]
    fn known_queues<'a>(&self, topic: &'a TopicInfo) -> Option<&'a TopicQueues> {
        let queues = topic.queues.get()?;
        let complete = queues.owner == self.id() && queues.partitions.len() >= topic.partitions.len();
        complete.then_some(&**queues)
    }

    /// The topic's queues, one for each of its partitions.
    #[cold]
    fn queues(&self, topic: &TopicInfo) -> Arc<TopicQueues> {
        let complete = |topics: &Topics| {
            let queues = topics.by_name.get(&*topic.name)?;
            (queues.partitions.len() >= topic.partitions.len()).then(|| Arc::clone(queues))
        };
        let queues = loop {
            if let Some(queues) = complete(&self.topics.load()) {
                break queues;
            }
            self.topics.rcu(|topics| {
                let mut topics = Topics::clone(topics);
                topics.add(topic, self);
                topics
            });
        };
        // Another accumulator may have been first, and keeps the place.
        let _ = topic.queues.set(Arc::clone(&queues));
        queues
    }

    /// Tells one accumulator from the others.
    fn id(&self) -> usize {
        Arc::as_ptr(&self.pool).addr()
    }
}

impl fmt::Debug for RecordAccumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordAccumulator")
            .field("pool", &self.pool)
            .field("incomplete_batches", &self.incomplete.len())
            .finish_non_exhaustive()
    }
}

impl TopicQueues {
    /// The queue of a partition that the topic has.
    #[inline]
    fn queue(&self, topic: &TopicInfo, partition: i32) -> Option<&Arc<PartitionQueue>> {
        topic.partition(partition)?;
        self.partitions.get(usize::try_from(partition).ok()?)
    }
}

#[cold]
fn unknown_partition(topic: &TopicInfo, partition: i32) -> AppendError {
    AppendError::UnknownPartition { topic: Arc::clone(&topic.name), partition, count: topic.partitions.len() }
}

impl Topics {
    fn add(&mut self, topic: &TopicInfo, accumulator: &RecordAccumulator) {
        let known = self.by_name.get(&topic.name);
        let mut partitions = known.map(|known| known.partitions.clone()).unwrap_or_default();
        let partitioner = match known {
            Some(known) => Arc::clone(&known.partitioner),
            None => Arc::new(BuiltInPartitioner::new(accumulator.seed ^ self.by_name.len() as u64)),
        };
        for partition in partitions.len()..topic.partitions.len() {
            let partition = i32::try_from(partition).unwrap_or(i32::MAX);
            let RecordAccumulator { batch_size, max_request_size, .. } = *accumulator;
            let name = Arc::clone(&topic.name);
            let queue = PartitionQueue::new(name, partition, self.queues, batch_size, max_request_size);
            partitions.push(Arc::new(queue));
            self.queues += 1;
        }
        let queues = TopicQueues { owner: accumulator.id(), partitioner, partitions };
        self.by_name.insert(Arc::clone(&topic.name), Arc::new(queues));
    }

    /// All queues by their ids, so that the order does not follow from hashes.
    fn all(&self) -> Vec<Arc<PartitionQueue>> {
        let mut all: Vec<_> =
            self.by_name.values().flat_map(|topic| topic.partitions.iter().cloned()).collect();
        all.sort_unstable_by_key(|queue| queue.id);
        all
    }
}

/// Waits for what was queued when [`RecordAccumulator::flush`] was called.
pub struct Flush {
    accumulator: Arc<RecordAccumulator>,
    batches: AllComplete,
}

impl Future for Flush {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.batches.poll(cx)
    }
}

impl Drop for Flush {
    fn drop(&mut self) {
        self.accumulator.flushing.fetch_sub(1, Ordering::AcqRel);
    }
}

impl fmt::Debug for Flush {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Flush")
    }
}
