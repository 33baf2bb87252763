//! What each idempotent producer has written lately (KIP-98), so that a retry is recognised and a gap refused.
//!
//! Kafka's source: `ProducerStateManager`, `ProducerStateEntry`, `ProducerAppendInfo`.

mod snapshot;

use std::collections::{BTreeMap, VecDeque};

use milena_protocol::records::{
    BatchHeader, EndTransactionMarker, NO_PRODUCER_EPOCH, NO_SEQUENCE, RecordBatch,
};

use crate::error::{Result, StorageError};

pub(crate) use self::snapshot::{SNAPSHOT_SUFFIX, read_snapshot, write_snapshot};

/// Batches remembered per producer: as many as a producer may have in flight.
pub const NUM_BATCHES_TO_RETAIN: usize = 5;

/// The batches of a control record are tiny, and brokers never compress them.
const MAX_CONTROL_BYTES: usize = 64 * 1024;

/// A batch that a producer has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchMetadata {
    /// Sequence of its last record.
    pub last_sequence: i32,
    /// Offset of its last record.
    pub last_offset: i64,
    /// Last offset less first offset.
    pub offset_delta: i32,
    /// Its max timestamp in milliseconds.
    pub timestamp: i64,
}

impl BatchMetadata {
    /// Offset of its first record.
    #[must_use]
    pub fn first_offset(&self) -> i64 {
        self.last_offset - i64::from(self.offset_delta)
    }

    fn of(header: &BatchHeader) -> Self {
        Self {
            last_sequence: header.last_sequence(),
            last_offset: header.last_offset(),
            offset_delta: header.last_offset_delta,
            timestamp: header.max_timestamp,
        }
    }

    /// Whether this is what `header` was appended as: the same sequences.
    fn is_same(&self, header: &BatchHeader) -> bool {
        self.last_sequence == header.last_sequence() && self.offset_delta == header.last_offset_delta
    }
}

/// What is known of one producer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProducerStateEntry {
    /// Its current epoch.
    pub producer_epoch: i16,
    /// Epoch of the transaction coordinator that last ended a transaction of it, −1 for none.
    pub coordinator_epoch: i32,
    /// Timestamp of its last batch or marker in milliseconds.
    pub last_timestamp: i64,
    /// First offset of its open transaction.
    pub current_txn_first_offset: Option<i64>,
    /// Its last batches, oldest first; at most [`NUM_BATCHES_TO_RETAIN`].
    pub batches: VecDeque<BatchMetadata>,
}

impl ProducerStateEntry {
    fn new(producer_epoch: i16) -> Self {
        Self {
            producer_epoch,
            coordinator_epoch: -1,
            last_timestamp: -1,
            current_txn_first_offset: None,
            batches: VecDeque::new(),
        }
    }

    /// Sequence of the last record, −1 for none in this epoch.
    #[must_use]
    pub fn last_sequence(&self) -> i32 {
        self.batches.back().map_or(NO_SEQUENCE, |batch| batch.last_sequence)
    }

    fn set_epoch(&mut self, epoch: i16) {
        if self.producer_epoch != epoch {
            self.producer_epoch = epoch;
            self.batches.clear();
        }
    }

    fn add(&mut self, batch: BatchMetadata) {
        if self.batches.len() == NUM_BATCHES_TO_RETAIN {
            self.batches.pop_front();
        }
        self.batches.push_back(batch);
    }
}

/// The producers of one log.
#[derive(Debug, Default)]
pub struct ProducerStateManager {
    producers: BTreeMap<i64, ProducerStateEntry>,
}

impl ProducerStateManager {
    /// What is known of a producer.
    #[must_use]
    pub fn last_entry(&self, producer_id: i64) -> Option<&ProducerStateEntry> {
        self.producers.get(&producer_id)
    }

    /// All producers in the order of their ids.
    pub fn producers(&self) -> impl Iterator<Item = (i64, &ProducerStateEntry)> {
        self.producers.iter().map(|(id, entry)| (*id, entry))
    }

    /// First offset of the oldest open transaction: the end of what read-committed consumers see.
    #[must_use]
    pub fn first_unstable_offset(&self) -> Option<i64> {
        self.producers.values().filter_map(|entry| entry.current_txn_first_offset).min()
    }

    /// The batch that `header` repeats, if it is one of the last five.
    #[must_use]
    pub fn find_duplicate(&self, header: &BatchHeader) -> Option<BatchMetadata> {
        let entry = self.producers.get(&header.producer_id)?;
        if entry.producer_epoch != header.producer_epoch {
            return None;
        }
        entry.batches.iter().copied().find(|batch| batch.is_same(header))
    }

