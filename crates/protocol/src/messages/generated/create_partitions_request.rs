// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `CreatePartitionsRequest` (API key 37), versions 0-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CreatePartitionsRequest {
    /// `Topics`: `[]CreatePartitionsTopic`, versions 0-3.
    pub topics: Vec<CreatePartitionsTopic>,
    /// `TimeoutMs`: `int32`, versions 0-3.
    pub timeout_ms: i32,
    /// `ValidateOnly`: `bool`, versions 0-3.
    pub validate_only: bool,
}

impl Message for CreatePartitionsRequest {
    const NAME: &'static str = "CreatePartitionsRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 3);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 2;
        enc.array(&self.topics, flexible, "CreatePartitionsRequest.topics", |enc, value| {
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
        let flexible = version >= 2;
        let out = Self {
            topics: dec.array(flexible, 7, "CreatePartitionsRequest.topics", |dec| {
                CreatePartitionsTopic::read(dec, version)
            })?,
            timeout_ms: dec.i32("CreatePartitionsRequest.timeout_ms")?,
            validate_only: dec.bool("CreatePartitionsRequest.validate_only")?,
        };
        if flexible {
            dec.skip_tagged_fields("CreatePartitionsRequest")?;
        }
        Ok(out)
    }
}

impl Request for CreatePartitionsRequest {
    const API_KEY: ApiKey = ApiKey::CreatePartitions;
    type Response = super::CreatePartitionsResponse;
}

/// `CreatePartitionsTopic` in a `CreatePartitionsRequest`, versions 0-3.
#[derive(Debug, Clone, PartialEq)]
pub struct CreatePartitionsTopic {
    /// `Name`: `string`, versions 0-3.
    pub name: String,
    /// `Count`: `int32`, versions 0-3.
    pub count: i32,
    /// `Assignments`: `[]CreatePartitionsAssignment`, versions 0-3, nullable.
    pub assignments: Option<Vec<CreatePartitionsAssignment>>,
}

impl Default for CreatePartitionsTopic {
    fn default() -> Self {
        Self { name: String::new(), count: 0, assignments: Some(Vec::new()) }
    }
}

impl CreatePartitionsTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        enc.string(&self.name, flexible, "CreatePartitionsRequest.CreatePartitionsTopic.name")?;
        enc.i32(self.count);
        enc.nullable_array(
            self.assignments.as_deref(),
            flexible,
            "CreatePartitionsRequest.CreatePartitionsTopic.assignments",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let out = Self {
            name: dec.string(flexible, "CreatePartitionsRequest.CreatePartitionsTopic.name")?,
            count: dec.i32("CreatePartitionsRequest.CreatePartitionsTopic.count")?,
            assignments: dec.nullable_array(
                flexible,
                2,
                "CreatePartitionsRequest.CreatePartitionsTopic.assignments",
                |dec| CreatePartitionsAssignment::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("CreatePartitionsRequest.CreatePartitionsTopic")?;
        }
        Ok(out)
    }
}

/// `CreatePartitionsAssignment` in a `CreatePartitionsRequest`, versions 0-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CreatePartitionsAssignment {
    /// `BrokerIds`: `[]int32`, versions 0-3.
    pub broker_ids: Vec<i32>,
}

impl CreatePartitionsAssignment {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        enc.array(
            &self.broker_ids,
            flexible,
            "CreatePartitionsRequest.CreatePartitionsAssignment.broker_ids",
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
        let flexible = version >= 2;
        let out = Self {
            broker_ids: dec.array(
                flexible,
                4,
                "CreatePartitionsRequest.CreatePartitionsAssignment.broker_ids",
                |dec| dec.i32("CreatePartitionsRequest.CreatePartitionsAssignment.broker_ids"),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("CreatePartitionsRequest.CreatePartitionsAssignment")?;
        }
        Ok(out)
    }
}
