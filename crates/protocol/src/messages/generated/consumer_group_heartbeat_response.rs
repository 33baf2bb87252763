// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, Uuid, VersionRange};

/// `ConsumerGroupHeartbeatResponse` (API key 68), versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConsumerGroupHeartbeatResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0-1.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 0-1.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 0-1, nullable; null by default.
    pub error_message: Option<String>,
    /// `MemberId`: `string`, versions 0-1, nullable; null by default.
    pub member_id: Option<String>,
    /// `MemberEpoch`: `int32`, versions 0-1.
    pub member_epoch: i32,
    /// `HeartbeatIntervalMs`: `int32`, versions 0-1.
    pub heartbeat_interval_ms: i32,
    /// `Assignment`: `Assignment`, versions 0-1, nullable; null by default.
    pub assignment: Option<Assignment>,
}

impl Message for ConsumerGroupHeartbeatResponse {
    const NAME: &'static str = "ConsumerGroupHeartbeatResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 1);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.i32(self.throttle_time_ms);
        enc.i16(self.error_code.0);
        enc.nullable_string(
            self.error_message.as_deref(),
            true,
            "ConsumerGroupHeartbeatResponse.error_message",
        )?;
        enc.nullable_string(self.member_id.as_deref(), true, "ConsumerGroupHeartbeatResponse.member_id")?;
        enc.i32(self.member_epoch);
        enc.i32(self.heartbeat_interval_ms);
        match &self.assignment {
            None => enc.i8(-1),
            Some(value) => {
                enc.i8(1);
                value.write(enc, version)?;
            }
        }
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            throttle_time_ms: dec.i32("ConsumerGroupHeartbeatResponse.throttle_time_ms")?,
            error_code: dec.i16("ConsumerGroupHeartbeatResponse.error_code").map(ErrorCode)?,
            error_message: dec.nullable_string(true, "ConsumerGroupHeartbeatResponse.error_message")?,
            member_id: dec.nullable_string(true, "ConsumerGroupHeartbeatResponse.member_id")?,
            member_epoch: dec.i32("ConsumerGroupHeartbeatResponse.member_epoch")?,
            heartbeat_interval_ms: dec.i32("ConsumerGroupHeartbeatResponse.heartbeat_interval_ms")?,
            assignment: if dec.i8("ConsumerGroupHeartbeatResponse.assignment")? < 0 {
                None
            } else {
                Some(Assignment::read(dec, version)?)
            },
        };
        dec.skip_tagged_fields("ConsumerGroupHeartbeatResponse")?;

        Ok(out)
    }
}

/// `Assignment` in a `ConsumerGroupHeartbeatResponse`, versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Assignment {
    /// `TopicPartitions`: `[]TopicPartitions`, versions 0-1.
    pub topic_partitions: Vec<TopicPartitions>,
}

impl Assignment {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.array(
            &self.topic_partitions,
            true,
            "ConsumerGroupHeartbeatResponse.Assignment.topic_partitions",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            topic_partitions: dec.array(
                true,
                18,
                "ConsumerGroupHeartbeatResponse.Assignment.topic_partitions",
                |dec| TopicPartitions::read(dec, version),
            )?,
        };
        dec.skip_tagged_fields("ConsumerGroupHeartbeatResponse.Assignment")?;

        Ok(out)
    }
}

/// `TopicPartitions` in a `ConsumerGroupHeartbeatResponse`, versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TopicPartitions {
    /// `TopicId`: `uuid`, versions 0-1.
    pub topic_id: Uuid,
    /// `Partitions`: `[]int32`, versions 0-1.
    pub partitions: Vec<i32>,
}

impl TopicPartitions {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.uuid(self.topic_id);
        enc.array(
            &self.partitions,
            true,
            "ConsumerGroupHeartbeatResponse.TopicPartitions.partitions",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            topic_id: dec.uuid("ConsumerGroupHeartbeatResponse.TopicPartitions.topic_id")?,
            partitions: dec.array(
                true,
                4,
                "ConsumerGroupHeartbeatResponse.TopicPartitions.partitions",
                |dec| dec.i32("ConsumerGroupHeartbeatResponse.TopicPartitions.partitions"),
            )?,
        };
        dec.skip_tagged_fields("ConsumerGroupHeartbeatResponse.TopicPartitions")?;

        Ok(out)
    }
}
