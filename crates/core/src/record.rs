//! What a caller hands to `send`, and what it gets back.

use std::sync::Arc;

pub use milena_protocol::records::Header;

/// A record to produce. Everything is borrowed: the bytes are copied once, into the batch.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The topic's name.
    pub topic: &'a str,
    /// The partition, or none to let the partitioner choose.
    pub partition: Option<i32>,
    /// Milliseconds since the Unix epoch, or none for the time of the call.
    pub timestamp: Option<i64>,
    /// The key, or none (Kafka's null, not an empty key).
    pub key: Option<&'a [u8]>,
    /// The value, or none (Kafka's null: a tombstone on a compacted topic).
    pub value: Option<&'a [u8]>,
    /// Headers in order; a key may occur more than once.
    pub headers: &'a [Header<'a>],
}

impl<'a> Record<'a> {
    /// A record without key, value or headers, for `topic`.
    pub const fn to(topic: &'a str) -> Self {
        Self { topic, partition: None, timestamp: None, key: None, value: None, headers: &[] }
    }

    /// With this key; records of one key go to one partition.
    #[must_use]
    pub fn key<T: AsRef<[u8]> + ?Sized>(mut self, key: &'a T) -> Self {
        self.key = Some(key.as_ref());
        self
    }

    /// With this value.
    #[must_use]
    pub fn value<T: AsRef<[u8]> + ?Sized>(mut self, value: &'a T) -> Self {
        self.value = Some(value.as_ref());
        self
    }

    /// To this very partition.
    #[must_use]
    pub const fn partition(mut self, partition: i32) -> Self {
        self.partition = Some(partition);
        self
    }

    /// With this create time, in milliseconds since the Unix epoch.
    #[must_use]
    pub const fn timestamp(mut self, millis: i64) -> Self {
        self.timestamp = Some(millis);
        self
    }

    /// With these headers.
    #[must_use]
    pub const fn headers(mut self, headers: &'a [Header<'a>]) -> Self {
        self.headers = headers;
        self
    }
}

/// Where an acknowledged record went (Kafka's `RecordMetadata`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordMetadata {
    /// The topic's name.
    pub topic: Arc<str>,
    /// The partition.
    pub partition: i32,
    /// The offset; none with `acks=0`, or when the broker answered DUPLICATE_SEQUENCE_NUMBER.
    pub offset: Option<i64>,
    /// Milliseconds since the Unix epoch: the broker's with LogAppendTime, the record's own otherwise.
    pub timestamp: i64,
}
