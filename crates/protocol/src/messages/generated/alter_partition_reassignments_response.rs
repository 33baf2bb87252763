// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `AlterPartitionReassignmentsResponse` (API key 45), versions 0-1.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterPartitionReassignmentsResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0-1.
    pub throttle_time_ms: i32,
    /// `AllowReplicationFactorChange`: `bool`, versions 1; true by default.
    pub allow_replication_factor_change: bool,
    /// `ErrorCode`: `int16`, versions 0-1.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 0-1, nullable.
    pub error_message: Option<String>,
    /// `Responses`: `[]ReassignableTopicResponse`, versions 0-1.
    pub responses: Vec<ReassignableTopicResponse>,
}

impl Default for AlterPartitionReassignmentsResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            allow_replication_factor_change: true,
            error_code: ErrorCode::NONE,
            error_message: Some(String::new()),
            responses: Vec::new(),
        }
    }
}

impl Message for AlterPartitionReassignmentsResponse {
    const NAME: &'static str = "AlterPartitionReassignmentsResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 1);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.i32(self.throttle_time_ms);
        if version == 1 {
            enc.bool(self.allow_replication_factor_change);
        }
        enc.i16(self.error_code.0);
        enc.nullable_string(
            self.error_message.as_deref(),
            true,
            "AlterPartitionReassignmentsResponse.error_message",
        )?;
        enc.array(&self.responses, true, "AlterPartitionReassignmentsResponse.responses", |enc, value| {
            value.write(enc, version)
        })?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            throttle_time_ms: dec.i32("AlterPartitionReassignmentsResponse.throttle_time_ms")?,
            allow_replication_factor_change: if version == 1 {
                dec.bool("AlterPartitionReassignmentsResponse.allow_replication_factor_change")?
            } else {
                true
            },
            error_code: dec.i16("AlterPartitionReassignmentsResponse.error_code").map(ErrorCode)?,
            error_message: dec.nullable_string(true, "AlterPartitionReassignmentsResponse.error_message")?,
            responses: dec.array(true, 3, "AlterPartitionReassignmentsResponse.responses", |dec| {
                ReassignableTopicResponse::read(dec, version)
            })?,
        };
        dec.skip_tagged_fields("AlterPartitionReassignmentsResponse")?;

        Ok(out)
    }
}

/// `ReassignableTopicResponse` in a `AlterPartitionReassignmentsResponse`, versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReassignableTopicResponse {
    /// `Name`: `string`, versions 0-1.
    pub name: String,
    /// `Partitions`: `[]ReassignablePartitionResponse`, versions 0-1.
    pub partitions: Vec<ReassignablePartitionResponse>,
}

impl ReassignableTopicResponse {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.string(&self.name, true, "AlterPartitionReassignmentsResponse.ReassignableTopicResponse.name")?;
        enc.array(
            &self.partitions,
            true,
            "AlterPartitionReassignmentsResponse.ReassignableTopicResponse.partitions",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            name: dec.string(true, "AlterPartitionReassignmentsResponse.ReassignableTopicResponse.name")?,
            partitions: dec.array(
                true,
                8,
                "AlterPartitionReassignmentsResponse.ReassignableTopicResponse.partitions",
                |dec| ReassignablePartitionResponse::read(dec, version),
            )?,
        };
        dec.skip_tagged_fields("AlterPartitionReassignmentsResponse.ReassignableTopicResponse")?;

        Ok(out)
    }
}

/// `ReassignablePartitionResponse` in a `AlterPartitionReassignmentsResponse`, versions 0-1.
#[derive(Debug, Clone, PartialEq)]
pub struct ReassignablePartitionResponse {
    /// `PartitionIndex`: `int32`, versions 0-1.
    pub partition_index: i32,
    /// `ErrorCode`: `int16`, versions 0-1.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 0-1, nullable.
    pub error_message: Option<String>,
}

impl Default for ReassignablePartitionResponse {
    fn default() -> Self {
        Self { partition_index: 0, error_code: ErrorCode::NONE, error_message: Some(String::new()) }
    }
}

impl ReassignablePartitionResponse {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i32(self.partition_index);
        enc.i16(self.error_code.0);
        enc.nullable_string(
            self.error_message.as_deref(),
            true,
            "AlterPartitionReassignmentsResponse.ReassignablePartitionResponse.error_message",
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            partition_index: dec
                .i32("AlterPartitionReassignmentsResponse.ReassignablePartitionResponse.partition_index")?,
            error_code: dec
                .i16("AlterPartitionReassignmentsResponse.ReassignablePartitionResponse.error_code")
                .map(ErrorCode)?,
            error_message: dec.nullable_string(
                true,
                "AlterPartitionReassignmentsResponse.ReassignablePartitionResponse.error_message",
            )?,
        };
        dec.skip_tagged_fields("AlterPartitionReassignmentsResponse.ReassignablePartitionResponse")?;

        Ok(out)
    }
}
