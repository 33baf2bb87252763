// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `DescribeProducersRequest` (API key 61), versions 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DescribeProducersRequest {
    /// `Topics`: `[]TopicRequest`, versions 0.
    pub topics: Vec<TopicRequest>,
}

impl Message for DescribeProducersRequest {
    const NAME: &'static str = "DescribeProducersRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.array(&self.topics, true, "DescribeProducersRequest.topics", |enc, value| {
            value.write(enc, version)
        })?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            topics: dec
                .array(true, 3, "DescribeProducersRequest.topics", |dec| TopicRequest::read(dec, version))?,
        };
        dec.skip_tagged_fields("DescribeProducersRequest")?;

        Ok(out)
    }
}

impl Request for DescribeProducersRequest {
    const API_KEY: ApiKey = ApiKey::DescribeProducers;
    type Response = super::DescribeProducersResponse;
}

/// `TopicRequest` in a `DescribeProducersRequest`, versions 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TopicRequest {
    /// `Name`: `string`, versions 0.
    pub name: String,
    /// `PartitionIndexes`: `[]int32`, versions 0.
    pub partition_indexes: Vec<i32>,
}

impl TopicRequest {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.string(&self.name, true, "DescribeProducersRequest.TopicRequest.name")?;
        enc.array(
            &self.partition_indexes,
            true,
            "DescribeProducersRequest.TopicRequest.partition_indexes",
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
            name: dec.string(true, "DescribeProducersRequest.TopicRequest.name")?,
            partition_indexes: dec.array(
                true,
                4,
                "DescribeProducersRequest.TopicRequest.partition_indexes",
                |dec| dec.i32("DescribeProducersRequest.TopicRequest.partition_indexes"),
            )?,
        };
        dec.skip_tagged_fields("DescribeProducersRequest.TopicRequest")?;

        Ok(out)
    }
}
