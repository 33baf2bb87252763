// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `WriteTxnMarkersRequest` (API key 27), versions 1-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WriteTxnMarkersRequest {
    /// `Markers`: `[]WritableTxnMarker`, versions 1-2.
    pub markers: Vec<WritableTxnMarker>,
}

impl Message for WriteTxnMarkersRequest {
    const NAME: &'static str = "WriteTxnMarkersRequest";
    const VERSIONS: VersionRange = VersionRange::new(1, 2);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.array(&self.markers, true, "WriteTxnMarkersRequest.markers", |enc, value| {
            value.write(enc, version)
        })?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            markers: dec.array(true, 17, "WriteTxnMarkersRequest.markers", |dec| {
                WritableTxnMarker::read(dec, version)
            })?,
        };
        dec.skip_tagged_fields("WriteTxnMarkersRequest")?;

        Ok(out)
    }
}

impl Request for WriteTxnMarkersRequest {
    const API_KEY: ApiKey = ApiKey::WriteTxnMarkers;
    type Response = super::WriteTxnMarkersResponse;
}

/// `WritableTxnMarker` in a `WriteTxnMarkersRequest`, versions 1-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WritableTxnMarker {
    /// `ProducerId`: `int64`, versions 1-2.
    pub producer_id: i64,
    /// `ProducerEpoch`: `int16`, versions 1-2.
    pub producer_epoch: i16,
    /// `TransactionResult`: `bool`, versions 1-2.
    pub transaction_result: bool,
    /// `Topics`: `[]WritableTxnMarkerTopic`, versions 1-2.
    pub topics: Vec<WritableTxnMarkerTopic>,
    /// `CoordinatorEpoch`: `int32`, versions 1-2.
    pub coordinator_epoch: i32,
    /// `TransactionVersion`: `int8`, versions 2.
    pub transaction_version: i8,
}

impl WritableTxnMarker {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.i64(self.producer_id);
        enc.i16(self.producer_epoch);
        enc.bool(self.transaction_result);
        enc.array(&self.topics, true, "WriteTxnMarkersRequest.WritableTxnMarker.topics", |enc, value| {
            value.write(enc, version)
        })?;
        enc.i32(self.coordinator_epoch);
        if version == 2 {
            enc.i8(self.transaction_version);
        }
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            producer_id: dec.i64("WriteTxnMarkersRequest.WritableTxnMarker.producer_id")?,
            producer_epoch: dec.i16("WriteTxnMarkersRequest.WritableTxnMarker.producer_epoch")?,
            transaction_result: dec.bool("WriteTxnMarkersRequest.WritableTxnMarker.transaction_result")?,
            topics: dec.array(true, 3, "WriteTxnMarkersRequest.WritableTxnMarker.topics", |dec| {
                WritableTxnMarkerTopic::read(dec, version)
            })?,
            coordinator_epoch: dec.i32("WriteTxnMarkersRequest.WritableTxnMarker.coordinator_epoch")?,
            transaction_version: if version == 2 {
                dec.i8("WriteTxnMarkersRequest.WritableTxnMarker.transaction_version")?
            } else {
                0
            },
        };
        dec.skip_tagged_fields("WriteTxnMarkersRequest.WritableTxnMarker")?;

        Ok(out)
    }
}

/// `WritableTxnMarkerTopic` in a `WriteTxnMarkersRequest`, versions 1-2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WritableTxnMarkerTopic {
    /// `Name`: `string`, versions 1-2.
    pub name: String,
    /// `PartitionIndexes`: `[]int32`, versions 1-2.
    pub partition_indexes: Vec<i32>,
}

impl WritableTxnMarkerTopic {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.string(&self.name, true, "WriteTxnMarkersRequest.WritableTxnMarkerTopic.name")?;
        enc.array(
            &self.partition_indexes,
            true,
            "WriteTxnMarkersRequest.WritableTxnMarkerTopic.partition_indexes",
            |enc, value| {
                enc.i32(*value);
                Ok(())
            },
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, _version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            name: dec.string(true, "WriteTxnMarkersRequest.WritableTxnMarkerTopic.name")?,
            partition_indexes: dec.array(
                true,
                4,
                "WriteTxnMarkersRequest.WritableTxnMarkerTopic.partition_indexes",
                |dec| dec.i32("WriteTxnMarkersRequest.WritableTxnMarkerTopic.partition_indexes"),
            )?,
        };
        dec.skip_tagged_fields("WriteTxnMarkersRequest.WritableTxnMarkerTopic")?;

        Ok(out)
    }
}
