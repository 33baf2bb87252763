// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `ElectLeadersResponse` (API key 43), versions 0-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ElectLeadersResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0-2.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 1-2.
    pub error_code: ErrorCode,
    /// `ReplicaElectionResults`: `[]ReplicaElectionResult`, versions 0-2.
    pub replica_election_results: Vec<ReplicaElectionResult>,
}

impl Message for ElectLeadersResponse {
    const NAME: &'static str = "ElectLeadersResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 2);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 2;
        enc.i32(self.throttle_time_ms);
        if version >= 1 {
            enc.i16(self.error_code.0);
        } else if self.error_code != ErrorCode::NONE {
            return Err(EncodeError::UnsupportedField {
                message: "ElectLeadersResponse",
                field: "error_code",
                version,
            });
        }
        enc.array(
            &self.replica_election_results,
            flexible,
            "ElectLeadersResponse.replica_election_results",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 2;
        let out = Self {
            throttle_time_ms: dec.i32("ElectLeadersResponse.throttle_time_ms")?,
            error_code: if version >= 1 {
                dec.i16("ElectLeadersResponse.error_code").map(ErrorCode)?
            } else {
                ErrorCode::NONE
            },
            replica_election_results: dec.array(
                flexible,
                3,
                "ElectLeadersResponse.replica_election_results",
                |dec| ReplicaElectionResult::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("ElectLeadersResponse")?;
        }
        Ok(out)
    }
}

/// `ReplicaElectionResult` in a `ElectLeadersResponse`, versions 0-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReplicaElectionResult {
    /// `Topic`: `string`, versions 0-2.
    pub topic: String,
    /// `PartitionResult`: `[]PartitionResult`, versions 0-2.
    pub partition_result: Vec<PartitionResult>,
}

impl ReplicaElectionResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
        enc.string(&self.topic, flexible, "ElectLeadersResponse.ReplicaElectionResult.topic")?;
        enc.array(
            &self.partition_result,
            flexible,
            "ElectLeadersResponse.ReplicaElectionResult.partition_result",
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
            topic: dec.string(flexible, "ElectLeadersResponse.ReplicaElectionResult.topic")?,
            partition_result: dec.array(
                flexible,
                8,
                "ElectLeadersResponse.ReplicaElectionResult.partition_result",
                |dec| PartitionResult::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("ElectLeadersResponse.ReplicaElectionResult")?;
        }
        Ok(out)
    }
}

/// `PartitionResult` in a `ElectLeadersResponse`, versions 0-2.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionResult {
    /// `PartitionId`: `int32`, versions 0-2.
    pub partition_id: i32,
    /// `ErrorCode`: `int16`, versions 0-2.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 0-2, nullable.
    pub error_message: Option<String>,
}

impl Default for PartitionResult {
    fn default() -> Self {
        Self { partition_id: 0, error_code: ErrorCode::NONE, error_message: Some(String::new()) }
    }
}

impl PartitionResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
        enc.i32(self.partition_id);
        enc.i16(self.error_code.0);
        enc.nullable_string(
            self.error_message.as_deref(),
            flexible,
            "ElectLeadersResponse.PartitionResult.error_message",
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 2;
        let out = Self {
            partition_id: dec.i32("ElectLeadersResponse.PartitionResult.partition_id")?,
            error_code: dec.i16("ElectLeadersResponse.PartitionResult.error_code").map(ErrorCode)?,
            error_message: dec
                .nullable_string(flexible, "ElectLeadersResponse.PartitionResult.error_message")?,
        };
        if flexible {
            dec.skip_tagged_fields("ElectLeadersResponse.PartitionResult")?;
        }
        Ok(out)
    }
}
