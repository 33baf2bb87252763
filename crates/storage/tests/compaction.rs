//! Compaction: what stays, what goes, and what a crash leaves.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use common::*;
use milena_protocol::Uuid;
use milena_protocol::records::{BatchBuilder, Compression, RecordBatches, Seal};
use milena_storage::checkpoint::MetaProperties;
use milena_storage::fs::{CrashPlan, FaultyFileSystem, MemoryFileSystem, SharedFileSystem};
use milena_storage::{
    AppendOrigin, FsyncPolicy, Log, LogConfig, LogManager, LogManagerOptions, LogOptions, Result,
};
use proptest::prelude::*;

type KeyValue<'a> = (&'a str, Option<&'a str>);
/// Offset, key and value.
type Found = (i64, String, Option<String>);

fn batch_of(records: &[KeyValue<'_>], codec: Compression, timestamp: i64, seal: Seal) -> Bytes {
    let mut builder = BatchBuilder::new(Vec::new());
    for (key, value) in records {
        builder.append(timestamp, Some(key.as_bytes()), value.map(str::as_bytes), &[]);
    }
    builder.compress(codec, None, Vec::new()).unwrap().seal(seal).into()
}

fn put(log: &mut Log, records: &[KeyValue<'_>]) -> i64 {
    let batch = batch_of(records, Compression::None, NOW, Seal::default());
    log.append_as_leader(batch, 0, AppendOrigin::Client, NOW).unwrap().first_offset
}

/// A compacted topic whose segments hold a few batches.
fn compacted() -> LogConfig {
    let mut config = small_segments(200);
    config.set("cleanup.policy", "compact").unwrap();
    config.set("min.cleanable.dirty.ratio", "0").unwrap();
    config
}

fn open_compacted(fs: &SharedFileSystem, config: LogConfig) -> Log {
    open(fs, options(config))
}

/// One pass over all that may be compacted; answers whether there was something to do.
fn clean(log: &mut Log, now_ms: i64) -> Result<bool> {
    let Some(cleanable) = log.cleanable(now_ms, i64::MAX) else { return Ok(false) };
    let (mut cleaning, dirty) = log.begin_cleaning(cleanable, now_ms);
    cleaning.read(dirty)?;
    while let Some(group) = cleaning.next_group()? {
        assert!(log.swap_in(&group, now_ms)?, "nobody else changes it");
    }
    log.cleaned_up_to(cleaning.end_offset());
    Ok(true)
}

/// All that a consumer would read.
fn found(log: &Log) -> Vec<Found> {
    let reader = log.reader();
    let mut records = Vec::new();
    let mut offset = log.log_start_offset();
    while offset < log.log_end_offset() {
        let data = reader.read(offset, 300, i64::MAX, true).unwrap();
        assert!(data.next_offset > offset, "reading at {offset} makes no progress");
        for batch in RecordBatches::new(data.records) {
            let batch = batch.unwrap();
            batch.check_crc().unwrap();
            for record in batch.records(1 << 20).unwrap() {
                let record = record.unwrap();
                let text = |bytes: Bytes| String::from_utf8(bytes.to_vec()).unwrap();
                records.push((record.offset, text(record.key.unwrap()), record.value.map(text)));
            }
        }
        offset = data.next_offset;
    }
    records
}

/// What somebody knows who has read it all.
fn replay(records: &[Found]) -> BTreeMap<&str, &str> {
    let mut map = BTreeMap::new();
    for (_, key, value) in records {
        match value {
            Some(value) => map.insert(key.as_str(), value.as_str()),
            None => map.remove(key.as_str()),
        };
    }
    map
}

fn files(fs: &SharedFileSystem) -> Vec<String> {
    fs.list(Path::new("data/orders-0")).unwrap().into_iter().map(|entry| entry.name).collect()
}

#[test]
fn log_32_compaction_keeps_the_last_record_of_each_key_at_its_offset() {
    for codec in Compression::ALL {
        let fs = disk();
        let mut log = open_compacted(&fs, compacted());
        for n in 0..60 {
            let (first, second) = (format!("k{}", n % 7), format!("k{}", n % 3));
            let value = format!("value {n}");
            let records = [(&*first, Some(&*value)), (&*second, Some(&*value))];
            let batch = batch_of(&records, codec, NOW + n, Seal::default());
            log.append_as_leader(batch, 0, AppendOrigin::Client, NOW).unwrap();
        }
        let (before, bases, size) = (found(&log), log.segment_base_offsets(), log.size());
        let active = *bases.last().unwrap();
        log.set_config(LogConfig { segment_bytes: 4_096, ..compacted() });
        assert!(clean(&mut log, NOW).unwrap());
        assert!(!clean(&mut log, NOW).unwrap(), "once is enough");

        let last: BTreeMap<&str, i64> =
            before.iter().filter(|(at, ..)| *at < active).map(|(at, key, _)| (&**key, *at)).collect();
        let expected: Vec<Found> =
            before.iter().filter(|(at, key, _)| *at >= active || last[&**key] == *at).cloned().collect();
        let after = found(&log);
        assert_eq!(after, expected, "{codec:?}");
        assert!(log.segment_base_offsets().len() < bases.len() / 3, "small segments become one");
        assert!(log.size() < size / 2);
        assert_eq!(log.segment_base_offsets().last(), Some(&active), "the active segment stays");
        assert!(files(&fs).iter().all(|name| !name.ends_with("cleaned") && !name.ends_with("swap")));

        // Any offset can be read from, those that are gone too, and any time asked for.
        for offset in 0..log.log_end_offset() {
            let read = log.reader().read(offset, 1, i64::MAX, true).unwrap();
            let next = decode(&read.records).into_iter().map(|(at, _)| at).find(|at| *at >= offset);
            let wanted = after.iter().map(|(at, ..)| *at).find(|at| *at >= offset).unwrap();
            assert!(next.is_none_or(|next| next == wanted), "from {offset}");
            assert!(read.next_offset > offset);
        }
        for n in 0..60 {
            let at = log.reader().offset_for_timestamp(NOW + n).unwrap().unwrap();
            assert!(at.timestamp >= NOW + n && after.iter().any(|(offset, ..)| *offset == at.offset));
        }
        let reopened = open_compacted(&fs, compacted());
        assert_eq!(found(&reopened), after);
    }
}

#[test]
fn log_32_compaction_leaves_alone_what_is_not_committed_not_due_or_not_compacted() {
    let mut log = open_compacted(&disk(), compacted());
    for n in 0..30 {
        put(&mut log, &[("k", Some(&format!("{n}"))), ("l", Some("v"))]);
    }
    assert_eq!(log.cleanable(NOW, 0), None, "nothing is below the high watermark");
    let young = LogConfig { min_compaction_lag_ms: 1_000, ..compacted() };
    log.set_config(young);
    assert_eq!(log.cleanable(NOW + 999, i64::MAX), None);
    assert!(log.cleanable(NOW + 1_000, i64::MAX).is_some());
    log.set_config(LogConfig { min_cleanable_dirty_ratio: 1.0, ..compacted() });
    assert_eq!(log.cleanable(NOW, i64::MAX), None, "1 of 1 is not more than 1");
    log.set_config(LogConfig { min_cleanable_dirty_ratio: 1.0, max_compaction_lag_ms: 5_000, ..compacted() });
    assert!(log.cleanable(NOW + 5_001, i64::MAX).is_some(), "it has waited for too long");
    log.set_config(small_segments(200));
    assert_eq!(log.cleanable(NOW, i64::MAX), None, "the topic is not compacted");

    // Up to the high watermark alone, and the rest next time.
    log.set_config(compacted());
    let cleanable = log.cleanable(NOW, 25).unwrap();
    let (mut cleaning, dirty) = log.begin_cleaning(cleanable, NOW);
    cleaning.read(dirty).unwrap();
    assert_eq!(cleaning.end_offset(), 24, "whole batches");
    while let Some(group) = cleaning.next_group().unwrap() {
        assert!(log.swap_in(&group, NOW).unwrap());
    }
    log.cleaned_up_to(cleaning.end_offset());
    let offsets: Vec<_> = found(&log).into_iter().map(|(offset, ..)| offset).collect();
    assert_eq!(offsets, (22..60).collect::<Vec<_>>());
    assert_eq!(log.first_dirty_offset(), 24);
    assert!(clean(&mut log, NOW).unwrap());
}

#[test]
fn log_32_tombstones_stay_until_everybody_has_had_the_time_to_see_them() {
    let mut log = open_compacted(&disk(), LogConfig { delete_retention_ms: 1_000, ..compacted() });
    let tombstone = put(&mut log, &[("gone", Some("value"))]) + 1;
    put(&mut log, &[("gone", None), ("stays", Some("value"))]);
    let fill = |log: &mut Log| {
        for n in 0..10 {
            put(log, &[("other", Some(&format!("value {n}")))]);
        }
    };
    let holds = |log: &Log, key: &str| {
        found(log).into_iter().filter(|(_, found, _)| found == key).collect::<Vec<_>>()
    };
    fill(&mut log);
    assert!(clean(&mut log, NOW + 10_000).unwrap());
    // However old it is: its time begins with the pass that has seen it.
    assert_eq!(holds(&log, "gone"), [(tombstone, "gone".to_owned(), None)]);
    fill(&mut log);
    assert!(clean(&mut log, NOW + 10_999).unwrap());
    assert_eq!(holds(&log, "gone").len(), 1);
    fill(&mut log);
    assert!(clean(&mut log, NOW + 11_000).unwrap());
    assert_eq!(holds(&log, "gone"), []);
    assert_eq!(holds(&log, "stays").len(), 1);
}

#[test]
fn log_32_compaction_keeps_producers_last_sequences() {
    let fs = disk();
    let mut log = open_compacted(&fs, compacted());
    let seal = |base_sequence| Seal { producer_id: 7, producer_epoch: 1, base_sequence, ..Seal::default() };
    let batch = |value: &str, sequence| {
        batch_of(&[("k", Some(value)), ("l", Some(value))], Compression::None, NOW, seal(sequence))
    };
    for (value, sequence) in [("a", 0), ("b", 2)] {
        log.append_as_leader(batch(value, sequence), 0, AppendOrigin::Client, NOW).unwrap();
    }
    for n in 0..20 {
        put(&mut log, &[("k", Some(&format!("{n}"))), ("l", Some("other"))]);
    }
    assert!(clean(&mut log, NOW).unwrap());
    assert!(found(&log).iter().all(|(offset, ..)| *offset >= 4), "the producer's records are gone");
    drop(log);
    // What knows of the producer is the log alone.
    for name in files(&fs).into_iter().filter(|name| name.ends_with(".snapshot")) {
        fs.remove_file(&Path::new("data/orders-0").join(name)).unwrap();
    }
    let mut log = open_compacted(&fs, compacted());
    let again = log.append_as_leader(batch("b", 2), 0, AppendOrigin::Client, NOW).unwrap();
    assert!(again.duplicate);
    assert_eq!((again.first_offset, again.last_offset), (2, 3));
    assert!(log.append_as_leader(batch("d", 6), 0, AppendOrigin::Client, NOW).is_err(), "a gap");
    log.append_as_leader(batch("c", 4), 0, AppendOrigin::Client, NOW).unwrap();
}

#[test]
fn log_32_a_log_that_was_cut_meanwhile_is_not_compacted() {
    let fs = disk();
    let mut log = open_compacted(&fs, compacted());
    for n in 0..40 {
        put(&mut log, &[("k", Some(&format!("{n}")))]);
    }
    let cleanable = log.cleanable(NOW, i64::MAX).unwrap();
    let (mut cleaning, dirty) = log.begin_cleaning(cleanable, NOW);
    cleaning.read(dirty).unwrap();
    let group = cleaning.next_group().unwrap().unwrap();
    log.truncate_to(10, NOW).unwrap();
    let before = found(&log);
    assert!(!log.swap_in(&group, NOW).unwrap());
    assert_eq!(found(&log), before);
    assert!(log.first_dirty_offset() <= 10);
    assert!(files(&fs).iter().all(|name| !name.ends_with("cleaned")));
}

#[test]
fn log_32_what_was_compacted_is_known_after_a_restart_and_damage_is_left_alone() {
    let fs: SharedFileSystem = MemoryFileSystem::shared();
    let manager = |fs: &SharedFileSystem| {
        let meta = MetaProperties { cluster_id: "c".to_owned(), node_id: 1, directory_id: Uuid([1; 16]) };
        let options = LogManagerOptions::new(meta);
        LogManager::open(fs.clone(), Path::new("data"), options, |_| compacted(), NOW).unwrap()
    };
    let logs = manager(&fs);
    let handle = logs.get_or_create(&topic_partition(), None, compacted(), NOW).unwrap();
    for n in 0..40 {
        put(&mut handle.log().lock(), &[("k", Some(&format!("{n}")))]);
    }
    assert_eq!(logs.clean_logs(NOW, |_| None).unwrap(), 0);
    assert_eq!(logs.clean_logs(NOW, |_| Some(i64::MAX)).unwrap(), 1);
    assert_eq!(logs.clean_logs(NOW, |_| Some(i64::MAX)).unwrap(), 0);
    let first_dirty = handle.log().lock().first_dirty_offset();
    assert!(first_dirty > 30);
    drop(handle);
    drop(logs);
    let logs = manager(&fs);
    let handle = logs.get(&topic_partition()).unwrap();
    assert_eq!(handle.log().lock().first_dirty_offset(), first_dirty);

    for n in 0..40 {
        put(&mut handle.log().lock(), &[("k", Some(&format!("{n}")))]);
    }
    let bases = handle.log().lock().segment_base_offsets();
    let base = bases[bases.len() - 2];
    let path = Path::new("data/orders-0").join(format!("{base:020}.log"));
    let file = fs.open(&path, milena_storage::fs::OpenMode::ReadWrite).unwrap();
    file.write_all_at(&mut [std::io::IoSlice::new(b"x")], 66).unwrap();
    let before = found_without_crc(&handle.log().lock());
    assert_eq!(logs.clean_logs(NOW, |_| Some(i64::MAX)).unwrap(), 0);
    let after = found_without_crc(&handle.log().lock());
    assert!(after == before, "what is damaged is not made right");
}

fn found_without_crc(log: &Log) -> Vec<u8> {
    let mut all = Vec::new();
    let mut offset = log.log_start_offset();
    while offset < log.log_end_offset() {
        let data = log.reader().read(offset, 1 << 20, i64::MAX, true).unwrap();
        all.extend_from_slice(&data.records);
        offset = data.next_offset;
    }
    all
}

#[derive(Debug, Clone)]
enum Action {
    /// Records as numbers: the key, and whether it is deleted.
    Append(Vec<(u8, bool)>),
    Clean,
    /// Milliseconds that pass.
    Wait(i64),
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let record = (0u8..6, prop::bool::weighted(0.3));
    let action = prop_oneof![
        6 => prop::collection::vec(record, 1..4).prop_map(Action::Append),
        2 => Just(Action::Clean),
        1 => (1i64..300).prop_map(Action::Wait),
    ];
    prop::collection::vec(action, 1..60)
}

/// Every record that was ever acknowledged, then those of the append that the cut interrupted.
#[derive(Debug, Default)]
struct Model {
    records: Vec<Found>,
    in_flight: Vec<Found>,
    now_ms: i64,
    next_value: usize,
}

impl Model {
    fn apply(&mut self, log: &mut Log, action: &Action) -> Result<()> {
        self.in_flight.clear();
        match action {
            Action::Append(records) => {
                let end = log.log_end_offset();
                for (offset, (key, is_deleted)) in (end..).zip(records) {
                    self.next_value += 1;
                    let value = (!is_deleted).then(|| format!("value {}", self.next_value));
                    self.in_flight.push((offset, format!("k{key}"), value));
                }
                let batch: Vec<KeyValue<'_>> =
                    self.in_flight.iter().map(|(_, key, value)| (&**key, value.as_deref())).collect();
                let batch = batch_of(&batch, Compression::None, NOW, Seal::default());
                log.append_as_leader(batch, 0, AppendOrigin::Client, NOW)?;
                self.records.append(&mut self.in_flight);
            }
            Action::Clean => {
                // Several small segments become one.
                log.set_config(LogConfig { segment_bytes: 2_000, ..crashing() });
                clean(log, self.now_ms)?;
                log.set_config(crashing());
            }
            Action::Wait(ms) => self.now_ms += ms,
        }
        Ok(())
    }

    /// Nobody who reads all of the log can tell that it was compacted. Goes on from what was found.
    fn check(&mut self, log: &Log) {
        let found = found(log);
        let written: BTreeSet<&Found> = self.records.iter().chain(&self.in_flight).collect();
        assert!(found.iter().all(|record| written.contains(record)), "nothing was ever made up");
        assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0), "{found:?}");
        let end = self.records.last().map_or(0, |(offset, ..)| offset + 1);
        assert!(log.log_end_offset() >= end, "ends at {}, not {end}", log.log_end_offset());
        let known = replay(&found);
        let (without, mut with) = (replay(&self.records), self.records.clone());
        with.append(&mut self.in_flight);
        if log.log_end_offset() == end {
            assert_eq!(known, without);
        } else {
            assert_eq!(known, replay(&with));
            self.records = with;
        }
    }
}

