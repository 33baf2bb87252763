// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `CreateTopicsRequest` (API key 19), versions 2-7.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTopicsRequest {
    /// `Topics`: `[]CreatableTopic`, versions 2-7.
    pub topics: Vec<CreatableTopic>,
    /// `timeoutMs`: `int32`, versions 2-7; 60000 by default.
    pub timeout_ms: i32,
    /// `validateOnly`: `bool`, versions 2-7.
    pub validate_only: bool,
}

impl Default for CreateTopicsRequest {
    fn default() -> Self {
        Self { topics: Vec::new(), timeout_ms: 60000, validate_only: false }
    }
}

impl Message for CreateTopicsRequest {
    const NAME: &'static str = "CreateTopicsRequest";
    const VERSIONS: VersionRange = VersionRange::new(2, 7);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 5;
        enc.array(&self.topics, flexible, "CreateTopicsRequest.topics", |enc, value| {
            value.write(enc, version)
        })?;
        enc.i32(self.timeout_ms);
        enc.bool(self.validate_only);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 5;
        let out = Self {
            topics: dec.array(flexible, 10, "CreateTopicsRequest.topics", |dec| {
                CreatableTopic::read(dec, version)
            })?,
            timeout_ms: dec.i32("CreateTopicsRequest.timeout_ms")?,
            validate_only: dec.bool("CreateTopicsRequest.validate_only")?,
        };
        if flexible {
            dec.skip_tagged_fields("CreateTopicsRequest")?;
        }
        Ok(out)
    }
}

impl Request for CreateTopicsRequest {
    const API_KEY: ApiKey = ApiKey::CreateTopics;
    type Response = super::CreateTopicsResponse;
}

/// `CreatableTopic` in a `CreateTopicsRequest`, versions 2-7.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CreatableTopic {
    /// `Name`: `string`, versions 2-7.
    pub name: String,
    /// `NumPartitions`: `int32`, versions 2-7.
    pub num_partitions: i32,
    /// `ReplicationFactor`: `int16`, versions 2-7.
    pub replication_factor: i16,
    /// `Assignments`: `[]CreatableReplicaAssignment`, versions 2-7.
    pub assignments: Vec<CreatableReplicaAssignment>,
    /// `Configs`: `[]CreatableTopicConfig`, versions 2-7.
    pub configs: Vec<CreatableTopicConfig>,
}

impl CreatableTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 5;
        enc.string(&self.name, flexible, "CreateTopicsRequest.CreatableTopic.name")?;
        enc.i32(self.num_partitions);
        enc.i16(self.replication_factor);
        enc.array(
            &self.assignments,
            flexible,
            "CreateTopicsRequest.CreatableTopic.assignments",
            |enc, value| value.write(enc, version),
        )?;
        enc.array(&self.configs, flexible, "CreateTopicsRequest.CreatableTopic.configs", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 5;
        let out = Self {
            name: dec.string(flexible, "CreateTopicsRequest.CreatableTopic.name")?,
            num_partitions: dec.i32("CreateTopicsRequest.CreatableTopic.num_partitions")?,
            replication_factor: dec.i16("CreateTopicsRequest.CreatableTopic.replication_factor")?,
            assignments: dec.array(flexible, 6, "CreateTopicsRequest.CreatableTopic.assignments", |dec| {
                CreatableReplicaAssignment::read(dec, version)
            })?,
            configs: dec.array(flexible, 3, "CreateTopicsRequest.CreatableTopic.configs", |dec| {
                CreatableTopicConfig::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("CreateTopicsRequest.CreatableTopic")?;
        }
        Ok(out)
    }
}

/// `CreatableReplicaAssignment` in a `CreateTopicsRequest`, versions 2-7.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CreatableReplicaAssignment {
    /// `PartitionIndex`: `int32`, versions 2-7.
    pub partition_index: i32,
    /// `BrokerIds`: `[]int32`, versions 2-7.
    pub broker_ids: Vec<i32>,
}

impl CreatableReplicaAssignment {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 5;
        enc.i32(self.partition_index);
        enc.array(
            &self.broker_ids,
            flexible,
            "CreateTopicsRequest.CreatableReplicaAssignment.broker_ids",
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
        let flexible = version >= 5;
        let out = Self {
            partition_index: dec.i32("CreateTopicsRequest.CreatableReplicaAssignment.partition_index")?,
            broker_ids: dec.array(
                flexible,
                4,
                "CreateTopicsRequest.CreatableReplicaAssignment.broker_ids",
                |dec| dec.i32("CreateTopicsRequest.CreatableReplicaAssignment.broker_ids"),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("CreateTopicsRequest.CreatableReplicaAssignment")?;
        }
        Ok(out)
    }
}

/// `CreatableTopicConfig` in a `CreateTopicsRequest`, versions 2-7.
#[derive(Debug, Clone, PartialEq)]
pub struct CreatableTopicConfig {
    /// `Name`: `string`, versions 2-7.
    pub name: String,
    /// `Value`: `string`, versions 2-7, nullable.
    pub value: Option<String>,
}

impl Default for CreatableTopicConfig {
    fn default() -> Self {
        Self { name: String::new(), value: Some(String::new()) }
    }
}

impl CreatableTopicConfig {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 5;
        enc.string(&self.name, flexible, "CreateTopicsRequest.CreatableTopicConfig.name")?;
        enc.nullable_string(
            self.value.as_deref(),
            flexible,
            "CreateTopicsRequest.CreatableTopicConfig.value",
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 5;
        let out = Self {
            name: dec.string(flexible, "CreateTopicsRequest.CreatableTopicConfig.name")?,
            value: dec.nullable_string(flexible, "CreateTopicsRequest.CreatableTopicConfig.value")?,
        };
        if flexible {
            dec.skip_tagged_fields("CreateTopicsRequest.CreatableTopicConfig")?;
        }
        Ok(out)
    }
}
