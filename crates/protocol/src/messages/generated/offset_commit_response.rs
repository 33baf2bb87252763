// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, Uuid, VersionRange};

/// `OffsetCommitResponse` (API key 8), versions 2-10.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OffsetCommitResponse {
    /// `ThrottleTimeMs`: `int32`, versions 3-10.
    pub throttle_time_ms: i32,
    /// `Topics`: `[]OffsetCommitResponseTopic`, versions 2-10.
    pub topics: Vec<OffsetCommitResponseTopic>,
}

impl Message for OffsetCommitResponse {
    const NAME: &'static str = "OffsetCommitResponse";
    const VERSIONS: VersionRange = VersionRange::new(2, 10);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 8;
        if version >= 3 {
            enc.i32(self.throttle_time_ms);
        }
        enc.array(&self.topics, flexible, "OffsetCommitResponse.topics", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 8;
        let out = Self {
            throttle_time_ms: if version >= 3 {
                dec.i32("OffsetCommitResponse.throttle_time_ms")?
            } else {
                0
            },
            topics: dec.array(flexible, 3, "OffsetCommitResponse.topics", |dec| {
                OffsetCommitResponseTopic::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetCommitResponse")?;
        }
        Ok(out)
    }
}

/// `OffsetCommitResponseTopic` in a `OffsetCommitResponse`, versions 2-10.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OffsetCommitResponseTopic {
    /// `Name`: `string`, versions 2-9.
    pub name: String,
    /// `TopicId`: `uuid`, versions 10.
    pub topic_id: Uuid,
    /// `Partitions`: `[]OffsetCommitResponsePartition`, versions 2-10.
    pub partitions: Vec<OffsetCommitResponsePartition>,
}

impl OffsetCommitResponseTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 8;
        if version <= 9 {
            enc.string(&self.name, flexible, "OffsetCommitResponse.OffsetCommitResponseTopic.name")?;
        }
        if version == 10 {
            enc.uuid(self.topic_id);
        }
        enc.array(
            &self.partitions,
            flexible,
            "OffsetCommitResponse.OffsetCommitResponseTopic.partitions",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 8;
        let out = Self {
            name: if version <= 9 {
                dec.string(flexible, "OffsetCommitResponse.OffsetCommitResponseTopic.name")?
            } else {
                String::new()
            },
            topic_id: if version == 10 {
                dec.uuid("OffsetCommitResponse.OffsetCommitResponseTopic.topic_id")?
            } else {
                Uuid::ZERO
            },
            partitions: dec.array(
                flexible,
                6,
                "OffsetCommitResponse.OffsetCommitResponseTopic.partitions",
                |dec| OffsetCommitResponsePartition::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetCommitResponse.OffsetCommitResponseTopic")?;
        }
        Ok(out)
    }
}

/// `OffsetCommitResponsePartition` in a `OffsetCommitResponse`, versions 2-10.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OffsetCommitResponsePartition {
    /// `PartitionIndex`: `int32`, versions 2-10.
    pub partition_index: i32,
    /// `ErrorCode`: `int16`, versions 2-10.
    pub error_code: ErrorCode,
}

impl OffsetCommitResponsePartition {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 8;
        enc.i32(self.partition_index);
        enc.i16(self.error_code.0);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 8;
        let out = Self {
            partition_index: dec.i32("OffsetCommitResponse.OffsetCommitResponsePartition.partition_index")?,
            error_code: dec
                .i16("OffsetCommitResponse.OffsetCommitResponsePartition.error_code")
                .map(ErrorCode)?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetCommitResponse.OffsetCommitResponsePartition")?;
        }
        Ok(out)
    }
}
