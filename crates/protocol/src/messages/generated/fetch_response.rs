// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use bytes::Bytes;

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, Uuid, VersionRange};

/// `FetchResponse` (API key 1), versions 4-18.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FetchResponse {
    /// `ThrottleTimeMs`: `int32`, versions 4-18.
    pub throttle_time_ms: i32,
    /// `ErrorCode`: `int16`, versions 7-18.
    pub error_code: ErrorCode,
    /// `SessionId`: `int32`, versions 7-18.
    pub session_id: i32,
    /// `Responses`: `[]FetchableTopicResponse`, versions 4-18.
    pub responses: Vec<FetchableTopicResponse>,
    /// `NodeEndpoints`: `[]NodeEndpoint`, versions 16-18, tag 0.
    pub node_endpoints: Vec<NodeEndpoint>,
}

impl Message for FetchResponse {
    const NAME: &'static str = "FetchResponse";
    const VERSIONS: VersionRange = VersionRange::new(4, 18);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 12;
        enc.i32(self.throttle_time_ms);
        if version >= 7 {
            enc.i16(self.error_code.0);
        }
        if version >= 7 {
            enc.i32(self.session_id);
        } else if self.session_id != 0 {
            return Err(EncodeError::UnsupportedField {
                message: "FetchResponse",
                field: "session_id",
                version,
            });
        }
        enc.array(&self.responses, flexible, "FetchResponse.responses", |enc, value| {
            value.write(enc, version)
        })?;
        if version < 16 && !self.node_endpoints.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "FetchResponse",
                field: "node_endpoints",
                version,
            });
        }
        if flexible {
            enc.unsigned_varint(u32::from(version >= 16 && !self.node_endpoints.is_empty()));
            if version >= 16 && !self.node_endpoints.is_empty() {
                enc.tagged_field(0, "FetchResponse.node_endpoints", |enc| {
                    enc.array(&self.node_endpoints, true, "FetchResponse.node_endpoints", |enc, value| {
                        value.write(enc, version)
                    })?;
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
            throttle_time_ms: dec.i32("FetchResponse.throttle_time_ms")?,
            error_code: if version >= 7 {
                dec.i16("FetchResponse.error_code").map(ErrorCode)?
            } else {
                ErrorCode::NONE
            },
            session_id: if version >= 7 { dec.i32("FetchResponse.session_id")? } else { 0 },
            responses: dec.array(flexible, 3, "FetchResponse.responses", |dec| {
                FetchableTopicResponse::read(dec, version)
            })?,
            node_endpoints: Vec::new(),
        };
        if flexible {
            dec.tagged_fields("FetchResponse", |tag, dec| {
                match tag {
                    0 if version >= 16 => {
                        out.node_endpoints = dec.array(true, 11, "FetchResponse.node_endpoints", |dec| {
                            NodeEndpoint::read(dec, version)
                        })?;
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(out)
    }
}

/// `FetchableTopicResponse` in a `FetchResponse`, versions 4-18.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FetchableTopicResponse {
    /// `Topic`: `string`, versions 4-12.
    pub topic: String,
    /// `TopicId`: `uuid`, versions 13-18.
    pub topic_id: Uuid,
    /// `Partitions`: `[]PartitionData`, versions 4-18.
    pub partitions: Vec<PartitionData>,
}

impl FetchableTopicResponse {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 12;
        if version <= 12 {
            enc.string(&self.topic, flexible, "FetchResponse.FetchableTopicResponse.topic")?;
        }
        if version >= 13 {
            enc.uuid(self.topic_id);
        }
        enc.array(
            &self.partitions,
            flexible,
            "FetchResponse.FetchableTopicResponse.partitions",
            |enc, value| value.write(enc, version),
        )?;
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 12;
        let out = Self {
            topic: if version <= 12 {
                dec.string(flexible, "FetchResponse.FetchableTopicResponse.topic")?
            } else {
                String::new()
            },
            topic_id: if version >= 13 {
                dec.uuid("FetchResponse.FetchableTopicResponse.topic_id")?
            } else {
                Uuid::ZERO
            },
            partitions: dec.array(
                flexible,
                30,
                "FetchResponse.FetchableTopicResponse.partitions",
                |dec| PartitionData::read(dec, version),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("FetchResponse.FetchableTopicResponse")?;
        }
        Ok(out)
    }
}

/// `PartitionData` in a `FetchResponse`, versions 4-18.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionData {
    /// `PartitionIndex`: `int32`, versions 4-18.
    pub partition_index: i32,
    /// `ErrorCode`: `int16`, versions 4-18.
    pub error_code: ErrorCode,
    /// `HighWatermark`: `int64`, versions 4-18.
    pub high_watermark: i64,
    /// `LastStableOffset`: `int64`, versions 4-18; -1 by default.
    pub last_stable_offset: i64,
    /// `LogStartOffset`: `int64`, versions 5-18; -1 by default.
    pub log_start_offset: i64,
    /// `DivergingEpoch`: `EpochEndOffset`, versions 12-18, tag 0.
    pub diverging_epoch: EpochEndOffset,
    /// `CurrentLeader`: `LeaderIdAndEpoch`, versions 12-18, tag 1.
    pub current_leader: LeaderIdAndEpoch,
    /// `SnapshotId`: `SnapshotId`, versions 12-18, tag 2.
    pub snapshot_id: SnapshotId,
    /// `AbortedTransactions`: `[]AbortedTransaction`, versions 4-18, nullable.
    pub aborted_transactions: Option<Vec<AbortedTransaction>>,
    /// `PreferredReadReplica`: `int32`, versions 11-18; -1 by default.
    pub preferred_read_replica: i32,
    /// `Records`: `records`, versions 4-18, nullable; null by default.
    pub records: Option<Bytes>,
}

impl Default for PartitionData {
    fn default() -> Self {
        Self {
            partition_index: 0,
            error_code: ErrorCode::NONE,
            high_watermark: 0,
            last_stable_offset: -1,
            log_start_offset: -1,
            diverging_epoch: EpochEndOffset::default(),
            current_leader: LeaderIdAndEpoch::default(),
            snapshot_id: SnapshotId::default(),
            aborted_transactions: Some(Vec::new()),
            preferred_read_replica: -1,
            records: None,
        }
    }
}

impl PartitionData {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 12;
        enc.i32(self.partition_index);
        enc.i16(self.error_code.0);
        enc.i64(self.high_watermark);
        enc.i64(self.last_stable_offset);
        if version >= 5 {
            enc.i64(self.log_start_offset);
        }
        if version < 12 && self.diverging_epoch != EpochEndOffset::default() {
            return Err(EncodeError::UnsupportedField {
                message: "FetchResponse",
                field: "PartitionData.diverging_epoch",
                version,
            });
        }
        if version < 12 && self.current_leader != LeaderIdAndEpoch::default() {
            return Err(EncodeError::UnsupportedField {
                message: "FetchResponse",
                field: "PartitionData.current_leader",
                version,
            });
        }
        if version < 12 && self.snapshot_id != SnapshotId::default() {
            return Err(EncodeError::UnsupportedField {
                message: "FetchResponse",
                field: "PartitionData.snapshot_id",
                version,
            });
        }
        enc.nullable_array(
            self.aborted_transactions.as_deref(),
            flexible,
            "FetchResponse.PartitionData.aborted_transactions",
            |enc, value| value.write(enc, version),
        )?;
        if version >= 11 {
            enc.i32(self.preferred_read_replica);
        } else if self.preferred_read_replica != -1 {
            return Err(EncodeError::UnsupportedField {
                message: "FetchResponse",
                field: "PartitionData.preferred_read_replica",
                version,
            });
        }
        enc.nullable_bytes(self.records.as_ref(), flexible, "FetchResponse.PartitionData.records")?;
        if flexible {
            enc.unsigned_varint(
                u32::from(self.diverging_epoch != EpochEndOffset::default())
                    + u32::from(self.current_leader != LeaderIdAndEpoch::default())
                    + u32::from(self.snapshot_id != SnapshotId::default()),
            );
            if self.diverging_epoch != EpochEndOffset::default() {
                enc.tagged_field(0, "FetchResponse.PartitionData.diverging_epoch", |enc| {
                    self.diverging_epoch.write(enc, version)?;
                    Ok(())
                })?;
            }
            if self.current_leader != LeaderIdAndEpoch::default() {
                enc.tagged_field(1, "FetchResponse.PartitionData.current_leader", |enc| {
                    self.current_leader.write(enc, version)?;
                    Ok(())
                })?;
            }
            if self.snapshot_id != SnapshotId::default() {
                enc.tagged_field(2, "FetchResponse.PartitionData.snapshot_id", |enc| {
                    self.snapshot_id.write(enc, version)?;
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 12;
        let mut out = Self {
            partition_index: dec.i32("FetchResponse.PartitionData.partition_index")?,
            error_code: dec.i16("FetchResponse.PartitionData.error_code").map(ErrorCode)?,
            high_watermark: dec.i64("FetchResponse.PartitionData.high_watermark")?,
            last_stable_offset: dec.i64("FetchResponse.PartitionData.last_stable_offset")?,
            log_start_offset: if version >= 5 {
                dec.i64("FetchResponse.PartitionData.log_start_offset")?
            } else {
                -1
            },
            diverging_epoch: EpochEndOffset::default(),
            current_leader: LeaderIdAndEpoch::default(),
            snapshot_id: SnapshotId::default(),
            aborted_transactions: dec.nullable_array(
                flexible,
                16,
                "FetchResponse.PartitionData.aborted_transactions",
                |dec| AbortedTransaction::read(dec, version),
            )?,
            preferred_read_replica: if version >= 11 {
                dec.i32("FetchResponse.PartitionData.preferred_read_replica")?
            } else {
                -1
            },
            records: dec.nullable_bytes(flexible, "FetchResponse.PartitionData.records")?,
        };
        if flexible {
            dec.tagged_fields("FetchResponse.PartitionData", |tag, dec| {
                match tag {
                    0 => {
                        out.diverging_epoch = EpochEndOffset::read(dec, version)?;
                    }
                    1 => {
                        out.current_leader = LeaderIdAndEpoch::read(dec, version)?;
                    }
                    2 => {
                        out.snapshot_id = SnapshotId::read(dec, version)?;
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(out)
    }
}

/// `EpochEndOffset` in a `FetchResponse`, versions 12-18.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochEndOffset {
    /// `Epoch`: `int32`, versions 12-18; -1 by default.
    pub epoch: i32,
    /// `EndOffset`: `int64`, versions 12-18; -1 by default.
    pub end_offset: i64,
}

impl Default for EpochEndOffset {
    fn default() -> Self {
        Self { epoch: -1, end_offset: -1 }
    }
}

impl EpochEndOffset {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i32(self.epoch);
        enc.i64(self.end_offset);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            epoch: dec.i32("FetchResponse.EpochEndOffset.epoch")?,
            end_offset: dec.i64("FetchResponse.EpochEndOffset.end_offset")?,
        };
        dec.skip_tagged_fields("FetchResponse.EpochEndOffset")?;

        Ok(out)
    }
}

/// `LeaderIdAndEpoch` in a `FetchResponse`, versions 12-18.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaderIdAndEpoch {
    /// `LeaderId`: `int32`, versions 12-18; -1 by default.
    pub leader_id: i32,
    /// `LeaderEpoch`: `int32`, versions 12-18; -1 by default.
    pub leader_epoch: i32,
}

impl Default for LeaderIdAndEpoch {
    fn default() -> Self {
        Self { leader_id: -1, leader_epoch: -1 }
    }
}

impl LeaderIdAndEpoch {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i32(self.leader_id);
        enc.i32(self.leader_epoch);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            leader_id: dec.i32("FetchResponse.LeaderIdAndEpoch.leader_id")?,
            leader_epoch: dec.i32("FetchResponse.LeaderIdAndEpoch.leader_epoch")?,
        };
        dec.skip_tagged_fields("FetchResponse.LeaderIdAndEpoch")?;

        Ok(out)
    }
}

/// `SnapshotId` in a `FetchResponse`, versions 12-18.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotId {
    /// `EndOffset`: `int64`, versions 12-18; -1 by default.
    pub end_offset: i64,
    /// `Epoch`: `int32`, versions 12-18; -1 by default.
    pub epoch: i32,
}

impl Default for SnapshotId {
    fn default() -> Self {
        Self { end_offset: -1, epoch: -1 }
    }
}

impl SnapshotId {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i64(self.end_offset);
        enc.i32(self.epoch);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            end_offset: dec.i64("FetchResponse.SnapshotId.end_offset")?,
            epoch: dec.i32("FetchResponse.SnapshotId.epoch")?,
        };
        dec.skip_tagged_fields("FetchResponse.SnapshotId")?;

        Ok(out)
    }
}

/// `AbortedTransaction` in a `FetchResponse`, versions 4-18.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AbortedTransaction {
    /// `ProducerId`: `int64`, versions 4-18.
    pub producer_id: i64,
    /// `FirstOffset`: `int64`, versions 4-18.
    pub first_offset: i64,
}

impl AbortedTransaction {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 12;
        enc.i64(self.producer_id);
        enc.i64(self.first_offset);
        if flexible {
            enc.unsigned_varint(0);
        }
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 12;
        let out = Self {
            producer_id: dec.i64("FetchResponse.AbortedTransaction.producer_id")?,
            first_offset: dec.i64("FetchResponse.AbortedTransaction.first_offset")?,
        };
        if flexible {
            dec.skip_tagged_fields("FetchResponse.AbortedTransaction")?;
        }
        Ok(out)
    }
}

/// `NodeEndpoint` in a `FetchResponse`, versions 16-18.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodeEndpoint {
    /// `NodeId`: `int32`, versions 16-18.
    pub node_id: i32,
    /// `Host`: `string`, versions 16-18.
    pub host: String,
    /// `Port`: `int32`, versions 16-18.
    pub port: i32,
    /// `Rack`: `string`, versions 16-18, nullable; null by default.
    pub rack: Option<String>,
}

impl NodeEndpoint {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i32(self.node_id);
        enc.string(&self.host, true, "FetchResponse.NodeEndpoint.host")?;
        enc.i32(self.port);
        enc.nullable_string(self.rack.as_deref(), true, "FetchResponse.NodeEndpoint.rack")?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            node_id: dec.i32("FetchResponse.NodeEndpoint.node_id")?,
            host: dec.string(true, "FetchResponse.NodeEndpoint.host")?,
            port: dec.i32("FetchResponse.NodeEndpoint.port")?,
            rack: dec.nullable_string(true, "FetchResponse.NodeEndpoint.rack")?,
        };
        dec.skip_tagged_fields("FetchResponse.NodeEndpoint")?;

        Ok(out)
    }
}
