//! Batches made by the Java client 4.4.0 (see golden_records/README.md): read as Java reads them, and where nothing is
//! compressed written byte for byte as Java writes them.
#![allow(clippy::unwrap_used)] // In helpers as in tests: a panic is a failed test.

use bytes::Bytes;
use milena_protocol::records::{
    BatchBuilder, BatchHeader, Compression, ControlType, EndTransactionMarker, Header, NO_SEQUENCE, Record,
    RecordBatch, RecordBatches, Seal, TimestampType, batch_size_upper_bound, compression, increment_sequence,
};

const GOLDEN: &str = include_str!("golden_records/golden.txt");
const EXPECTED: &str = include_str!("golden_records/expected.txt");
const LIMIT: usize = 1 << 20;

#[test]
fn every_record_reads_as_java_reads_it() {
    let found: Vec<String> = golden().iter().flat_map(|(name, batch)| describe_batch(name, batch)).collect();
    let expected: Vec<&str> = EXPECTED.lines().collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected);
    }
}

#[test]
fn every_batch_has_the_checksum_that_java_gave_it() {
    for (name, batch) in golden() {
        assert_eq!(batch.check_crc(), Ok(()), "{name}");
        assert_eq!(&batch.header().to_bytes()[..], &batch.bytes()[..61], "{name}");
    }
}

#[test]
fn the_same_records_make_the_same_bytes() {
    let mut builder = BatchBuilder::new(Vec::new());
    append_mixed(&mut builder);
    let seal = Seal { producer_id: 4711, producer_epoch: 3, base_sequence: 100, ..Seal::default() };
    let sealed = builder.clone().seal(Seal { base_offset: 42, partition_leader_epoch: 5, ..seal });
    assert_eq!(sealed, golden_bytes("mixed-none"));

    // What a leader patches is what Java wrote there.
    let sent = RecordBatch::parse(&mut Bytes::from(builder.seal(seal))).unwrap();
    let stored = [&sent.patch_prefix(42, 5)[..], &sent.bytes()[16..]].concat();
    assert_eq!(stored, golden_bytes("mixed-none"));

    let mut builder = BatchBuilder::new(sealed);
    builder.append(-1, None, Some(b"no timestamp"), &[]);
    assert_eq!(builder.seal(Seal::default()), golden_bytes("no-timestamp"));

    let mut builder = BatchBuilder::new(Vec::new());
    for (timestamp, value) in [(5, b"a"), (6, b"b"), (7, b"c")] {
        builder.append(timestamp, None, Some(value), &[]);
    }
    let sealed = builder.seal(Seal {
        producer_id: 12,
        producer_epoch: 1,
        base_sequence: i32::MAX - 1,
        transactional: true,
        partition_leader_epoch: 9,
        base_offset: 7,
        ..Seal::default()
    });
    assert_eq!(sealed, golden_bytes("transactional-wrapping-sequence"));
}

#[test]
fn field_24_log_append_time_is_every_records_timestamp() {
    for codec in Compression::ALL {
        let batch = find(&format!("log-append-time-{codec}"));
        assert_eq!(batch.header().attributes.timestamp_type(), TimestampType::LogAppendTime);
        let timestamps: Vec<i64> = records(&batch).iter().map(|record| record.timestamp).collect();
        assert_eq!(timestamps, [5000, 5000], "{codec}");
    }

    // A broker that stamps an arriving batch makes what Java makes.
    let mut builder = BatchBuilder::new(Vec::new());
    builder.append(1, None, Some(b"one"), &[]);
    builder.append(9_000, None, Some(b"two"), &[]);
    let arrived = builder.seal(Seal { base_offset: 10, ..Seal::default() });
    let stamped = RecordBatch::parse(&mut Bytes::from(arrived)).unwrap().with_log_append_time(5000);
    assert_eq!(stamped, find("log-append-time-none"));
    assert_eq!(stamped.check_crc(), Ok(()));
}

