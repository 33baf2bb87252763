//! What is left after kill −9, a power cut, a full disk, a failed sync, and garbage in any file.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use common::*;
use milena_protocol::records::{Compression, RecordBatches, Seal};
use milena_storage::fs::{
    CrashPlan, FaultyFileSystem, MemoryFileSystem, OpenMode, SharedFileSystem, read_file,
};
use milena_storage::{AppendOrigin, ErrorKind, FsyncPolicy, Log, LogConfig, LogOptions, StorageError};
use proptest::prelude::*;

fn faulty() -> (FaultyFileSystem, SharedFileSystem) {
    let faulty = FaultyFileSystem::new(MemoryFileSystem::shared());
    let shared: SharedFileSystem = Arc::new(faulty.clone());
    shared.create_dir_all(Path::new("data")).unwrap();
    shared.sync_dir(Path::new("")).unwrap();
    (faulty, shared)
}

fn every_batch(config: LogConfig) -> LogOptions {
    LogOptions { fsync: FsyncPolicy::EveryBatch, ..options(config) }
}

fn log_file(base: i64, suffix: &str) -> PathBuf {
    Path::new("data/orders-0").join(format!("{base:020}.{suffix}"))
}

fn fill(log: &mut Log, batches: usize) {
    for n in 0..batches {
        let compression = if n % 3 == 0 { Compression::Snappy } else { Compression::None };
        append(log, &Batch::numbered(&format!("batch-{n}"), 3).compressed(compression)).unwrap();
    }
}

#[test]
fn log_31_a_torn_tail_is_cut_to_the_last_whole_batch() {
    let fs = disk();
    let mut log = open(&fs, options(LogConfig::default()));
    fill(&mut log, 4);
    let keep = log.size();
    fill(&mut log, 1);
    let whole = read_file(&*fs, &log_file(0, "log"), 1 << 20).unwrap();
    drop(log);
    for len in usize::try_from(keep).unwrap()..whole.len() {
        fs.open(&log_file(0, "log"), OpenMode::ReadWrite).unwrap().truncate(len as u64).unwrap();
        let mut log = open(&fs, options(LogConfig::default()));
        assert_eq!((log.log_end_offset(), log.size()), (12, keep), "cut at {len}");
        fill(&mut log, 1);
        assert_eq!(read_all(&log, 100).len(), 15);
    }
}

#[test]
fn log_31_a_flipped_bit_cuts_the_log_before_its_batch() {
    let fs = disk();
    let mut log = open(&fs, options(LogConfig::default()));
    fill(&mut log, 5);
    drop(log);
    let whole = read_file(&*fs, &log_file(0, "log"), 1 << 20).unwrap();
    let sizes: Vec<_> = RecordBatches::new(whole.clone()).map(|batch| batch.unwrap().bytes().len()).collect();
    let mut start = 0;
    for (number, size) in sizes.into_iter().enumerate() {
        for at in 0..size {
            let mut broken = whole.to_vec();
            broken[start + at] ^= 0x10;
            let file = fs.open(&log_file(0, "log"), OpenMode::CreateEmpty).unwrap();
            file.write_all_at(&mut [std::io::IoSlice::new(&broken)], 0).unwrap();
            let log = open(&fs, options(LogConfig::default()));
            let records = read_all(&log, 1000);
            assert!(records.is_sorted_by_key(|record| record.0), "byte {at} of batch {number}");
            // No checksum covers base offset and leader epoch: a flip there may look like a hole or another epoch.
            if (8..12).contains(&at) || at >= 16 {
                assert_eq!(records.len(), number * 3, "byte {at} of batch {number}");
            }
        }
        start += size;
    }
}

