//! What the log does with the sequences of idempotent producers.

#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use milena_storage::fs::SharedFileSystem;
use milena_storage::{AppendOrigin, ErrorKind, Log, LogConfig, LogOptions, StorageError};

const PRODUCER: i64 = 9;

fn batch(sequence: i32) -> Batch {
    Batch::numbered("a", 3).produced_by(PRODUCER, 0, sequence)
}

fn log_with_batches(fs: &SharedFileSystem, count: i32) -> Log {
    let mut log = open(fs, options(LogConfig::default()));
    for n in 0..count {
        append(&mut log, &batch(n * 3)).unwrap();
    }
    log
}

fn kind(log: &mut Log, batch: &Batch) -> ErrorKind {
    append(log, batch).unwrap_err().kind()
}

#[test]
fn replication_29_duplicates_of_the_last_five_batches_get_their_offsets_again() {
    let mut log = log_with_batches(&disk(), 7);
    let size = log.size();
    for n in 2..7 {
        let info = append(&mut log, &batch(n * 3)).unwrap();
        assert!(info.duplicate);
        assert_eq!((info.first_offset, info.last_offset), (i64::from(n) * 3, i64::from(n) * 3 + 2));
    }
    assert_eq!((log.size(), log.log_end_offset()), (size, 21), "nothing was written");
    assert_eq!(
        kind(&mut log, &batch(3)),
        ErrorKind::OutOfOrderSequence,
        "the sixth last is not known any more"
    );
}

#[test]
fn replication_29_a_gap_is_out_of_order() {
    let mut log = log_with_batches(&disk(), 2);
    let error = append(&mut log, &batch(9)).unwrap_err();
    assert!(
        matches!(error, StorageError::OutOfOrderSequence { sequence: 9, last_sequence: 5, .. }),
        "{error}"
    );
    let overlapping = Batch::numbered("a", 2).produced_by(PRODUCER, 0, 3);
    assert_eq!(kind(&mut log, &overlapping), ErrorKind::OutOfOrderSequence, "not the batch that was there");
    append(&mut log, &batch(6)).unwrap();
}

#[test]
fn replication_29_an_old_epoch_is_refused_and_a_new_one_starts_at_zero() {
    let mut log = log_with_batches(&disk(), 1);
    let with_epoch = |epoch, sequence| Batch::numbered("a", 3).produced_by(PRODUCER, epoch, sequence);
    assert_eq!(kind(&mut log, &with_epoch(2, 3)), ErrorKind::OutOfOrderSequence);
    append(&mut log, &with_epoch(2, 0)).unwrap();
    assert_eq!(kind(&mut log, &with_epoch(1, 0)), ErrorKind::InvalidProducerEpoch);
    assert_eq!(
        kind(&mut log, &with_epoch(0, 0)),
        ErrorKind::InvalidProducerEpoch,
        "be it a duplicate of old"
    );
    append(&mut log, &with_epoch(2, 3)).unwrap();
}

#[test]
fn replication_29_sequences_wrap_to_zero() {
    let mut log = open(&disk(), options(LogConfig::default()));
    append(&mut log, &batch(i32::MAX - 4)).unwrap();
    let across = append(&mut log, &batch(i32::MAX - 1)).unwrap();
    assert_eq!(log.producer_state().last_entry(PRODUCER).unwrap().last_sequence(), 0);
    assert!(append(&mut log, &batch(i32::MAX - 1)).unwrap().duplicate);
    assert_eq!(across.last_offset, 5);
    assert_eq!(kind(&mut log, &batch(0)), ErrorKind::OutOfOrderSequence);
    append(&mut log, &batch(1)).unwrap();

    let mut log = open(&disk(), options(LogConfig::default()));
    append(&mut log, &batch(i32::MAX - 2)).unwrap();
    append(&mut log, &batch(0)).unwrap();
}

#[test]
fn replication_29_a_producer_without_state_may_start_anywhere() {
    let mut log = open(&disk(), options(LogConfig::default()));
    append(&mut log, &batch(77)).unwrap();
    assert_eq!(kind(&mut log, &batch(90)), ErrorKind::OutOfOrderSequence);
}

#[test]
fn replication_29_producers_are_apart() {
    let mut log = log_with_batches(&disk(), 2);
    append(&mut log, &Batch::of(&["x"]).produced_by(PRODUCER + 1, 0, 0)).unwrap();
    append(&mut log, &Batch::of(&["not idempotent"])).unwrap();
    append(&mut log, &batch(6)).unwrap();
    assert!(append(&mut log, &batch(3)).unwrap().duplicate);
}

#[test]
fn replication_29_the_state_survives_a_kill_after_all_records_were_deleted() {
    let fs = disk();
    let mut log = log_with_batches(&fs, 2);
    log.delete_records(6, 6).unwrap();
    drop(log);
    let mut log = open(&fs, LogOptions { log_start_offset: 6, ..options(LogConfig::default()) });
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (6, 6));
    let again = append(&mut log, &batch(3)).unwrap();
    assert!(again.duplicate);
    assert_eq!((again.first_offset, again.last_offset), (3, 5));
    assert_eq!(kind(&mut log, &batch(9)), ErrorKind::OutOfOrderSequence);
    assert_eq!(append(&mut log, &batch(6)).unwrap().first_offset, 6);
}

