// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, Uuid, VersionRange};

/// `AlterPartitionRequest` (API key 56), versions 2-3.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterPartitionRequest {
    /// `BrokerId`: `int32`, versions 2-3.
    pub broker_id: i32,
    /// `BrokerEpoch`: `int64`, versions 2-3; -1 by default.
    pub broker_epoch: i64,
    /// `Topics`: `[]TopicData`, versions 2-3.
    pub topics: Vec<TopicData>,
}

impl Default for AlterPartitionRequest {
    fn default() -> Self {
        Self { broker_id: 0, broker_epoch: -1, topics: Vec::new() }
    }
}

impl Message for AlterPartitionRequest {
    const NAME: &'static str = "AlterPartitionRequest";
    const VERSIONS: VersionRange = VersionRange::new(2, 3);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.i32(self.broker_id);
        enc.i64(self.broker_epoch);
        enc.array(&self.topics, true, "AlterPartitionRequest.topics", |enc, value| {
            value.write(enc, version)
        })?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            broker_id: dec.i32("AlterPartitionRequest.broker_id")?,
            broker_epoch: dec.i64("AlterPartitionRequest.broker_epoch")?,
            topics: dec
                .array(true, 18, "AlterPartitionRequest.topics", |dec| TopicData::read(dec, version))?,
        };
        dec.skip_tagged_fields("AlterPartitionRequest")?;

        Ok(out)
    }
}

impl Request for AlterPartitionRequest {
    const API_KEY: ApiKey = ApiKey::AlterPartition;
    type Response = super::AlterPartitionResponse;
}

/// `TopicData` in a `AlterPartitionRequest`, versions 2-3.
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
        enc.array(&self.partitions, true, "AlterPartitionRequest.TopicData.partitions", |enc, value| {
            value.write(enc, version)
        })?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            topic_id: dec.uuid("AlterPartitionRequest.TopicData.topic_id")?,
            partitions: dec.array(true, 15, "AlterPartitionRequest.TopicData.partitions", |dec| {
                PartitionData::read(dec, version)
            })?,
        };
        dec.skip_tagged_fields("AlterPartitionRequest.TopicData")?;

        Ok(out)
    }
}

/// `PartitionData` in a `AlterPartitionRequest`, versions 2-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PartitionData {
    /// `PartitionIndex`: `int32`, versions 2-3.
    pub partition_index: i32,
    /// `LeaderEpoch`: `int32`, versions 2-3.
    pub leader_epoch: i32,
    /// `NewIsr`: `[]int32`, versions 2.
    pub new_isr: Vec<i32>,
    /// `NewIsrWithEpochs`: `[]BrokerState`, versions 3.
    pub new_isr_with_epochs: Vec<BrokerState>,
    /// `LeaderRecoveryState`: `int8`, versions 2-3.
    pub leader_recovery_state: i8,
    /// `PartitionEpoch`: `int32`, versions 2-3.
    pub partition_epoch: i32,
}

impl PartitionData {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.i32(self.partition_index);
        enc.i32(self.leader_epoch);
        if version == 2 {
            enc.array(&self.new_isr, true, "AlterPartitionRequest.PartitionData.new_isr", |enc, value| {
                enc.i32(*value);
                Ok(())
            })?;
        } else if !self.new_isr.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "AlterPartitionRequest",
                field: "PartitionData.new_isr",
                version,
            });
        }
        if version == 3 {
            enc.array(
                &self.new_isr_with_epochs,
                true,
                "AlterPartitionRequest.PartitionData.new_isr_with_epochs",
                |enc, value| value.write(enc, version),
            )?;
        } else if !self.new_isr_with_epochs.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "AlterPartitionRequest",
                field: "PartitionData.new_isr_with_epochs",
                version,
            });
        }
        enc.i8(self.leader_recovery_state);
        enc.i32(self.partition_epoch);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            partition_index: dec.i32("AlterPartitionRequest.PartitionData.partition_index")?,
            leader_epoch: dec.i32("AlterPartitionRequest.PartitionData.leader_epoch")?,
            new_isr: if version == 2 {
                dec.array(true, 4, "AlterPartitionRequest.PartitionData.new_isr", |dec| {
                    dec.i32("AlterPartitionRequest.PartitionData.new_isr")
                })?
            } else {
                Vec::new()
            },
            new_isr_with_epochs: if version == 3 {
                dec.array(true, 13, "AlterPartitionRequest.PartitionData.new_isr_with_epochs", |dec| {
                    BrokerState::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            leader_recovery_state: dec.i8("AlterPartitionRequest.PartitionData.leader_recovery_state")?,
            partition_epoch: dec.i32("AlterPartitionRequest.PartitionData.partition_epoch")?,
        };
        dec.skip_tagged_fields("AlterPartitionRequest.PartitionData")?;

        Ok(out)
    }
}

/// `BrokerState` in a `AlterPartitionRequest`, versions 3.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokerState {
    /// `BrokerId`: `int32`, versions 3.
    pub broker_id: i32,
    /// `BrokerEpoch`: `int64`, versions 3; -1 by default.
    pub broker_epoch: i64,
}

impl Default for BrokerState {
    fn default() -> Self {
        Self { broker_id: 0, broker_epoch: -1 }
    }
}

impl BrokerState {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i32(self.broker_id);
        enc.i64(self.broker_epoch);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            broker_id: dec.i32("AlterPartitionRequest.BrokerState.broker_id")?,
            broker_epoch: dec.i64("AlterPartitionRequest.BrokerState.broker_epoch")?,
        };
        dec.skip_tagged_fields("AlterPartitionRequest.BrokerState")?;

        Ok(out)
    }
}
