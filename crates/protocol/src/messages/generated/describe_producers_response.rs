// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `DescribeProducersResponse` (API key 61), versions 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DescribeProducersResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0.
    pub throttle_time_ms: i32,
    /// `Topics`: `[]TopicResponse`, versions 0.
    pub topics: Vec<TopicResponse>,
}

impl Message for DescribeProducersResponse {
    const NAME: &'static str = "DescribeProducersResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.i32(self.throttle_time_ms);
        enc.array(&self.topics, true, "DescribeProducersResponse.topics", |enc, value| {
            value.write(enc, version)
        })?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            throttle_time_ms: dec.i32("DescribeProducersResponse.throttle_time_ms")?,
            topics: dec.array(true, 3, "DescribeProducersResponse.topics", |dec| {
                TopicResponse::read(dec, version)
            })?,
        };
        dec.skip_tagged_fields("DescribeProducersResponse")?;

        Ok(out)
    }
}

/// `TopicResponse` in a `DescribeProducersResponse`, versions 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TopicResponse {
    /// `Name`: `string`, versions 0.
    pub name: String,
    /// `Partitions`: `[]PartitionResponse`, versions 0.
    pub partitions: Vec<PartitionResponse>,
}

impl TopicResponse {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.string(&self.name, true, "DescribeProducersResponse.TopicResponse.name")?;
        enc.array(
            &self.partitions,
            true,
            "DescribeProducersResponse.TopicResponse.partitions",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            name: dec.string(true, "DescribeProducersResponse.TopicResponse.name")?,
            partitions: dec.array(true, 9, "DescribeProducersResponse.TopicResponse.partitions", |dec| {
                PartitionResponse::read(dec, version)
            })?,
        };
        dec.skip_tagged_fields("DescribeProducersResponse.TopicResponse")?;

        Ok(out)
    }
}

/// `PartitionResponse` in a `DescribeProducersResponse`, versions 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PartitionResponse {
    /// `PartitionIndex`: `int32`, versions 0.
    pub partition_index: i32,
    /// `ErrorCode`: `int16`, versions 0.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 0, nullable; null by default.
    pub error_message: Option<String>,
    /// `ActiveProducers`: `[]ProducerState`, versions 0.
    pub active_producers: Vec<ProducerState>,
}

impl PartitionResponse {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.i32(self.partition_index);
        enc.i16(self.error_code.0);
        enc.nullable_string(
            self.error_message.as_deref(),
            true,
            "DescribeProducersResponse.PartitionResponse.error_message",
        )?;
        enc.array(
            &self.active_producers,
            true,
            "DescribeProducersResponse.PartitionResponse.active_producers",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            partition_index: dec.i32("DescribeProducersResponse.PartitionResponse.partition_index")?,
            error_code: dec.i16("DescribeProducersResponse.PartitionResponse.error_code").map(ErrorCode)?,
            error_message: dec
                .nullable_string(true, "DescribeProducersResponse.PartitionResponse.error_message")?,
            active_producers: dec.array(
                true,
                37,
                "DescribeProducersResponse.PartitionResponse.active_producers",
                |dec| ProducerState::read(dec, version),
            )?,
        };
        dec.skip_tagged_fields("DescribeProducersResponse.PartitionResponse")?;

        Ok(out)
    }
}

/// `ProducerState` in a `DescribeProducersResponse`, versions 0.
#[derive(Debug, Clone, PartialEq)]
pub struct ProducerState {
    /// `ProducerId`: `int64`, versions 0.
    pub producer_id: i64,
    /// `ProducerEpoch`: `int32`, versions 0.
    pub producer_epoch: i32,
    /// `LastSequence`: `int32`, versions 0; -1 by default.
    pub last_sequence: i32,
    /// `LastTimestamp`: `int64`, versions 0; -1 by default.
    pub last_timestamp: i64,
    /// `CoordinatorEpoch`: `int32`, versions 0.
    pub coordinator_epoch: i32,
    /// `CurrentTxnStartOffset`: `int64`, versions 0; -1 by default.
    pub current_txn_start_offset: i64,
}

impl Default for ProducerState {
    fn default() -> Self {
        Self {
            producer_id: 0,
            producer_epoch: 0,
            last_sequence: -1,
            last_timestamp: -1,
            coordinator_epoch: 0,
            current_txn_start_offset: -1,
        }
    }
}

impl ProducerState {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i64(self.producer_id);
        enc.i32(self.producer_epoch);
        enc.i32(self.last_sequence);
        enc.i64(self.last_timestamp);
        enc.i32(self.coordinator_epoch);
        enc.i64(self.current_txn_start_offset);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            producer_id: dec.i64("DescribeProducersResponse.ProducerState.producer_id")?,
            producer_epoch: dec.i32("DescribeProducersResponse.ProducerState.producer_epoch")?,
            last_sequence: dec.i32("DescribeProducersResponse.ProducerState.last_sequence")?,
            last_timestamp: dec.i64("DescribeProducersResponse.ProducerState.last_timestamp")?,
            coordinator_epoch: dec.i32("DescribeProducersResponse.ProducerState.coordinator_epoch")?,
            current_txn_start_offset: dec
                .i64("DescribeProducersResponse.ProducerState.current_txn_start_offset")?,
        };
        dec.skip_tagged_fields("DescribeProducersResponse.ProducerState")?;

        Ok(out)
    }
}
