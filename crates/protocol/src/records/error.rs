use super::Compression;

/// What is wrong with record bytes, or with what was asked of them.
///
/// All but [`Level`](RecordsError::Level) blame the peer or the disk: the bytes are not what Kafka writes. Kafka
/// answers such bytes with CORRUPT_MESSAGE (a bad checksum or length), UNSUPPORTED_FOR_MESSAGE_FORMAT (an old
/// format) or INVALID_RECORD.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// The bytes end before the batch does. Normal at the end of a fetch answer, damage elsewhere.
    #[error("the batch is cut off: {needed} bytes needed, {available} there")]
    Truncated {
        /// Bytes that the batch takes by its own header (or the header's size when not even that is there).
        needed: usize,
        /// Bytes that are there.
        available: usize,
    },
    /// The checksum in the header is not that of the bytes: they were damaged on the way or on the disk.
    #[error("bad CRC-32C: the header says {expected:#010x}, the bytes have {found:#010x}")]
    BadCrc {
        /// The checksum that the header carries.
        expected: u32,
        /// The checksum of the bytes that are there.
        found: u32,
    },
    /// A message format other than 2.
    #[error("message format {0} is not supported, only 2 is (convert the topic with a Kafka 3 broker)")]
    UnsupportedMagic(i8),
    /// A codec id that Kafka does not know.
    #[error("unknown compression codec {0}")]
    UnknownCompression(i16),
    /// A compressed body is larger than the reader allows.
    #[error("the batch inflates past the limit of {limit} bytes")]
    InflatesPast {
        /// The limit that was given, in bytes.
        limit: usize,
    },
    /// A compressed body that its codec cannot read.
    #[error("cannot decompress {codec}: {reason}")]
    Decompress {
        /// The codec that the batch names.
        codec: Compression,
        /// What the decoder said.
        reason: String,
    },
    /// A length, count or varint that cannot be right.
    #[error("malformed batch: {what}")]
    Malformed {
        /// Which field, and what is wrong with it.
        what: &'static str,
    },
    /// The caller asked for a compression level that the codec does not have.
    #[error("{codec} has no level {level} (it has {min} to {max})")]
    Level {
        /// The codec.
        codec: Compression,
        /// The level that was asked for.
        level: i32,
        /// The lowest level of the codec.
        min: i32,
        /// The highest level of the codec.
        max: i32,
    },
}

impl RecordsError {
    pub(super) const fn malformed(what: &'static str) -> Self {
        Self::Malformed { what }
    }
}
