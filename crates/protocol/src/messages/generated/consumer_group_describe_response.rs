// Written by `cargo xtask codegen` from the message schemas of Apache Kafka; do not edit.

use crate::{DecodeError, Decoder, EncodeError, Encoder, ErrorCode, Message, Uuid, VersionRange};

/// `ConsumerGroupDescribeResponse` (API key 69), versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConsumerGroupDescribeResponse {
    /// `ThrottleTimeMs`: `int32`, versions 0-1.
    pub throttle_time_ms: i32,
    /// `Groups`: `[]DescribedGroup`, versions 0-1.
    pub groups: Vec<DescribedGroup>,
}

impl Message for ConsumerGroupDescribeResponse {
    const NAME: &'static str = "ConsumerGroupDescribeResponse";
    const VERSIONS: VersionRange = VersionRange::new(0, 1);

    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        Self::VERSIONS.check_encode(Self::NAME, version)?;
        enc.i32(self.throttle_time_ms);
        enc.array(&self.groups, true, "ConsumerGroupDescribeResponse.groups", |enc, value| {
            value.write(enc, version)
        })?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        Self::VERSIONS.check_decode(Self::NAME, version)?;
        let out = Self {
            throttle_time_ms: dec.i32("ConsumerGroupDescribeResponse.throttle_time_ms")?,
            groups: dec.array(true, 20, "ConsumerGroupDescribeResponse.groups", |dec| {
                DescribedGroup::read(dec, version)
            })?,
        };
        dec.skip_tagged_fields("ConsumerGroupDescribeResponse")?;

        Ok(out)
    }
}

/// `DescribedGroup` in a `ConsumerGroupDescribeResponse`, versions 0-1.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribedGroup {
    /// `ErrorCode`: `int16`, versions 0-1.
    pub error_code: ErrorCode,
    /// `ErrorMessage`: `string`, versions 0-1, nullable; null by default.
    pub error_message: Option<String>,
    /// `GroupId`: `string`, versions 0-1.
    pub group_id: String,
    /// `GroupState`: `string`, versions 0-1.
    pub group_state: String,
    /// `GroupEpoch`: `int32`, versions 0-1.
    pub group_epoch: i32,
    /// `AssignmentEpoch`: `int32`, versions 0-1.
    pub assignment_epoch: i32,
    /// `AssignorName`: `string`, versions 0-1.
    pub assignor_name: String,
    /// `Members`: `[]Member`, versions 0-1.
    pub members: Vec<Member>,
    /// `AuthorizedOperations`: `int32`, versions 0-1; i32::MIN by default.
    pub authorized_operations: i32,
}

impl Default for DescribedGroup {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            error_message: None,
            group_id: String::new(),
            group_state: String::new(),
            group_epoch: 0,
            assignment_epoch: 0,
            assignor_name: String::new(),
            members: Vec::new(),
            authorized_operations: i32::MIN,
        }
    }
}