fn crashing() -> LogConfig {
    LogConfig { delete_retention_ms: 200, ..compacted() }
}

fn open_to_crash(fs: &SharedFileSystem, recovery_point: i64) -> Result<Log> {
    let (fsync, config) = (FsyncPolicy::EveryBatch, crashing());
    let options = LogOptions { fsync, config, recovery_point, ..LogOptions::default() };
    Log::open(fs.clone(), Path::new("data"), topic_partition(), options, NOW)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn log_32_no_compaction_that_a_power_cut_interrupts_loses_or_revives_a_record(
        rounds in prop::collection::vec(
            (actions(), 0u64..600, any::<bool>(), any::<u64>(), any::<bool>()),
            1..6,
        ),
    ) {
        let faulty = FaultyFileSystem::new(MemoryFileSystem::shared());
        let fs: SharedFileSystem = Arc::new(faulty.clone());
        fs.create_dir_all(Path::new("data")).unwrap();
        fs.sync_dir(Path::new("")).unwrap();
        let mut model = Model { now_ms: NOW, ..Model::default() };
        let mut recovery_point = 0;
        for (actions, cut_after, in_cleaning, seed, checkpoint) in rounds {
            if !in_cleaning {
                faulty.cut_power_after(cut_after);
            }
            model.in_flight.clear();
            if let Ok(mut log) = open_to_crash(&fs, recovery_point) {
                let last_cleaning = actions.iter().rposition(|action| matches!(action, Action::Clean));
                for (number, action) in actions.iter().enumerate() {
                    if in_cleaning && last_cleaning == Some(number) {
                        faulty.cut_power_after(cut_after % 60);
                    }
                    if model.apply(&mut log, action).is_err() {
                        break;
                    }
                }
                if checkpoint {
                    recovery_point = log.recovery_point();
                }
            }
            faulty.restart(CrashPlan::Torn(seed)).unwrap();
            model.check(&open_to_crash(&fs, recovery_point).unwrap());
        }
    }
}
