// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, Message, VersionRange};

/// `RequestHeader`, versions 1-2.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestHeader {
    /// `RequestApiKey`: `int16`, versions 1-2.
    pub request_api_key: i16,
    /// `RequestApiVersion`: `int16`, versions 1-2.
    pub request_api_version: i16,
    /// `CorrelationId`: `int32`, versions 1-2.
    pub correlation_id: i32,
    /// `ClientId`: `string`, versions 1-2, nullable.
    pub client_id: Option<String>,
}

impl Default for RequestHeader {
    fn default() -> Self {
        Self { request_api_key: 0, request_api_version: 0, correlation_id: 0, client_id: Some(String::new()) }
    }
}

impl Message for RequestHeader {
    const NAME: &'static str = "RequestHeader";
    const VERSIONS: VersionRange = VersionRange::new(1, 2);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 2;
        enc.i16(self.request_api_key);
        enc.i16(self.request_api_version);
        enc.i32(self.correlation_id);
        enc.nullable_string(self.client_id.as_deref(), false, "RequestHeader.client_id")?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 2;
        let out = Self {
            request_api_key: dec.i16("RequestHeader.request_api_key")?,
            request_api_version: dec.i16("RequestHeader.request_api_version")?,
            correlation_id: dec.i32("RequestHeader.correlation_id")?,
            client_id: dec.nullable_string(false, "RequestHeader.client_id")?,
        };
        if flexible {
            dec.skip_tagged_fields("RequestHeader")?;
        }
        Ok(out)
    }
}
