// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `ControlledShutdownResponse` (API key 7), versions 0-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ControlledShutdownResponse {
    /// `ErrorCode`: `int16`, versions 0-3.
    pub error_code: ErrorCode,
    /// `RemainingPartitions`: `[]RemainingPartition`, versions 0-3.
    pub remaining_partitions: Vec<RemainingPartition>,
}

impl Message for ControlledShutdownResponse {
    const NAME: &'static str = "ControlledShutdownResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 3);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 3;
        enc.i16(self.error_code.0);
        enc.array(
            &self.remaining_partitions,
            flexible,
            "ControlledShutdownResponse.remaining_partitions",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 3;
        let out = Self {
            error_code: dec.i16("ControlledShutdownResponse.error_code").map(ErrorCode)?,
            remaining_partitions: dec.array(
                flexible,
                6,
                "ControlledShutdownResponse.remaining_partitions",
                |dec| RemainingPartition::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("ControlledShutdownResponse")?;
        }
        Ok(out)
    }
}

/// `RemainingPartition` in a `ControlledShutdownResponse`, versions 0-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RemainingPartition {
    /// `TopicName`: `string`, versions 0-3.
    pub topic_name: String,
    /// `PartitionIndex`: `int32`, versions 0-3.
    pub partition_index: i32,
}

impl RemainingPartition {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 3;
        enc.string(&self.topic_name, flexible, "ControlledShutdownResponse.RemainingPartition.topic_name")?;
        enc.i32(self.partition_index);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 3;
        let out = Self {
            topic_name: dec.string(flexible, "ControlledShutdownResponse.RemainingPartition.topic_name")?,
            partition_index: dec.i32("ControlledShutdownResponse.RemainingPartition.partition_index")?,
        };
        if flexible {
            dec.skip_tagged_fields("ControlledShutdownResponse.RemainingPartition")?;
        }
        Ok(out)
    }
}
