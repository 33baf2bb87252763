// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, Uuid, VersionRange};

/// `CreateTopicsResponse` (API key 19), versions 2-7.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CreateTopicsResponse {
    /// `ThrottleTimeMs`: `int32`, versions 2-7.
    pub throttle_time_ms: i32,
    /// `Topics`: `[]CreatableTopicResult`, versions 2-7.
    pub topics: Vec<CreatableTopicResult>,
}

impl Message for CreateTopicsResponse {
    const NAME: &'static str = "CreateTopicsResponse";
    const VERSIONS: VersionRange = VersionRange::new(2, 7);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 5;
        enc.i32(self.throttle_time_ms);
        enc.array(&self.topics, flexible, "CreateTopicsResponse.topics", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 5;
        let out = Self {
            throttle_time_ms: dec.i32("CreateTopicsResponse.throttle_time_ms")?,
            topics: dec.array(flexible, 6, "CreateTopicsResponse.topics", |dec| {
                CreatableTopicResult::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("CreateTopicsResponse")?;
        }
        Ok(out)
    }
}

/// `CreatableTopicResult` in a `CreateTopicsResponse`, versions 2-7.
#[derive(Debug, Clone, PartialEq)]
pub struct CreatableTopicResult {
    /// `Name`: `string`, versions 2-7.
    pub name: String,
    /// `TopicId`: `uuid`, versions 7.
    pub topic_id: Uuid,
    /// `ErrorCode`: `int16`, versions 2-7.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 2-7, nullable.
    pub error_message: Option<String>,
    /// `TopicConfigErrorCode`: `int16`, versions 5-7, tag 0.
    pub topic_config_error_code: ErrorCode,
    /// `NumPartitions`: `int32`, versions 5-7; -1 by default.
    pub num_partitions: i32,
    /// `ReplicationFactor`: `int16`, versions 5-7; -1 by default.
    pub replication_factor: i16,
    /// `Configs`: `[]CreatableTopicConfigs`, versions 5-7, nullable.
    pub configs: Option<Vec<CreatableTopicConfigs>>,
}

impl Default for CreatableTopicResult {
    fn default() -> Self {
        Self {
            name: String::new(),
            topic_id: Uuid::ZERO,
            error_code: ErrorCode::NONE,
            error_message: Some(String::new()),
            topic_config_error_code: ErrorCode::NONE,
            num_partitions: -1,
            replication_factor: -1,
            configs: Some(Vec::new()),
        }
    }
}

impl CreatableTopicResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 5;
        enc.string(&self.name, flexible, "CreateTopicsResponse.CreatableTopicResult.name")?;
        if version == 7 {
            enc.uuid(self.topic_id);
        }
        enc.i16(self.error_code.0);
        enc.nullable_string(
            self.error_message.as_deref(),
            flexible,
            "CreateTopicsResponse.CreatableTopicResult.error_message",
        )?;
        if version >= 5 {
            enc.i32(self.num_partitions);
        }
        if version >= 5 {
            enc.i16(self.replication_factor);
        }
        if version >= 5 {
            enc.nullable_array(
                self.configs.as_deref(),
                flexible,
                "CreateTopicsResponse.CreatableTopicResult.configs",
                |enc, value| value.write(enc, version),
            )?;
        }
        if flexible {
            enc.unsigned_varint(u32::from(self.topic_config_error_code != ErrorCode::NONE));
            if self.topic_config_error_code != ErrorCode::NONE {
                enc.tagged_field(
                    0,
                    "CreateTopicsResponse.CreatableTopicResult.topic_config_error_code",
                    |enc| {
                        enc.i16(self.topic_config_error_code.0);
                        Ok(())
                    },
                )?;
            }
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 5;
        let mut out = Self {
            name: dec.string(flexible, "CreateTopicsResponse.CreatableTopicResult.name")?,
            topic_id: if version == 7 {
                dec.uuid("CreateTopicsResponse.CreatableTopicResult.topic_id")?
            } else {
                Uuid::ZERO
            },
            error_code: dec.i16("CreateTopicsResponse.CreatableTopicResult.error_code").map(ErrorCode)?,
            error_message: dec
                .nullable_string(flexible, "CreateTopicsResponse.CreatableTopicResult.error_message")?,
            topic_config_error_code: ErrorCode::NONE,
            num_partitions: if version >= 5 {
                dec.i32("CreateTopicsResponse.CreatableTopicResult.num_partitions")?
            } else {
                -1
            },
            replication_factor: if version >= 5 {
                dec.i16("CreateTopicsResponse.CreatableTopicResult.replication_factor")?
            } else {
                -1
            },
            configs: if version >= 5 {
                dec.nullable_array(flexible, 6, "CreateTopicsResponse.CreatableTopicResult.configs", |dec| {
                    CreatableTopicConfigs::read(dec, version)
                })?
            } else {
                Some(Vec::new())
            },
        };
        if flexible {
            dec.tagged_fields("CreateTopicsResponse.CreatableTopicResult", |tag, dec| {
                match tag {
                    0 => {
                        out.topic_config_error_code = dec
                            .i16("CreateTopicsResponse.CreatableTopicResult.topic_config_error_code")
                            .map(ErrorCode)?;
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(out)
    }
}

/// `CreatableTopicConfigs` in a `CreateTopicsResponse`, versions 5-7.
#[derive(Debug, Clone, PartialEq)]
pub struct CreatableTopicConfigs {
    /// `Name`: `string`, versions 5-7.
    pub name: String,
    /// `Value`: `string`, versions 5-7, nullable.
    pub value: Option<String>,
    /// `ReadOnly`: `bool`, versions 5-7.
    pub read_only: bool,
    /// `ConfigSource`: `int8`, versions 5-7; -1 by default.
    pub config_source: i8,
    /// `IsSensitive`: `bool`, versions 5-7.
    pub is_sensitive: bool,
}

impl Default for CreatableTopicConfigs {
    fn default() -> Self {
        Self {
            name: String::new(),
            value: Some(String::new()),
            read_only: false,
            config_source: -1,
            is_sensitive: false,
        }
    }
}

impl CreatableTopicConfigs {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.string(&self.name, true, "CreateTopicsResponse.CreatableTopicConfigs.name")?;
        enc.nullable_string(self.value.as_deref(), true, "CreateTopicsResponse.CreatableTopicConfigs.value")?;
        enc.bool(self.read_only);
        enc.i8(self.config_source);
        enc.bool(self.is_sensitive);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            name: dec.string(true, "CreateTopicsResponse.CreatableTopicConfigs.name")?,
            value: dec.nullable_string(true, "CreateTopicsResponse.CreatableTopicConfigs.value")?,
            read_only: dec.bool("CreateTopicsResponse.CreatableTopicConfigs.read_only")?,
            config_source: dec.i8("CreateTopicsResponse.CreatableTopicConfigs.config_source")?,
            is_sensitive: dec.bool("CreateTopicsResponse.CreatableTopicConfigs.is_sensitive")?,
        };
        dec.skip_tagged_fields("CreateTopicsResponse.CreatableTopicConfigs")?;

        Ok(out)
    }
}
