//! [`GroupCoordinator`]: the driver of this broker's engines, one for each partition of `__consumer_offsets` that it leads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use milena_protocol::ErrorCode;
use milena_protocol::records::RecordBatches;
use milena_storage::AppendOrigin;
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::engine::{CommittedOffset, CoordinatorEngine, GroupDescription, OffsetKey};
use super::group::{Answer, JoinAnswer, JoinGroup, Leaving, SyncAnswer, SyncGroup, Token};
use super::offset_records;
use super::shard::Shard;
use crate::blocking::blocking;
use crate::clock::Clock;
use crate::metadata_cache::{MetadataCache, OFFSETS_TOPIC};
use crate::node::random_uuid;
use crate::replica_manager::{Appended, Partition, ReplicaManager, Waiter};

const READ_AT_ONCE: usize = 4 * 1024 * 1024;
/// `offsets.commit.timeout.ms`: how long a commit waits for the replicas in sync.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(5);
/// One batch of committed offsets is far smaller.
const MAX_BATCH_INFLATED: usize = 64 * 1024 * 1024;

/// Coordinates the groups whose partition of `__consumer_offsets` this broker leads.
///
/// It sees states, not events: whenever the roles of that topic's partitions have changed, and with each request, it
/// compares what it has loaded with what the broker leads.
#[derive(Debug)]
pub(crate) struct GroupCoordinator {
    shards: Mutex<BTreeMap<i32, Shard>>,
    /// Held while offsets are appended.
    writing: Mutex<()>,
    /// Woken when the engines' next timeout may have come closer.
    changed: Notify,
    replica_manager: Arc<ReplicaManager>,
    metadata_cache: Arc<MetadataCache>,
    clock: Clock,
}

impl GroupCoordinator {
    pub(crate) fn new(
        replica_manager: Arc<ReplicaManager>,
        metadata_cache: Arc<MetadataCache>,
        clock: Clock,
    ) -> Self {
        Self {
            shards: Mutex::default(),
            writing: Mutex::new(()),
            changed: Notify::new(),
            replica_manager,
            metadata_cache,
            clock,
        }
    }

    /// The partition of `__consumer_offsets` whose leader coordinates a group; None while the topic does not exist.
    pub(crate) fn partition_for(&self, group_id: &str) -> Option<i32> {
        let snapshot = self.metadata_cache.load();
        let partitions = snapshot.topic(OFFSETS_TOPIC)?.partitions().len();
        Some(java_hash(group_id).checked_abs().unwrap_or(0) % i32::try_from(partitions).ok()?)
    }

    /// Reads the committed offsets of all partitions that this broker leads. Blocking.
    pub(crate) fn load(&self) {
        while let Some((number, partition, led_since)) = self.next_to_load() {
            self.load_partition(number, &partition, led_since);
        }
    }

    /// Lets time pass in the groups, loads what this broker has become the leader of, and drops what it leads no more; never
    /// ends.
    pub(crate) async fn run(self: Arc<Self>) {
        loop {
            while let Some((number, partition, led_since)) = self.next_to_load() {
                let coordinator = self.clone();
                // Cancelled: the broker is ending.
                let _cancelled =
                    blocking(move || coordinator.load_partition(number, &partition, led_since)).await;
            }
            let next = self.shards.lock().values().filter_map(Shard::next_timeout).min();
            tokio::select! {
                () = async { match next {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                } } => self.shards.lock().values_mut().for_each(|shard| shard.handle_timeout(Instant::now())),
                () = self.changed.notified() => {}
                () = self.replica_manager.offsets_roles_changed() => {}
            }
        }
    }

    /// Answers all who wait: this broker is going, and may not hear any more who coordinates their groups now.
    pub(crate) fn stop_waiting(&self) {
        self.shards.lock().clear();
    }

    /// The next partition to load.
    fn next_to_load(&self) -> Option<(i32, Arc<Partition>, i32)> {
        let mut shards = self.shards.lock();
        self.compare(&mut shards);
        let (number, shard) = shards.iter().find(|(_, shard)| shard.engine().is_none())?;
        let partition = self.replica_manager.partition(OFFSETS_TOPIC, *number).ok()?;
        Some((*number, partition, shard.led_since))
    }