impl DescribedGroup {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.i16(self.error_code.0);
        enc.nullable_string(
            self.error_message.as_deref(),
            true,
            "ConsumerGroupDescribeResponse.DescribedGroup.error_message",
        )?;
        enc.string(&self.group_id, true, "ConsumerGroupDescribeResponse.DescribedGroup.group_id")?;
        enc.string(&self.group_state, true, "ConsumerGroupDescribeResponse.DescribedGroup.group_state")?;
        enc.i32(self.group_epoch);
        enc.i32(self.assignment_epoch);
        enc.string(&self.assignor_name, true, "ConsumerGroupDescribeResponse.DescribedGroup.assignor_name")?;
        enc.array(
            &self.members,
            true,
            "ConsumerGroupDescribeResponse.DescribedGroup.members",
            |enc, value| value.write(enc, version),
        )?;
        enc.i32(self.authorized_operations);
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            error_code: dec.i16("ConsumerGroupDescribeResponse.DescribedGroup.error_code").map(ErrorCode)?,
            error_message: dec
                .nullable_string(true, "ConsumerGroupDescribeResponse.DescribedGroup.error_message")?,
            group_id: dec.string(true, "ConsumerGroupDescribeResponse.DescribedGroup.group_id")?,
            group_state: dec.string(true, "ConsumerGroupDescribeResponse.DescribedGroup.group_state")?,
            group_epoch: dec.i32("ConsumerGroupDescribeResponse.DescribedGroup.group_epoch")?,
            assignment_epoch: dec.i32("ConsumerGroupDescribeResponse.DescribedGroup.assignment_epoch")?,
            assignor_name: dec.string(true, "ConsumerGroupDescribeResponse.DescribedGroup.assignor_name")?,
            members: dec.array(true, 16, "ConsumerGroupDescribeResponse.DescribedGroup.members", |dec| {
                Member::read(dec, version)
            })?,
            authorized_operations: dec
                .i32("ConsumerGroupDescribeResponse.DescribedGroup.authorized_operations")?,
        };
        dec.skip_tagged_fields("ConsumerGroupDescribeResponse.DescribedGroup")?;

        Ok(out)
    }
}

/// `Member` in a `ConsumerGroupDescribeResponse`, versions 0-1.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// `MemberId`: `string`, versions 0-1.
    pub member_id: String,
    /// `InstanceId`: `string`, versions 0-1, nullable; null by default.
    pub instance_id: Option<String>,
    /// `RackId`: `string`, versions 0-1, nullable; null by default.
    pub rack_id: Option<String>,
    /// `MemberEpoch`: `int32`, versions 0-1.
    pub member_epoch: i32,
    /// `ClientId`: `string`, versions 0-1.
    pub client_id: String,
    /// `ClientHost`: `string`, versions 0-1.
    pub client_host: String,
    /// `SubscribedTopicNames`: `[]string`, versions 0-1.
    pub subscribed_topic_names: Vec<String>,
    /// `SubscribedTopicRegex`: `string`, versions 0-1, nullable; null by default.
    pub subscribed_topic_regex: Option<String>,
    /// `Assignment`: `Assignment`, versions 0-1.
    pub assignment: Assignment,
    /// `TargetAssignment`: `Assignment`, versions 0-1.
    pub target_assignment: Assignment,
    /// `MemberType`: `int8`, versions 1; -1 by default.
    pub member_type: i8,
}

impl Default for Member {
    fn default() -> Self {
        Self {
            member_id: String::new(),
            instance_id: None,
            rack_id: None,
            member_epoch: 0,
            client_id: String::new(),
            client_host: String::new(),
            subscribed_topic_names: Vec::new(),
            subscribed_topic_regex: None,
            assignment: Assignment::default(),
            target_assignment: Assignment::default(),
            member_type: -1,
        }
    }
}

