// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `IncrementalAlterConfigsResponse` (API key 44), versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IncrementalAlterConfigsResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0-1.
    pub throttle_time_ms: i32,
    /// `Responses`: `[]AlterConfigsResourceResponse`, versions 0-1.
    pub responses: Vec<AlterConfigsResourceResponse>,
}

impl Message for IncrementalAlterConfigsResponse {
    const NAME: &'static str = "IncrementalAlterConfigsResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 1);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 1;
        enc.i32(self.throttle_time_ms);
        enc.array(&self.responses, flexible, "IncrementalAlterConfigsResponse.responses", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 1;
        let out = Self {
            throttle_time_ms: dec.i32("IncrementalAlterConfigsResponse.throttle_time_ms")?,
            responses: dec.array(flexible, 6, "IncrementalAlterConfigsResponse.responses", |dec| {
                AlterConfigsResourceResponse::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("IncrementalAlterConfigsResponse")?;
        }
        Ok(out)
    }
}

/// `AlterConfigsResourceResponse` in a `IncrementalAlterConfigsResponse`, versions 0-1.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterConfigsResourceResponse {
    /// `ErrorCode`: `int16`, versions 0-1.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 0-1, nullable.
    pub error_message: Option<String>,
    /// `ResourceType`: `int8`, versions 0-1.
    pub resource_type: i8,
    /// `ResourceName`: `string`, versions 0-1.
    pub resource_name: String,
}

impl Default for AlterConfigsResourceResponse {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            error_message: Some(String::new()),
            resource_type: 0,
            resource_name: String::new(),
        }
    }
}

impl AlterConfigsResourceResponse {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 1;
        enc.i16(self.error_code.0);
        enc.nullable_string(
            self.error_message.as_deref(),
            flexible,
            "IncrementalAlterConfigsResponse.AlterConfigsResourceResponse.error_message",
        )?;
        enc.i8(self.resource_type);
        enc.string(
            &self.resource_name,
            flexible,
            "IncrementalAlterConfigsResponse.AlterConfigsResourceResponse.resource_name",
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 1;
        let out = Self {
            error_code: dec
                .i16("IncrementalAlterConfigsResponse.AlterConfigsResourceResponse.error_code")
                .map(ErrorCode)?,
            error_message: dec.nullable_string(
                flexible,
                "IncrementalAlterConfigsResponse.AlterConfigsResourceResponse.error_message",
            )?,
            resource_type: dec
                .i8("IncrementalAlterConfigsResponse.AlterConfigsResourceResponse.resource_type")?,
            resource_name: dec.string(
                flexible,
                "IncrementalAlterConfigsResponse.AlterConfigsResourceResponse.resource_name",
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("IncrementalAlterConfigsResponse.AlterConfigsResourceResponse")?;
        }
        Ok(out)
    }
}
