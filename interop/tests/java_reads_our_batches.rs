//! Batches as `milena-protocol` writes them, read by the Java client.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use milena_interop::tools;
use milena_protocol::records::{BatchBuilder, Compression, Header, Seal};

/// Enough to give every codec more than one of its blocks (lz4's and snappy's are 64 and 32 KiB).
const RECORDS: u32 = 5_000;

#[test]
fn java_reads_what_every_codec_writes() -> Result<()> {
    if !tools::available() {
        return Ok(());
    }
    let mut batches = String::new();
    let mut wanted = String::new();
    for codec in Compression::ALL {
        let mut builder = BatchBuilder::new(Vec::new());
        for number in 0..RECORDS {
            append(&mut builder, &mut wanted, codec.name(), number);
        }
        let seal = Seal {
            producer_id: 7,
            producer_epoch: 1,
            base_sequence: 10,
            base_offset: 100,
            ..Seal::default()
        };
        let batch = builder.compress(codec, None, Vec::new())?.seal(seal);
        _ = writeln!(batches, "{} {}", codec.name(), hex(&batch));
    }
    let checker = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../crates/protocol/tests/golden_records/CheckRecords.java");
    let read = tools::run_source(&checker, &[], batches.as_bytes())?.text()?;
    for (read, wanted) in read.lines().zip(wanted.lines()) {
        assert_eq!(read, wanted);
    }
    assert_eq!(read.lines().count(), wanted.lines().count());
    Ok(())
}

/// Appends a record, and to `wanted` the line that Java is to print for it: nulls, empty ones and repeated headers in turn.
fn append(builder: &mut BatchBuilder, wanted: &mut String, codec: &str, number: u32) {
    let text = format!("record {number}");
    let timestamp = 1_700_000_000_000 + i64::from(number % 7);
    let key = (!number.is_multiple_of(3)).then_some(text.as_bytes());
    let value = (!number.is_multiple_of(5))
        .then(|| &text.as_bytes()[..if number.is_multiple_of(4) { 0 } else { text.len() }]);
    let all = [Header { key: "a", value: Some(b"1") }, Header { key: "a", value: None }];
    let headers = &all[..(number % 3) as usize];
    builder.append(timestamp, key, value, headers);

    let (offset, sequence) = (100 + number, 10 + number);
    let headers = ["-", "61=31", "61=31,61=-"][headers.len()];
    _ = writeln!(wanted, "{codec} {offset} {timestamp} {sequence} {} {} {headers}", shown(key), shown(value));
}

fn shown(bytes: Option<&[u8]>) -> String {
    match bytes {
        None => "-".to_owned(),
        Some([]) => "\"\"".to_owned(),
        Some(bytes) => hex(bytes),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut hex, byte| {
        _ = write!(hex, "{byte:02x}");
        hex
    })
}
