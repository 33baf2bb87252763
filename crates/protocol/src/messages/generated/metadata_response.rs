// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, Uuid, VersionRange};

/// `MetadataResponse` (API key 3), versions 0-13.
#[derive(Debug, Clone, PartialEq)]
pub struct MetadataResponse {
    /// `ThrottleTimeMs`: `int32`, versions 3-13.
    pub throttle_time_ms: i32,
    /// `Brokers`: `[]MetadataResponseBroker`, versions 0-13.
    pub brokers: Vec<MetadataResponseBroker>,
    /// `ClusterId`: `string`, versions 2-13, nullable; null by default.
    pub cluster_id: Option<String>,
    /// `ControllerId`: `int32`, versions 1-13; -1 by default.
    pub controller_id: i32,
    /// `Topics`: `[]MetadataResponseTopic`, versions 0-13.
    pub topics: Vec<MetadataResponseTopic>,
    /// `ClusterAuthorizedOperations`: `int32`, versions 8-10; i32::MIN by default.
    pub cluster_authorized_operations: i32,
    /// `ErrorCode`: `int16`, versions 13.
    pub error_code: ErrorCode,
}

impl Default for MetadataResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            brokers: Vec::new(),
            cluster_id: None,
            controller_id: -1,
            topics: Vec::new(),
            cluster_authorized_operations: i32::MIN,
            error_code: ErrorCode::NONE,
        }
    }
}

impl Message for MetadataResponse {
    const NAME: &'static str = "MetadataResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 13);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 9;
        if version >= 3 {
            enc.i32(self.throttle_time_ms);
        }
        enc.array(&self.brokers, flexible, "MetadataResponse.brokers", |enc, value| {
            value.write(enc, version)
        })?;
        if version >= 2 {
            enc.nullable_string(self.cluster_id.as_deref(), flexible, "MetadataResponse.cluster_id")?;
        }
        if version >= 1 {
            enc.i32(self.controller_id);
        }
        enc.array(&self.topics, flexible, "MetadataResponse.topics", |enc, value| value.write(enc, version))?;
        if (8..=10).contains(&version) {
            enc.i32(self.cluster_authorized_operations);
        } else if self.cluster_authorized_operations != i32::MIN {
            return Err(EncodeError::UnsupportedField {
                message: "MetadataResponse",
                field: "cluster_authorized_operations",
                version,
            });
        }
        if version == 13 {
            enc.i16(self.error_code.0);
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 9;
        let out = Self {
            throttle_time_ms: if version >= 3 { dec.i32("MetadataResponse.throttle_time_ms")? } else { 0 },
            brokers: dec.array(flexible, 10, "MetadataResponse.brokers", |dec| {
                MetadataResponseBroker::read(dec, version)
            })?,
            cluster_id: if version >= 2 {
                dec.nullable_string(flexible, "MetadataResponse.cluster_id")?
            } else {
                None
            },
            controller_id: if version >= 1 { dec.i32("MetadataResponse.controller_id")? } else { -1 },
            topics: dec.array(flexible, 8, "MetadataResponse.topics", |dec| {
                MetadataResponseTopic::read(dec, version)
            })?,
            cluster_authorized_operations: if (8..=10).contains(&version) {
                dec.i32("MetadataResponse.cluster_authorized_operations")?
            } else {
                i32::MIN
            },
            error_code: if version == 13 {
                dec.i16("MetadataResponse.error_code").map(ErrorCode)?
            } else {
                ErrorCode::NONE
            },
        };
        if flexible {
            dec.skip_tagged_fields("MetadataResponse")?;
        }
        Ok(out)
    }
}

/// `MetadataResponseBroker` in a `MetadataResponse`, versions 0-13.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MetadataResponseBroker {
    /// `NodeId`: `int32`, versions 0-13.
    pub node_id: i32,
    /// `Host`: `string`, versions 0-13.
    pub host: String,
    /// `Port`: `int32`, versions 0-13.
    pub port: i32,
    /// `Rack`: `string`, versions 1-13, nullable; null by default.
    pub rack: Option<String>,
}