#[test]
fn log_31_a_failed_sync_poisons_the_log_until_it_is_recovered() {
    let (faulty, fs) = faulty();
    let mut log = open(&fs, every_batch(LogConfig::default()));
    fill(&mut log, 2);
    faulty.fail_syncs(true);
    let batch = Batch::of(&["lost?"]).produced_by(1, 0, 0);
    let error = append(&mut log, &batch).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Storage);
    faulty.fail_syncs(false);
    for _ in 0..3 {
        let error = append(&mut log, &batch).unwrap_err();
        assert!(matches!(error, StorageError::Poisoned { .. }), "{error}");
    }
    assert!(log.flush(i64::MAX).is_err() && log.close().is_err(), "no clean shutdown either");
    assert_eq!(read_all(&log, 100).len(), 6, "reads go on, and see nothing of it");
    drop(log);

    let mut log = open(&fs, every_batch(LogConfig::default()));
    let end = append(&mut log, &batch).unwrap().last_offset;
    drop(log);
    faulty.restart(CrashPlan::DropUnsynced).unwrap();
    let log = open(&fs, every_batch(LogConfig::default()));
    assert_eq!(log.log_end_offset(), end + 1, "acknowledged after the recovery, so it is on the disk");
}

#[test]
fn log_31_a_truncation_whose_sync_failed_is_on_the_disk_after_the_recovery() {
    let (faulty, fs) = faulty();
    let mut log = open(&fs, every_batch(LogConfig::default()));
    fill(&mut log, 2);
    faulty.fail_syncs(true);
    assert_eq!(log.truncate_to(3, NOW).unwrap_err().kind(), ErrorKind::Storage);
    faulty.fail_syncs(false);
    drop(log);
    let up_to_there = || LogOptions { recovery_point: 6, ..every_batch(LogConfig::default()) };
    assert_eq!(open(&fs, up_to_there()).log_end_offset(), 3);
    faulty.restart(CrashPlan::DropUnsynced).unwrap();
    assert_eq!(open(&fs, up_to_there()).log_end_offset(), 3, "it was seen to end there");
}

#[test]
fn log_31_what_a_power_cut_brings_back_has_its_own_epoch() {
    let (faulty, fs) = faulty();
    let mut log = open(&fs, options(LogConfig::default()));
    fill(&mut log, 2);
    log.flush(i64::MAX).unwrap();
    // Nothing of this is synced but the epochs, which are written whole.
    log.truncate_to(3, NOW).unwrap();
    log.append_as_leader(Batch::of(&["of a newer epoch"]).bytes(), 1, AppendOrigin::Client, NOW).unwrap();
    assert_eq!(log.leader_epochs().latest_epoch(), Some(1));
    drop(log);
    faulty.restart(CrashPlan::DropUnsynced).unwrap();
    let log = open(&fs, options(LogConfig::default()));
    assert_eq!(log.log_end_offset(), 6, "the old batch is back");
    let epochs = log.leader_epochs().entries().iter().map(|entry| (entry.epoch, entry.start_offset));
    assert_eq!(epochs.collect::<Vec<_>>(), [(0, 0)], "and what was noted over it is not believed");
}

#[test]
fn a_full_disk_refuses_the_batch_and_nothing_else() {
    let (faulty, fs) = faulty();
    let mut log = open(&fs, every_batch(LogConfig::default()));
    fill(&mut log, 2);
    let size = log.size();
    for free in [0, 1, 50] {
        faulty.set_free_space(Some(free));
        let error = append(&mut log, &Batch::numbered("large", 50)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Storage);
        assert_eq!((log.size(), log.log_end_offset()), (size, 6));
    }
    faulty.set_free_space(None);
    append(&mut log, &Batch::of(&["room again"])).unwrap();
    assert_eq!(read_all(&log, 1000).len(), 7);
    faulty.set_free_space(Some(10));
    faulty.fail_truncates(true);
    append(&mut log, &Batch::numbered("large", 50)).unwrap_err();
    faulty.set_free_space(None);
    assert!(log.poisoned().is_some(), "what could not be undone poisons");
}

