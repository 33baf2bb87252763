// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, Uuid, VersionRange};

/// `LeaderAndIsrRequest` (API key 4), versions 0-7.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaderAndIsrRequest {
    /// `ControllerId`: `int32`, versions 0-7.
    pub controller_id: i32,
    /// `isKRaftController`: `bool`, versions 7.
    pub is_kraft_controller: bool,
    /// `ControllerEpoch`: `int32`, versions 0-7.
    pub controller_epoch: i32,
    /// `BrokerEpoch`: `int64`, versions 2-7; -1 by default.
    pub broker_epoch: i64,
    /// `Type`: `int8`, versions 5-7.
    pub r#type: i8,
    /// `UngroupedPartitionStates`: `[]LeaderAndIsrPartitionState`, versions 0-1.
    pub ungrouped_partition_states: Vec<LeaderAndIsrPartitionState>,
    /// `TopicStates`: `[]LeaderAndIsrTopicState`, versions 2-7.
    pub topic_states: Vec<LeaderAndIsrTopicState>,
    /// `LiveLeaders`: `[]LeaderAndIsrLiveLeader`, versions 0-7.
    pub live_leaders: Vec<LeaderAndIsrLiveLeader>,
    /// `ControlSequence`: `int64`, versions 4-7, tag 1000; -1 by default.
    pub control_sequence: i64,
}

impl Default for LeaderAndIsrRequest {
    fn default() -> Self {
        Self {
            controller_id: 0,
            is_kraft_controller: false,
            controller_epoch: 0,
            broker_epoch: -1,
            r#type: 0,
            ungrouped_partition_states: Vec::new(),
            topic_states: Vec::new(),
            live_leaders: Vec::new(),
            control_sequence: -1,
        }
    }
}

