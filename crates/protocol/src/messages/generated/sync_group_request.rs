// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use bytes::Bytes;

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `SyncGroupRequest` (API key 14), versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SyncGroupRequest {
    /// `GroupId`: `string`, versions 0-5.
    pub group_id: String,
    /// `GenerationId`: `int32`, versions 0-5.
    pub generation_id: i32,
    /// `MemberId`: `string`, versions 0-5.
    pub member_id: String,
    /// `GroupInstanceId`: `string`, versions 3-5, nullable; null by default.
    pub group_instance_id: Option<String>,
    /// `ProtocolType`: `string`, versions 5, nullable; null by default.
    pub protocol_type: Option<String>,
    /// `ProtocolName`: `string`, versions 5, nullable; null by default.
    pub protocol_name: Option<String>,
    /// `Assignments`: `[]SyncGroupRequestAssignment`, versions 0-5.
    pub assignments: Vec<SyncGroupRequestAssignment>,
}

impl Message for SyncGroupRequest {
    const NAME: &'static str = "SyncGroupRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 5);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 4;
        enc.string(&self.group_id, flexible, "SyncGroupRequest.group_id")?;
        enc.i32(self.generation_id);
        enc.string(&self.member_id, flexible, "SyncGroupRequest.member_id")?;
        if version >= 3 {
            enc.nullable_string(
                self.group_instance_id.as_deref(),
                flexible,
                "SyncGroupRequest.group_instance_id",
            )?;
        } else if self.group_instance_id.is_some() {
            return Err(EncodeError::UnsupportedField {
                message: "SyncGroupRequest",
                field: "group_instance_id",
                version,
            });
        }
        if version == 5 {
            enc.nullable_string(self.protocol_type.as_deref(), flexible, "SyncGroupRequest.protocol_type")?;
        }
        if version == 5 {
            enc.nullable_string(self.protocol_name.as_deref(), flexible, "SyncGroupRequest.protocol_name")?;
        }
        enc.array(&self.assignments, flexible, "SyncGroupRequest.assignments", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 4;
        let out = Self {
            group_id: dec.string(flexible, "SyncGroupRequest.group_id")?,
            generation_id: dec.i32("SyncGroupRequest.generation_id")?,
            member_id: dec.string(flexible, "SyncGroupRequest.member_id")?,
            group_instance_id: if version >= 3 {
                dec.nullable_string(flexible, "SyncGroupRequest.group_instance_id")?
            } else {
                None
            },
            protocol_type: if version == 5 {
                dec.nullable_string(flexible, "SyncGroupRequest.protocol_type")?
            } else {
                None
            },
            protocol_name: if version == 5 {
                dec.nullable_string(flexible, "SyncGroupRequest.protocol_name")?
            } else {
                None
            },
            assignments: dec.array(flexible, 3, "SyncGroupRequest.assignments", |dec| {
                SyncGroupRequestAssignment::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("SyncGroupRequest")?;
        }
        Ok(out)
    }
}

impl Request for SyncGroupRequest {
    const API_KEY: ApiKey = ApiKey::SyncGroup;
    type Response = super::SyncGroupResponse;
}

/// `SyncGroupRequestAssignment` in a `SyncGroupRequest`, versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SyncGroupRequestAssignment {
    /// `MemberId`: `string`, versions 0-5.
    pub member_id: String,
    /// `Assignment`: `bytes`, versions 0-5.
    pub assignment: Bytes,
}

impl SyncGroupRequestAssignment {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 4;
        enc.string(&self.member_id, flexible, "SyncGroupRequest.SyncGroupRequestAssignment.member_id")?;
        enc.bytes(&self.assignment, flexible, "SyncGroupRequest.SyncGroupRequestAssignment.assignment")?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 4;
        let out = Self {
            member_id: dec.string(flexible, "SyncGroupRequest.SyncGroupRequestAssignment.member_id")?,
            assignment: dec.bytes(flexible, "SyncGroupRequest.SyncGroupRequestAssignment.assignment")?,
        };
        if flexible {
            dec.skip_tagged_fields("SyncGroupRequest.SyncGroupRequestAssignment")?;
        }
        Ok(out)
    }
}
