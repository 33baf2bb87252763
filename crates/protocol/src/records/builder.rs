use super::header::checksum;
use super::{
    Attributes, BATCH_HEADER_LEN, BatchHeader, Compression, LOG_OVERHEAD, MAGIC, NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, NO_TIMESTAMP, Record, RecordsError, compression, varint,
};

/// The most that a batch's length field can say.
const MAX_BATCH: usize = i32::MAX as usize;

/// Room for all that stands before a record's key, and the value's length: length 5, attributes 1, timestamp delta 10,
/// offset delta 5, key length 5, value length 5.
const FIXED: usize = 32;

/// A record's header to be written: a key and bytes or null. Order and duplicates are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header<'a> {
    /// The key; Kafka allows an empty one.
    pub key: &'a str,
    /// The value, which may be null.
    pub value: Option<&'a [u8]>,
}

/// An open batch: one contiguous buffer whose first 61 bytes are a gap for the header, then the records as they go
/// on the wire.
///
/// Appending encodes straight into the buffer: one copy of the caller's bytes, no allocation while the capacity
/// lasts. Nothing about the producer (id, epoch, sequence) is needed before [`seal`](Self::seal).
#[derive(Debug, Clone)]
pub struct BatchBuilder {
    /// Never shorter than the gap.
    buffer: Vec<u8>,
    summary: Summary,
}

/// What the header says about the records, whatever became of their bytes.
#[derive(Debug, Clone, Copy)]
struct Summary {
    record_count: u32,
    /// The first record's timestamp.
    base_timestamp: i64,
    max_timestamp: i64,
}

/// What is known about a batch only when it is drained: its place in the producer's sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// Id of an idempotent producer, or −1.
    pub producer_id: i64,
    /// Epoch of an idempotent producer, or −1.
    pub producer_epoch: i16,
    /// Sequence number of the first record, or −1.
    pub base_sequence: i32,
    /// Whether the batch is part of a transaction.
    pub transactional: bool,
    /// Whether this is a control batch; only brokers write those.
    pub control: bool,
    /// −1 from a producer; the leader sets it.
    pub partition_leader_epoch: i32,
    /// 0 from a producer; the leader sets it.
    pub base_offset: i64,
}

/// The records of a batch in their final form, compressed or not, waiting for the header.
#[derive(Debug, Clone)]
pub struct CompressedBatch {
    buffer: Vec<u8>,
    compression: Compression,
    summary: Summary,
}

impl BatchBuilder {
    /// An empty batch in `buffer`, whose contents are dropped and whose capacity is used again.
    pub fn new(mut buffer: Vec<u8>) -> Self {
        open_gap(&mut buffer);
        let summary = Summary { record_count: 0, base_timestamp: NO_TIMESTAMP, max_timestamp: NO_TIMESTAMP };
        Self { buffer, summary }
    }

