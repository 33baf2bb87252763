// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `ListOffsetsResponse` (API key 2), versions 1-11.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListOffsetsResponse {
    /// `ThrottleTimeMs`: `int32`, versions 2-11.
    pub throttle_time_ms: i32,
    /// `Topics`: `[]ListOffsetsTopicResponse`, versions 1-11.
    pub topics: Vec<ListOffsetsTopicResponse>,
}

impl Message for ListOffsetsResponse {
    const NAME: &'static str = "ListOffsetsResponse";
    const VERSIONS: VersionRange = VersionRange::new(1, 11);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 6;
        if version >= 2 {
            enc.i32(self.throttle_time_ms);
        }
        enc.array(&self.topics, flexible, "ListOffsetsResponse.topics", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 6;
        let out = Self {
            throttle_time_ms: if version >= 2 { dec.i32("ListOffsetsResponse.throttle_time_ms")? } else { 0 },
            topics: dec.array(flexible, 3, "ListOffsetsResponse.topics", |dec| {
                ListOffsetsTopicResponse::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("ListOffsetsResponse")?;
        }
        Ok(out)
    }
}

/// `ListOffsetsTopicResponse` in a `ListOffsetsResponse`, versions 1-11.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListOffsetsTopicResponse {
    /// `Name`: `string`, versions 1-11.
    pub name: String,
    /// `Partitions`: `[]ListOffsetsPartitionResponse`, versions 1-11.
    pub partitions: Vec<ListOffsetsPartitionResponse>,
}

impl ListOffsetsTopicResponse {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        enc.string(&self.name, flexible, "ListOffsetsResponse.ListOffsetsTopicResponse.name")?;
        enc.array(
            &self.partitions,
            flexible,
            "ListOffsetsResponse.ListOffsetsTopicResponse.partitions",
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
            name: dec.string(flexible, "ListOffsetsResponse.ListOffsetsTopicResponse.name")?,
            partitions: dec.array(
                flexible,
                22,
                "ListOffsetsResponse.ListOffsetsTopicResponse.partitions",
                |dec| ListOffsetsPartitionResponse::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("ListOffsetsResponse.ListOffsetsTopicResponse")?;
        }
        Ok(out)
    }
}

/// `ListOffsetsPartitionResponse` in a `ListOffsetsResponse`, versions 1-11.
#[derive(Debug, Clone, PartialEq)]
pub struct ListOffsetsPartitionResponse {
    /// `PartitionIndex`: `int32`, versions 1-11.
    pub partition_index: i32,
    /// `ErrorCode`: `int16`, versions 1-11.
    pub error_code: ErrorCode,
    /// `Timestamp`: `int64`, versions 1-11; -1 by default.
    pub timestamp: i64,
    /// `Offset`: `int64`, versions 1-11; -1 by default.
    pub offset: i64,
    /// `LeaderEpoch`: `int32`, versions 4-11; -1 by default.
    pub leader_epoch: i32,
}

impl Default for ListOffsetsPartitionResponse {
    fn default() -> Self {
        Self { partition_index: 0, error_code: ErrorCode::NONE, timestamp: -1, offset: -1, leader_epoch: -1 }
    }
}

impl ListOffsetsPartitionResponse {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        enc.i32(self.partition_index);
        enc.i16(self.error_code.0);
        enc.i64(self.timestamp);
        enc.i64(self.offset);
        if version >= 4 {
            enc.i32(self.leader_epoch);
        } else if self.leader_epoch != -1 {
            return Err(EncodeError::UnsupportedField {
                message: "ListOffsetsResponse",
                field: "ListOffsetsPartitionResponse.leader_epoch",
                version,
            });
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let out = Self {
            partition_index: dec.i32("ListOffsetsResponse.ListOffsetsPartitionResponse.partition_index")?,
            error_code: dec
                .i16("ListOffsetsResponse.ListOffsetsPartitionResponse.error_code")
                .map(ErrorCode)?,
            timestamp: dec.i64("ListOffsetsResponse.ListOffsetsPartitionResponse.timestamp")?,
            offset: dec.i64("ListOffsetsResponse.ListOffsetsPartitionResponse.offset")?,
            leader_epoch: if version >= 4 {
                dec.i32("ListOffsetsResponse.ListOffsetsPartitionResponse.leader_epoch")?
            } else {
                -1
            },
        };
        if flexible {
            dec.skip_tagged_fields("ListOffsetsResponse.ListOffsetsPartitionResponse")?;
        }
        Ok(out)
    }
}
