//! Zstandard: on ruzstd, or with feature `zstd-c` on the C library.

#[cfg(feature = "zstd-c")]
pub(super) use c::{compress, decompress};
#[cfg(not(feature = "zstd-c"))]
pub(super) use rust::{compress, decompress};

#[cfg(not(feature = "zstd-c"))]
mod rust {
    use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
    use ruzstd::encoding::CompressionLevel;

    use super::super::{Compression, RecordsError};
    use super::frame::{Frame, next_frame};

    pub(in super::super) fn compress(level: Option<i32>, input: &[u8], out: &mut Vec<u8>) {
        let level = match level {
            Some(..0) => CompressionLevel::Uncompressed,
            _ => CompressionLevel::Fastest,
        };
        ruzstd::encoding::compress(input, out, level);
    }

    pub(in super::super) fn decompress(
        mut input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), RecordsError> {
        let start = out.len();
        while let Some(frame) = next_frame(&mut input)? {
            decompress_frame(&frame, &mut input, start, limit, out)?;
        }
        Ok(())
    }

    /// Decodes one frame, whose header has been read, from the front of `input`.
    fn decompress_frame(
        frame: &Frame,
        input: &mut &[u8],
        start: usize,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), RecordsError> {
        let frame_start = out.len();
        let failed = |error: &dyn std::fmt::Display| failed(error.to_string());
        // A new decoder for each frame: one that is used again reserves the whole window at once.
        let mut decoder = FrameDecoder::new();
        decoder.init(&frame.header_within(limit)[..]).map_err(|error| failed(&error))?;
        while !decoder.is_finished() {
            decoder
                .decode_blocks(&mut *input, BlockDecodingStrategy::UptoBlocks(1))
                .map_err(|error| failed(&error))?;
            if out.len() - start + decoder.can_collect() > limit {
                return Err(RecordsError::InflatesPast { limit });
            }
            decoder.collect_to_writer(&mut *out).map_err(|error| failed(&error))?;
        }
        if frame.content_size.is_some_and(|size| size != (out.len() - frame_start) as u64) {
            return Err(failed(&"the content is not of the size that the frame says"));
        }
        if decoder.get_checksum_from_data().is_some_and(|sum| Some(sum) != decoder.get_calculated_checksum())
        {
            return Err(failed(&"the content does not match its checksum"));
        }
        Ok(())
    }

    fn failed(reason: String) -> RecordsError {
        RecordsError::Decompress { codec: Compression::Zstd, reason }
    }
}

#[cfg(not(feature = "zstd-c"))]
mod frame {
    //! Frame headers (RFC 8878, 3.1.1.1), read here because the decoder keeps a whole window of what it decoded
    //! before it gives any of it away, and the header decides how large that is.

    use super::super::{Compression, RecordsError};

    const MAGIC: u32 = 0xFD2F_B528;

    /// The low four bits of a skippable frame's magic number are free.
    const SKIPPABLE_MAGIC: u32 = 0x184D_2A50;

    /// What zstd's own decoder allows, and with it Kafka: 128 MiB.
    const MAX_WINDOW: u64 = 1 << 27;

    /// No block is larger, whatever the window.
    const MAX_BLOCK: u64 = 128 * 1024;

    const CHECKSUM_FLAG: u8 = 0x04;
    const SINGLE_SEGMENT_FLAG: u8 = 0x20;

    /// What a frame's header says.
    #[derive(Debug, PartialEq, Eq)]
    pub(super) struct Frame {
        /// Whether a checksum of the content follows the last block.
        checksum: bool,
        /// Bytes that matches may reach back.
        window: u64,
        /// Bytes of content, when the header says.
        pub(super) content_size: Option<u64>,
    }

    impl Frame {
        /// A header for the same blocks with a window no larger than output within `limit` can make use of: such
        /// output never reaches further back than its own size, and more than that is an error anyway.
        pub(super) fn header_within(&self, limit: usize) -> [u8; 6] {
            let window = self.window.min((limit as u64).max(MAX_BLOCK));
            let [m0, m1, m2, m3] = MAGIC.to_le_bytes();
            [m0, m1, m2, m3, if self.checksum { CHECKSUM_FLAG } else { 0 }, window_descriptor(window)]
        }
    }

    /// The smallest window that the descriptor's 5 bits of exponent and 3 of mantissa can say and that holds `window`.
    fn window_descriptor(window: u64) -> u8 {
        (0..=u8::MAX).find(|descriptor| window_size(*descriptor) >= window).unwrap_or(u8::MAX)
    }

