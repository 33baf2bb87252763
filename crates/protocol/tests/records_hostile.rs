//! Bytes that nobody should have sent: cut off, flipped, random, and made to inflate without end. Nothing panics, and
//! nothing allocates more than the limit that was given (and a small constant for the codecs' tables).
#![allow(clippy::unwrap_used)] // In helpers as in tests: a panic is a failed test.
#![allow(unsafe_code)] // A counting allocator cannot be written without it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bytes::Bytes;
use milena_protocol::records::{
    Attributes, BatchBuilder, BatchHeader, Compression, Header, RecordBatch, RecordBatches, RecordsError,
    Seal, compression, reseal, split,
};
use proptest::collection::vec;
use proptest::prelude::*;

const LIMIT: usize = 1 << 20;

/// What decoders keep beside the output: tables, a window, one block. A `Vec` that grows holds the old and the new.
const OVERHEAD: usize = 4 * LIMIT + (1 << 20);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn bombs_stop_at_the_limit_without_its_memory() {
    for codec in Compression::ALL {
        for (name, bomb) in bombs(codec) {
            let mut out = Vec::new();
            let (result, peak) = peak(|| compression::decompress(codec, &bomb, LIMIT, &mut out));
            assert_eq!(result, Err(RecordsError::InflatesPast { limit: LIMIT }), "{codec}, {name}");
            assert!(peak < OVERHEAD, "{codec}, {name}: {peak} bytes allocated");
        }
    }
}

#[test]
fn bombs_in_a_batch_are_told_from_damage() {
    for codec in Compression::ALL.into_iter().skip(1) {
        for (name, bomb) in bombs(codec) {
            let batch = batch_of(codec, 1, &bomb);
            let refused = batch.records(LIMIT).map(drop);
            assert_eq!(refused, Err(RecordsError::InflatesPast { limit: LIMIT }), "{codec}, {name}");
        }
    }
}

#[test]
fn what_inflates_to_exactly_the_limit_is_read() {
    for codec in Compression::ALL {
        for size in [0, 1, 1000, 70_000, 300_000] {
            let data = vec![b'x'; size];
            let mut compressed = Vec::new();
            compression::compress(codec, None, &data, &mut compressed).unwrap();
            let mut out = Vec::new();
            compression::decompress(codec, &compressed, size, &mut out).unwrap();
            assert_eq!(out, data, "{codec} {size}");
            if size > 0 {
                let past = compression::decompress(codec, &compressed, size - 1, &mut Vec::new());
                assert_eq!(past, Err(RecordsError::InflatesPast { limit: size - 1 }), "{codec} {size}");
            }
        }
    }
}

#[test]
fn field_25_a_record_count_is_not_believed() {
    let sealed = sample(Compression::None).into_bytes();
    let mut header = BatchHeader::parse(&sealed).unwrap();
    header.record_count = i32::MAX;
    let bytes = [&header.to_bytes()[..], &sealed[61..]].concat();
    let batch = RecordBatch::parse(&mut Bytes::from(bytes)).unwrap();
    let (records, peak) = peak(|| batch.records(LIMIT).unwrap().collect::<Vec<_>>());
    assert!(records.last().unwrap().is_err());
    assert_eq!(
        records.iter().filter(|record| record.is_err()).count(),
        1,
        "the first error is the last item"
    );
    assert!(peak < 64 * 1024, "{peak} bytes allocated");
}

#[test]
fn lengths_inside_a_record_are_not_believed() {
    // length, attributes, timestamp delta, offset delta, key, value, header count
    let cases: [(&str, &[u8]); 12] = [
        ("a record that ends before its length", &[40, 0, 0, 0, 1, 1, 0]),
        ("a negative length", &[1, 0, 0, 0, 1, 1, 0]),
        ("an empty record", &[0]),
        ("a record longer than its fields", &[14, 0, 0, 0, 1, 1, 0, 0]),
        ("a key past the end", &[12, 0, 0, 0, 100, 1, 0]),
        ("a value past the record, inside the batch", &[12, 0, 0, 0, 1, 4, 0, 0, 0, 0]),
        ("headers that are not there", &[12, 0, 0, 0, 1, 1, 2]),
        ("2^30 headers", &[20, 0, 0, 0, 1, 1, 0xfe, 0xff, 0xff, 0xff, 0x0f]),
        ("a negative header count", &[12, 0, 0, 0, 1, 1, 1]),
        ("a header with a null key", &[16, 0, 0, 0, 1, 1, 2, 1, 1]),
        ("a varint without end", &[22, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0, 0]),
        ("bytes after the last record", &[12, 0, 0, 0, 1, 1, 0, 0]),
    ];
    for (name, body) in cases {
        let last = batch_of(Compression::None, 1, body).records(LIMIT).unwrap().last();
        assert!(matches!(last, Some(Err(RecordsError::Malformed { .. }))), "{name}: {last:?}");
    }
    let good = batch_of(Compression::None, 1, &[12, 0, 0, 0, 1, 1, 0]);
    assert!(good.records(LIMIT).unwrap().all(|record| record.is_ok()));
}

