// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use bytes::Bytes;

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `JoinGroupRequest` (API key 11), versions 0-9.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinGroupRequest {
    /// `GroupId`: `string`, versions 0-9.
    pub group_id: String,
    /// `SessionTimeoutMs`: `int32`, versions 0-9.
    pub session_timeout_ms: i32,
    /// `RebalanceTimeoutMs`: `int32`, versions 1-9; -1 by default.
    pub rebalance_timeout_ms: i32,
    /// `MemberId`: `string`, versions 0-9.
    pub member_id: String,
    /// `GroupInstanceId`: `string`, versions 5-9, nullable; null by default.
    pub group_instance_id: Option<String>,
    /// `ProtocolType`: `string`, versions 0-9.
    pub protocol_type: String,
    /// `Protocols`: `[]JoinGroupRequestProtocol`, versions 0-9.
    pub protocols: Vec<JoinGroupRequestProtocol>,
    /// `Reason`: `string`, versions 8-9, nullable; null by default.
    pub reason: Option<String>,
}

impl Default for JoinGroupRequest {
    fn default() -> Self {
        Self {
            group_id: String::new(),
            session_timeout_ms: 0,
            rebalance_timeout_ms: -1,
            member_id: String::new(),
            group_instance_id: None,
            protocol_type: String::new(),
            protocols: Vec::new(),
            reason: None,
        }
    }
}

impl Message for JoinGroupRequest {
    const NAME: &'static str = "JoinGroupRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 9);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 6;
        enc.string(&self.group_id, flexible, "JoinGroupRequest.group_id")?;
        enc.i32(self.session_timeout_ms);
        if version >= 1 {
            enc.i32(self.rebalance_timeout_ms);
        }
        enc.string(&self.member_id, flexible, "JoinGroupRequest.member_id")?;
        if version >= 5 {
            enc.nullable_string(
                self.group_instance_id.as_deref(),
                flexible,
                "JoinGroupRequest.group_instance_id",
            )?;
        } else if self.group_instance_id.is_some() {
            return Err(EncodeError::UnsupportedField {
                message: "JoinGroupRequest",
                field: "group_instance_id",
                version,
            });
        }
        enc.string(&self.protocol_type, flexible, "JoinGroupRequest.protocol_type")?;
        enc.array(&self.protocols, flexible, "JoinGroupRequest.protocols", |enc, value| {
            value.write(enc, version)
        })?;
        if version >= 8 {
            enc.nullable_string(self.reason.as_deref(), flexible, "JoinGroupRequest.reason")?;
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 6;
        let out = Self {
            group_id: dec.string(flexible, "JoinGroupRequest.group_id")?,
            session_timeout_ms: dec.i32("JoinGroupRequest.session_timeout_ms")?,
            rebalance_timeout_ms: if version >= 1 {
                dec.i32("JoinGroupRequest.rebalance_timeout_ms")?
            } else {
                -1
            },
            member_id: dec.string(flexible, "JoinGroupRequest.member_id")?,
            group_instance_id: if version >= 5 {
                dec.nullable_string(flexible, "JoinGroupRequest.group_instance_id")?
            } else {
                None
            },
            protocol_type: dec.string(flexible, "JoinGroupRequest.protocol_type")?,
            protocols: dec.array(flexible, 3, "JoinGroupRequest.protocols", |dec| {
                JoinGroupRequestProtocol::read(dec, version)
            })?,
            reason: if version >= 8 {
                dec.nullable_string(flexible, "JoinGroupRequest.reason")?
            } else {
                None
            },
        };
        if flexible {
            dec.skip_tagged_fields("JoinGroupRequest")?;
        }
        Ok(out)
    }
}

impl Request for JoinGroupRequest {
    const API_KEY: ApiKey = ApiKey::JoinGroup;
    type Response = super::JoinGroupResponse;
}

/// `JoinGroupRequestProtocol` in a `JoinGroupRequest`, versions 0-9.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JoinGroupRequestProtocol {
    /// `Name`: `string`, versions 0-9.
    pub name: String,
    /// `Metadata`: `bytes`, versions 0-9.
    pub metadata: Bytes,
}

impl JoinGroupRequestProtocol {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        enc.string(&self.name, flexible, "JoinGroupRequest.JoinGroupRequestProtocol.name")?;
        enc.bytes(&self.metadata, flexible, "JoinGroupRequest.JoinGroupRequestProtocol.metadata")?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let out = Self {
            name: dec.string(flexible, "JoinGroupRequest.JoinGroupRequestProtocol.name")?,
            metadata: dec.bytes(flexible, "JoinGroupRequest.JoinGroupRequestProtocol.metadata")?,
        };
        if flexible {
            dec.skip_tagged_fields("JoinGroupRequest.JoinGroupRequestProtocol")?;
        }
        Ok(out)
    }
}
