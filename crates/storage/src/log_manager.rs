//! A broker's log directory: its lock, its identity, its checkpoints and its logs (Kafka: `LogManager`).

use std::collections::{BTreeMap, BTreeSet};
use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use milena_protocol::Uuid;
use parking_lot::{Mutex, RwLock};

use crate::TopicPartition;
use crate::checkpoint::{
    CLEAN_SHUTDOWN_FILE, CLEANER_OFFSET_FILE, HIGH_WATERMARK_FILE, LOG_START_OFFSET_FILE,
    META_PROPERTIES_FILE, MetaProperties, RECOVERY_POINT_FILE, read_offsets, write_offsets,
};
use crate::config::{FsyncPolicy, LogConfig};
use crate::error::{ErrorKind, IoContext, Result, StorageError};
use crate::fs::{FileLock, OpenMode, SharedFileSystem, write_file_atomically};
use crate::log::{CheckpointedOffsets, Cleanable, Log, LogOptions, LogReader, PRODUCER_ID_EXPIRATION_MS};
use crate::log_dir_failure::LogDirFailureChannel;
use crate::topic_partition::is_valid_topic_name;

/// The lock that keeps two brokers out of one directory.
pub const LOCK_FILE: &str = ".lock";

/// What the directory of a log that is being deleted ends with.
pub const DELETE_SUFFIX: &str = "-delete";

/// A log as the manager hands it out: the lock is for appending and changing, the reader needs none.
#[derive(Debug)]
pub struct LogHandle {
    topic_partition: TopicPartition,
    log: Mutex<Log>,
    reader: LogReader,
}

/// How a log directory is opened.
#[derive(Debug, Clone)]
pub struct LogManagerOptions {
    /// When appends are synced.
    pub fsync: FsyncPolicy,
    /// `producer.id.expiration.ms`.
    pub producer_id_expiration_ms: i64,
    /// Written to `meta.properties` of a new directory; compared with an old one's.
    pub meta_properties: MetaProperties,
}

impl LogManagerOptions {
    /// Kafka's defaults for a node.
    #[must_use]
    pub fn new(meta_properties: MetaProperties) -> Self {
        Self {
            fsync: FsyncPolicy::default(),
            producer_id_expiration_ms: PRODUCER_ID_EXPIRATION_MS,
            meta_properties,
        }
    }
}

/// Written and removed to find out whether a directory that has failed can be used again.
const PROBE_FILE: &str = ".probe";
/// Bytes of the probe: as good as nothing, but more than the last few that a full disk has left.
const PROBE_BYTES: usize = 64 * 1024;

type Logs = BTreeMap<TopicPartition, Arc<LogHandle>>;

/// The logs of one directory. Nothing else may write there while it lives.
#[derive(Debug)]
pub struct LogManager {
    /// Tells `failures` of what goes wrong.
    fs: SharedFileSystem,
    /// The same, with nobody watching.
    unwatched_fs: SharedFileSystem,
    failures: LogDirFailureChannel,
    dir: PathBuf,
    options: LogManagerOptions,
    meta_properties: MetaProperties,
    logs: RwLock<Logs>,
    /// Held while checkpoints are written, so that an older one does not replace a newer one.
    checkpointing: Mutex<()>,
    /// Logs that are gone, of which a checkpoint may still tell. None of that may be taken for a new log of the same name.
    gone: Mutex<BTreeSet<TopicPartition>>,
    /// Held while a log is compacted: one at a time.
    cleaning: Mutex<()>,
    _lock: Box<dyn FileLock>,
}

impl LogHandle {
    fn new(log: Log) -> Arc<Self> {
        let (topic_partition, reader) = (log.topic_partition().clone(), log.reader());
        Arc::new(Self { topic_partition, log: Mutex::new(log), reader })
    }

    /// Which partition it is.
    #[must_use]
    pub fn topic_partition(&self) -> &TopicPartition {
        &self.topic_partition
    }

    /// The log, for appending and changing.
    #[must_use]
    pub fn log(&self) -> &Mutex<Log> {
        &self.log
    }