    /// Drops what this broker leads no more, which answers those who wait there, and notes what it leads and has not loaded.
    /// Where there is nothing to read there is nothing to wait for.
    fn compare(&self, shards: &mut BTreeMap<i32, Shard>) {
        let led: BTreeMap<i32, (Arc<Partition>, i32)> =
            self.replica_manager.led_partitions(OFFSETS_TOPIC).collect();
        shards.retain(|number, shard| led.get(number).is_some_and(|(_, since)| *since == shard.led_since));
        for (number, (partition, led_since)) in led {
            shards.entry(number).or_insert_with(|| {
                let mut shard = Shard::new(led_since);
                let reader = partition.reader();
                if reader.log_start_offset() == reader.log_end_offset() {
                    shard.loaded(CoordinatorEngine::default());
                }
                shard
            });
        }
    }

    fn load_partition(&self, number: i32, partition: &Partition, led_since: i32) {
        let engine = read_offsets(partition);
        let mut shards = self.shards.lock();
        if let Some(shard) = shards.get_mut(&number).filter(|shard| shard.led_since == led_since) {
            tracing::debug!(partition = number, led_since, "coordinating groups");
            shard.loaded(engine);
        }
    }

    /// Answers when the generation begins, which may take as long as the slowest member's rebalance timeout.
    pub(crate) async fn join(&self, join: JoinGroup) -> JoinAnswer {
        let new_id = format!("{}-{}", join.client_id, random_uuid());
        let (group_id, member_id) = (join.group_id.clone(), join.member_id.clone());
        match self.wait_for(&group_id, |engine| engine.handle_join(join, new_id, Instant::now())).await {
            Ok(Answer::Join(answer)) => answer,
            Ok(Answer::Sync(_)) => refused_join(ErrorCode::UNKNOWN_SERVER_ERROR, member_id),
            Err(error) => refused_join(error, member_id),
        }
    }

    /// Answers when the leader has brought the assignments.
    pub(crate) async fn sync(&self, sync: SyncGroup) -> SyncAnswer {
        let group_id = sync.group_id.clone();
        let refused = |error| SyncAnswer { error, ..Default::default() };
        match self.wait_for(&group_id, |engine| engine.handle_sync(sync, Instant::now())).await {
            Ok(Answer::Sync(answer)) => answer,
            Ok(Answer::Join(_)) => refused(ErrorCode::UNKNOWN_SERVER_ERROR),
            Err(error) => refused(error),
        }
    }

    pub(crate) fn heartbeat(
        &self,
        group_id: &str,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
    ) -> ErrorCode {
        let answer = self.with(group_id, |engine| {
            engine.handle_heartbeat(group_id, member_id, instance_id, generation, Instant::now())
        });
        answer.unwrap_or_else(|error| error)
    }

    pub(crate) fn leave(&self, group_id: &str, leaving: &Leaving) -> ErrorCode {
        let answer = self.with(group_id, |engine| engine.handle_leave(group_id, leaving, Instant::now()));
        answer.unwrap_or_else(|error| error)
    }

    /// Whether the member may commit now.
    pub(crate) fn check_commit(
        &self,
        group_id: &str,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
    ) -> Result<(), ErrorCode> {
        self.with(group_id, |engine| {
            engine.check_commit(group_id, member_id, instance_id, generation, Instant::now())
        })?
    }

    /// Whether the offset's metadata can be taken.
    pub(crate) fn check_metadata(metadata: &str) -> Result<(), ErrorCode> {
        CoordinatorEngine::check_metadata(metadata)
    }

