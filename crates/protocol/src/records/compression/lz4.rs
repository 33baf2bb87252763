//! The LZ4 frame format. Frames are put together here, around lz4_flex's block codec, because its own frame reader
//! zeroes a whole block's worth of memory, up to 4 MiB, for the smallest batch.
//!
//! Kafka writes independent blocks of 64 KiB without checksums (KIP-57 fixed the header's); other clients choose
//! larger blocks, linked blocks and checksums, and all of that is read. Frames that need a dictionary are refused.

use lz4_flex::block::{
    CompressTable, DecompressError, compress_into_with_table, decompress_into_with_dict,
    get_maximum_output_size,
};
use twox_hash::XxHash32;

use super::{Compression, RecordsError};

const MAGIC: u32 = 0x184D_2204;

/// The low four bits of a skippable frame's magic number are free.
const SKIPPABLE_MAGIC: u32 = 0x184D_2A50;

const VERSION_MASK: u8 = 0xC0;
const VERSION: u8 = 0x40;
const INDEPENDENT_FLAG: u8 = 0x20;
const BLOCK_CHECKSUM_FLAG: u8 = 0x10;
const CONTENT_SIZE_FLAG: u8 = 0x08;
const CONTENT_CHECKSUM_FLAG: u8 = 0x04;
const RESERVED_FLAG: u8 = 0x02;
const DICTIONARY_FLAG: u8 = 0x01;

/// The code of 64 KiB in the block descriptor.
const BLOCK_CODE: u8 = 4;
const BLOCK: usize = 64 * 1024;

/// The high bit of a block's size: it is stored as it is.
const STORED: u32 = 1 << 31;

/// How far back a linked block may reach.
const WINDOW: usize = 64 * 1024;

/// The most bytes that one compressed byte can stand for.
const MAX_RATIO: usize = 255;

pub(super) fn compress(input: &[u8], out: &mut Vec<u8>) {
    let descriptor = [VERSION | INDEPENDENT_FLAG, BLOCK_CODE << 4];
    out.extend_from_slice(&MAGIC.to_le_bytes());
    out.extend_from_slice(&descriptor);
    out.push(header_checksum(&descriptor));
    let mut table = CompressTable::large();
    for block in input.chunks(BLOCK) {
        let start = out.len();
        out.resize(start + 4 + get_maximum_output_size(block.len()), 0);
        let written = out
            .get_mut(start + 4..)
            .and_then(|room| compress_into_with_table(block, room, &mut table).ok())
            .filter(|written| *written < block.len());
        let size = match written {
            Some(written) => {
                out.truncate(start + 4 + written);
                written as u32
            }
            None => {
                out.truncate(start + 4);
                out.extend_from_slice(block);
                block.len() as u32 | STORED
            }
        };
        if let Some(field) = out.get_mut(start..start + 4) {
            field.copy_from_slice(&size.to_le_bytes());
        }
    }
    // The end mark: a block of no bytes.
    out.extend_from_slice(&0u32.to_le_bytes());
}

pub(super) fn decompress(mut input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), RecordsError> {
    let mut left = limit;
    while !input.is_empty() {
        match u32::from_le_bytes(take(&mut input)?) {
            MAGIC => {
                let frame = Frame::read(&mut input)?;
                frame.decompress(&mut input, limit, &mut left, out)?;
            }
            magic if magic & 0xFFFF_FFF0 == SKIPPABLE_MAGIC => {
                let length = u32::from_le_bytes(take(&mut input)?) as usize;
                take_slice(&mut input, length)?;
            }
            _ => return Err(failed("not an lz4 frame")),
        }
    }
    Ok(())
}

/// What a frame's header says.
struct Frame {
    independent: bool,
    block_checksums: bool,
    content_checksum: bool,
    content_size: Option<u64>,
    max_block: usize,
}