    /// Whether the batch may follow what the producer wrote so far.
    ///
    /// A producer that nothing is known of may start anywhere: its state may have expired with its records (KIP-360).
    ///
    /// # Errors
    /// [`StorageError::InvalidProducerEpoch`] or [`StorageError::OutOfOrderSequence`].
    pub fn check(&self, header: &BatchHeader) -> Result<()> {
        let BatchHeader { producer_id, producer_epoch, base_sequence: sequence, .. } = *header;
        let Some(entry) = self.producers.get(&producer_id) else { return Ok(()) };
        if producer_epoch < entry.producer_epoch {
            let current_epoch = entry.producer_epoch;
            return Err(StorageError::InvalidProducerEpoch { producer_id, producer_epoch, current_epoch });
        }
        let last_sequence = entry.last_sequence();
        let in_sequence = if producer_epoch != entry.producer_epoch {
            sequence == 0 || entry.producer_epoch == NO_PRODUCER_EPOCH
        } else if last_sequence == NO_SEQUENCE {
            // Only a marker was seen in this epoch.
            sequence == 0
        } else {
            sequence == milena_protocol::records::increment_sequence(last_sequence, 1)
        };
        if in_sequence {
            return Ok(());
        }
        let last_sequence = if producer_epoch == entry.producer_epoch { last_sequence } else { NO_SEQUENCE };
        Err(StorageError::OutOfOrderSequence { producer_id, producer_epoch, sequence, last_sequence })
    }

    /// Notes a batch that is in the log.
    pub(crate) fn update(&mut self, batch: &RecordBatch) {
        let header = batch.header();
        if !header.has_producer_id() {
            return;
        }
        if !batch.is_control() {
            return self.update_data(header);
        }
        // A control batch that holds no marker of a transaction's end says nothing about producers.
        let record = batch.records(MAX_CONTROL_BYTES).ok().and_then(|mut records| records.next());
        let Some(Ok(record)) = record else { return };
        let (key, value) = (record.key.unwrap_or_default(), record.value.unwrap_or_default());
        if let Ok(marker) = EndTransactionMarker::from_record(&key, &value) {
            self.end_transaction(header, marker.coordinator_epoch);
        }
    }

    /// Notes a batch of data by its header alone.
    pub(crate) fn update_data(&mut self, header: &BatchHeader) {
        let entry = self.entry(header);
        entry.last_timestamp = header.max_timestamp;
        if header.base_sequence != NO_SEQUENCE {
            entry.add(BatchMetadata::of(header));
        }
        if header.attributes.is_transactional() && entry.current_txn_first_offset.is_none() {
            entry.current_txn_first_offset = Some(header.base_offset);
        }
    }

    fn end_transaction(&mut self, header: &BatchHeader, coordinator_epoch: i32) {
        let entry = self.entry(header);
        entry.last_timestamp = header.max_timestamp;
        entry.coordinator_epoch = coordinator_epoch;
        entry.current_txn_first_offset = None;
    }

    fn entry(&mut self, header: &BatchHeader) -> &mut ProducerStateEntry {
        let new = || ProducerStateEntry::new(header.producer_epoch);
        let entry = self.producers.entry(header.producer_id).or_insert_with(new);
        entry.set_epoch(header.producer_epoch);
        entry
    }

    /// Gives producers back the batches before their last one, which a snapshot does not hold: `header` is a batch of the
    /// log's tail, in order.
    pub(crate) fn remember_older(&mut self, headers: &[BatchHeader]) {
        let mut recent = Self::default();
        for header in headers {
            recent.update_data(header);
        }
        for (id, recent) in recent.producers {
            if let Some(entry) = self.producers.get_mut(&id)
                && entry.producer_epoch == recent.producer_epoch
                && entry.batches.back().map(|batch| batch.last_offset)
                    == recent.batches.back().map(|batch| batch.last_offset)
            {
                entry.batches = recent.batches;
            }
        }
    }

    /// Forgets producers that have been idle for `expiration_ms`, have no open transaction, and have written nothing at or
    /// behind `active_from`.
    pub(crate) fn remove_expired(&mut self, now_ms: i64, expiration_ms: i64, active_from: i64) {
        self.producers.retain(|_, entry| {
            entry.current_txn_first_offset.is_some()
                || now_ms.saturating_sub(entry.last_timestamp) < expiration_ms
                || entry.batches.back().is_some_and(|batch| batch.last_offset >= active_from)
        });
    }

    pub(crate) fn insert(&mut self, producer_id: i64, entry: ProducerStateEntry) {
        self.producers.insert(producer_id, entry);
    }
}
