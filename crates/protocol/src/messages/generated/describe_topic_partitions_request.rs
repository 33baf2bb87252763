// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `DescribeTopicPartitionsRequest` (API key 75), versions 0.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeTopicPartitionsRequest {
    /// `Topics`: `[]TopicRequest`, versions 0.
    pub topics: Vec<TopicRequest>,
    /// `ResponsePartitionLimit`: `int32`, versions 0; 2000 by default.
    pub response_partition_limit: i32,
    /// `Cursor`: `Cursor`, versions 0, nullable; null by default.
    pub cursor: Option<Cursor>,
}

impl Default for DescribeTopicPartitionsRequest {
    fn default() -> Self {
        Self { topics: Vec::new(), response_partition_limit: 2000, cursor: None }
    }
}

impl Message for DescribeTopicPartitionsRequest {
    const NAME: &'static str = "DescribeTopicPartitionsRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.array(&self.topics, true, "DescribeTopicPartitionsRequest.topics", |enc, value| {
            value.write(enc, version)
        })?;
        enc.i32(self.response_partition_limit);
        match &self.cursor {
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
            topics: dec.array(true, 2, "DescribeTopicPartitionsRequest.topics", |dec| {
                TopicRequest::read(dec, version)
            })?,
            response_partition_limit: dec.i32("DescribeTopicPartitionsRequest.response_partition_limit")?,
            cursor: if dec.i8("DescribeTopicPartitionsRequest.cursor")? < 0 {
                None
            } else {
                Some(Cursor::read(dec, version)?)
            },
        };
        dec.skip_tagged_fields("DescribeTopicPartitionsRequest")?;

        Ok(out)
    }
}

impl Request for DescribeTopicPartitionsRequest {
    const API_KEY: ApiKey = ApiKey::DescribeTopicPartitions;
    type Response = super::DescribeTopicPartitionsResponse;
}

/// `TopicRequest` in a `DescribeTopicPartitionsRequest`, versions 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TopicRequest {
    /// `Name`: `string`, versions 0.
    pub name: String,
}

impl TopicRequest {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.string(&self.name, true, "DescribeTopicPartitionsRequest.TopicRequest.name")?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self { name: dec.string(true, "DescribeTopicPartitionsRequest.TopicRequest.name")? };
        dec.skip_tagged_fields("DescribeTopicPartitionsRequest.TopicRequest")?;

        Ok(out)
    }
}

/// `Cursor` in a `DescribeTopicPartitionsRequest`, versions 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cursor {
    /// `TopicName`: `string`, versions 0.
    pub topic_name: String,
    /// `PartitionIndex`: `int32`, versions 0.
    pub partition_index: i32,
}

impl Cursor {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.string(&self.topic_name, true, "DescribeTopicPartitionsRequest.Cursor.topic_name")?;
        enc.i32(self.partition_index);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            topic_name: dec.string(true, "DescribeTopicPartitionsRequest.Cursor.topic_name")?,
            partition_index: dec.i32("DescribeTopicPartitionsRequest.Cursor.partition_index")?,
        };
        dec.skip_tagged_fields("DescribeTopicPartitionsRequest.Cursor")?;

        Ok(out)
    }
}
