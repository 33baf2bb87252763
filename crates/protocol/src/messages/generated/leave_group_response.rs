// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `LeaveGroupResponse` (API key 13), versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeaveGroupResponse {
    /// `ThrottleTimeMs`: `int32`, versions 1-5.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 0-5.
    pub error_code: ErrorCode,
    /// `Members`: `[]MemberResponse`, versions 3-5.
    pub members: Vec<MemberResponse>,
}

impl Message for LeaveGroupResponse {
    const NAME: &'static str = "LeaveGroupResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 5);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 4;
        if version >= 1 {
            enc.i32(self.throttle_time_ms);
        }
        enc.i16(self.error_code.0);
        if version >= 3 {
            enc.array(&self.members, flexible, "LeaveGroupResponse.members", |enc, value| {
                value.write(enc, version)
            })?;
        } else if !self.members.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "LeaveGroupResponse",
                field: "members",
                version,
            });
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 4;
        let out = Self {
            throttle_time_ms: if version >= 1 { dec.i32("LeaveGroupResponse.throttle_time_ms")? } else { 0 },
            error_code: dec.i16("LeaveGroupResponse.error_code").map(ErrorCode)?,
            members: if version >= 3 {
                dec.array(flexible, 5, "LeaveGroupResponse.members", |dec| {
                    MemberResponse::read(dec, version)
                })?
            } else {
                Vec::new()
            },
        };
        if flexible {
            dec.skip_tagged_fields("LeaveGroupResponse")?;
        }
        Ok(out)
    }
}

/// `MemberResponse` in a `LeaveGroupResponse`, versions 3-5.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberResponse {
    /// `MemberId`: `string`, versions 3-5.
    pub member_id: String,
    /// `GroupInstanceId`: `string`, versions 3-5, nullable.
    pub group_instance_id: Option<String>,
    /// `ErrorCode`: `int16`, versions 3-5.
    pub error_code: ErrorCode,
}

impl Default for MemberResponse {
    fn default() -> Self {
        Self { member_id: String::new(), group_instance_id: Some(String::new()), error_code: ErrorCode::NONE }
    }
}

impl MemberResponse {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 4;
        enc.string(&self.member_id, flexible, "LeaveGroupResponse.MemberResponse.member_id")?;
        enc.nullable_string(
            self.group_instance_id.as_deref(),
            flexible,
            "LeaveGroupResponse.MemberResponse.group_instance_id",
        )?;
        enc.i16(self.error_code.0);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 4;
        let out = Self {
            member_id: dec.string(flexible, "LeaveGroupResponse.MemberResponse.member_id")?,
            group_instance_id: dec
                .nullable_string(flexible, "LeaveGroupResponse.MemberResponse.group_instance_id")?,
            error_code: dec.i16("LeaveGroupResponse.MemberResponse.error_code").map(ErrorCode)?,
        };
        if flexible {
            dec.skip_tagged_fields("LeaveGroupResponse.MemberResponse")?;
        }
        Ok(out)
    }
}
