// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `ControlledShutdownRequest` (API key 7), versions 0-3.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlledShutdownRequest {
    /// `BrokerId`: `int32`, versions 0-3.
    pub broker_id: i32,
    /// `BrokerEpoch`: `int64`, versions 2-3; -1 by default.
    pub broker_epoch: i64,
}

impl Default for ControlledShutdownRequest {
    fn default() -> Self {
        Self { broker_id: 0, broker_epoch: -1 }
    }
}

impl Message for ControlledShutdownRequest {
    const NAME: &'static str = "ControlledShutdownRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 3);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 3;
        enc.i32(self.broker_id);
        if version >= 2 {
            enc.i64(self.broker_epoch);
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 3;
        let out = Self {
            broker_id: dec.i32("ControlledShutdownRequest.broker_id")?,
            broker_epoch: if version >= 2 { dec.i64("ControlledShutdownRequest.broker_epoch")? } else { -1 },
        };
        if flexible {
            dec.skip_tagged_fields("ControlledShutdownRequest")?;
        }
        Ok(out)
    }
}

impl Request for ControlledShutdownRequest {
    const API_KEY: ApiKey = ApiKey::ControlledShutdown;
    type Response = super::ControlledShutdownResponse;
}
