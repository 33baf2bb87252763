// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use bytes::Bytes;

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `SaslAuthenticateRequest` (API key 36), versions 0-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SaslAuthenticateRequest {
    /// `AuthBytes`: `bytes`, versions 0-2.
    pub auth_bytes: Bytes,
}

impl Message for SaslAuthenticateRequest {
    const NAME: &'static str = "SaslAuthenticateRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 2);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 2;
        enc.bytes(&self.auth_bytes, flexible, "SaslAuthenticateRequest.auth_bytes")?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 2;
        let out = Self { auth_bytes: dec.bytes(flexible, "SaslAuthenticateRequest.auth_bytes")? };
        if flexible {
            dec.skip_tagged_fields("SaslAuthenticateRequest")?;
        }
        Ok(out)
    }
}

impl Request for SaslAuthenticateRequest {
    const API_KEY: ApiKey = ApiKey::SaslAuthenticate;
    type Response = super::SaslAuthenticateResponse;
}
