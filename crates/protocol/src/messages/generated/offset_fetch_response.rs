// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, Uuid, VersionRange};

/// `OffsetFetchResponse` (API key 9), versions 1-10.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OffsetFetchResponse {
    /// `ThrottleTimeMs`: `int32`, versions 3-10.
    pub throttle_time_ms: i32,
    /// `Topics`: `[]OffsetFetchResponseTopic`, versions 1-7.
    pub topics: Vec<OffsetFetchResponseTopic>,
    /// `ErrorCode`: `int16`, versions 2-7.
    pub error_code: ErrorCode,
    /// `Groups`: `[]OffsetFetchResponseGroup`, versions 8-10.
    pub groups: Vec<OffsetFetchResponseGroup>,
}

impl Message for OffsetFetchResponse {
    const NAME: &'static str = "OffsetFetchResponse";
    const VERSIONS: VersionRange = VersionRange::new(1, 10);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 6;
        if version >= 3 {
            enc.i32(self.throttle_time_ms);
        }
        if version <= 7 {
            enc.array(&self.topics, flexible, "OffsetFetchResponse.topics", |enc, value| {
                value.write(enc, version)
            })?;
        } else if !self.topics.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "OffsetFetchResponse",
                field: "topics",
                version,
            });
        }
        if (2..=7).contains(&version) {
            enc.i16(self.error_code.0);
        }
        if version >= 8 {
            enc.array(&self.groups, flexible, "OffsetFetchResponse.groups", |enc, value| {
                value.write(enc, version)
            })?;
        } else if !self.groups.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "OffsetFetchResponse",
                field: "groups",
                version,
            });
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 6;
        let out = Self {
            throttle_time_ms: if version >= 3 { dec.i32("OffsetFetchResponse.throttle_time_ms")? } else { 0 },
            topics: if version <= 7 {
                dec.array(flexible, 3, "OffsetFetchResponse.topics", |dec| {
                    OffsetFetchResponseTopic::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            error_code: if (2..=7).contains(&version) {
                dec.i16("OffsetFetchResponse.error_code").map(ErrorCode)?
            } else {
                ErrorCode::NONE
            },
            groups: if version >= 8 {
                dec.array(flexible, 5, "OffsetFetchResponse.groups", |dec| {
                    OffsetFetchResponseGroup::read(dec, version)
                })?
            } else {
                Vec::new()
            },
        };
        if flexible {
            dec.skip_tagged_fields("OffsetFetchResponse")?;
        }
        Ok(out)
    }
}

/// `OffsetFetchResponseTopic` in a `OffsetFetchResponse`, versions 1-7.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OffsetFetchResponseTopic {
    /// `Name`: `string`, versions 1-7.
    pub name: String,
    /// `Partitions`: `[]OffsetFetchResponsePartition`, versions 1-7.
    pub partitions: Vec<OffsetFetchResponsePartition>,
}

impl OffsetFetchResponseTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        enc.string(&self.name, flexible, "OffsetFetchResponse.OffsetFetchResponseTopic.name")?;
        enc.array(
            &self.partitions,
            flexible,
            "OffsetFetchResponse.OffsetFetchResponseTopic.partitions",
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
            name: dec.string(flexible, "OffsetFetchResponse.OffsetFetchResponseTopic.name")?,
            partitions: dec.array(
                flexible,
                16,
                "OffsetFetchResponse.OffsetFetchResponseTopic.partitions",
                |dec| OffsetFetchResponsePartition::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetFetchResponse.OffsetFetchResponseTopic")?;
        }
        Ok(out)
    }
}

/// `OffsetFetchResponsePartition` in a `OffsetFetchResponse`, versions 1-7.
#[derive(Debug, Clone, PartialEq)]
pub struct OffsetFetchResponsePartition {
    /// `PartitionIndex`: `int32`, versions 1-7.
    pub partition_index: i32,
    /// `CommittedOffset`: `int64`, versions 1-7.
    pub committed_offset: i64,
    /// `CommittedLeaderEpoch`: `int32`, versions 5-7; -1 by default.
    pub committed_leader_epoch: i32,
    /// `Metadata`: `string`, versions 1-7, nullable.
    pub metadata: Option<String>,
    /// `ErrorCode`: `int16`, versions 1-7.
    pub error_code: ErrorCode,
}

impl Default for OffsetFetchResponsePartition {
    fn default() -> Self {
        Self {
            partition_index: 0,
            committed_offset: 0,
            committed_leader_epoch: -1,
            metadata: Some(String::new()),
            error_code: ErrorCode::NONE,
        }
    }
}

impl OffsetFetchResponsePartition {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        enc.i32(self.partition_index);
        enc.i64(self.committed_offset);
        if version >= 5 {
            enc.i32(self.committed_leader_epoch);
        }
        enc.nullable_string(
            self.metadata.as_deref(),
            flexible,
            "OffsetFetchResponse.OffsetFetchResponsePartition.metadata",
        )?;
        enc.i16(self.error_code.0);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let out = Self {
            partition_index: dec.i32("OffsetFetchResponse.OffsetFetchResponsePartition.partition_index")?,
            committed_offset: dec.i64("OffsetFetchResponse.OffsetFetchResponsePartition.committed_offset")?,
            committed_leader_epoch: if version >= 5 {
                dec.i32("OffsetFetchResponse.OffsetFetchResponsePartition.committed_leader_epoch")?
            } else {
                -1
            },
            metadata: dec
                .nullable_string(flexible, "OffsetFetchResponse.OffsetFetchResponsePartition.metadata")?,
            error_code: dec
                .i16("OffsetFetchResponse.OffsetFetchResponsePartition.error_code")
                .map(ErrorCode)?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetFetchResponse.OffsetFetchResponsePartition")?;
        }
        Ok(out)
    }
}

