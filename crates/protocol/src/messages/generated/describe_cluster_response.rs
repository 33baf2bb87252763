// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `DescribeClusterResponse` (API key 60), versions 0-2.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeClusterResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0-2.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 0-2.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 0-2, nullable; null by default.
    pub error_message: Option<String>,
    /// `EndpointType`: `int8`, versions 1-2; 1 by default.
    pub endpoint_type: i8,
    /// `ClusterId`: `string`, versions 0-2.
    pub cluster_id: String,
    /// `ControllerId`: `int32`, versions 0-2; -1 by default.
    pub controller_id: i32,
    /// `Brokers`: `[]DescribeClusterBroker`, versions 0-2.
    pub brokers: Vec<DescribeClusterBroker>,
    /// `ClusterAuthorizedOperations`: `int32`, versions 0-2; i32::MIN by default.
    pub cluster_authorized_operations: i32,
}

impl Default for DescribeClusterResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            error_message: None,
            endpoint_type: 1,
            cluster_id: String::new(),
            controller_id: -1,
            brokers: Vec::new(),
            cluster_authorized_operations: i32::MIN,
        }
    }
}

impl Message for DescribeClusterResponse {
    const NAME: &'static str = "DescribeClusterResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 2);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.i32(self.throttle_time_ms);
        enc.i16(self.error_code.0);
        enc.nullable_string(self.error_message.as_deref(), true, "DescribeClusterResponse.error_message")?;
        if version >= 1 {
            enc.i8(self.endpoint_type);
        } else if self.endpoint_type != 1 {
            return Err(EncodeError::UnsupportedField {
                message: "DescribeClusterResponse",
                field: "endpoint_type",
                version,
            });
        }
        enc.string(&self.cluster_id, true, "DescribeClusterResponse.cluster_id")?;
        enc.i32(self.controller_id);
        enc.array(&self.brokers, true, "DescribeClusterResponse.brokers", |enc, value| {
            value.write(enc, version)
        })?;
        enc.i32(self.cluster_authorized_operations);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            throttle_time_ms: dec.i32("DescribeClusterResponse.throttle_time_ms")?,
            error_code: dec.i16("DescribeClusterResponse.error_code").map(ErrorCode)?,
            error_message: dec.nullable_string(true, "DescribeClusterResponse.error_message")?,
            endpoint_type: if version >= 1 { dec.i8("DescribeClusterResponse.endpoint_type")? } else { 1 },
            cluster_id: dec.string(true, "DescribeClusterResponse.cluster_id")?,
            controller_id: dec.i32("DescribeClusterResponse.controller_id")?,
            brokers: dec.array(true, 11, "DescribeClusterResponse.brokers", |dec| {
                DescribeClusterBroker::read(dec, version)
            })?,
            cluster_authorized_operations: dec
                .i32("DescribeClusterResponse.cluster_authorized_operations")?,
        };
        dec.skip_tagged_fields("DescribeClusterResponse")?;

        Ok(out)
    }
}

/// `DescribeClusterBroker` in a `DescribeClusterResponse`, versions 0-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DescribeClusterBroker {
    /// `BrokerId`: `int32`, versions 0-2.
    pub broker_id: i32,
    /// `Host`: `string`, versions 0-2.
    pub host: String,
    /// `Port`: `int32`, versions 0-2.
    pub port: i32,
    /// `Rack`: `string`, versions 0-2, nullable; null by default.
    pub rack: Option<String>,
    /// `IsFenced`: `bool`, versions 2.
    pub is_fenced: bool,
}

impl DescribeClusterBroker {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.i32(self.broker_id);
        enc.string(&self.host, true, "DescribeClusterResponse.DescribeClusterBroker.host")?;
        enc.i32(self.port);
        enc.nullable_string(
            self.rack.as_deref(),
            true,
            "DescribeClusterResponse.DescribeClusterBroker.rack",
        )?;
        if version == 2 {
            enc.bool(self.is_fenced);
        } else if self.is_fenced {
            return Err(EncodeError::UnsupportedField {
                message: "DescribeClusterResponse",
                field: "DescribeClusterBroker.is_fenced",
                version,
            });
        }
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            broker_id: dec.i32("DescribeClusterResponse.DescribeClusterBroker.broker_id")?,
            host: dec.string(true, "DescribeClusterResponse.DescribeClusterBroker.host")?,
            port: dec.i32("DescribeClusterResponse.DescribeClusterBroker.port")?,
            rack: dec.nullable_string(true, "DescribeClusterResponse.DescribeClusterBroker.rack")?,
            is_fenced: if version == 2 {
                dec.bool("DescribeClusterResponse.DescribeClusterBroker.is_fenced")?
            } else {
                false
            },
        };
        dec.skip_tagged_fields("DescribeClusterResponse.DescribeClusterBroker")?;

        Ok(out)
    }
}
