// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `EndTxnRequest` (API key 26), versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EndTxnRequest {
    /// `TransactionalId`: `string`, versions 0-5.
    pub transactional_id: String,
    /// `ProducerId`: `int64`, versions 0-5.
    pub producer_id: i64,
    /// `ProducerEpoch`: `int16`, versions 0-5.
    pub producer_epoch: i16,
    /// `Committed`: `bool`, versions 0-5.
    pub committed: bool,
}

impl Message for EndTxnRequest {
    const NAME: &'static str = "EndTxnRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 5);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 3;
        enc.string(&self.transactional_id, flexible, "EndTxnRequest.transactional_id")?;
        enc.i64(self.producer_id);
        enc.i16(self.producer_epoch);
        enc.bool(self.committed);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 3;
        let out = Self {
            transactional_id: dec.string(flexible, "EndTxnRequest.transactional_id")?,
            producer_id: dec.i64("EndTxnRequest.producer_id")?,
            producer_epoch: dec.i16("EndTxnRequest.producer_epoch")?,
            committed: dec.bool("EndTxnRequest.committed")?,
        };
        if flexible {
            dec.skip_tagged_fields("EndTxnRequest")?;
        }
        Ok(out)
    }
}

impl Request for EndTxnRequest {
    const API_KEY: ApiKey = ApiKey::EndTxn;
    type Response = super::EndTxnResponse;
}