#[test]
fn every_truncation_of_a_batch_is_an_error_or_the_end() {
    for codec in Compression::ALL {
        let whole = sample(codec).into_bytes();
        for length in 0..whole.len() {
            let cut = whole.slice(..length);
            let parsed = RecordBatch::parse(&mut cut.clone());
            assert!(matches!(parsed, Err(RecordsError::Truncated { .. })), "{codec} {length}");
            let mut batches = RecordBatches::new(cut);
            assert!(batches.next().is_none(), "{codec} {length}");
            assert_eq!(batches.truncated().is_some(), length > 0);
        }
        // The body cut off, the header saying so: the codec or the records must notice.
        for length in 1..whole.len() - 61 {
            let batch = batch_of(codec, 3, &whole[61..whole.len() - length]);
            let complete = batch.records(LIMIT).is_ok_and(|mut records| records.all(|record| record.is_ok()));
            // gzip's and zstd's checksums, and lz4's end mark, come after the last byte of the content; a cut through
            // them is an error too.
            assert!(!complete, "{codec}: {length} bytes less");
        }
    }
}

#[test]
fn old_formats_end_the_iteration_with_their_name() {
    let mut bytes = sample(Compression::None).into_bytes().to_vec();
    let good = bytes.clone();
    for magic in [0, 1, 3] {
        bytes[16] = magic;
        let mut batches = RecordBatches::new(Bytes::from([&good[..], &bytes, &good].concat()));
        assert!(batches.next().unwrap().is_ok());
        assert_eq!(batches.next(), Some(Err(RecordsError::UnsupportedMagic(magic.cast_signed()))));
        assert_eq!(batches.next(), None);
        assert_eq!(batches.truncated(), None);
    }
}

#[test]
fn unknown_codecs_are_named() {
    let mut header = *sample(Compression::None).header();
    header.attributes = Attributes(6);
    let batch = RecordBatch::parse(&mut Bytes::from([&header.to_bytes()[..], &[0; 400]].concat())).unwrap();
    assert_eq!(batch.records(LIMIT).map(drop), Err(RecordsError::UnknownCompression(6)));
}