    /// The log, for reading beside appends.
    #[must_use]
    pub fn reader(&self) -> &LogReader {
        &self.reader
    }
}

impl LogManager {
    /// Takes a log directory, creating it if need be, and opens every log in it. `config_of` gives a topic's settings.
    ///
    /// The clean-shutdown marker is removed first: if the process dies from here on, the next start recovers.
    ///
    /// # Errors
    /// [`StorageError::InvalidState`] when another process has the directory, or it belongs to another cluster or node;
    /// storage errors.
    pub fn open(
        fs: SharedFileSystem,
        dir: &Path,
        options: LogManagerOptions,
        config_of: impl Fn(&str) -> LogConfig,
        now_ms: i64,
    ) -> Result<Self> {
        if !fs.exists(dir) {
            fs.create_dir_all(dir).at(dir)?;
            let parent = dir.parent().unwrap_or(dir);
            fs.sync_dir(parent).at(parent)?;
        }
        let lock = take_lock(&fs, dir)?;
        let meta_properties = check_identity(&fs, dir, &options.meta_properties)?;
        let failures = LogDirFailureChannel::default();
        let manager = Self {
            fs: failures.watch(Arc::clone(&fs)),
            unwatched_fs: fs,
            failures,
            dir: dir.to_owned(),
            options,
            meta_properties,
            logs: RwLock::default(),
            checkpointing: Mutex::new(()),
            gone: Mutex::default(),
            cleaning: Mutex::new(()),
            _lock: lock,
        };
        let clean_shutdown = manager.take_clean_shutdown_marker()?;
        let logs = manager.open_logs(clean_shutdown, &BTreeMap::new(), config_of, now_ms)?;
        *manager.gone.lock() = manager.told_of_and_not_among(&logs);
        *manager.logs.write() = logs;
        Ok(manager)
    }

    /// What a checkpoint tells of, though there is no such log: a crash came before the checkpoints were written again.
    fn told_of_and_not_among(&self, logs: &Logs) -> BTreeSet<TopicPartition> {
        let files = [RECOVERY_POINT_FILE, LOG_START_OFFSET_FILE, CLEANER_OFFSET_FILE];
        let told_of = files.iter().flat_map(|file| self.read_checkpoint(file).into_keys());
        told_of.filter(|name| !logs.contains_key(name)).collect()
    }

    /// Opens what is in the directory. `known` is what is known better than the checkpoints know it, of logs that were cut.
    fn open_logs(
        &self,
        clean_shutdown: bool,
        known: &BTreeMap<TopicPartition, CheckpointedOffsets>,
        config_of: impl Fn(&str) -> LogConfig,
        now_ms: i64,
    ) -> Result<Logs> {
        let recovery_points = self.read_checkpoint(RECOVERY_POINT_FILE);
        let start_offsets = self.read_checkpoint(LOG_START_OFFSET_FILE);
        let clean_offsets = self.read_checkpoint(CLEANER_OFFSET_FILE);
        let mut logs = Logs::new();
        for topic_partition in self.find_logs()? {
            let written = |offsets: &BTreeMap<_, _>| offsets.get(&topic_partition).copied().unwrap_or(0);
            let mut offsets = CheckpointedOffsets {
                recovery_point: written(&recovery_points),
                log_start_offset: written(&start_offsets),
                first_dirty_offset: written(&clean_offsets),
            };
            if let Some(known) = known.get(&topic_partition) {
                offsets = offsets.min(*known);
            }
            let options = LogOptions {
                config: config_of(&topic_partition.topic),
                recovery_point: offsets.recovery_point,
                log_start_offset: offsets.log_start_offset,
                first_dirty_offset: offsets.first_dirty_offset,
                clean_shutdown,
                ..self.log_options()
            };
            let log = Log::open(Arc::clone(&self.fs), &self.dir, topic_partition.clone(), options, now_ms)?;
            logs.insert(topic_partition, LogHandle::new(log));
        }
        Ok(logs)
    }

