// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `AlterPartitionReassignmentsRequest` (API key 45), versions 0-1.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterPartitionReassignmentsRequest {
    /// `TimeoutMs`: `int32`, versions 0-1; 60000 by default.
    pub timeout_ms: i32,
    /// `AllowReplicationFactorChange`: `bool`, versions 1; true by default.
    pub allow_replication_factor_change: bool,
    /// `Topics`: `[]ReassignableTopic`, versions 0-1.
    pub topics: Vec<ReassignableTopic>,
}

impl Default for AlterPartitionReassignmentsRequest {
    fn default() -> Self {
        Self { timeout_ms: 60000, allow_replication_factor_change: true, topics: Vec::new() }
    }
}

impl Message for AlterPartitionReassignmentsRequest {
    const NAME: &'static str = "AlterPartitionReassignmentsRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 1);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.i32(self.timeout_ms);
        if version == 1 {
            enc.bool(self.allow_replication_factor_change);
        } else if !self.allow_replication_factor_change {
            return Err(EncodeError::UnsupportedField {
                message: "AlterPartitionReassignmentsRequest",
                field: "allow_replication_factor_change",
                version,
            });
        }
        enc.array(&self.topics, true, "AlterPartitionReassignmentsRequest.topics", |enc, value| {
            value.write(enc, version)
        })?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            timeout_ms: dec.i32("AlterPartitionReassignmentsRequest.timeout_ms")?,
            allow_replication_factor_change: if version == 1 {
                dec.bool("AlterPartitionReassignmentsRequest.allow_replication_factor_change")?
            } else {
                true
            },
            topics: dec.array(true, 3, "AlterPartitionReassignmentsRequest.topics", |dec| {
                ReassignableTopic::read(dec, version)
            })?,
        };
        dec.skip_tagged_fields("AlterPartitionReassignmentsRequest")?;

        Ok(out)
    }
}

impl Request for AlterPartitionReassignmentsRequest {
    const API_KEY: ApiKey = ApiKey::AlterPartitionReassignments;
    type Response = super::AlterPartitionReassignmentsResponse;
}

/// `ReassignableTopic` in a `AlterPartitionReassignmentsRequest`, versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReassignableTopic {
    /// `Name`: `string`, versions 0-1.
    pub name: String,
    /// `Partitions`: `[]ReassignablePartition`, versions 0-1.
    pub partitions: Vec<ReassignablePartition>,
}

impl ReassignableTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.string(&self.name, true, "AlterPartitionReassignmentsRequest.ReassignableTopic.name")?;
        enc.array(
            &self.partitions,
            true,
            "AlterPartitionReassignmentsRequest.ReassignableTopic.partitions",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            name: dec.string(true, "AlterPartitionReassignmentsRequest.ReassignableTopic.name")?,
            partitions: dec.array(
                true,
                6,
                "AlterPartitionReassignmentsRequest.ReassignableTopic.partitions",
                |dec| ReassignablePartition::read(dec, version),
            )?,
        };
        dec.skip_tagged_fields("AlterPartitionReassignmentsRequest.ReassignableTopic")?;

        Ok(out)
    }
}

/// `ReassignablePartition` in a `AlterPartitionReassignmentsRequest`, versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReassignablePartition {
    /// `PartitionIndex`: `int32`, versions 0-1.
    pub partition_index: i32,
    /// `Replicas`: `[]int32`, versions 0-1, nullable; null by default.
    pub replicas: Option<Vec<i32>>,
}

impl ReassignablePartition {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i32(self.partition_index);
        enc.nullable_array(
            self.replicas.as_deref(),
            true,
            "AlterPartitionReassignmentsRequest.ReassignablePartition.replicas",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            partition_index: dec
                .i32("AlterPartitionReassignmentsRequest.ReassignablePartition.partition_index")?,
            replicas: dec.nullable_array(
                true,
                4,
                "AlterPartitionReassignmentsRequest.ReassignablePartition.replicas",
                |dec| dec.i32("AlterPartitionReassignmentsRequest.ReassignablePartition.replicas"),
            )?,
        };
        dec.skip_tagged_fields("AlterPartitionReassignmentsRequest.ReassignablePartition")?;

        Ok(out)
    }
}
