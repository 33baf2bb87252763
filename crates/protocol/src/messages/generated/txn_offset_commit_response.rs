// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, Uuid, VersionRange};

/// `TxnOffsetCommitResponse` (API key 28), versions 0-6.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TxnOffsetCommitResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0-6.
    pub throttle_time_ms: i32,
    /// `Topics`: `[]TxnOffsetCommitResponseTopic`, versions 0-6.
    pub topics: Vec<TxnOffsetCommitResponseTopic>,
}

impl Message for TxnOffsetCommitResponse {
    const NAME: &'static str = "TxnOffsetCommitResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 6);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 3;
        enc.i32(self.throttle_time_ms);
        enc.array(&self.topics, flexible, "TxnOffsetCommitResponse.topics", |enc, value| {
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
            throttle_time_ms: dec.i32("TxnOffsetCommitResponse.throttle_time_ms")?,
            topics: dec.array(flexible, 3, "TxnOffsetCommitResponse.topics", |dec| {
                TxnOffsetCommitResponseTopic::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("TxnOffsetCommitResponse")?;
        }
        Ok(out)
    }
}

/// `TxnOffsetCommitResponseTopic` in a `TxnOffsetCommitResponse`, versions 0-6.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TxnOffsetCommitResponseTopic {
    /// `Name`: `string`, versions 0-5.
    pub name: String,
    /// `TopicId`: `uuid`, versions 6.
    pub topic_id: Uuid,
    /// `Partitions`: `[]TxnOffsetCommitResponsePartition`, versions 0-6.
    pub partitions: Vec<TxnOffsetCommitResponsePartition>,
}

impl TxnOffsetCommitResponseTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        if version <= 5 {
            enc.string(&self.name, flexible, "TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic.name")?;
        }
        if version == 6 {
            enc.uuid(self.topic_id);
        }
        enc.array(
            &self.partitions,
            flexible,
            "TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic.partitions",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let out = Self {
            name: if version <= 5 {
                dec.string(flexible, "TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic.name")?
            } else {
                String::new()
            },
            topic_id: if version == 6 {
                dec.uuid("TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic.topic_id")?
            } else {
                Uuid::ZERO
            },
            partitions: dec.array(
                flexible,
                6,
                "TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic.partitions",
                |dec| TxnOffsetCommitResponsePartition::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic")?;
        }
        Ok(out)
    }
}

/// `TxnOffsetCommitResponsePartition` in a `TxnOffsetCommitResponse`, versions 0-6.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TxnOffsetCommitResponsePartition {
    /// `PartitionIndex`: `int32`, versions 0-6.
    pub partition_index: i32,
    /// `ErrorCode`: `int16`, versions 0-6.
    pub error_code: ErrorCode,
}

impl TxnOffsetCommitResponsePartition {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        enc.i32(self.partition_index);
        enc.i16(self.error_code.0);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let out = Self {
            partition_index: dec
                .i32("TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition.partition_index")?,
            error_code: dec
                .i16("TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition.error_code")
                .map(ErrorCode)?,
        };
        if flexible {
            dec.skip_tagged_fields("TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition")?;
        }
        Ok(out)
    }
}