#[test]
fn a_flipped_bit_anywhere_under_the_checksum_is_noticed() {
    let whole = sample(Compression::None).into_bytes();
    for at in 17..whole.len() {
        for bit in 0..8 {
            let mut flipped = whole.to_vec();
            flipped[at] ^= 1 << bit;
            // A flip in the counts may already be refused when parsed.
            if let Ok(batch) = RecordBatch::parse(&mut Bytes::from(flipped)) {
                assert!(
                    matches!(batch.check_crc(), Err(RecordsError::BadCrc { .. })),
                    "bit {bit} of byte {at}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bits_never_panic(codec in codec(), flips in vec((any::<prop::sample::Index>(), 0u8..8), 1..8)) {
        let mut bytes = sample(codec).into_bytes().to_vec();
        for (index, bit) in flips {
            let at = index.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        use_all(&bytes);
    }

    #[test]
    fn random_bodies_never_panic(codec in codec(), body in vec(any::<u8>(), 0..300)) {
        use_all(batch_of(codec, 3, &body).bytes());
        let _ = compression::decompress(codec, &body, 10_000, &mut Vec::new());
    }

    #[test]
    fn random_blocks_behind_a_good_start_never_panic(codec in codec(), keep in 0usize..40, tail in vec(any::<u8>(), 0..300)) {
        let good = sample(codec).into_bytes();
        let body = [&good[61..good.len().min(61 + keep)], &tail].concat();
        use_all(batch_of(codec, 3, &body).bytes());
    }

    #[test]
    fn random_bytes_never_panic(bytes in vec(any::<u8>(), 0..400)) {
        use_all(&bytes);
    }
}

/// Everything that reads, on these bytes.
fn use_all(bytes: &[u8]) {
    let _ = reseal(bytes, 1, 1, 1, Vec::new());
    let mut batches = RecordBatches::new(Bytes::copy_from_slice(bytes));
    for batch in batches.by_ref().flatten() {
        let _ = (batch.check_crc(), batch.control_type(), split(&batch, 100, None, LIMIT));
        if let Ok(records) = batch.records(LIMIT) {
            for record in records.flatten() {
                let _ = format!("{record:?}");
            }
        }
        let _ = batch.with_log_append_time(7).check_crc();
    }
    let _ = batches.truncated();
}

/// Small inputs that inflate to far more than the limit, or say that they do.
fn bombs(codec: Compression) -> Vec<(&'static str, Vec<u8>)> {
    let zeroes = vec![0; 64 << 20];
    let mut honest = Vec::new();
    compression::compress(codec, None, &zeroes, &mut honest).unwrap();
    let mut bombs = vec![("64 MiB of zeroes", honest)];
    match codec {
        // 16 MiB and 128 MiB of window, single-segment claims of 1 GiB; blocks of 128 KiB of zeroes in 4 bytes each.
        Compression::Zstd => {
            let blocks = [0x02, 0x00, 0x10, 0x00].repeat(256);
            for (name, header) in [
                ("32 MiB in 1 KiB, a window of 16 MiB", &[0x28, 0xb5, 0x2f, 0xfd, 0x00, 14 << 3][..]),
                ("32 MiB in 1 KiB, a window of 128 MiB", &[0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3]),
                ("32 MiB in 1 KiB, a content size of 64 MiB", &[0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 4]),
            ] {
                bombs.push((name, [header, &blocks].concat()));
            }
        }
        Compression::Snappy => {
            bombs.push(("1 GiB by a raw block's word", vec![0x80, 0x80, 0x80, 0x80, 0x04, 0, 0, 0, 0]));
        }
        Compression::Lz4 => {
            // A block of 4 MiB whose only sequence is a match of 255 bytes for each byte, a thousand times over.
            let mut block = vec![0x1f, 0, 1, 0];
            block.extend([0xff; 16_000]);
            block.extend([0, 0x50, 0, 0, 0, 0, 0]);
            let mut frame = vec![0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73];
            for _ in 0..20 {
                frame.extend((block.len() as u32).to_le_bytes());
                frame.extend(&block);
            }
            bombs.push(("4 MiB blocks", frame));
        }
        Compression::None | Compression::Gzip => {}
    }
    bombs
}

fn sample(codec: Compression) -> RecordBatch {
    let mut builder = BatchBuilder::new(Vec::new());
    let headers = [Header { key: "a", value: Some(b"1") }, Header { key: "a", value: None }];
    builder.append(1000, Some(b"key"), Some(b"value"), &headers);
    builder.append(900, None, None, &[]);
    builder.append(5_000_000, None, Some(&[b'x'; 200]), &[]);
    let sealed = builder.compress(codec, None, Vec::new()).unwrap().seal(Seal::default());
    RecordBatch::parse(&mut Bytes::from(sealed)).unwrap()
}

/// A batch that says to hold so many records and has this body.
fn batch_of(codec: Compression, record_count: i32, body: &[u8]) -> RecordBatch {
    let mut header = *sample(codec).header();
    header.batch_length = 49 + body.len() as i32;
    header.record_count = record_count;
    RecordBatch::parse(&mut Bytes::from([&header.to_bytes()[..], body].concat())).unwrap()
}

fn codec() -> impl Strategy<Value = Compression> {
    proptest::sample::select(&Compression::ALL)
}

/// Runs `work` and answers how many bytes more than before it held at its worst, on this thread.
fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = work();
    (result, usize::try_from(PEAK.get() - before).unwrap())
}

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, which counts what each thread holds.
struct Counting;

fn count(change: isize) {
    let held = HELD.get() + change;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

// SAFETY: every call goes to the system's allocator as it came; counting touches thread-local cells without
// destructors, which allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }
}
