// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `DescribeGroupsRequest` (API key 15), versions 0-6.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DescribeGroupsRequest {
    /// `Groups`: `[]string`, versions 0-6.
    pub groups: Vec<String>,
    /// `IncludeAuthorizedOperations`: `bool`, versions 3-6.
    pub include_authorized_operations: bool,
}

impl Message for DescribeGroupsRequest {
    const NAME: &'static str = "DescribeGroupsRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 6);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 5;
        enc.array(&self.groups, flexible, "DescribeGroupsRequest.groups", |enc, value| {
            enc.string(value, flexible, "DescribeGroupsRequest.groups")
        })?;
        if version >= 3 {
            enc.bool(self.include_authorized_operations);
        } else if self.include_authorized_operations {
            return Err(EncodeError::UnsupportedField {
                message: "DescribeGroupsRequest",
                field: "include_authorized_operations",
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
        let flexible = version >= 5;
        let out = Self {
            groups: dec.array(flexible, 1, "DescribeGroupsRequest.groups", |dec| {
                dec.string(flexible, "DescribeGroupsRequest.groups")
            })?,
            include_authorized_operations: if version >= 3 {
                dec.bool("DescribeGroupsRequest.include_authorized_operations")?
            } else {
                false
            },
        };
        if flexible {
            dec.skip_tagged_fields("DescribeGroupsRequest")?;
        }
        Ok(out)
    }
}

impl Request for DescribeGroupsRequest {
    const API_KEY: ApiKey = ApiKey::DescribeGroups;
    type Response = super::DescribeGroupsResponse;
}
