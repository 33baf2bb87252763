// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use bytes::Bytes;

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `DescribeGroupsResponse` (API key 15), versions 0-6.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DescribeGroupsResponse {
    /// `ThrottleTimeMs`: `int32`, versions 1-6.
    pub throttle_time_ms: i32,
    /// `Groups`: `[]DescribedGroup`, versions 0-6.
    pub groups: Vec<DescribedGroup>,
}

impl Message for DescribeGroupsResponse {
    const NAME: &'static str = "DescribeGroupsResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 6);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 5;
        if version >= 1 {
            enc.i32(self.throttle_time_ms);
        }
        enc.array(&self.groups, flexible, "DescribeGroupsResponse.groups", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 5;
        let out = Self {
            throttle_time_ms: if version >= 1 {
                dec.i32("DescribeGroupsResponse.throttle_time_ms")?
            } else {
                0
            },
            groups: dec.array(flexible, 12, "DescribeGroupsResponse.groups", |dec| {
                DescribedGroup::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("DescribeGroupsResponse")?;
        }
        Ok(out)
    }
}

/// `DescribedGroup` in a `DescribeGroupsResponse`, versions 0-6.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribedGroup {
    /// `ErrorCode`: `int16`, versions 0-6.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 6, nullable; null by default.
    pub error_message: Option<String>,
    /// `GroupId`: `string`, versions 0-6.
    pub group_id: String,
    /// `GroupState`: `string`, versions 0-6.
    pub group_state: String,
    /// `ProtocolType`: `string`, versions 0-6.
    pub protocol_type: String,
    /// `ProtocolData`: `string`, versions 0-6.
    pub protocol_data: String,
    /// `Members`: `[]DescribedGroupMember`, versions 0-6.
    pub members: Vec<DescribedGroupMember>,
    /// `AuthorizedOperations`: `int32`, versions 3-6; i32::MIN by default.
    pub authorized_operations: i32,
}

impl Default for DescribedGroup {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            error_message: None,
            group_id: String::new(),
            group_state: String::new(),
            protocol_type: String::new(),
            protocol_data: String::new(),
            members: Vec::new(),
            authorized_operations: i32::MIN,
        }
    }
}

impl DescribedGroup {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 5;
        enc.i16(self.error_code.0);
        if version == 6 {
            enc.nullable_string(
                self.error_message.as_deref(),
                flexible,
                "DescribeGroupsResponse.DescribedGroup.error_message",
            )?;
        } else if self.error_message.is_some() {
            return Err(EncodeError::UnsupportedField {
                message: "DescribeGroupsResponse",
                field: "DescribedGroup.error_message",
                version,
            });
        }
        enc.string(&self.group_id, flexible, "DescribeGroupsResponse.DescribedGroup.group_id")?;
        enc.string(&self.group_state, flexible, "DescribeGroupsResponse.DescribedGroup.group_state")?;
        enc.string(&self.protocol_type, flexible, "DescribeGroupsResponse.DescribedGroup.protocol_type")?;
        enc.string(&self.protocol_data, flexible, "DescribeGroupsResponse.DescribedGroup.protocol_data")?;
        enc.array(&self.members, flexible, "DescribeGroupsResponse.DescribedGroup.members", |enc, value| {
            value.write(enc, version)
        })?;
        if version >= 3 {
            enc.i32(self.authorized_operations);
        } else if self.authorized_operations != i32::MIN {
            return Err(EncodeError::UnsupportedField {
                message: "DescribeGroupsResponse",
                field: "DescribedGroup.authorized_operations",
                version,
            });
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 5;
        let out = Self {
            error_code: dec.i16("DescribeGroupsResponse.DescribedGroup.error_code").map(ErrorCode)?,
            error_message: if version == 6 {
                dec.nullable_string(flexible, "DescribeGroupsResponse.DescribedGroup.error_message")?
            } else {
                None
            },
            group_id: dec.string(flexible, "DescribeGroupsResponse.DescribedGroup.group_id")?,
            group_state: dec.string(flexible, "DescribeGroupsResponse.DescribedGroup.group_state")?,
            protocol_type: dec.string(flexible, "DescribeGroupsResponse.DescribedGroup.protocol_type")?,
            protocol_data: dec.string(flexible, "DescribeGroupsResponse.DescribedGroup.protocol_data")?,
            members: dec.array(flexible, 7, "DescribeGroupsResponse.DescribedGroup.members", |dec| {
                DescribedGroupMember::read(dec, version)
            })?,
            authorized_operations: if version >= 3 {
                dec.i32("DescribeGroupsResponse.DescribedGroup.authorized_operations")?
            } else {
                i32::MIN
            },
        };
        if flexible {
            dec.skip_tagged_fields("DescribeGroupsResponse.DescribedGroup")?;
        }
        Ok(out)
    }
}

/// `DescribedGroupMember` in a `DescribeGroupsResponse`, versions 0-6.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DescribedGroupMember {
    /// `MemberId`: `string`, versions 0-6.
    pub member_id: String,
    /// `GroupInstanceId`: `string`, versions 4-6, nullable; null by default.
    pub group_instance_id: Option<String>,
    /// `ClientId`: `string`, versions 0-6.
    pub client_id: String,
    /// `ClientHost`: `string`, versions 0-6.
    pub client_host: String,
    /// `MemberMetadata`: `bytes`, versions 0-6.
    pub member_metadata: Bytes,
    /// `MemberAssignment`: `bytes`, versions 0-6.
    pub member_assignment: Bytes,
}

impl DescribedGroupMember {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 5;
        enc.string(&self.member_id, flexible, "DescribeGroupsResponse.DescribedGroupMember.member_id")?;
        if version >= 4 {
            enc.nullable_string(
                self.group_instance_id.as_deref(),
                flexible,
                "DescribeGroupsResponse.DescribedGroupMember.group_instance_id",
            )?;
        }
        enc.string(&self.client_id, flexible, "DescribeGroupsResponse.DescribedGroupMember.client_id")?;
        enc.string(&self.client_host, flexible, "DescribeGroupsResponse.DescribedGroupMember.client_host")?;
        enc.bytes(
            &self.member_metadata,
            flexible,
            "DescribeGroupsResponse.DescribedGroupMember.member_metadata",
        )?;
        enc.bytes(
            &self.member_assignment,
            flexible,
            "DescribeGroupsResponse.DescribedGroupMember.member_assignment",
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 5;
        let out = Self {
            member_id: dec.string(flexible, "DescribeGroupsResponse.DescribedGroupMember.member_id")?,
            group_instance_id: if version >= 4 {
                dec.nullable_string(
                    flexible,
                    "DescribeGroupsResponse.DescribedGroupMember.group_instance_id",
                )?
            } else {
                None
            },
            client_id: dec.string(flexible, "DescribeGroupsResponse.DescribedGroupMember.client_id")?,
            client_host: dec.string(flexible, "DescribeGroupsResponse.DescribedGroupMember.client_host")?,
            member_metadata: dec
                .bytes(flexible, "DescribeGroupsResponse.DescribedGroupMember.member_metadata")?,
            member_assignment: dec
                .bytes(flexible, "DescribeGroupsResponse.DescribedGroupMember.member_assignment")?,
        };
        if flexible {
            dec.skip_tagged_fields("DescribeGroupsResponse.DescribedGroupMember")?;
        }
        Ok(out)
    }
}
