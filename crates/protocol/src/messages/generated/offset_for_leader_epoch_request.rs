// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `OffsetForLeaderEpochRequest` (API key 23), versions 2-4.
#[derive(Debug, Clone, PartialEq)]
pub struct OffsetForLeaderEpochRequest {
    /// `ReplicaId`: `int32`, versions 3-4; -2 by default.
    pub replica_id: i32,
    /// `Topics`: `[]OffsetForLeaderTopic`, versions 2-4.
    pub topics: Vec<OffsetForLeaderTopic>,
}

impl Default for OffsetForLeaderEpochRequest {
    fn default() -> Self {
        Self { replica_id: -2, topics: Vec::new() }
    }
}

impl Message for OffsetForLeaderEpochRequest {
    const NAME: &'static str = "OffsetForLeaderEpochRequest";
    const VERSIONS: VersionRange = VersionRange::new(2, 4);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 4;
        if version >= 3 {
            enc.i32(self.replica_id);
        }
        enc.array(&self.topics, flexible, "OffsetForLeaderEpochRequest.topics", |enc, value| {
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
            replica_id: if version >= 3 { dec.i32("OffsetForLeaderEpochRequest.replica_id")? } else { -2 },
            topics: dec.array(flexible, 3, "OffsetForLeaderEpochRequest.topics", |dec| {
                OffsetForLeaderTopic::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetForLeaderEpochRequest")?;
        }
        Ok(out)
    }
}

impl Request for OffsetForLeaderEpochRequest {
    const API_KEY: ApiKey = ApiKey::OffsetForLeaderEpoch;
    type Response = super::OffsetForLeaderEpochResponse;
}

/// `OffsetForLeaderTopic` in a `OffsetForLeaderEpochRequest`, versions 2-4.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OffsetForLeaderTopic {
    /// `Topic`: `string`, versions 2-4.
    pub topic: String,
    /// `Partitions`: `[]OffsetForLeaderPartition`, versions 2-4.
    pub partitions: Vec<OffsetForLeaderPartition>,
}

impl OffsetForLeaderTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        enc.string(&self.topic, flexible, "OffsetForLeaderEpochRequest.OffsetForLeaderTopic.topic")?;
        enc.array(
            &self.partitions,
            flexible,
            "OffsetForLeaderEpochRequest.OffsetForLeaderTopic.partitions",
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
            topic: dec.string(flexible, "OffsetForLeaderEpochRequest.OffsetForLeaderTopic.topic")?,
            partitions: dec.array(
                flexible,
                12,
                "OffsetForLeaderEpochRequest.OffsetForLeaderTopic.partitions",
                |dec| OffsetForLeaderPartition::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetForLeaderEpochRequest.OffsetForLeaderTopic")?;
        }
        Ok(out)
    }
}

/// `OffsetForLeaderPartition` in a `OffsetForLeaderEpochRequest`, versions 2-4.
#[derive(Debug, Clone, PartialEq)]
pub struct OffsetForLeaderPartition {
    /// `Partition`: `int32`, versions 2-4.
    pub partition: i32,
    /// `CurrentLeaderEpoch`: `int32`, versions 2-4; -1 by default.
    pub current_leader_epoch: i32,
    /// `LeaderEpoch`: `int32`, versions 2-4.
    pub leader_epoch: i32,
}

impl Default for OffsetForLeaderPartition {
    fn default() -> Self {
        Self { partition: 0, current_leader_epoch: -1, leader_epoch: 0 }
    }
}

impl OffsetForLeaderPartition {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        enc.i32(self.partition);
        enc.i32(self.current_leader_epoch);
        enc.i32(self.leader_epoch);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let out = Self {
            partition: dec.i32("OffsetForLeaderEpochRequest.OffsetForLeaderPartition.partition")?,
            current_leader_epoch: dec
                .i32("OffsetForLeaderEpochRequest.OffsetForLeaderPartition.current_leader_epoch")?,
            leader_epoch: dec.i32("OffsetForLeaderEpochRequest.OffsetForLeaderPartition.leader_epoch")?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetForLeaderEpochRequest.OffsetForLeaderPartition")?;
        }
        Ok(out)
    }
}
