// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, Uuid, VersionRange};

/// `DeleteTopicsRequest` (API key 20), versions 1-6.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeleteTopicsRequest {
    /// `Topics`: `[]DeleteTopicState`, versions 6.
    pub topics: Vec<DeleteTopicState>,
    /// `TopicNames`: `[]string`, versions 1-5.
    pub topic_names: Vec<String>,
    /// `TimeoutMs`: `int32`, versions 1-6.
    pub timeout_ms: i32,
}

impl Message for DeleteTopicsRequest {
    const NAME: &'static str = "DeleteTopicsRequest";
    const VERSIONS: VersionRange = VersionRange::new(1, 6);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 4;
        if version == 6 {
            enc.array(&self.topics, flexible, "DeleteTopicsRequest.topics", |enc, value| {
                value.write(enc, version)
            })?;
        } else if !self.topics.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "DeleteTopicsRequest",
                field: "topics",
                version,
            });
        }
        if version <= 5 {
            enc.array(&self.topic_names, flexible, "DeleteTopicsRequest.topic_names", |enc, value| {
                enc.string(value, flexible, "DeleteTopicsRequest.topic_names")
            })?;
        }
        enc.i32(self.timeout_ms);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 4;
        let out = Self {
            topics: if version == 6 {
                dec.array(flexible, 18, "DeleteTopicsRequest.topics", |dec| {
                    DeleteTopicState::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            topic_names: if version <= 5 {
                dec.array(flexible, 1, "DeleteTopicsRequest.topic_names", |dec| {
                    dec.string(flexible, "DeleteTopicsRequest.topic_names")
                })?
            } else {
                Vec::new()
            },
            timeout_ms: dec.i32("DeleteTopicsRequest.timeout_ms")?,
        };
        if flexible {
            dec.skip_tagged_fields("DeleteTopicsRequest")?;
        }
        Ok(out)
    }
}

impl Request for DeleteTopicsRequest {
    const API_KEY: ApiKey = ApiKey::DeleteTopics;
    type Response = super::DeleteTopicsResponse;
}

/// `DeleteTopicState` in a `DeleteTopicsRequest`, versions 6.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeleteTopicState {
    /// `Name`: `string`, versions 6, nullable; null by default.
    pub name: Option<String>,
    /// `TopicId`: `uuid`, versions 6.
    pub topic_id: Uuid,
}

impl DeleteTopicState {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.nullable_string(self.name.as_deref(), true, "DeleteTopicsRequest.DeleteTopicState.name")?;
        enc.uuid(self.topic_id);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            name: dec.nullable_string(true, "DeleteTopicsRequest.DeleteTopicState.name")?,
            topic_id: dec.uuid("DeleteTopicsRequest.DeleteTopicState.topic_id")?,
        };
        dec.skip_tagged_fields("DeleteTopicsRequest.DeleteTopicState")?;

        Ok(out)
    }
}
