//! What a record costs in the producer's hot path, and what a batch costs after it: `cargo bench -p milena-protocol`.
//!
//! Plain timing of many rounds, the best of several: enough to see a change of a tenth, without a harness.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods)]

use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use milena_protocol::records::{BatchBuilder, Compression, Header, RecordBatch, Seal, compression};

const ROUNDS: usize = 100;
const RECORDS: u32 = 2_000;

fn main() {
    println!("{:<44} {:>12} {:>12}", "", "per record", "per second");
    append("append, 100 B value", 100, None, &[]);
    append("append, 100 B value, 16 B key", 100, Some(&[7; 16]), &[]);
    append(
        "append, 100 B value, two headers",
        100,
        None,
        &[header("trace", b"0123456789"), header("v", b"1")],
    );
    append("append, 10 B value", 10, None, &[]);
    append("append, 1 KiB value", 1024, None, &[]);
    seal();
    read("read, 100 B values", &[]);
    read("read, 100 B values, two headers", &[header("trace", b"0123456789"), header("v", b"1")]);
    for (name, data) in [("json", json()), ("noise", noise())] {
        for codec in Compression::ALL.into_iter().skip(1) {
            codecs(name, codec, &data);
        }
    }
}

fn append(name: &str, size: usize, key: Option<&[u8]>, headers: &[Header<'_>]) {
    let value = vec![b'x'; size];
    let mut buffer = Vec::with_capacity(RECORDS as usize * (size + 64));
    let seconds = best(|| {
        let mut builder = BatchBuilder::new(std::mem::take(&mut buffer));
        for i in 0..RECORDS {
            builder.append(
                black_box(1_700_000_000_000 + i64::from(i / 100)),
                black_box(key),
                black_box(Some(&value)),
                black_box(headers),
            );
        }
        buffer = builder.into_buffer();
    });
    report(name, seconds, f64::from(RECORDS), buffer.len() as f64);
}

fn seal() {
    let builder = filled(&[]);
    let mut buffer = builder.clone().seal(Seal::default());
    let seconds = best(|| {
        // Sealing takes the builder's own buffer; what costs is the checksum, which reading computes as well.
        let batch = RecordBatch::parse(&mut Bytes::from(std::mem::take(&mut buffer))).unwrap();
        batch.check_crc().unwrap();
        buffer = batch.into_bytes().into();
    });
    report("CRC-32C of a batch", seconds, f64::from(RECORDS), builder.len() as f64);
}

fn read(name: &str, headers: &[Header<'_>]) {
    let sealed = Bytes::from(filled(headers).seal(Seal::default()));
    let size = sealed.len();
    let seconds = best(|| {
        let batch = RecordBatch::parse(&mut sealed.clone()).unwrap();
        for record in batch.records(usize::MAX).unwrap() {
            black_box(record.unwrap());
        }
    });
    report(name, seconds, f64::from(RECORDS), size as f64);
}

fn codecs(name: &str, codec: Compression, data: &[u8]) {
    let mut out = Vec::new();
    let seconds = best(|| {
        out.clear();
        compression::compress(codec, None, data, &mut out).unwrap();
    });
    let percent = 100.0 * out.len() as f64 / data.len() as f64;
    report(&format!("{codec}: compress {name} to {percent:.1} %"), seconds, 1.0, data.len() as f64);
    let mut back = Vec::new();
    let seconds = best(|| {
        back.clear();
        compression::decompress(codec, &out, usize::MAX, &mut back).unwrap();
    });
    assert_eq!(back, data);
    report(&format!("{codec}: decompress {name}"), seconds, 1.0, data.len() as f64);
}

fn filled(headers: &[Header<'_>]) -> BatchBuilder {
    let mut builder = BatchBuilder::new(Vec::new());
    for i in 0..RECORDS {
        builder.append(1_700_000_000_000 + i64::from(i / 100), None, Some(&[b'x'; 100]), headers);
    }
    builder
}

/// 256 KiB of lines that look like events.
fn json() -> Vec<u8> {
    let mut data = Vec::new();
    let mut state = 1u64;
    while data.len() < 256 * 1024 {
        state = next(state);
        let (id, place, magnitude) = (state >> 40, state % 37, state % 90);
        data.extend_from_slice(
            format!(
                r#"{{"id":"nc{id}","time":{},"place":"{place} km NW of Somewhere, CA","mag":{}.{}}}"#,
                1_700_000_000_000u64 + (state >> 30),
                magnitude / 10,
                magnitude % 10
            )
            .as_bytes(),
        );
    }
    data
}

/// 256 KiB that no codec makes smaller.
fn noise() -> Vec<u8> {
    let mut state = 1u64;
    let mut words = vec![0u64; 32 * 1024];
    for word in &mut words {
        state = next(state);
        *word = state ^ (state >> 29);
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn next(state: u64) -> u64 {
    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

fn header<'a>(key: &'a str, value: &'a [u8]) -> Header<'a> {
    Header { key, value: Some(value) }
}

/// The least seconds that one round of `work` took.
fn best(mut work: impl FnMut()) -> f64 {
    (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

fn report(name: &str, seconds: f64, records: f64, bytes: f64) {
    let each = if records > 1.0 { format!("{:.1} ns", seconds / records * 1e9) } else { String::new() };
    println!("{name:<44} {each:>12} {:>7.2} GB/s", bytes / seconds / 1e9);
}
