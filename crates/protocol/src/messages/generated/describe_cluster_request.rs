// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `DescribeClusterRequest` (API key 60), versions 0-2.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeClusterRequest {
    /// `IncludeClusterAuthorizedOperations`: `bool`, versions 0-2.
    pub include_cluster_authorized_operations: bool,
    /// `EndpointType`: `int8`, versions 1-2; 1 by default.
    pub endpoint_type: i8,
    /// `IncludeFencedBrokers`: `bool`, versions 2.
    pub include_fenced_brokers: bool,
}

impl Default for DescribeClusterRequest {
    fn default() -> Self {
        Self { include_cluster_authorized_operations: false, endpoint_type: 1, include_fenced_brokers: false }
    }
}

impl Message for DescribeClusterRequest {
    const NAME: &'static str = "DescribeClusterRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 2);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.bool(self.include_cluster_authorized_operations);
        if version >= 1 {
            enc.i8(self.endpoint_type);
        } else if self.endpoint_type != 1 {
            return Err(EncodeError::UnsupportedField {
                message: "DescribeClusterRequest",
                field: "endpoint_type",
                version,
            });
        }
        if version == 2 {
            enc.bool(self.include_fenced_brokers);
        } else if self.include_fenced_brokers {
            return Err(EncodeError::UnsupportedField {
                message: "DescribeClusterRequest",
                field: "include_fenced_brokers",
                version,
            });
        }
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            include_cluster_authorized_operations: dec
                .bool("DescribeClusterRequest.include_cluster_authorized_operations")?,
            endpoint_type: if version >= 1 { dec.i8("DescribeClusterRequest.endpoint_type")? } else { 1 },
            include_fenced_brokers: if version == 2 {
                dec.bool("DescribeClusterRequest.include_fenced_brokers")?
            } else {
                false
            },
        };
        dec.skip_tagged_fields("DescribeClusterRequest")?;

        Ok(out)
    }
}

impl Request for DescribeClusterRequest {
    const API_KEY: ApiKey = ApiKey::DescribeCluster;
    type Response = super::DescribeClusterResponse;
}
