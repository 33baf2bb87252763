// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, Uuid, VersionRange};

/// `DeleteTopicsResponse` (API key 20), versions 1-6.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeleteTopicsResponse {
    /// `ThrottleTimeMs`: `int32`, versions 1-6.
    pub throttle_time_ms: i32,
    /// `Responses`: `[]DeletableTopicResult`, versions 1-6.
    pub responses: Vec<DeletableTopicResult>,
}

impl Message for DeleteTopicsResponse {
    const NAME: &'static str = "DeleteTopicsResponse";
    const VERSIONS: VersionRange = VersionRange::new(1, 6);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 4;
        enc.i32(self.throttle_time_ms);
        enc.array(&self.responses, flexible, "DeleteTopicsResponse.responses", |enc, value| {
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
            throttle_time_ms: dec.i32("DeleteTopicsResponse.throttle_time_ms")?,
            responses: dec.array(flexible, 4, "DeleteTopicsResponse.responses", |dec| {
                DeletableTopicResult::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("DeleteTopicsResponse")?;
        }
        Ok(out)
    }
}

/// `DeletableTopicResult` in a `DeleteTopicsResponse`, versions 1-6.
#[derive(Debug, Clone, PartialEq)]
pub struct DeletableTopicResult {
    /// `Name`: `string`, versions 1-6, nullable in 6.
    pub name: Option<String>,
    /// `TopicId`: `uuid`, versions 6.
    pub topic_id: Uuid,
    /// `ErrorCode`: `int16`, versions 1-6.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 5-6, nullable; null by default.
    pub error_message: Option<String>,
}

impl Default for DeletableTopicResult {
    fn default() -> Self {
        Self {
            name: Some(String::new()),
            topic_id: Uuid::ZERO,
            error_code: ErrorCode::NONE,
            error_message: None,
        }
    }
}

impl DeletableTopicResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 4;
        if version == 6 {
            enc.nullable_string(
                self.name.as_deref(),
                flexible,
                "DeleteTopicsResponse.DeletableTopicResult.name",
            )?;
        } else {
            let value = crate::messages::required(
                self.name.as_ref(),
                "DeleteTopicsResponse",
                "DeletableTopicResult.name",
                version,
            )?;
            enc.string(value, flexible, "DeleteTopicsResponse.DeletableTopicResult.name")?;
        }
        if version == 6 {
            enc.uuid(self.topic_id);
        }
        enc.i16(self.error_code.0);
        if version >= 5 {
            enc.nullable_string(
                self.error_message.as_deref(),
                flexible,
                "DeleteTopicsResponse.DeletableTopicResult.error_message",
            )?;
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 4;
        let out = Self {
            name: if version == 6 {
                dec.nullable_string(flexible, "DeleteTopicsResponse.DeletableTopicResult.name")?
            } else {
                Some(dec.string(flexible, "DeleteTopicsResponse.DeletableTopicResult.name")?)
            },
            topic_id: if version == 6 {
                dec.uuid("DeleteTopicsResponse.DeletableTopicResult.topic_id")?
            } else {
                Uuid::ZERO
            },
            error_code: dec.i16("DeleteTopicsResponse.DeletableTopicResult.error_code").map(ErrorCode)?,
            error_message: if version >= 5 {
                dec.nullable_string(flexible, "DeleteTopicsResponse.DeletableTopicResult.error_message")?
            } else {
                None
            },
        };
        if flexible {
            dec.skip_tagged_fields("DeleteTopicsResponse.DeletableTopicResult")?;
        }
        Ok(out)
    }
}
