// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `DeleteGroupsRequest` (API key 42), versions 0-3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeleteGroupsRequest {
    /// `GroupsNames`: `[]string`, versions 0-3.
    pub groups_names: Vec<String>,
}

impl Message for DeleteGroupsRequest {
    const NAME: &'static str = "DeleteGroupsRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 3);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 2;
        enc.array(&self.groups_names, flexible, "DeleteGroupsRequest.groups_names", |enc, value| {
            enc.string(value, flexible, "DeleteGroupsRequest.groups_names")
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 2;
        let out = Self {
            groups_names: dec.array(flexible, 1, "DeleteGroupsRequest.groups_names", |dec| {
                dec.string(flexible, "DeleteGroupsRequest.groups_names")
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("DeleteGroupsRequest")?;
        }
        Ok(out)
    }
}

impl Request for DeleteGroupsRequest {
    const API_KEY: ApiKey = ApiKey::DeleteGroups;
    type Response = super::DeleteGroupsResponse;
}
