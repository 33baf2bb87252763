// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `IncrementalAlterConfigsRequest` (API key 44), versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IncrementalAlterConfigsRequest {
    /// `Resources`: `[]AlterConfigsResource`, versions 0-1.
    pub resources: Vec<AlterConfigsResource>,
    /// `ValidateOnly`: `bool`, versions 0-1.
    pub validate_only: bool,
}

impl Message for IncrementalAlterConfigsRequest {
    const NAME: &'static str = "IncrementalAlterConfigsRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 1);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 1;
        enc.array(&self.resources, flexible, "IncrementalAlterConfigsRequest.resources", |enc, value| {
            value.write(enc, version)
        })?;
        enc.bool(self.validate_only);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 1;
        let out = Self {
            resources: dec.array(flexible, 4, "IncrementalAlterConfigsRequest.resources", |dec| {
                AlterConfigsResource::read(dec, version)
            })?,
            validate_only: dec.bool("IncrementalAlterConfigsRequest.validate_only")?,
        };
        if flexible {
            dec.skip_tagged_fields("IncrementalAlterConfigsRequest")?;
        }
        Ok(out)
    }
}

impl Request for IncrementalAlterConfigsRequest {
    const API_KEY: ApiKey = ApiKey::IncrementalAlterConfigs;
    type Response = super::IncrementalAlterConfigsResponse;
}

/// `AlterConfigsResource` in a `IncrementalAlterConfigsRequest`, versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AlterConfigsResource {
    /// `ResourceType`: `int8`, versions 0-1.
    pub resource_type: i8,
    /// `ResourceName`: `string`, versions 0-1.
    pub resource_name: String,
    /// `Configs`: `[]AlterableConfig`, versions 0-1.
    pub configs: Vec<AlterableConfig>,
}

impl AlterConfigsResource {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 1;
        enc.i8(self.resource_type);
        enc.string(
            &self.resource_name,
            flexible,
            "IncrementalAlterConfigsRequest.AlterConfigsResource.resource_name",
        )?;
        enc.array(
            &self.configs,
            flexible,
            "IncrementalAlterConfigsRequest.AlterConfigsResource.configs",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 1;
        let out = Self {
            resource_type: dec.i8("IncrementalAlterConfigsRequest.AlterConfigsResource.resource_type")?,
            resource_name: dec
                .string(flexible, "IncrementalAlterConfigsRequest.AlterConfigsResource.resource_name")?,
            configs: dec.array(
                flexible,
                4,
                "IncrementalAlterConfigsRequest.AlterConfigsResource.configs",
                |dec| AlterableConfig::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("IncrementalAlterConfigsRequest.AlterConfigsResource")?;
        }
        Ok(out)
    }
}

/// `AlterableConfig` in a `IncrementalAlterConfigsRequest`, versions 0-1.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterableConfig {
    /// `Name`: `string`, versions 0-1.
    pub name: String,
    /// `ConfigOperation`: `int8`, versions 0-1.
    pub config_operation: i8,
    /// `Value`: `string`, versions 0-1, nullable.
    pub value: Option<String>,
}

impl Default for AlterableConfig {
    fn default() -> Self {
        Self { name: String::new(), config_operation: 0, value: Some(String::new()) }
    }
}

impl AlterableConfig {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 1;
        enc.string(&self.name, flexible, "IncrementalAlterConfigsRequest.AlterableConfig.name")?;
        enc.i8(self.config_operation);
        enc.nullable_string(
            self.value.as_deref(),
            flexible,
            "IncrementalAlterConfigsRequest.AlterableConfig.value",
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 1;
        let out = Self {
            name: dec.string(flexible, "IncrementalAlterConfigsRequest.AlterableConfig.name")?,
            config_operation: dec.i8("IncrementalAlterConfigsRequest.AlterableConfig.config_operation")?,
            value: dec.nullable_string(flexible, "IncrementalAlterConfigsRequest.AlterableConfig.value")?,
        };
        if flexible {
            dec.skip_tagged_fields("IncrementalAlterConfigsRequest.AlterableConfig")?;
        }
        Ok(out)
    }
}