#[test]
fn an_epoch_that_could_not_be_written_down_is_written_with_the_next_append() {
    let (faulty, fs) = faulty();
    let mut log = open(&fs, every_batch(LogConfig::default()));
    faulty.set_free_space(Some(3));
    append(&mut log, &Batch::of(&["a"])).unwrap_err();
    faulty.set_free_space(None);
    append(&mut log, &Batch::of(&["a"])).unwrap();
    let text = read_file(&*fs, Path::new("data/orders-0/leader-epoch-checkpoint"), 100).unwrap();
    assert_eq!(&text[..], b"0\n1\n0 0\n");
}

#[test]
fn interval_policy_syncs_when_it_is_due_and_keeps_what_it_synced() {
    let (faulty, fs) = faulty();
    let policy = FsyncPolicy::Interval(Duration::from_millis(500));
    let with_policy = || LogOptions { fsync: policy, ..options(small_segments(1000)) };
    let mut log = open(&fs, with_policy());
    fill(&mut log, 20);
    assert_eq!(log.flush_due(NOW + 499).unwrap(), Some(1));
    assert_eq!(log.recovery_point(), 0);
    assert_eq!(log.flush_due(NOW + 500).unwrap(), Some(500));
    assert_eq!(log.recovery_point(), 60);
    fill(&mut log, 5);
    // Nobody knows how long it was when the clock was put back.
    assert_eq!(log.flush_due(NOW - 3_600_000).unwrap(), Some(500));
    assert_eq!(log.recovery_point(), 75);
    fill(&mut log, 5);
    drop(log);
    faulty.restart(CrashPlan::DropUnsynced).unwrap();
    let log = open(&fs, LogOptions { recovery_point: 75, ..with_policy() });
    assert_eq!(read_all(&log, 1000).len(), 75);
}

#[test]
fn flush_messages_syncs_by_count() {
    let config = LogConfig { flush_messages: 10, ..LogConfig::default() };
    let mut log = open(&disk(), options(config));
    fill(&mut log, 3);
    assert_eq!(log.recovery_point(), 0);
    fill(&mut log, 1);
    assert_eq!(log.recovery_point(), 12);
}

#[test]
fn log_31_missing_and_broken_indexes_are_built_again() {
    let build = || {
        let fs = disk();
        let mut log = open(&fs, options(small_segments(2000)));
        for n in 0..60 {
            append(&mut log, &Batch::numbered("a", 3).at(NOW + n * 10)).unwrap();
        }
        let bases = log.segment_base_offsets();
        log.close().unwrap();
        (fs, bases)
    };
    let (good, bases) = build();
    assert!(bases.len() > 3);
    for suffix in ["index", "timeindex"] {
        for content in [None, Some(&b""[..]), Some(b"123"), Some(&[0xff; 48]), Some(&[0; 48])] {
            let (fs, _) = build();
            for base in &bases {
                let path = log_file(*base, suffix);
                match content {
                    None => fs.remove_file(&path).unwrap(),
                    Some(content) => {
                        let file = fs.open(&path, OpenMode::CreateEmpty).unwrap();
                        file.write_all_at(&mut [std::io::IoSlice::new(content)], 0).unwrap();
                    }
                }
            }
            let opened = LogOptions { clean_shutdown: true, ..options(small_segments(2000)) };
            let mut log = open(&fs, opened);
            assert_eq!(read_all(&log, 500).len(), 180);
            let found = log.reader().offset_for_timestamp(NOW + 333).unwrap().unwrap();
            assert_eq!((found.timestamp, found.offset), (NOW + 340, 102), "{suffix} {content:?}");
            log.close().unwrap();
        }
        // A recovery without any index leaves the very bytes that appending did.
        let (fs, _) = build();
        for base in &bases {
            fs.remove_file(&log_file(*base, suffix)).unwrap();
        }
        let mut log = open(&fs, options(small_segments(2000)));
        log.close().unwrap();
        for base in &bases {
            let path = log_file(*base, suffix);
            assert_eq!(read_file(&*fs, &path, 1 << 20).unwrap(), read_file(&*good, &path, 1 << 20).unwrap());
        }
    }
}

