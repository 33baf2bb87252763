// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `DeleteRecordsRequest` (API key 21), versions 0-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeleteRecordsRequest {
    /// `Topics`: `[]DeleteRecordsTopic`, versions 0-2.
    pub topics: Vec<DeleteRecordsTopic>,
    /// `TimeoutMs`: `int32`, versions 0-2.
    pub timeout_ms: i32,
}

impl Message for DeleteRecordsRequest {
    const NAME: &'static str = "DeleteRecordsRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 2);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 2;
        enc.array(&self.topics, flexible, "DeleteRecordsRequest.topics", |enc, value| {
            value.write(enc, version)
        })?;
        enc.i32(self.timeout_ms);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 2;
        let out = Self {
            topics: dec.array(flexible, 3, "DeleteRecordsRequest.topics", |dec| {
                DeleteRecordsTopic::read(dec, version)
            })?,
            timeout_ms: dec.i32("DeleteRecordsRequest.timeout_ms")?,
        };
        if flexible {
            dec.skip_tagged_fields("DeleteRecordsRequest")?;
        }
        Ok(out)
    }
}

impl Request for DeleteRecordsRequest {
    const API_KEY: ApiKey = ApiKey::DeleteRecords;
    type Response = super::DeleteRecordsResponse;
}

/// `DeleteRecordsTopic` in a `DeleteRecordsRequest`, versions 0-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeleteRecordsTopic {
    /// `Name`: `string`, versions 0-2.
    pub name: String,
    /// `Partitions`: `[]DeleteRecordsPartition`, versions 0-2.
    pub partitions: Vec<DeleteRecordsPartition>,
}

impl DeleteRecordsTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
        enc.string(&self.name, flexible, "DeleteRecordsRequest.DeleteRecordsTopic.name")?;
        enc.array(
            &self.partitions,
            flexible,
            "DeleteRecordsRequest.DeleteRecordsTopic.partitions",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 2;
        let out = Self {
            name: dec.string(flexible, "DeleteRecordsRequest.DeleteRecordsTopic.name")?,
            partitions: dec.array(
                flexible,
                12,
                "DeleteRecordsRequest.DeleteRecordsTopic.partitions",
                |dec| DeleteRecordsPartition::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("DeleteRecordsRequest.DeleteRecordsTopic")?;
        }
        Ok(out)
    }
}

/// `DeleteRecordsPartition` in a `DeleteRecordsRequest`, versions 0-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeleteRecordsPartition {
    /// `PartitionIndex`: `int32`, versions 0-2.
    pub partition_index: i32,
    /// `Offset`: `int64`, versions 0-2.
    pub offset: i64,
}

impl DeleteRecordsPartition {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
        enc.i32(self.partition_index);
        enc.i64(self.offset);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 2;
        let out = Self {
            partition_index: dec.i32("DeleteRecordsRequest.DeleteRecordsPartition.partition_index")?,
            offset: dec.i64("DeleteRecordsRequest.DeleteRecordsPartition.offset")?,
        };
        if flexible {
            dec.skip_tagged_fields("DeleteRecordsRequest.DeleteRecordsPartition")?;
        }
        Ok(out)
    }
}
