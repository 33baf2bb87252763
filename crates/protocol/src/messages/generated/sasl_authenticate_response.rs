// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use bytes::Bytes;

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `SaslAuthenticateResponse` (API key 36), versions 0-2.
#[derive(Debug, Clone, PartialEq)]
pub struct SaslAuthenticateResponse {
    /// `ErrorCode`: `int16`, versions 0-2.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 0-2, nullable.
    pub error_message: Option<String>,
    /// `AuthBytes`: `bytes`, versions 0-2.
    pub auth_bytes: Bytes,
    /// `SessionLifetimeMs`: `int64`, versions 1-2.
    pub session_lifetime_ms: i64,
}

impl Default for SaslAuthenticateResponse {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            error_message: Some(String::new()),
            auth_bytes: Bytes::new(),
            session_lifetime_ms: 0,
        }
    }
}

impl Message for SaslAuthenticateResponse {
    const NAME: &'static str = "SaslAuthenticateResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 2);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 2;
        enc.i16(self.error_code.0);
        enc.nullable_string(
            self.error_message.as_deref(),
            flexible,
            "SaslAuthenticateResponse.error_message",
        )?;
        enc.bytes(&self.auth_bytes, flexible, "SaslAuthenticateResponse.auth_bytes")?;
        if version >= 1 {
            enc.i64(self.session_lifetime_ms);
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 2;
        let out = Self {
            error_code: dec.i16("SaslAuthenticateResponse.error_code").map(ErrorCode)?,
            error_message: dec.nullable_string(flexible, "SaslAuthenticateResponse.error_message")?,
            auth_bytes: dec.bytes(flexible, "SaslAuthenticateResponse.auth_bytes")?,
            session_lifetime_ms: if version >= 1 {
                dec.i64("SaslAuthenticateResponse.session_lifetime_ms")?
            } else {
                0
            },
        };
        if flexible {
            dec.skip_tagged_fields("SaslAuthenticateResponse")?;
        }
        Ok(out)
    }
}
