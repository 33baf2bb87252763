use std::borrow::Cow;
use std::fmt;
use std::str::Utf8Error;

use bytes::Bytes;

use super::builder::nullable_size;
use super::varint::{self, Cursor, Span};
use super::{BatchHeader, RecordsError, TimestampType};

/// A record as it was read; key, value and headers are slices of the batch's bytes and keep them alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place in the partition.
    pub offset: i64,
    /// Milliseconds since the epoch: the record's own, or with LogAppendTime the batch's max timestamp.
    pub timestamp: i64,
    /// The key, which may be null.
    pub key: Option<Bytes>,
    /// The value, which may be null (a tombstone).
    pub value: Option<Bytes>,
    /// The headers in their order.
    pub headers: Headers,
}

/// The records of one batch, decoded one by one.
///
/// Ends after the first error. A body that holds more bytes than its records take is an error after the last.
#[derive(Debug, Clone)]
pub struct Records {
    body: Bytes,
    at: usize,
    /// Records not yet read, as the header says; nothing is allocated on its word.
    left: u32,
    /// Set after the last item, be it an error or not.
    done: bool,
    base_offset: i64,
    base_timestamp: i64,
    log_append_time: Option<i64>,
}

/// A record's headers: an ordered list with duplicates (KIP-82), read from the batch's bytes when iterated.
#[derive(Clone, Default)]
pub struct Headers {
    /// The headers as encoded, already walked once, so that reading them cannot fail.
    bytes: Bytes,
    count: usize,
}

/// One header of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordHeader {
    /// The key.
    pub key: HeaderKey,
    /// The value, which may be null.
    pub value: Option<Bytes>,
}

/// A header's key: meant to be UTF-8, and kept as the bytes it is when it is not.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct HeaderKey(Bytes);

/// Iterates over [`Headers`].
#[derive(Debug, Clone)]
pub struct HeaderIter<'a> {
    headers: &'a Headers,
    at: usize,
    left: usize,
}

impl Record {
    /// Bytes of key, value and headers as they are encoded, with their lengths and the header count.
    pub(super) fn payload_size(&self) -> usize {
        nullable_size(self.key.as_deref()) + nullable_size(self.value.as_deref()) + self.headers.size()
    }
}

impl Records {
    /// `body` is the batch's body, decompressed.
    pub(super) fn new(header: &BatchHeader, body: Bytes) -> Self {
        let log_append_time = (header.attributes.timestamp_type() == TimestampType::LogAppendTime)
            .then_some(header.max_timestamp);
        Self {
            body,
            at: 0,
            left: u32::try_from(header.record_count).unwrap_or(0),
            done: false,
            base_offset: header.base_offset,
            base_timestamp: header.base_timestamp,
            log_append_time,
        }
    }

    fn read(&mut self) -> Result<Record, RecordsError> {
        let mut cursor = Cursor::new(&self.body, self.at);
        let fields = Fields::read(&mut cursor)?;
        self.at = cursor.position();
        let own = self.base_timestamp.wrapping_add(fields.timestamp_delta);
        Ok(Record {
            offset: self.base_offset.wrapping_add(i64::from(fields.offset_delta)),
            timestamp: self.log_append_time.unwrap_or(own),
            key: fields.key.map(|span| self.slice(span)),
            value: fields.value.map(|span| self.slice(span)),
            headers: match fields.header_count {
                0 => Headers::default(),
                count => Headers { bytes: self.slice(fields.headers), count },
            },
        })
    }

    fn slice(&self, span: Span) -> Bytes {
        self.body.slice(span.start..span.end)
    }
}

impl Iterator for Records {
    type Item = Result<Record, RecordsError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        if self.left == 0 {
            self.done = true;
            return (self.at < self.body.len())
                .then_some(Err(RecordsError::malformed("bytes after the last record of the batch")));
        }
        self.left -= 1;
        let record = self.read();
        self.done = record.is_err();
        Some(record)
    }
}

