// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `ApiVersionsResponse` (API key 18), versions 0-5.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiVersionsResponse {
    /// `ErrorCode`: `int16`, versions 0-5.
    pub error_code: ErrorCode,
    /// `ApiKeys`: `[]ApiVersion`, versions 0-5.
    pub api_keys: Vec<ApiVersion>,
    /// `ThrottleTimeMs`: `int32`, versions 1-5.
    pub throttle_time_ms: i32,
    /// `SupportedFeatures`: `[]SupportedFeatureKey`, versions 3-5, tag 0.
    pub supported_features: Vec<SupportedFeatureKey>,
    /// `FinalizedFeaturesEpoch`: `int64`, versions 3-5, tag 1; -1 by default.
    pub finalized_features_epoch: i64,
    /// `FinalizedFeatures`: `[]FinalizedFeatureKey`, versions 3-5, tag 2.
    pub finalized_features: Vec<FinalizedFeatureKey>,
    /// `ZkMigrationReady`: `bool`, versions 3-5, tag 3.
    pub zk_migration_ready: bool,
}

impl Default for ApiVersionsResponse {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            api_keys: Vec::new(),
            throttle_time_ms: 0,
            supported_features: Vec::new(),
            finalized_features_epoch: -1,
            finalized_features: Vec::new(),
            zk_migration_ready: false,
        }
    }
}

impl Message for ApiVersionsResponse {
    const NAME: &'static str = "ApiVersionsResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 5);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 3;
        enc.i16(self.error_code.0);
        enc.array(&self.api_keys, flexible, "ApiVersionsResponse.api_keys", |enc, value| {
            value.write(enc, version)
        })?;
        if version >= 1 {
            enc.i32(self.throttle_time_ms);
        }
        if flexible {
            enc.unsigned_varint(
                u32::from(!self.supported_features.is_empty())
                    + u32::from(self.finalized_features_epoch != -1)
                    + u32::from(!self.finalized_features.is_empty())
                    + u32::from(self.zk_migration_ready),
            );
            if !self.supported_features.is_empty() {
                enc.tagged_field(0, "ApiVersionsResponse.supported_features", |enc| {
                    enc.array(
                        &self.supported_features,
                        true,
                        "ApiVersionsResponse.supported_features",
                        |enc, value| value.write(enc, version),
                    )?;
                    Ok(())
                })?;
            }
            if self.finalized_features_epoch != -1 {
                enc.tagged_field(1, "ApiVersionsResponse.finalized_features_epoch", |enc| {
                    enc.i64(self.finalized_features_epoch);
                    Ok(())
                })?;
            }
            if !self.finalized_features.is_empty() {
                enc.tagged_field(2, "ApiVersionsResponse.finalized_features", |enc| {
                    enc.array(
                        &self.finalized_features,
                        true,
                        "ApiVersionsResponse.finalized_features",
                        |enc, value| value.write(enc, version),
                    )?;
                    Ok(())
                })?;
            }
            if self.zk_migration_ready {
                enc.tagged_field(3, "ApiVersionsResponse.zk_migration_ready", |enc| {
                    enc.bool(self.zk_migration_ready);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 3;
        let mut out = Self {
            error_code: dec.i16("ApiVersionsResponse.error_code").map(ErrorCode)?,
            api_keys: dec
                .array(flexible, 6, "ApiVersionsResponse.api_keys", |dec| ApiVersion::read(dec, version))?,
            throttle_time_ms: if version >= 1 { dec.i32("ApiVersionsResponse.throttle_time_ms")? } else { 0 },
            supported_features: Vec::new(),
            finalized_features_epoch: -1,
            finalized_features: Vec::new(),
            zk_migration_ready: false,
        };
        if flexible {
            dec.tagged_fields("ApiVersionsResponse", |tag, dec| {
                match tag {
                    0 => {
                        out.supported_features =
                            dec.array(true, 6, "ApiVersionsResponse.supported_features", |dec| {
                                SupportedFeatureKey::read(dec, version)
                            })?;
                    }
                    1 => {
                        out.finalized_features_epoch =
                            dec.i64("ApiVersionsResponse.finalized_features_epoch")?;
                    }
                    2 => {
                        out.finalized_features =
                            dec.array(true, 6, "ApiVersionsResponse.finalized_features", |dec| {
                                FinalizedFeatureKey::read(dec, version)
                            })?;
                    }
                    3 => {
                        out.zk_migration_ready = dec.bool("ApiVersionsResponse.zk_migration_ready")?;
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(out)
    }
}

/// `ApiVersion` in a `ApiVersionsResponse`, versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ApiVersion {
    /// `ApiKey`: `int16`, versions 0-5.
    pub api_key: i16,
    /// `MinVersion`: `int16`, versions 0-5.
    pub min_version: i16,
    /// `MaxVersion`: `int16`, versions 0-5.
    pub max_version: i16,
}

impl ApiVersion {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        enc.i16(self.api_key);
        enc.i16(self.min_version);
        enc.i16(self.max_version);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let out = Self {
            api_key: dec.i16("ApiVersionsResponse.ApiVersion.api_key")?,
            min_version: dec.i16("ApiVersionsResponse.ApiVersion.min_version")?,
            max_version: dec.i16("ApiVersionsResponse.ApiVersion.max_version")?,
        };
        if flexible {
            dec.skip_tagged_fields("ApiVersionsResponse.ApiVersion")?;
        }
        Ok(out)
    }
}

/// `SupportedFeatureKey` in a `ApiVersionsResponse`, versions 3-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SupportedFeatureKey {
    /// `Name`: `string`, versions 3-5.
    pub name: String,
    /// `MinVersion`: `int16`, versions 3-5.
    pub min_version: i16,
    /// `MaxVersion`: `int16`, versions 3-5.
    pub max_version: i16,
}

impl SupportedFeatureKey {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.string(&self.name, true, "ApiVersionsResponse.SupportedFeatureKey.name")?;
        enc.i16(self.min_version);
        enc.i16(self.max_version);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            name: dec.string(true, "ApiVersionsResponse.SupportedFeatureKey.name")?,
            min_version: dec.i16("ApiVersionsResponse.SupportedFeatureKey.min_version")?,
            max_version: dec.i16("ApiVersionsResponse.SupportedFeatureKey.max_version")?,
        };
        dec.skip_tagged_fields("ApiVersionsResponse.SupportedFeatureKey")?;

        Ok(out)
    }
}

/// `FinalizedFeatureKey` in a `ApiVersionsResponse`, versions 3-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FinalizedFeatureKey {
    /// `Name`: `string`, versions 3-5.
    pub name: String,
    /// `MaxVersionLevel`: `int16`, versions 3-5.
    pub max_version_level: i16,
    /// `MinVersionLevel`: `int16`, versions 3-5.
    pub min_version_level: i16,
}

impl FinalizedFeatureKey {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.string(&self.name, true, "ApiVersionsResponse.FinalizedFeatureKey.name")?;
        enc.i16(self.max_version_level);
        enc.i16(self.min_version_level);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            name: dec.string(true, "ApiVersionsResponse.FinalizedFeatureKey.name")?,
            max_version_level: dec.i16("ApiVersionsResponse.FinalizedFeatureKey.max_version_level")?,
            min_version_level: dec.i16("ApiVersionsResponse.FinalizedFeatureKey.min_version_level")?,
        };
        dec.skip_tagged_fields("ApiVersionsResponse.FinalizedFeatureKey")?;

        Ok(out)
    }
}
