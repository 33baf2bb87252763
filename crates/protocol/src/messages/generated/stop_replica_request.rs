// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `StopReplicaRequest` (API key 5), versions 0-4.
#[derive(Debug, Clone, PartialEq)]
pub struct StopReplicaRequest {
    /// `ControllerId`: `int32`, versions 0-4.
    pub controller_id: i32,
    /// `isKRaftController`: `bool`, versions 4.
    pub is_kraft_controller: bool,
    /// `ControllerEpoch`: `int32`, versions 0-4.
    pub controller_epoch: i32,
    /// `BrokerEpoch`: `int64`, versions 1-4; -1 by default.
    pub broker_epoch: i64,
    /// `DeletePartitions`: `bool`, versions 0-2.
    pub delete_partitions: bool,
    /// `UngroupedPartitions`: `[]StopReplicaPartitionV0`, versions 0.
    pub ungrouped_partitions: Vec<StopReplicaPartitionV0>,
    /// `Topics`: `[]StopReplicaTopicV1`, versions 1-2.
    pub topics: Vec<StopReplicaTopicV1>,
    /// `TopicStates`: `[]StopReplicaTopicState`, versions 3-4.
    pub topic_states: Vec<StopReplicaTopicState>,
    /// `ControlSequence`: `int64`, versions 2-4, tag 1000; -1 by default.
    pub control_sequence: i64,
}

impl Default for StopReplicaRequest {
    fn default() -> Self {
        Self {
            controller_id: 0,
            is_kraft_controller: false,
            controller_epoch: 0,
            broker_epoch: -1,
            delete_partitions: false,
            ungrouped_partitions: Vec::new(),
            topics: Vec::new(),
            topic_states: Vec::new(),
            control_sequence: -1,
        }
    }
}

