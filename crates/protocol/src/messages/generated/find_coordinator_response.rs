// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `FindCoordinatorResponse` (API key 10), versions 0-6.
#[derive(Debug, Clone, PartialEq)]
pub struct FindCoordinatorResponse {
    /// `ThrottleTimeMs`: `int32`, versions 1-6.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 0-3.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 1-3, nullable.
    pub error_message: Option<String>,
    /// `NodeId`: `int32`, versions 0-3.
    pub node_id: i32,
    /// `Host`: `string`, versions 0-3.
    pub host: String,
    /// `Port`: `int32`, versions 0-3.
    pub port: i32,
    /// `Coordinators`: `[]Coordinator`, versions 4-6.
    pub coordinators: Vec<Coordinator>,
}

impl Default for FindCoordinatorResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            error_message: Some(String::new()),
            node_id: 0,
            host: String::new(),
            port: 0,
            coordinators: Vec::new(),
        }
    }
}

impl Message for FindCoordinatorResponse {
    const NAME: &'static str = "FindCoordinatorResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 6);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 3;
        if version >= 1 {
            enc.i32(self.throttle_time_ms);
        }
        if version <= 3 {
            enc.i16(self.error_code.0);
        } else if self.error_code != ErrorCode::NONE {
            return Err(EncodeError::UnsupportedField {
                message: "FindCoordinatorResponse",
                field: "error_code",
                version,
            });
        }
        if (1..=3).contains(&version) {
            enc.nullable_string(
                self.error_message.as_deref(),
                flexible,
                "FindCoordinatorResponse.error_message",
            )?;
        }
        if version <= 3 {
            enc.i32(self.node_id);
        } else if self.node_id != 0 {
            return Err(EncodeError::UnsupportedField {
                message: "FindCoordinatorResponse",
                field: "node_id",
                version,
            });
        }
        if version <= 3 {
            enc.string(&self.host, flexible, "FindCoordinatorResponse.host")?;
        } else if !self.host.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "FindCoordinatorResponse",
                field: "host",
                version,
            });
        }
        if version <= 3 {
            enc.i32(self.port);
        } else if self.port != 0 {
            return Err(EncodeError::UnsupportedField {
                message: "FindCoordinatorResponse",
                field: "port",
                version,
            });
        }
        if version >= 4 {
            enc.array(&self.coordinators, flexible, "FindCoordinatorResponse.coordinators", |enc, value| {
                value.write(enc, version)
            })?;
        } else if !self.coordinators.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "FindCoordinatorResponse",
                field: "coordinators",
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
            throttle_time_ms: if version >= 1 {
                dec.i32("FindCoordinatorResponse.throttle_time_ms")?
            } else {
                0
            },
            error_code: if version <= 3 {
                dec.i16("FindCoordinatorResponse.error_code").map(ErrorCode)?
            } else {
                ErrorCode::NONE
            },
            error_message: if (1..=3).contains(&version) {
                dec.nullable_string(flexible, "FindCoordinatorResponse.error_message")?
            } else {
                Some(String::new())
            },
            node_id: if version <= 3 { dec.i32("FindCoordinatorResponse.node_id")? } else { 0 },
            host: if version <= 3 {
                dec.string(flexible, "FindCoordinatorResponse.host")?
            } else {
                String::new()
            },
            port: if version <= 3 { dec.i32("FindCoordinatorResponse.port")? } else { 0 },
            coordinators: if version >= 4 {
                dec.array(flexible, 14, "FindCoordinatorResponse.coordinators", |dec| {
                    Coordinator::read(dec, version)
                })?
            } else {
                Vec::new()
            },
        };
        if flexible {
            dec.skip_tagged_fields("FindCoordinatorResponse")?;
        }
        Ok(out)
    }
}

/// `Coordinator` in a `FindCoordinatorResponse`, versions 4-6.
#[derive(Debug, Clone, PartialEq)]
pub struct Coordinator {
    /// `Key`: `string`, versions 4-6.
    pub key: String,
    /// `NodeId`: `int32`, versions 4-6.
    pub node_id: i32,
    /// `Host`: `string`, versions 4-6.
    pub host: String,
    /// `Port`: `int32`, versions 4-6.
    pub port: i32,
    /// `ErrorCode`: `int16`, versions 4-6.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 4-6, nullable.
    pub error_message: Option<String>,
}

impl Default for Coordinator {
    fn default() -> Self {
        Self {
            key: String::new(),
            node_id: 0,
            host: String::new(),
            port: 0,
            error_code: ErrorCode::NONE,
            error_message: Some(String::new()),
        }
    }
}

impl Coordinator {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.string(&self.key, true, "FindCoordinatorResponse.Coordinator.key")?;
        enc.i32(self.node_id);
        enc.string(&self.host, true, "FindCoordinatorResponse.Coordinator.host")?;
        enc.i32(self.port);
        enc.i16(self.error_code.0);
        enc.nullable_string(
            self.error_message.as_deref(),
            true,
            "FindCoordinatorResponse.Coordinator.error_message",
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            key: dec.string(true, "FindCoordinatorResponse.Coordinator.key")?,
            node_id: dec.i32("FindCoordinatorResponse.Coordinator.node_id")?,
            host: dec.string(true, "FindCoordinatorResponse.Coordinator.host")?,
            port: dec.i32("FindCoordinatorResponse.Coordinator.port")?,
            error_code: dec.i16("FindCoordinatorResponse.Coordinator.error_code").map(ErrorCode)?,
            error_message: dec.nullable_string(true, "FindCoordinatorResponse.Coordinator.error_message")?,
        };
        dec.skip_tagged_fields("FindCoordinatorResponse.Coordinator")?;

        Ok(out)
    }
}
