// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `ListGroupsRequest` (API key 16), versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListGroupsRequest {
    /// `StatesFilter`: `[]string`, versions 4-5.
    pub states_filter: Vec<String>,
    /// `TypesFilter`: `[]string`, versions 5.
    pub types_filter: Vec<String>,
}

impl Message for ListGroupsRequest {
    const NAME: &'static str = "ListGroupsRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 5);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 3;
        if version >= 4 {
            enc.array(&self.states_filter, flexible, "ListGroupsRequest.states_filter", |enc, value| {
                enc.string(value, flexible, "ListGroupsRequest.states_filter")
            })?;
        } else if !self.states_filter.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "ListGroupsRequest",
                field: "states_filter",
                version,
            });
        }
        if version == 5 {
            enc.array(&self.types_filter, flexible, "ListGroupsRequest.types_filter", |enc, value| {
                enc.string(value, flexible, "ListGroupsRequest.types_filter")
            })?;
        } else if !self.types_filter.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "ListGroupsRequest",
                field: "types_filter",
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
            states_filter: if version >= 4 {
                dec.array(flexible, 1, "ListGroupsRequest.states_filter", |dec| {
                    dec.string(flexible, "ListGroupsRequest.states_filter")
                })?
            } else {
                Vec::new()
            },
            types_filter: if version == 5 {
                dec.array(flexible, 1, "ListGroupsRequest.types_filter", |dec| {
                    dec.string(flexible, "ListGroupsRequest.types_filter")
                })?
            } else {
                Vec::new()
            },
        };
        if flexible {
            dec.skip_tagged_fields("ListGroupsRequest")?;
        }
        Ok(out)
    }
}

impl Request for ListGroupsRequest {
    const API_KEY: ApiKey = ApiKey::ListGroups;
    type Response = super::ListGroupsResponse;
}
