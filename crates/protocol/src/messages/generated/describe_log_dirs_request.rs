// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `DescribeLogDirsRequest` (API key 35), versions 1-5.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeLogDirsRequest {
    /// `Topics`: `[]DescribableLogDirTopic`, versions 1-5, nullable.
    pub topics: Option<Vec<DescribableLogDirTopic>>,
}

impl Default for DescribeLogDirsRequest {
    fn default() -> Self {
        Self { topics: Some(Vec::new()) }
    }
}

impl Message for DescribeLogDirsRequest {
    const NAME: &'static str = "DescribeLogDirsRequest";
    const VERSIONS: VersionRange = VersionRange::new(1, 5);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 2;
        enc.nullable_array(
            self.topics.as_deref(),
            flexible,
            "DescribeLogDirsRequest.topics",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 2;
        let out = Self {
            topics: dec.nullable_array(flexible, 3, "DescribeLogDirsRequest.topics", |dec| {
                DescribableLogDirTopic::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("DescribeLogDirsRequest")?;
        }
        Ok(out)
    }
}

impl Request for DescribeLogDirsRequest {
    const API_KEY: ApiKey = ApiKey::DescribeLogDirs;
    type Response = super::DescribeLogDirsResponse;
}

/// `DescribableLogDirTopic` in a `DescribeLogDirsRequest`, versions 1-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DescribableLogDirTopic {
    /// `Topic`: `string`, versions 1-5.
    pub topic: String,
    /// `Partitions`: `[]int32`, versions 1-5.
    pub partitions: Vec<i32>,
}

impl DescribableLogDirTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        enc.string(&self.topic, flexible, "DescribeLogDirsRequest.DescribableLogDirTopic.topic")?;
        enc.array(
            &self.partitions,
            flexible,
            "DescribeLogDirsRequest.DescribableLogDirTopic.partitions",
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
        let flexible = version >= 2;
        let out = Self {
            topic: dec.string(flexible, "DescribeLogDirsRequest.DescribableLogDirTopic.topic")?,
            partitions: dec.array(
                flexible,
                4,
                "DescribeLogDirsRequest.DescribableLogDirTopic.partitions",
                |dec| dec.i32("DescribeLogDirsRequest.DescribableLogDirTopic.partitions"),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("DescribeLogDirsRequest.DescribableLogDirTopic")?;
        }
        Ok(out)
    }
}
