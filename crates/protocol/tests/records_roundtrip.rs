//! What is written is read, for records of every shape and through every codec.
#![allow(clippy::unwrap_used)] // In helpers as in tests: a panic is a failed test.

use bytes::Bytes;
use milena_protocol::records::{
    BatchBuilder, Compression, Header, Record, RecordBatch, RecordBatches, RecordsError, Seal,
    increment_sequence, reseal, split,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

const LIMIT: usize = 16 << 20;

#[derive(Debug, Clone)]
struct Written {
    timestamp: i64,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<(String, Option<Vec<u8>>)>,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn records_survive_every_codec(written in vec(record(), 1..40), codec in codec()) {
        let batch = batch(&written, codec, seal());
        prop_assert_eq!(batch.check_crc(), Ok(()));
        prop_assert_eq!(batch.header().attributes.compression(), Ok(codec));
        prop_assert_eq!(batch.header().record_count as usize, written.len());
        assert_same(&read(&batch), &written)?;
    }

    #[test]
    fn the_size_of_a_record_is_known_before_it_is_appended(written in vec(record(), 1..40)) {
        let mut builder = BatchBuilder::new(Vec::new());
        for record in &written {
            let headers = headers(record);
            let (key, value) = (record.key.as_deref(), record.value.as_deref());
            let expected = builder.len() + builder.record_size(record.timestamp, key, value, &headers);
            builder.append(record.timestamp, key, value, &headers);
            prop_assert_eq!(builder.len(), expected);
        }
    }

    #[test]
    fn reading_a_record_and_writing_it_again_makes_the_same_bytes(written in vec(record(), 1..20)) {
        let builder = builder(&written);
        let batch = batch(&written, Compression::None, seal());
        let mut again = BatchBuilder::new(Vec::new());
        for record in read(&batch) {
            let expected = again.len() + again.size_of(&record);
            again.append_record(&record);
            prop_assert_eq!(again.len(), expected);
        }
        prop_assert_eq!(again.body(), builder.body());
        prop_assert_eq!(&again.seal(seal())[..], &batch.bytes()[..]);
    }

    #[test]
    fn split_pieces_hold_the_same_records_in_order(
        written in vec(record(), 2..40), codec in codec(), max_size in 61usize..4000,
    ) {
        let whole = batch(&written, codec, seal());
        let pieces = split(&whole, max_size, None, LIMIT).unwrap();
        prop_assert!(pieces.len() > 1);
        let mut joined = Vec::new();
        let mut sequence = seal().base_sequence;
        for piece in pieces {
            let count = piece.record_count();
            prop_assert_eq!(piece.compression(), codec);
            if codec == Compression::None {
                prop_assert!(piece.len() <= max_size || count == 1);
            }
            let sealed = piece.seal(Seal { base_sequence: sequence, ..seal() });
            let piece = RecordBatch::parse(&mut Bytes::from(sealed)).unwrap();
            prop_assert_eq!(piece.check_crc(), Ok(()));
            joined.extend(read(&piece));
            sequence = increment_sequence(piece.header().last_sequence(), 1);
        }
        assert_same(&joined, &written)?;
        prop_assert_eq!(sequence, increment_sequence(whole.header().last_sequence(), 1));
    }
}

#[test]
fn field_19_retried_bytes_are_frozen() {
    let written = [plain(5, "first"), plain(3, "second")];
    for codec in Compression::ALL {
        let sealed = batch(&written, codec, seal()).into_bytes();
        assert_eq!(batch(&written, codec, seal()).bytes(), &sealed, "{codec}: the same batch sealed again");

        let identity = seal();
        let same = reseal(
            &sealed,
            identity.producer_id,
            identity.producer_epoch,
            identity.base_sequence,
            vec![1, 2, 3],
        );
        assert_eq!(same.unwrap(), sealed, "{codec}: the same identity changes nothing");

        let bumped =
            RecordBatch::parse(&mut Bytes::from(reseal(&sealed, 77, 4, 0, Vec::new()).unwrap())).unwrap();
        assert_eq!(bumped.check_crc(), Ok(()));
        let header = bumped.header();
        assert_eq!((header.producer_id, header.producer_epoch, header.base_sequence), (77, 4, 0));
        assert_eq!(bumped.bytes()[61..], sealed[61..], "{codec}: an epoch bump leaves the records alone");
        // Only the CRC and the identity differ.
        assert_eq!(bumped.bytes()[..17], sealed[..17]);
        assert_eq!(bumped.bytes()[21..43], sealed[21..43]);
    }
}

#[test]
fn resealing_wants_exactly_one_batch() {
    let sealed = batch(&[plain(1, "v")], Compression::None, seal()).into_bytes().to_vec();
    let mut longer = sealed.clone();
    longer.push(0);
    assert!(matches!(reseal(&longer, 1, 1, 1, Vec::new()), Err(RecordsError::Malformed { .. })));
    let shorter = &sealed[..sealed.len() - 1];
    assert!(matches!(reseal(shorter, 1, 1, 1, Vec::new()), Err(RecordsError::Truncated { .. })));
    assert!(matches!(reseal(&[], 1, 1, 1, Vec::new()), Err(RecordsError::Truncated { .. })));
}

#[test]
fn field_23_header_keys_that_are_not_utf8_do_not_fail_the_record() {
    let mut bytes = batch_with_header("name", b"value").to_vec();
    let at = bytes.windows(4).position(|window| window == b"name").unwrap();
    bytes[at] = 0xff;
    let batch = RecordBatch::parse(&mut Bytes::from(bytes)).unwrap();
    let records = read(&batch);
    let header = records[0].headers.iter().next().unwrap();
    assert_eq!(header.key.as_bytes(), b"\xffame");
    assert!(header.key.as_str().is_err());
    assert_eq!(header.key.to_string_lossy(), "\u{fffd}ame");
    assert_eq!(header.value.as_deref(), Some(&b"value"[..]));

    // Nor are they changed when the record moves to another batch.
    let mut again = BatchBuilder::new(Vec::new());
    again.append_record(&records[0]);
    assert_eq!(again.body(), &batch.bytes()[61..]);
}

#[test]
fn buffers_are_used_again_without_allocation() {
    let buffer = Vec::with_capacity(4096);
    let at = buffer.as_ptr();
    let mut builder = BatchBuilder::new(buffer);
    assert_eq!((builder.len(), builder.capacity()), (61, 4096));
    assert_eq!(builder.append(7, None, Some(b"value"), &[]), 0);
    assert_eq!(builder.append(9, None, Some(b"value"), &[]), 1);
    assert_eq!((builder.record_count(), builder.base_timestamp(), builder.max_timestamp()), (2, 7, 9));
    let sealed = builder.seal(Seal::default());
    assert_eq!(sealed.as_ptr(), at);
    let builder = BatchBuilder::new(sealed);
    assert!(builder.is_empty() && builder.body().is_empty());
    let buffer = builder.into_buffer();
    assert_eq!((buffer.as_ptr(), buffer.capacity()), (at, 4096));
}

#[test]
fn levels_are_kafkas_and_others_are_refused() {
    let builder = builder(&[plain(1, "some value, some value, some value")]);
    for codec in Compression::ALL {
        assert_eq!(codec.name().parse(), Ok(codec));
        let Some(levels) = codec.levels() else { continue };
        for level in [*levels.start(), *levels.end()] {
            let compressed = builder.compress(codec, Some(level), Vec::new()).unwrap();
            let batch = RecordBatch::parse(&mut Bytes::from(compressed.seal(seal()))).unwrap();
            assert_eq!(read(&batch).len(), 1, "{codec} {level}");
        }
        for level in [levels.start() - 1, levels.end() + 1] {
            let refused = builder.compress(codec, Some(level), Vec::new()).unwrap_err();
            assert!(matches!(refused, RecordsError::Level { .. }), "{codec} {level}");
        }
    }
    assert!("GZIP".parse::<Compression>().is_err());
}

#[test]
fn compressing_does_not_touch_what_stands_in_the_reused_buffer() {
    let builder = builder(&[plain(1, "value")]);
    for codec in Compression::ALL {
        let fresh = builder.compress(codec, None, Vec::new()).unwrap().seal(seal());
        let reused = builder.compress(codec, None, vec![0xaa; 500]).unwrap().seal(seal());
        assert_eq!(fresh, reused, "{codec}");
    }
}

#[test]
fn large_values_cross_every_block_boundary() {
    // Blocks are 32 KiB in snappy, 64 KiB in lz4, 128 KiB in zstd.
    for size in [32 * 1024, 64 * 1024, 128 * 1024, 1usize << 20]
        .into_iter()
        .flat_map(|size| [size - 10, size, size + 1])
    {
        let value: String = (0..size as u64).map(|i| char::from(b'a' + (i * i / 7 % 23) as u8)).collect();
        for codec in Compression::ALL {
            let batch = batch(&[plain(1, &value)], codec, seal());
            assert_eq!(read(&batch)[0].value.as_deref(), Some(value.as_bytes()), "{codec} {size}");
        }
    }
}

fn record() -> impl Strategy<Value = Written> {
    let timestamp = prop_oneof![
        Just(-1i64),
        Just(0),
        Just(i64::MAX),
        1_699_999_999_000..1_700_000_001_000i64,
        0..i64::MAX
    ];
    let bytes = || {
        prop_oneof![
            4 => vec(any::<u8>(), 0..100),
            1 => (any::<u8>(), 0usize..20_000).prop_map(|(byte, size)| vec![byte; size]),
            1 => vec(any::<u8>(), 100..9000),
        ]
    };
    let header = (prop_oneof![Just("dup".to_owned()), ".{0,9}"], option::of(vec(any::<u8>(), 0..80)));
    (timestamp, option::of(bytes()), option::of(bytes()), vec(header, 0..5))
        .prop_map(|(timestamp, key, value, headers)| Written { timestamp, key, value, headers })
}

fn codec() -> impl Strategy<Value = Compression> {
    proptest::sample::select(&Compression::ALL)
}

fn seal() -> Seal {
    Seal { producer_id: 9, producer_epoch: 1, base_sequence: i32::MAX - 3, ..Seal::default() }
}

fn plain(timestamp: i64, value: &str) -> Written {
    Written { timestamp, key: None, value: Some(value.as_bytes().to_vec()), headers: Vec::new() }
}

fn headers(record: &Written) -> Vec<Header<'_>> {
    record.headers.iter().map(|(key, value)| Header { key, value: value.as_deref() }).collect()
}