impl std::iter::FusedIterator for Records {}

/// Where a record's fields are in the body.
struct Fields {
    timestamp_delta: i64,
    offset_delta: i32,
    key: Option<Span>,
    value: Option<Span>,
    header_count: usize,
    headers: Span,
}

impl Fields {
    #[inline]
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, RecordsError> {
        let length = cursor.varint("a record's length")?;
        let whole = cursor.take(length, "a record's length is not inside the batch")?;
        let mut inside = cursor.inside(whole);
        // The record's attributes: none is in use.
        inside.u8("a record without attributes")?;
        let timestamp_delta = inside.varlong("a record's timestamp delta")?;
        let offset_delta = inside.varint("a record's offset delta")?;
        let key = inside.nullable("a record's key")?;
        let value = inside.nullable("a record's value")?;
        let header_count = inside.varint("a record's header count")?;
        let start = inside.position();
        for _ in 0..header_count {
            read_header(&mut inside)?;
        }
        let header_count = usize::try_from(header_count)
            .map_err(|_| RecordsError::malformed("a record's header count is negative"))?;
        if inside.remaining() > 0 {
            return Err(RecordsError::malformed("a record is shorter than its length"));
        }
        let headers = Span { start, end: whole.end };
        Ok(Self { timestamp_delta, offset_delta, key, value, header_count, headers })
    }
}

fn read_header(cursor: &mut Cursor<'_>) -> Result<(Span, Option<Span>), RecordsError> {
    let length = cursor.varint("a header key's length")?;
    let key = cursor.take(length, "a header's key")?;
    let value = cursor.nullable("a header's value")?;
    Ok((key, value))
}

impl Headers {
    /// How many there are, duplicates counted.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of the headers and their count on the wire.
    pub(super) fn size(&self) -> usize {
        varint::size(self.count as i64) + self.bytes.len()
    }

    /// The headers as they are on the wire, without their count.
    pub(super) fn encoded(&self) -> &[u8] {
        &self.bytes
    }

    /// All of them in their order.
    pub fn iter(&self) -> HeaderIter<'_> {
        HeaderIter { headers: self, at: 0, left: self.count }
    }

    /// The last header with this key (Java's `lastHeader`): with duplicates, the one added last counts.
    pub fn last(&self, key: &str) -> Option<RecordHeader> {
        self.iter().filter(|header| header.key.as_bytes() == key.as_bytes()).last()
    }
}

impl Iterator for HeaderIter<'_> {
    type Item = RecordHeader;

    fn next(&mut self) -> Option<RecordHeader> {
        self.left = self.left.checked_sub(1)?;
        let bytes = &self.headers.bytes;
        let mut cursor = Cursor::new(bytes, self.at);
        let (key, value) = read_header(&mut cursor).ok()?;
        self.at = cursor.position();
        Some(RecordHeader {
            key: HeaderKey(bytes.slice(key.start..key.end)),
            value: value.map(|span| bytes.slice(span.start..span.end)),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for HeaderIter<'_> {}

impl<'a> IntoIterator for &'a Headers {
    type Item = RecordHeader;
    type IntoIter = HeaderIter<'a>;

    fn into_iter(self) -> HeaderIter<'a> {
        self.iter()
    }
}

impl PartialEq for Headers {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && (self.bytes == other.bytes || self.iter().eq(other.iter()))
    }
}

impl Eq for Headers {}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl HeaderKey {
    /// The bytes of the key.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The key as text, if it is UTF-8.
    pub fn as_str(&self) -> Result<&str, Utf8Error> {
        std::str::from_utf8(&self.0)
    }

    /// The key as text, with U+FFFD for what is not UTF-8 (what Java shows).
    pub fn to_string_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl PartialEq<str> for HeaderKey {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for HeaderKey {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl fmt::Display for HeaderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_string_lossy())
    }
}

impl fmt::Debug for HeaderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string_lossy(), f)
    }
}
