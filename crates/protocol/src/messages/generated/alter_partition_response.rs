// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, Uuid, VersionRange};

/// `AlterPartitionResponse` (API key 56), versions 2-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AlterPartitionResponse {
    /// `ThrottleTimeMs`: `int32`, versions 2-3.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 2-3.
    pub error_code: ErrorCode,
    /// `Topics`: `[]TopicData`, versions 2-3.
    pub topics: Vec<TopicData>,
}

impl Message for AlterPartitionResponse {
    const NAME: &'static str = "AlterPartitionResponse";
    const VERSIONS: VersionRange = VersionRange::new(2, 3);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.i32(self.throttle_time_ms);
        enc.i16(self.error_code.0);
        enc.array(&self.topics, true, "AlterPartitionResponse.topics", |enc, value| {
            value.write(enc, version)
        })?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            throttle_time_ms: dec.i32("AlterPartitionResponse.throttle_time_ms")?,
            error_code: dec.i16("AlterPartitionResponse.error_code").map(ErrorCode)?,
            topics: dec
                .array(true, 18, "AlterPartitionResponse.topics", |dec| TopicData::read(dec, version))?,
        };
        dec.skip_tagged_fields("AlterPartitionResponse")?;

        Ok(out)
    }
}

/// `TopicData` in a `AlterPartitionResponse`, versions 2-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TopicData {
    /// `TopicId`: `uuid`, versions 2-3.
    pub topic_id: Uuid,
    /// `Partitions`: `[]PartitionData`, versions 2-3.
    pub partitions: Vec<PartitionData>,
}

impl TopicData {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.uuid(self.topic_id);
        enc.array(&self.partitions, true, "AlterPartitionResponse.TopicData.partitions", |enc, value| {
            value.write(enc, version)
        })?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            topic_id: dec.uuid("AlterPartitionResponse.TopicData.topic_id")?,
            partitions: dec.array(true, 21, "AlterPartitionResponse.TopicData.partitions", |dec| {
                PartitionData::read(dec, version)
            })?,
        };
        dec.skip_tagged_fields("AlterPartitionResponse.TopicData")?;

        Ok(out)
    }
}

/// `PartitionData` in a `AlterPartitionResponse`, versions 2-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PartitionData {
    /// `PartitionIndex`: `int32`, versions 2-3.
    pub partition_index: i32,
    /// `ErrorCode`: `int16`, versions 2-3.
    pub error_code: ErrorCode,
    /// `LeaderId`: `int32`, versions 2-3.
    pub leader_id: i32,
    /// `LeaderEpoch`: `int32`, versions 2-3.
    pub leader_epoch: i32,
    /// `Isr`: `[]int32`, versions 2-3.
    pub isr: Vec<i32>,
    /// `LeaderRecoveryState`: `int8`, versions 2-3.
    pub leader_recovery_state: i8,
    /// `PartitionEpoch`: `int32`, versions 2-3.
    pub partition_epoch: i32,
}

impl PartitionData {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i32(self.partition_index);
        enc.i16(self.error_code.0);
        enc.i32(self.leader_id);
        enc.i32(self.leader_epoch);
        enc.array(&self.isr, true, "AlterPartitionResponse.PartitionData.isr", |enc, value| {
            enc.i32(*value);
            Ok(())
        })?;
        enc.i8(self.leader_recovery_state);
        enc.i32(self.partition_epoch);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            partition_index: dec.i32("AlterPartitionResponse.PartitionData.partition_index")?,
            error_code: dec.i16("AlterPartitionResponse.PartitionData.error_code").map(ErrorCode)?,
            leader_id: dec.i32("AlterPartitionResponse.PartitionData.leader_id")?,
            leader_epoch: dec.i32("AlterPartitionResponse.PartitionData.leader_epoch")?,
            isr: dec.array(true, 4, "AlterPartitionResponse.PartitionData.isr", |dec| {
                dec.i32("AlterPartitionResponse.PartitionData.isr")
            })?,
            leader_recovery_state: dec.i8("AlterPartitionResponse.PartitionData.leader_recovery_state")?,
            partition_epoch: dec.i32("AlterPartitionResponse.PartitionData.partition_epoch")?,
        };
        dec.skip_tagged_fields("AlterPartitionResponse.PartitionData")?;

        Ok(out)
    }
}