#[test]
fn garbage_in_any_file_neither_panics_nor_stops_the_log() {
    let names = ["log", "index", "timeindex", "snapshot"].map(|suffix| log_file(0, suffix));
    let others =
        ["leader-epoch-checkpoint", "00000000000000000000.log.tmp", "x.log", "-1.index", "17.snapshot"]
            .map(|name| Path::new("data/orders-0").join(name));
    // A length of 2 GB, a negative one, one that is less than a header's; then text and zeros.
    let garbage: [Vec<u8>; 6] = [
        [&[0; 8][..], &i32::MAX.to_be_bytes(), &[0, 0, 0, 0, 2], &[1; 100]].concat(),
        [&[0; 8][..], &(-1i32).to_be_bytes(), &[0, 0, 0, 0, 2], &[1; 100]].concat(),
        [&[0; 8][..], &7i32.to_be_bytes(), &[0, 0, 0, 0, 2], &[1; 100]].concat(),
        [&[0xff; 8][..], &49i32.to_be_bytes(), &[0, 0, 0, 0, 2], &[0xff; 100]].concat(),
        b"0\n3\nx y z\n\xff".repeat(9),
        vec![0; 4096],
    ];
    for path in names.iter().chain(&others) {
        for (number, content) in garbage.iter().enumerate() {
            for clean_shutdown in [false, true] {
                let fs = disk();
                let mut log = open(&fs, options(LogConfig::default()));
                fill(&mut log, 5);
                log.close().unwrap();
                let file = fs.open(path, OpenMode::CreateEmpty).unwrap();
                file.write_all_at(&mut [std::io::IoSlice::new(content)], 0).unwrap();
                let mut log = open(&fs, LogOptions { clean_shutdown, ..options(LogConfig::default()) });
                let before = read_all(&log, 1000).len();
                assert!(before == 15 || path.ends_with("00000000000000000000.log"), "{path:?} {number}");
                fill(&mut log, 1);
                assert_eq!(read_all(&log, 1000).len(), before + 3, "{path:?} {number}");
            }
        }
    }
}

#[test]
fn segments_at_the_last_offset_there_is_do_not_panic() {
    let sealed = |base_offset| {
        let bytes = Batch::of(&["a"]).sealed(Seal { base_offset, ..Seal::default() });
        bytes.to_vec()
    };
    for content in [sealed(i64::MAX), sealed(i64::MAX - 1), vec![0xff; 100], Vec::new()] {
        for clean_shutdown in [false, true] {
            let fs = disk();
            fill(&mut open(&fs, options(LogConfig::default())), 1);
            for suffix in ["log", "index", "timeindex"] {
                let file = fs.open(&log_file(i64::MAX, suffix), OpenMode::CreateEmpty).unwrap();
                file.write_all_at(&mut [std::io::IoSlice::new(&content)], 0).unwrap();
            }
            let mut log = open(&fs, LogOptions { clean_shutdown, ..options(LogConfig::default()) });
            assert!(log.log_end_offset() >= log.log_start_offset());
            log.reader().read(0, 1000, i64::MAX, true).unwrap();
            log.reader().offset_for_timestamp(0).unwrap();
            log.reader().offset_for_timestamp(i64::MAX).unwrap();
            log.append_as_follower(sealed(i64::MAX).into(), NOW).unwrap_err();
            log.delete_old_segments(i64::MAX, i64::MAX).unwrap();
        }
    }
}

#[test]
fn a_log_start_behind_the_end_starts_an_empty_log_there() {
    let fs = disk();
    fill(&mut open(&fs, options(LogConfig::default())), 2);
    let log = open(&fs, LogOptions { log_start_offset: 100, ..options(LogConfig::default()) });
    assert_eq!(
        (log.log_start_offset(), log.log_end_offset(), log.segment_base_offsets()),
        (100, 100, vec![100])
    );
}

