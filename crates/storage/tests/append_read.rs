//! Appending and reading: offsets, rolling, what is refused, what readers get.

#![allow(clippy::unwrap_used)]

mod common;

use bytes::{Bytes, BytesMut};
use common::*;
use milena_protocol::records::{
    BatchHeader, Compression, EndTransactionMarker, RecordBatch, Seal, TimestampType,
};
use milena_storage::{AppendOrigin, ErrorKind, Log, LogConfig, LogOptions, StorageError};

#[test]
fn offsets_follow_each_other_and_every_read_size_gives_every_record() {
    let mut log = open(&disk(), options(small_segments(4096)));
    let mut expected = Vec::new();
    for n in 0..200 {
        let batch = Batch::numbered(&format!("batch-{n}"), n % 7 + 1);
        let info = append(&mut log, &batch).unwrap();
        assert_eq!(info.first_offset, expected.len() as i64);
        assert_eq!(info.last_offset - info.first_offset + 1, batch.values.len() as i64);
        expected.extend(
            batch.values.into_iter().zip(expected.len() as i64..).map(|(value, offset)| (offset, value)),
        );
    }
    assert!(log.segment_base_offsets().len() > 5, "it rolled: {:?}", log.segment_base_offsets());
    for max_bytes in [1, 100, 1000, 10_000, usize::MAX] {
        assert_eq!(read_all(&log, max_bytes), expected, "reads of {max_bytes}");
    }
    assert_eq!(log.log_end_offset(), expected.len() as i64);
}

#[test]
fn a_read_starts_with_the_batch_that_contains_the_offset_and_ends_before_the_bound() {
    let mut log = open(&disk(), options(LogConfig::default()));
    for n in 0..10 {
        append(&mut log, &Batch::numbered(&format!("batch-{n}"), 10)).unwrap();
    }
    let reader = log.reader();
    let data = reader.read(35, usize::MAX, 70, true).unwrap();
    assert_eq!((data.first_offset, data.next_offset), (30, 70));
    let all = decode(&data.records);
    assert_eq!((all[0].0, all.len()), (30, 40));
    let batch_bytes = data.records.len() / 4;

    let two = reader.read(30, batch_bytes * 2 + 5, i64::MAX, true).unwrap();
    assert_eq!(two.next_offset, 50, "only whole batches");
    assert_eq!(reader.read(30, 10, i64::MAX, true).unwrap().next_offset, 40, "at least one");
    let none = reader.read(30, 10, i64::MAX, false).unwrap();
    assert_eq!((none.records.len(), none.next_offset), (0, 30), "unless it need not be");
    assert!(reader.read(70, 100, 70, true).unwrap().records.is_empty(), "nothing at the bound");
    assert!(reader.read(100, 100, i64::MAX, true).unwrap().records.is_empty(), "nothing at the end");
    for offset in [-1, 101, i64::MAX] {
        assert_eq!(reader.read(offset, 100, i64::MAX, true).unwrap_err().kind(), ErrorKind::OffsetOutOfRange);
    }
}

#[test]
fn leader_and_offsets_are_patched_and_the_checksum_still_holds() {
    let mut log = open(&disk(), options(LogConfig::default()));
    append(&mut log, &Batch::of(&["a"])).unwrap();
    log.append_as_leader(Batch::of(&["b", "c"]).bytes(), 7, AppendOrigin::Client, NOW).unwrap();
    let mut bytes = log.reader().read(1, 1000, i64::MAX, true).unwrap().records;
    let batch = RecordBatch::parse(&mut bytes).unwrap();
    batch.check_crc().unwrap();
    assert_eq!((batch.header().base_offset, batch.header().partition_leader_epoch), (1, 7));
    assert_eq!(log.leader_epochs().epoch_for_offset(2), Some(7));
    assert_eq!(log.leader_epochs().end_offset_for(0, log.log_end_offset()), Some((0, 1)));
}

/// Changes a batch's header and gives it the checksum that it then has.
fn tampered(batch: &Batch, change: impl Fn(&mut BatchHeader)) -> Bytes {
    let mut bytes = BytesMut::from(&batch.bytes()[..]);
    let mut header = BatchHeader::parse(&bytes).unwrap();
    change(&mut header);
    bytes[..61].copy_from_slice(&header.to_bytes());
    let crc = crc32c::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes.freeze()
}

