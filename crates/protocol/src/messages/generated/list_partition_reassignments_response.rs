// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `ListPartitionReassignmentsResponse` (API key 46), versions 0.
#[derive(Debug, Clone, PartialEq)]
pub struct ListPartitionReassignmentsResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 0.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 0, nullable.
    pub error_message: Option<String>,
    /// `Topics`: `[]OngoingTopicReassignment`, versions 0.
    pub topics: Vec<OngoingTopicReassignment>,
}

impl Default for ListPartitionReassignmentsResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            error_message: Some(String::new()),
            topics: Vec::new(),
        }
    }
}

impl Message for ListPartitionReassignmentsResponse {
    const NAME: &'static str = "ListPartitionReassignmentsResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.i32(self.throttle_time_ms);
        enc.i16(self.error_code.0);
        enc.nullable_string(
            self.error_message.as_deref(),
            true,
            "ListPartitionReassignmentsResponse.error_message",
        )?;
        enc.array(&self.topics, true, "ListPartitionReassignmentsResponse.topics", |enc, value| {
            value.write(enc, version)
        })?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            throttle_time_ms: dec.i32("ListPartitionReassignmentsResponse.throttle_time_ms")?,
            error_code: dec.i16("ListPartitionReassignmentsResponse.error_code").map(ErrorCode)?,
            error_message: dec.nullable_string(true, "ListPartitionReassignmentsResponse.error_message")?,
            topics: dec.array(true, 3, "ListPartitionReassignmentsResponse.topics", |dec| {
                OngoingTopicReassignment::read(dec, version)
            })?,
        };
        dec.skip_tagged_fields("ListPartitionReassignmentsResponse")?;

        Ok(out)
    }
}

/// `OngoingTopicReassignment` in a `ListPartitionReassignmentsResponse`, versions 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OngoingTopicReassignment {
    /// `Name`: `string`, versions 0.
    pub name: String,
    /// `Partitions`: `[]OngoingPartitionReassignment`, versions 0.
    pub partitions: Vec<OngoingPartitionReassignment>,
}

impl OngoingTopicReassignment {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.string(&self.name, true, "ListPartitionReassignmentsResponse.OngoingTopicReassignment.name")?;
        enc.array(
            &self.partitions,
            true,
            "ListPartitionReassignmentsResponse.OngoingTopicReassignment.partitions",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            name: dec.string(true, "ListPartitionReassignmentsResponse.OngoingTopicReassignment.name")?,
            partitions: dec.array(
                true,
                8,
                "ListPartitionReassignmentsResponse.OngoingTopicReassignment.partitions",
                |dec| OngoingPartitionReassignment::read(dec, version),
            )?,
        };
        dec.skip_tagged_fields("ListPartitionReassignmentsResponse.OngoingTopicReassignment")?;

        Ok(out)
    }
}

/// `OngoingPartitionReassignment` in a `ListPartitionReassignmentsResponse`, versions 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OngoingPartitionReassignment {
    /// `PartitionIndex`: `int32`, versions 0.
    pub partition_index: i32,
    /// `Replicas`: `[]int32`, versions 0.
    pub replicas: Vec<i32>,
    /// `AddingReplicas`: `[]int32`, versions 0.
    pub adding_replicas: Vec<i32>,
    /// `RemovingReplicas`: `[]int32`, versions 0.
    pub removing_replicas: Vec<i32>,
}

impl OngoingPartitionReassignment {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i32(self.partition_index);
        enc.array(
            &self.replicas,
            true,
            "ListPartitionReassignmentsResponse.OngoingPartitionReassignment.replicas",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        enc.array(
            &self.adding_replicas,
            true,
            "ListPartitionReassignmentsResponse.OngoingPartitionReassignment.adding_replicas",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        enc.array(
            &self.removing_replicas,
            true,
            "ListPartitionReassignmentsResponse.OngoingPartitionReassignment.removing_replicas",
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
                .i32("ListPartitionReassignmentsResponse.OngoingPartitionReassignment.partition_index")?,
            replicas: dec.array(
                true,
                4,
                "ListPartitionReassignmentsResponse.OngoingPartitionReassignment.replicas",
                |dec| dec.i32("ListPartitionReassignmentsResponse.OngoingPartitionReassignment.replicas"),
            )?,
            adding_replicas: dec.array(
                true,
                4,
                "ListPartitionReassignmentsResponse.OngoingPartitionReassignment.adding_replicas",
                |dec| {
                    dec.i32("ListPartitionReassignmentsResponse.OngoingPartitionReassignment.adding_replicas")
                },
            )?,
            removing_replicas: dec.array(
                true,
                4,
                "ListPartitionReassignmentsResponse.OngoingPartitionReassignment.removing_replicas",
                |dec| {
                    dec.i32(
                        "ListPartitionReassignmentsResponse.OngoingPartitionReassignment.removing_replicas",
                    )
                },
            )?,
        };
        dec.skip_tagged_fields("ListPartitionReassignmentsResponse.OngoingPartitionReassignment")?;

        Ok(out)
    }
}
