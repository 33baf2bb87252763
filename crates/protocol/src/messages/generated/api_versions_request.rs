// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `ApiVersionsRequest` (API key 18), versions 0-5.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiVersionsRequest {
    /// `ClientSoftwareName`: `string`, versions 3-5.
    pub client_software_name: String,
    /// `ClientSoftwareVersion`: `string`, versions 3-5.
    pub client_software_version: String,
    /// `ClusterId`: `string`, versions 5, nullable; null by default.
    pub cluster_id: Option<String>,
    /// `NodeId`: `int32`, versions 5; -1 by default.
    pub node_id: i32,
}

impl Default for ApiVersionsRequest {
    fn default() -> Self {
        Self {
            client_software_name: String::new(),
            client_software_version: String::new(),
            cluster_id: None,
            node_id: -1,
        }
    }
}

impl Message for ApiVersionsRequest {
    const NAME: &'static str = "ApiVersionsRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 5);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 3;
        if version >= 3 {
            enc.string(&self.client_software_name, flexible, "ApiVersionsRequest.client_software_name")?;
        }
        if version >= 3 {
            enc.string(
                &self.client_software_version,
                flexible,
                "ApiVersionsRequest.client_software_version",
            )?;
        }
        if version == 5 {
            enc.nullable_string(self.cluster_id.as_deref(), flexible, "ApiVersionsRequest.cluster_id")?;
        }
        if version == 5 {
            enc.i32(self.node_id);
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
            client_software_name: if version >= 3 {
                dec.string(flexible, "ApiVersionsRequest.client_software_name")?
            } else {
                String::new()
            },
            client_software_version: if version >= 3 {
                dec.string(flexible, "ApiVersionsRequest.client_software_version")?
            } else {
                String::new()
            },
            cluster_id: if version == 5 {
                dec.nullable_string(flexible, "ApiVersionsRequest.cluster_id")?
            } else {
                None
            },
            node_id: if version == 5 { dec.i32("ApiVersionsRequest.node_id")? } else { -1 },
        };
        if flexible {
            dec.skip_tagged_fields("ApiVersionsRequest")?;
        }
        Ok(out)
    }
}

impl Request for ApiVersionsRequest {
    const API_KEY: ApiKey = ApiKey::ApiVersions;
    type Response = super::ApiVersionsResponse;
}