    /// Where it is said that the directory has failed, by whatever has failed in it first.
    #[must_use]
    pub fn failures(&self) -> &LogDirFailureChannel {
        &self.failures
    }

    /// Whether the directory can be written to and synced: tries both, with a file that is gone when this returns.
    ///
    /// # Errors
    /// When it cannot.
    pub fn probe(&self) -> Result<()> {
        let (fs, path) = (&*self.unwatched_fs, self.dir.join(PROBE_FILE));
        let file = fs.open(&path, OpenMode::CreateEmpty).at(&path)?;
        let written = file.write_all_at(&mut [IoSlice::new(&[0; PROBE_BYTES])], 0);
        let written = written.and_then(|()| file.sync_all());
        let removed = fs.remove_file(&path);
        written.and(removed).at(&path)?;
        fs.sync_dir(&self.dir).at(&self.dir)
    }

    /// After a failure: opens every log anew from what is on the disk, as a start after kill −9 does. The handles from
    /// before take nothing any more, whoever has one; their readers still read what they could. The directory counts as
    /// sound from here on, until something fails again. `config_of` gives a topic's settings.
    ///
    /// # Errors
    /// Storage errors; no log can be used then, and this is to be called again.
    pub fn recover(&self, config_of: impl Fn(&str) -> LogConfig, now_ms: i64) -> Result<()> {
        let _cleaning = self.cleaning.lock();
        let _checkpointing = self.checkpointing.lock();
        // A checkpoint that could not be written since a log was cut vouches for what is not there any more.
        let mut known = BTreeMap::new();
        for handle in self.logs() {
            let mut log = handle.log().lock();
            log.retire();
            known.insert(handle.topic_partition().clone(), log.checkpointed_offsets());
        }
        self.failures.clear();
        let logs = self.open_logs(false, &known, config_of, now_ms)?;
        *self.logs.write() = logs;
        Ok(())
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What the directory's `meta.properties` says.
    #[must_use]
    pub fn meta_properties(&self) -> &MetaProperties {
        &self.meta_properties
    }

    /// The log of a partition.
    #[must_use]
    pub fn get(&self, topic_partition: &TopicPartition) -> Option<Arc<LogHandle>> {
        self.logs.read().get(topic_partition).cloned()
    }

    /// All logs in the order of their names.
    #[must_use]
    pub fn logs(&self) -> Vec<Arc<LogHandle>> {
        self.logs.read().values().cloned().collect()
    }

    /// The log of a partition, created if there is none.
    ///
    /// # Errors
    /// [`StorageError::InvalidState`] for a name that Kafka does not allow or a log with another topic id; storage errors.
    pub fn get_or_create(
        &self,
        topic_partition: &TopicPartition,
        topic_id: Option<Uuid>,
        config: LogConfig,
        now_ms: i64,
    ) -> Result<Arc<LogHandle>> {
        if !is_valid_topic_name(&topic_partition.topic) || topic_partition.partition < 0 {
            return Err(StorageError::InvalidState(format!("{topic_partition} is no name for a log")));
        }
        self.forget_gone(topic_partition)?;
        let mut logs = self.logs.write();
        if let Some(handle) = logs.get(topic_partition) {
            if let Some(topic_id) = topic_id {
                handle.log().lock().assign_topic_id(topic_id)?;
            }
            return Ok(Arc::clone(handle));
        }
        let options = LogOptions { config, clean_shutdown: true, topic_id, ..self.log_options() };
        let log = Log::open(Arc::clone(&self.fs), &self.dir, topic_partition.clone(), options, now_ms)?;
        let handle = LogHandle::new(log);
        logs.insert(topic_partition.clone(), Arc::clone(&handle));
        Ok(handle)
    }

    /// Deletes a partition's log; answers whether there was one.
    ///
    /// # Errors
    /// Storage errors.
    pub fn delete(&self, topic_partition: &TopicPartition) -> Result<bool> {
        let removed = self.logs.write().remove(topic_partition);
        match removed {
            Some(handle) => {
                self.gone.lock().insert(topic_partition.clone());
                handle.log().lock().delete().map(|()| true)
            }
            None => Ok(false),
        }
    }

    /// Has the checkpoints tell nothing of an earlier log with this name: a crash would have them taken for the new one's, and
    /// what its recovery point or its start cover would not be looked at, or be gone.
    fn forget_gone(&self, topic_partition: &TopicPartition) -> Result<()> {
        let mut gone = self.gone.lock();
        if gone.contains(topic_partition) && self.get(topic_partition).is_none() {
            self.checkpoint_recovery_points()?;
            self.write_clean_offsets()?;
            gone.clear();
        }
        Ok(())
    }

    /// Syncs logs that the fsync policy says are due; answers milliseconds until the next may be. Appends go on meanwhile.
    /// A log that fails is poisoned; the others are still synced.
    ///
    /// # Errors
    /// The first failure.
    pub fn flush_due(&self, now_ms: i64) -> Result<Option<i64>> {
        let mut next: Option<i64> = None;
        let mut failed = Ok(());
        for handle in self.logs() {
            // A poisoned log has reported its failure already.
            let Ok((pending, wait)) = handle.log().lock().begin_flush_due(now_ms) else { continue };
            next = next.into_iter().chain(wait).min();
            if let Some(pending) = pending {
                let result = pending.sync();
                failed = failed.and(handle.log().lock().complete_flush(&pending, result));
            }
        }
        failed.map(|()| next)
    }

    /// Syncs segments that are full and writes the recovery points and log start offsets of all logs. Worth doing every
    /// minute, as Kafka does: it bounds what a recovery has to read. Appends go on meanwhile.
    ///
    /// # Errors
    /// The first failure. A log whose sync fails is poisoned; the others' recovery points are still written.
    pub fn checkpoint(&self) -> Result<()> {
        let mut failed = Ok(());
        for handle in self.logs() {
            // A closed or poisoned log keeps the recovery point that it has.
            let Ok(Some(pending)) = handle.log().lock().begin_flush_sealed() else { continue };
            let result = pending.sync();
            failed = failed.and(handle.log().lock().complete_flush(&pending, result));
        }
        failed.and(self.checkpoint_recovery_points())
    }

    /// Writes down where each log starts, so that records that were deleted do not come back after a crash.
    ///
    /// # Errors
    /// Storage errors.
    pub fn checkpoint_log_start_offsets(&self) -> Result<()> {
        let _checkpointing = self.checkpointing.lock();
        self.write_log_start_offsets()
    }

    /// Writes the recovery points and log start offsets of all logs, and syncs nothing else. To be done when a truncation has
    /// moved a recovery point back, before anything is appended (Kafka: `LogManager.truncateTo`): after a power cut the old
    /// point would vouch for what was never synced.
    ///
    /// # Errors
    /// Storage errors.
    pub fn checkpoint_recovery_points(&self) -> Result<()> {
        let _checkpointing = self.checkpointing.lock();
        let recovery_point = |handle: &Arc<LogHandle>| handle.log().lock().recovery_point();
        let recovery_points: BTreeMap<_, _> = self
            .logs()
            .iter()
            .map(|handle| (handle.topic_partition().clone(), recovery_point(handle)))
            .collect();
        // The start first: a recovery point may only be trusted with the start that belongs to it.
        self.write_log_start_offsets()?;
        write_offsets(&*self.fs, &self.dir.join(RECOVERY_POINT_FILE), &recovery_points)
    }

    fn write_log_start_offsets(&self) -> Result<()> {
        let mut start_offsets = BTreeMap::new();
        for handle in self.logs() {
            // Kafka leaves out what the first segment's name says already.
            if let Some(start) = handle.reader().log_start_within_segment() {
                start_offsets.insert(handle.topic_partition().clone(), start);
            }
        }
        write_offsets(&*self.fs, &self.dir.join(LOG_START_OFFSET_FILE), &start_offsets)
    }

    /// Compacts the logs that need it, the dirtiest first, until none does; answers how many passes there were.
    /// `high_watermark` is that of a partition, None for one that is to be left alone. Appends and reads go on meanwhile.
    ///
    /// A log with a batch that cannot be read is left alone from then on, and said so in the process's log.
    ///
    /// # Errors
    /// When it cannot be written down how far logs have been compacted.
    pub fn clean_logs(
        &self,
        now_ms: i64,
        high_watermark: impl Fn(&TopicPartition) -> Option<i64>,
    ) -> Result<usize> {
        let _cleaning = self.cleaning.lock();
        let mut left_alone = BTreeSet::new();
        let mut passes = 0;
        while let Some((handle, cleanable)) = self.dirtiest(now_ms, &high_watermark, &left_alone) {
            let name = handle.topic_partition();
            match clean(&handle, cleanable, now_ms) {
                Ok(true) => {
                    tracing::debug!(partition = %name, ?cleanable, "compacted");
                    passes += 1;
                    self.write_clean_offsets()?;
                }
                // It was cut meanwhile.
                Ok(false) => drop(left_alone.insert(name.clone())),
                Err(error) => {
                    tracing::error!(partition = %name, %error, "the log cannot be compacted");
                    left_alone.insert(name.clone());
                    if error.kind() != ErrorKind::Storage {
                        handle.log().lock().cleaning_has_failed();
                    }
                }
            }
        }
        Ok(passes)
    }

    fn dirtiest(
        &self,
        now_ms: i64,
        high_watermark: impl Fn(&TopicPartition) -> Option<i64>,
        left_alone: &BTreeSet<TopicPartition>,
    ) -> Option<(Arc<LogHandle>, Cleanable)> {
        let logs = self.logs().into_iter().filter(|handle| !left_alone.contains(handle.topic_partition()));
        let cleanable = logs.filter_map(|handle| {
            let high_watermark = high_watermark(handle.topic_partition())?;
            let cleanable = handle.log().lock().cleanable(now_ms, high_watermark)?;
            Some((handle, cleanable))
        });
        cleanable.max_by(|(_, one), (_, other)| one.dirty_ratio.total_cmp(&other.dirty_ratio))
    }

    /// Has the checkpoints say of a log that was just cut no more than what holds now: be it what is on disk, where it starts,
    /// or what was compacted. `before` is what held before.
    ///
    /// # Errors
    /// Storage errors.
    pub fn checkpoint_truncation(&self, log: &LogHandle, before: CheckpointedOffsets) -> Result<()> {
        let now = log.log().lock().checkpointed_offsets();
        if now.recovery_point < before.recovery_point || now.log_start_offset < before.log_start_offset {
            self.checkpoint_recovery_points()?;
        }
        if now.first_dirty_offset < before.first_dirty_offset {
            self.write_clean_offsets()?;
        }
        Ok(())
    }

    fn write_clean_offsets(&self) -> Result<()> {
        let _checkpointing = self.checkpointing.lock();
        let mut offsets = BTreeMap::new();
        for handle in self.logs() {
            let log = handle.log().lock();
            if log.config().cleanup_policy.compact {
                offsets.insert(handle.topic_partition().clone(), log.first_dirty_offset());
            }
        }
        write_offsets(&*self.fs, &self.dir.join(CLEANER_OFFSET_FILE), &offsets)
    }

    /// Writes the high watermarks.
    ///
    /// # Errors
    /// Storage errors.
    pub fn checkpoint_high_watermarks(&self, high_watermarks: &BTreeMap<TopicPartition, i64>) -> Result<()> {
        write_offsets(&*self.fs, &self.dir.join(HIGH_WATERMARK_FILE), high_watermarks)
    }

    /// The high watermarks that were last written; none if there is no such file or it is broken.
    #[must_use]
    pub fn read_high_watermarks(&self) -> BTreeMap<TopicPartition, i64> {
        self.read_checkpoint(HIGH_WATERMARK_FILE)
    }

    /// Closes every log and, if all went well, leaves the clean-shutdown marker.
    ///
    /// # Errors
    /// The first failure; the next start recovers then.
    pub fn shutdown(&self) -> Result<()> {
        // Once for all logs.
        let mut failed = self.fs.sync_dir(&self.dir).at(&self.dir);
        for handle in self.logs() {
            let closed = handle.log().lock().close_in_synced_dir();
            failed = failed.and(closed);
        }
        failed?;
        self.checkpoint_recovery_points()?;
        let marker = self.dir.join(CLEAN_SHUTDOWN_FILE);
        write_file_atomically(&*self.fs, &marker, b"{\"version\":0,\"brokerEpoch\":-1}").at(&marker)
    }

    fn log_options(&self) -> LogOptions {
        LogOptions {
            fsync: self.options.fsync,
            producer_id_expiration_ms: self.options.producer_id_expiration_ms,
            ..LogOptions::default()
        }
    }

    /// A broken checkpoint costs time or a few deleted records that come back, not data.
    fn read_checkpoint(&self, name: &str) -> BTreeMap<TopicPartition, i64> {
        read_offsets(&*self.fs, &self.dir.join(name)).unwrap_or_else(|error| {
            tracing::warn!(%error, "the checkpoint is left out");
            BTreeMap::new()
        })
    }

    fn take_clean_shutdown_marker(&self) -> Result<bool> {
        let marker = self.dir.join(CLEAN_SHUTDOWN_FILE);
        if !self.fs.exists(&marker) {
            return Ok(false);
        }
        self.fs.remove_file(&marker).at(&marker)?;
        self.fs.sync_dir(&self.dir).at(&self.dir)?;
        Ok(true)
    }

    /// The logs in the directory; finishes deletions that a crash interrupted.
    fn find_logs(&self) -> Result<Vec<TopicPartition>> {
        let mut found = Vec::new();
        for entry in self.fs.list(&self.dir).at(&self.dir)?.into_iter().filter(|entry| entry.is_dir) {
            if entry.name.ends_with(DELETE_SUFFIX) {
                let path = self.dir.join(&entry.name);
                self.fs.remove_dir_all(&path).at(&path)?;
            } else if let Some(topic_partition) = TopicPartition::from_dir_name(&entry.name) {
                found.push(topic_partition);
            }
        }
        Ok(found)
    }
}

/// One pass; answers false if the log was cut meanwhile.
fn clean(handle: &LogHandle, cleanable: Cleanable, now_ms: i64) -> Result<bool> {
    let (mut cleaning, dirty) = handle.log().lock().begin_cleaning(cleanable, now_ms);
    cleaning.read(dirty)?;
    while let Some(group) = cleaning.next_group()? {
        if !handle.log().lock().swap_in(&group, now_ms)? {
            return Ok(false);
        }
    }
    handle.log().lock().cleaned_up_to(cleaning.end_offset());
    Ok(true)
}

fn take_lock(fs: &SharedFileSystem, dir: &Path) -> Result<Box<dyn FileLock>> {
    let path = dir.join(LOCK_FILE);
    match fs.lock(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Err(StorageError::InvalidState(
            format!("{} is in use by another broker: stop that one or take another directory", dir.display()),
        )),
        other => other.at(&path),
    }
}

fn check_identity(fs: &SharedFileSystem, dir: &Path, wanted: &MetaProperties) -> Result<MetaProperties> {
    let path = dir.join(META_PROPERTIES_FILE);
    match MetaProperties::read(&**fs, &path)? {
        Some(found) if found.cluster_id == wanted.cluster_id && found.node_id == wanted.node_id => Ok(found),
        Some(found) => Err(StorageError::InvalidState(format!(
            "{} belongs to node {} of cluster {}, not to node {} of cluster {}",
            dir.display(),
            found.node_id,
            found.cluster_id,
            wanted.node_id,
            wanted.cluster_id
        ))),
        None => wanted.write(&**fs, &path).map(|()| wanted.clone()),
    }
}