#[test]
fn replication_29_idle_producers_expire() {
    let mut log = log_with_batches(&disk(), 2);
    let day = milena_storage::PRODUCER_ID_EXPIRATION_MS;
    log.remove_expired_producers(NOW);
    log.remove_expired_producers(NOW + day);
    assert!(
        log.producer_state().last_entry(PRODUCER).is_some(),
        "its last batch is a few milliseconds younger"
    );
    log.remove_expired_producers(NOW + day + 10);
    assert!(log.producer_state().last_entry(PRODUCER).is_none());
    append(&mut log, &batch(1000)).unwrap();
}

#[test]
fn replication_29_who_writes_records_of_another_day_is_not_idle() {
    let fs = disk();
    let day = milena_storage::PRODUCER_ID_EXPIRATION_MS;
    let old = |sequence| batch(sequence).at(NOW - 2 * day);
    let mut log = open(&fs, options(LogConfig::default()));
    for n in 0..4 {
        append(&mut log, &old(n * 3)).unwrap();
        log.remove_expired_producers(NOW);
        assert!(append(&mut log, &old(n * 3)).unwrap().duplicate);
    }
    // A truncation reads the state from the log.
    log.truncate_to(9, NOW).unwrap();
    assert!(append(&mut log, &old(6)).unwrap().duplicate);
    let mut log = reopened(&fs, log, false);
    assert!(append(&mut log, &old(6)).unwrap().duplicate);
    log.remove_expired_producers(NOW);
    assert!(log.producer_state().last_entry(PRODUCER).is_some(), "that was the first look");
    log.remove_expired_producers(NOW);
    assert!(log.producer_state().last_entry(PRODUCER).is_none());
}

/// Reopens a log in every way that a broker may start.
fn reopened(fs: &SharedFileSystem, mut log: Log, clean: bool) -> Log {
    if clean {
        log.close().unwrap();
    }
    drop(log);
    open(fs, LogOptions { clean_shutdown: clean, ..options(LogConfig::default()) })
}

#[test]
fn replication_29_the_state_survives_a_restart() {
    for clean in [true, false] {
        let fs = disk();
        let mut log = reopened(&fs, log_with_batches(&fs, 7), clean);
        for n in 2..7 {
            let info = append(&mut log, &batch(n * 3)).unwrap();
            assert!(info.duplicate, "batch {n} after a restart, clean: {clean}");
            assert_eq!(info.first_offset, i64::from(n) * 3);
        }
        assert_eq!(kind(&mut log, &batch(24)), ErrorKind::OutOfOrderSequence);
        append(&mut log, &batch(21)).unwrap();
    }
}

#[test]
fn replication_29_the_state_survives_truncation() {
    let mut log = log_with_batches(&disk(), 4);
    log.truncate_to(6, NOW).unwrap();
    assert_eq!(log.log_end_offset(), 6);
    assert!(append(&mut log, &batch(3)).unwrap().duplicate);
    assert_eq!(append(&mut log, &batch(6)).unwrap().first_offset, 6);
}

#[test]
fn replication_29_a_follower_learns_the_state_from_the_batches() {
    let leader = log_with_batches(&disk(), 6);
    let mut follower = open(&disk(), options(LogConfig::default()));
    let records = leader.reader().read(0, usize::MAX, i64::MAX, true).unwrap().records;
    follower.append_as_follower(records, NOW).unwrap();
    let again = follower.append_as_leader(batch(9).bytes(), 1, AppendOrigin::Client, NOW).unwrap();
    assert_eq!((again.duplicate, again.first_offset), (true, 9));
}

#[test]
fn replication_29_the_state_survives_rolled_segments_and_retention() {
    let fs = disk();
    let config = LogConfig { retention_bytes: 0, ..small_segments(300) };
    let mut log = open(&fs, options(config.clone()));
    for n in 0..20 {
        append(&mut log, &batch(n * 3)).unwrap();
    }
    log.delete_old_segments(NOW, i64::MAX).unwrap();
    assert_eq!(log.log_start_offset(), log.log_end_offset());
    log.close().unwrap();
    let mut log = open(&fs, LogOptions { clean_shutdown: true, ..options(config) });
    assert_eq!(
        kind(&mut log, &batch(63)),
        ErrorKind::OutOfOrderSequence,
        "the records are gone, the state is not"
    );
    append(&mut log, &batch(60)).unwrap();
}

#[test]
fn replication_29_the_last_five_batches_are_known_after_a_restart_whatever_segments_they_are_in() {
    for clean in [true, false] {
        let fs = disk();
        let mut log = open(&fs, options(small_segments(300)));
        for n in 0..8 {
            append(&mut log, &batch(n * 3)).unwrap();
        }
        assert!(log.segment_base_offsets().len() > 2, "the last five are in several segments");
        let mut log = reopened(&fs, log, clean);
        for n in 3..8 {
            assert!(append(&mut log, &batch(n * 3)).unwrap().duplicate, "batch {n}, clean: {clean}");
        }
        append(&mut log, &batch(24)).unwrap();
    }
}