#[test]
fn field_23_header_values_of_any_bytes_keep_order_and_duplicates() {
    for codec in Compression::ALL {
        let records = records(&find(&format!("mixed-{codec}")));
        let headers = &records[1].headers;
        let keys: Vec<String> = headers.iter().map(|header| header.key.to_string()).collect();
        assert_eq!(keys, ["a", "a", "null", "", "bytes", "ключ"]);
        let values: Vec<Option<Bytes>> = headers.iter().map(|header| header.value).collect();
        assert_eq!(values[0].as_deref(), Some(&b"1"[..]));
        assert_eq!(values[1].as_deref(), Some(&b"2"[..]));
        assert_eq!(values[2], None);
        assert_eq!(values[3].as_deref(), Some(&b""[..]));
        assert_eq!(values[4].as_deref(), Some(&[0xff, 0, 0xc3][..]));
        assert_eq!(headers.last("a").unwrap().value.as_deref(), Some(&b"2"[..]));
    }
}

#[test]
fn control_batches_are_recognised_and_written_as_java_writes_them() {
    for (name, commit, offset, timestamp, epoch) in
        [("commit", true, 20, 1_600_000_000_000, 8), ("abort", false, 21, 1_600_000_000_001, 9)]
    {
        let batch = find(name);
        assert!(batch.is_control() && batch.header().attributes.is_transactional());
        let kind = if commit { ControlType::Commit } else { ControlType::Abort };
        assert_eq!(batch.control_type(), Ok(Some(kind)));
        let record = records(&batch).remove(0);
        let marker = EndTransactionMarker { commit, coordinator_epoch: epoch };
        assert_eq!(
            EndTransactionMarker::from_record(&record.key.unwrap(), &record.value.unwrap()),
            Ok(marker)
        );

        let ours = marker.to_batch(timestamp, 12, 1, Vec::new());
        let ours = RecordBatch::parse(&mut Bytes::from(ours)).unwrap();
        assert_eq!([&ours.patch_prefix(offset, 4)[..], &ours.bytes()[16..]].concat(), batch.bytes()[..]);
    }
    assert_eq!(find("mixed-none").control_type(), Ok(None));
}

#[test]
fn sequences_wrap_as_javas() {
    let header = *find("transactional-wrapping-sequence").header();
    assert_eq!((header.base_sequence, header.last_sequence(), header.last_offset()), (i32::MAX - 1, 0, 9));
}

#[test]
fn a_batch_emptied_by_compaction_keeps_its_offsets_and_has_no_records() {
    let batch = find("emptied-by-compaction");
    let header = batch.header();
    assert_eq!((header.base_offset, header.last_offset(), header.record_count), (30, 35, 0));
    assert_eq!(header.last_sequence(), 45);
    assert!(records(&batch).is_empty());
}

#[test]
fn a_delete_horizon_is_the_base_of_the_deltas() {
    let batch = find("delete-horizon");
    assert!(batch.header().attributes.has_delete_horizon());
    assert_eq!(batch.header().base_timestamp, 123_456);
    assert_eq!(records(&batch)[0].timestamp, 100_000);
}

#[test]
fn batches_in_a_row_are_split_at_their_ends_and_a_cut_one_is_left() {
    let all: Vec<u8> = golden().iter().flat_map(|(_, batch)| batch.bytes().to_vec()).collect();
    let last = golden().last().unwrap().1.bytes().len();
    for cut in 1..last {
        let mut batches = RecordBatches::new(Bytes::copy_from_slice(&all[..all.len() - cut]));
        let whole = batches.by_ref().map(Result::unwrap).count();
        assert_eq!(whole, golden().len() - 1);
        assert_eq!(batches.remaining().len(), last - cut);
        assert_eq!(batches.truncated(), Some(last));
        assert!(batches.next().is_none());
    }
    let mut batches = RecordBatches::new(Bytes::from(all));
    assert_eq!(batches.by_ref().map(Result::unwrap).count(), golden().len());
    assert_eq!(batches.truncated(), None);
}