    fn window_size(descriptor: u8) -> u64 {
        let base = 1u64 << (10 + (descriptor >> 3));
        base + base / 8 * u64::from(descriptor & 7)
    }

    /// Reads the next frame's header off the front of `input`, passing over skippable frames; `None` at the end.
    pub(super) fn next_frame(input: &mut &[u8]) -> Result<Option<Frame>, RecordsError> {
        while !input.is_empty() {
            match u32::from_le_bytes(take(input)?) {
                MAGIC => return frame(input).map(Some),
                magic if magic & 0xFFFF_FFF0 == SKIPPABLE_MAGIC => {
                    let length = u32::from_le_bytes(take(input)?) as usize;
                    *input = input.get(length..).ok_or_else(cut_off)?;
                }
                _ => return Err(failed("not a zstd frame")),
            }
        }
        Ok(None)
    }

    fn frame(input: &mut &[u8]) -> Result<Frame, RecordsError> {
        let [descriptor] = take(input)?;
        if descriptor & 0x08 != 0 {
            return Err(failed("a reserved bit of the frame's header is set"));
        }
        let single_segment = descriptor & SINGLE_SEGMENT_FLAG != 0;
        let window = if single_segment { None } else { Some(window_size(take::<1>(input)?[0])) };
        let dictionary = match descriptor & 3 {
            0 => 0,
            1 => u32::from(take::<1>(input)?[0]),
            2 => u32::from(u16::from_le_bytes(take(input)?)),
            _ => u32::from_le_bytes(take(input)?),
        };
        if dictionary != 0 {
            return Err(failed("the frame needs a dictionary"));
        }
        let content_size = match descriptor >> 6 {
            0 if single_segment => Some(u64::from(take::<1>(input)?[0])),
            0 => None,
            // The two-byte form starts where the one-byte form ends.
            1 => Some(u64::from(u16::from_le_bytes(take(input)?)) + 256),
            2 => Some(u64::from(u32::from_le_bytes(take(input)?))),
            _ => Some(u64::from_le_bytes(take(input)?)),
        };
        let window = window.or(content_size).unwrap_or(0);
        if window > MAX_WINDOW {
            return Err(failed("the frame's window is larger than 128 MiB"));
        }
        Ok(Frame { checksum: descriptor & CHECKSUM_FLAG != 0, window, content_size })
    }

    fn take<const N: usize>(input: &mut &[u8]) -> Result<[u8; N], RecordsError> {
        let (taken, rest) = input.split_first_chunk().ok_or_else(cut_off)?;
        *input = rest;
        Ok(*taken)
    }

    fn cut_off() -> RecordsError {
        failed("the frame's header is cut off")
    }

    fn failed(reason: &str) -> RecordsError {
        RecordsError::Decompress { codec: Compression::Zstd, reason: reason.to_owned() }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn window_descriptors_round_up() {
            for (window, descriptor) in
                [(0, 0), (1024, 0), (1025, 1), (128 * 1024, 7 << 3), (1 << 27, 17 << 3)]
            {
                assert_eq!(window_descriptor(window), descriptor, "{window}");
                assert!(window_size(descriptor) >= window);
            }
        }

        #[test]
        fn a_window_is_cut_to_the_limit() {
            let frame = Frame { checksum: true, window: MAX_WINDOW, content_size: None };
            let header = frame.header_within(1 << 20);
            let mut rest = &header[..];
            let read = next_frame(&mut rest).unwrap().unwrap();
            assert_eq!(read, Frame { checksum: true, window: 1 << 20, content_size: None });
            assert!(rest.is_empty());
        }
    }
}

#[cfg(feature = "zstd-c")]
mod c {
    use std::io::Write;

    use zstd::stream::{read::Decoder, write::Encoder};

    use super::super::{Compression, RecordsError, failed, read_limited};

    pub(in super::super) fn compress(level: Option<i32>, input: &[u8], out: &mut Vec<u8>) {
        // Level 0 is the library's word for its default. Writing into a Vec does not fail.
        let written = Encoder::new(out, level.unwrap_or(0)).and_then(|mut encoder| {
            encoder.write_all(input)?;
            encoder.finish()
        });
        debug_assert!(written.is_ok());
    }

    pub(in super::super) fn decompress(
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), RecordsError> {
        let decoder = Decoder::with_buffer(input).map_err(|error| failed(Compression::Zstd, &error))?;
        read_limited(Compression::Zstd, decoder, limit, out)
    }
}
