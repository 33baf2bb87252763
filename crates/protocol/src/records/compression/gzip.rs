//! gzip on miniz_oxide.

use std::io::Write;

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::{Compression, RecordsError, read_limited};

pub(super) fn compress(level: Option<i32>, input: &[u8], out: &mut Vec<u8>) {
    let level = level.and_then(|level| u32::try_from(level).ok()).unwrap_or(6);
    let mut encoder = GzEncoder::new(out, flate2::Compression::new(level));
    // Writing into a Vec does not fail.
    let written = encoder.write_all(input).and_then(|()| encoder.try_finish());
    debug_assert!(written.is_ok());
}

pub(super) fn decompress(input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), RecordsError> {
    read_limited(Compression::Gzip, MultiGzDecoder::new(input), limit, out)
}
