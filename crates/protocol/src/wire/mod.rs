//! The protocol's primitive types: [`Encoder`] writes them, [`Decoder`] reads them.
//!
//! All integers are big-endian. Where a method takes `flexible`, that says whether the message's version is a
//! flexible one (KIP-482): lengths are then unsigned varints of the length plus one, with zero for null.

mod decoder;
mod encoder;
#[cfg(test)]
mod tests;

pub use decoder::Decoder;
pub use encoder::{Encoder, PAYLOAD_CHUNK_MIN};

/// Kafka limits strings to this length in flexible versions too, although their length field could say more.
const MAX_STRING: usize = i16::MAX as usize;
