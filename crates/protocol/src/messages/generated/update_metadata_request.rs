// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, Uuid, VersionRange};

/// `UpdateMetadataRequest` (API key 6), versions 0-8.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateMetadataRequest {
    /// `ControllerId`: `int32`, versions 0-8.
    pub controller_id: i32,
    /// `isKRaftController`: `bool`, versions 8.
    pub is_kraft_controller: bool,
    /// `Type`: `int8`, versions 8, tag 0.
    pub r#type: i8,
    /// `ControllerEpoch`: `int32`, versions 0-8.
    pub controller_epoch: i32,
    /// `BrokerEpoch`: `int64`, versions 5-8; -1 by default.
    pub broker_epoch: i64,
    /// `UngroupedPartitionStates`: `[]UpdateMetadataPartitionState`, versions 0-4.
    pub ungrouped_partition_states: Vec<UpdateMetadataPartitionState>,
    /// `TopicStates`: `[]UpdateMetadataTopicState`, versions 5-8.
    pub topic_states: Vec<UpdateMetadataTopicState>,
    /// `LiveBrokers`: `[]UpdateMetadataBroker`, versions 0-8.
    pub live_brokers: Vec<UpdateMetadataBroker>,
    /// `ControlSequence`: `int64`, versions 6-8, tag 1000; -1 by default.
    pub control_sequence: i64,
}

impl Default for UpdateMetadataRequest {
    fn default() -> Self {
        Self {
            controller_id: 0,
            is_kraft_controller: false,
            r#type: 0,
            controller_epoch: 0,
            broker_epoch: -1,
            ungrouped_partition_states: Vec::new(),
            topic_states: Vec::new(),
            live_brokers: Vec::new(),
            control_sequence: -1,
        }
    }
}

