//! What can be wrong with a message: [`DecodeError`] is the peer's fault, [`EncodeError`] the caller's.

use crate::message::VersionRange;

/// The bytes are not what the protocol says. The peer's fault; nothing is to be gained by trying again.
///
/// `field` names the message and the field, as in `FetchResponse.PartitionData.high_watermark`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end inside a field.
    #[error("{field}: {needed} bytes announced or needed, {remaining} left")]
    Truncated {
        /// The field that was being read.
        field: &'static str,
        /// How many bytes the field takes.
        needed: usize,
        /// How many bytes were left.
        remaining: usize,
    },
    /// A length below zero where null is spelled -1.
    #[error("{field}: negative length {length}")]
    NegativeLength {
        /// The field that was being read.
        field: &'static str,
        /// The length as received.
        length: i64,
    },
    /// More elements than the bytes that are left can hold.
    #[error("{field}: {count} elements announced, but only {remaining} bytes left")]
    TooManyElements {
        /// The array that was being read.
        field: &'static str,
        /// How many elements the peer announced.
        count: usize,
        /// How many bytes were left.
        remaining: usize,
    },
    /// A variable-length integer of more than 5 (or 10) bytes, or one whose value does not fit.
    #[error("{field}: variable-length integer too long")]
    VarintTooLong {
        /// The field that was being read.
        field: &'static str,
    },
    /// A string above 32,767 bytes: Kafka keeps to that limit where a compact length could say more.
    #[error("{field}: string of {length} bytes, above the protocol's limit of 32767")]
    StringTooLong {
        /// The field that was being read.
        field: &'static str,
        /// The length that the peer announced, in bytes.
        length: usize,
    },
    /// A string that is not UTF-8.
    #[error("{field}: not UTF-8")]
    InvalidUtf8 {
        /// The field that was being read.
        field: &'static str,
    },
    /// Null in a field that cannot be null in this version.
    #[error("{field}: null, but it may not be in this version")]
    UnexpectedNull {
        /// The field that was being read.
        field: &'static str,
    },
    /// A tagged field whose announced size is not that of its value (KIP-482).
    #[error("{field}: {unread} bytes left over in tagged field {tag}")]
    TaggedFieldSize {
        /// The struct that holds the tagged field.
        field: &'static str,
        /// The tag.
        tag: u32,
        /// How many of the announced bytes were not part of the value.
        unread: usize,
    },
    /// Bytes left over behind a message.
    #[error("{message}: {count} bytes left over behind the message")]
    TrailingBytes {
        /// The message that was read.
        message: &'static str,
        /// How many bytes were left.
        count: usize,
    },
    /// A version of the message that this crate does not know.
    #[error("{message}: version {version} is outside of {supported}")]
    UnsupportedVersion {
        /// The message.
        message: &'static str,
        /// The version that was asked for.
        version: i16,
        /// The versions that are known.
        supported: VersionRange,
    },
    /// An API key that Kafka does not have.
    #[error("unknown API key {0}")]
    UnknownApiKey(i16),
}

/// The message cannot be put on the wire in the version asked for. The caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A version of the message that this crate does not know.
    #[error("{message}: version {version} is outside of {supported}")]
    UnsupportedVersion {
        /// The message.
        message: &'static str,
        /// The version that was asked for.
        version: i16,
        /// The versions that are known.
        supported: VersionRange,
    },
    /// A field is set that this version does not have, and leaving it out would change the meaning.
    #[error(
        "{message}: {field} cannot be sent in version {version}: leave it at its default or use another version"
    )]
    UnsupportedField {
        /// The message.
        message: &'static str,
        /// The field, with its struct when that is a nested one.
        field: &'static str,
        /// The version that was asked for.
        version: i16,
    },
    /// A field is None that this version cannot send as null.
    #[error("{message}: {field} cannot be null in version {version}")]
    NullNotAllowed {
        /// The message.
        message: &'static str,
        /// The field, with its struct when that is a nested one.
        field: &'static str,
        /// The version that was asked for.
        version: i16,
    },
    /// A string, a byte field, an array or the whole frame is longer than its length field can say.
    #[error("{field}: {len} is more than the {max} that its length field can say")]
    TooLong {
        /// What is too long.
        field: &'static str,
        /// Its length in bytes, or in elements when it is an array.
        len: usize,
        /// The longest that can be sent.
        max: usize,
    },
}