impl MetadataResponseBroker {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        enc.i32(self.node_id);
        enc.string(&self.host, flexible, "MetadataResponse.MetadataResponseBroker.host")?;
        enc.i32(self.port);
        if version >= 1 {
            enc.nullable_string(
                self.rack.as_deref(),
                flexible,
                "MetadataResponse.MetadataResponseBroker.rack",
            )?;
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let out = Self {
            node_id: dec.i32("MetadataResponse.MetadataResponseBroker.node_id")?,
            host: dec.string(flexible, "MetadataResponse.MetadataResponseBroker.host")?,
            port: dec.i32("MetadataResponse.MetadataResponseBroker.port")?,
            rack: if version >= 1 {
                dec.nullable_string(flexible, "MetadataResponse.MetadataResponseBroker.rack")?
            } else {
                None
            },
        };
        if flexible {
            dec.skip_tagged_fields("MetadataResponse.MetadataResponseBroker")?;
        }
        Ok(out)
    }
}

/// `MetadataResponseTopic` in a `MetadataResponse`, versions 0-13.
#[derive(Debug, Clone, PartialEq)]
pub struct MetadataResponseTopic {
    /// `ErrorCode`: `int16`, versions 0-13.
    pub error_code: ErrorCode,
    /// `Name`: `string`, versions 0-13, nullable in 12-13.
    pub name: Option<String>,
    /// `TopicId`: `uuid`, versions 10-13.
    pub topic_id: Uuid,
    /// `IsInternal`: `bool`, versions 1-13.
    pub is_internal: bool,
    /// `Partitions`: `[]MetadataResponsePartition`, versions 0-13.
    pub partitions: Vec<MetadataResponsePartition>,
    /// `TopicAuthorizedOperations`: `int32`, versions 8-13; i32::MIN by default.
    pub topic_authorized_operations: i32,
}

impl Default for MetadataResponseTopic {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            name: Some(String::new()),
            topic_id: Uuid::ZERO,
            is_internal: false,
            partitions: Vec::new(),
            topic_authorized_operations: i32::MIN,
        }
    }
}

impl MetadataResponseTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        enc.i16(self.error_code.0);
        if version >= 12 {
            enc.nullable_string(
                self.name.as_deref(),
                flexible,
                "MetadataResponse.MetadataResponseTopic.name",
            )?;
        } else {
            let value = crate::messages::required(
                self.name.as_ref(),
                "MetadataResponse",
                "MetadataResponseTopic.name",
                version,
            )?;
            enc.string(value, flexible, "MetadataResponse.MetadataResponseTopic.name")?;
        }
        if version >= 10 {
            enc.uuid(self.topic_id);
        }
        if version >= 1 {
            enc.bool(self.is_internal);
        }
        enc.array(
            &self.partitions,
            flexible,
            "MetadataResponse.MetadataResponseTopic.partitions",
            |enc, value| value.write(enc, version),
        )?;
        if version >= 8 {
            enc.i32(self.topic_authorized_operations);
        } else if self.topic_authorized_operations != i32::MIN {
            return Err(EncodeError::UnsupportedField {
                message: "MetadataResponse",
                field: "MetadataResponseTopic.topic_authorized_operations",
                version,
            });
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let out = Self {
            error_code: dec.i16("MetadataResponse.MetadataResponseTopic.error_code").map(ErrorCode)?,
            name: if version >= 12 {
                dec.nullable_string(flexible, "MetadataResponse.MetadataResponseTopic.name")?
            } else {
                Some(dec.string(flexible, "MetadataResponse.MetadataResponseTopic.name")?)
            },
            topic_id: if version >= 10 {
                dec.uuid("MetadataResponse.MetadataResponseTopic.topic_id")?
            } else {
                Uuid::ZERO
            },
            is_internal: if version >= 1 {
                dec.bool("MetadataResponse.MetadataResponseTopic.is_internal")?
            } else {
                false
            },
            partitions: dec.array(
                flexible,
                18,
                "MetadataResponse.MetadataResponseTopic.partitions",
                |dec| MetadataResponsePartition::read(dec, version),
            )?,
            topic_authorized_operations: if version >= 8 {
                dec.i32("MetadataResponse.MetadataResponseTopic.topic_authorized_operations")?
            } else {
                i32::MIN
            },
        };
        if flexible {
            dec.skip_tagged_fields("MetadataResponse.MetadataResponseTopic")?;
        }
        Ok(out)
    }
}