#[test]
fn log_32_batches_that_kafka_refuses_are_refused_and_leave_nothing() {
    let config = LogConfig { max_message_bytes: 500, ..LogConfig::default() };
    let mut log = open(&disk(), options(config));
    let good = Batch::numbered("a", 3);
    let bytes = good.bytes();
    let flipped = |at: usize| {
        let mut bytes = BytesMut::from(&bytes[..]);
        bytes[at] ^= 1;
        bytes.freeze()
    };
    let two: Bytes = [&bytes[..], &bytes[..]].concat().into();
    let cases = [
        ("empty", Bytes::new(), ErrorKind::InvalidRecord),
        ("cut off", bytes.slice(..bytes.len() - 1), ErrorKind::CorruptMessage),
        ("bad CRC", flipped(bytes.len() - 1), ErrorKind::CorruptMessage),
        ("old format", flipped(16), ErrorKind::UnsupportedForMessageFormat),
        ("two batches", two, ErrorKind::InvalidRecord),
        ("max.message.bytes", Batch::numbered("large", 100).bytes(), ErrorKind::MessageTooLarge),
        ("count too small", tampered(&good, |header| header.record_count = 2), ErrorKind::InvalidRecord),
        ("delta too large", tampered(&good, |header| header.last_offset_delta = 9), ErrorKind::InvalidRecord),
        (
            "both wrong",
            tampered(&good, |header| (header.record_count, header.last_offset_delta) = (4, 3)),
            ErrorKind::InvalidRecord,
        ),
        ("no records", tampered(&good, |header| header.record_count = 0), ErrorKind::InvalidRecord),
        ("control", good.sealed(Seal { control: true, ..Seal::default() }), ErrorKind::InvalidRecord),
        (
            "transaction without producer",
            good.sealed(Seal { transactional: true, ..Seal::default() }),
            ErrorKind::InvalidRecord,
        ),
        ("producer without sequence", good.clone().produced_by(1, 0, -1).bytes(), ErrorKind::InvalidRecord),
        (
            "log append time from a producer",
            tampered(&good, |header| {
                header.attributes = header.attributes.with_timestamp_type(TimestampType::LogAppendTime);
            }),
            ErrorKind::InvalidRecord,
        ),
        ("unknown codec", tampered(&good, |header| header.attributes.0 |= 7), ErrorKind::CorruptMessage),
    ];
    for (name, bytes, kind) in cases {
        let error = log.append_as_leader(bytes, 0, AppendOrigin::Client, NOW).unwrap_err();
        assert_eq!(error.kind(), kind, "{name}: {error}");
    }
    assert_eq!((log.log_end_offset(), log.size()), (0, 0));
    append(&mut log, &good).unwrap();
}

#[test]
fn log_32_timestamps_outside_the_topics_range_are_refused() {
    let config = LogConfig {
        message_timestamp_before_max_ms: 1000,
        message_timestamp_after_max_ms: 2000,
        ..LogConfig::default()
    };
    let mut log = open(&disk(), options(config));
    for timestamp in [NOW - 1000, NOW, NOW + 2000, -1] {
        append(&mut log, &Batch::of(&["fine"]).at(timestamp)).unwrap();
    }
    for (timestamp, key) in
        [(NOW - 1001, "before"), (NOW + 2001, "after"), (i64::MAX, "after"), (i64::MIN, "before")]
    {
        let error = append(&mut log, &Batch::of(&["off"]).at(timestamp)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidTimestamp);
        assert!(error.to_string().contains(key), "{error}");
    }
}

#[test]
fn log_32_log_append_time_is_the_brokers_clock_for_every_record() {
    let config = LogConfig { message_timestamp_type: TimestampType::LogAppendTime, ..LogConfig::default() };
    let mut log = open(&disk(), options(config));
    for compression in [Compression::None, Compression::Lz4] {
        let batch = Batch::numbered("a", 3).at(5).compressed(compression);
        let info = append(&mut log, &batch).unwrap();
        assert_eq!((info.log_append_time, info.max_timestamp), (Some(NOW), NOW));
        let mut bytes = log.reader().read(info.first_offset, 1000, i64::MAX, true).unwrap().records;
        let batch = RecordBatch::parse(&mut bytes).unwrap();
        batch.check_crc().unwrap();
        assert!(batch.records(1 << 20).unwrap().all(|record| record.unwrap().timestamp == NOW));
    }
}

#[test]
fn a_compacted_topic_refuses_records_without_a_key() {
    let config = LogConfig::from_pairs([("cleanup.policy", "compact")]).unwrap();
    let mut log = open(&disk(), options(config));
    append(&mut log, &Batch::of(&["with key"])).unwrap();
    let mut builder = milena_protocol::records::BatchBuilder::new(Vec::new());
    builder.append(NOW, None, Some(b"no key"), &[]);
    let bytes = builder.seal(Seal::default());
    let error = log.append_as_leader(bytes.into(), 0, AppendOrigin::Client, NOW).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRecord);
}

