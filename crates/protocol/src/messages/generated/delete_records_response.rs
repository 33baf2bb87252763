// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `DeleteRecordsResponse` (API key 21), versions 0-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeleteRecordsResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0-2.
    pub throttle_time_ms: i32,
    /// `Topics`: `[]DeleteRecordsTopicResult`, versions 0-2.
    pub topics: Vec<DeleteRecordsTopicResult>,
}

impl Message for DeleteRecordsResponse {
    const NAME: &'static str = "DeleteRecordsResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 2);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 2;
        enc.i32(self.throttle_time_ms);
        enc.array(&self.topics, flexible, "DeleteRecordsResponse.topics", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 2;
        let out = Self {
            throttle_time_ms: dec.i32("DeleteRecordsResponse.throttle_time_ms")?,
            topics: dec.array(flexible, 3, "DeleteRecordsResponse.topics", |dec| {
                DeleteRecordsTopicResult::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("DeleteRecordsResponse")?;
        }
        Ok(out)
    }
}

/// `DeleteRecordsTopicResult` in a `DeleteRecordsResponse`, versions 0-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeleteRecordsTopicResult {
    /// `Name`: `string`, versions 0-2.
    pub name: String,
    /// `Partitions`: `[]DeleteRecordsPartitionResult`, versions 0-2.
    pub partitions: Vec<DeleteRecordsPartitionResult>,
}

impl DeleteRecordsTopicResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
        enc.string(&self.name, flexible, "DeleteRecordsResponse.DeleteRecordsTopicResult.name")?;
        enc.array(
            &self.partitions,
            flexible,
            "DeleteRecordsResponse.DeleteRecordsTopicResult.partitions",
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
            name: dec.string(flexible, "DeleteRecordsResponse.DeleteRecordsTopicResult.name")?,
            partitions: dec.array(
                flexible,
                14,
                "DeleteRecordsResponse.DeleteRecordsTopicResult.partitions",
                |dec| DeleteRecordsPartitionResult::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("DeleteRecordsResponse.DeleteRecordsTopicResult")?;
        }
        Ok(out)
    }
}

/// `DeleteRecordsPartitionResult` in a `DeleteRecordsResponse`, versions 0-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeleteRecordsPartitionResult {
    /// `PartitionIndex`: `int32`, versions 0-2.
    pub partition_index: i32,
    /// `LowWatermark`: `int64`, versions 0-2.
    pub low_watermark: i64,
    /// `ErrorCode`: `int16`, versions 0-2.
    pub error_code: ErrorCode,
}

impl DeleteRecordsPartitionResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
        enc.i32(self.partition_index);
        enc.i64(self.low_watermark);
        enc.i16(self.error_code.0);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 2;
        let out = Self {
            partition_index: dec.i32("DeleteRecordsResponse.DeleteRecordsPartitionResult.partition_index")?,
            low_watermark: dec.i64("DeleteRecordsResponse.DeleteRecordsPartitionResult.low_watermark")?,
            error_code: dec
                .i16("DeleteRecordsResponse.DeleteRecordsPartitionResult.error_code")
                .map(ErrorCode)?,
        };
        if flexible {
            dec.skip_tagged_fields("DeleteRecordsResponse.DeleteRecordsPartitionResult")?;
        }
        Ok(out)
    }
}
