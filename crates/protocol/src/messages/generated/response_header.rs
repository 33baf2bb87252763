// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, Message, VersionRange};

/// `ResponseHeader`, versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResponseHeader {
    /// `CorrelationId`: `int32`, versions 0-1.
    pub correlation_id: i32,
}

impl Message for ResponseHeader {
    const NAME: &'static str = "ResponseHeader";
    const VERSIONS: VersionRange = VersionRange::new(0, 1);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 1;
        enc.i32(self.correlation_id);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 1;
        let out = Self { correlation_id: dec.i32("ResponseHeader.correlation_id")? };
        if flexible {
            dec.skip_tagged_fields("ResponseHeader")?;
        }
        Ok(out)
    }
}
