// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `SaslHandshakeRequest` (API key 17), versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SaslHandshakeRequest {
    /// `Mechanism`: `string`, versions 0-1.
    pub mechanism: String,
}

impl Message for SaslHandshakeRequest {
    const NAME: &'static str = "SaslHandshakeRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 1);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.string(&self.mechanism, false, "SaslHandshakeRequest.mechanism")?;
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        Ok(Self { mechanism: dec.string(false, "SaslHandshakeRequest.mechanism")? })
    }
}

impl Request for SaslHandshakeRequest {
    const API_KEY: ApiKey = ApiKey::SaslHandshake;
    type Response = super::SaslHandshakeResponse;
}