impl Member {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.string(&self.member_id, true, "ConsumerGroupDescribeResponse.Member.member_id")?;
        enc.nullable_string(
            self.instance_id.as_deref(),
            true,
            "ConsumerGroupDescribeResponse.Member.instance_id",
        )?;
        enc.nullable_string(self.rack_id.as_deref(), true, "ConsumerGroupDescribeResponse.Member.rack_id")?;
        enc.i32(self.member_epoch);
        enc.string(&self.client_id, true, "ConsumerGroupDescribeResponse.Member.client_id")?;
        enc.string(&self.client_host, true, "ConsumerGroupDescribeResponse.Member.client_host")?;
        enc.array(
            &self.subscribed_topic_names,
            true,
            "ConsumerGroupDescribeResponse.Member.subscribed_topic_names",
            |enc, value| {
                enc.string(value, true, "ConsumerGroupDescribeResponse.Member.subscribed_topic_names")
            },
        )?;
        enc.nullable_string(
            self.subscribed_topic_regex.as_deref(),
            true,
            "ConsumerGroupDescribeResponse.Member.subscribed_topic_regex",
        )?;
        self.assignment.write(enc, version)?;
        self.target_assignment.write(enc, version)?;
        if version == 1 {
            enc.i8(self.member_type);
        }
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            member_id: dec.string(true, "ConsumerGroupDescribeResponse.Member.member_id")?,
            instance_id: dec.nullable_string(true, "ConsumerGroupDescribeResponse.Member.instance_id")?,
            rack_id: dec.nullable_string(true, "ConsumerGroupDescribeResponse.Member.rack_id")?,
            member_epoch: dec.i32("ConsumerGroupDescribeResponse.Member.member_epoch")?,
            client_id: dec.string(true, "ConsumerGroupDescribeResponse.Member.client_id")?,
            client_host: dec.string(true, "ConsumerGroupDescribeResponse.Member.client_host")?,
            subscribed_topic_names: dec.array(
                true,
                1,
                "ConsumerGroupDescribeResponse.Member.subscribed_topic_names",
                |dec| dec.string(true, "ConsumerGroupDescribeResponse.Member.subscribed_topic_names"),
            )?,
            subscribed_topic_regex: dec
                .nullable_string(true, "ConsumerGroupDescribeResponse.Member.subscribed_topic_regex")?,
            assignment: Assignment::read(dec, version)?,
            target_assignment: Assignment::read(dec, version)?,
            member_type: if version == 1 {
                dec.i8("ConsumerGroupDescribeResponse.Member.member_type")?
            } else {
                -1
            },
        };
        dec.skip_tagged_fields("ConsumerGroupDescribeResponse.Member")?;

        Ok(out)
    }
}

/// `TopicPartitions` in a `ConsumerGroupDescribeResponse`, versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TopicPartitions {
    /// `TopicId`: `uuid`, versions 0-1.
    pub topic_id: Uuid,
    /// `TopicName`: `string`, versions 0-1.
    pub topic_name: String,
    /// `Partitions`: `[]int32`, versions 0-1.
    pub partitions: Vec<i32>,
}

impl TopicPartitions {
    fn write(&self, enc: &mut Encoder, _version: i16) -> Result<(), EncodeError> {
        enc.uuid(self.topic_id);
        enc.string(&self.topic_name, true, "ConsumerGroupDescribeResponse.TopicPartitions.topic_name")?;
        enc.array(
            &self.partitions,
            true,
            "ConsumerGroupDescribeResponse.TopicPartitions.partitions",
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
            topic_id: dec.uuid("ConsumerGroupDescribeResponse.TopicPartitions.topic_id")?,
            topic_name: dec.string(true, "ConsumerGroupDescribeResponse.TopicPartitions.topic_name")?,
            partitions: dec.array(
                true,
                4,
                "ConsumerGroupDescribeResponse.TopicPartitions.partitions",
                |dec| dec.i32("ConsumerGroupDescribeResponse.TopicPartitions.partitions"),
            )?,
        };
        dec.skip_tagged_fields("ConsumerGroupDescribeResponse.TopicPartitions")?;

        Ok(out)
    }
}

/// `Assignment` in a `ConsumerGroupDescribeResponse`, versions 0-1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Assignment {
    /// `TopicPartitions`: `[]TopicPartitions`, versions 0-1.
    pub topic_partitions: Vec<TopicPartitions>,
}

impl Assignment {
    fn write(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError> {
        enc.array(
            &self.topic_partitions,
            true,
            "ConsumerGroupDescribeResponse.Assignment.topic_partitions",
            |enc, value| value.write(enc, version),
        )?;
        enc.unsigned_varint(0);
        Ok(())
    }

    fn read(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError> {
        let out = Self {
            topic_partitions: dec.array(
                true,
                19,
                "ConsumerGroupDescribeResponse.Assignment.topic_partitions",
                |dec| TopicPartitions::read(dec, version),
            )?,
        };
        dec.skip_tagged_fields("ConsumerGroupDescribeResponse.Assignment")?;

        Ok(out)
    }
}
