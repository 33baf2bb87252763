// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `StopReplicaResponse` (API key 5), versions 0-4.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StopReplicaResponse {
    /// `ErrorCode`: `int16`, versions 0-4.
    pub error_code: ErrorCode,
    /// `PartitionErrors`: `[]StopReplicaPartitionError`, versions 0-4.
    pub partition_errors: Vec<StopReplicaPartitionError>,
}

impl Message for StopReplicaResponse {
    const NAME: &'static str = "StopReplicaResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 4);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 2;
        enc.i16(self.error_code.0);
        enc.array(&self.partition_errors, flexible, "StopReplicaResponse.partition_errors", |enc, value| {
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
            error_code: dec.i16("StopReplicaResponse.error_code").map(ErrorCode)?,
            partition_errors: dec.array(flexible, 8, "StopReplicaResponse.partition_errors", |dec| {
                StopReplicaPartitionError::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("StopReplicaResponse")?;
        }
        Ok(out)
    }
}

/// `StopReplicaPartitionError` in a `StopReplicaResponse`, versions 0-4.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StopReplicaPartitionError {
    /// `TopicName`: `string`, versions 0-4.
    pub topic_name: String,
    /// `PartitionIndex`: `int32`, versions 0-4.
    pub partition_index: i32,
    /// `ErrorCode`: `int16`, versions 0-4.
    pub error_code: ErrorCode,
}

impl StopReplicaPartitionError {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        enc.string(&self.topic_name, flexible, "StopReplicaResponse.StopReplicaPartitionError.topic_name")?;
        enc.i32(self.partition_index);
        enc.i16(self.error_code.0);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let out = Self {
            topic_name: dec.string(flexible, "StopReplicaResponse.StopReplicaPartitionError.topic_name")?,
            partition_index: dec.i32("StopReplicaResponse.StopReplicaPartitionError.partition_index")?,
            error_code: dec.i16("StopReplicaResponse.StopReplicaPartitionError.error_code").map(ErrorCode)?,
        };
        if flexible {
            dec.skip_tagged_fields("StopReplicaResponse.StopReplicaPartitionError")?;
        }
        Ok(out)
    }
}