#[test]
fn our_frames_start_as_javas() {
    // Snappy's and lz4's headers are all choices of the writer: framing, block size, checksums.
    for (codec, length) in [(Compression::Snappy, 16), (Compression::Lz4, 7), (Compression::Gzip, 4)] {
        let java = find(&format!("mixed-{codec}"));
        let mut ours = Vec::new();
        compression::compress(codec, None, b"anything", &mut ours).unwrap();
        assert_eq!(ours[..length], java.bytes()[61..61 + length], "{codec}");
    }
}

#[test]
fn the_upper_bound_is_never_passed() {
    for (value, headers) in [(0, 0), (1, 1), (63, 3), (64, 70), (9000, 2)] {
        let value = vec![7; value];
        let header = Header { key: "key", value: Some(b"value") };
        let headers = vec![header; headers];
        let mut builder = BatchBuilder::new(Vec::new());
        builder.append(i64::MAX, Some(b"key"), Some(&value), &headers);
        assert!(builder.len() <= batch_size_upper_bound(Some(b"key"), Some(&value), &headers));
    }
}

fn golden() -> Vec<(String, RecordBatch)> {
    let parse = |(name, hex): (&str, &str)| {
        let mut bytes = Bytes::from(unhex(hex));
        let batch = RecordBatch::parse(&mut bytes).unwrap();
        assert!(bytes.is_empty(), "{name} is one batch");
        (name.to_owned(), batch)
    };
    GOLDEN.lines().map(|line| parse(line.split_once(' ').unwrap())).collect()
}

fn find(name: &str) -> RecordBatch {
    golden().into_iter().find(|(found, _)| found == name).unwrap().1
}

fn golden_bytes(name: &str) -> Vec<u8> {
    find(name).into_bytes().to_vec()
}

fn records(batch: &RecordBatch) -> Vec<Record> {
    batch.records(LIMIT).unwrap().map(Result::unwrap).collect()
}

/// As `appendMixed` in GenerateRecords.java.
fn append_mixed(builder: &mut BatchBuilder) {
    let headers = [
        Header { key: "a", value: Some(b"1") },
        Header { key: "a", value: Some(b"2") },
        Header { key: "null", value: None },
        Header { key: "", value: Some(b"") },
        Header { key: "bytes", value: Some(&[0xff, 0, 0xc3]) },
        Header { key: "ключ", value: Some("значение".as_bytes()) },
    ];
    builder.append(1000, Some(b"k0"), Some(b"v0"), &[]);
    builder.append(999, None, Some(b"v1"), &headers);
    builder.append(1_700_000_000_000, Some(b""), None, &[]);
    let pattern: Vec<u8> = (0..9000u32).map(|i| (i * 31 % 251) as u8).collect();
    builder.append(1001, Some(&[0xff, 0]), Some(&pattern), &[]);
    for i in 0..100 {
        builder.append(1002 + i, None, Some(format!("record {i}").as_bytes()), &[]);
    }
}

/// The lines that CheckRecords.java prints for this batch.
fn describe_batch(name: &str, batch: &RecordBatch) -> Vec<String> {
    records(batch).iter().map(|record| format!("{name} {}", describe(record, batch.header()))).collect()
}

fn describe(record: &Record, batch: &BatchHeader) -> String {
    let delta = (record.offset - batch.base_offset) as i32;
    let sequence =
        if batch.base_sequence < 0 { NO_SEQUENCE } else { increment_sequence(batch.base_sequence, delta) };
    let headers: Vec<String> = record
        .headers
        .iter()
        .map(|header| format!("{}={}", bytes(Some(header.key.as_bytes())), bytes(header.value.as_deref())))
        .collect();
    let headers = if headers.is_empty() { "-".to_owned() } else { headers.join(",") };
    let (key, value) = (bytes(record.key.as_deref()), bytes(record.value.as_deref()));
    format!("{} {} {sequence} {key} {value} {headers}", record.offset, record.timestamp)
}

fn bytes(bytes: Option<&[u8]>) -> String {
    match bytes {
        None => "-".to_owned(),
        Some([]) => "\"\"".to_owned(),
        Some(bytes) if bytes.len() > 32 => format!("{}#{:08x}", bytes.len(), crc32c::crc32c(bytes)),
        Some(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

fn unhex(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks_exact(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}
