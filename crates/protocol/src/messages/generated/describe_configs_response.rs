// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `DescribeConfigsResponse` (API key 32), versions 1-4.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DescribeConfigsResponse {
    /// `ThrottleTimeMs`: `int32`, versions 1-4.
    pub throttle_time_ms: i32,
    /// `Results`: `[]DescribeConfigsResult`, versions 1-4.
    pub results: Vec<DescribeConfigsResult>,
}

impl Message for DescribeConfigsResponse {
    const NAME: &'static str = "DescribeConfigsResponse";
    const VERSIONS: VersionRange = VersionRange::new(1, 4);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 4;
        enc.i32(self.throttle_time_ms);
        enc.array(&self.results, flexible, "DescribeConfigsResponse.results", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 4;
        let out = Self {
            throttle_time_ms: dec.i32("DescribeConfigsResponse.throttle_time_ms")?,
            results: dec.array(flexible, 7, "DescribeConfigsResponse.results", |dec| {
                DescribeConfigsResult::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("DescribeConfigsResponse")?;
        }
        Ok(out)
    }
}

/// `DescribeConfigsResult` in a `DescribeConfigsResponse`, versions 1-4.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeConfigsResult {
    /// `ErrorCode`: `int16`, versions 1-4.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 1-4, nullable.
    pub error_message: Option<String>,
    /// `ResourceType`: `int8`, versions 1-4.
    pub resource_type: i8,
    /// `ResourceName`: `string`, versions 1-4.
    pub resource_name: String,
    /// `Configs`: `[]DescribeConfigsResourceResult`, versions 1-4.
    pub configs: Vec<DescribeConfigsResourceResult>,
}

impl Default for DescribeConfigsResult {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            error_message: Some(String::new()),
            resource_type: 0,
            resource_name: String::new(),
            configs: Vec::new(),
        }
    }
}

impl DescribeConfigsResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        enc.i16(self.error_code.0);
        enc.nullable_string(
            self.error_message.as_deref(),
            flexible,
            "DescribeConfigsResponse.DescribeConfigsResult.error_message",
        )?;
        enc.i8(self.resource_type);
        enc.string(
            &self.resource_name,
            flexible,
            "DescribeConfigsResponse.DescribeConfigsResult.resource_name",
        )?;
        enc.array(
            &self.configs,
            flexible,
            "DescribeConfigsResponse.DescribeConfigsResult.configs",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let out = Self {
            error_code: dec.i16("DescribeConfigsResponse.DescribeConfigsResult.error_code").map(ErrorCode)?,
            error_message: dec
                .nullable_string(flexible, "DescribeConfigsResponse.DescribeConfigsResult.error_message")?,
            resource_type: dec.i8("DescribeConfigsResponse.DescribeConfigsResult.resource_type")?,
            resource_name: dec
                .string(flexible, "DescribeConfigsResponse.DescribeConfigsResult.resource_name")?,
            configs: dec.array(
                flexible,
                9,
                "DescribeConfigsResponse.DescribeConfigsResult.configs",
                |dec| DescribeConfigsResourceResult::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("DescribeConfigsResponse.DescribeConfigsResult")?;
        }
        Ok(out)
    }
}

/// `DescribeConfigsResourceResult` in a `DescribeConfigsResponse`, versions 1-4.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeConfigsResourceResult {
    /// `Name`: `string`, versions 1-4.
    pub name: String,
    /// `Value`: `string`, versions 1-4, nullable.
    pub value: Option<String>,
    /// `ReadOnly`: `bool`, versions 1-4.
    pub read_only: bool,
    /// `ConfigSource`: `int8`, versions 1-4; -1 by default.
    pub config_source: i8,
    /// `IsSensitive`: `bool`, versions 1-4.
    pub is_sensitive: bool,
    /// `Synonyms`: `[]DescribeConfigsSynonym`, versions 1-4.
    pub synonyms: Vec<DescribeConfigsSynonym>,
    /// `ConfigType`: `int8`, versions 3-4.
    pub config_type: i8,
    /// `Documentation`: `string`, versions 3-4, nullable.
    pub documentation: Option<String>,
}

