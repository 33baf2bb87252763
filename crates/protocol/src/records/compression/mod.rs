//! The codecs of a batch's body, as Kafka reads and writes them.
//!
//! | codec | written | read |
//! |---|---|---|
//! | gzip | one member | any number of members |
//! | snappy | xerial framing, blocks of 32 KiB | xerial framing, or one raw snappy block |
//! | lz4 | one frame: independent blocks of 64 KiB, no checksum of the content | any frame |
//! | zstd | one frame | any number of frames |
//!
//! Reading takes memory as the output grows and stops at the caller's limit; a size that the input claims is never
//! believed.

use std::fmt;
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::RecordsError;

mod gzip;
mod lz4;
mod snappy;
mod zstd;

/// The codec of a batch's body (`CompressionType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Compression {
    /// The records as they are.
    #[default]
    None,
    /// gzip (RFC 1952).
    Gzip,
    /// Snappy in the framing of snappy-java ("xerial").
    Snappy,
    /// The LZ4 frame format.
    Lz4,
    /// Zstandard (RFC 8878, KIP-110).
    Zstd,
}

impl Compression {
    /// Every codec, in the order of their ids.
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// The codec with this id in a batch's attributes.
    ///
    /// # Errors
    /// [`RecordsError::UnknownCompression`] for an id that Kafka does not know.
    pub fn from_id(id: i16) -> Result<Self, RecordsError> {
        match id {
            0 => Ok(Self::None),
            1 => Ok(Self::Gzip),
            2 => Ok(Self::Snappy),
            3 => Ok(Self::Lz4),
            4 => Ok(Self::Zstd),
            other => Err(RecordsError::UnknownCompression(other)),
        }
    }

    /// The id in a batch's attributes.
    pub fn id(self) -> i16 {
        match self {
            Self::None => 0,
            Self::Gzip => 1,
            Self::Snappy => 2,
            Self::Lz4 => 3,
            Self::Zstd => 4,
        }
    }

    /// The name in `compression.type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// The levels that Kafka's `compression.<codec>.level` takes (KIP-390); `None` for codecs without.
    ///
    /// How much they change depends on the library. The pure-Rust lz4 has one level, and the pure-Rust zstd two
    /// ("store", for levels below 0, and about zstd's level 1 for all others); feature `zstd-c` honours them all.
    pub fn levels(self) -> Option<RangeInclusive<i32>> {
        match self {
            Self::None | Self::Snappy => None,
            Self::Gzip => Some(1..=9),
            Self::Lz4 => Some(1..=17),
            Self::Zstd => Some(-131_072..=22),
        }
    }

    /// The level when none is configured (KIP-390).
    pub fn default_level(self) -> Option<i32> {
        match self {
            Self::None | Self::Snappy => None,
            Self::Gzip => Some(6),
            Self::Lz4 => Some(9),
            Self::Zstd => Some(3),
        }
    }

    fn checked_level(self, level: Option<i32>) -> Result<Option<i32>, RecordsError> {
        let Some(level) = level else { return Ok(self.default_level()) };
        match self.levels() {
            Some(levels) if !levels.contains(&level) => {
                Err(RecordsError::Level { codec: self, level, min: *levels.start(), max: *levels.end() })
            }
            Some(_) => Ok(Some(level)),
            // A level for a codec without levels is ignored, as Kafka ignores it.
            None => Ok(None),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A codec name that Kafka does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown compression type {0:?}: use none, gzip, snappy, lz4 or zstd")]
pub struct UnknownCompressionName(String);

impl FromStr for Compression {
    type Err = UnknownCompressionName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|codec| codec.name() == name)
            .ok_or_else(|| UnknownCompressionName(name.to_owned()))
    }
}

/// Appends `input` to `out`, compressed. See [`Compression::levels`] for `level`.
///
/// # Errors
/// [`RecordsError::Level`].
pub fn compress(
    codec: Compression,
    level: Option<i32>,
    input: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), RecordsError> {
    let level = codec.checked_level(level)?;
    match codec {
        Compression::None => out.extend_from_slice(input),
        Compression::Gzip => gzip::compress(level, input, out),
        Compression::Snappy => snappy::compress(input, out),
        Compression::Lz4 => lz4::compress(input, out),
        Compression::Zstd => zstd::compress(level, input, out),
    }
    Ok(())
}

/// Appends what `input` inflates to, at most `limit` bytes, to `out`.
///
/// # Errors
/// [`RecordsError::InflatesPast`] for more than `limit` bytes, [`RecordsError::Decompress`] for input that is not
/// the codec's. What was inflated by then is left in `out`.
pub fn decompress(
    codec: Compression,
    input: &[u8],
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), RecordsError> {
    match codec {
        Compression::None if input.len() > limit => Err(RecordsError::InflatesPast { limit }),
        Compression::None => {
            out.extend_from_slice(input);
            Ok(())
        }
        Compression::Gzip => gzip::decompress(input, limit, out),
        Compression::Snappy => snappy::decompress(input, limit, out),
        Compression::Lz4 => lz4::decompress(input, limit, out),
        Compression::Zstd => zstd::decompress(input, limit, out),
    }
}

/// Reads `reader` to its end into `out`, but not more than `limit` bytes.
fn read_limited(
    codec: Compression,
    reader: impl Read,
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), RecordsError> {
    // One byte more than the limit tells "exactly the limit" from "past it".
    let mut reader = reader.take((limit as u64).saturating_add(1));
    let read = reader.read_to_end(out).map_err(|error| failed(codec, &error))?;
    if read > limit { Err(RecordsError::InflatesPast { limit }) } else { Ok(()) }
}

fn failed(codec: Compression, error: &io::Error) -> RecordsError {
    RecordsError::Decompress { codec, reason: error.to_string() }
}
