// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `ListOffsetsRequest` (API key 2), versions 1-11.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListOffsetsRequest {
    /// `ReplicaId`: `int32`, versions 1-11.
    pub replica_id: i32,
    /// `IsolationLevel`: `int8`, versions 2-11.
    pub isolation_level: i8,
    /// `Topics`: `[]ListOffsetsTopic`, versions 1-11.
    pub topics: Vec<ListOffsetsTopic>,
    /// `TimeoutMs`: `int32`, versions 10-11.
    pub timeout_ms: i32,
}

impl Message for ListOffsetsRequest {
    const NAME: &'static str = "ListOffsetsRequest";
    const VERSIONS: VersionRange = VersionRange::new(1, 11);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 6;
        enc.i32(self.replica_id);
        if version >= 2 {
            enc.i8(self.isolation_level);
        } else if self.isolation_level != 0 {
            return Err(EncodeError::UnsupportedField {
                message: "ListOffsetsRequest",
                field: "isolation_level",
                version,
            });
        }
        enc.array(&self.topics, flexible, "ListOffsetsRequest.topics", |enc, value| {
            value.write(enc, version)
        })?;
        if version >= 10 {
            enc.i32(self.timeout_ms);
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
            replica_id: dec.i32("ListOffsetsRequest.replica_id")?,
            isolation_level: if version >= 2 { dec.i8("ListOffsetsRequest.isolation_level")? } else { 0 },
            topics: dec.array(flexible, 3, "ListOffsetsRequest.topics", |dec| {
                ListOffsetsTopic::read(dec, version)
            })?,
            timeout_ms: if version >= 10 { dec.i32("ListOffsetsRequest.timeout_ms")? } else { 0 },
        };
        if flexible {
            dec.skip_tagged_fields("ListOffsetsRequest")?;
        }
        Ok(out)
    }
}

impl Request for ListOffsetsRequest {
    const API_KEY: ApiKey = ApiKey::ListOffsets;
    type Response = super::ListOffsetsResponse;
}

/// `ListOffsetsTopic` in a `ListOffsetsRequest`, versions 1-11.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListOffsetsTopic {
    /// `Name`: `string`, versions 1-11.
    pub name: String,
    /// `Partitions`: `[]ListOffsetsPartition`, versions 1-11.
    pub partitions: Vec<ListOffsetsPartition>,
}

impl ListOffsetsTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        enc.string(&self.name, flexible, "ListOffsetsRequest.ListOffsetsTopic.name")?;
        enc.array(
            &self.partitions,
            flexible,
            "ListOffsetsRequest.ListOffsetsTopic.partitions",
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
            name: dec.string(flexible, "ListOffsetsRequest.ListOffsetsTopic.name")?,
            partitions: dec.array(flexible, 12, "ListOffsetsRequest.ListOffsetsTopic.partitions", |dec| {
                ListOffsetsPartition::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("ListOffsetsRequest.ListOffsetsTopic")?;
        }
        Ok(out)
    }
}

/// `ListOffsetsPartition` in a `ListOffsetsRequest`, versions 1-11.
#[derive(Debug, Clone, PartialEq)]
pub struct ListOffsetsPartition {
    /// `PartitionIndex`: `int32`, versions 1-11.
    pub partition_index: i32,
    /// `CurrentLeaderEpoch`: `int32`, versions 4-11; -1 by default.
    pub current_leader_epoch: i32,
    /// `Timestamp`: `int64`, versions 1-11.
    pub timestamp: i64,
}

impl Default for ListOffsetsPartition {
    fn default() -> Self {
        Self { partition_index: 0, current_leader_epoch: -1, timestamp: 0 }
    }
}

impl ListOffsetsPartition {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        enc.i32(self.partition_index);
        if version >= 4 {
            enc.i32(self.current_leader_epoch);
        }
        enc.i64(self.timestamp);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let out = Self {
            partition_index: dec.i32("ListOffsetsRequest.ListOffsetsPartition.partition_index")?,
            current_leader_epoch: if version >= 4 {
                dec.i32("ListOffsetsRequest.ListOffsetsPartition.current_leader_epoch")?
            } else {
                -1
            },
            timestamp: dec.i64("ListOffsetsRequest.ListOffsetsPartition.timestamp")?,
        };
        if flexible {
            dec.skip_tagged_fields("ListOffsetsRequest.ListOffsetsPartition")?;
        }
        Ok(out)
    }
}
