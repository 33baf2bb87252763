// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, Uuid, VersionRange};

/// `TxnOffsetCommitRequest` (API key 28), versions 0-6.
#[derive(Debug, Clone, PartialEq)]
pub struct TxnOffsetCommitRequest {
    /// `TransactionalId`: `string`, versions 0-6.
    pub transactional_id: String,
    /// `GroupId`: `string`, versions 0-6.
    pub group_id: String,
    /// `ProducerId`: `int64`, versions 0-6.
    pub producer_id: i64,
    /// `ProducerEpoch`: `int16`, versions 0-6.
    pub producer_epoch: i16,
    /// `GenerationIdOrMemberEpoch`: `int32`, versions 3-6; -1 by default.
    pub generation_id_or_member_epoch: i32,
    /// `MemberId`: `string`, versions 3-6.
    pub member_id: String,
    /// `GroupInstanceId`: `string`, versions 3-6, nullable; null by default.
    pub group_instance_id: Option<String>,
    /// `Topics`: `[]TxnOffsetCommitRequestTopic`, versions 0-6.
    pub topics: Vec<TxnOffsetCommitRequestTopic>,
}

impl Default for TxnOffsetCommitRequest {
    fn default() -> Self {
        Self {
            transactional_id: String::new(),
            group_id: String::new(),
            producer_id: 0,
            producer_epoch: 0,
            generation_id_or_member_epoch: -1,
            member_id: String::new(),
            group_instance_id: None,
            topics: Vec::new(),
        }
    }
}

impl Message for TxnOffsetCommitRequest {
    const NAME: &'static str = "TxnOffsetCommitRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 6);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 3;
        enc.string(&self.transactional_id, flexible, "TxnOffsetCommitRequest.transactional_id")?;
        enc.string(&self.group_id, flexible, "TxnOffsetCommitRequest.group_id")?;
        enc.i64(self.producer_id);
        enc.i16(self.producer_epoch);
        if version >= 3 {
            enc.i32(self.generation_id_or_member_epoch);
        } else if self.generation_id_or_member_epoch != -1 {
            return Err(EncodeError::UnsupportedField {
                message: "TxnOffsetCommitRequest",
                field: "generation_id_or_member_epoch",
                version,
            });
        }
        if version >= 3 {
            enc.string(&self.member_id, flexible, "TxnOffsetCommitRequest.member_id")?;
        } else if !self.member_id.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "TxnOffsetCommitRequest",
                field: "member_id",
                version,
            });
        }
        if version >= 3 {
            enc.nullable_string(
                self.group_instance_id.as_deref(),
                flexible,
                "TxnOffsetCommitRequest.group_instance_id",
            )?;
        } else if self.group_instance_id.is_some() {
            return Err(EncodeError::UnsupportedField {
                message: "TxnOffsetCommitRequest",
                field: "group_instance_id",
                version,
            });
        }
        enc.array(&self.topics, flexible, "TxnOffsetCommitRequest.topics", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 3;
        let out = Self {
            transactional_id: dec.string(flexible, "TxnOffsetCommitRequest.transactional_id")?,
            group_id: dec.string(flexible, "TxnOffsetCommitRequest.group_id")?,
            producer_id: dec.i64("TxnOffsetCommitRequest.producer_id")?,
            producer_epoch: dec.i16("TxnOffsetCommitRequest.producer_epoch")?,
            generation_id_or_member_epoch: if version >= 3 {
                dec.i32("TxnOffsetCommitRequest.generation_id_or_member_epoch")?
            } else {
                -1
            },
            member_id: if version >= 3 {
                dec.string(flexible, "TxnOffsetCommitRequest.member_id")?
            } else {
                String::new()
            },
            group_instance_id: if version >= 3 {
                dec.nullable_string(flexible, "TxnOffsetCommitRequest.group_instance_id")?
            } else {
                None
            },
            topics: dec.array(flexible, 3, "TxnOffsetCommitRequest.topics", |dec| {
                TxnOffsetCommitRequestTopic::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("TxnOffsetCommitRequest")?;
        }
        Ok(out)
    }
}

impl Request for TxnOffsetCommitRequest {
    const API_KEY: ApiKey = ApiKey::TxnOffsetCommit;
    type Response = super::TxnOffsetCommitResponse;
}

/// `TxnOffsetCommitRequestTopic` in a `TxnOffsetCommitRequest`, versions 0-6.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TxnOffsetCommitRequestTopic {
    /// `Name`: `string`, versions 0-5.
    pub name: String,
    /// `TopicId`: `uuid`, versions 6.
    pub topic_id: Uuid,
    /// `Partitions`: `[]TxnOffsetCommitRequestPartition`, versions 0-6.
    pub partitions: Vec<TxnOffsetCommitRequestPartition>,
}

impl TxnOffsetCommitRequestTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        if version <= 5 {
            enc.string(&self.name, flexible, "TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic.name")?;
        }
        if version == 6 {
            enc.uuid(self.topic_id);
        }
        enc.array(
            &self.partitions,
            flexible,
            "TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic.partitions",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let out = Self {
            name: if version <= 5 {
                dec.string(flexible, "TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic.name")?
            } else {
                String::new()
            },
            topic_id: if version == 6 {
                dec.uuid("TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic.topic_id")?
            } else {
                Uuid::ZERO
            },
            partitions: dec.array(
                flexible,
                14,
                "TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic.partitions",
                |dec| TxnOffsetCommitRequestPartition::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic")?;
        }
        Ok(out)
    }
}

/// `TxnOffsetCommitRequestPartition` in a `TxnOffsetCommitRequest`, versions 0-6.
#[derive(Debug, Clone, PartialEq)]
pub struct TxnOffsetCommitRequestPartition {
    /// `PartitionIndex`: `int32`, versions 0-6.
    pub partition_index: i32,
    /// `CommittedOffset`: `int64`, versions 0-6.
    pub committed_offset: i64,
    /// `CommittedLeaderEpoch`: `int32`, versions 2-6; -1 by default.
    pub committed_leader_epoch: i32,
    /// `CommittedMetadata`: `string`, versions 0-6, nullable.
    pub committed_metadata: Option<String>,
}

impl Default for TxnOffsetCommitRequestPartition {
    fn default() -> Self {
        Self {
            partition_index: 0,
            committed_offset: 0,
            committed_leader_epoch: -1,
            committed_metadata: Some(String::new()),
        }
    }
}

impl TxnOffsetCommitRequestPartition {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        enc.i32(self.partition_index);
        enc.i64(self.committed_offset);
        if version >= 2 {
            enc.i32(self.committed_leader_epoch);
        }
        enc.nullable_string(
            self.committed_metadata.as_deref(),
            flexible,
            "TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition.committed_metadata",
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let out = Self {
            partition_index: dec
                .i32("TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition.partition_index")?,
            committed_offset: dec
                .i64("TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition.committed_offset")?,
            committed_leader_epoch: if version >= 2 {
                dec.i32("TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition.committed_leader_epoch")?
            } else {
                -1
            },
            committed_metadata: dec.nullable_string(
                flexible,
                "TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition.committed_metadata",
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition")?;
        }
        Ok(out)
    }
}
