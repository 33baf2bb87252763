// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `OffsetForLeaderEpochResponse` (API key 23), versions 2-4.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OffsetForLeaderEpochResponse {
    /// `ThrottleTimeMs`: `int32`, versions 2-4.
    pub throttle_time_ms: i32,
    /// `Topics`: `[]OffsetForLeaderTopicResult`, versions 2-4.
    pub topics: Vec<OffsetForLeaderTopicResult>,
}

impl Message for OffsetForLeaderEpochResponse {
    const NAME: &'static str = "OffsetForLeaderEpochResponse";
    const VERSIONS: VersionRange = VersionRange::new(2, 4);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 4;
        enc.i32(self.throttle_time_ms);
        enc.array(&self.topics, flexible, "OffsetForLeaderEpochResponse.topics", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 4;
        let out = Self {
            throttle_time_ms: dec.i32("OffsetForLeaderEpochResponse.throttle_time_ms")?,
            topics: dec.array(flexible, 3, "OffsetForLeaderEpochResponse.topics", |dec| {
                OffsetForLeaderTopicResult::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetForLeaderEpochResponse")?;
        }
        Ok(out)
    }
}

/// `OffsetForLeaderTopicResult` in a `OffsetForLeaderEpochResponse`, versions 2-4.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OffsetForLeaderTopicResult {
    /// `Topic`: `string`, versions 2-4.
    pub topic: String,
    /// `Partitions`: `[]EpochEndOffset`, versions 2-4.
    pub partitions: Vec<EpochEndOffset>,
}

impl OffsetForLeaderTopicResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        enc.string(&self.topic, flexible, "OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult.topic")?;
        enc.array(
            &self.partitions,
            flexible,
            "OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult.partitions",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let out = Self {
            topic: dec.string(flexible, "OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult.topic")?,
            partitions: dec.array(
                flexible,
                18,
                "OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult.partitions",
                |dec| EpochEndOffset::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult")?;
        }
        Ok(out)
    }
}

/// `EpochEndOffset` in a `OffsetForLeaderEpochResponse`, versions 2-4.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochEndOffset {
    /// `ErrorCode`: `int16`, versions 2-4.
    pub error_code: ErrorCode,
    /// `Partition`: `int32`, versions 2-4.
    pub partition: i32,
    /// `LeaderEpoch`: `int32`, versions 2-4; -1 by default.
    pub leader_epoch: i32,
    /// `EndOffset`: `int64`, versions 2-4; -1 by default.
    pub end_offset: i64,
}

impl Default for EpochEndOffset {
    fn default() -> Self {
        Self { error_code: ErrorCode::NONE, partition: 0, leader_epoch: -1, end_offset: -1 }
    }
}

impl EpochEndOffset {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        enc.i16(self.error_code.0);
        enc.i32(self.partition);
        enc.i32(self.leader_epoch);
        enc.i64(self.end_offset);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let out = Self {
            error_code: dec.i16("OffsetForLeaderEpochResponse.EpochEndOffset.error_code").map(ErrorCode)?,
            partition: dec.i32("OffsetForLeaderEpochResponse.EpochEndOffset.partition")?,
            leader_epoch: dec.i32("OffsetForLeaderEpochResponse.EpochEndOffset.leader_epoch")?,
            end_offset: dec.i64("OffsetForLeaderEpochResponse.EpochEndOffset.end_offset")?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetForLeaderEpochResponse.EpochEndOffset")?;
        }
        Ok(out)
    }
}
