//! [`Partition`]: one replica, its role and its log.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use bytes::Bytes;
use milena_protocol::ErrorCode;
use milena_storage::{
    AppendOrigin, ErrorKind, LogAppendInfo, LogHandle, LogReader, StorageError, TopicPartition,
};

use super::purgatory::{Registration, WaitList, Waiter};
use crate::controller::PartitionState;

/// What an append on this broker did.
pub(crate) type Appended = LogAppendInfo;

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

/// A partition that this broker holds a replica of.
#[derive(Debug)]
pub(crate) struct Partition {
    node_id: i32,
    log: Arc<LogHandle>,
    /// As the controller said last; replaced whole.
    roles: ArcSwap<PartitionState>,
    /// Bytes ever appended by this process; only differences mean something.
    appended_bytes: AtomicU64,
    /// Whether this broker has given the partition up. Requests may still hold it.
    stopped: AtomicBool,
    waiting: Arc<WaitList>,
}

impl Partition {
    pub(super) fn new(node_id: i32, log: Arc<LogHandle>, state: &PartitionState) -> Self {
        Self {
            node_id,
            log,
            roles: ArcSwap::from_pointee(state.clone()),
            appended_bytes: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            waiting: Arc::default(),
        }
    }

    /// From here on every request is refused, those that wait too.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.wake_waiters();
    }

    pub(super) fn update_roles(&self, state: &PartitionState) {
        if state.leader_epoch > self.roles.load().leader_epoch {
            self.roles.store(Arc::new(state.clone()));
            self.wake_waiters();
        }
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

    pub(crate) fn leader_epoch(&self) -> i32 {
        self.roles.load().leader_epoch
    }

    /// Says that this broker must lead the partition, in the epoch that the client believes in if it believes in one
    /// (`Partition.checkCurrentLeaderEpoch`).
    pub(crate) fn check_leader(&self, current_leader_epoch: i32) -> Result<(), ErrorCode> {
        if self.stopped.load(Ordering::SeqCst) {
            return Err(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
        }
        let roles = self.roles.load();
        if current_leader_epoch >= 0 && current_leader_epoch < roles.leader_epoch {
            return Err(ErrorCode::FENCED_LEADER_EPOCH);
        }
        if current_leader_epoch > roles.leader_epoch {
            return Err(ErrorCode::UNKNOWN_LEADER_EPOCH);
        }
        if roles.leader == self.node_id { Ok(()) } else { Err(ErrorCode::NOT_LEADER_OR_FOLLOWER) }
    }

    /// Offset after the last record that every in-sync replica has. This replica is the only one there can be.
    pub(crate) fn high_watermark(&self) -> i64 {
        self.reader().log_end_offset()
    }

    /// Offset after the last record of no open transaction; there are no transactions.
    pub(crate) fn last_stable_offset(&self) -> i64 {
        self.high_watermark()
    }

    /// Appends what a producer sent, as the leader. Blocks for as long as the log's fsync policy says.
    pub(crate) fn append(&self, records: Bytes, acks_all: bool, now_ms: i64) -> Result<Appended, Refusal> {
        self.append_as(AppendOrigin::Client, records, acks_all, now_ms)
    }

    /// Appends for a producer, or for a coordinator of this broker.
    pub(crate) fn append_as(
        &self,
        origin: AppendOrigin,
        records: Bytes,
        acks_all: bool,
        now_ms: i64,
    ) -> Result<Appended, Refusal> {
        self.check_leader(-1)?;
        let mut log = self.log.log().lock();
        let in_sync = self.roles.load().isr.len();
        let min_in_sync = usize::try_from(log.config().min_insync_replicas).unwrap_or(0);
        if acks_all && in_sync < min_in_sync {
            let message = format!(
                "The size of the current ISR is {in_sync}, insufficient for min.insync.replicas={min_in_sync}"
            );
            return Err(Refusal { code: ErrorCode::NOT_ENOUGH_REPLICAS, message: Some(message) });
        }
        let appended = log.append_as_leader(records, self.leader_epoch(), origin, now_ms);
        drop(log);
        match appended {
            Ok(appended) => {
                if !appended.duplicate {
                    self.appended_bytes.fetch_add(appended.size_in_bytes as u64, Ordering::SeqCst);
                    self.wake_waiters();
                }
                Ok(appended)
            }
            Err(error) => Err(refusal(self.name(), &error)),
        }
    }

    pub(crate) fn appended_bytes(&self) -> u64 {
        self.appended_bytes.load(Ordering::SeqCst)
    }

    /// Has `waiter` woken by every append, and by whatever else changes what a fetch would find.
    pub(crate) fn register(&self, waiter: &Arc<Waiter>) -> Registration {
        self.waiting.register(waiter)
    }

    pub(crate) fn wake_waiters(&self) {
        self.waiting.wake();
    }

    /// Where the leader epoch of a reader's last record ends, if that is before its next record: the reader has
    /// records that this log does not (KIP-595's diverging epoch).
    pub(crate) fn diverging_epoch(&self, last_fetched_epoch: i32, fetch_offset: i64) -> Option<(i32, i64)> {
        if last_fetched_epoch < 0 {
            return None;
        }
        let log = self.log.log().lock();
        let (epoch, end) = log.leader_epochs().end_offset_for(last_fetched_epoch, log.log_end_offset())?;
        (epoch < last_fetched_epoch || end < fetch_offset).then_some((epoch, end))
    }

    /// The leader epoch that wrote `offset`, or that of the last record for an offset that is not written yet.
    pub(crate) fn epoch_of(&self, offset: i64) -> i32 {
        let log = self.log.log().lock();
        let epochs = log.leader_epochs();
        epochs.epoch_for_offset(offset).or(epochs.latest_epoch()).unwrap_or(-1)
    }
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
