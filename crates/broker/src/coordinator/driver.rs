//! [`GroupCoordinator`]: the engine's driver.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use milena_protocol::ErrorCode;
use milena_protocol::records::RecordBatches;
use milena_storage::AppendOrigin;
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};

use super::engine::{CommittedOffset, CoordinatorEngine, GroupDescription, OffsetKey};
use super::group::{Answer, JoinAnswer, JoinGroup, Leaving, SyncAnswer, SyncGroup, Token};
use super::offset_records;
use crate::blocking::blocking;
use crate::clock::Clock;
use crate::controller::{Controller, CreateTopic};
use crate::node::random_uuid;
use crate::replica_manager::{Partition, ReplicaManager};

/// Where committed offsets are.
const OFFSETS_TOPIC: &str = "__consumer_offsets";
const OFFSETS_PARTITION: i32 = 0;
const READ_AT_ONCE: usize = 4 * 1024 * 1024;
/// How long the first commit waits for the topic to be led.
const CREATION_PATIENCE: Duration = Duration::from_secs(10);
/// One batch of committed offsets is far smaller.
const MAX_BATCH_INFLATED: usize = 64 * 1024 * 1024;

/// Coordinates all groups of the cluster.
#[derive(Debug)]
pub(crate) struct GroupCoordinator {
    inner: Mutex<Inner>,
    /// Held while offsets are written down.
    writing: Mutex<()>,
    /// Woken when the engine's next timeout may have come closer.
    changed: Notify,
    replica_manager: Arc<ReplicaManager>,
    controller: Arc<Controller>,
    clock: Clock,
}

#[derive(Debug, Default)]
struct Inner {
    engine: CoordinatorEngine,
    /// The requests that wait, each for one answer.
    waiting: HashMap<Token, oneshot::Sender<Answer>>,
}

impl GroupCoordinator {
    pub(crate) fn new(
        replica_manager: Arc<ReplicaManager>,
        controller: Arc<Controller>,
        clock: Clock,
    ) -> Self {
        Self {
            inner: Mutex::default(),
            writing: Mutex::new(()),
            changed: Notify::new(),
            replica_manager,
            controller,
            clock,
        }
    }

    /// Reads the committed offsets. Blocking.
    pub(crate) fn load(&self) {
        let Ok(partition) = self.replica_manager.partition(OFFSETS_TOPIC, OFFSETS_PARTITION) else { return };
        let reader = partition.reader();
        let (mut offset, end) = (reader.log_start_offset(), reader.log_end_offset());
        let mut inner = self.inner.lock();
        while offset < end {
            let read = match reader.read(offset, READ_AT_ONCE, end, true) {
                Ok(read) if read.next_offset > offset => read,
                Ok(_) => return,
                Err(error) => {
                    tracing::error!(%error, "committed offsets cannot be read; groups start without them");
                    return;
                }
            };
            offset = read.next_offset;
            for batch in RecordBatches::new(read.records).flatten() {
                let Ok(records) = batch.records(MAX_BATCH_INFLATED) else { continue };
                for record in records.flatten() {
                    if let Ok(Some((group, key, value))) = offset_records::decode(record) {
                        inner.engine.set_offset(&group, key, value);
                    }
                }
            }
        }
    }

    /// Lets time pass in the groups; never ends.
    pub(crate) async fn run(&self) {
        loop {
            let next = self.inner.lock().engine.next_timeout();
            tokio::select! {
                () = async { match next {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                } } => self.with(|engine| engine.handle_timeout(Instant::now())),
                () = self.changed.notified() => {}
            }
        }
    }

    /// Answers when the generation begins, which may take as long as the slowest member's rebalance timeout.
    pub(crate) async fn join(&self, join: JoinGroup) -> JoinAnswer {
        let new_id = format!("{}-{}", join.client_id, random_uuid());
        match self.wait_for(|engine| engine.handle_join(join, new_id, Instant::now())).await {
            Some(Answer::Join(answer)) => answer,
            _ => JoinAnswer {
                error: ErrorCode::COORDINATOR_NOT_AVAILABLE,
                generation: -1,
                ..Default::default()
            },
        }
    }

    /// Answers when the leader has brought the assignments.
    pub(crate) async fn sync(&self, sync: SyncGroup) -> SyncAnswer {
        match self.wait_for(|engine| engine.handle_sync(sync, Instant::now())).await {
            Some(Answer::Sync(answer)) => answer,
            _ => SyncAnswer { error: ErrorCode::COORDINATOR_NOT_AVAILABLE, ..Default::default() },
        }
    }

    pub(crate) fn heartbeat(
        &self,
        group_id: &str,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
    ) -> ErrorCode {
        self.with(|engine| {
            engine.handle_heartbeat(group_id, member_id, instance_id, generation, Instant::now())
        })
    }

    pub(crate) fn leave(&self, group_id: &str, leaving: &Leaving) -> ErrorCode {
        self.with(|engine| engine.handle_leave(group_id, leaving, Instant::now()))
    }

