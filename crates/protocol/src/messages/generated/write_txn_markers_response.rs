// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, VersionRange};

/// `WriteTxnMarkersResponse` (API key 27), versions 1-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WriteTxnMarkersResponse {
    /// `Markers`: `[]WritableTxnMarkerResult`, versions 1-2.
    pub markers: Vec<WritableTxnMarkerResult>,
}

impl Message for WriteTxnMarkersResponse {
    const NAME: &'static str = "WriteTxnMarkersResponse";
    const VERSIONS: VersionRange = VersionRange::new(1, 2);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.array(&self.markers, true, "WriteTxnMarkersResponse.markers", |enc, value| {
            value.write(enc, version)
        })?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            markers: dec.array(true, 10, "WriteTxnMarkersResponse.markers", |dec| {
                WritableTxnMarkerResult::read(dec, version)
            })?,
        };
        dec.skip_tagged_fields("WriteTxnMarkersResponse")?;

        Ok(out)
    }
}

/// `WritableTxnMarkerResult` in a `WriteTxnMarkersResponse`, versions 1-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WritableTxnMarkerResult {
    /// `ProducerId`: `int64`, versions 1-2.
    pub producer_id: i64,
    /// `Topics`: `[]WritableTxnMarkerTopicResult`, versions 1-2.
    pub topics: Vec<WritableTxnMarkerTopicResult>,
}

impl WritableTxnMarkerResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.i64(self.producer_id);
        enc.array(
            &self.topics,
            true,
            "WriteTxnMarkersResponse.WritableTxnMarkerResult.topics",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            producer_id: dec.i64("WriteTxnMarkersResponse.WritableTxnMarkerResult.producer_id")?,
            topics: dec.array(true, 3, "WriteTxnMarkersResponse.WritableTxnMarkerResult.topics", |dec| {
                WritableTxnMarkerTopicResult::read(dec, version)
            })?,
        };
        dec.skip_tagged_fields("WriteTxnMarkersResponse.WritableTxnMarkerResult")?;

        Ok(out)
    }
}

/// `WritableTxnMarkerTopicResult` in a `WriteTxnMarkersResponse`, versions 1-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WritableTxnMarkerTopicResult {
    /// `Name`: `string`, versions 1-2.
    pub name: String,
    /// `Partitions`: `[]WritableTxnMarkerPartitionResult`, versions 1-2.
    pub partitions: Vec<WritableTxnMarkerPartitionResult>,
}

impl WritableTxnMarkerTopicResult {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.string(&self.name, true, "WriteTxnMarkersResponse.WritableTxnMarkerTopicResult.name")?;
        enc.array(
            &self.partitions,
            true,
            "WriteTxnMarkersResponse.WritableTxnMarkerTopicResult.partitions",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            name: dec.string(true, "WriteTxnMarkersResponse.WritableTxnMarkerTopicResult.name")?,
            partitions: dec.array(
                true,
                7,
                "WriteTxnMarkersResponse.WritableTxnMarkerTopicResult.partitions",
                |dec| WritableTxnMarkerPartitionResult::read(dec, version),
            )?,
        };
        dec.skip_tagged_fields("WriteTxnMarkersResponse.WritableTxnMarkerTopicResult")?;

        Ok(out)
    }
}

/// `WritableTxnMarkerPartitionResult` in a `WriteTxnMarkersResponse`, versions 1-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WritableTxnMarkerPartitionResult {
    /// `PartitionIndex`: `int32`, versions 1-2.
    pub partition_index: i32,
    /// `ErrorCode`: `int16`, versions 1-2.
    pub error_code: ErrorCode,
}

impl WritableTxnMarkerPartitionResult {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.i32(self.partition_index);
        enc.i16(self.error_code.0);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            partition_index: dec
                .i32("WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult.partition_index")?,
            error_code: dec
                .i16("WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult.error_code")
                .map(ErrorCode)?,
        };
        dec.skip_tagged_fields("WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult")?;

        Ok(out)
    }
}