    /// The exact bytes that [`append`](Self::append) would add for this record now.
    pub fn record_size(
        &self,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &[Header<'_>],
    ) -> usize {
        let body = self.body_size(timestamp, payload_size(key, value, headers));
        varint::size(body as i64) + body
    }

    /// Encodes a record at the end of the batch and returns its index in the batch.
    ///
    /// `timestamp` is in milliseconds since the epoch; −1 is "none". The first record's is the batch's base.
    ///
    /// # Panics
    /// If the batch grew past `i32::MAX` bytes, which the format cannot say. Callers refuse records long before, at
    /// `max.request.size`.
    #[inline]
    pub fn append(
        &mut self,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &[Header<'_>],
    ) -> u32 {
        let index = self.open_record(timestamp, key, value, headers_size(headers));
        if headers.is_empty() {
            self.buffer.push(0);
            return index;
        }
        varint::push(&mut self.buffer, headers.len() as i64);
        for header in headers {
            varint::push(&mut self.buffer, header.key.len() as i64);
            self.buffer.extend_from_slice(header.key.as_bytes());
            varint::push(&mut self.buffer, length_of(header.value));
            self.buffer.extend_from_slice(header.value.unwrap_or_default());
        }
        index
    }

    /// Encodes a record that was read from another batch; its headers go over as the bytes that they are, be their
    /// keys UTF-8 or not. Its offset is not kept: it becomes the next record of this batch.
    ///
    /// # Panics
    /// As [`append`](Self::append).
    pub fn append_record(&mut self, record: &Record) -> u32 {
        let (key, value) = (record.key.as_deref(), record.value.as_deref());
        let index = self.open_record(record.timestamp, key, value, record.headers.size());
        varint::push(&mut self.buffer, record.headers.len() as i64);
        self.buffer.extend_from_slice(record.headers.encoded());
        index
    }

    /// The exact bytes that [`append_record`](Self::append_record) would add for this record now.
    pub fn size_of(&self, record: &Record) -> usize {
        let body = self.body_size(record.timestamp, record.payload_size());
        varint::size(body as i64) + body
    }

    /// Bytes of the batch as it is, header included.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Bytes that the batch can hold, header included, before its buffer is reallocated.
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Makes the buffer large enough for a batch of `bytes`, header included, and no larger: until then appending does not
    /// reallocate it.
    pub fn reserve_to(&mut self, bytes: usize) {
        self.buffer.reserve_exact((bytes + FIXED).saturating_sub(self.buffer.len()));
    }

    /// Gives back what the buffer has beyond the batch as it is.
    pub fn shrink_to_fit(&mut self) {
        self.buffer.shrink_to_fit();
    }

    /// Whether no record was appended.
    pub fn is_empty(&self) -> bool {
        self.summary.record_count == 0
    }

    /// Records appended.
    pub fn record_count(&self) -> u32 {
        self.summary.record_count
    }

    /// The first record's timestamp; −1 without records.
    pub fn base_timestamp(&self) -> i64 {
        self.summary.base_timestamp
    }

    /// The largest timestamp; −1 without records.
    pub fn max_timestamp(&self) -> i64 {
        self.summary.max_timestamp
    }

    /// The encoded records, without the gap.
    pub fn body(&self) -> &[u8] {
        self.buffer.get(BATCH_HEADER_LEN..).unwrap_or_default()
    }

    /// The buffer, for another batch.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Fills the header and the CRC-32C. What comes back is a whole uncompressed batch in the builder's own buffer.
    pub fn seal(self, seal: Seal) -> Vec<u8> {
        self.uncompressed().seal(seal)
    }

    /// The batch with its body as it is, to be sealed later.
    pub fn uncompressed(self) -> CompressedBatch {
        CompressedBatch { buffer: self.buffer, compression: Compression::None, summary: self.summary }
    }

    /// The batch with its body compressed into `out`, whose contents are dropped and whose capacity is used again.
    ///
    /// A pure function: it depends on nothing but the records, the codec and the level, and leaves the builder as it
    /// is. The result has the codec asked for even where it is larger than the input, as Kafka's. `level` is one of
    /// [`Compression::levels`]; `None` is the codec's default.
    ///
    /// # Errors
    /// [`RecordsError::Level`] for a level that the codec does not have.
    pub fn compress(
        &self,
        codec: Compression,
        level: Option<i32>,
        mut out: Vec<u8>,
    ) -> Result<CompressedBatch, RecordsError> {
        open_gap(&mut out);
        compression::compress(codec, level, self.body(), &mut out)?;
        Ok(CompressedBatch { buffer: out, compression: codec, summary: self.summary })
    }

    /// Encodes all of a record but its headers, which take `headers` bytes with their count, and reserves their room.
    #[inline]
    fn open_record(
        &mut self,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: usize,
    ) -> u32 {
        let index = self.summary.record_count;
        if index == 0 {
            self.summary.base_timestamp = timestamp;
        }
        let delta = timestamp.wrapping_sub(self.summary.base_timestamp);
        let body = self.body_size(timestamp, nullable_size(key) + nullable_size(value) + headers);
        assert!(self.buffer.len() + body < MAX_BATCH, "a batch holds at most i32::MAX bytes");
        self.buffer.reserve(body + FIXED);

        let (key_length, value_length) = (length_of(key), length_of(value));
        let key = key.unwrap_or_default();
        write_short::<FIXED>(&mut self.buffer, |room| {
            // The byte after the length is the attributes, none of which is in use.
            let at = varint::put(room, 0, body as i64) + 1;
            let at = varint::put(room, at, delta);
            let at = varint::put(room, at, i64::from(index));
            let at = varint::put(room, at, key_length);
            if key.is_empty() { varint::put(room, at, value_length) } else { at }
        });
        if !key.is_empty() {
            self.buffer.extend_from_slice(key);
            write_short::<8>(&mut self.buffer, |room| varint::put(room, 0, value_length));
        }
        self.buffer.extend_from_slice(value.unwrap_or_default());

        self.summary.max_timestamp = self.summary.max_timestamp.max(timestamp);
        self.summary.record_count = index + 1;
        index
    }

    /// What a record's length counts: all but the length itself.
    #[inline]
    fn body_size(&self, timestamp: i64, payload: usize) -> usize {
        let index = i64::from(self.summary.record_count);
        1 + varint::size(self.timestamp_delta(timestamp)) + varint::size(index) + payload
    }

    fn timestamp_delta(&self, timestamp: i64) -> i64 {
        if self.is_empty() { 0 } else { timestamp.wrapping_sub(self.summary.base_timestamp) }
    }
}

impl CompressedBatch {
    /// Fills the header and the CRC-32C. What comes back is a whole batch in its own buffer.
    pub fn seal(self, seal: Seal) -> Vec<u8> {
        let Self { mut buffer, compression, summary } = self;
        let header = BatchHeader {
            base_offset: seal.base_offset,
            batch_length: (buffer.len() - LOG_OVERHEAD) as i32,
            partition_leader_epoch: seal.partition_leader_epoch,
            magic: MAGIC,
            crc: 0,
            attributes: Attributes::default()
                .with_compression(compression)
                .with_transactional(seal.transactional)
                .with_control(seal.control),
            last_offset_delta: summary.record_count.saturating_sub(1).cast_signed(),
            base_timestamp: summary.base_timestamp,
            max_timestamp: summary.max_timestamp,
            producer_id: seal.producer_id,
            producer_epoch: seal.producer_epoch,
            base_sequence: seal.base_sequence,
            record_count: summary.record_count.cast_signed(),
        };
        write_header(&mut buffer, header);
        buffer
    }

    /// Gives back what the buffer has beyond the batch: codecs want room for the worst that may come out.
    pub fn shrink_to_fit(&mut self) {
        self.buffer.shrink_to_fit();
    }

    /// The codec of the body.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Bytes of the batch, header included.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether it holds no record.
    pub fn is_empty(&self) -> bool {
        self.summary.record_count == 0
    }

    /// Records in the body.
    pub fn record_count(&self) -> u32 {
        self.summary.record_count
    }

    /// The largest timestamp; −1 without records.
    pub fn max_timestamp(&self) -> i64 {
        self.summary.max_timestamp
    }

    /// The body, without the gap.
    pub fn body(&self) -> &[u8] {
        self.buffer.get(BATCH_HEADER_LEN..).unwrap_or_default()
    }

    /// The buffer, for another batch.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }
}

impl Default for Seal {
    /// A batch of a producer that is neither idempotent nor transactional.
    fn default() -> Self {
        Self {
            producer_id: NO_PRODUCER_ID,
            producer_epoch: NO_PRODUCER_EPOCH,
            base_sequence: NO_SEQUENCE,
            transactional: false,
            control: false,
            partition_leader_epoch: NO_PARTITION_LEADER_EPOCH,
            base_offset: 0,
        }
    }
}

/// The same records under another producer identity, in `out`, whose capacity is used again: what an epoch bump does
/// to a batch that no broker has taken. The body is not touched; the CRC is new.
///
/// # Errors
/// If `batch` is not exactly one batch.
pub fn reseal(
    batch: &[u8],
    producer_id: i64,
    producer_epoch: i16,
    base_sequence: i32,
    mut out: Vec<u8>,
) -> Result<Vec<u8>, RecordsError> {
    let header = BatchHeader::parse(batch)?;
    if header.size_in_bytes() > batch.len() {
        return Err(RecordsError::Truncated { needed: header.size_in_bytes(), available: batch.len() });
    }
    if header.size_in_bytes() < batch.len() {
        return Err(RecordsError::malformed("bytes after the batch"));
    }
    out.clear();
    out.extend_from_slice(batch);
    write_header(&mut out, BatchHeader { producer_id, producer_epoch, base_sequence, ..header });
    Ok(out)
}

/// Writes the header over the start of a whole batch, with the CRC that it then has, which is returned.
pub(super) fn write_header(batch: &mut [u8], mut header: BatchHeader) -> u32 {
    if let Some(gap) = batch.first_chunk_mut() {
        header.write(gap);
    }
    header.crc = checksum(batch);
    if let Some(gap) = batch.first_chunk_mut() {
        header.write(gap);
    }
    header.crc
}

/// Bytes of what a record holds, with the lengths before each and the header count.
#[inline]
pub(super) fn payload_size(key: Option<&[u8]>, value: Option<&[u8]>, headers: &[Header<'_>]) -> usize {
    nullable_size(key) + nullable_size(value) + headers_size(headers)
}

/// Bytes of the headers and their count.
#[inline]
fn headers_size(headers: &[Header<'_>]) -> usize {
    let each = |header: &Header<'_>| {
        varint::size(header.key.len() as i64) + header.key.len() + nullable_size(header.value)
    };
    varint::size(headers.len() as i64) + headers.iter().map(each).sum::<usize>()
}

/// Appends the bytes that `write` puts at the start of `N` zeroes; it returns how many.
///
/// The bytes are written where they stay. Putting them together on the stack first would cost more than all the rest:
/// a wide load of what was just stored byte by byte waits for the stores.
#[inline]
fn write_short<const N: usize>(buffer: &mut Vec<u8>, write: impl FnOnce(&mut [u8; N]) -> usize) {
    let start = buffer.len();
    buffer.extend_from_slice(&[0; N]);
    let written = buffer.last_chunk_mut().map_or(0, write);
    buffer.truncate(start + written);
}

pub(super) fn nullable_size(bytes: Option<&[u8]>) -> usize {
    varint::size(length_of(bytes)) + bytes.map_or(0, <[u8]>::len)
}

fn length_of(bytes: Option<&[u8]>) -> i64 {
    bytes.map_or(-1, |bytes| bytes.len() as i64)
}

fn open_gap(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.resize(BATCH_HEADER_LEN, 0);
}
