// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, Uuid, VersionRange};

/// `OffsetCommitRequest` (API key 8), versions 2-10.
#[derive(Debug, Clone, PartialEq)]
pub struct OffsetCommitRequest {
    /// `GroupId`: `string`, versions 2-10.
    pub group_id: String,
    /// `GenerationIdOrMemberEpoch`: `int32`, versions 2-10; -1 by default.
    pub generation_id_or_member_epoch: i32,
    /// `MemberId`: `string`, versions 2-10.
    pub member_id: String,
    /// `GroupInstanceId`: `string`, versions 7-10, nullable; null by default.
    pub group_instance_id: Option<String>,
    /// `RetentionTimeMs`: `int64`, versions 2-4; -1 by default.
    pub retention_time_ms: i64,
    /// `Topics`: `[]OffsetCommitRequestTopic`, versions 2-10.
    pub topics: Vec<OffsetCommitRequestTopic>,
}

impl Default for OffsetCommitRequest {
    fn default() -> Self {
        Self {
            group_id: String::new(),
            generation_id_or_member_epoch: -1,
            member_id: String::new(),
            group_instance_id: None,
            retention_time_ms: -1,
            topics: Vec::new(),
        }
    }
}

impl Message for OffsetCommitRequest {
    const NAME: &'static str = "OffsetCommitRequest";
    const VERSIONS: VersionRange = VersionRange::new(2, 10);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 8;
        enc.string(&self.group_id, flexible, "OffsetCommitRequest.group_id")?;
        enc.i32(self.generation_id_or_member_epoch);
        enc.string(&self.member_id, flexible, "OffsetCommitRequest.member_id")?;
        if version >= 7 {
            enc.nullable_string(
                self.group_instance_id.as_deref(),
                flexible,
                "OffsetCommitRequest.group_instance_id",
            )?;
        } else if self.group_instance_id.is_some() {
            return Err(EncodeError::UnsupportedField {
                message: "OffsetCommitRequest",
                field: "group_instance_id",
                version,
            });
        }
        if version <= 4 {
            enc.i64(self.retention_time_ms);
        }
        enc.array(&self.topics, flexible, "OffsetCommitRequest.topics", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 8;
        let out = Self {
            group_id: dec.string(flexible, "OffsetCommitRequest.group_id")?,
            generation_id_or_member_epoch: dec.i32("OffsetCommitRequest.generation_id_or_member_epoch")?,
            member_id: dec.string(flexible, "OffsetCommitRequest.member_id")?,
            group_instance_id: if version >= 7 {
                dec.nullable_string(flexible, "OffsetCommitRequest.group_instance_id")?
            } else {
                None
            },
            retention_time_ms: if version <= 4 {
                dec.i64("OffsetCommitRequest.retention_time_ms")?
            } else {
                -1
            },
            topics: dec.array(flexible, 3, "OffsetCommitRequest.topics", |dec| {
                OffsetCommitRequestTopic::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetCommitRequest")?;
        }
        Ok(out)
    }
}

impl Request for OffsetCommitRequest {
    const API_KEY: ApiKey = ApiKey::OffsetCommit;
    type Response = super::OffsetCommitResponse;
}

/// `OffsetCommitRequestTopic` in a `OffsetCommitRequest`, versions 2-10.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OffsetCommitRequestTopic {
    /// `Name`: `string`, versions 2-9.
    pub name: String,
    /// `TopicId`: `uuid`, versions 10.
    pub topic_id: Uuid,
    /// `Partitions`: `[]OffsetCommitRequestPartition`, versions 2-10.
    pub partitions: Vec<OffsetCommitRequestPartition>,
}

impl OffsetCommitRequestTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 8;
        if version <= 9 {
            enc.string(&self.name, flexible, "OffsetCommitRequest.OffsetCommitRequestTopic.name")?;
        }
        if version == 10 {
            enc.uuid(self.topic_id);
        }
        enc.array(
            &self.partitions,
            flexible,
            "OffsetCommitRequest.OffsetCommitRequestTopic.partitions",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 8;
        let out = Self {
            name: if version <= 9 {
                dec.string(flexible, "OffsetCommitRequest.OffsetCommitRequestTopic.name")?
            } else {
                String::new()
            },
            topic_id: if version == 10 {
                dec.uuid("OffsetCommitRequest.OffsetCommitRequestTopic.topic_id")?
            } else {
                Uuid::ZERO
            },
            partitions: dec.array(
                flexible,
                14,
                "OffsetCommitRequest.OffsetCommitRequestTopic.partitions",
                |dec| OffsetCommitRequestPartition::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetCommitRequest.OffsetCommitRequestTopic")?;
        }
        Ok(out)
    }
}

/// `OffsetCommitRequestPartition` in a `OffsetCommitRequest`, versions 2-10.
#[derive(Debug, Clone, PartialEq)]
pub struct OffsetCommitRequestPartition {
    /// `PartitionIndex`: `int32`, versions 2-10.
    pub partition_index: i32,
    /// `CommittedOffset`: `int64`, versions 2-10.
    pub committed_offset: i64,
    /// `CommittedLeaderEpoch`: `int32`, versions 6-10; -1 by default.
    pub committed_leader_epoch: i32,
    /// `CommittedMetadata`: `string`, versions 2-10, nullable.
    pub committed_metadata: Option<String>,
}

impl Default for OffsetCommitRequestPartition {
    fn default() -> Self {
        Self {
            partition_index: 0,
            committed_offset: 0,
            committed_leader_epoch: -1,
            committed_metadata: Some(String::new()),
        }
    }
}

impl OffsetCommitRequestPartition {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 8;
        enc.i32(self.partition_index);
        enc.i64(self.committed_offset);
        if version >= 6 {
            enc.i32(self.committed_leader_epoch);
        }
        enc.nullable_string(
            self.committed_metadata.as_deref(),
            flexible,
            "OffsetCommitRequest.OffsetCommitRequestPartition.committed_metadata",
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 8;
        let out = Self {
            partition_index: dec.i32("OffsetCommitRequest.OffsetCommitRequestPartition.partition_index")?,
            committed_offset: dec.i64("OffsetCommitRequest.OffsetCommitRequestPartition.committed_offset")?,
            committed_leader_epoch: if version >= 6 {
                dec.i32("OffsetCommitRequest.OffsetCommitRequestPartition.committed_leader_epoch")?
            } else {
                -1
            },
            committed_metadata: dec.nullable_string(
                flexible,
                "OffsetCommitRequest.OffsetCommitRequestPartition.committed_metadata",
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetCommitRequest.OffsetCommitRequestPartition")?;
        }
        Ok(out)
    }
}