fn builder(written: &[Written]) -> BatchBuilder {
    let mut builder = BatchBuilder::new(Vec::new());
    for record in written {
        builder.append(record.timestamp, record.key.as_deref(), record.value.as_deref(), &headers(record));
    }
    builder
}

fn batch(written: &[Written], codec: Compression, seal: Seal) -> RecordBatch {
    let sealed = builder(written).compress(codec, None, Vec::new()).unwrap().seal(seal);
    let mut batches = RecordBatches::new(Bytes::from(sealed));
    let batch = batches.next().unwrap().unwrap();
    assert!(batches.next().is_none() && batches.truncated().is_none());
    batch
}

fn batch_with_header(key: &str, value: &[u8]) -> Bytes {
    let mut builder = BatchBuilder::new(Vec::new());
    builder.append(1, None, None, &[Header { key, value: Some(value) }]);
    Bytes::from(builder.seal(seal()))
}

fn read(batch: &RecordBatch) -> Vec<Record> {
    batch.records(LIMIT).unwrap().map(Result::unwrap).collect()
}

fn assert_same(read: &[Record], written: &[Written]) -> Result<(), TestCaseError> {
    prop_assert_eq!(read.len(), written.len());
    for (read, written) in read.iter().zip(written) {
        prop_assert_eq!(read.timestamp, written.timestamp);
        prop_assert_eq!(read.key.as_deref(), written.key.as_deref());
        prop_assert_eq!(read.value.as_deref(), written.value.as_deref());
        prop_assert_eq!(read.headers.len(), written.headers.len());
        for (read, (key, value)) in read.headers.iter().zip(&written.headers) {
            prop_assert_eq!(read.key.as_str(), Ok(key.as_str()));
            prop_assert_eq!(read.value.as_deref(), value.as_deref());
        }
    }
    Ok(())
}
