// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use bytes::Bytes;

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `JoinGroupResponse` (API key 11), versions 0-9.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinGroupResponse {
    /// `ThrottleTimeMs`: `int32`, versions 2-9.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 0-9.
    pub error_code: ErrorCode,
    /// `GenerationId`: `int32`, versions 0-9; -1 by default.
    pub generation_id: i32,
    /// `ProtocolType`: `string`, versions 7-9, nullable; null by default.
    pub protocol_type: Option<String>,
    /// `ProtocolName`: `string`, versions 0-9, nullable in 7-9.
    pub protocol_name: Option<String>,
    /// `Leader`: `string`, versions 0-9.
    pub leader: String,
    /// `SkipAssignment`: `bool`, versions 9.
    pub skip_assignment: bool,
    /// `MemberId`: `string`, versions 0-9.
    pub member_id: String,
    /// `Members`: `[]JoinGroupResponseMember`, versions 0-9.
    pub members: Vec<JoinGroupResponseMember>,
}

impl Default for JoinGroupResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            generation_id: -1,
            protocol_type: None,
            protocol_name: Some(String::new()),
            leader: String::new(),
            skip_assignment: false,
            member_id: String::new(),
            members: Vec::new(),
        }
    }
}

impl Message for JoinGroupResponse {
    const NAME: &'static str = "JoinGroupResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 9);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 6;
        if version >= 2 {
            enc.i32(self.throttle_time_ms);
        }
        enc.i16(self.error_code.0);
        enc.i32(self.generation_id);
        if version >= 7 {
            enc.nullable_string(self.protocol_type.as_deref(), flexible, "JoinGroupResponse.protocol_type")?;
        }
        if version >= 7 {
            enc.nullable_string(self.protocol_name.as_deref(), flexible, "JoinGroupResponse.protocol_name")?;
        } else {
            let value = crate::messages::required(
                self.protocol_name.as_ref(),
                "JoinGroupResponse",
                "protocol_name",
                version,
            )?;
            enc.string(value, flexible, "JoinGroupResponse.protocol_name")?;
        }
        enc.string(&self.leader, flexible, "JoinGroupResponse.leader")?;
        if version == 9 {
            enc.bool(self.skip_assignment);
        } else if self.skip_assignment {
            return Err(EncodeError::UnsupportedField {
                message: "JoinGroupResponse",
                field: "skip_assignment",
                version,
            });
        }
        enc.string(&self.member_id, flexible, "JoinGroupResponse.member_id")?;
        enc.array(&self.members, flexible, "JoinGroupResponse.members", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 6;
        let out = Self {
            throttle_time_ms: if version >= 2 { dec.i32("JoinGroupResponse.throttle_time_ms")? } else { 0 },
            error_code: dec.i16("JoinGroupResponse.error_code").map(ErrorCode)?,
            generation_id: dec.i32("JoinGroupResponse.generation_id")?,
            protocol_type: if version >= 7 {
                dec.nullable_string(flexible, "JoinGroupResponse.protocol_type")?
            } else {
                None
            },
            protocol_name: if version >= 7 {
                dec.nullable_string(flexible, "JoinGroupResponse.protocol_name")?
            } else {
                Some(dec.string(flexible, "JoinGroupResponse.protocol_name")?)
            },
            leader: dec.string(flexible, "JoinGroupResponse.leader")?,
            skip_assignment: if version == 9 {
                dec.bool("JoinGroupResponse.skip_assignment")?
            } else {
                false
            },
            member_id: dec.string(flexible, "JoinGroupResponse.member_id")?,
            members: dec.array(flexible, 4, "JoinGroupResponse.members", |dec| {
                JoinGroupResponseMember::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("JoinGroupResponse")?;
        }
        Ok(out)
    }
}

/// `JoinGroupResponseMember` in a `JoinGroupResponse`, versions 0-9.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JoinGroupResponseMember {
    /// `MemberId`: `string`, versions 0-9.
    pub member_id: String,
    /// `GroupInstanceId`: `string`, versions 5-9, nullable; null by default.
    pub group_instance_id: Option<String>,
    /// `Metadata`: `bytes`, versions 0-9.
    pub metadata: Bytes,
}

impl JoinGroupResponseMember {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        enc.string(&self.member_id, flexible, "JoinGroupResponse.JoinGroupResponseMember.member_id")?;
        if version >= 5 {
            enc.nullable_string(
                self.group_instance_id.as_deref(),
                flexible,
                "JoinGroupResponse.JoinGroupResponseMember.group_instance_id",
            )?;
        }
        enc.bytes(&self.metadata, flexible, "JoinGroupResponse.JoinGroupResponseMember.metadata")?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let out = Self {
            member_id: dec.string(flexible, "JoinGroupResponse.JoinGroupResponseMember.member_id")?,
            group_instance_id: if version >= 5 {
                dec.nullable_string(flexible, "JoinGroupResponse.JoinGroupResponseMember.group_instance_id")?
            } else {
                None
            },
            metadata: dec.bytes(flexible, "JoinGroupResponse.JoinGroupResponseMember.metadata")?,
        };
        if flexible {
            dec.skip_tagged_fields("JoinGroupResponse.JoinGroupResponseMember")?;
        }
        Ok(out)
    }
}
