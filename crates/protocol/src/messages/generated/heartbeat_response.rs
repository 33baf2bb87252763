// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `HeartbeatResponse` (API key 12), versions 0-4.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeartbeatResponse {
    /// `ThrottleTimeMs`: `int32`, versions 1-4.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 0-4.
    pub error_code: ErrorCode,
}

impl Message for HeartbeatResponse {
    const NAME: &'static str = "HeartbeatResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 4);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 4;
        if version >= 1 {
            enc.i32(self.throttle_time_ms);
        }
        enc.i16(self.error_code.0);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 4;
        let out = Self {
            throttle_time_ms: if version >= 1 { dec.i32("HeartbeatResponse.throttle_time_ms")? } else { 0 },
            error_code: dec.i16("HeartbeatResponse.error_code").map(ErrorCode)?,
        };
        if flexible {
            dec.skip_tagged_fields("HeartbeatResponse")?;
        }
        Ok(out)
    }
}
