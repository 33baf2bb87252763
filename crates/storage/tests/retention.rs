//! Making logs shorter: retention by time and size, DeleteRecords, truncation.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::*;
use milena_storage::{ErrorKind, Log, LogConfig, LogOptions};

/// Ten segments of two batches of three records, a second apart.
fn ten_segments(fs: &milena_storage::fs::SharedFileSystem, config: LogConfig) -> Log {
    let mut log = open(fs, options(LogConfig { segment_ms: 1, ..config }));
    for n in 0..10 {
        for _ in 0..2 {
            let batch = Batch { timestamp: NOW + n * 1000, ..Batch::of(&["a", "b", "c"]) };
            log.append_as_leader(batch.bytes(), (n / 4) as i32, milena_storage::AppendOrigin::Client, NOW)
                .unwrap();
        }
    }
    assert_eq!(log.segment_base_offsets(), (0..10).map(|n| n * 6).collect::<Vec<_>>());
    log
}

fn files(fs: &milena_storage::fs::SharedFileSystem) -> Vec<String> {
    fs.list(Path::new("data/orders-0")).unwrap().into_iter().map(|entry| entry.name).collect()
}

#[test]
fn log_32_segments_older_than_retention_ms_go() {
    let fs = disk();
    let mut log = ten_segments(&fs, LogConfig { retention_ms: 5000, ..LogConfig::default() });
    let reader = log.reader();
    let held = reader.read(0, 100, i64::MAX, true).unwrap();
    assert_eq!(
        log.delete_old_segments(NOW + 5002, i64::MAX).unwrap(),
        0,
        "the newest record counts, at + 2 ms"
    );
    assert_eq!(log.delete_old_segments(NOW + 8500, i64::MAX).unwrap(), 4);
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (24, 60));
    assert_eq!(reader.read(23, 100, i64::MAX, true).unwrap_err().kind(), ErrorKind::OffsetOutOfRange);
    assert_eq!(reader.read(24, 100, i64::MAX, true).unwrap().first_offset, 24);
    assert_eq!(decode(&held.records)[0].0, 0, "what was read stays");
    assert!(files(&fs).iter().all(|name| !name.starts_with("00000000000000000018")), "{:?}", files(&fs));
    assert_eq!(log.leader_epochs().entries()[0].start_offset, 24);
    assert_eq!(log.delete_old_segments(NOW + 60_000, i64::MAX).unwrap(), 6, "all of them, after a roll");
    assert_eq!((log.segment_base_offsets(), log.log_start_offset()), (vec![60], 60));
    assert_eq!(append(&mut log, &Batch::of(&["a"])).unwrap().first_offset, 60);
}

#[test]
fn log_32_segments_beyond_retention_bytes_go() {
    let probe = ten_segments(&disk(), LogConfig::default());
    let segment = i64::try_from(probe.size() / 10).unwrap();
    let config = LogConfig { retention_bytes: segment * 3, ..LogConfig::default() };
    let mut log = ten_segments(&disk(), config);
    assert_eq!(log.delete_old_segments(NOW, 12).unwrap(), 2, "nothing above the high watermark");
    assert_eq!(log.delete_old_segments(NOW, i64::MAX).unwrap(), 5);
    assert_eq!((log.size(), log.log_start_offset()), (u64::try_from(segment * 3).unwrap(), 42));
}

#[test]
fn log_32_without_limits_and_in_compacted_topics_everything_stays() {
    let unlimited = LogConfig { retention_ms: -1, ..LogConfig::default() };
    let mut compacted = LogConfig { retention_ms: 1, retention_bytes: 0, ..LogConfig::default() };
    compacted.set("cleanup.policy", "compact").unwrap();
    for config in [unlimited, compacted] {
        let mut log = ten_segments(&disk(), config);
        assert_eq!(log.delete_old_segments(i64::MAX, i64::MAX).unwrap(), 0);
        log.delete_records(20, i64::MAX).unwrap();
        assert_eq!(
            log.delete_old_segments(i64::MAX, i64::MAX).unwrap(),
            3,
            "but not what lies before the start"
        );
        assert_eq!((log.segment_base_offsets()[0], log.log_start_offset()), (18, 20));
    }
}

#[test]
fn log_32_delete_records_moves_the_start_up_to_the_high_watermark() {
    let fs = disk();
    let mut log = ten_segments(&fs, LogConfig::default());
    assert_eq!(log.delete_records(20, 40).unwrap(), 20);
    assert_eq!(log.delete_records(10, 40).unwrap(), 20, "never back");
    for offset in [41, -1] {
        assert_eq!(log.delete_records(offset, 40).unwrap_err().kind(), ErrorKind::OffsetOutOfRange);
    }
    let reader = log.reader();
    assert_eq!(reader.read(19, 100, i64::MAX, true).unwrap_err().kind(), ErrorKind::OffsetOutOfRange);
    let data = reader.read(20, 1, i64::MAX, true).unwrap();
    assert_eq!((data.first_offset, data.next_offset), (18, 21), "the batch that contains it");
    drop(log);
    let log = open(&fs, LogOptions { log_start_offset: 20, ..options(LogConfig::default()) });
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (20, 60));
}

#[test]
fn truncation_ends_the_log_at_a_batch() {
    for (offset, end) in
        [(60, 60), (57, 57), (58, 57), (54, 54), (33, 33), (32, 30), (30, 30), (1, 0), (0, 0)]
    {
        let fs = disk();
        let mut log = ten_segments(&fs, LogConfig::default());
        log.truncate_to(offset, NOW).unwrap();
        assert_eq!(log.log_end_offset(), end, "to {offset}");
        assert_eq!(read_all(&log, 50).len() as i64, end);
        assert!(log.leader_epochs().entries().iter().all(|entry| entry.start_offset < end));
        let info = append(&mut log, &Batch::of(&["after"])).unwrap();
        assert_eq!(info.first_offset, end);
        let before = read_all(&log, 50);
        drop(log);
        assert_eq!(read_all(&open(&fs, options(LogConfig::default())), 50), before, "and after a recovery");
    }
}

#[test]
fn truncation_takes_the_index_along() {
    let mut log = open(&disk(), options(LogConfig { index_interval_bytes: 0, ..LogConfig::default() }));
    for n in 0..50 {
        append(&mut log, &Batch::of(&["a"]).at(NOW + n)).unwrap();
    }
    log.truncate_to(20, NOW).unwrap();
    for n in 0..30 {
        append(&mut log, &Batch::of(&["b", "c"]).at(NOW + 1000 + n)).unwrap();
    }
    for offset in 0..log.log_end_offset() {
        let found = decode(&log.reader().read(offset, 1, i64::MAX, true).unwrap().records);
        assert!(found.iter().any(|record| record.0 == offset), "{offset}: {found:?}");
    }
    assert_eq!(log.reader().offset_for_timestamp(NOW + 30).unwrap().unwrap().offset, 20);
}

#[test]
fn a_follower_may_start_anywhere() {
    let fs = disk();
    let mut log = ten_segments(&fs, LogConfig::default());
    log.truncate_fully_and_start_at(1000, NOW).unwrap();
    assert_eq!((log.log_start_offset(), log.log_end_offset(), log.size()), (1000, 1000, 0));
    assert_eq!(append(&mut log, &Batch::of(&["a"])).unwrap().first_offset, 1000);
    assert_eq!(read_all(&log, 10), [(1000, "a".to_owned())]);
}