/// `MetadataResponsePartition` in a `MetadataResponse`, versions 0-13.
#[derive(Debug, Clone, PartialEq)]
pub struct MetadataResponsePartition {
    /// `ErrorCode`: `int16`, versions 0-13.
    pub error_code: ErrorCode,
    /// `PartitionIndex`: `int32`, versions 0-13.
    pub partition_index: i32,
    /// `LeaderId`: `int32`, versions 0-13.
    pub leader_id: i32,
    /// `LeaderEpoch`: `int32`, versions 7-13; -1 by default.
    pub leader_epoch: i32,
    /// `ReplicaNodes`: `[]int32`, versions 0-13.
    pub replica_nodes: Vec<i32>,
    /// `IsrNodes`: `[]int32`, versions 0-13.
    pub isr_nodes: Vec<i32>,
    /// `OfflineReplicas`: `[]int32`, versions 5-13.
    pub offline_replicas: Vec<i32>,
}

impl Default for MetadataResponsePartition {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            partition_index: 0,
            leader_id: 0,
            leader_epoch: -1,
            replica_nodes: Vec::new(),
            isr_nodes: Vec::new(),
            offline_replicas: Vec::new(),
        }
    }
}

impl MetadataResponsePartition {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        enc.i16(self.error_code.0);
        enc.i32(self.partition_index);
        enc.i32(self.leader_id);
        if version >= 7 {
            enc.i32(self.leader_epoch);
        }
        enc.array(
            &self.replica_nodes,
            flexible,
            "MetadataResponse.MetadataResponsePartition.replica_nodes",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        enc.array(
            &self.isr_nodes,
            flexible,
            "MetadataResponse.MetadataResponsePartition.isr_nodes",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        if version >= 5 {
            enc.array(
                &self.offline_replicas,
                flexible,
                "MetadataResponse.MetadataResponsePartition.offline_replicas",
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
        let flexible = version >= 9;
        let out = Self {
            error_code: dec.i16("MetadataResponse.MetadataResponsePartition.error_code").map(ErrorCode)?,
            partition_index: dec.i32("MetadataResponse.MetadataResponsePartition.partition_index")?,
            leader_id: dec.i32("MetadataResponse.MetadataResponsePartition.leader_id")?,
            leader_epoch: if version >= 7 {
                dec.i32("MetadataResponse.MetadataResponsePartition.leader_epoch")?
            } else {
                -1
            },
            replica_nodes: dec.array(
                flexible,
                4,
                "MetadataResponse.MetadataResponsePartition.replica_nodes",
                |dec| dec.i32("MetadataResponse.MetadataResponsePartition.replica_nodes"),
            )?,
            isr_nodes: dec.array(
                flexible,
                4,
                "MetadataResponse.MetadataResponsePartition.isr_nodes",
                |dec| dec.i32("MetadataResponse.MetadataResponsePartition.isr_nodes"),
            )?,
            offline_replicas: if version >= 5 {
                dec.array(
                    flexible,
                    4,
                    "MetadataResponse.MetadataResponsePartition.offline_replicas",
                    |dec| dec.i32("MetadataResponse.MetadataResponsePartition.offline_replicas"),
                )?
            } else {
                Vec::new()
            },
        };
        if flexible {
            dec.skip_tagged_fields("MetadataResponse.MetadataResponsePartition")?;
        }
        Ok(out)
    }
}
