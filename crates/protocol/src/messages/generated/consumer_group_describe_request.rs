// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder, Message, Request, VersionRange};

/// `ConsumerGroupDescribeRequest` (API key 69), versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConsumerGroupDescribeRequest {
    /// `GroupIds`: `[]string`, versions 0-1.
    pub group_ids: Vec<String>,
    /// `IncludeAuthorizedOperations`: `bool`, versions 0-1.
    pub include_authorized_operations: bool,
}

impl Message for ConsumerGroupDescribeRequest {
    const NAME: &'static str = "ConsumerGroupDescribeRequest";
    const VERSIONS: VersionRange = VersionRange::new(0, 1);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.array(&self.group_ids, true, "ConsumerGroupDescribeRequest.group_ids", |enc, value| {
            enc.string(value, true, "ConsumerGroupDescribeRequest.group_ids")
        })?;
        enc.bool(self.include_authorized_operations);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            group_ids: dec.array(true, 1, "ConsumerGroupDescribeRequest.group_ids", |dec| {
                dec.string(true, "ConsumerGroupDescribeRequest.group_ids")
            })?,
            include_authorized_operations: dec
                .bool("ConsumerGroupDescribeRequest.include_authorized_operations")?,
        };
        dec.skip_tagged_fields("ConsumerGroupDescribeRequest")?;

        Ok(out)
    }
}

impl Request for ConsumerGroupDescribeRequest {
    const API_KEY: ApiKey = ApiKey::ConsumerGroupDescribe;
    type Response = super::ConsumerGroupDescribeResponse;
}
