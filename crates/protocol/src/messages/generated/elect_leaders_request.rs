// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `ElectLeadersRequest` (API key 43), versions 0-2.
#[derive(Debug, Clone, PartialEq)]
pub struct ElectLeadersRequest {
    /// `ElectionType`: `int8`, versions 1-2.
    pub election_type: i8,
    /// `TopicPartitions`: `[]TopicPartitions`, versions 0-2, nullable.
    pub topic_partitions: Option<Vec<TopicPartitions>>,
    /// `TimeoutMs`: `int32`, versions 0-2; 60000 by default.
    pub timeout_ms: i32,
}

impl Default for ElectLeadersRequest {
    fn default() -> Self {
        Self { election_type: 0, topic_partitions: Some(Vec::new()), timeout_ms: 60000 }
    }
}

impl Message for ElectLeadersRequest {
    const NAME: &'static str = "ElectLeadersRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 2);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 2;
        if version >= 1 {
            enc.i8(self.election_type);
        } else if self.election_type != 0 {
            return Err(EncodeError::UnsupportedField {
                message: "ElectLeadersRequest",
                field: "election_type",
                version,
            });
        }
        enc.nullable_array(
            self.topic_partitions.as_deref(),
            flexible,
            "ElectLeadersRequest.topic_partitions",
            |enc, value| value.write(enc, version),
        )?;
        enc.i32(self.timeout_ms);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 2;
        let out = Self {
            election_type: if version >= 1 { dec.i8("ElectLeadersRequest.election_type")? } else { 0 },
            topic_partitions: dec.nullable_array(
                flexible,
                3,
                "ElectLeadersRequest.topic_partitions",
                |dec| TopicPartitions::read(dec, version),
            )?,
            timeout_ms: dec.i32("ElectLeadersRequest.timeout_ms")?,
        };
        if flexible {
            dec.skip_tagged_fields("ElectLeadersRequest")?;
        }
        Ok(out)
    }
}

impl Request for ElectLeadersRequest {
    const API_KEY: ApiKey = ApiKey::ElectLeaders;
    type Response = super::ElectLeadersResponse;
}

/// `TopicPartitions` in a `ElectLeadersRequest`, versions 0-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TopicPartitions {
    /// `Topic`: `string`, versions 0-2.
    pub topic: String,
    /// `Partitions`: `[]int32`, versions 0-2.
    pub partitions: Vec<i32>,
}

impl TopicPartitions {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
        enc.string(&self.topic, flexible, "ElectLeadersRequest.TopicPartitions.topic")?;
        enc.array(
            &self.partitions,
            flexible,
            "ElectLeadersRequest.TopicPartitions.partitions",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 2;
        let out = Self {
            topic: dec.string(flexible, "ElectLeadersRequest.TopicPartitions.topic")?,
            partitions: dec.array(flexible, 4, "ElectLeadersRequest.TopicPartitions.partitions", |dec| {
                dec.i32("ElectLeadersRequest.TopicPartitions.partitions")
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("ElectLeadersRequest.TopicPartitions")?;
        }
        Ok(out)
    }
}