impl Message for StopReplicaRequest {
    const NAME: &'static str = "StopReplicaRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 4);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 2;
        enc.i32(self.controller_id);
        if version == 4 {
            enc.bool(self.is_kraft_controller);
        } else if self.is_kraft_controller {
            return Err(EncodeError::UnsupportedField {
                message: "StopReplicaRequest",
                field: "is_kraft_controller",
                version,
            });
        }
        enc.i32(self.controller_epoch);
        if version >= 1 {
            enc.i64(self.broker_epoch);
        }
        if version <= 2 {
            enc.bool(self.delete_partitions);
        } else if self.delete_partitions {
            return Err(EncodeError::UnsupportedField {
                message: "StopReplicaRequest",
                field: "delete_partitions",
                version,
            });
        }
        if version == 0 {
            enc.array(
                &self.ungrouped_partitions,
                flexible,
                "StopReplicaRequest.ungrouped_partitions",
                |enc, value| value.write(enc, version),
            )?;
        } else if !self.ungrouped_partitions.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "StopReplicaRequest",
                field: "ungrouped_partitions",
                version,
            });
        }
        if (1..=2).contains(&version) {
            enc.array(&self.topics, flexible, "StopReplicaRequest.topics", |enc, value| {
                value.write(enc, version)
            })?;
        } else if !self.topics.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "StopReplicaRequest",
                field: "topics",
                version,
            });
        }
        if version >= 3 {
            enc.array(&self.topic_states, flexible, "StopReplicaRequest.topic_states", |enc, value| {
                value.write(enc, version)
            })?;
        } else if !self.topic_states.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "StopReplicaRequest",
                field: "topic_states",
                version,
            });
        }
        if flexible {
            enc.unsigned_varint(u32::from(self.control_sequence != -1));
            if self.control_sequence != -1 {
                enc.tagged_field(1000, "StopReplicaRequest.control_sequence", |enc| {
                    enc.i64(self.control_sequence);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 2;
        let mut out = Self {
            controller_id: dec.i32("StopReplicaRequest.controller_id")?,
            is_kraft_controller: if version == 4 {
                dec.bool("StopReplicaRequest.is_kraft_controller")?
            } else {
                false
            },
            controller_epoch: dec.i32("StopReplicaRequest.controller_epoch")?,
            broker_epoch: if version >= 1 { dec.i64("StopReplicaRequest.broker_epoch")? } else { -1 },
            delete_partitions: if version <= 2 {
                dec.bool("StopReplicaRequest.delete_partitions")?
            } else {
                false
            },
            ungrouped_partitions: if version == 0 {
                dec.array(flexible, 6, "StopReplicaRequest.ungrouped_partitions", |dec| {
                    StopReplicaPartitionV0::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            topics: if (1..=2).contains(&version) {
                dec.array(flexible, 3, "StopReplicaRequest.topics", |dec| {
                    StopReplicaTopicV1::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            topic_states: if version >= 3 {
                dec.array(flexible, 3, "StopReplicaRequest.topic_states", |dec| {
                    StopReplicaTopicState::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            control_sequence: -1,
        };
        if flexible {
            dec.tagged_fields("StopReplicaRequest", |tag, dec| {
                match tag {
                    1000 => {
                        out.control_sequence = dec.i64("StopReplicaRequest.control_sequence")?;
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(out)
    }
}

impl Request for StopReplicaRequest {
    const API_KEY: ApiKey = ApiKey::StopReplica;
    type Response = super::StopReplicaResponse;
}

/// `StopReplicaPartitionV0` in a `StopReplicaRequest`, versions 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StopReplicaPartitionV0 {
    /// `TopicName`: `string`, versions 0.
    pub topic_name: String,
    /// `PartitionIndex`: `int32`, versions 0.
    pub partition_index: i32,
}

impl StopReplicaPartitionV0 {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.string(&self.topic_name, false, "StopReplicaRequest.StopReplicaPartitionV0.topic_name")?;
        enc.i32(self.partition_index);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        Ok(Self {
            topic_name: dec.string(false, "StopReplicaRequest.StopReplicaPartitionV0.topic_name")?,
            partition_index: dec.i32("StopReplicaRequest.StopReplicaPartitionV0.partition_index")?,
        })
    }
}

/// `StopReplicaTopicV1` in a `StopReplicaRequest`, versions 1-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StopReplicaTopicV1 {
    /// `Name`: `string`, versions 1-2.
    pub name: String,
    /// `PartitionIndexes`: `[]int32`, versions 1-2.
    pub partition_indexes: Vec<i32>,
}

impl StopReplicaTopicV1 {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
        enc.string(&self.name, flexible, "StopReplicaRequest.StopReplicaTopicV1.name")?;
        enc.array(
            &self.partition_indexes,
            flexible,
            "StopReplicaRequest.StopReplicaTopicV1.partition_indexes",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 2;
        let out = Self {
            name: dec.string(flexible, "StopReplicaRequest.StopReplicaTopicV1.name")?,
            partition_indexes: dec.array(
                flexible,
                4,
                "StopReplicaRequest.StopReplicaTopicV1.partition_indexes",
                |dec| dec.i32("StopReplicaRequest.StopReplicaTopicV1.partition_indexes"),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("StopReplicaRequest.StopReplicaTopicV1")?;
        }
        Ok(out)
    }
}

/// `StopReplicaTopicState` in a `StopReplicaRequest`, versions 3-4.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StopReplicaTopicState {
    /// `TopicName`: `string`, versions 3-4.
    pub topic_name: String,
    /// `PartitionStates`: `[]StopReplicaPartitionState`, versions 3-4.
    pub partition_states: Vec<StopReplicaPartitionState>,
}

impl StopReplicaTopicState {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.string(&self.topic_name, true, "StopReplicaRequest.StopReplicaTopicState.topic_name")?;
        enc.array(
            &self.partition_states,
            true,
            "StopReplicaRequest.StopReplicaTopicState.partition_states",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            topic_name: dec.string(true, "StopReplicaRequest.StopReplicaTopicState.topic_name")?,
            partition_states: dec.array(
                true,
                10,
                "StopReplicaRequest.StopReplicaTopicState.partition_states",
                |dec| StopReplicaPartitionState::read(dec, version),
            )?,
        };
        dec.skip_tagged_fields("StopReplicaRequest.StopReplicaTopicState")?;

        Ok(out)
    }
}

/// `StopReplicaPartitionState` in a `StopReplicaRequest`, versions 3-4.
#[derive(Debug, Clone, PartialEq)]
pub struct StopReplicaPartitionState {
    /// `PartitionIndex`: `int32`, versions 3-4.
    pub partition_index: i32,
    /// `LeaderEpoch`: `int32`, versions 3-4; -1 by default.
    pub leader_epoch: i32,
    /// `DeletePartition`: `bool`, versions 3-4.
    pub delete_partition: bool,
}

impl Default for StopReplicaPartitionState {
    fn default() -> Self {
        Self { partition_index: 0, leader_epoch: -1, delete_partition: false }
    }
}

impl StopReplicaPartitionState {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i32(self.partition_index);
        enc.i32(self.leader_epoch);
        enc.bool(self.delete_partition);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            partition_index: dec.i32("StopReplicaRequest.StopReplicaPartitionState.partition_index")?,
            leader_epoch: dec.i32("StopReplicaRequest.StopReplicaPartitionState.leader_epoch")?,
            delete_partition: dec.bool("StopReplicaRequest.StopReplicaPartitionState.delete_partition")?,
        };
        dec.skip_tagged_fields("StopReplicaRequest.StopReplicaPartitionState")?;

        Ok(out)
    }
}
