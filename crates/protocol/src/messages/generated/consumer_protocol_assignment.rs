// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use bytes::Bytes;

use crate::{DecodeError, Decoder, EncodeError, Encoder, Message, VersionRange};

/// `ConsumerProtocolAssignment`, versions 0-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConsumerProtocolAssignment {
    /// `AssignedPartitions`: `[]TopicPartition`, versions 0-3.
    pub assigned_partitions: Vec<TopicPartition>,
    /// `UserData`: `bytes`, versions 0-3, nullable; null by default.
    pub user_data: Option<Bytes>,
}

impl Message for ConsumerProtocolAssignment {
    const NAME: &'static str = "ConsumerProtocolAssignment";
    const VERSIONS: VersionRange = VersionRange::new(0, 3);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.array(
            &self.assigned_partitions,
            false,
            "ConsumerProtocolAssignment.assigned_partitions",
            |enc, value| value.write(enc, version),
        )?;
        enc.nullable_bytes(self.user_data.as_ref(), false, "ConsumerProtocolAssignment.user_data")?;
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        Ok(Self {
            assigned_partitions: dec.array(
                false,
                6,
                "ConsumerProtocolAssignment.assigned_partitions",
                |dec| TopicPartition::read(dec, version),
            )?,
            user_data: dec.nullable_bytes(false, "ConsumerProtocolAssignment.user_data")?,
        })
    }
}

/// `TopicPartition` in a `ConsumerProtocolAssignment`, versions 0-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TopicPartition {
    /// `Topic`: `string`, versions 0-3.
    pub topic: String,
    /// `Partitions`: `[]int32`, versions 0-3.
    pub partitions: Vec<i32>,
}

impl TopicPartition {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.string(&self.topic, false, "ConsumerProtocolAssignment.TopicPartition.topic")?;
        enc.array(
            &self.partitions,
            false,
            "ConsumerProtocolAssignment.TopicPartition.partitions",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        Ok(Self {
            topic: dec.string(false, "ConsumerProtocolAssignment.TopicPartition.topic")?,
            partitions: dec.array(
                false,
                4,
                "ConsumerProtocolAssignment.TopicPartition.partitions",
                |dec| dec.i32("ConsumerProtocolAssignment.TopicPartition.partitions"),
            )?,
        })
    }
}
