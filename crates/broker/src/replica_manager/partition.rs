//! [`Partition`]: one replica, its role and its log.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::messages::fetch_response::EpochEndOffset;
use milena_protocol::{ErrorCode, Uuid};
use milena_storage::{
    AppendOrigin, ErrorKind, Log, LogAppendInfo, LogHandle, LogReader, StorageError, TopicPartition,
};
use parking_lot::Mutex;

use super::purgatory::{Registration, WaitList, Waiter};
use super::replication::{FetchCommand, IsrChange, ReplicationQueues};
use crate::controller;
use crate::replica::{
    AlterPartition, AlterPartitionResult, Changes, FollowedPartition, FollowerAppend, FollowerFetch, LogEnd,
    PartitionState, Role, Roles, divergence, truncation_offset,
};

/// Added to a count of bytes for an event that may have made any number of them visible.
const MANY: u64 = 1 << 32;

/// `DeleteRecordsRequest.HIGH_WATERMARK`.
const TO_HIGH_WATERMARK: i64 = -1;

/// What an append on this broker did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Appended {
    pub(crate) info: LogAppendInfo,
    /// Since which leader epoch this broker leads.
    pub(crate) led_since: i32,
    min_in_sync: usize,
}

/// Why a partition refuses a request, for the client.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) code: ErrorCode,
    pub(crate) message: Option<String>,
}

impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Self {
        Self { code, message: None }
    }
}

/// How much has happened to a partition; only differences mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Progress {
    /// Bytes that a fetch can find now and could not before, at most.
    pub(crate) bytes: u64,
    /// Changes of another kind.
    pub(crate) events: u64,
}

/// A partition that this broker holds a replica of.
///
/// Lock order: the log, then the state. Roles change under both, and records are appended and logs are cut under the log's,
/// so that nothing is done to the log in a role that the partition has no more. Nobody waits for the disk under the state's.
#[derive(Debug)]
pub(crate) struct Partition {
    topic_id: Uuid,
    log: Arc<LogHandle>,
    state: Mutex<PartitionState>,
    /// As in `state`, for readers.
    high_watermark: AtomicI64,
    /// The epoch since which this broker leads without a break.
    led_since: AtomicI64,
    /// Bytes that followers may have found new, and that consumers may have.
    appended_bytes: AtomicU64,
    visible_bytes: AtomicU64,
    events: AtomicU64,
    /// What every request is refused with, once this broker has given the partition up. Requests may still hold it.
    gone: OnceLock<ErrorCode>,
    /// Whether the log is about to be closed for good.
    closing: AtomicBool,
    waiting: Arc<WaitList>,
    queues: ReplicationQueues,
}

impl Partition {
    /// A partition without a role.
    pub(super) fn new(
        topic_id: Uuid,
        log: Arc<LogHandle>,
        state: PartitionState,
        queues: ReplicationQueues,
    ) -> Self {
        Self {
            topic_id,
            log,
            high_watermark: AtomicI64::new(state.high_watermark()),
            state: Mutex::new(state),
            led_since: AtomicI64::new(-1),
            appended_bytes: AtomicU64::new(0),
            visible_bytes: AtomicU64::new(0),
            events: AtomicU64::new(0),
            gone: OnceLock::new(),
            closing: AtomicBool::new(false),
            waiting: Arc::default(),
            queues,
        }
    }