impl Default for DescribeConfigsResourceResult {
    fn default() -> Self {
        Self {
            name: String::new(),
            value: Some(String::new()),
            read_only: false,
            config_source: -1,
            is_sensitive: false,
            synonyms: Vec::new(),
            config_type: 0,
            documentation: Some(String::new()),
        }
    }
}

impl DescribeConfigsResourceResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        enc.string(&self.name, flexible, "DescribeConfigsResponse.DescribeConfigsResourceResult.name")?;
        enc.nullable_string(
            self.value.as_deref(),
            flexible,
            "DescribeConfigsResponse.DescribeConfigsResourceResult.value",
        )?;
        enc.bool(self.read_only);
        enc.i8(self.config_source);
        enc.bool(self.is_sensitive);
        enc.array(
            &self.synonyms,
            flexible,
            "DescribeConfigsResponse.DescribeConfigsResourceResult.synonyms",
            |enc, value| value.write(enc, version),
        )?;
        if version >= 3 {
            enc.i8(self.config_type);
        }
        if version >= 3 {
            enc.nullable_string(
                self.documentation.as_deref(),
                flexible,
                "DescribeConfigsResponse.DescribeConfigsResourceResult.documentation",
            )?;
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let out = Self {
            name: dec.string(flexible, "DescribeConfigsResponse.DescribeConfigsResourceResult.name")?,
            value: dec
                .nullable_string(flexible, "DescribeConfigsResponse.DescribeConfigsResourceResult.value")?,
            read_only: dec.bool("DescribeConfigsResponse.DescribeConfigsResourceResult.read_only")?,
            config_source: dec.i8("DescribeConfigsResponse.DescribeConfigsResourceResult.config_source")?,
            is_sensitive: dec.bool("DescribeConfigsResponse.DescribeConfigsResourceResult.is_sensitive")?,
            synonyms: dec.array(
                flexible,
                4,
                "DescribeConfigsResponse.DescribeConfigsResourceResult.synonyms",
                |dec| DescribeConfigsSynonym::read(dec, version),
            )?,
            config_type: if version >= 3 {
                dec.i8("DescribeConfigsResponse.DescribeConfigsResourceResult.config_type")?
            } else {
                0
            },
            documentation: if version >= 3 {
                dec.nullable_string(
                    flexible,
                    "DescribeConfigsResponse.DescribeConfigsResourceResult.documentation",
                )?
            } else {
                Some(String::new())
            },
        };
        if flexible {
            dec.skip_tagged_fields("DescribeConfigsResponse.DescribeConfigsResourceResult")?;
        }
        Ok(out)
    }
}

/// `DescribeConfigsSynonym` in a `DescribeConfigsResponse`, versions 1-4.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeConfigsSynonym {
    /// `Name`: `string`, versions 1-4.
    pub name: String,
    /// `Value`: `string`, versions 1-4, nullable.
    pub value: Option<String>,
    /// `Source`: `int8`, versions 1-4.
    pub source: i8,
}

impl Default for DescribeConfigsSynonym {
    fn default() -> Self {
        Self { name: String::new(), value: Some(String::new()), source: 0 }
    }
}

impl DescribeConfigsSynonym {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        enc.string(&self.name, flexible, "DescribeConfigsResponse.DescribeConfigsSynonym.name")?;
        enc.nullable_string(
            self.value.as_deref(),
            flexible,
            "DescribeConfigsResponse.DescribeConfigsSynonym.value",
        )?;
        enc.i8(self.source);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let out = Self {
            name: dec.string(flexible, "DescribeConfigsResponse.DescribeConfigsSynonym.name")?,
            value: dec.nullable_string(flexible, "DescribeConfigsResponse.DescribeConfigsSynonym.value")?,
            source: dec.i8("DescribeConfigsResponse.DescribeConfigsSynonym.source")?,
        };
        if flexible {
            dec.skip_tagged_fields("DescribeConfigsResponse.DescribeConfigsSynonym")?;
        }
        Ok(out)
    }
}
