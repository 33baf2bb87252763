use super::{Compression, RecordsError};

const COMPRESSION_MASK: i16 = 0x07;
const TIMESTAMP_TYPE_MASK: i16 = 0x08;
const TRANSACTIONAL_MASK: i16 = 0x10;
const CONTROL_MASK: i16 = 0x20;
const DELETE_HORIZON_MASK: i16 = 0x40;

/// Who sets a record's timestamp (the topic's `message.timestamp.type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TimestampType {
    /// The producer: each record has its own.
    #[default]
    CreateTime,
    /// The broker: all records of a batch have the batch's max timestamp.
    LogAppendTime,
}

/// A batch's attributes: codec (bits 0 to 2), timestamp type (3), transactional (4), control (5), delete horizon (6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Attributes(
    /// The bits as they are on the wire.
    pub i16,
);

impl Attributes {
    /// The codec of the body. An id that Kafka does not know is an error.
    pub fn compression(self) -> Result<Compression, RecordsError> {
        Compression::from_id(self.0 & COMPRESSION_MASK)
    }

    /// Who set the timestamps.
    pub fn timestamp_type(self) -> TimestampType {
        if self.0 & TIMESTAMP_TYPE_MASK == 0 {
            TimestampType::CreateTime
        } else {
            TimestampType::LogAppendTime
        }
    }

    /// Whether the batch belongs to a transaction.
    pub fn is_transactional(self) -> bool {
        self.0 & TRANSACTIONAL_MASK != 0
    }

    /// Whether the batch holds a control record (commit, abort, …), which consumers never see.
    pub fn is_control(self) -> bool {
        self.0 & CONTROL_MASK != 0
    }

    /// Whether the base timestamp is the time from which the log cleaner may drop tombstones (KIP-534).
    pub fn has_delete_horizon(self) -> bool {
        self.0 & DELETE_HORIZON_MASK != 0
    }

    /// The same with this codec.
    #[must_use]
    pub fn with_compression(self, compression: Compression) -> Self {
        Self((self.0 & !COMPRESSION_MASK) | compression.id())
    }

    /// The same with this timestamp type.
    #[must_use]
    pub fn with_timestamp_type(self, timestamp_type: TimestampType) -> Self {
        self.with(TIMESTAMP_TYPE_MASK, timestamp_type == TimestampType::LogAppendTime)
    }

    /// The same, transactional or not.
    #[must_use]
    pub fn with_transactional(self, transactional: bool) -> Self {
        self.with(TRANSACTIONAL_MASK, transactional)
    }

    /// The same, control batch or not.
    #[must_use]
    pub fn with_control(self, control: bool) -> Self {
        self.with(CONTROL_MASK, control)
    }

    /// The same, with or without a delete horizon.
    #[must_use]
    pub fn with_delete_horizon(self, delete_horizon: bool) -> Self {
        self.with(DELETE_HORIZON_MASK, delete_horizon)
    }

    fn with(self, mask: i16, on: bool) -> Self {
        Self(if on { self.0 | mask } else { self.0 & !mask })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_builder_sets_its_own_bits() {
        let all = Attributes::default()
            .with_compression(Compression::Zstd)
            .with_timestamp_type(TimestampType::LogAppendTime)
            .with_transactional(true)
            .with_control(true)
            .with_delete_horizon(true);
        assert_eq!(all, Attributes(0b0111_1100));
        assert_eq!(all.compression(), Ok(Compression::Zstd));
        assert_eq!(all.timestamp_type(), TimestampType::LogAppendTime);
        assert!(all.is_transactional() && all.is_control() && all.has_delete_horizon());
        let none = all
            .with_compression(Compression::None)
            .with_timestamp_type(TimestampType::CreateTime)
            .with_transactional(false)
            .with_control(false)
            .with_delete_horizon(false);
        assert_eq!(none, Attributes(0));
    }

    #[test]
    fn unknown_codecs_are_named() {
        for id in 5..8 {
            assert_eq!(Attributes(id).compression(), Err(RecordsError::UnknownCompression(id)));
        }
    }
}