    /// Writes offsets down, waits until every replica in sync has them, then takes them; None deletes one.
    pub(crate) async fn commit(
        self: &Arc<Self>,
        group_id: String,
        offsets: Vec<(OffsetKey, Option<CommittedOffset>)>,
    ) -> Result<(), ErrorCode> {
        if offsets.is_empty() {
            return Ok(());
        }
        let number = self.partition_for(&group_id).ok_or(ErrorCode::NOT_COORDINATOR)?;
        let partition =
            self.replica_manager.partition(OFFSETS_TOPIC, number).map_err(|_| ErrorCode::NOT_COORDINATOR)?;
        let (coordinator, here) = (self.clone(), partition.clone());
        let appended = blocking(move || coordinator.append(number, &here, group_id, offsets)).await;
        let appended = appended.unwrap_or(Err(ErrorCode::COORDINATOR_NOT_AVAILABLE))?;
        self.replicated(&partition, &appended).await.map_err(coordinator_error)?;
        if let Some(shard) = shard_of(&mut self.shards.lock(), number, &appended) {
            shard.apply(appended.info.last_offset);
        }
        Ok(())
    }

    /// Appends offsets, and notes them as what will hold once they are replicated.
    fn append(
        &self,
        number: i32,
        partition: &Partition,
        group_id: String,
        offsets: Vec<(OffsetKey, Option<CommittedOffset>)>,
    ) -> Result<Appended, ErrorCode> {
        // The log and the engine must see concurrent commits in one order.
        let _writing = self.writing.lock();
        let (now_ms, now) = (self.clock.now_ms(), self.replica_manager.now());
        let records = offset_records::encode(&group_id, &offsets, now_ms)
            .map_err(|_| ErrorCode::INVALID_COMMIT_OFFSET_SIZE)?;
        let appended = partition.append_as(AppendOrigin::Coordinator, records, true, now_ms, now).map_err(
            |refusal| {
                tracing::warn!(group_id, ?refusal, "offsets cannot be written down");
                coordinator_error(refusal.code)
            },
        )?;
        if let Some(shard) = shard_of(&mut self.shards.lock(), number, &appended) {
            shard.appended(appended.info.last_offset, group_id, offsets);
        }
        Ok(appended)
    }

    async fn replicated(&self, partition: &Partition, appended: &Appended) -> Result<(), ErrorCode> {
        let waiter = Arc::new(Waiter::default());
        // Before the first look, so that no move of the high watermark slips in between.
        let _registration = partition.register(&waiter);
        let deadline = Instant::now() + COMMIT_TIMEOUT;
        loop {
            if let Some(outcome) = partition.acknowledged(appended) {
                return outcome;
            }
            if self.replica_manager.is_stopping() || timeout_at(deadline, waiter.woken()).await.is_err() {
                return Err(ErrorCode::REQUEST_TIMED_OUT);
            }
        }
    }

    pub(crate) fn offsets(&self, group_id: &str) -> Result<Vec<(OffsetKey, CommittedOffset)>, ErrorCode> {
        self.with(group_id, |engine| {
            engine.offsets(group_id).map(|(key, offset)| (key.clone(), offset.clone())).collect()
        })
    }

    /// Id, state and protocol type of each group.
    ///
    /// # Errors
    /// COORDINATOR_LOAD_IN_PROGRESS while not all of them are known.
    pub(crate) fn list(&self) -> Result<Vec<(String, &'static str, String)>, ErrorCode> {
        let shards = self.shards.lock();
        let mut groups = Vec::new();
        for shard in shards.values() {
            groups.extend(shard.engine().ok_or(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS)?.list());
        }
        Ok(groups)
    }

    pub(crate) fn describe(&self, group_id: &str) -> Result<Option<GroupDescription>, ErrorCode> {
        self.with(group_id, |engine| engine.describe(group_id))
    }

    /// Deletes a group that has no members, with its offsets.
    pub(crate) async fn delete(self: &Arc<Self>, group_id: &str) -> Result<(), ErrorCode> {
        let keys = self.with(group_id, |engine| engine.handle_delete(group_id))??;
        self.commit(group_id.to_owned(), keys.into_iter().map(|key| (key, None)).collect()).await
    }

    async fn wait_for(
        &self,
        group_id: &str,
        handle: impl FnOnce(&mut CoordinatorEngine) -> Token,
    ) -> Result<Answer, ErrorCode> {
        let (sender, receiver) = oneshot::channel();
        self.with_shard(group_id, |shard| shard.wait_for(handle, sender))??;
        // The shard has gone, and with it the sender, when this broker leads the partition no more.
        receiver.await.map_err(|_| ErrorCode::NOT_COORDINATOR)
    }

