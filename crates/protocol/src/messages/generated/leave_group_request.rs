// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `LeaveGroupRequest` (API key 13), versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeaveGroupRequest {
    /// `GroupId`: `string`, versions 0-5.
    pub group_id: String,
    /// `MemberId`: `string`, versions 0-2.
    pub member_id: String,
    /// `Members`: `[]MemberIdentity`, versions 3-5.
    pub members: Vec<MemberIdentity>,
}

impl Message for LeaveGroupRequest {
    const NAME: &'static str = "LeaveGroupRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 5);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 4;
        enc.string(&self.group_id, flexible, "LeaveGroupRequest.group_id")?;
        if version <= 2 {
            enc.string(&self.member_id, flexible, "LeaveGroupRequest.member_id")?;
        } else if !self.member_id.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "LeaveGroupRequest",
                field: "member_id",
                version,
            });
        }
        if version >= 3 {
            enc.array(&self.members, flexible, "LeaveGroupRequest.members", |enc, value| {
                value.write(enc, version)
            })?;
        } else if !self.members.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "LeaveGroupRequest",
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
            group_id: dec.string(flexible, "LeaveGroupRequest.group_id")?,
            member_id: if version <= 2 {
                dec.string(flexible, "LeaveGroupRequest.member_id")?
            } else {
                String::new()
            },
            members: if version >= 3 {
                dec.array(flexible, 3, "LeaveGroupRequest.members", |dec| MemberIdentity::read(dec, version))?
            } else {
                Vec::new()
            },
        };
        if flexible {
            dec.skip_tagged_fields("LeaveGroupRequest")?;
        }
        Ok(out)
    }
}

impl Request for LeaveGroupRequest {
    const API_KEY: ApiKey = ApiKey::LeaveGroup;
    type Response = super::LeaveGroupResponse;
}

/// `MemberIdentity` in a `LeaveGroupRequest`, versions 3-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MemberIdentity {
    /// `MemberId`: `string`, versions 3-5.
    pub member_id: String,
    /// `GroupInstanceId`: `string`, versions 3-5, nullable; null by default.
    pub group_instance_id: Option<String>,
    /// `Reason`: `string`, versions 5, nullable; null by default.
    pub reason: Option<String>,
}

impl MemberIdentity {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 4;
        enc.string(&self.member_id, flexible, "LeaveGroupRequest.MemberIdentity.member_id")?;
        enc.nullable_string(
            self.group_instance_id.as_deref(),
            flexible,
            "LeaveGroupRequest.MemberIdentity.group_instance_id",
        )?;
        if version == 5 {
            enc.nullable_string(self.reason.as_deref(), flexible, "LeaveGroupRequest.MemberIdentity.reason")?;
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 4;
        let out = Self {
            member_id: dec.string(flexible, "LeaveGroupRequest.MemberIdentity.member_id")?,
            group_instance_id: dec
                .nullable_string(flexible, "LeaveGroupRequest.MemberIdentity.group_instance_id")?,
            reason: if version == 5 {
                dec.nullable_string(flexible, "LeaveGroupRequest.MemberIdentity.reason")?
            } else {
                None
            },
        };
        if flexible {
            dec.skip_tagged_fields("LeaveGroupRequest.MemberIdentity")?;
        }
        Ok(out)
    }
}
