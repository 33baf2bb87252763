// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, Uuid, VersionRange};

/// `ConsumerGroupHeartbeatRequest` (API key 68), versions 0-1.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsumerGroupHeartbeatRequest {
    /// `GroupId`: `string`, versions 0-1.
    pub group_id: String,
    /// `MemberId`: `string`, versions 0-1.
    pub member_id: String,
    /// `MemberEpoch`: `int32`, versions 0-1.
    pub member_epoch: i32,
    /// `InstanceId`: `string`, versions 0-1, nullable; null by default.
    pub instance_id: Option<String>,
    /// `RackId`: `string`, versions 0-1, nullable; null by default.
    pub rack_id: Option<String>,
    /// `RebalanceTimeoutMs`: `int32`, versions 0-1; -1 by default.
    pub rebalance_timeout_ms: i32,
    /// `SubscribedTopicNames`: `[]string`, versions 0-1, nullable; null by default.
    pub subscribed_topic_names: Option<Vec<String>>,
    /// `SubscribedTopicRegex`: `string`, versions 1, nullable; null by default.
    pub subscribed_topic_regex: Option<String>,
    /// `ServerAssignor`: `string`, versions 0-1, nullable; null by default.
    pub server_assignor: Option<String>,
    /// `TopicPartitions`: `[]TopicPartitions`, versions 0-1, nullable; null by default.
    pub topic_partitions: Option<Vec<TopicPartitions>>,
}

impl Default for ConsumerGroupHeartbeatRequest {
    fn default() -> Self {
        Self {
            group_id: String::new(),
            member_id: String::new(),
            member_epoch: 0,
            instance_id: None,
            rack_id: None,
            rebalance_timeout_ms: -1,
            subscribed_topic_names: None,
            subscribed_topic_regex: None,
            server_assignor: None,
            topic_partitions: None,
        }
    }
}

impl Message for ConsumerGroupHeartbeatRequest {
    const NAME: &'static str = "ConsumerGroupHeartbeatRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 1);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.string(&self.group_id, true, "ConsumerGroupHeartbeatRequest.group_id")?;
        enc.string(&self.member_id, true, "ConsumerGroupHeartbeatRequest.member_id")?;
        enc.i32(self.member_epoch);
        enc.nullable_string(self.instance_id.as_deref(), true, "ConsumerGroupHeartbeatRequest.instance_id")?;
        enc.nullable_string(self.rack_id.as_deref(), true, "ConsumerGroupHeartbeatRequest.rack_id")?;
        enc.i32(self.rebalance_timeout_ms);
        enc.nullable_array(
            self.subscribed_topic_names.as_deref(),
            true,
            "ConsumerGroupHeartbeatRequest.subscribed_topic_names",
            |enc, value| enc.string(value, true, "ConsumerGroupHeartbeatRequest.subscribed_topic_names"),
        )?;
        if version == 1 {
            enc.nullable_string(
                self.subscribed_topic_regex.as_deref(),
                true,
                "ConsumerGroupHeartbeatRequest.subscribed_topic_regex",
            )?;
        } else if self.subscribed_topic_regex.is_some() {
            return Err(EncodeError::UnsupportedField {
                message: "ConsumerGroupHeartbeatRequest",
                field: "subscribed_topic_regex",
                version,
            });
        }
        enc.nullable_string(
            self.server_assignor.as_deref(),
            true,
            "ConsumerGroupHeartbeatRequest.server_assignor",
        )?;
        enc.nullable_array(
            self.topic_partitions.as_deref(),
            true,
            "ConsumerGroupHeartbeatRequest.topic_partitions",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            group_id: dec.string(true, "ConsumerGroupHeartbeatRequest.group_id")?,
            member_id: dec.string(true, "ConsumerGroupHeartbeatRequest.member_id")?,
            member_epoch: dec.i32("ConsumerGroupHeartbeatRequest.member_epoch")?,
            instance_id: dec.nullable_string(true, "ConsumerGroupHeartbeatRequest.instance_id")?,
            rack_id: dec.nullable_string(true, "ConsumerGroupHeartbeatRequest.rack_id")?,
            rebalance_timeout_ms: dec.i32("ConsumerGroupHeartbeatRequest.rebalance_timeout_ms")?,
            subscribed_topic_names: dec.nullable_array(
                true,
                1,
                "ConsumerGroupHeartbeatRequest.subscribed_topic_names",
                |dec| dec.string(true, "ConsumerGroupHeartbeatRequest.subscribed_topic_names"),
            )?,
            subscribed_topic_regex: if version == 1 {
                dec.nullable_string(true, "ConsumerGroupHeartbeatRequest.subscribed_topic_regex")?
            } else {
                None
            },
            server_assignor: dec.nullable_string(true, "ConsumerGroupHeartbeatRequest.server_assignor")?,
            topic_partitions: dec.nullable_array(
                true,
                18,
                "ConsumerGroupHeartbeatRequest.topic_partitions",
                |dec| TopicPartitions::read(dec, version),
            )?,
        };
        dec.skip_tagged_fields("ConsumerGroupHeartbeatRequest")?;

        Ok(out)
    }
}

impl Request for ConsumerGroupHeartbeatRequest {
    const API_KEY: ApiKey = ApiKey::ConsumerGroupHeartbeat;
    type Response = super::ConsumerGroupHeartbeatResponse;
}

/// `TopicPartitions` in a `ConsumerGroupHeartbeatRequest`, versions 0-1.
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
            "ConsumerGroupHeartbeatRequest.TopicPartitions.partitions",
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
            topic_id: dec.uuid("ConsumerGroupHeartbeatRequest.TopicPartitions.topic_id")?,
            partitions: dec.array(
                true,
                4,
                "ConsumerGroupHeartbeatRequest.TopicPartitions.partitions",
                |dec| dec.i32("ConsumerGroupHeartbeatRequest.TopicPartitions.partitions"),
            )?,
        };
        dec.skip_tagged_fields("ConsumerGroupHeartbeatRequest.TopicPartitions")?;

        Ok(out)
    }
}
