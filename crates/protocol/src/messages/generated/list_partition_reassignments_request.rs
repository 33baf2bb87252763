// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `ListPartitionReassignmentsRequest` (API key 46), versions 0.
#[derive(Debug, Clone, PartialEq)]
pub struct ListPartitionReassignmentsRequest {
    /// `TimeoutMs`: `int32`, versions 0; 60000 by default.
    pub timeout_ms: i32,
    /// `Topics`: `[]ListPartitionReassignmentsTopics`, versions 0, nullable; null by default.
    pub topics: Option<Vec<ListPartitionReassignmentsTopics>>,
}

impl Default for ListPartitionReassignmentsRequest {
    fn default() -> Self {
        Self { timeout_ms: 60000, topics: None }
    }
}

impl Message for ListPartitionReassignmentsRequest {
    const NAME: &'static str = "ListPartitionReassignmentsRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.i32(self.timeout_ms);
        enc.nullable_array(
            self.topics.as_deref(),
            true,
            "ListPartitionReassignmentsRequest.topics",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            timeout_ms: dec.i32("ListPartitionReassignmentsRequest.timeout_ms")?,
            topics: dec.nullable_array(true, 3, "ListPartitionReassignmentsRequest.topics", |dec| {
                ListPartitionReassignmentsTopics::read(dec, version)
            })?,
        };
        dec.skip_tagged_fields("ListPartitionReassignmentsRequest")?;

        Ok(out)
    }
}

impl Request for ListPartitionReassignmentsRequest {
    const API_KEY: ApiKey = ApiKey::ListPartitionReassignments;
    type Response = super::ListPartitionReassignmentsResponse;
}

/// `ListPartitionReassignmentsTopics` in a `ListPartitionReassignmentsRequest`, versions 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListPartitionReassignmentsTopics {
    /// `Name`: `string`, versions 0.
    pub name: String,
    /// `PartitionIndexes`: `[]int32`, versions 0.
    pub partition_indexes: Vec<i32>,
}

impl ListPartitionReassignmentsTopics {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.string(
            &self.name,
            true,
            "ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics.name",
        )?;
        enc.array(
            &self.partition_indexes,
            true,
            "ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics.partition_indexes",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self { name: dec.string(true, "ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics.name")?,
partition_indexes: dec.array(true, 4, "ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics.partition_indexes", |dec| dec.i32("ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics.partition_indexes"))?,
 };
        dec.skip_tagged_fields("ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics")?;

        Ok(out)
    }
}