impl Frame {
    /// Reads a header, whose magic number has been read, off the front of `input`.
    fn read(input: &mut &[u8]) -> Result<Self, RecordsError> {
        let whole = *input;
        let [flags, block] = take(input)?;
        if flags & VERSION_MASK != VERSION || flags & RESERVED_FLAG != 0 {
            return Err(failed("an unknown version of the frame's header"));
        }
        let content_size = match flags & CONTENT_SIZE_FLAG {
            0 => None,
            _ => Some(u64::from_le_bytes(take(input)?)),
        };
        if flags & DICTIONARY_FLAG != 0 {
            return Err(failed("the frame needs a dictionary"));
        }
        let descriptor = whole.get(..whole.len() - input.len()).unwrap_or_default();
        let [checksum] = take(input)?;
        if checksum != header_checksum(descriptor) {
            return Err(failed("the frame's header does not match its checksum"));
        }
        let max_block = match block >> 4 {
            code @ 4..=7 => BLOCK << (2 * (code - BLOCK_CODE)),
            _ => return Err(failed("an unknown block size")),
        };
        Ok(Self {
            independent: flags & INDEPENDENT_FLAG != 0,
            block_checksums: flags & BLOCK_CHECKSUM_FLAG != 0,
            content_checksum: flags & CONTENT_CHECKSUM_FLAG != 0,
            content_size,
            max_block,
        })
    }

    fn decompress(
        &self,
        input: &mut &[u8],
        limit: usize,
        left: &mut usize,
        out: &mut Vec<u8>,
    ) -> Result<(), RecordsError> {
        let start = out.len();
        loop {
            let size = u32::from_le_bytes(take(input)?);
            if size == 0 {
                break;
            }
            let block = take_slice(input, (size & !STORED) as usize)?;
            if block.len() > self.max_block {
                return Err(failed("a block is larger than the frame allows"));
            }
            if self.block_checksums && u32::from_le_bytes(take(input)?) != XxHash32::oneshot(0, block) {
                return Err(failed("a block does not match its checksum"));
            }
            let before = out.len();
            if size & STORED == 0 {
                let history =
                    if self.independent { before } else { start.max(before.saturating_sub(WINDOW)) };
                self.decompress_block(block, history, limit, *left, out)?;
            } else if block.len() > *left {
                return Err(RecordsError::InflatesPast { limit });
            } else {
                out.extend_from_slice(block);
            }
            *left -= out.len() - before;
        }
        let content = out.get(start..).unwrap_or_default();
        if self.content_checksum && u32::from_le_bytes(take(input)?) != XxHash32::oneshot(0, content) {
            return Err(failed("the content does not match its checksum"));
        }
        if self.content_size.is_some_and(|size| size != content.len() as u64) {
            return Err(failed("the content is not of the size that the frame says"));
        }
        Ok(())
    }

    /// Appends what one compressed block inflates to; it may refer to what is in `out` from `history` on.
    fn decompress_block(
        &self,
        block: &[u8],
        history: usize,
        limit: usize,
        left: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), RecordsError> {
        let start = out.len();
        let possible = self.max_block.min(block.len().saturating_mul(MAX_RATIO));
        out.resize(start + possible.min(left), 0);
        let (before, room) = out.split_at_mut_checked(start).unwrap_or_default();
        let history = before.get(history..).unwrap_or_default();
        match decompress_into_with_dict(block, room, history) {
            Ok(written) => {
                out.truncate(start + written);
                Ok(())
            }
            Err(DecompressError::OutputTooSmall { .. }) if left < possible => {
                Err(RecordsError::InflatesPast { limit })
            }
            Err(error) => Err(failed(&error.to_string())),
        }
    }
}

/// The second byte of the descriptor's XXH32.
fn header_checksum(descriptor: &[u8]) -> u8 {
    (XxHash32::oneshot(0, descriptor) >> 8) as u8
}

fn take<const N: usize>(input: &mut &[u8]) -> Result<[u8; N], RecordsError> {
    let (taken, rest) = input.split_first_chunk().ok_or_else(cut_off)?;
    *input = rest;
    Ok(*taken)
}

fn take_slice<'a>(input: &mut &'a [u8], length: usize) -> Result<&'a [u8], RecordsError> {
    let (taken, rest) = input.split_at_checked(length).ok_or_else(cut_off)?;
    *input = rest;
    Ok(taken)
}

fn cut_off() -> RecordsError {
    failed("the frame is cut off")
}

fn failed(reason: &str) -> RecordsError {
    RecordsError::Decompress { codec: Compression::Lz4, reason: reason.to_owned() }
}
