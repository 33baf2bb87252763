// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `AddOffsetsToTxnRequest` (API key 25), versions 0-4.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AddOffsetsToTxnRequest {
    /// `TransactionalId`: `string`, versions 0-4.
    pub transactional_id: String,
    /// `ProducerId`: `int64`, versions 0-4.
    pub producer_id: i64,
    /// `ProducerEpoch`: `int16`, versions 0-4.
    pub producer_epoch: i16,
    /// `GroupId`: `string`, versions 0-4.
    pub group_id: String,
}

impl Message for AddOffsetsToTxnRequest {
    const NAME: &'static str = "AddOffsetsToTxnRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 4);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 3;
        enc.string(&self.transactional_id, flexible, "AddOffsetsToTxnRequest.transactional_id")?;
        enc.i64(self.producer_id);
        enc.i16(self.producer_epoch);
        enc.string(&self.group_id, flexible, "AddOffsetsToTxnRequest.group_id")?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 3;
        let out = Self {
            transactional_id: dec.string(flexible, "AddOffsetsToTxnRequest.transactional_id")?,
            producer_id: dec.i64("AddOffsetsToTxnRequest.producer_id")?,
            producer_epoch: dec.i16("AddOffsetsToTxnRequest.producer_epoch")?,
            group_id: dec.string(flexible, "AddOffsetsToTxnRequest.group_id")?,
        };
        if flexible {
            dec.skip_tagged_fields("AddOffsetsToTxnRequest")?;
        }
        Ok(out)
    }
}

impl Request for AddOffsetsToTxnRequest {
    const API_KEY: ApiKey = ApiKey::AddOffsetsToTxn;
    type Response = super::AddOffsetsToTxnResponse;
}
