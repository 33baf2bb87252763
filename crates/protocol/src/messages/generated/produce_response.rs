// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, Uuid, VersionRange};

/// `ProduceResponse` (API key 0), versions 3-13.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProduceResponse {
    /// `Responses`: `[]TopicProduceResponse`, versions 3-13.
    pub responses: Vec<TopicProduceResponse>,
    /// `ThrottleTimeMs`: `int32`, versions 3-13.
    pub throttle_time_ms: i32,
    /// `NodeEndpoints`: `[]NodeEndpoint`, versions 10-13, tag 0.
    pub node_endpoints: Vec<NodeEndpoint>,
}

impl Message for ProduceResponse {
    const NAME: &'static str = "ProduceResponse";
    const VERSIONS: VersionRange = VersionRange::new(3, 13);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 9;
        enc.array(&self.responses, flexible, "ProduceResponse.responses", |enc, value| {
            value.write(enc, version)
        })?;
        enc.i32(self.throttle_time_ms);
        if version < 10 && !self.node_endpoints.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "ProduceResponse",
                field: "node_endpoints",
                version,
            });
        }
        if flexible {
            enc.unsigned_varint(u32::from(version >= 10 && !self.node_endpoints.is_empty()));
            if version >= 10 && !self.node_endpoints.is_empty() {
                enc.tagged_field(0, "ProduceResponse.node_endpoints", |enc| {
                    enc.array(&self.node_endpoints, true, "ProduceResponse.node_endpoints", |enc, value| {
                        value.write(enc, version)
                    })?;
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 9;
        let mut out = Self {
            responses: dec.array(flexible, 3, "ProduceResponse.responses", |dec| {
                TopicProduceResponse::read(dec, version)
            })?,
            throttle_time_ms: dec.i32("ProduceResponse.throttle_time_ms")?,
            node_endpoints: Vec::new(),
        };
        if flexible {
            dec.tagged_fields("ProduceResponse", |tag, dec| {
                match tag {
                    0 if version >= 10 => {
                        out.node_endpoints =
                            dec.array(true, 11, "ProduceResponse.node_endpoints", |dec| {
                                NodeEndpoint::read(dec, version)
                            })?;
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(out)
    }
}

/// `TopicProduceResponse` in a `ProduceResponse`, versions 3-13.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TopicProduceResponse {
    /// `Name`: `string`, versions 3-12.
    pub name: String,
    /// `TopicId`: `uuid`, versions 13.
    pub topic_id: Uuid,
    /// `PartitionResponses`: `[]PartitionProduceResponse`, versions 3-13.
    pub partition_responses: Vec<PartitionProduceResponse>,
}

impl TopicProduceResponse {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        if version <= 12 {
            enc.string(&self.name, flexible, "ProduceResponse.TopicProduceResponse.name")?;
        }
        if version == 13 {
            enc.uuid(self.topic_id);
        }
        enc.array(
            &self.partition_responses,
            flexible,
            "ProduceResponse.TopicProduceResponse.partition_responses",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let out = Self {
            name: if version <= 12 {
                dec.string(flexible, "ProduceResponse.TopicProduceResponse.name")?
            } else {
                String::new()
            },
            topic_id: if version == 13 {
                dec.uuid("ProduceResponse.TopicProduceResponse.topic_id")?
            } else {
                Uuid::ZERO
            },
            partition_responses: dec.array(
                flexible,
                22,
                "ProduceResponse.TopicProduceResponse.partition_responses",
                |dec| PartitionProduceResponse::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("ProduceResponse.TopicProduceResponse")?;
        }
        Ok(out)
    }
}

/// `PartitionProduceResponse` in a `ProduceResponse`, versions 3-13.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionProduceResponse {
    /// `Index`: `int32`, versions 3-13.
    pub index: i32,
    /// `ErrorCode`: `int16`, versions 3-13.
    pub error_code: ErrorCode,
    /// `BaseOffset`: `int64`, versions 3-13.
    pub base_offset: i64,
    /// `LogAppendTimeMs`: `int64`, versions 3-13; -1 by default.
    pub log_append_time_ms: i64,
    /// `LogStartOffset`: `int64`, versions 5-13; -1 by default.
    pub log_start_offset: i64,
    /// `RecordErrors`: `[]BatchIndexAndErrorMessage`, versions 8-13.
    pub record_errors: Vec<BatchIndexAndErrorMessage>,
    /// `ErrorMessage`: `string`, versions 8-13, nullable; null by default.
    pub error_message: Option<String>,
    /// `CurrentLeader`: `LeaderIdAndEpoch`, versions 10-13, tag 0.
    pub current_leader: LeaderIdAndEpoch,
}

impl Default for PartitionProduceResponse {
    fn default() -> Self {
        Self {
            index: 0,
            error_code: ErrorCode::NONE,
            base_offset: 0,
            log_append_time_ms: -1,
            log_start_offset: -1,
            record_errors: Vec::new(),
            error_message: None,
            current_leader: LeaderIdAndEpoch::default(),
        }
    }
}

impl PartitionProduceResponse {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        enc.i32(self.index);
        enc.i16(self.error_code.0);
        enc.i64(self.base_offset);
        enc.i64(self.log_append_time_ms);
        if version >= 5 {
            enc.i64(self.log_start_offset);
        }
        if version >= 8 {
            enc.array(
                &self.record_errors,
                flexible,
                "ProduceResponse.PartitionProduceResponse.record_errors",
                |enc, value| value.write(enc, version),
            )?;
        }
        if version >= 8 {
            enc.nullable_string(
                self.error_message.as_deref(),
                flexible,
                "ProduceResponse.PartitionProduceResponse.error_message",
            )?;
        }
        if version < 10 && self.current_leader != LeaderIdAndEpoch::default() {
            return Err(EncodeError::UnsupportedField {
                message: "ProduceResponse",
                field: "PartitionProduceResponse.current_leader",
                version,
            });
        }
        if flexible {
            enc.unsigned_varint(u32::from(
                version >= 10 && self.current_leader != LeaderIdAndEpoch::default(),
            ));
            if version >= 10 && self.current_leader != LeaderIdAndEpoch::default() {
                enc.tagged_field(0, "ProduceResponse.PartitionProduceResponse.current_leader", |enc| {
                    self.current_leader.write(enc, version)?;
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let mut out = Self {
            index: dec.i32("ProduceResponse.PartitionProduceResponse.index")?,
            error_code: dec.i16("ProduceResponse.PartitionProduceResponse.error_code").map(ErrorCode)?,
            base_offset: dec.i64("ProduceResponse.PartitionProduceResponse.base_offset")?,
            log_append_time_ms: dec.i64("ProduceResponse.PartitionProduceResponse.log_append_time_ms")?,
            log_start_offset: if version >= 5 {
                dec.i64("ProduceResponse.PartitionProduceResponse.log_start_offset")?
            } else {
                -1
            },
            record_errors: if version >= 8 {
                dec.array(flexible, 6, "ProduceResponse.PartitionProduceResponse.record_errors", |dec| {
                    BatchIndexAndErrorMessage::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            error_message: if version >= 8 {
                dec.nullable_string(flexible, "ProduceResponse.PartitionProduceResponse.error_message")?
            } else {
                None
            },
            current_leader: LeaderIdAndEpoch::default(),
        };
        if flexible {
            dec.tagged_fields("ProduceResponse.PartitionProduceResponse", |tag, dec| {
                match tag {
                    0 if version >= 10 => {
                        out.current_leader = LeaderIdAndEpoch::read(dec, version)?;
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(out)
    }
}

/// `BatchIndexAndErrorMessage` in a `ProduceResponse`, versions 8-13.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BatchIndexAndErrorMessage {
    /// `BatchIndex`: `int32`, versions 8-13.
    pub batch_index: i32,
    /// `BatchIndexErrorMessage`: `string`, versions 8-13, nullable; null by default.
    pub batch_index_error_message: Option<String>,
}

impl BatchIndexAndErrorMessage {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        enc.i32(self.batch_index);
        enc.nullable_string(
            self.batch_index_error_message.as_deref(),
            flexible,
            "ProduceResponse.BatchIndexAndErrorMessage.batch_index_error_message",
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let out = Self {
            batch_index: dec.i32("ProduceResponse.BatchIndexAndErrorMessage.batch_index")?,
            batch_index_error_message: dec.nullable_string(
                flexible,
                "ProduceResponse.BatchIndexAndErrorMessage.batch_index_error_message",
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("ProduceResponse.BatchIndexAndErrorMessage")?;
        }
        Ok(out)
    }
}

/// `LeaderIdAndEpoch` in a `ProduceResponse`, versions 10-13.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaderIdAndEpoch {
    /// `LeaderId`: `int32`, versions 10-13; -1 by default.
    pub leader_id: i32,
    /// `LeaderEpoch`: `int32`, versions 10-13; -1 by default.
    pub leader_epoch: i32,
}

impl Default for LeaderIdAndEpoch {
    fn default() -> Self {
        Self { leader_id: -1, leader_epoch: -1 }
    }
}

impl LeaderIdAndEpoch {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i32(self.leader_id);
        enc.i32(self.leader_epoch);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            leader_id: dec.i32("ProduceResponse.LeaderIdAndEpoch.leader_id")?,
            leader_epoch: dec.i32("ProduceResponse.LeaderIdAndEpoch.leader_epoch")?,
        };
        dec.skip_tagged_fields("ProduceResponse.LeaderIdAndEpoch")?;

        Ok(out)
    }
}

/// `NodeEndpoint` in a `ProduceResponse`, versions 10-13.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodeEndpoint {
    /// `NodeId`: `int32`, versions 10-13.
    pub node_id: i32,
    /// `Host`: `string`, versions 10-13.
    pub host: String,
    /// `Port`: `int32`, versions 10-13.
    pub port: i32,
    /// `Rack`: `string`, versions 10-13, nullable; null by default.
    pub rack: Option<String>,
}

impl NodeEndpoint {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i32(self.node_id);
        enc.string(&self.host, true, "ProduceResponse.NodeEndpoint.host")?;
        enc.i32(self.port);
        enc.nullable_string(self.rack.as_deref(), true, "ProduceResponse.NodeEndpoint.rack")?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            node_id: dec.i32("ProduceResponse.NodeEndpoint.node_id")?,
            host: dec.string(true, "ProduceResponse.NodeEndpoint.host")?,
            port: dec.i32("ProduceResponse.NodeEndpoint.port")?,
            rack: dec.nullable_string(true, "ProduceResponse.NodeEndpoint.rack")?,
        };
        dec.skip_tagged_fields("ProduceResponse.NodeEndpoint")?;

        Ok(out)
    }
}
