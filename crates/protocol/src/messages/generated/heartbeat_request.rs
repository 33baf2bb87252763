// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `HeartbeatRequest` (API key 12), versions 0-4.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeartbeatRequest {
    /// `GroupId`: `string`, versions 0-4.
    pub group_id: String,
    /// `GenerationId`: `int32`, versions 0-4.
    pub generation_id: i32,
    /// `MemberId`: `string`, versions 0-4.
    pub member_id: String,
    /// `GroupInstanceId`: `string`, versions 3-4, nullable; null by default.
    pub group_instance_id: Option<String>,
}

impl Message for HeartbeatRequest {
    const NAME: &'static str = "HeartbeatRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 4);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 4;
        enc.string(&self.group_id, flexible, "HeartbeatRequest.group_id")?;
        enc.i32(self.generation_id);
        enc.string(&self.member_id, flexible, "HeartbeatRequest.member_id")?;
        if version >= 3 {
            enc.nullable_string(
                self.group_instance_id.as_deref(),
                flexible,
                "HeartbeatRequest.group_instance_id",
            )?;
        } else if self.group_instance_id.is_some() {
            return Err(EncodeError::UnsupportedField {
                message: "HeartbeatRequest",
                field: "group_instance_id",
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
        let flexible = version == 4;
        let out = Self {
            group_id: dec.string(flexible, "HeartbeatRequest.group_id")?,
            generation_id: dec.i32("HeartbeatRequest.generation_id")?,
            member_id: dec.string(flexible, "HeartbeatRequest.member_id")?,
            group_instance_id: if version >= 3 {
                dec.nullable_string(flexible, "HeartbeatRequest.group_instance_id")?
            } else {
                None
            },
        };
        if flexible {
            dec.skip_tagged_fields("HeartbeatRequest")?;
        }
        Ok(out)
    }
}

impl Request for HeartbeatRequest {
    const API_KEY: ApiKey = ApiKey::Heartbeat;
    type Response = super::HeartbeatResponse;
}
