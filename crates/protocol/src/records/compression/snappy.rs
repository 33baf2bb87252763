//! Snappy in the framing of snappy-java, which every Kafka client writes: a 16-byte header, then blocks of at most
//! 32 KiB, each behind its compressed length (i32, big-endian). Some clients write one raw snappy block instead;
//! snappy-java reads that too, and so does this.

use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};

use super::{Compression, RecordsError};

/// "\x82SNAPPY\0", the version, the oldest version that can read it.
const HEADER: [u8; 16] = *b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01";

/// The start of the header, which another header in the middle of a stream is known by.
const MAGIC: [u8; 8] = *b"\x82SNAPPY\0";

/// What snappy-java puts into one block.
const BLOCK: usize = 32 * 1024;

/// The most bytes that one compressed byte can stand for: a copy of 64 bytes takes 3.
const MAX_RATIO: usize = 22;

pub(super) fn compress(input: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&HEADER);
    let mut encoder = Encoder::new();
    for block in input.chunks(BLOCK) {
        let start = out.len();
        out.resize(start + 4 + max_compress_len(block.len()), 0);
        // The output has room for the worst case and the input is short: there is no other way to fail.
        let written = out.get_mut(start + 4..).map_or(0, |room| encoder.compress(block, room).unwrap_or(0));
        out.truncate(start + 4 + written);
        if let Some(length) = out.get_mut(start..start + 4) {
            length.copy_from_slice(&(written as u32).to_be_bytes());
        }
    }
}

pub(super) fn decompress(input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), RecordsError> {
    let mut left = limit;
    if !input.starts_with(&MAGIC) {
        return block(input, limit, &mut left, out);
    }
    let mut rest = input;
    while !rest.is_empty() {
        if rest.starts_with(&MAGIC) {
            rest = rest.get(HEADER.len()..).ok_or_else(|| failed("the stream's header is cut off"))?;
            continue;
        }
        let (length, after) =
            rest.split_first_chunk().ok_or_else(|| failed("a block's length is cut off"))?;
        let length = u32::from_be_bytes(*length) as usize;
        let (compressed, after) =
            after.split_at_checked(length).ok_or_else(|| failed("a block is longer than the stream"))?;
        block(compressed, limit, &mut left, out)?;
        rest = after;
    }
    Ok(())
}

fn block(compressed: &[u8], limit: usize, left: &mut usize, out: &mut Vec<u8>) -> Result<(), RecordsError> {
    let length = decompress_len(compressed).map_err(|error| failed(&error.to_string()))?;
    *left = left.checked_sub(length).ok_or(RecordsError::InflatesPast { limit })?;
    if length > compressed.len().saturating_mul(MAX_RATIO) {
        return Err(failed("a block claims more than its bytes can hold"));
    }
    let start = out.len();
    out.resize(start + length, 0);
    let room = out.get_mut(start..).unwrap_or_default();
    Decoder::new().decompress(compressed, room).map_err(|error| failed(&error.to_string()))?;
    Ok(())
}

fn failed(reason: &str) -> RecordsError {
    RecordsError::Decompress { codec: Compression::Snappy, reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_framing_is_xerials() {
        let input = vec![7u8; BLOCK + 1];
        let mut out = Vec::new();
        compress(&input, &mut out);
        assert_eq!(out[..8], MAGIC);
        assert_eq!(out[8..16], [0, 0, 0, 1, 0, 0, 0, 1]);
        let first = u32::from_be_bytes(out[16..20].try_into().unwrap()) as usize;
        assert_eq!(decompress_len(&out[20..20 + first]).unwrap(), BLOCK);
        assert_eq!(decompress_len(&out[24 + first..]).unwrap(), 1);
    }

    #[test]
    fn raw_blocks_and_joined_streams_are_read() {
        let raw = Encoder::new().compress_vec(b"raw snappy").unwrap();
        let mut out = Vec::new();
        decompress(&raw, 100, &mut out).unwrap();
        assert_eq!(out, b"raw snappy");

        let mut joined = Vec::new();
        compress(b"one ", &mut joined);
        compress(b"two", &mut joined);
        let mut out = Vec::new();
        decompress(&joined, 100, &mut out).unwrap();
        assert_eq!(out, b"one two");
    }

    #[test]
    fn a_claimed_length_is_not_believed() {
        // 1 GiB by the preamble's word, four bytes in fact.
        let liar = [0x80, 0x80, 0x80, 0x80, 0x04, 0, 0, 0, 0];
        let mut out = Vec::new();
        assert_eq!(decompress(&liar, 1 << 20, &mut out), Err(RecordsError::InflatesPast { limit: 1 << 20 }));
        assert!(matches!(decompress(&liar, usize::MAX, &mut out), Err(RecordsError::Decompress { .. })));
        assert_eq!(out.capacity(), 0);
    }
}
