// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, Uuid, VersionRange};

/// `MetadataRequest` (API key 3), versions 0-13.
#[derive(Debug, Clone, PartialEq)]
pub struct MetadataRequest {
    /// `Topics`: `[]MetadataRequestTopic`, versions 0-13, nullable in 1-13.
    pub topics: Option<Vec<MetadataRequestTopic>>,
    /// `AllowAutoTopicCreation`: `bool`, versions 4-13; true by default.
    pub allow_auto_topic_creation: bool,
    /// `IncludeClusterAuthorizedOperations`: `bool`, versions 8-10.
    pub include_cluster_authorized_operations: bool,
    /// `IncludeTopicAuthorizedOperations`: `bool`, versions 8-13.
    pub include_topic_authorized_operations: bool,
}

impl Default for MetadataRequest {
    fn default() -> Self {
        Self {
            topics: Some(Vec::new()),
            allow_auto_topic_creation: true,
            include_cluster_authorized_operations: false,
            include_topic_authorized_operations: false,
        }
    }
}

impl Message for MetadataRequest {
    const NAME: &'static str = "MetadataRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 13);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 9;
        if version >= 1 {
            enc.nullable_array(self.topics.as_deref(), flexible, "MetadataRequest.topics", |enc, value| {
                value.write(enc, version)
            })?;
        } else {
            let value =
                crate::messages::required(self.topics.as_ref(), "MetadataRequest", "topics", version)?;
            enc.array(value, flexible, "MetadataRequest.topics", |enc, value| value.write(enc, version))?;
        }
        if version >= 4 {
            enc.bool(self.allow_auto_topic_creation);
        } else if !self.allow_auto_topic_creation {
            return Err(EncodeError::UnsupportedField {
                message: "MetadataRequest",
                field: "allow_auto_topic_creation",
                version,
            });
        }
        if (8..=10).contains(&version) {
            enc.bool(self.include_cluster_authorized_operations);
        } else if self.include_cluster_authorized_operations {
            return Err(EncodeError::UnsupportedField {
                message: "MetadataRequest",
                field: "include_cluster_authorized_operations",
                version,
            });
        }
        if version >= 8 {
            enc.bool(self.include_topic_authorized_operations);
        } else if self.include_topic_authorized_operations {
            return Err(EncodeError::UnsupportedField {
                message: "MetadataRequest",
                field: "include_topic_authorized_operations",
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
        let flexible = version >= 9;
        let out = Self {
            topics: if version >= 1 {
                dec.nullable_array(flexible, 2, "MetadataRequest.topics", |dec| {
                    MetadataRequestTopic::read(dec, version)
                })?
            } else {
                Some(dec.array(flexible, 2, "MetadataRequest.topics", |dec| {
                    MetadataRequestTopic::read(dec, version)
                })?)
            },
            allow_auto_topic_creation: if version >= 4 {
                dec.bool("MetadataRequest.allow_auto_topic_creation")?
            } else {
                true
            },
            include_cluster_authorized_operations: if (8..=10).contains(&version) {
                dec.bool("MetadataRequest.include_cluster_authorized_operations")?
            } else {
                false
            },
            include_topic_authorized_operations: if version >= 8 {
                dec.bool("MetadataRequest.include_topic_authorized_operations")?
            } else {
                false
            },
        };
        if flexible {
            dec.skip_tagged_fields("MetadataRequest")?;
        }
        Ok(out)
    }
}

impl Request for MetadataRequest {
    const API_KEY: ApiKey = ApiKey::Metadata;
    type Response = super::MetadataResponse;
}

/// `MetadataRequestTopic` in a `MetadataRequest`, versions 0-13.
#[derive(Debug, Clone, PartialEq)]
pub struct MetadataRequestTopic {
    /// `TopicId`: `uuid`, versions 10-13.
    pub topic_id: Uuid,
    /// `Name`: `string`, versions 0-13, nullable in 10-13.
    pub name: Option<String>,
}

impl Default for MetadataRequestTopic {
    fn default() -> Self {
        Self { topic_id: Uuid::ZERO, name: Some(String::new()) }
    }
}

impl MetadataRequestTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        if version >= 10 {
            enc.uuid(self.topic_id);
        }
        if version >= 10 {
            enc.nullable_string(self.name.as_deref(), flexible, "MetadataRequest.MetadataRequestTopic.name")?;
        } else {
            let value = crate::messages::required(
                self.name.as_ref(),
                "MetadataRequest",
                "MetadataRequestTopic.name",
                version,
            )?;
            enc.string(value, flexible, "MetadataRequest.MetadataRequestTopic.name")?;
        }
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let out = Self {
            topic_id: if version >= 10 {
                dec.uuid("MetadataRequest.MetadataRequestTopic.topic_id")?
            } else {
                Uuid::ZERO
            },
            name: if version >= 10 {
                dec.nullable_string(flexible, "MetadataRequest.MetadataRequestTopic.name")?
            } else {
                Some(dec.string(flexible, "MetadataRequest.MetadataRequestTopic.name")?)
            },
        };
        if flexible {
            dec.skip_tagged_fields("MetadataRequest.MetadataRequestTopic")?;
        }
        Ok(out)
    }
}
