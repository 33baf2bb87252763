// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `FindCoordinatorRequest` (API key 10), versions 0-6.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FindCoordinatorRequest {
    /// `Key`: `string`, versions 0-3.
    pub key: String,
    /// `KeyType`: `int8`, versions 1-6.
    pub key_type: i8,
    /// `CoordinatorKeys`: `[]string`, versions 4-6.
    pub coordinator_keys: Vec<String>,
}

impl Message for FindCoordinatorRequest {
    const NAME: &'static str = "FindCoordinatorRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 6);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 3;
        if version <= 3 {
            enc.string(&self.key, flexible, "FindCoordinatorRequest.key")?;
        } else if !self.key.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "FindCoordinatorRequest",
                field: "key",
                version,
            });
        }
        if version >= 1 {
            enc.i8(self.key_type);
        } else if self.key_type != 0 {
            return Err(EncodeError::UnsupportedField {
                message: "FindCoordinatorRequest",
                field: "key_type",
                version,
            });
        }
        if version >= 4 {
            enc.array(
                &self.coordinator_keys,
                flexible,
                "FindCoordinatorRequest.coordinator_keys",
                |enc, value| enc.string(value, flexible, "FindCoordinatorRequest.coordinator_keys"),
            )?;
        } else if !self.coordinator_keys.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "FindCoordinatorRequest",
                field: "coordinator_keys",
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
        let flexible = version >= 3;
        let out = Self {
            key: if version <= 3 {
                dec.string(flexible, "FindCoordinatorRequest.key")?
            } else {
                String::new()
            },
            key_type: if version >= 1 { dec.i8("FindCoordinatorRequest.key_type")? } else { 0 },
            coordinator_keys: if version >= 4 {
                dec.array(flexible, 1, "FindCoordinatorRequest.coordinator_keys", |dec| {
                    dec.string(flexible, "FindCoordinatorRequest.coordinator_keys")
                })?
            } else {
                Vec::new()
            },
        };
        if flexible {
            dec.skip_tagged_fields("FindCoordinatorRequest")?;
        }
        Ok(out)
    }
}

impl Request for FindCoordinatorRequest {
    const API_KEY: ApiKey = ApiKey::FindCoordinator;
    type Response = super::FindCoordinatorResponse;
}
