// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use bytes::Bytes;

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, Uuid, VersionRange};

/// `ProduceRequest` (API key 0), versions 3-13.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProduceRequest {
    /// `TransactionalId`: `string`, versions 3-13, nullable; null by default.
    pub transactional_id: Option<String>,
    /// `Acks`: `int16`, versions 3-13.
    pub acks: i16,
    /// `TimeoutMs`: `int32`, versions 3-13.
    pub timeout_ms: i32,
    /// `TopicData`: `[]TopicProduceData`, versions 3-13.
    pub topic_data: Vec<TopicProduceData>,
}

impl Message for ProduceRequest {
    const NAME: &'static str = "ProduceRequest";
    const VERSIONS: VersionRange = VersionRange::new(3, 13);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 9;
        enc.nullable_string(self.transactional_id.as_deref(), flexible, "ProduceRequest.transactional_id")?;
        enc.i16(self.acks);
        enc.i32(self.timeout_ms);
        enc.array(&self.topic_data, flexible, "ProduceRequest.topic_data", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 9;
        let out = Self {
            transactional_id: dec.nullable_string(flexible, "ProduceRequest.transactional_id")?,
            acks: dec.i16("ProduceRequest.acks")?,
            timeout_ms: dec.i32("ProduceRequest.timeout_ms")?,
            topic_data: dec.array(flexible, 3, "ProduceRequest.topic_data", |dec| {
                TopicProduceData::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("ProduceRequest")?;
        }
        Ok(out)
    }
}

impl Request for ProduceRequest {
    const API_KEY: ApiKey = ApiKey::Produce;
    type Response = super::ProduceResponse;
}

/// `TopicProduceData` in a `ProduceRequest`, versions 3-13.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TopicProduceData {
    /// `Name`: `string`, versions 3-12.
    pub name: String,
    /// `TopicId`: `uuid`, versions 13.
    pub topic_id: Uuid,
    /// `PartitionData`: `[]PartitionProduceData`, versions 3-13.
    pub partition_data: Vec<PartitionProduceData>,
}

impl TopicProduceData {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        if version <= 12 {
            enc.string(&self.name, flexible, "ProduceRequest.TopicProduceData.name")?;
        }
        if version == 13 {
            enc.uuid(self.topic_id);
        }
        enc.array(
            &self.partition_data,
            flexible,
            "ProduceRequest.TopicProduceData.partition_data",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let out = Self {
            name: if version <= 12 {
                dec.string(flexible, "ProduceRequest.TopicProduceData.name")?
            } else {
                String::new()
            },
            topic_id: if version == 13 {
                dec.uuid("ProduceRequest.TopicProduceData.topic_id")?
            } else {
                Uuid::ZERO
            },
            partition_data: dec.array(
                flexible,
                6,
                "ProduceRequest.TopicProduceData.partition_data",
                |dec| PartitionProduceData::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("ProduceRequest.TopicProduceData")?;
        }
        Ok(out)
    }
}

/// `PartitionProduceData` in a `ProduceRequest`, versions 3-13.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PartitionProduceData {
    /// `Index`: `int32`, versions 3-13.
    pub index: i32,
    /// `Records`: `records`, versions 3-13, nullable; null by default.
    pub records: Option<Bytes>,
}

impl PartitionProduceData {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        enc.i32(self.index);
        enc.nullable_bytes(self.records.as_ref(), flexible, "ProduceRequest.PartitionProduceData.records")?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let out = Self {
            index: dec.i32("ProduceRequest.PartitionProduceData.index")?,
            records: dec.nullable_bytes(flexible, "ProduceRequest.PartitionProduceData.records")?,
        };
        if flexible {
            dec.skip_tagged_fields("ProduceRequest.PartitionProduceData")?;
        }
        Ok(out)
    }
}
