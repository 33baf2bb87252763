// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `CreatePartitionsResponse` (API key 37), versions 0-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CreatePartitionsResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0-3.
    pub throttle_time_ms: i32,
    /// `Results`: `[]CreatePartitionsTopicResult`, versions 0-3.
    pub results: Vec<CreatePartitionsTopicResult>,
}

impl Message for CreatePartitionsResponse {
    const NAME: &'static str = "CreatePartitionsResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 3);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 2;
        enc.i32(self.throttle_time_ms);
        enc.array(&self.results, flexible, "CreatePartitionsResponse.results", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 2;
        let out = Self {
            throttle_time_ms: dec.i32("CreatePartitionsResponse.throttle_time_ms")?,
            results: dec.array(flexible, 5, "CreatePartitionsResponse.results", |dec| {
                CreatePartitionsTopicResult::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("CreatePartitionsResponse")?;
        }
        Ok(out)
    }
}

/// `CreatePartitionsTopicResult` in a `CreatePartitionsResponse`, versions 0-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CreatePartitionsTopicResult {
    /// `Name`: `string`, versions 0-3.
    pub name: String,
    /// `ErrorCode`: `int16`, versions 0-3.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 0-3, nullable; null by default.
    pub error_message: Option<String>,
}

impl CreatePartitionsTopicResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        enc.string(&self.name, flexible, "CreatePartitionsResponse.CreatePartitionsTopicResult.name")?;
        enc.i16(self.error_code.0);
        enc.nullable_string(
            self.error_message.as_deref(),
            flexible,
            "CreatePartitionsResponse.CreatePartitionsTopicResult.error_message",
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let out = Self {
            name: dec.string(flexible, "CreatePartitionsResponse.CreatePartitionsTopicResult.name")?,
            error_code: dec
                .i16("CreatePartitionsResponse.CreatePartitionsTopicResult.error_code")
                .map(ErrorCode)?,
            error_message: dec.nullable_string(
                flexible,
                "CreatePartitionsResponse.CreatePartitionsTopicResult.error_message",
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("CreatePartitionsResponse.CreatePartitionsTopicResult")?;
        }
        Ok(out)
    }
}
