// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, Uuid, VersionRange};

/// `FetchRequest` (API key 1), versions 4-18.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchRequest {
    /// `ClusterId`: `string`, versions 12-18, tag 0, nullable; null by default.
    pub cluster_id: Option<String>,
    /// `ReplicaId`: `int32`, versions 4-14; -1 by default.
    pub replica_id: i32,
    /// `ReplicaState`: `ReplicaState`, versions 15-18, tag 1.
    pub replica_state: ReplicaState,
    /// `MaxWaitMs`: `int32`, versions 4-18.
    pub max_wait_ms: i32,
    /// `MinBytes`: `int32`, versions 4-18.
    pub min_bytes: i32,
    /// `MaxBytes`: `int32`, versions 4-18; i32::MAX by default.
    pub max_bytes: i32,
    /// `IsolationLevel`: `int8`, versions 4-18.
    pub isolation_level: i8,
    /// `SessionId`: `int32`, versions 7-18.
    pub session_id: i32,
    /// `SessionEpoch`: `int32`, versions 7-18; -1 by default.
    pub session_epoch: i32,
    /// `Topics`: `[]FetchTopic`, versions 4-18.
    pub topics: Vec<FetchTopic>,
    /// `ForgottenTopicsData`: `[]ForgottenTopic`, versions 7-18.
    pub forgotten_topics_data: Vec<ForgottenTopic>,
    /// `RackId`: `string`, versions 11-18.
    pub rack_id: String,
}

impl Default for FetchRequest {
    fn default() -> Self {
        Self {
            cluster_id: None,
            replica_id: -1,
            replica_state: ReplicaState::default(),
            max_wait_ms: 0,
            min_bytes: 0,
            max_bytes: i32::MAX,
            isolation_level: 0,
            session_id: 0,
            session_epoch: -1,
            topics: Vec::new(),
            forgotten_topics_data: Vec::new(),
            rack_id: String::new(),
        }
    }
}