    /// Whether the member may commit now.
    pub(crate) fn check_commit(
        &self,
        group_id: &str,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
    ) -> Result<(), ErrorCode> {
        self.with(|engine| engine.check_commit(group_id, member_id, instance_id, generation, Instant::now()))
    }

    /// Whether the offset's metadata can be taken.
    pub(crate) fn check_metadata(metadata: &str) -> Result<(), ErrorCode> {
        CoordinatorEngine::check_metadata(metadata)
    }

    /// Writes offsets down, then takes them; None deletes one.
    pub(crate) async fn commit(
        self: &Arc<Self>,
        group_id: String,
        offsets: Vec<(OffsetKey, Option<CommittedOffset>)>,
    ) -> Result<(), ErrorCode> {
        if offsets.is_empty() {
            return Ok(());
        }
        let partition = self.offsets_partition().await?;
        let coordinator = self.clone();
        let written = blocking(move || {
            // The log and the engine must see concurrent commits in one order.
            let _writing = coordinator.writing.lock();
            let (now_ms, now) = (coordinator.clock.now_ms(), coordinator.replica_manager.now());
            let records = offset_records::encode(&group_id, &offsets, now_ms)
                .map_err(|_| ErrorCode::INVALID_COMMIT_OFFSET_SIZE)?;
            partition.append_as(AppendOrigin::Coordinator, records, false, now_ms, now).map_err(
                |refusal| {
                    tracing::error!(group_id, ?refusal, "offsets cannot be written down");
                    ErrorCode::COORDINATOR_NOT_AVAILABLE
                },
            )?;
            coordinator.with(|engine| {
                for (key, offset) in offsets {
                    engine.set_offset(&group_id, key, offset);
                }
            });
            Ok(())
        });
        written.await.unwrap_or(Err(ErrorCode::COORDINATOR_NOT_AVAILABLE))
    }

    pub(crate) fn offset(&self, group_id: &str, key: &OffsetKey) -> Option<CommittedOffset> {
        self.inner.lock().engine.offset(group_id, key).cloned()
    }

    pub(crate) fn offsets(&self, group_id: &str) -> Vec<(OffsetKey, CommittedOffset)> {
        let inner = self.inner.lock();
        inner.engine.offsets(group_id).map(|(key, offset)| (key.clone(), offset.clone())).collect()
    }

    /// Id, state and protocol type of each group.
    pub(crate) fn list(&self) -> Vec<(String, &'static str, String)> {
        self.inner.lock().engine.list()
    }

    pub(crate) fn describe(&self, group_id: &str) -> Option<GroupDescription> {
        self.inner.lock().engine.describe(group_id)
    }

    /// Deletes a group that has no members, with its offsets.
    pub(crate) async fn delete(self: &Arc<Self>, group_id: &str) -> Result<(), ErrorCode> {
        let keys = self.with(|engine| engine.handle_delete(group_id))?;
        self.commit(group_id.to_owned(), keys.into_iter().map(|key| (key, None)).collect()).await
    }

    /// The partition that offsets are written to, created with the first of them.
    async fn offsets_partition(&self) -> Result<Arc<Partition>, ErrorCode> {
        if let Ok(partition) = self.replica_manager.partition(OFFSETS_TOPIC, OFFSETS_PARTITION) {
            return Ok(partition);
        }
        let topic = CreateTopic {
            name: OFFSETS_TOPIC.to_owned(),
            id: random_uuid(),
            num_partitions: 1,
            replication_factor: -1,
            assignments: Vec::new(),
            configs: vec![("cleanup.policy".to_owned(), Some("compact".to_owned()))],
        };
        for result in self.controller.create_topics(vec![topic], false, CREATION_PATIENCE).await {
            if let Err(error) = result
                && error.code != ErrorCode::TOPIC_ALREADY_EXISTS
            {
                tracing::error!(%error, "the topic for offsets cannot be created");
            }
        }
        self.replica_manager
            .partition(OFFSETS_TOPIC, OFFSETS_PARTITION)
            .map_err(|_| ErrorCode::COORDINATOR_NOT_AVAILABLE)
    }

    async fn wait_for(&self, handle: impl FnOnce(&mut CoordinatorEngine) -> Token) -> Option<Answer> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut inner = self.inner.lock();
            let token = handle(&mut inner.engine);
            inner.waiting.insert(token, sender);
            inner.deliver();
        }
        self.changed.notify_one();
        receiver.await.ok()
    }

    fn with<T>(&self, handle: impl FnOnce(&mut CoordinatorEngine) -> T) -> T {
        let result = {
            let mut inner = self.inner.lock();
            let result = handle(&mut inner.engine);
            inner.deliver();
            result
        };
        self.changed.notify_one();
        result
    }
}

impl Inner {
    fn deliver(&mut self) {
        while let Some((token, answer)) = self.engine.poll_answer() {
            // Nobody waits any more when the connection has gone.
            if let Some(waiting) = self.waiting.remove(&token) {
                let _gone = waiting.send(answer);
            }
        }
    }
}