#[test]
fn segments_roll_by_time_too() {
    let config = LogConfig { segment_ms: 1000, ..LogConfig::default() };
    let mut log = open(&disk(), options(config));
    for timestamp in [NOW, NOW + 1000, NOW + 1001, NOW + 1500, NOW + 2002] {
        append(&mut log, &Batch::of(&["a"]).at(timestamp)).unwrap();
    }
    assert_eq!(log.segment_base_offsets(), [0, 2, 4]);
}

#[test]
fn segments_roll_when_an_index_is_full() {
    let config = LogConfig { segment_index_bytes: 8 * 5, index_interval_bytes: 0, ..LogConfig::default() };
    let mut log = open(&disk(), options(config));
    for n in 0..20 {
        append(&mut log, &Batch::of(&["a"]).at(NOW + n)).unwrap();
    }
    assert!(log.segment_base_offsets().len() >= 4, "{:?}", log.segment_base_offsets());
    assert_eq!(read_all(&log, 1).len(), 20);
}

#[test]
fn a_leader_notes_an_epoch_that_it_writes_nothing_in_and_a_truncation_forgets_it() {
    let mut log = open(&disk(), options(LogConfig::default()));
    log.append_as_leader(Batch::of(&["a"]).bytes(), 1, AppendOrigin::Client, NOW).unwrap();
    log.assign_leader_epoch(4).unwrap();
    // Whoever has records of epoch 2 or 3 hears that there are none.
    let end_for = |log: &Log, epoch| log.leader_epochs().end_offset_for(epoch, log.log_end_offset());
    assert_eq!(end_for(&log, 3), Some((1, 1)));
    assert_eq!(end_for(&log, 4), Some((4, 1)));
    log.truncate_to(1, NOW).unwrap();
    assert_eq!(log.log_end_offset(), 1);
    assert_eq!(log.leader_epochs().latest_epoch(), Some(1));
    assert_eq!(end_for(&log, 3), None);
}

#[test]
fn a_follower_keeps_offsets_and_epochs_and_refuses_to_go_back() {
    let mut leader = open(&disk(), options(small_segments(1000)));
    for epoch in 0..30 {
        leader
            .append_as_leader(Batch::numbered("a", 3).bytes(), epoch / 10, AppendOrigin::Client, NOW)
            .unwrap();
    }
    let mut follower = open(&disk(), options(small_segments(700)));
    while follower.log_end_offset() < leader.log_end_offset() {
        let data = leader.reader().read(follower.log_end_offset(), 500, i64::MAX, true).unwrap();
        // A leader may cut its answer anywhere.
        let cut = data.records.slice(..data.records.len() - 7);
        let appended = follower.append_as_follower(cut, NOW).unwrap();
        if appended.is_none_or(|info| info.last_offset + 1 < data.next_offset) {
            let rest = leader.reader().read(follower.log_end_offset(), 1, i64::MAX, true).unwrap();
            follower.append_as_follower(rest.records, NOW).unwrap();
        }
    }
    assert_eq!(read_all(&follower, 1000), read_all(&leader, 1000));
    assert_eq!(follower.leader_epochs().entries(), leader.leader_epochs().entries());
    let again = leader.reader().read(0, 1000, i64::MAX, true).unwrap().records;
    let error = follower.append_as_follower(again, NOW).unwrap_err();
    assert!(matches!(error, StorageError::UnexpectedAppendOffset { offset: 0, end: 90 }), "{error}");
}

