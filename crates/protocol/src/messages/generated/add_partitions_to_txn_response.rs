// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `AddPartitionsToTxnResponse` (API key 24), versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AddPartitionsToTxnResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0-5.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 4-5.
    pub error_code: ErrorCode,
    /// `ResultsByTransaction`: `[]AddPartitionsToTxnResult`, versions 4-5.
    pub results_by_transaction: Vec<AddPartitionsToTxnResult>,
    /// `ResultsByTopicV3AndBelow`: `[]AddPartitionsToTxnTopicResult`, versions 0-3.
    pub results_by_topic_v3_and_below: Vec<AddPartitionsToTxnTopicResult>,
}

impl Message for AddPartitionsToTxnResponse {
    const NAME: &'static str = "AddPartitionsToTxnResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 5);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 3;
        enc.i32(self.throttle_time_ms);
        if version >= 4 {
            enc.i16(self.error_code.0);
        }
        if version >= 4 {
            enc.array(
                &self.results_by_transaction,
                flexible,
                "AddPartitionsToTxnResponse.results_by_transaction",
                |enc, value| value.write(enc, version),
            )?;
        } else if !self.results_by_transaction.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "AddPartitionsToTxnResponse",
                field: "results_by_transaction",
                version,
            });
        }
        if version <= 3 {
            enc.array(
                &self.results_by_topic_v3_and_below,
                flexible,
                "AddPartitionsToTxnResponse.results_by_topic_v3_and_below",
                |enc, value| value.write(enc, version),
            )?;
        } else if !self.results_by_topic_v3_and_below.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "AddPartitionsToTxnResponse",
                field: "results_by_topic_v3_and_below",
                version,
            });
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 3;
        let out = Self {
            throttle_time_ms: dec.i32("AddPartitionsToTxnResponse.throttle_time_ms")?,
            error_code: if version >= 4 {
                dec.i16("AddPartitionsToTxnResponse.error_code").map(ErrorCode)?
            } else {
                ErrorCode::NONE
            },
            results_by_transaction: if version >= 4 {
                dec.array(flexible, 3, "AddPartitionsToTxnResponse.results_by_transaction", |dec| {
                    AddPartitionsToTxnResult::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            results_by_topic_v3_and_below: if version <= 3 {
                dec.array(flexible, 3, "AddPartitionsToTxnResponse.results_by_topic_v3_and_below", |dec| {
                    AddPartitionsToTxnTopicResult::read(dec, version)
                })?
            } else {
                Vec::new()
            },
        };
        if flexible {
            dec.skip_tagged_fields("AddPartitionsToTxnResponse")?;
        }
        Ok(out)
    }
}

/// `AddPartitionsToTxnResult` in a `AddPartitionsToTxnResponse`, versions 4-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AddPartitionsToTxnResult {
    /// `TransactionalId`: `string`, versions 4-5.
    pub transactional_id: String,
    /// `TopicResults`: `[]AddPartitionsToTxnTopicResult`, versions 4-5.
    pub topic_results: Vec<AddPartitionsToTxnTopicResult>,
}

impl AddPartitionsToTxnResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.string(
            &self.transactional_id,
            true,
            "AddPartitionsToTxnResponse.AddPartitionsToTxnResult.transactional_id",
        )?;
        enc.array(
            &self.topic_results,
            true,
            "AddPartitionsToTxnResponse.AddPartitionsToTxnResult.topic_results",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            transactional_id: dec
                .string(true, "AddPartitionsToTxnResponse.AddPartitionsToTxnResult.transactional_id")?,
            topic_results: dec.array(
                true,
                3,
                "AddPartitionsToTxnResponse.AddPartitionsToTxnResult.topic_results",
                |dec| AddPartitionsToTxnTopicResult::read(dec, version),
            )?,
        };
        dec.skip_tagged_fields("AddPartitionsToTxnResponse.AddPartitionsToTxnResult")?;

        Ok(out)
    }
}

/// `AddPartitionsToTxnTopicResult` in a `AddPartitionsToTxnResponse`, versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AddPartitionsToTxnTopicResult {
    /// `Name`: `string`, versions 0-5.
    pub name: String,
    /// `ResultsByPartition`: `[]AddPartitionsToTxnPartitionResult`, versions 0-5.
    pub results_by_partition: Vec<AddPartitionsToTxnPartitionResult>,
}

impl AddPartitionsToTxnTopicResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        enc.string(&self.name, flexible, "AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult.name")?;
        enc.array(
            &self.results_by_partition,
            flexible,
            "AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult.results_by_partition",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let out = Self {
            name: dec.string(flexible, "AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult.name")?,
            results_by_partition: dec.array(
                flexible,
                6,
                "AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult.results_by_partition",
                |dec| AddPartitionsToTxnPartitionResult::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult")?;
        }
        Ok(out)
    }
}

/// `AddPartitionsToTxnPartitionResult` in a `AddPartitionsToTxnResponse`, versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AddPartitionsToTxnPartitionResult {
    /// `PartitionIndex`: `int32`, versions 0-5.
    pub partition_index: i32,
    /// `PartitionErrorCode`: `int16`, versions 0-5.
    pub partition_error_code: ErrorCode,
}

impl AddPartitionsToTxnPartitionResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        enc.i32(self.partition_index);
        enc.i16(self.partition_error_code.0);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let out = Self {
            partition_index: dec
                .i32("AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult.partition_index")?,
            partition_error_code: dec
                .i16("AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult.partition_error_code")
                .map(ErrorCode)?,
        };
        if flexible {
            dec.skip_tagged_fields("AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult")?;
        }
        Ok(out)
    }
}
