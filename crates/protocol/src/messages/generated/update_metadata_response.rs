// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `UpdateMetadataResponse` (API key 6), versions 0-8.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UpdateMetadataResponse {
    /// `ErrorCode`: `int16`, versions 0-8.
    pub error_code: ErrorCode,
}

impl Message for UpdateMetadataResponse {
    const NAME: &'static str = "UpdateMetadataResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 8);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 6;
        enc.i16(self.error_code.0);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 6;
        let out = Self { error_code: dec.i16("UpdateMetadataResponse.error_code").map(ErrorCode)? };
        if flexible {
            dec.skip_tagged_fields("UpdateMetadataResponse")?;
        }
        Ok(out)
    }
}
