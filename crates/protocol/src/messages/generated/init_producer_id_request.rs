// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `InitProducerIdRequest` (API key 22), versions 0-6.
#[derive(Debug, Clone, PartialEq)]
pub struct InitProducerIdRequest {
    /// `TransactionalId`: `string`, versions 0-6, nullable.
    pub transactional_id: Option<String>,
    /// `TransactionTimeoutMs`: `int32`, versions 0-6.
    pub transaction_timeout_ms: i32,
    /// `ProducerId`: `int64`, versions 3-6; -1 by default.
    pub producer_id: i64,
    /// `ProducerEpoch`: `int16`, versions 3-6; -1 by default.
    pub producer_epoch: i16,
    /// `Enable2Pc`: `bool`, versions 6.
    pub enable2_pc: bool,
    /// `KeepPreparedTxn`: `bool`, versions 6.
    pub keep_prepared_txn: bool,
}

impl Default for InitProducerIdRequest {
    fn default() -> Self {
        Self {
            transactional_id: Some(String::new()),
            transaction_timeout_ms: 0,
            producer_id: -1,
            producer_epoch: -1,
            enable2_pc: false,
            keep_prepared_txn: false,
        }
    }
}

impl Message for InitProducerIdRequest {
    const NAME: &'static str = "InitProducerIdRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 6);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 2;
        enc.nullable_string(
            self.transactional_id.as_deref(),
            flexible,
            "InitProducerIdRequest.transactional_id",
        )?;
        enc.i32(self.transaction_timeout_ms);
        if version >= 3 {
            enc.i64(self.producer_id);
        } else if self.producer_id != -1 {
            return Err(EncodeError::UnsupportedField {
                message: "InitProducerIdRequest",
                field: "producer_id",
                version,
            });
        }
        if version >= 3 {
            enc.i16(self.producer_epoch);
        } else if self.producer_epoch != -1 {
            return Err(EncodeError::UnsupportedField {
                message: "InitProducerIdRequest",
                field: "producer_epoch",
                version,
            });
        }
        if version == 6 {
            enc.bool(self.enable2_pc);
        } else if self.enable2_pc {
            return Err(EncodeError::UnsupportedField {
                message: "InitProducerIdRequest",
                field: "enable2_pc",
                version,
            });
        }
        if version == 6 {
            enc.bool(self.keep_prepared_txn);
        } else if self.keep_prepared_txn {
            return Err(EncodeError::UnsupportedField {
                message: "InitProducerIdRequest",
                field: "keep_prepared_txn",
                version,
            });
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 2;
        let out = Self {
            transactional_id: dec.nullable_string(flexible, "InitProducerIdRequest.transactional_id")?,
            transaction_timeout_ms: dec.i32("InitProducerIdRequest.transaction_timeout_ms")?,
            producer_id: if version >= 3 { dec.i64("InitProducerIdRequest.producer_id")? } else { -1 },
            producer_epoch: if version >= 3 { dec.i16("InitProducerIdRequest.producer_epoch")? } else { -1 },
            enable2_pc: if version == 6 { dec.bool("InitProducerIdRequest.enable2_pc")? } else { false },
            keep_prepared_txn: if version == 6 {
                dec.bool("InitProducerIdRequest.keep_prepared_txn")?
            } else {
                false
            },
        };
        if flexible {
            dec.skip_tagged_fields("InitProducerIdRequest")?;
        }
        Ok(out)
    }
}

impl Request for InitProducerIdRequest {
    const API_KEY: ApiKey = ApiKey::InitProducerId;
    type Response = super::InitProducerIdResponse;
}
