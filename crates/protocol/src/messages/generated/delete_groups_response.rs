// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `DeleteGroupsResponse` (API key 42), versions 0-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeleteGroupsResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0-3.
    pub throttle_time_ms: i32,
    /// `Results`: `[]DeletableGroupResult`, versions 0-3.
    pub results: Vec<DeletableGroupResult>,
}

impl Message for DeleteGroupsResponse {
    const NAME: &'static str = "DeleteGroupsResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 3);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 2;
        enc.i32(self.throttle_time_ms);
        enc.array(&self.results, flexible, "DeleteGroupsResponse.results", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 2;
        let out = Self {
            throttle_time_ms: dec.i32("DeleteGroupsResponse.throttle_time_ms")?,
            results: dec.array(flexible, 4, "DeleteGroupsResponse.results", |dec| {
                DeletableGroupResult::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("DeleteGroupsResponse")?;
        }
        Ok(out)
    }
}

/// `DeletableGroupResult` in a `DeleteGroupsResponse`, versions 0-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeletableGroupResult {
    /// `GroupId`: `string`, versions 0-3.
    pub group_id: String,
    /// `ErrorCode`: `int16`, versions 0-3.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 3, nullable; null by default.
    pub error_message: Option<String>,
}

impl DeletableGroupResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        enc.string(&self.group_id, flexible, "DeleteGroupsResponse.DeletableGroupResult.group_id")?;
        enc.i16(self.error_code.0);
        if version == 3 {
            enc.nullable_string(
                self.error_message.as_deref(),
                flexible,
                "DeleteGroupsResponse.DeletableGroupResult.error_message",
            )?;
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let out = Self {
            group_id: dec.string(flexible, "DeleteGroupsResponse.DeletableGroupResult.group_id")?,
            error_code: dec.i16("DeleteGroupsResponse.DeletableGroupResult.error_code").map(ErrorCode)?,
            error_message: if version == 3 {
                dec.nullable_string(flexible, "DeleteGroupsResponse.DeletableGroupResult.error_message")?
            } else {
                None
            },
        };
        if flexible {
            dec.skip_tagged_fields("DeleteGroupsResponse.DeletableGroupResult")?;
        }
        Ok(out)
    }
}
