// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `SaslHandshakeResponse` (API key 17), versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SaslHandshakeResponse {
    /// `ErrorCode`: `int16`, versions 0-1.
    pub error_code: ErrorCode,
    /// `Mechanisms`: `[]string`, versions 0-1.
    pub mechanisms: Vec<String>,
}

impl Message for SaslHandshakeResponse {
    const NAME: &'static str = "SaslHandshakeResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 1);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.i16(self.error_code.0);
        enc.array(&self.mechanisms, false, "SaslHandshakeResponse.mechanisms", |enc, value| {
            enc.string(value, false, "SaslHandshakeResponse.mechanisms")
        })?;
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        Ok(Self {
            error_code: dec.i16("SaslHandshakeResponse.error_code").map(ErrorCode)?,
            mechanisms: dec.array(false, 2, "SaslHandshakeResponse.mechanisms", |dec| {
                dec.string(false, "SaslHandshakeResponse.mechanisms")
            })?,
        })
    }
}