    fn with<T>(
        &self,
        group_id: &str,
        handle: impl FnOnce(&mut CoordinatorEngine) -> T,
    ) -> Result<T, ErrorCode> {
        self.with_shard(group_id, |shard| shard.with(handle))?
    }

    /// Works on the shard of a group, if this broker coordinates it.
    ///
    /// # Errors
    /// NOT_COORDINATOR, and COORDINATOR_LOAD_IN_PROGRESS.
    fn with_shard<T>(&self, group_id: &str, handle: impl FnOnce(&mut Shard) -> T) -> Result<T, ErrorCode> {
        let number = self.partition_for(group_id).ok_or(ErrorCode::NOT_COORDINATOR)?;
        let partition = self.replica_manager.partition(OFFSETS_TOPIC, number);
        let partition = partition.map_err(|_| ErrorCode::NOT_COORDINATOR)?;
        let led_since = partition.leads_since().ok_or(ErrorCode::NOT_COORDINATOR)?;
        let result = {
            let mut shards = self.shards.lock();
            if shards.get(&number).is_none_or(|shard| shard.led_since != led_since) {
                self.compare(&mut shards);
            }
            let shard = shards.get_mut(&number).ok_or(ErrorCode::NOT_COORDINATOR)?;
            // A commit that was given up waiting for may have been replicated since.
            shard.apply(partition.high_watermark() - 1);
            handle(shard)
        };
        self.changed.notify_one();
        Ok(result)
    }
}

/// The shard that was appended for. One of another leadership has read from the log what is still there.
fn shard_of<'a>(
    shards: &'a mut BTreeMap<i32, Shard>,
    number: i32,
    appended: &Appended,
) -> Option<&'a mut Shard> {
    shards.get_mut(&number).filter(|shard| shard.led_since == appended.led_since)
}

/// All that is in a partition's log.
fn read_offsets(partition: &Partition) -> CoordinatorEngine {
    let mut engine = CoordinatorEngine::default();
    let reader = partition.reader();
    let (mut offset, end) = (reader.log_start_offset(), reader.log_end_offset());
    while offset < end {
        let read = match reader.read(offset, READ_AT_ONCE, end, true) {
            Ok(read) if read.next_offset > offset => read,
            Ok(_) => break,
            Err(error) => {
                tracing::error!(%error, "committed offsets cannot be read; groups start without them");
                break;
            }
        };
        offset = read.next_offset;
        for batch in RecordBatches::new(read.records).flatten() {
            let Ok(records) = batch.records(MAX_BATCH_INFLATED) else { continue };
            for record in records.flatten() {
                if let Ok(Some((group, key, value))) = offset_records::decode(record) {
                    engine.set_offset(&group, key, value);
                }
            }
        }
    }
    engine
}

fn refused_join(error: ErrorCode, member_id: String) -> JoinAnswer {
    JoinAnswer { error, generation: -1, member_id, ..Default::default() }
}

/// What an append's failure means to a member of a group (`GroupMetadataManager.appendForGroup`).
fn coordinator_error(code: ErrorCode) -> ErrorCode {
    match code {
        ErrorCode::NOT_LEADER_OR_FOLLOWER | ErrorCode::KAFKA_STORAGE_ERROR => ErrorCode::NOT_COORDINATOR,
        ErrorCode::MESSAGE_TOO_LARGE | ErrorCode::RECORD_LIST_TOO_LARGE => {
            ErrorCode::INVALID_COMMIT_OFFSET_SIZE
        }
        _ => ErrorCode::COORDINATOR_NOT_AVAILABLE,
    }
}

/// `String.hashCode`.
fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hash_as_in_java() {
        assert_eq!(java_hash(""), 0);
        assert_eq!(java_hash("g"), 103);
        assert_eq!(java_hash("polygenelubricants"), i32::MIN);
        assert_eq!(java_hash("Größe 🐙"), 240_247_819);
    }
}
