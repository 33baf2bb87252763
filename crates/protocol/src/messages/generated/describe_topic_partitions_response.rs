// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, Uuid, VersionRange};

/// `DescribeTopicPartitionsResponse` (API key 75), versions 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DescribeTopicPartitionsResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0.
    pub throttle_time_ms: i32,
    /// `Topics`: `[]DescribeTopicPartitionsResponseTopic`, versions 0.
    pub topics: Vec<DescribeTopicPartitionsResponseTopic>,
    /// `NextCursor`: `Cursor`, versions 0, nullable; null by default.
    pub next_cursor: Option<Cursor>,
}

impl Message for DescribeTopicPartitionsResponse {
    const NAME: &'static str = "DescribeTopicPartitionsResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.i32(self.throttle_time_ms);
        enc.array(&self.topics, true, "DescribeTopicPartitionsResponse.topics", |enc, value| {
            value.write(enc, version)
        })?;
        match &self.next_cursor {
            None => enc.i8(-1),
            Some(value) => {
                enc.i8(1);
                value.write(enc, version)?;
            }
        }
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            throttle_time_ms: dec.i32("DescribeTopicPartitionsResponse.throttle_time_ms")?,
            topics: dec.array(true, 26, "DescribeTopicPartitionsResponse.topics", |dec| {
                DescribeTopicPartitionsResponseTopic::read(dec, version)
            })?,
            next_cursor: if dec.i8("DescribeTopicPartitionsResponse.next_cursor")? < 0 {
                None
            } else {
                Some(Cursor::read(dec, version)?)
            },
        };
        dec.skip_tagged_fields("DescribeTopicPartitionsResponse")?;

        Ok(out)
    }
}

/// `DescribeTopicPartitionsResponseTopic` in a `DescribeTopicPartitionsResponse`, versions 0.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeTopicPartitionsResponseTopic {
    /// `ErrorCode`: `int16`, versions 0.
    pub error_code: ErrorCode,
    /// `Name`: `string`, versions 0, nullable.
    pub name: Option<String>,
    /// `TopicId`: `uuid`, versions 0.
    pub topic_id: Uuid,
    /// `IsInternal`: `bool`, versions 0.
    pub is_internal: bool,
    /// `Partitions`: `[]DescribeTopicPartitionsResponsePartition`, versions 0.
    pub partitions: Vec<DescribeTopicPartitionsResponsePartition>,
    /// `TopicAuthorizedOperations`: `int32`, versions 0; i32::MIN by default.
    pub topic_authorized_operations: i32,
}

impl Default for DescribeTopicPartitionsResponseTopic {
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

impl DescribeTopicPartitionsResponseTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.i16(self.error_code.0);
        enc.nullable_string(
            self.name.as_deref(),
            true,
            "DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic.name",
        )?;
        enc.uuid(self.topic_id);
        enc.bool(self.is_internal);
        enc.array(
            &self.partitions,
            true,
            "DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic.partitions",
            |enc, value| value.write(enc, version),
        )?;
        enc.i32(self.topic_authorized_operations);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self { error_code: dec.i16("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic.error_code").map(ErrorCode)?,
name: dec.nullable_string(true, "DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic.name")?,
topic_id: dec.uuid("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic.topic_id")?,
is_internal: dec.bool("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic.is_internal")?,
partitions: dec.array(true, 20, "DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic.partitions", |dec| DescribeTopicPartitionsResponsePartition::read(dec, version))?,
topic_authorized_operations: dec.i32("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic.topic_authorized_operations")?,
 };
        dec.skip_tagged_fields("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic")?;

        Ok(out)
    }
}

