// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `EndTxnResponse` (API key 26), versions 0-5.
#[derive(Debug, Clone, PartialEq)]
pub struct EndTxnResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0-5.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 0-5.
    pub error_code: ErrorCode,
    /// `ProducerId`: `int64`, versions 5; -1 by default.
    pub producer_id: i64,
    /// `ProducerEpoch`: `int16`, versions 5; -1 by default.
    pub producer_epoch: i16,
}

impl Default for EndTxnResponse {
    fn default() -> Self {
        Self { throttle_time_ms: 0, error_code: ErrorCode::NONE, producer_id: -1, producer_epoch: -1 }
    }
}

impl Message for EndTxnResponse {
    const NAME: &'static str = "EndTxnResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 5);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 3;
        enc.i32(self.throttle_time_ms);
        enc.i16(self.error_code.0);
        if version == 5 {
            enc.i64(self.producer_id);
        }
        if version == 5 {
            enc.i16(self.producer_epoch);
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 3;
        let out = Self {
            throttle_time_ms: dec.i32("EndTxnResponse.throttle_time_ms")?,
            error_code: dec.i16("EndTxnResponse.error_code").map(ErrorCode)?,
            producer_id: if version == 5 { dec.i64("EndTxnResponse.producer_id")? } else { -1 },
            producer_epoch: if version == 5 { dec.i16("EndTxnResponse.producer_epoch")? } else { -1 },
        };
        if flexible {
            dec.skip_tagged_fields("EndTxnResponse")?;
        }
        Ok(out)
    }
}