    /// From here on every request is refused, those that wait too.
    pub(super) fn stop(&self) {
        self.give_up(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    }

    /// The same, because the log directory has failed (`Partition.markOffline`).
    pub(super) fn go_offline(&self) {
        self.give_up(ErrorCode::KAFKA_STORAGE_ERROR);
    }

    fn give_up(&self, reason: ErrorCode) {
        // The first reason stays.
        let _given_up_before = self.gone.set(reason);
        self.queues.fetch(FetchCommand::Unfollow(self.name().clone()));
        self.wake_for_event();
    }

    /// The broker stops: nothing more is fetched into the log, so that it stays as it is closed.
    pub(super) fn stop_following(&self) {
        let _log = self.log.log().lock();
        self.closing.store(true, Ordering::SeqCst);
    }

    /// Takes the role that the controller gives out; one of an epoch that is not newer changes nothing. Blocking.
    pub(super) fn update_roles(&self, state: &controller::PartitionState, now: Duration) {
        let mut log = self.log.log().lock();
        let mut own = self.state.lock();
        let led = own.role() == Role::Leader;
        let Some(changes) = own.update_roles(roles(state), log.log_end_offset(), now) else { return };
        self.publish(&own, &changes);
        let role = own.role();
        if role == Role::Leader && !led {
            // Under the state's lock: whoever sees the role sees since when.
            self.led_since.store(i64::from(state.leader_epoch), Ordering::SeqCst);
        }
        drop(own);
        let command = match role {
            Role::Leader => {
                // Only another replica could have records of an epoch that this log knows nothing of.
                if state.replicas.len() > 1
                    && let Err(error) = log.assign_leader_epoch(state.leader_epoch)
                {
                    tracing::error!(partition = %self.name(), %error, "the leader epoch cannot be noted");
                }
                FetchCommand::Unfollow(self.name().clone())
            }
            Role::Follower(leader) if leader >= 0 => {
                let partition = FollowedPartition {
                    name: self.name().clone(),
                    topic_id: self.topic_id,
                    leader_epoch: state.leader_epoch,
                };
                FetchCommand::Follow { leader, partition }
            }
            Role::Follower(_) => FetchCommand::Unfollow(self.name().clone()),
        };
        // Under the log's lock, so that commands are queued in the order of the epochs.
        self.queues.fetch(command);
        drop(log);
        self.wake_for_event();
    }

    pub(crate) fn topic_id(&self) -> Uuid {
        self.topic_id
    }

    pub(crate) fn name(&self) -> &TopicPartition {
        self.log.topic_partition()
    }

    pub(crate) fn log(&self) -> &LogHandle {
        &self.log
    }

    pub(crate) fn reader(&self) -> &LogReader {
        self.log.reader()
    }

    /// The leader's id, −1 for none, and its epoch.
    pub(crate) fn leader(&self) -> (i32, i32) {
        let state = self.state.lock();
        (state.roles().leader, state.roles().leader_epoch)
    }

    /// The leader's epoch.
    pub(crate) fn leader_epoch(&self) -> i32 {
        self.leader().1
    }

    /// Says that this broker must lead the partition, in the epoch that the client believes in if it believes in one
    /// (`Partition.checkCurrentLeaderEpoch`).
    pub(crate) fn check_leader(&self, current_leader_epoch: i32) -> Result<(), ErrorCode> {
        match self.check_replica(current_leader_epoch)? {
            Role::Leader => Ok(()),
            Role::Follower(_) => Err(ErrorCode::NOT_LEADER_OR_FOLLOWER),
        }
    }

    /// The same for a reader that may read from any replica, and this one's role.
    pub(crate) fn check_replica(&self, current_leader_epoch: i32) -> Result<Role, ErrorCode> {
        if let Some(reason) = self.gone.get() {
            return Err(*reason);
        }
        let state = self.state.lock();
        let leader_epoch = state.roles().leader_epoch;
        if current_leader_epoch >= 0 && current_leader_epoch < leader_epoch {
            return Err(ErrorCode::FENCED_LEADER_EPOCH);
        }
        if current_leader_epoch > leader_epoch {
            return Err(ErrorCode::UNKNOWN_LEADER_EPOCH);
        }
        Ok(state.role())
    }

    /// Offset after the last record that every in-sync replica has.
    pub(crate) fn high_watermark(&self) -> i64 {
        self.high_watermark.load(Ordering::SeqCst)
    }

    /// Offset after the last record of no open transaction; there are no transactions.
    pub(crate) fn last_stable_offset(&self) -> i64 {
        self.high_watermark()
    }

    /// Whether a new leader knows already how far its epoch's predecessors came (KIP-207).
    pub(crate) fn knows_high_watermark(&self) -> bool {
        let state = self.state.lock();
        state.high_watermark() >= state.epoch_start_offset()
    }

    /// Appends what a producer sent, as the leader. Blocks for as long as the log's fsync policy says.
    pub(crate) fn append(
        &self,
        records: Bytes,
        acks_all: bool,
        now_ms: i64,
        now: Duration,
    ) -> Result<Appended, Refusal> {
        self.append_as(AppendOrigin::Client, records, acks_all, now_ms, now)
    }

    /// Appends for a producer, or for a coordinator of this broker.
    pub(crate) fn append_as(
        &self,
        origin: AppendOrigin,
        records: Bytes,
        acks_all: bool,
        now_ms: i64,
        now: Duration,
    ) -> Result<Appended, Refusal> {
        let mut log = self.log.log().lock();
        self.check_leader(-1)?;
        let (leader_epoch, in_sync) = {
            let state = self.state.lock();
            (state.roles().leader_epoch, state.isr().len())
        };
        let min_in_sync = min_in_sync(&log);
        if acks_all && in_sync < min_in_sync {
            let message = format!(
                "The size of the current ISR is {in_sync}, insufficient for min.insync.replicas={min_in_sync}"
            );
            return Err(Refusal { code: ErrorCode::NOT_ENOUGH_REPLICAS, message: Some(message) });
        }
        let appended = log.append_as_leader(records, leader_epoch, origin, now_ms);
        let info = match appended {
            Ok(info) => info,
            Err(error) => return Err(refusal(self.name(), &error)),
        };
        let led_since = self.led_since();
        if !info.duplicate {
            let bytes = info.size_in_bytes as u64;
            let mut state = self.state.lock();
            let nothing_waited = state.high_watermark() == info.first_offset;
            let changes = state.appended(log.log_end_offset(), now);
            self.appended_bytes.fetch_add(bytes, Ordering::SeqCst);
            if nothing_waited && state.high_watermark() == log.log_end_offset() {
                // Nobody had to be waited for: exactly these bytes have become visible.
                self.high_watermark.store(state.high_watermark(), Ordering::SeqCst);
                self.visible_bytes.fetch_add(bytes, Ordering::SeqCst);
            } else {
                self.publish(&state, &changes);
            }
            drop((state, log));
            self.waiting.wake();
        }
        Ok(Appended { info, led_since, min_in_sync })
    }

    /// Whether a record that was appended with acks=all is acknowledged by now; None while it is waited for
    /// (`Partition.checkEnoughReplicasReachOffset`).
    pub(crate) fn acknowledged(&self, appended: &Appended) -> Option<Result<(), ErrorCode>> {
        match self.gone.get() {
            Some(&ErrorCode::KAFKA_STORAGE_ERROR) => return Some(Err(ErrorCode::KAFKA_STORAGE_ERROR)),
            Some(_) => return Some(Err(ErrorCode::NOT_LEADER_OR_FOLLOWER)),
            None => {}
        }
        let state = self.state.lock();
        // One that has followed in between may have cut the record off.
        if state.role() != Role::Leader || self.led_since() != appended.led_since {
            return Some(Err(ErrorCode::NOT_LEADER_OR_FOLLOWER));
        }
        if state.high_watermark() <= appended.info.last_offset {
            return None;
        }
        let enough = state.maximal_isr_len() >= appended.min_in_sync;
        Some(if enough { Ok(()) } else { Err(ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND) })
    }

    /// The followers that a consumer may be sent to for `offset`, best first.
    pub(crate) fn readable_from(&self, offset: i64) -> Vec<i32> {
        self.state.lock().readable_from(offset)
    }

    /// A follower fetches from `offset` on, which its epochs have shown to be of this log in `leader_epoch`: what it has may be
    /// something else in another one. −1 for a follower that does not say.
    pub(crate) fn follower_fetched(
        &self,
        fetch: FollowerFetch,
        leader_epoch: i32,
        now: Duration,
    ) -> Result<(), ErrorCode> {
        let mut state = self.state.lock();
        if leader_epoch >= 0 && leader_epoch != state.roles().leader_epoch {
            return Err(ErrorCode::FENCED_LEADER_EPOCH);
        }
        let changes = state.follower_fetched(fetch, now)?;
        self.carry_out(&state, changes);
        Ok(())
    }

    /// A follower has said where its log starts.
    pub(crate) fn follower_starts_at(&self, replica: i32, log_start_offset: i64) {
        if self.state.lock().follower_starts_at(replica, log_start_offset) {
            self.waiting.wake();
        }
    }

    /// Moves the log's start to `offset`, or with −1 to the high watermark, as the leader; answers the offset that was meant
    /// (`Partition.deleteRecordsOnLeader`). Followers hear of it with their next fetch.
    pub(crate) fn delete_records(&self, offset: i64) -> Result<i64, ErrorCode> {
        let mut log = self.log.log().lock();
        self.check_leader(-1)?;
        let policy = log.config().cleanup_policy;
        if policy.compact && !policy.delete {
            return Err(ErrorCode::POLICY_VIOLATION);
        }
        let high_watermark = self.high_watermark();
        let offset = if offset == TO_HIGH_WATERMARK { high_watermark } else { offset };
        log.delete_records(offset, high_watermark).map_err(|error| error_code(&error))?;
        drop(log);
        self.wake_for_event();
        Ok(offset)
    }

    /// Where the last of the logs of the live replicas starts to have records (`Partition.lowWatermarkIfLeader`).
    pub(crate) fn low_watermark(&self, is_alive: impl Fn(i32) -> bool) -> Result<i64, ErrorCode> {
        self.check_leader(-1)?;
        let own = self.reader().log_start_offset();
        Ok(self.state.lock().low_watermark(own, is_alive))
    }

    /// Time has passed.
    pub(super) fn tick(&self, now: Duration) {
        let mut state = self.state.lock();
        let changes = state.tick(now);
        self.carry_out(&state, changes);
    }

    /// The broker of a replica is not alive.
    pub(super) fn follower_died(&self, replica: i32, now: Duration) {
        let mut state = self.state.lock();
        let changes = state.follower_died(replica, now);
        self.carry_out(&state, changes);
        // What waits for all live replicas waits for one less.
        self.waiting.wake();
    }

    /// Whether the controller is still to be asked for `request`.
    pub(super) fn wants(&self, request: &AlterPartition) -> bool {
        self.state.lock().in_flight() == Some(request)
    }

    /// The controller has answered.
    pub(super) fn alter_partition_answered(
        &self,
        request: &AlterPartition,
        result: AlterPartitionResult,
        now: Duration,
    ) {
        let mut state = self.state.lock();
        let changes = state.alter_partition_answered(request, result, now);
        self.carry_out(&state, changes);
    }

    /// Whether somebody holds up those who ask for the role.
    #[cfg(test)]
    pub(super) fn state_is_locked(&self) -> bool {
        self.state.is_locked()
    }

    /// How much has happened so far that a fetch of a follower, or of a consumer, could be waiting for.
    pub(crate) fn progress(&self, follower: bool) -> Progress {
        let bytes = if follower { &self.appended_bytes } else { &self.visible_bytes };
        Progress { bytes: bytes.load(Ordering::SeqCst), events: self.events.load(Ordering::SeqCst) }
    }

    /// Has `waiter` woken by every append, and by whatever else changes what a request would find.
    pub(crate) fn register(&self, waiter: &Arc<Waiter>) -> Registration {
        self.waiting.register(waiter)
    }

    /// Wakes those that wait, for something that is no record.
    pub(crate) fn wake_for_event(&self) {
        self.events.fetch_add(1, Ordering::SeqCst);
        self.waiting.wake();
    }

    /// Where the leader epoch of a reader's last record ends, if the reader has records that this log does not (KIP-595's
    /// diverging epoch).
    pub(crate) fn diverging_epoch(
        &self,
        last_fetched_epoch: i32,
        fetch_offset: i64,
    ) -> Option<EpochEndOffset> {
        if last_fetched_epoch < 0 {
            return None;
        }
        let log = self.log.log().lock();
        divergence(log.leader_epochs(), log.log_end_offset(), last_fetched_epoch, fetch_offset)
    }

    /// The largest known epoch at or below `leader_epoch` with the offset after its last record; −1 and −1 for none.
    pub(crate) fn end_offset_for_epoch(&self, leader_epoch: i32) -> (i32, i64) {
        let log = self.log.log().lock();
        log.leader_epochs().end_offset_for(leader_epoch, log.log_end_offset()).unwrap_or((-1, -1))
    }

    /// The leader epoch that wrote `offset`, or that of the last record for an offset that is not written yet.
    pub(crate) fn epoch_of(&self, offset: i64) -> i32 {
        let log = self.log.log().lock();
        let epochs = log.leader_epochs();
        epochs.epoch_for_offset(offset).or(epochs.latest_epoch()).unwrap_or(-1)
    }

    /// The end of this follower's log.
    pub(super) fn log_end(&self) -> LogEnd {
        let log = self.log.log().lock();
        LogEnd {
            start_offset: log.log_start_offset(),
            end_offset: log.log_end_offset(),
            last_epoch: log.leader_epochs().latest_epoch(),
            high_watermark: self.high_watermark(),
        }
    }

    /// Appends what was fetched from the leader of `leader_epoch`.
    pub(super) fn append_as_follower(
        &self,
        leader_epoch: i32,
        append: FollowerAppend,
        now_ms: i64,
    ) -> Result<(), ErrorCode> {
        self.follow(leader_epoch, |log| {
            log.append_as_follower(append.records, now_ms)?;
            let (changes, high_watermark) = {
                let mut state = self.state.lock();
                let changes = state.followed(log.log_end_offset(), append.high_watermark);
                (changes, state.high_watermark())
            };
            if append.log_start_offset > log.log_start_offset() {
                log.delete_records(append.log_start_offset, high_watermark)?;
            }
            Ok(changes)
        })
    }

    /// Cuts off what the leader of `leader_epoch` does not have.
    pub(super) fn truncate(
        &self,
        leader_epoch: i32,
        leader_end: &EpochEndOffset,
        now_ms: i64,
    ) -> Result<(), ErrorCode> {
        self.follow(leader_epoch, |log| {
            let offset = truncation_offset(log.leader_epochs(), log.log_end_offset(), leader_end);
            let end = log.log_end_offset();
            if offset < end {
                tracing::info!(partition = %log.topic_partition(), leader_epoch, end, offset, "the log has been cut");
            }
            log.truncate_to(offset, now_ms)?;
            self.state.lock().truncated(log.log_end_offset());
            Ok(Changes::default())
        })
    }

    /// Cuts everything at or after `offset` off.
    pub(super) fn truncate_to(&self, leader_epoch: i32, offset: i64, now_ms: i64) -> Result<(), ErrorCode> {
        self.follow(leader_epoch, |log| {
            log.truncate_to(offset, now_ms)?;
            self.state.lock().truncated(log.log_end_offset());
            Ok(Changes::default())
        })
    }

    /// Forgets everything and starts anew at `offset`.
    pub(super) fn restart_at(&self, leader_epoch: i32, offset: i64, now_ms: i64) -> Result<(), ErrorCode> {
        self.follow(leader_epoch, |log| {
            log.truncate_fully_and_start_at(offset, now_ms)?;
            let mut state = self.state.lock();
            state.truncated(offset);
            state.started_at(offset);
            Ok(Changes::default())
        })
    }

    /// Changes the log as the follower of the leader of `leader_epoch`, if it still is that. The role stays what it is as long
    /// as the log is locked; the state is not, since requests that ask for the role must not wait for the disk.
    fn follow(
        &self,
        leader_epoch: i32,
        change: impl FnOnce(&mut Log) -> Result<Changes, StorageError>,
    ) -> Result<(), ErrorCode> {
        let mut log = self.log.log().lock();
        let given_up = self.gone.get().is_some() || self.closing.load(Ordering::SeqCst);
        let (role, current_epoch) = {
            let state = self.state.lock();
            (state.role(), state.roles().leader_epoch)
        };
        if given_up || role == Role::Leader || current_epoch != leader_epoch {
            return Err(ErrorCode::FENCED_LEADER_EPOCH);
        }
        match change(&mut log) {
            Ok(changes) => {
                self.publish(&self.state.lock(), &changes);
                if changes.high_watermark.is_some() {
                    // Consumers that read from this follower.
                    self.waiting.wake();
                }
                Ok(())
            }
            Err(error) => {
                tracing::error!(partition = %log.topic_partition(), %error, "following the leader failed");
                Err(error_code(&error))
            }
        }
    }

    /// The leader epoch since which this broker leads without a break; None when it does not.
    pub(crate) fn leads_since(&self) -> Option<i32> {
        let state = self.state.lock();
        let leads = state.role() == Role::Leader && self.gone.get().is_none();
        leads.then(|| self.led_since())
    }

    fn led_since(&self) -> i32 {
        i32::try_from(self.led_since.load(Ordering::SeqCst)).unwrap_or(-1)
    }

    /// Shows a new high watermark, tells the controller of a new ISR, and wakes who waits for the former.
    fn carry_out(&self, state: &PartitionState, changes: Changes) {
        self.publish(state, &changes);
        if changes.high_watermark.is_some() {
            self.waiting.wake();
        }
        if let Some(request) = changes.alter_partition {
            let (topic_id, partition) = (self.topic_id, self.name().clone());
            self.queues.alter_partition(IsrChange { topic_id, partition, request });
        }
    }

    fn publish(&self, state: &PartitionState, changes: &Changes) {
        self.high_watermark.store(state.high_watermark(), Ordering::SeqCst);
        if changes.high_watermark.is_some() {
            self.visible_bytes.fetch_add(MANY, Ordering::SeqCst);
            self.appended_bytes.fetch_add(MANY, Ordering::SeqCst);
        }
    }
}

fn roles(state: &controller::PartitionState) -> Roles {
    Roles {
        leader: state.leader,
        leader_epoch: state.leader_epoch,
        partition_epoch: state.partition_epoch,
        isr: state.isr.clone(),
        replicas: state.replicas.clone(),
    }
}

fn min_in_sync(log: &Log) -> usize {
    usize::try_from(log.config().min_insync_replicas).unwrap_or(0)
}

/// Which of Kafka's codes an error of the log is.
pub(crate) fn error_code(error: &StorageError) -> ErrorCode {
    match error.kind() {
        ErrorKind::CorruptMessage => ErrorCode::CORRUPT_MESSAGE,
        // What Kafka answers since it reads only one format (`ProduceRequest.validateRecords`).
        ErrorKind::UnsupportedForMessageFormat | ErrorKind::InvalidRecord => ErrorCode::INVALID_RECORD,
        ErrorKind::MessageTooLarge => ErrorCode::MESSAGE_TOO_LARGE,
        ErrorKind::RecordListTooLarge => ErrorCode::RECORD_LIST_TOO_LARGE,
        ErrorKind::InvalidTimestamp => ErrorCode::INVALID_TIMESTAMP,
        ErrorKind::OutOfOrderSequence => ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorKind::InvalidProducerEpoch => ErrorCode::INVALID_PRODUCER_EPOCH,
        ErrorKind::OffsetOutOfRange => ErrorCode::OFFSET_OUT_OF_RANGE,
        ErrorKind::InvalidConfig => ErrorCode::INVALID_CONFIG,
        ErrorKind::InvalidState => ErrorCode::UNKNOWN_SERVER_ERROR,
        ErrorKind::Storage => ErrorCode::KAFKA_STORAGE_ERROR,
    }
}

fn refusal(partition: &TopicPartition, error: &StorageError) -> Refusal {
    let code = error_code(error);
    if matches!(error.kind(), ErrorKind::Storage | ErrorKind::InvalidState) {
        tracing::error!(%partition, %error, "an append failed");
    }
    Refusal { code, message: Some(error.to_string()) }
}
