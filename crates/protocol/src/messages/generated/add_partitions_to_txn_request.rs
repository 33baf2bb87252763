// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `AddPartitionsToTxnRequest` (API key 24), versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AddPartitionsToTxnRequest {
    /// `Transactions`: `[]AddPartitionsToTxnTransaction`, versions 4-5.
    pub transactions: Vec<AddPartitionsToTxnTransaction>,
    /// `V3AndBelowTransactionalId`: `string`, versions 0-3.
    pub v3_and_below_transactional_id: String,
    /// `V3AndBelowProducerId`: `int64`, versions 0-3.
    pub v3_and_below_producer_id: i64,
    /// `V3AndBelowProducerEpoch`: `int16`, versions 0-3.
    pub v3_and_below_producer_epoch: i16,
    /// `V3AndBelowTopics`: `[]AddPartitionsToTxnTopic`, versions 0-3.
    pub v3_and_below_topics: Vec<AddPartitionsToTxnTopic>,
}

impl Message for AddPartitionsToTxnRequest {
    const NAME: &'static str = "AddPartitionsToTxnRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 5);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        let flexible = version >= 3;
        if version >= 4 {
            enc.array(
                &self.transactions,
                flexible,
                "AddPartitionsToTxnRequest.transactions",
                |enc, value| value.write(enc, version),
            )?;
        } else if !self.transactions.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "AddPartitionsToTxnRequest",
                field: "transactions",
                version,
            });
        }
        if version <= 3 {
            enc.string(
                &self.v3_and_below_transactional_id,
                flexible,
                "AddPartitionsToTxnRequest.v3_and_below_transactional_id",
            )?;
        } else if !self.v3_and_below_transactional_id.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "AddPartitionsToTxnRequest",
                field: "v3_and_below_transactional_id",
                version,
            });
        }
        if version <= 3 {
            enc.i64(self.v3_and_below_producer_id);
        } else if self.v3_and_below_producer_id != 0 {
            return Err(EncodeError::UnsupportedField {
                message: "AddPartitionsToTxnRequest",
                field: "v3_and_below_producer_id",
                version,
            });
        }
        if version <= 3 {
            enc.i16(self.v3_and_below_producer_epoch);
        } else if self.v3_and_below_producer_epoch != 0 {
            return Err(EncodeError::UnsupportedField {
                message: "AddPartitionsToTxnRequest",
                field: "v3_and_below_producer_epoch",
                version,
            });
        }
        if version <= 3 {
            enc.array(
                &self.v3_and_below_topics,
                flexible,
                "AddPartitionsToTxnRequest.v3_and_below_topics",
                |enc, value| value.write(enc, version),
            )?;
        } else if !self.v3_and_below_topics.is_empty() {
            return Err(EncodeError::UnsupportedField {
                message: "AddPartitionsToTxnRequest",
                field: "v3_and_below_topics",
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
            transactions: if version >= 4 {
                dec.array(flexible, 14, "AddPartitionsToTxnRequest.transactions", |dec| {
                    AddPartitionsToTxnTransaction::read(dec, version)
                })?
            } else {
                Vec::new()
            },
            v3_and_below_transactional_id: if version <= 3 {
                dec.string(flexible, "AddPartitionsToTxnRequest.v3_and_below_transactional_id")?
            } else {
                String::new()
            },
            v3_and_below_producer_id: if version <= 3 {
                dec.i64("AddPartitionsToTxnRequest.v3_and_below_producer_id")?
            } else {
                0
            },
            v3_and_below_producer_epoch: if version <= 3 {
                dec.i16("AddPartitionsToTxnRequest.v3_and_below_producer_epoch")?
            } else {
                0
            },
            v3_and_below_topics: if version <= 3 {
                dec.array(flexible, 3, "AddPartitionsToTxnRequest.v3_and_below_topics", |dec| {
                    AddPartitionsToTxnTopic::read(dec, version)
                })?
            } else {
                Vec::new()
            },
        };
        if flexible {
            dec.skip_tagged_fields("AddPartitionsToTxnRequest")?;
        }
        Ok(out)
    }
}

impl Request for AddPartitionsToTxnRequest {
    const API_KEY: ApiKey = ApiKey::AddPartitionsToTxn;
    type Response = super::AddPartitionsToTxnResponse;
}

/// `AddPartitionsToTxnTransaction` in a `AddPartitionsToTxnRequest`, versions 4-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AddPartitionsToTxnTransaction {
    /// `TransactionalId`: `string`, versions 4-5.
    pub transactional_id: String,
    /// `ProducerId`: `int64`, versions 4-5.
    pub producer_id: i64,
    /// `ProducerEpoch`: `int16`, versions 4-5.
    pub producer_epoch: i16,
    /// `VerifyOnly`: `bool`, versions 4-5.
    pub verify_only: bool,
    /// `Topics`: `[]AddPartitionsToTxnTopic`, versions 4-5.
    pub topics: Vec<AddPartitionsToTxnTopic>,
}

impl AddPartitionsToTxnTransaction {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.string(
            &self.transactional_id,
            true,
            "AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction.transactional_id",
        )?;
        enc.i64(self.producer_id);
        enc.i16(self.producer_epoch);
        enc.bool(self.verify_only);
        enc.array(
            &self.topics,
            true,
            "AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction.topics",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            transactional_id: dec
                .string(true, "AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction.transactional_id")?,
            producer_id: dec.i64("AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction.producer_id")?,
            producer_epoch: dec
                .i16("AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction.producer_epoch")?,
            verify_only: dec.bool("AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction.verify_only")?,
            topics: dec.array(
                true,
                3,
                "AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction.topics",
                |dec| AddPartitionsToTxnTopic::read(dec, version),
            )?,
        };
        dec.skip_tagged_fields("AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction")?;

        Ok(out)
    }
}

/// `AddPartitionsToTxnTopic` in a `AddPartitionsToTxnRequest`, versions 0-5.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AddPartitionsToTxnTopic {
    /// `Name`: `string`, versions 0-5.
    pub name: String,
    /// `Partitions`: `[]int32`, versions 0-5.
    pub partitions: Vec<i32>,
}

impl AddPartitionsToTxnTopic {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        enc.string(&self.name, flexible, "AddPartitionsToTxnRequest.AddPartitionsToTxnTopic.name")?;
        enc.array(
            &self.partitions,
            flexible,
            "AddPartitionsToTxnRequest.AddPartitionsToTxnTopic.partitions",
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
        let flexible = version >= 3;
        let out = Self {
            name: dec.string(flexible, "AddPartitionsToTxnRequest.AddPartitionsToTxnTopic.name")?,
            partitions: dec.array(
                flexible,
                4,
                "AddPartitionsToTxnRequest.AddPartitionsToTxnTopic.partitions",
                |dec| dec.i32("AddPartitionsToTxnRequest.AddPartitionsToTxnTopic.partitions"),
            )?,
        };
        if flexible {
            dec.skip_tagged_fields("AddPartitionsToTxnRequest.AddPartitionsToTxnTopic")?;
        }
        Ok(out)
    }
}
