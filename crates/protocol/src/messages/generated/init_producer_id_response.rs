// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `InitProducerIdResponse` (API key 22), versions 0-6.
#[derive(Debug, Clone, PartialEq)]
pub struct InitProducerIdResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0-6.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 0-6.
    pub error_code: ErrorCode,
    /// `ProducerId`: `int64`, versions 0-6; -1 by default.
    pub producer_id: i64,
    /// `ProducerEpoch`: `int16`, versions 0-6.
    pub producer_epoch: i16,
    /// `OngoingTxnProducerId`: `int64`, versions 6; -1 by default.
    pub ongoing_txn_producer_id: i64,
    /// `OngoingTxnProducerEpoch`: `int16`, versions 6; -1 by default.
    pub ongoing_txn_producer_epoch: i16,
}

impl Default for InitProducerIdResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            producer_id: -1,
            producer_epoch: 0,
            ongoing_txn_producer_id: -1,
            ongoing_txn_producer_epoch: -1,
        }
    }
}

impl Message for InitProducerIdResponse {
    const NAME: &'static str = "InitProducerIdResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 6);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 2;
        enc.i32(self.throttle_time_ms);
        enc.i16(self.error_code.0);
        enc.i64(self.producer_id);
        enc.i16(self.producer_epoch);
        if version == 6 {
            enc.i64(self.ongoing_txn_producer_id);
        } else if self.ongoing_txn_producer_id != -1 {
            return Err(EncodeError::UnsupportedField {
                message: "InitProducerIdResponse",
                field: "ongoing_txn_producer_id",
                version,
            });
        }
        if version == 6 {
            enc.i16(self.ongoing_txn_producer_epoch);
        } else if self.ongoing_txn_producer_epoch != -1 {
            return Err(EncodeError::UnsupportedField {
                message: "InitProducerIdResponse",
                field: "ongoing_txn_producer_epoch",
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
            throttle_time_ms: dec.i32("InitProducerIdResponse.throttle_time_ms")?,
            error_code: dec.i16("InitProducerIdResponse.error_code").map(ErrorCode)?,
            producer_id: dec.i64("InitProducerIdResponse.producer_id")?,
            producer_epoch: dec.i16("InitProducerIdResponse.producer_epoch")?,
            ongoing_txn_producer_id: if version == 6 {
                dec.i64("InitProducerIdResponse.ongoing_txn_producer_id")?
            } else {
                -1
            },
            ongoing_txn_producer_epoch: if version == 6 {
                dec.i16("InitProducerIdResponse.ongoing_txn_producer_epoch")?
            } else {
                -1
            },
        };
        if flexible {
            dec.skip_tagged_fields("InitProducerIdResponse")?;
        }
        Ok(out)
    }
}