impl Message for FetchRequest {
    const NAME: &'static str = "FetchRequest";
    const VERSIONS: VersionRange = VersionRange::new(4, 18);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 12;
        if version <= 14 {
            enc.i32(self.replica_id);
        } else if self.replica_id != -1 {
            return Err(EncodeError::UnsupportedField {
                message: "FetchRequest",
                field: "replica_id",
                version,
            });
        }
        if version < 15 && self.replica_state != ReplicaState::default() {
            return Err(EncodeError::UnsupportedField {
                message: "FetchRequest",
                field: "replica_state",
                version,
            });
        }
        enc.i32(self.max_wait_ms);
        enc.i32(self.min_bytes);
        enc.i32(self.max_bytes);
        enc.i8(self.isolation_level);
        if version >= 7 {
            enc.i32(self.session_id);
        }
        if version >= 7 {
            enc.i32(self.session_epoch);
        }
        enc.array(&self.topics, flexible, "FetchRequest.topics", |enc, value| value.write(enc, version))?;
        if version >= 7 {
            enc.array(
                &self.forgotten_topics_data,
                flexible,
                "FetchRequest.forgotten_topics_data",
                |enc, value| value.write(enc, version),
            )?;
        } else if !self.forgotten_topics_data.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "FetchRequest",
                field: "forgotten_topics_data",
                version,
            });
        }
        if version >= 11 {
            enc.string(&self.rack_id, flexible, "FetchRequest.rack_id")?;
        }
        if flexible {
            enc.unsigned_varint(
                u32::from(self.cluster_id.is_some())
                    + u32::from(version >= 15 && self.replica_state != ReplicaState::default()),
            );
            if self.cluster_id.is_some() {
                enc.tagged_field(0, "FetchRequest.cluster_id", |enc| {
                    enc.nullable_string(self.cluster_id.as_deref(), true, "FetchRequest.cluster_id")?;
                    Ok(())
                })?;
            }
            if version >= 15 && self.replica_state != ReplicaState::default() {
                enc.tagged_field(1, "FetchRequest.replica_state", |enc| {
                    self.replica_state.write(enc, version)?;
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let flexible = version >= 12;
        let mut out = Self {
            cluster_id: None,
            replica_id: if version <= 14 { dec.i32("FetchRequest.replica_id")? } else { -1 },
            replica_state: ReplicaState::default(),
            max_wait_ms: dec.i32("FetchRequest.max_wait_ms")?,
            min_bytes: dec.i32("FetchRequest.min_bytes")?,
            max_bytes: dec.i32("FetchRequest.max_bytes")?,
            isolation_level: dec.i8("FetchRequest.isolation_level")?,
            session_id: if version >= 7 { dec.i32("FetchRequest.session_id")? } else { 0 },
            session_epoch: if version >= 7 { dec.i32("FetchRequest.session_epoch")? } else { -1 },
            topics: dec.array(flexible, 3, "FetchRequest.topics", |dec| FetchTopic::read(dec, version))?,
            forgotten_topics_data: if version >= 7 {
                dec.array(flexible, 3, "FetchRequest.forgotten_topics_data", |dec| {
                    ForgottenTopic::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            rack_id: if version >= 11 {
                dec.string(flexible, "FetchRequest.rack_id")?
            } else {
                String::new()
            },
        };
        if flexible {
            dec.tagged_fields("FetchRequest", |tag, dec| {
                match tag {
                    0 => {
                        out.cluster_id = dec.nullable_string(true, "FetchRequest.cluster_id")?;
                    }
                    1 if version >= 15 => {
                        out.replica_state = ReplicaState::read(dec, version)?;
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(out)
    }
}

impl Request for FetchRequest {
    const API_KEY: ApiKey = ApiKey::Fetch;
    type Response = super::FetchResponse;
}

/// `ReplicaState` in a `FetchRequest`, versions 15-18.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplicaState {
    /// `ReplicaId`: `int32`, versions 15-18; -1 by default.
    pub replica_id: i32,
    /// `ReplicaEpoch`: `int64`, versions 15-18; -1 by default.
    pub replica_epoch: i64,
}

impl Default for ReplicaState {
    fn default() -> Self {
        Self { replica_id: -1, replica_epoch: -1 }
    }
}

impl ReplicaState {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i32(self.replica_id);
        enc.i64(self.replica_epoch);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            replica_id: dec.i32("FetchRequest.ReplicaState.replica_id")?,
            replica_epoch: dec.i64("FetchRequest.ReplicaState.replica_epoch")?,
        };
        dec.skip_tagged_fields("FetchRequest.ReplicaState")?;

        Ok(out)
    }
}

/// `FetchTopic` in a `FetchRequest`, versions 4-18.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FetchTopic {
    /// `Topic`: `string`, versions 4-12.
    pub topic: String,
    /// `TopicId`: `uuid`, versions 13-18.
    pub topic_id: Uuid,
    /// `Partitions`: `[]FetchPartition`, versions 4-18.
    pub partitions: Vec<FetchPartition>,
}

impl FetchTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 12;
        if version <= 12 {
            enc.string(&self.topic, flexible, "FetchRequest.FetchTopic.topic")?;
        }
        if version >= 13 {
            enc.uuid(self.topic_id);
        }
        enc.array(&self.partitions, flexible, "FetchRequest.FetchTopic.partitions", |enc, value| {
            value.write(enc, version)
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 12;
        let out = Self {
            topic: if version <= 12 {
                dec.string(flexible, "FetchRequest.FetchTopic.topic")?
            } else {
                String::new()
            },
            topic_id: if version >= 13 { dec.uuid("FetchRequest.FetchTopic.topic_id")? } else { Uuid::ZERO },
            partitions: dec.array(flexible, 16, "FetchRequest.FetchTopic.partitions", |dec| {
                FetchPartition::read(dec, version)
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("FetchRequest.FetchTopic")?;
        }
        Ok(out)
    }
}

/// `FetchPartition` in a `FetchRequest`, versions 4-18.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchPartition {
    /// `Partition`: `int32`, versions 4-18.
    pub partition: i32,
    /// `CurrentLeaderEpoch`: `int32`, versions 9-18; -1 by default.
    pub current_leader_epoch: i32,
    /// `FetchOffset`: `int64`, versions 4-18.
    pub fetch_offset: i64,
    /// `LastFetchedEpoch`: `int32`, versions 12-18; -1 by default.
    pub last_fetched_epoch: i32,
    /// `LogStartOffset`: `int64`, versions 5-18; -1 by default.
    pub log_start_offset: i64,
    /// `PartitionMaxBytes`: `int32`, versions 4-18.
    pub partition_max_bytes: i32,
    /// `ReplicaDirectoryId`: `uuid`, versions 17-18, tag 0.
    pub replica_directory_id: Uuid,
    /// `HighWatermark`: `int64`, versions 18, tag 1; i64::MAX by default.
    pub high_watermark: i64,
}

impl Default for FetchPartition {
    fn default() -> Self {
        Self {
            partition: 0,
            current_leader_epoch: -1,
            fetch_offset: 0,
            last_fetched_epoch: -1,
            log_start_offset: -1,
            partition_max_bytes: 0,
            replica_directory_id: Uuid::ZERO,
            high_watermark: i64::MAX,
        }
    }
}

impl FetchPartition {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 12;
        enc.i32(self.partition);
        if version >= 9 {
            enc.i32(self.current_leader_epoch);
        }
        enc.i64(self.fetch_offset);
        if version >= 12 {
            enc.i32(self.last_fetched_epoch);
        } else if self.last_fetched_epoch != -1 {
            return Err(EncodeError::UnsupportedField {
                message: "FetchRequest",
                field: "FetchPartition.last_fetched_epoch",
                version,
            });
        }
        if version >= 5 {
            enc.i64(self.log_start_offset);
        }
        enc.i32(self.partition_max_bytes);
        if flexible {
            enc.unsigned_varint(
                u32::from(version >= 17 && self.replica_directory_id != Uuid::ZERO)
                    + u32::from(version == 18 && self.high_watermark != i64::MAX),
            );
            if version >= 17 && self.replica_directory_id != Uuid::ZERO {
                enc.tagged_field(0, "FetchRequest.FetchPartition.replica_directory_id", |enc| {
                    enc.uuid(self.replica_directory_id);
                    Ok(())
                })?;
            }
            if version == 18 && self.high_watermark != i64::MAX {
                enc.tagged_field(1, "FetchRequest.FetchPartition.high_watermark", |enc| {
                    enc.i64(self.high_watermark);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 12;
        let mut out = Self {
            partition: dec.i32("FetchRequest.FetchPartition.partition")?,
            current_leader_epoch: if version >= 9 {
                dec.i32("FetchRequest.FetchPartition.current_leader_epoch")?
            } else {
                -1
            },
            fetch_offset: dec.i64("FetchRequest.FetchPartition.fetch_offset")?,
            last_fetched_epoch: if version >= 12 {
                dec.i32("FetchRequest.FetchPartition.last_fetched_epoch")?
            } else {
                -1
            },
            log_start_offset: if version >= 5 {
                dec.i64("FetchRequest.FetchPartition.log_start_offset")?
            } else {
                -1
            },
            partition_max_bytes: dec.i32("FetchRequest.FetchPartition.partition_max_bytes")?,
            replica_directory_id: Uuid::ZERO,
            high_watermark: i64::MAX,
        };
        if flexible {
            dec.tagged_fields("FetchRequest.FetchPartition", |tag, dec| {
                match tag {
                    0 if version >= 17 => {
                        out.replica_directory_id =
                            dec.uuid("FetchRequest.FetchPartition.replica_directory_id")?;
                    }
                    1 if version == 18 => {
                        out.high_watermark = dec.i64("FetchRequest.FetchPartition.high_watermark")?;
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(out)
    }
}

/// `ForgottenTopic` in a `FetchRequest`, versions 7-18.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForgottenTopic {
    /// `Topic`: `string`, versions 7-12.
    pub topic: String,
    /// `TopicId`: `uuid`, versions 13-18.
    pub topic_id: Uuid,
    /// `Partitions`: `[]int32`, versions 7-18.
    pub partitions: Vec<i32>,
}

impl ForgottenTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 12;
        if version <= 12 {
            enc.string(&self.topic, flexible, "FetchRequest.ForgottenTopic.topic")?;
        }
        if version >= 13 {
            enc.uuid(self.topic_id);
        }
        enc.array(&self.partitions, flexible, "FetchRequest.ForgottenTopic.partitions", |enc, value| {
            enc.i32(*value);
            Ok(())
        })?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 12;
        let out = Self {
            topic: if version <= 12 {
                dec.string(flexible, "FetchRequest.ForgottenTopic.topic")?
            } else {
                String::new()
            },
            topic_id: if version >= 13 {
                dec.uuid("FetchRequest.ForgottenTopic.topic_id")?
            } else {
                Uuid::ZERO
            },
            partitions: dec.array(flexible, 4, "FetchRequest.ForgottenTopic.partitions", |dec| {
                dec.i32("FetchRequest.ForgottenTopic.partitions")
            })?,
        };
        if flexible {
            dec.skip_tagged_fields("FetchRequest.ForgottenTopic")?;
        }
        Ok(out)
    }
}