/// `OffsetFetchResponseGroup` in a `OffsetFetchResponse`, versions 8-10.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OffsetFetchResponseGroup {
    /// `GroupId`: `string`, versions 8-10.
    pub group_id: String,
    /// `Topics`: `[]OffsetFetchResponseTopics`, versions 8-10.
    pub topics: Vec<OffsetFetchResponseTopics>,
    /// `ErrorCode`: `int16`, versions 8-10.
    pub error_code: ErrorCode,
}

impl OffsetFetchResponseGroup {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.string(&self.group_id, true, "OffsetFetchResponse.OffsetFetchResponseGroup.group_id")?;
        enc.array(
            &self.topics,
            true,
            "OffsetFetchResponse.OffsetFetchResponseGroup.topics",
            |enc, value| value.write(enc, version),
        )?;
        enc.i16(self.error_code.0);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            group_id: dec.string(true, "OffsetFetchResponse.OffsetFetchResponseGroup.group_id")?,
            topics: dec.array(true, 3, "OffsetFetchResponse.OffsetFetchResponseGroup.topics", |dec| {
                OffsetFetchResponseTopics::read(dec, version)
            })?,
            error_code: dec.i16("OffsetFetchResponse.OffsetFetchResponseGroup.error_code").map(ErrorCode)?,
        };
        dec.skip_tagged_fields("OffsetFetchResponse.OffsetFetchResponseGroup")?;

        Ok(out)
    }
}

/// `OffsetFetchResponseTopics` in a `OffsetFetchResponse`, versions 8-10.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OffsetFetchResponseTopics {
    /// `Name`: `string`, versions 8-9.
    pub name: String,
    /// `TopicId`: `uuid`, versions 10.
    pub topic_id: Uuid,
    /// `Partitions`: `[]OffsetFetchResponsePartitions`, versions 8-10.
    pub partitions: Vec<OffsetFetchResponsePartitions>,
}

impl OffsetFetchResponseTopics {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        if version <= 9 {
            enc.string(&self.name, true, "OffsetFetchResponse.OffsetFetchResponseTopics.name")?;
        }
        if version == 10 {
            enc.uuid(self.topic_id);
        }
        enc.array(
            &self.partitions,
            true,
            "OffsetFetchResponse.OffsetFetchResponseTopics.partitions",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            name: if version <= 9 {
                dec.string(true, "OffsetFetchResponse.OffsetFetchResponseTopics.name")?
            } else {
                String::new()
            },
            topic_id: if version == 10 {
                dec.uuid("OffsetFetchResponse.OffsetFetchResponseTopics.topic_id")?
            } else {
                Uuid::ZERO
            },
            partitions: dec.array(
                true,
                20,
                "OffsetFetchResponse.OffsetFetchResponseTopics.partitions",
                |dec| OffsetFetchResponsePartitions::read(dec, version),
            )?,
        };
        dec.skip_tagged_fields("OffsetFetchResponse.OffsetFetchResponseTopics")?;

        Ok(out)
    }
}

/// `OffsetFetchResponsePartitions` in a `OffsetFetchResponse`, versions 8-10.
#[derive(Debug, Clone, PartialEq)]
pub struct OffsetFetchResponsePartitions {
    /// `PartitionIndex`: `int32`, versions 8-10.
    pub partition_index: i32,
    /// `CommittedOffset`: `int64`, versions 8-10.
    pub committed_offset: i64,
    /// `CommittedLeaderEpoch`: `int32`, versions 8-10; -1 by default.
    pub committed_leader_epoch: i32,
    /// `Metadata`: `string`, versions 8-10, nullable.
    pub metadata: Option<String>,
    /// `ErrorCode`: `int16`, versions 8-10.
    pub error_code: ErrorCode,
}

impl Default for OffsetFetchResponsePartitions {
    fn default() -> Self {
        Self {
            partition_index: 0,
            committed_offset: 0,
            committed_leader_epoch: -1,
            metadata: Some(String::new()),
            error_code: ErrorCode::NONE,
        }
    }
}

impl OffsetFetchResponsePartitions {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i32(self.partition_index);
        enc.i64(self.committed_offset);
        enc.i32(self.committed_leader_epoch);
        enc.nullable_string(
            self.metadata.as_deref(),
            true,
            "OffsetFetchResponse.OffsetFetchResponsePartitions.metadata",
        )?;
        enc.i16(self.error_code.0);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            partition_index: dec.i32("OffsetFetchResponse.OffsetFetchResponsePartitions.partition_index")?,
            committed_offset: dec
                .i64("OffsetFetchResponse.OffsetFetchResponsePartitions.committed_offset")?,
            committed_leader_epoch: dec
                .i32("OffsetFetchResponse.OffsetFetchResponsePartitions.committed_leader_epoch")?,
            metadata: dec
                .nullable_string(true, "OffsetFetchResponse.OffsetFetchResponsePartitions.metadata")?,
            error_code: dec
                .i16("OffsetFetchResponse.OffsetFetchResponsePartitions.error_code")
                .map(ErrorCode)?,
        };
        dec.skip_tagged_fields("OffsetFetchResponse.OffsetFetchResponsePartitions")?;

        Ok(out)
    }
}
