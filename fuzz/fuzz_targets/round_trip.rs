//! What both decoding targets ask of a message.

use bytes::Bytes;
use milena_protocol::{Decoder, Encoder, Message};

/// Decodes what may be anything. A message that was decoded can be encoded, and means the same when decoded again.
pub fn round_trip<M: Message>(dec: &mut Decoder, version: i16) {
    let Ok(message) = M::decode(dec, version) else { return };
    let mut enc = Encoder::new();
    message.encode(&mut enc, version).expect("what was decoded can be encoded");
    let bytes = Bytes::from(enc.finish().concat());
    let again = M::decode(&mut Decoder::new(bytes), version).expect("what was encoded can be decoded");
    // Not `==`: that would deny a NaN.
    assert_eq!(format!("{again:?}"), format!("{message:?}"));
}