impl Message for UpdateMetadataRequest {
    const NAME: &'static str = "UpdateMetadataRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 8);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 6;
        enc.i32(self.controller_id);
        if version == 8 {
            enc.bool(self.is_kraft_controller);
        } else if self.is_kraft_controller {
            return Err(EncodeError::UnsupportedField {
                message: "UpdateMetadataRequest",
                field: "is_kraft_controller",
                version,
            });
        }
        if version < 8 && self.r#type != 0 {
            return Err(EncodeError::UnsupportedField {
                message: "UpdateMetadataRequest",
                field: "type",
                version,
            });
        }
        enc.i32(self.controller_epoch);
        if version >= 5 {
            enc.i64(self.broker_epoch);
        }
        if version <= 4 {
            enc.array(
                &self.ungrouped_partition_states,
                flexible,
                "UpdateMetadataRequest.ungrouped_partition_states",
                |enc, value| value.write(enc, version),
            )?;
        } else if !self.ungrouped_partition_states.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "UpdateMetadataRequest",
                field: "ungrouped_partition_states",
                version,
            });
        }
        if version >= 5 {
            enc.array(&self.topic_states, flexible, "UpdateMetadataRequest.topic_states", |enc, value| {
                value.write(enc, version)
            })?;
        } else if !self.topic_states.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "UpdateMetadataRequest",
                field: "topic_states",
                version,
            });
        }
        enc.array(&self.live_brokers, flexible, "UpdateMetadataRequest.live_brokers", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(
                u32::from(version == 8 && self.r#type != 0) + u32::from(self.control_sequence != -1),
            );
            if version == 8 && self.r#type != 0 {
                enc.tagged_field(0, "UpdateMetadataRequest.type", |enc| {
                    enc.i8(self.r#type);
                    Ok(())
                })?;
            }
            if self.control_sequence != -1 {
                enc.tagged_field(1000, "UpdateMetadataRequest.control_sequence", |enc| {
                    enc.i64(self.control_sequence);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 6;
        let mut out = Self {
            controller_id: dec.i32("UpdateMetadataRequest.controller_id")?,
            is_kraft_controller: if version == 8 {
                dec.bool("UpdateMetadataRequest.is_kraft_controller")?
            } else {
                false
            },
            r#type: 0,
            controller_epoch: dec.i32("UpdateMetadataRequest.controller_epoch")?,
            broker_epoch: if version >= 5 { dec.i64("UpdateMetadataRequest.broker_epoch")? } else { -1 },
            ungrouped_partition_states: if version <= 4 {
                dec.array(flexible, 30, "UpdateMetadataRequest.ungrouped_partition_states", |dec| {
                    UpdateMetadataPartitionState::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            topic_states: if version >= 5 {
                dec.array(flexible, 3, "UpdateMetadataRequest.topic_states", |dec| {
                    UpdateMetadataTopicState::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            live_brokers: dec.array(flexible, 7, "UpdateMetadataRequest.live_brokers", |dec| {
                UpdateMetadataBroker::read(dec, version)
            })?,
            control_sequence: -1,
        };
        if flexible {
            dec.tagged_fields("UpdateMetadataRequest", |tag, dec| {
                match tag {
                    0 if version == 8 => {
                        out.r#type = dec.i8("UpdateMetadataRequest.type")?;
                    }
                    1000 => {
                        out.control_sequence = dec.i64("UpdateMetadataRequest.control_sequence")?;
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(out)
    }
}

impl Request for UpdateMetadataRequest {
    const API_KEY: ApiKey = ApiKey::UpdateMetadata;
    type Response = super::UpdateMetadataResponse;
}

/// `UpdateMetadataTopicState` in a `UpdateMetadataRequest`, versions 5-8.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UpdateMetadataTopicState {
    /// `TopicName`: `string`, versions 5-8.
    pub topic_name: String,
    /// `TopicId`: `uuid`, versions 7-8.
    pub topic_id: Uuid,
    /// `PartitionStates`: `[]UpdateMetadataPartitionState`, versions 5-8.
    pub partition_states: Vec<UpdateMetadataPartitionState>,
}

impl UpdateMetadataTopicState {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        enc.string(&self.topic_name, flexible, "UpdateMetadataRequest.UpdateMetadataTopicState.topic_name")?;
        if version >= 7 {
            enc.uuid(self.topic_id);
        }
        enc.array(
            &self.partition_states,
            flexible,
            "UpdateMetadataRequest.UpdateMetadataTopicState.partition_states",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let out = Self {
            topic_name: dec.string(flexible, "UpdateMetadataRequest.UpdateMetadataTopicState.topic_name")?,
            topic_id: if version >= 7 {
                dec.uuid("UpdateMetadataRequest.UpdateMetadataTopicState.topic_id")?
            } else {
                Uuid::ZERO
            },
            partition_states: dec.array(
                flexible,
                24,
                "UpdateMetadataRequest.UpdateMetadataTopicState.partition_states",
                |dec| UpdateMetadataPartitionState::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("UpdateMetadataRequest.UpdateMetadataTopicState")?;
        }
        Ok(out)
    }
}

/// `UpdateMetadataBroker` in a `UpdateMetadataRequest`, versions 0-8.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateMetadataBroker {
    /// `Id`: `int32`, versions 0-8.
    pub id: i32,
    /// `V0Host`: `string`, versions 0.
    pub v0_host: String,
    /// `V0Port`: `int32`, versions 0.
    pub v0_port: i32,
    /// `Endpoints`: `[]UpdateMetadataEndpoint`, versions 1-8.
    pub endpoints: Vec<UpdateMetadataEndpoint>,
    /// `Rack`: `string`, versions 2-8, nullable.
    pub rack: Option<String>,
}

impl Default for UpdateMetadataBroker {
    fn default() -> Self {
        Self { id: 0, v0_host: String::new(), v0_port: 0, endpoints: Vec::new(), rack: Some(String::new()) }
    }
}

impl UpdateMetadataBroker {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        enc.i32(self.id);
        if version == 0 {
            enc.string(&self.v0_host, flexible, "UpdateMetadataRequest.UpdateMetadataBroker.v0_host")?;
        }
        if version == 0 {
            enc.i32(self.v0_port);
        }
        if version >= 1 {
            enc.array(
                &self.endpoints,
                flexible,
                "UpdateMetadataRequest.UpdateMetadataBroker.endpoints",
                |enc, value| value.write(enc, version),
            )?;
        }
        if version >= 2 {
            enc.nullable_string(
                self.rack.as_deref(),
                flexible,
                "UpdateMetadataRequest.UpdateMetadataBroker.rack",
            )?;
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let out = Self {
            id: dec.i32("UpdateMetadataRequest.UpdateMetadataBroker.id")?,
            v0_host: if version == 0 {
                dec.string(flexible, "UpdateMetadataRequest.UpdateMetadataBroker.v0_host")?
            } else {
                String::new()
            },
            v0_port: if version == 0 {
                dec.i32("UpdateMetadataRequest.UpdateMetadataBroker.v0_port")?
            } else {
                0
            },
            endpoints: if version >= 1 {
                dec.array(flexible, 8, "UpdateMetadataRequest.UpdateMetadataBroker.endpoints", |dec| {
                    UpdateMetadataEndpoint::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            rack: if version >= 2 {
                dec.nullable_string(flexible, "UpdateMetadataRequest.UpdateMetadataBroker.rack")?
            } else {
                Some(String::new())
            },
        };
        if flexible {
            dec.skip_tagged_fields("UpdateMetadataRequest.UpdateMetadataBroker")?;
        }
        Ok(out)
    }
}

/// `UpdateMetadataEndpoint` in a `UpdateMetadataRequest`, versions 1-8.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UpdateMetadataEndpoint {
    /// `Port`: `int32`, versions 1-8.
    pub port: i32,
    /// `Host`: `string`, versions 1-8.
    pub host: String,
    /// `Listener`: `string`, versions 3-8.
    pub listener: String,
    /// `SecurityProtocol`: `int16`, versions 1-8.
    pub security_protocol: i16,
}

impl UpdateMetadataEndpoint {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        enc.i32(self.port);
        enc.string(&self.host, flexible, "UpdateMetadataRequest.UpdateMetadataEndpoint.host")?;
        if version >= 3 {
            enc.string(&self.listener, flexible, "UpdateMetadataRequest.UpdateMetadataEndpoint.listener")?;
        }
        enc.i16(self.security_protocol);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let out = Self {
            port: dec.i32("UpdateMetadataRequest.UpdateMetadataEndpoint.port")?,
            host: dec.string(flexible, "UpdateMetadataRequest.UpdateMetadataEndpoint.host")?,
            listener: if version >= 3 {
                dec.string(flexible, "UpdateMetadataRequest.UpdateMetadataEndpoint.listener")?
            } else {
                String::new()
            },
            security_protocol: dec.i16("UpdateMetadataRequest.UpdateMetadataEndpoint.security_protocol")?,
        };
        if flexible {
            dec.skip_tagged_fields("UpdateMetadataRequest.UpdateMetadataEndpoint")?;
        }
        Ok(out)
    }
}

/// `UpdateMetadataPartitionState` in a `UpdateMetadataRequest`, versions 0-8.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UpdateMetadataPartitionState {
    /// `TopicName`: `string`, versions 0-4.
    pub topic_name: String,
    /// `PartitionIndex`: `int32`, versions 0-8.
    pub partition_index: i32,
    /// `ControllerEpoch`: `int32`, versions 0-8.
    pub controller_epoch: i32,
    /// `Leader`: `int32`, versions 0-8.
    pub leader: i32,
    /// `LeaderEpoch`: `int32`, versions 0-8.
    pub leader_epoch: i32,
    /// `Isr`: `[]int32`, versions 0-8.
    pub isr: Vec<i32>,
    /// `ZkVersion`: `int32`, versions 0-8.
    pub zk_version: i32,
    /// `Replicas`: `[]int32`, versions 0-8.
    pub replicas: Vec<i32>,
    /// `OfflineReplicas`: `[]int32`, versions 4-8.
    pub offline_replicas: Vec<i32>,
}

impl UpdateMetadataPartitionState {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        if version <= 4 {
            enc.string(
                &self.topic_name,
                flexible,
                "UpdateMetadataRequest.UpdateMetadataPartitionState.topic_name",
            )?;
        }
        enc.i32(self.partition_index);
        enc.i32(self.controller_epoch);
        enc.i32(self.leader);
        enc.i32(self.leader_epoch);
        enc.array(
            &self.isr,
            flexible,
            "UpdateMetadataRequest.UpdateMetadataPartitionState.isr",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        enc.i32(self.zk_version);
        enc.array(
            &self.replicas,
            flexible,
            "UpdateMetadataRequest.UpdateMetadataPartitionState.replicas",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        if version >= 4 {
            enc.array(
                &self.offline_replicas,
                flexible,
                "UpdateMetadataRequest.UpdateMetadataPartitionState.offline_replicas",
                |enc, value| {
                    enc.i32(*value);
                    Ok(())
                },
            )?;
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let out = Self {
            topic_name: if version <= 4 {
                dec.string(flexible, "UpdateMetadataRequest.UpdateMetadataPartitionState.topic_name")?
            } else {
                String::new()
            },
            partition_index: dec.i32("UpdateMetadataRequest.UpdateMetadataPartitionState.partition_index")?,
            controller_epoch: dec
                .i32("UpdateMetadataRequest.UpdateMetadataPartitionState.controller_epoch")?,
            leader: dec.i32("UpdateMetadataRequest.UpdateMetadataPartitionState.leader")?,
            leader_epoch: dec.i32("UpdateMetadataRequest.UpdateMetadataPartitionState.leader_epoch")?,
            isr: dec.array(flexible, 4, "UpdateMetadataRequest.UpdateMetadataPartitionState.isr", |dec| {
                dec.i32("UpdateMetadataRequest.UpdateMetadataPartitionState.isr")
            })?,
            zk_version: dec.i32("UpdateMetadataRequest.UpdateMetadataPartitionState.zk_version")?,
            replicas: dec.array(
                flexible,
                4,
                "UpdateMetadataRequest.UpdateMetadataPartitionState.replicas",
                |dec| dec.i32("UpdateMetadataRequest.UpdateMetadataPartitionState.replicas"),
            )?,
            offline_replicas: if version >= 4 {
                dec.array(
                    flexible,
                    4,
                    "UpdateMetadataRequest.UpdateMetadataPartitionState.offline_replicas",
                    |dec| dec.i32("UpdateMetadataRequest.UpdateMetadataPartitionState.offline_replicas"),
                )?
            } else {
                Vec::new()
            },
        };
        if flexible {
            dec.skip_tagged_fields("UpdateMetadataRequest.UpdateMetadataPartitionState")?;
        }
        Ok(out)
    }
}