impl Message for LeaderAndIsrRequest {
    const NAME: &'static str = "LeaderAndIsrRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 7);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 4;
        enc.i32(self.controller_id);
        if version == 7 {
            enc.bool(self.is_kraft_controller);
        } else if self.is_kraft_controller {
            return Err(EncodeError::UnsupportedField {
                message: "LeaderAndIsrRequest",
                field: "is_kraft_controller",
                version,
            });
        }
        enc.i32(self.controller_epoch);
        if version >= 2 {
            enc.i64(self.broker_epoch);
        }
        if version >= 5 {
            enc.i8(self.r#type);
        } else if self.r#type != 0 {
            return Err(EncodeError::UnsupportedField {
                message: "LeaderAndIsrRequest",
                field: "type",
                version,
            });
        }
        if version <= 1 {
            enc.array(
                &self.ungrouped_partition_states,
                flexible,
                "LeaderAndIsrRequest.ungrouped_partition_states",
                |enc, value| value.write(enc, version),
            )?;
        } else if !self.ungrouped_partition_states.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "LeaderAndIsrRequest",
                field: "ungrouped_partition_states",
                version,
            });
        }
        if version >= 2 {
            enc.array(&self.topic_states, flexible, "LeaderAndIsrRequest.topic_states", |enc, value| {
                value.write(enc, version)
            })?;
        } else if !self.topic_states.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "LeaderAndIsrRequest",
                field: "topic_states",
                version,
            });
        }
        enc.array(&self.live_leaders, flexible, "LeaderAndIsrRequest.live_leaders", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(u32::from(self.control_sequence != -1));
            if self.control_sequence != -1 {
                enc.tagged_field(1000, "LeaderAndIsrRequest.control_sequence", |enc| {
                    enc.i64(self.control_sequence);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 4;
        let mut out = Self {
            controller_id: dec.i32("LeaderAndIsrRequest.controller_id")?,
            is_kraft_controller: if version == 7 {
                dec.bool("LeaderAndIsrRequest.is_kraft_controller")?
            } else {
                false
            },
            controller_epoch: dec.i32("LeaderAndIsrRequest.controller_epoch")?,
            broker_epoch: if version >= 2 { dec.i64("LeaderAndIsrRequest.broker_epoch")? } else { -1 },
            r#type: if version >= 5 { dec.i8("LeaderAndIsrRequest.type")? } else { 0 },
            ungrouped_partition_states: if version <= 1 {
                dec.array(flexible, 30, "LeaderAndIsrRequest.ungrouped_partition_states", |dec| {
                    LeaderAndIsrPartitionState::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            topic_states: if version >= 2 {
                dec.array(flexible, 3, "LeaderAndIsrRequest.topic_states", |dec| {
                    LeaderAndIsrTopicState::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            live_leaders: dec.array(flexible, 10, "LeaderAndIsrRequest.live_leaders", |dec| {
                LeaderAndIsrLiveLeader::read(dec, version)
            })?,
            control_sequence: -1,
        };
        if flexible {
            dec.tagged_fields("LeaderAndIsrRequest", |tag, dec| {
                match tag {
                    1000 => {
                        out.control_sequence = dec.i64("LeaderAndIsrRequest.control_sequence")?;
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(out)
    }
}

impl Request for LeaderAndIsrRequest {
    const API_KEY: ApiKey = ApiKey::LeaderAndIsr;
    type Response = super::LeaderAndIsrResponse;
}

/// `LeaderAndIsrTopicState` in a `LeaderAndIsrRequest`, versions 2-7.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeaderAndIsrTopicState {
    /// `TopicName`: `string`, versions 2-7.
    pub topic_name: String,
    /// `TopicId`: `uuid`, versions 5-7.
    pub topic_id: Uuid,
    /// `PartitionStates`: `[]LeaderAndIsrPartitionState`, versions 2-7.
    pub partition_states: Vec<LeaderAndIsrPartitionState>,
}

impl LeaderAndIsrTopicState {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 4;
        enc.string(&self.topic_name, flexible, "LeaderAndIsrRequest.LeaderAndIsrTopicState.topic_name")?;
        if version >= 5 {
            enc.uuid(self.topic_id);
        }
        enc.array(
            &self.partition_states,
            flexible,
            "LeaderAndIsrRequest.LeaderAndIsrTopicState.partition_states",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 4;
        let out = Self {
            topic_name: dec.string(flexible, "LeaderAndIsrRequest.LeaderAndIsrTopicState.topic_name")?,
            topic_id: if version >= 5 {
                dec.uuid("LeaderAndIsrRequest.LeaderAndIsrTopicState.topic_id")?
            } else {
                Uuid::ZERO
            },
            partition_states: dec.array(
                flexible,
                26,
                "LeaderAndIsrRequest.LeaderAndIsrTopicState.partition_states",
                |dec| LeaderAndIsrPartitionState::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("LeaderAndIsrRequest.LeaderAndIsrTopicState")?;
        }
        Ok(out)
    }
}

/// `LeaderAndIsrLiveLeader` in a `LeaderAndIsrRequest`, versions 0-7.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeaderAndIsrLiveLeader {
    /// `BrokerId`: `int32`, versions 0-7.
    pub broker_id: i32,
    /// `HostName`: `string`, versions 0-7.
    pub host_name: String,
    /// `Port`: `int32`, versions 0-7.
    pub port: i32,
}

impl LeaderAndIsrLiveLeader {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 4;
        enc.i32(self.broker_id);
        enc.string(&self.host_name, flexible, "LeaderAndIsrRequest.LeaderAndIsrLiveLeader.host_name")?;
        enc.i32(self.port);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 4;
        let out = Self {
            broker_id: dec.i32("LeaderAndIsrRequest.LeaderAndIsrLiveLeader.broker_id")?,
            host_name: dec.string(flexible, "LeaderAndIsrRequest.LeaderAndIsrLiveLeader.host_name")?,
            port: dec.i32("LeaderAndIsrRequest.LeaderAndIsrLiveLeader.port")?,
        };
        if flexible {
            dec.skip_tagged_fields("LeaderAndIsrRequest.LeaderAndIsrLiveLeader")?;
        }
        Ok(out)
    }
}

/// `LeaderAndIsrPartitionState` in a `LeaderAndIsrRequest`, versions 0-7.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeaderAndIsrPartitionState {
    /// `TopicName`: `string`, versions 0-1.
    pub topic_name: String,
    /// `PartitionIndex`: `int32`, versions 0-7.
    pub partition_index: i32,
    /// `ControllerEpoch`: `int32`, versions 0-7.
    pub controller_epoch: i32,
    /// `Leader`: `int32`, versions 0-7.
    pub leader: i32,
    /// `LeaderEpoch`: `int32`, versions 0-7.
    pub leader_epoch: i32,
    /// `Isr`: `[]int32`, versions 0-7.
    pub isr: Vec<i32>,
    /// `PartitionEpoch`: `int32`, versions 0-7.
    pub partition_epoch: i32,
    /// `Replicas`: `[]int32`, versions 0-7.
    pub replicas: Vec<i32>,
    /// `AddingReplicas`: `[]int32`, versions 3-7.
    pub adding_replicas: Vec<i32>,
    /// `RemovingReplicas`: `[]int32`, versions 3-7.
    pub removing_replicas: Vec<i32>,
    /// `IsNew`: `bool`, versions 1-7.
    pub is_new: bool,
    /// `LeaderRecoveryState`: `int8`, versions 6-7.
    pub leader_recovery_state: i8,
}

impl LeaderAndIsrPartitionState {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 4;
        if version <= 1 {
            enc.string(
                &self.topic_name,
                flexible,
                "LeaderAndIsrRequest.LeaderAndIsrPartitionState.topic_name",
            )?;
        }
        enc.i32(self.partition_index);
        enc.i32(self.controller_epoch);
        enc.i32(self.leader);
        enc.i32(self.leader_epoch);
        enc.array(
            &self.isr,
            flexible,
            "LeaderAndIsrRequest.LeaderAndIsrPartitionState.isr",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        enc.i32(self.partition_epoch);
        enc.array(
            &self.replicas,
            flexible,
            "LeaderAndIsrRequest.LeaderAndIsrPartitionState.replicas",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        if version >= 3 {
            enc.array(
                &self.adding_replicas,
                flexible,
                "LeaderAndIsrRequest.LeaderAndIsrPartitionState.adding_replicas",
                |enc, value| {
                    enc.i32(*value);
                    Ok(())
                },
            )?;
        }
        if version >= 3 {
            enc.array(
                &self.removing_replicas,
                flexible,
                "LeaderAndIsrRequest.LeaderAndIsrPartitionState.removing_replicas",
                |enc, value| {
                    enc.i32(*value);
                    Ok(())
                },
            )?;
        }
        if version >= 1 {
            enc.bool(self.is_new);
        }
        if version >= 6 {
            enc.i8(self.leader_recovery_state);
        } else if self.leader_recovery_state != 0 {
            return Err(EncodeError::UnsupportedField {
                message: "LeaderAndIsrRequest",
                field: "LeaderAndIsrPartitionState.leader_recovery_state",
                version,
            });
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 4;
        let out = Self {
            topic_name: if version <= 1 {
                dec.string(flexible, "LeaderAndIsrRequest.LeaderAndIsrPartitionState.topic_name")?
            } else {
                String::new()
            },
            partition_index: dec.i32("LeaderAndIsrRequest.LeaderAndIsrPartitionState.partition_index")?,
            controller_epoch: dec.i32("LeaderAndIsrRequest.LeaderAndIsrPartitionState.controller_epoch")?,
            leader: dec.i32("LeaderAndIsrRequest.LeaderAndIsrPartitionState.leader")?,
            leader_epoch: dec.i32("LeaderAndIsrRequest.LeaderAndIsrPartitionState.leader_epoch")?,
            isr: dec.array(flexible, 4, "LeaderAndIsrRequest.LeaderAndIsrPartitionState.isr", |dec| {
                dec.i32("LeaderAndIsrRequest.LeaderAndIsrPartitionState.isr")
            })?,
            partition_epoch: dec.i32("LeaderAndIsrRequest.LeaderAndIsrPartitionState.partition_epoch")?,
            replicas: dec.array(
                flexible,
                4,
                "LeaderAndIsrRequest.LeaderAndIsrPartitionState.replicas",
                |dec| dec.i32("LeaderAndIsrRequest.LeaderAndIsrPartitionState.replicas"),
            )?,
            adding_replicas: if version >= 3 {
                dec.array(
                    flexible,
                    4,
                    "LeaderAndIsrRequest.LeaderAndIsrPartitionState.adding_replicas",
                    |dec| dec.i32("LeaderAndIsrRequest.LeaderAndIsrPartitionState.adding_replicas"),
                )?
            } else {
                Vec::new()
            },
            removing_replicas: if version >= 3 {
                dec.array(
                    flexible,
                    4,
                    "LeaderAndIsrRequest.LeaderAndIsrPartitionState.removing_replicas",
                    |dec| dec.i32("LeaderAndIsrRequest.LeaderAndIsrPartitionState.removing_replicas"),
                )?
            } else {
                Vec::new()
            },
            is_new: if version >= 1 {
                dec.bool("LeaderAndIsrRequest.LeaderAndIsrPartitionState.is_new")?
            } else {
                false
            },
            leader_recovery_state: if version >= 6 {
                dec.i8("LeaderAndIsrRequest.LeaderAndIsrPartitionState.leader_recovery_state")?
            } else {
                0
            },
        };
        if flexible {
            dec.skip_tagged_fields("LeaderAndIsrRequest.LeaderAndIsrPartitionState")?;
        }
        Ok(out)
    }
}
