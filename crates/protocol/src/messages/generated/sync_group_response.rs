// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use bytes::Bytes;

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `SyncGroupResponse` (API key 14), versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SyncGroupResponse {
    /// `ThrottleTimeMs`: `int32`, versions 1-5.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 0-5.
    pub error_code: ErrorCode,
    /// `ProtocolType`: `string`, versions 5, nullable; null by default.
    pub protocol_type: Option<String>,
    /// `ProtocolName`: `string`, versions 5, nullable; null by default.
    pub protocol_name: Option<String>,
    /// `Assignment`: `bytes`, versions 0-5.
    pub assignment: Bytes,
}

impl Message for SyncGroupResponse {
    const NAME: &'static str = "SyncGroupResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 5);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 4;
        if version >= 1 {
            enc.i32(self.throttle_time_ms);
        }
        enc.i16(self.error_code.0);
        if version == 5 {
            enc.nullable_string(self.protocol_type.as_deref(), flexible, "SyncGroupResponse.protocol_type")?;
        }
        if version == 5 {
            enc.nullable_string(self.protocol_name.as_deref(), flexible, "SyncGroupResponse.protocol_name")?;
        }
        enc.bytes(&self.assignment, flexible, "SyncGroupResponse.assignment")?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 4;
        let out = Self {
            throttle_time_ms: if version >= 1 { dec.i32("SyncGroupResponse.throttle_time_ms")? } else { 0 },
            error_code: dec.i16("SyncGroupResponse.error_code").map(ErrorCode)?,
            protocol_type: if version == 5 {
                dec.nullable_string(flexible, "SyncGroupResponse.protocol_type")?
            } else {
                None
            },
            protocol_name: if version == 5 {
                dec.nullable_string(flexible, "SyncGroupResponse.protocol_name")?
            } else {
                None
            },
            assignment: dec.bytes(flexible, "SyncGroupResponse.assignment")?,
        };
        if flexible {
            dec.skip_tagged_fields("SyncGroupResponse")?;
        }
        Ok(out)
    }
}
