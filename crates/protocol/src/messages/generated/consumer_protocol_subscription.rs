// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use bytes::Bytes;

use crate::{DecodeError, Decoder, EncodeError, Encoder, Message, VersionRange};

/// `ConsumerProtocolSubscription`, versions 0-3.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsumerProtocolSubscription {
    /// `Topics`: `[]string`, versions 0-3.
    pub topics: Vec<String>,
    /// `UserData`: `bytes`, versions 0-3, nullable; null by default.
    pub user_data: Option<Bytes>,
    /// `OwnedPartitions`: `[]TopicPartition`, versions 1-3.
    pub owned_partitions: Vec<TopicPartition>,
    /// `GenerationId`: `int32`, versions 2-3; -1 by default.
    pub generation_id: i32,
    /// `RackId`: `string`, versions 3, nullable; null by default.
    pub rack_id: Option<String>,
}

impl Default for ConsumerProtocolSubscription {
    fn default() -> Self {
        Self {
            topics: Vec::new(),
            user_data: None,
            owned_partitions: Vec::new(),
            generation_id: -1,
            rack_id: None,
        }
    }
}

impl Message for ConsumerProtocolSubscription {
    const NAME: &'static str = "ConsumerProtocolSubscription";
    const VERSIONS: VersionRange = VersionRange::new(0, 3);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.array(&self.topics, false, "ConsumerProtocolSubscription.topics", |enc, value| {
            enc.string(value, false, "ConsumerProtocolSubscription.topics")
        })?;
        enc.nullable_bytes(self.user_data.as_ref(), false, "ConsumerProtocolSubscription.user_data")?;
        if version >= 1 {
            enc.array(
                &self.owned_partitions,
                false,
                "ConsumerProtocolSubscription.owned_partitions",
                |enc, value| value.write(enc, version),
            )?;
        }
        if version >= 2 {
            enc.i32(self.generation_id);
        }
        if version == 3 {
            enc.nullable_string(self.rack_id.as_deref(), false, "ConsumerProtocolSubscription.rack_id")?;
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        Ok(Self {
            topics: dec.array(false, 2, "ConsumerProtocolSubscription.topics", |dec| {
                dec.string(false, "ConsumerProtocolSubscription.topics")
            })?,
            user_data: dec.nullable_bytes(false, "ConsumerProtocolSubscription.user_data")?,
            owned_partitions: if version >= 1 {
                dec.array(false, 6, "ConsumerProtocolSubscription.owned_partitions", |dec| {
                    TopicPartition::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            generation_id: if version >= 2 {
                dec.i32("ConsumerProtocolSubscription.generation_id")?
            } else {
                -1
            },
            rack_id: if version == 3 {
                dec.nullable_string(false, "ConsumerProtocolSubscription.rack_id")?
            } else {
                None
            },
        })
    }
}

/// `TopicPartition` in a `ConsumerProtocolSubscription`, versions 1-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TopicPartition {
    /// `Topic`: `string`, versions 1-3.
    pub topic: String,
    /// `Partitions`: `[]int32`, versions 1-3.
    pub partitions: Vec<i32>,
}

impl TopicPartition {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.string(&self.topic, false, "ConsumerProtocolSubscription.TopicPartition.topic")?;
        enc.array(
            &self.partitions,
            false,
            "ConsumerProtocolSubscription.TopicPartition.partitions",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        Ok(Self {
            topic: dec.string(false, "ConsumerProtocolSubscription.TopicPartition.topic")?,
            partitions: dec.array(
                false,
                4,
                "ConsumerProtocolSubscription.TopicPartition.partitions",
                |dec| dec.i32("ConsumerProtocolSubscription.TopicPartition.partitions"),
            )?,
        })
    }
}
