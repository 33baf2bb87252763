//! The messages against Kafka's own bytes, against another implementation, and against hostile input.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod allocations;
mod differential;
mod fill;
mod generated;
mod golden;
mod hostile;

use bytes::Bytes;
use milena_protocol::{Decoder, EncodeError, Encoder, Message};

/// The message's bytes in one piece.
fn encode<M: Message>(message: &M, version: i16) -> Result<Bytes, EncodeError> {
    let mut enc = Encoder::new();
    message.encode(&mut enc, version)?;
    let len = enc.len();
    let bytes = enc.finish().concat();
    assert_eq!(bytes.len(), len, "{}", M::NAME);
    Ok(bytes.into())
}

/// The message that takes up all of `bytes`.
fn decode<M: Message>(bytes: &Bytes, version: i16) -> M {
    let mut dec = Decoder::new(bytes.clone());
    let message = M::decode(&mut dec, version)
        .unwrap_or_else(|error| panic!("{} version {version}: {error}\n{bytes:02x?}", M::NAME));
    dec.expect_empty(M::NAME).unwrap();
    message
}