/// `DescribeTopicPartitionsResponsePartition` in a `DescribeTopicPartitionsResponse`, versions 0.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeTopicPartitionsResponsePartition {
    /// `ErrorCode`: `int16`, versions 0.
    pub error_code: ErrorCode,
    /// `PartitionIndex`: `int32`, versions 0.
    pub partition_index: i32,
    /// `LeaderId`: `int32`, versions 0.
    pub leader_id: i32,
    /// `LeaderEpoch`: `int32`, versions 0; -1 by default.
    pub leader_epoch: i32,
    /// `ReplicaNodes`: `[]int32`, versions 0.
    pub replica_nodes: Vec<i32>,
    /// `IsrNodes`: `[]int32`, versions 0.
    pub isr_nodes: Vec<i32>,
    /// `EligibleLeaderReplicas`: `[]int32`, versions 0, nullable; null by default.
    pub eligible_leader_replicas: Option<Vec<i32>>,
    /// `LastKnownElr`: `[]int32`, versions 0, nullable; null by default.
    pub last_known_elr: Option<Vec<i32>>,
    /// `OfflineReplicas`: `[]int32`, versions 0.
    pub offline_replicas: Vec<i32>,
}

impl Default for DescribeTopicPartitionsResponsePartition {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            partition_index: 0,
            leader_id: 0,
            leader_epoch: -1,
            replica_nodes: Vec::new(),
            isr_nodes: Vec::new(),
            eligible_leader_replicas: None,
            last_known_elr: None,
            offline_replicas: Vec::new(),
        }
    }
}

impl DescribeTopicPartitionsResponsePartition {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i16(self.error_code.0);
        enc.i32(self.partition_index);
        enc.i32(self.leader_id);
        enc.i32(self.leader_epoch);
        enc.array(
            &self.replica_nodes,
            true,
            "DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.replica_nodes",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        enc.array(
            &self.isr_nodes,
            true,
            "DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.isr_nodes",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        enc.nullable_array(self.eligible_leader_replicas.as_deref(), true, "DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.eligible_leader_replicas", |enc, value| { enc.i32(*value); Ok(()) })?;
        enc.nullable_array(
            self.last_known_elr.as_deref(),
            true,
            "DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.last_known_elr",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        enc.array(
            &self.offline_replicas,
            true,
            "DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.offline_replicas",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self { error_code: dec.i16("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.error_code").map(ErrorCode)?,
partition_index: dec.i32("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.partition_index")?,
leader_id: dec.i32("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.leader_id")?,
leader_epoch: dec.i32("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.leader_epoch")?,
replica_nodes: dec.array(true, 4, "DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.replica_nodes", |dec| dec.i32("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.replica_nodes"))?,
isr_nodes: dec.array(true, 4, "DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.isr_nodes", |dec| dec.i32("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.isr_nodes"))?,
eligible_leader_replicas: dec.nullable_array(true, 4, "DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.eligible_leader_replicas", |dec| dec.i32("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.eligible_leader_replicas"))?,
last_known_elr: dec.nullable_array(true, 4, "DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.last_known_elr", |dec| dec.i32("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.last_known_elr"))?,
offline_replicas: dec.array(true, 4, "DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.offline_replicas", |dec| dec.i32("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition.offline_replicas"))?,
 };
        dec.skip_tagged_fields("DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition")?;

        Ok(out)
    }
}

/// `Cursor` in a `DescribeTopicPartitionsResponse`, versions 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cursor {
    /// `TopicName`: `string`, versions 0.
    pub topic_name: String,
    /// `PartitionIndex`: `int32`, versions 0.
    pub partition_index: i32,
}

impl Cursor {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.string(&self.topic_name, true, "DescribeTopicPartitionsResponse.Cursor.topic_name")?;
        enc.i32(self.partition_index);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            topic_name: dec.string(true, "DescribeTopicPartitionsResponse.Cursor.topic_name")?,
            partition_index: dec.i32("DescribeTopicPartitionsResponse.Cursor.partition_index")?,
        };
        dec.skip_tagged_fields("DescribeTopicPartitionsResponse.Cursor")?;

        Ok(out)
    }
}
