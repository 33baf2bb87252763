// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, Uuid, VersionRange};

/// `LeaderAndIsrResponse` (API key 4), versions 0-7.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeaderAndIsrResponse {
    /// `ErrorCode`: `int16`, versions 0-7.
    pub error_code: ErrorCode,
    /// `PartitionErrors`: `[]LeaderAndIsrPartitionError`, versions 0-4.
    pub partition_errors: Vec<LeaderAndIsrPartitionError>,
    /// `Topics`: `[]LeaderAndIsrTopicError`, versions 5-7.
    pub topics: Vec<LeaderAndIsrTopicError>,
}

impl Message for LeaderAndIsrResponse {
    const NAME: &'static str = "LeaderAndIsrResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 7);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 4;
        enc.i16(self.error_code.0);
        if version <= 4 {
            enc.array(
                &self.partition_errors,
                flexible,
                "LeaderAndIsrResponse.partition_errors",
                |enc, value| value.write(enc, version),
            )?;
        } else if !self.partition_errors.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "LeaderAndIsrResponse",
                field: "partition_errors",
                version,
            });
        }
        if version >= 5 {
            enc.array(&self.topics, flexible, "LeaderAndIsrResponse.topics", |enc, value| {
                value.write(enc, version)
            })?;
        } else if !self.topics.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "LeaderAndIsrResponse",
                field: "topics",
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
            error_code: dec.i16("LeaderAndIsrResponse.error_code").map(ErrorCode)?,
            partition_errors: if version <= 4 {
                dec.array(flexible, 8, "LeaderAndIsrResponse.partition_errors", |dec| {
                    LeaderAndIsrPartitionError::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            topics: if version >= 5 {
                dec.array(flexible, 18, "LeaderAndIsrResponse.topics", |dec| {
                    LeaderAndIsrTopicError::read(dec, version)
                })?
            } else {
                Vec::new()
            },
        };
        if flexible {
            dec.skip_tagged_fields("LeaderAndIsrResponse")?;
        }
        Ok(out)
    }
}

/// `LeaderAndIsrTopicError` in a `LeaderAndIsrResponse`, versions 5-7.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeaderAndIsrTopicError {
    /// `TopicId`: `uuid`, versions 5-7.
    pub topic_id: Uuid,
    /// `PartitionErrors`: `[]LeaderAndIsrPartitionError`, versions 5-7.
    pub partition_errors: Vec<LeaderAndIsrPartitionError>,
}

impl LeaderAndIsrTopicError {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.uuid(self.topic_id);
        enc.array(
            &self.partition_errors,
            true,
            "LeaderAndIsrResponse.LeaderAndIsrTopicError.partition_errors",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            topic_id: dec.uuid("LeaderAndIsrResponse.LeaderAndIsrTopicError.topic_id")?,
            partition_errors: dec.array(
                true,
                7,
                "LeaderAndIsrResponse.LeaderAndIsrTopicError.partition_errors",
                |dec| LeaderAndIsrPartitionError::read(dec, version),
            )?,
        };
        dec.skip_tagged_fields("LeaderAndIsrResponse.LeaderAndIsrTopicError")?;

        Ok(out)
    }
}

/// `LeaderAndIsrPartitionError` in a `LeaderAndIsrResponse`, versions 0-7.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeaderAndIsrPartitionError {
    /// `TopicName`: `string`, versions 0-4.
    pub topic_name: String,
    /// `PartitionIndex`: `int32`, versions 0-7.
    pub partition_index: i32,
    /// `ErrorCode`: `int16`, versions 0-7.
    pub error_code: ErrorCode,
}

impl LeaderAndIsrPartitionError {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 4;
        if version <= 4 {
            enc.string(
                &self.topic_name,
                flexible,
                "LeaderAndIsrResponse.LeaderAndIsrPartitionError.topic_name",
            )?;
        }
        enc.i32(self.partition_index);
        enc.i16(self.error_code.0);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 4;
        let out = Self {
            topic_name: if version <= 4 {
                dec.string(flexible, "LeaderAndIsrResponse.LeaderAndIsrPartitionError.topic_name")?
            } else {
                String::new()
            },
            partition_index: dec.i32("LeaderAndIsrResponse.LeaderAndIsrPartitionError.partition_index")?,
            error_code: dec
                .i16("LeaderAndIsrResponse.LeaderAndIsrPartitionError.error_code")
                .map(ErrorCode)?,
        };
        if flexible {
            dec.skip_tagged_fields("LeaderAndIsrResponse.LeaderAndIsrPartitionError")?;
        }
        Ok(out)
    }
}