/// What a broker does until the power goes; answers the values that were acknowledged, in order.
fn write_until_the_power_goes(fs: &SharedFileSystem, options: LogOptions, first: usize) -> Vec<String> {
    let mut acknowledged = Vec::new();
    let Ok(mut log) = Log::open(fs.clone(), Path::new("data"), topic_partition(), options, NOW) else {
        return acknowledged;
    };
    for n in first..first + 40 {
        let batch = Batch::numbered(&format!("batch-{n}"), n % 4 + 1);
        if append(&mut log, &batch).is_err() {
            break;
        }
        acknowledged.extend(batch.values);
    }
    acknowledged
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Power cuts at any operation, again and again, with every kind of torn tail: what was acknowledged is there, in
    /// order, once, and what is there besides is a prefix of what was being written.
    #[test]
    fn log_31_every_batch_loses_nothing_acknowledged_in_a_power_cut(
        cuts in prop::collection::vec((0u64..260, any::<u64>()), 1..4),
        segment_bytes in 200i32..1500,
    ) {
        let (faulty, fs) = faulty();
        let config = LogConfig { segment_bytes, ..small_segments(segment_bytes) };
        let mut expected: Vec<String> = Vec::new();
        let mut first = 0;
        for (operations, seed) in cuts {
            faulty.cut_power_after(operations);
            expected.extend(write_until_the_power_goes(&fs, every_batch(config.clone()), first));
            faulty.restart(CrashPlan::Torn(seed)).unwrap();
            let log = open(&fs, every_batch(config.clone()));
            let found: Vec<_> = read_all(&log, 777).into_iter().map(|(_, value)| value).collect();
            prop_assert!(found.starts_with(&expected), "{} acknowledged, found {found:?}", expected.len());
            prop_assert!(found.len() <= expected.len() + 4, "at most the batch that was in flight besides");
            expected = found;
            first += 100;
        }
    }

    /// Without syncs anything may be lost, but only from the end: no holes, no damage.
    #[test]
    fn log_31_other_policies_keep_a_prefix(operations in 0u64..200, seed: u64, segment_bytes in 200i32..1500) {
        let (faulty, fs) = faulty();
        let config = small_segments(segment_bytes);
        faulty.cut_power_after(operations);
        let written = write_until_the_power_goes(&fs, options(config.clone()), 0);
        faulty.restart(CrashPlan::Torn(seed)).unwrap();
        let log = open(&fs, options(config));
        let found: Vec<_> = read_all(&log, 777).into_iter().map(|(_, value)| value).collect();
        prop_assert!(written.starts_with(&found) || found.starts_with(&written));
    }

    #[test]
    fn arbitrary_bytes_after_the_last_batch_are_cut(tail: Vec<u8>) {
        let fs = disk();
        let mut log = open(&fs, options(LogConfig::default()));
        fill(&mut log, 3);
        let size = log.size();
        drop(log);
        let file = fs.open(&log_file(0, "log"), OpenMode::ReadWrite).unwrap();
        file.write_all_at(&mut [std::io::IoSlice::new(&tail)], size).unwrap();
        let log = open(&fs, options(LogConfig::default()));
        prop_assert_eq!((log.size(), log.log_end_offset()), (size, 9));
    }
}

#[test]
fn appends_go_on_beside_a_flush_and_a_truncation_voids_it() {
    let (faulty, fs) = faulty();
    let mut log = open(&fs, options(LogConfig::default()));
    fill(&mut log, 3);
    let pending = log.begin_flush(i64::MAX).unwrap().unwrap();
    fill(&mut log, 1);
    log.complete_flush(&pending, pending.sync()).unwrap();
    assert_eq!((log.recovery_point(), log.log_end_offset()), (9, 12));
    assert!(log.begin_flush(9).unwrap().is_none());

    let pending = log.begin_flush(i64::MAX).unwrap().unwrap();
    log.truncate_to(3, NOW).unwrap();
    fill(&mut log, 5);
    log.complete_flush(&pending, pending.sync()).unwrap();
    assert_eq!(log.recovery_point(), 3, "what was synced may be other records");

    faulty.fail_syncs(true);
    let pending = log.begin_flush(i64::MAX).unwrap().unwrap();
    log.complete_flush(&pending, pending.sync()).unwrap_err();
    assert!(log.poisoned().is_some());
}
