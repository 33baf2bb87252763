// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `DescribeConfigsRequest` (API key 32), versions 1-4.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DescribeConfigsRequest {
    /// `Resources`: `[]DescribeConfigsResource`, versions 1-4.
    pub resources: Vec<DescribeConfigsResource>,
    /// `IncludeSynonyms`: `bool`, versions 1-4.
    pub include_synonyms: bool,
    /// `IncludeDocumentation`: `bool`, versions 3-4.
    pub include_documentation: bool,
}

impl Message for DescribeConfigsRequest {
    const NAME: &'static str = "DescribeConfigsRequest";
    const VERSIONS: VersionRange = VersionRange::new(1, 4);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version == 4;
        enc.array(&self.resources, flexible, "DescribeConfigsRequest.resources", |enc, value| {
            value.write(enc, version)
        })?;
        enc.bool(self.include_synonyms);
        if version >= 3 {
            enc.bool(self.include_documentation);
        } else if self.include_documentation {
            return Err(EncodeError::UnsupportedField {
                message: "DescribeConfigsRequest",
                field: "include_documentation",
                version,
            });
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version == 4;
        let out = Self {
            resources: dec.array(flexible, 4, "DescribeConfigsRequest.resources", |dec| {
                DescribeConfigsResource::read(dec, version)
            })?,
            include_synonyms: dec.bool("DescribeConfigsRequest.include_synonyms")?,
            include_documentation: if version >= 3 {
                dec.bool("DescribeConfigsRequest.include_documentation")?
            } else {
                false
            },
        };
        if flexible {
            dec.skip_tagged_fields("DescribeConfigsRequest")?;
        }
        Ok(out)
    }
}

impl Request for DescribeConfigsRequest {
    const API_KEY: ApiKey = ApiKey::DescribeConfigs;
    type Response = super::DescribeConfigsResponse;
}

/// `DescribeConfigsResource` in a `DescribeConfigsRequest`, versions 1-4.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeConfigsResource {
    /// `ResourceType`: `int8`, versions 1-4.
    pub resource_type: i8,
    /// `ResourceName`: `string`, versions 1-4.
    pub resource_name: String,
    /// `ConfigurationKeys`: `[]string`, versions 1-4, nullable.
    pub configuration_keys: Option<Vec<String>>,
}

impl Default for DescribeConfigsResource {
    fn default() -> Self {
        Self { resource_type: 0, resource_name: String::new(), configuration_keys: Some(Vec::new()) }
    }
}

impl DescribeConfigsResource {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        enc.i8(self.resource_type);
        enc.string(
            &self.resource_name,
            flexible,
            "DescribeConfigsRequest.DescribeConfigsResource.resource_name",
        )?;
        enc.nullable_array(
            self.configuration_keys.as_deref(),
            flexible,
            "DescribeConfigsRequest.DescribeConfigsResource.configuration_keys",
            |enc, value| {
                enc.string(
                    value,
                    flexible,
                    "DescribeConfigsRequest.DescribeConfigsResource.configuration_keys",
                )
            },
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let out = Self {
            resource_type: dec.i8("DescribeConfigsRequest.DescribeConfigsResource.resource_type")?,
            resource_name: dec
                .string(flexible, "DescribeConfigsRequest.DescribeConfigsResource.resource_name")?,
            configuration_keys: dec.nullable_array(
                flexible,
                1,
                "DescribeConfigsRequest.DescribeConfigsResource.configuration_keys",
                |dec| {
                    dec.string(flexible, "DescribeConfigsRequest.DescribeConfigsResource.configuration_keys")
                },
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("DescribeConfigsRequest.DescribeConfigsResource")?;
        }
        Ok(out)
    }
}
