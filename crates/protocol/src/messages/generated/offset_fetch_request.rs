// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, Uuid, VersionRange};

/// `OffsetFetchRequest` (API key 9), versions 1-10.
#[derive(Debug, Clone, PartialEq)]
pub struct OffsetFetchRequest {
    /// `GroupId`: `string`, versions 1-7.
    pub group_id: String,
    /// `Topics`: `[]OffsetFetchRequestTopic`, versions 1-7, nullable in 2-7.
    pub topics: Option<Vec<OffsetFetchRequestTopic>>,
    /// `Groups`: `[]OffsetFetchRequestGroup`, versions 8-10.
    pub groups: Vec<OffsetFetchRequestGroup>,
    /// `RequireStable`: `bool`, versions 7-10.
    pub require_stable: bool,
}

impl Default for OffsetFetchRequest {
    fn default() -> Self {
        Self { group_id: String::new(), topics: Some(Vec::new()), groups: Vec::new(), require_stable: false }
    }
}

impl Message for OffsetFetchRequest {
    const NAME: &'static str = "OffsetFetchRequest";
    const VERSIONS: VersionRange = VersionRange::new(1, 10);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 6;
        if version <= 7 {
            enc.string(&self.group_id, flexible, "OffsetFetchRequest.group_id")?;
        } else if !self.group_id.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "OffsetFetchRequest",
                field: "group_id",
                version,
            });
        }
        if version <= 7 {
            if version >= 2 {
                enc.nullable_array(
                    self.topics.as_deref(),
                    flexible,
                    "OffsetFetchRequest.topics",
                    |enc, value| value.write(enc, version),
                )?;
            } else {
                let value =
                    crate::messages::required(self.topics.as_ref(), "OffsetFetchRequest", "topics", version)?;
                enc.array(value, flexible, "OffsetFetchRequest.topics", |enc, value| {
                    value.write(enc, version)
                })?;
            }
        } else if self.topics.as_ref().is_none_or(|value| !value.is_empty()) {
            return Err(EncodeError::UnsupportedField {
                message: "OffsetFetchRequest",
                field: "topics",
                version,
            });
        }
        if version >= 8 {
            enc.array(&self.groups, flexible, "OffsetFetchRequest.groups", |enc, value| {
                value.write(enc, version)
            })?;
        } else if !self.groups.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "OffsetFetchRequest",
                field: "groups",
                version,
            });
        }
        if version >= 7 {
            enc.bool(self.require_stable);
        } else if self.require_stable {
            return Err(EncodeError::UnsupportedField {
                message: "OffsetFetchRequest",
                field: "require_stable",
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
        let flexible = version >= 6;
        let out = Self {
            group_id: if version <= 7 {
                dec.string(flexible, "OffsetFetchRequest.group_id")?
            } else {
                String::new()
            },
            topics: if version <= 7 {
                if version >= 2 {
                    dec.nullable_array(flexible, 3, "OffsetFetchRequest.topics", |dec| {
                        OffsetFetchRequestTopic::read(dec, version)
                    })?
                } else {
                    Some(dec.array(flexible, 3, "OffsetFetchRequest.topics", |dec| {
                        OffsetFetchRequestTopic::read(dec, version)
                    })?)
                }
            } else {
                Some(Vec::new())
            },
            groups: if version >= 8 {
                dec.array(flexible, 3, "OffsetFetchRequest.groups", |dec| {
                    OffsetFetchRequestGroup::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            require_stable: if version >= 7 { dec.bool("OffsetFetchRequest.require_stable")? } else { false },
        };
        if flexible {
            dec.skip_tagged_fields("OffsetFetchRequest")?;
        }
        Ok(out)
    }
}

impl Request for OffsetFetchRequest {
    const API_KEY: ApiKey = ApiKey::OffsetFetch;
    type Response = super::OffsetFetchResponse;
}

/// `OffsetFetchRequestTopic` in a `OffsetFetchRequest`, versions 1-7.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OffsetFetchRequestTopic {
    /// `Name`: `string`, versions 1-7.
    pub name: String,
    /// `PartitionIndexes`: `[]int32`, versions 1-7.
    pub partition_indexes: Vec<i32>,
}

impl OffsetFetchRequestTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        enc.string(&self.name, flexible, "OffsetFetchRequest.OffsetFetchRequestTopic.name")?;
        enc.array(
            &self.partition_indexes,
            flexible,
            "OffsetFetchRequest.OffsetFetchRequestTopic.partition_indexes",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let out = Self {
            name: dec.string(flexible, "OffsetFetchRequest.OffsetFetchRequestTopic.name")?,
            partition_indexes: dec.array(
                flexible,
                4,
                "OffsetFetchRequest.OffsetFetchRequestTopic.partition_indexes",
                |dec| dec.i32("OffsetFetchRequest.OffsetFetchRequestTopic.partition_indexes"),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("OffsetFetchRequest.OffsetFetchRequestTopic")?;
        }
        Ok(out)
    }
}

/// `OffsetFetchRequestGroup` in a `OffsetFetchRequest`, versions 8-10.
#[derive(Debug, Clone, PartialEq)]
pub struct OffsetFetchRequestGroup {
    /// `GroupId`: `string`, versions 8-10.
    pub group_id: String,
    /// `MemberId`: `string`, versions 9-10, nullable; null by default.
    pub member_id: Option<String>,
    /// `MemberEpoch`: `int32`, versions 9-10; -1 by default.
    pub member_epoch: i32,
    /// `Topics`: `[]OffsetFetchRequestTopics`, versions 8-10, nullable.
    pub topics: Option<Vec<OffsetFetchRequestTopics>>,
}

impl Default for OffsetFetchRequestGroup {
    fn default() -> Self {
        Self { group_id: String::new(), member_id: None, member_epoch: -1, topics: Some(Vec::new()) }
    }
}

impl OffsetFetchRequestGroup {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.string(&self.group_id, true, "OffsetFetchRequest.OffsetFetchRequestGroup.group_id")?;
        if version >= 9 {
            enc.nullable_string(
                self.member_id.as_deref(),
                true,
                "OffsetFetchRequest.OffsetFetchRequestGroup.member_id",
            )?;
        }
        if version >= 9 {
            enc.i32(self.member_epoch);
        }
        enc.nullable_array(
            self.topics.as_deref(),
            true,
            "OffsetFetchRequest.OffsetFetchRequestGroup.topics",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            group_id: dec.string(true, "OffsetFetchRequest.OffsetFetchRequestGroup.group_id")?,
            member_id: if version >= 9 {
                dec.nullable_string(true, "OffsetFetchRequest.OffsetFetchRequestGroup.member_id")?
            } else {
                None
            },
            member_epoch: if version >= 9 {
                dec.i32("OffsetFetchRequest.OffsetFetchRequestGroup.member_epoch")?
            } else {
                -1
            },
            topics: dec.nullable_array(
                true,
                3,
                "OffsetFetchRequest.OffsetFetchRequestGroup.topics",
                |dec| OffsetFetchRequestTopics::read(dec, version),
            )?,
        };
        dec.skip_tagged_fields("OffsetFetchRequest.OffsetFetchRequestGroup")?;

        Ok(out)
    }
}

/// `OffsetFetchRequestTopics` in a `OffsetFetchRequest`, versions 8-10.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OffsetFetchRequestTopics {
    /// `Name`: `string`, versions 8-9.
    pub name: String,
    /// `TopicId`: `uuid`, versions 10.
    pub topic_id: Uuid,
    /// `PartitionIndexes`: `[]int32`, versions 8-10.
    pub partition_indexes: Vec<i32>,
}

impl OffsetFetchRequestTopics {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        if version <= 9 {
            enc.string(&self.name, true, "OffsetFetchRequest.OffsetFetchRequestTopics.name")?;
        }
        if version == 10 {
            enc.uuid(self.topic_id);
        }
        enc.array(
            &self.partition_indexes,
            true,
            "OffsetFetchRequest.OffsetFetchRequestTopics.partition_indexes",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            name: if version <= 9 {
                dec.string(true, "OffsetFetchRequest.OffsetFetchRequestTopics.name")?
            } else {
                String::new()
            },
            topic_id: if version == 10 {
                dec.uuid("OffsetFetchRequest.OffsetFetchRequestTopics.topic_id")?
            } else {
                Uuid::ZERO
            },
            partition_indexes: dec.array(
                true,
                4,
                "OffsetFetchRequest.OffsetFetchRequestTopics.partition_indexes",
                |dec| dec.i32("OffsetFetchRequest.OffsetFetchRequestTopics.partition_indexes"),
            )?,
        };
        dec.skip_tagged_fields("OffsetFetchRequest.OffsetFetchRequestTopics")?;

        Ok(out)
    }
}
