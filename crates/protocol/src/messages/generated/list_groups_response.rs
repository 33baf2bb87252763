// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `ListGroupsResponse` (API key 16), versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListGroupsResponse {
    /// `ThrottleTimeMs`: `int32`, versions 1-5.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 0-5.
    pub error_code: ErrorCode,
    /// `Groups`: `[]ListedGroup`, versions 0-5.
    pub groups: Vec<ListedGroup>,
}

impl Message for ListGroupsResponse {
    const NAME: &'static str = "ListGroupsResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 5);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 3;
        if version >= 1 {
            enc.i32(self.throttle_time_ms);
        }
        enc.i16(self.error_code.0);
        enc.array(&self.groups, flexible, "ListGroupsResponse.groups", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 3;
        let out = Self {
            throttle_time_ms: if version >= 1 { dec.i32("ListGroupsResponse.throttle_time_ms")? } else { 0 },
            error_code: dec.i16("ListGroupsResponse.error_code").map(ErrorCode)?,
            groups: dec
                .array(flexible, 3, "ListGroupsResponse.groups", |dec| ListedGroup::read(dec, version))?,
        };
        if flexible {
            dec.skip_tagged_fields("ListGroupsResponse")?;
        }
        Ok(out)
    }
}

/// `ListedGroup` in a `ListGroupsResponse`, versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListedGroup {
    /// `GroupId`: `string`, versions 0-5.
    pub group_id: String,
    /// `ProtocolType`: `string`, versions 0-5.
    pub protocol_type: String,
    /// `GroupState`: `string`, versions 4-5.
    pub group_state: String,
    /// `GroupType`: `string`, versions 5.
    pub group_type: String,
}

impl ListedGroup {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        enc.string(&self.group_id, flexible, "ListGroupsResponse.ListedGroup.group_id")?;
        enc.string(&self.protocol_type, flexible, "ListGroupsResponse.ListedGroup.protocol_type")?;
        if version >= 4 {
            enc.string(&self.group_state, flexible, "ListGroupsResponse.ListedGroup.group_state")?;
        }
        if version == 5 {
            enc.string(&self.group_type, flexible, "ListGroupsResponse.ListedGroup.group_type")?;
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let out = Self {
            group_id: dec.string(flexible, "ListGroupsResponse.ListedGroup.group_id")?,
            protocol_type: dec.string(flexible, "ListGroupsResponse.ListedGroup.protocol_type")?,
            group_state: if version >= 4 {
                dec.string(flexible, "ListGroupsResponse.ListedGroup.group_state")?
            } else {
                String::new()
            },
            group_type: if version == 5 {
                dec.string(flexible, "ListGroupsResponse.ListedGroup.group_type")?
            } else {
                String::new()
            },
        };
        if flexible {
            dec.skip_tagged_fields("ListGroupsResponse.ListedGroup")?;
        }
        Ok(out)
    }
}