#[test]
fn log_32_a_follower_can_start_inside_of_a_batch_as_its_leader_does_after_delete_records() {
    let mut leader = open(&disk(), options(LogConfig::default()));
    for name in ["a", "b", "c"] {
        append(&mut leader, &Batch::numbered(name, 10)).unwrap();
    }
    leader.delete_records(14, i64::MAX).unwrap();
    let fs = disk();
    let mut follower = open(&fs, options(LogConfig::default()));
    follower.truncate_fully_and_start_at(14, NOW).unwrap();
    let fetched = leader.reader().read(14, 1, i64::MAX, true).unwrap().records;
    let appended = follower.append_as_follower(fetched.clone(), NOW).unwrap().unwrap();
    assert_eq!((appended.first_offset, appended.last_offset, appended.log_start_offset), (10, 19, 14));
    assert_eq!((follower.log_start_offset(), follower.log_end_offset()), (14, 20));
    let error = follower.append_as_follower(fetched, NOW).unwrap_err();
    assert!(matches!(error, StorageError::UnexpectedAppendOffset { offset: 10, end: 20 }), "{error}");
    let rest = leader.reader().read(20, 1, i64::MAX, true).unwrap().records;
    follower.append_as_follower(rest, NOW).unwrap();
    assert_eq!(read_all(&follower, 1000), read_all(&leader, 1000));
    // One that has records before its end does not start anew.
    let mut other = open(&disk(), options(LogConfig::default()));
    append(&mut other, &Batch::numbered("x", 14)).unwrap();
    let fetched = leader.reader().read(14, 1, i64::MAX, true).unwrap().records;
    let error = other.append_as_follower(fetched, NOW).unwrap_err();
    assert!(matches!(error, StorageError::UnexpectedAppendOffset { offset: 10, end: 14 }), "{error}");
}

#[test]
fn timestamps_lead_to_the_first_record_that_is_not_older() {
    for compression in [Compression::None, Compression::Gzip] {
        let mut log = open(&disk(), options(small_segments(2000)));
        for n in 0..100 {
            append(&mut log, &Batch::numbered("a", 5).at(NOW + n * 10).compressed(compression)).unwrap();
        }
        let find = |timestamp| {
            log.reader().offset_for_timestamp(timestamp).unwrap().map(|found| (found.timestamp, found.offset))
        };
        assert!(log.segment_base_offsets().len() > 3);
        assert_eq!(find(0), Some((NOW, 0)));
        assert_eq!(find(NOW + 503), Some((NOW + 503, 253)));
        assert_eq!(find(NOW + 507), Some((NOW + 510, 255)), "between batches");
        assert_eq!(find(NOW + 994), Some((NOW + 994, 499)));
        assert_eq!(find(NOW + 995), None);
        let max = log.reader().offset_of_max_timestamp().unwrap().unwrap();
        assert_eq!((max.timestamp, max.offset, max.leader_epoch), (NOW + 994, 499, 0));
        log.delete_records(254, i64::MAX).unwrap();
        assert_eq!(log.reader().offset_for_timestamp(0).unwrap().map(|found| found.offset), Some(254));
    }
}

#[test]
fn control_batches_end_transactions() {
    let mut log = open(&disk(), options(LogConfig::default()));
    append(&mut log, &Batch::of(&["before"])).unwrap();
    let transactional =
        Batch::of(&["in"]).produced_by(5, 0, 0).sealed(Seal { transactional: true, ..Seal::default() });
    // `sealed` keeps the producer's identity over the seal's.
    log.append_as_leader(transactional, 0, AppendOrigin::Client, NOW).unwrap();
    assert_eq!(log.first_unstable_offset(), Some(1));
    let marker = EndTransactionMarker { commit: true, coordinator_epoch: 3 }.to_batch(NOW, 5, 0, Vec::new());
    log.append_as_leader(marker.into(), 0, AppendOrigin::Coordinator, NOW).unwrap();
    assert_eq!(log.first_unstable_offset(), None);
    assert_eq!(log.producer_state().last_entry(5).map(|entry| entry.coordinator_epoch), Some(3));
}

#[test]
fn a_reader_sees_appends_that_came_after_it() {
    let mut log = open(&disk(), LogOptions { config: small_segments(200), ..LogOptions::default() });
    let reader = log.reader();
    for n in 0..20 {
        append(&mut log, &Batch::of(&["a value of some length"])).unwrap();
        assert_eq!(reader.read(n, 1000, i64::MAX, true).unwrap().next_offset, n + 1);
    }
}

#[test]
fn readers_beside_an_appender_see_whole_batches_in_order() {
    const BATCHES: i64 = 3000;
    let mut log = open(&disk(), options(small_segments(20_000)));
    let readers: Vec<_> = (0..2).map(|_| log.reader()).collect();
    std::thread::scope(|scope| {
        for reader in readers {
            scope.spawn(move || {
                let mut offset = 0;
                while offset < BATCHES * 2 {
                    let data = reader.read(offset, 700, i64::MAX, true).unwrap();
                    for (at, value) in decode(&data.records) {
                        assert_eq!((at, value), (offset, format!("{offset}")));
                        offset += 1;
                    }
                    assert_eq!(offset, data.next_offset);
                }
            });
        }
        for n in 0..BATCHES {
            let batch = Batch::of(&[&format!("{}", n * 2), &format!("{}", n * 2 + 1)]);
            append(&mut log, &batch).unwrap();
        }
    });
}
