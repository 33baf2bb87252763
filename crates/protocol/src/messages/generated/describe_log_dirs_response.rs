// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `DescribeLogDirsResponse` (API key 35), versions 1-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DescribeLogDirsResponse {
    /// `ThrottleTimeMs`: `int32`, versions 1-5.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 3-5.
    pub error_code: ErrorCode,
    /// `Results`: `[]DescribeLogDirsResult`, versions 1-5.
    pub results: Vec<DescribeLogDirsResult>,
}

impl Message for DescribeLogDirsResponse {
    const NAME: &'static str = "DescribeLogDirsResponse";
    const VERSIONS: VersionRange = VersionRange::new(1, 5);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 2;
        enc.i32(self.throttle_time_ms);
        if version >= 3 {
            enc.i16(self.error_code.0);
        }
        enc.array(&self.results, flexible, "DescribeLogDirsResponse.results", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 2;
        let out = Self {
            throttle_time_ms: dec.i32("DescribeLogDirsResponse.throttle_time_ms")?,
            error_code: if version >= 3 {
                dec.i16("DescribeLogDirsResponse.error_code").map(ErrorCode)?
            } else {
                ErrorCode::NONE
            },
            results: dec.array(flexible, 5, "DescribeLogDirsResponse.results", |dec| {
                DescribeLogDirsResult::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("DescribeLogDirsResponse")?;
        }
        Ok(out)
    }
}

/// `DescribeLogDirsResult` in a `DescribeLogDirsResponse`, versions 1-5.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeLogDirsResult {
    /// `ErrorCode`: `int16`, versions 1-5.
    pub error_code: ErrorCode,
    /// `LogDir`: `string`, versions 1-5.
    pub log_dir: String,
    /// `Topics`: `[]DescribeLogDirsTopic`, versions 1-5.
    pub topics: Vec<DescribeLogDirsTopic>,
    /// `TotalBytes`: `int64`, versions 4-5; -1 by default.
    pub total_bytes: i64,
    /// `UsableBytes`: `int64`, versions 4-5; -1 by default.
    pub usable_bytes: i64,
    /// `IsCordoned`: `bool`, versions 5.
    pub is_cordoned: bool,
}

impl Default for DescribeLogDirsResult {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            log_dir: String::new(),
            topics: Vec::new(),
            total_bytes: -1,
            usable_bytes: -1,
            is_cordoned: false,
        }
    }
}

impl DescribeLogDirsResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        enc.i16(self.error_code.0);
        enc.string(&self.log_dir, flexible, "DescribeLogDirsResponse.DescribeLogDirsResult.log_dir")?;
        enc.array(
            &self.topics,
            flexible,
            "DescribeLogDirsResponse.DescribeLogDirsResult.topics",
            |enc, value| value.write(enc, version),
        )?;
        if version >= 4 {
            enc.i64(self.total_bytes);
        }
        if version >= 4 {
            enc.i64(self.usable_bytes);
        }
        if version == 5 {
            enc.bool(self.is_cordoned);
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let out = Self {
            error_code: dec.i16("DescribeLogDirsResponse.DescribeLogDirsResult.error_code").map(ErrorCode)?,
            log_dir: dec.string(flexible, "DescribeLogDirsResponse.DescribeLogDirsResult.log_dir")?,
            topics: dec.array(
                flexible,
                3,
                "DescribeLogDirsResponse.DescribeLogDirsResult.topics",
                |dec| DescribeLogDirsTopic::read(dec, version),
            )?,
            total_bytes: if version >= 4 {
                dec.i64("DescribeLogDirsResponse.DescribeLogDirsResult.total_bytes")?
            } else {
                -1
            },
            usable_bytes: if version >= 4 {
                dec.i64("DescribeLogDirsResponse.DescribeLogDirsResult.usable_bytes")?
            } else {
                -1
            },
            is_cordoned: if version == 5 {
                dec.bool("DescribeLogDirsResponse.DescribeLogDirsResult.is_cordoned")?
            } else {
                false
            },
        };
        if flexible {
            dec.skip_tagged_fields("DescribeLogDirsResponse.DescribeLogDirsResult")?;
        }
        Ok(out)
    }
}

/// `DescribeLogDirsTopic` in a `DescribeLogDirsResponse`, versions 1-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DescribeLogDirsTopic {
    /// `Name`: `string`, versions 1-5.
    pub name: String,
    /// `Partitions`: `[]DescribeLogDirsPartition`, versions 1-5.
    pub partitions: Vec<DescribeLogDirsPartition>,
}

impl DescribeLogDirsTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        enc.string(&self.name, flexible, "DescribeLogDirsResponse.DescribeLogDirsTopic.name")?;
        enc.array(
            &self.partitions,
            flexible,
            "DescribeLogDirsResponse.DescribeLogDirsTopic.partitions",
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
            name: dec.string(flexible, "DescribeLogDirsResponse.DescribeLogDirsTopic.name")?,
            partitions: dec.array(
                flexible,
                21,
                "DescribeLogDirsResponse.DescribeLogDirsTopic.partitions",
                |dec| DescribeLogDirsPartition::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("DescribeLogDirsResponse.DescribeLogDirsTopic")?;
        }
        Ok(out)
    }
}

/// `DescribeLogDirsPartition` in a `DescribeLogDirsResponse`, versions 1-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DescribeLogDirsPartition {
    /// `PartitionIndex`: `int32`, versions 1-5.
    pub partition_index: i32,
    /// `PartitionSize`: `int64`, versions 1-5.
    pub partition_size: i64,
    /// `OffsetLag`: `int64`, versions 1-5.
    pub offset_lag: i64,
    /// `IsFutureKey`: `bool`, versions 1-5.
    pub is_future_key: bool,
}

impl DescribeLogDirsPartition {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        enc.i32(self.partition_index);
        enc.i64(self.partition_size);
        enc.i64(self.offset_lag);
        enc.bool(self.is_future_key);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let out = Self {
            partition_index: dec.i32("DescribeLogDirsResponse.DescribeLogDirsPartition.partition_index")?,
            partition_size: dec.i64("DescribeLogDirsResponse.DescribeLogDirsPartition.partition_size")?,
            offset_lag: dec.i64("DescribeLogDirsResponse.DescribeLogDirsPartition.offset_lag")?,
            is_future_key: dec.bool("DescribeLogDirsResponse.DescribeLogDirsPartition.is_future_key")?,
        };
        if flexible {
            dec.skip_tagged_fields("DescribeLogDirsResponse.DescribeLogDirsPartition")?;
        }
        Ok(out)
    }
}
