use super::{Attributes, BATCH_HEADER_LEN, LOG_OVERHEAD, MAGIC, RecordsError, increment_sequence};

/// The fixed 61 bytes before a batch's records. Integers are big-endian on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchHeader {
    /// Offset of the first record that the batch was made with; the leader sets it. Not under the CRC.
    pub base_offset: i64,
    /// Bytes that follow this field. Not under the CRC.
    pub batch_length: i32,
    /// Epoch of the leader that stored the batch, −1 before. Not under the CRC.
    pub partition_leader_epoch: i32,
    /// The message format: always 2 here.
    pub magic: i8,
    /// CRC-32C of everything from the attributes to the end.
    pub crc: u32,
    /// Codec, timestamp type and flags.
    pub attributes: Attributes,
    /// Offset of the last record less the base offset. Compaction keeps it when the last record goes.
    pub last_offset_delta: i32,
    /// Milliseconds that the records' timestamp deltas start from (or the delete horizon).
    pub base_timestamp: i64,
    /// The largest timestamp in milliseconds; with LogAppendTime the timestamp of every record.
    pub max_timestamp: i64,
    /// Id of an idempotent producer, or −1.
    pub producer_id: i64,
    /// Epoch of an idempotent producer, or −1.
    pub producer_epoch: i16,
    /// Sequence number of the first record, or −1.
    pub base_sequence: i32,
    /// Records in the body: 0 is legal (compaction empties batches).
    pub record_count: i32,
}

impl BatchHeader {
    /// Reads the header at the start of `bytes`, which may hold more.
    ///
    /// Fails for a message format other than 2 as soon as that byte is there, for a length smaller than a header's,
    /// for negative counts, and when there are fewer than 61 bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordsError> {
        if let Some(&magic) = bytes.get(16)
            && magic.cast_signed() != MAGIC
        {
            return Err(RecordsError::UnsupportedMagic(magic.cast_signed()));
        }
        let Some(bytes) = bytes.first_chunk::<BATCH_HEADER_LEN>() else {
            return Err(RecordsError::Truncated { needed: BATCH_HEADER_LEN, available: bytes.len() });
        };
        let header = Self {
            base_offset: i64::from_be_bytes(at(bytes, 0)),
            batch_length: i32::from_be_bytes(at(bytes, 8)),
            partition_leader_epoch: i32::from_be_bytes(at(bytes, 12)),
            magic: i8::from_be_bytes(at(bytes, 16)),
            crc: u32::from_be_bytes(at(bytes, 17)),
            attributes: Attributes(i16::from_be_bytes(at(bytes, 21))),
            last_offset_delta: i32::from_be_bytes(at(bytes, 23)),
            base_timestamp: i64::from_be_bytes(at(bytes, 27)),
            max_timestamp: i64::from_be_bytes(at(bytes, 35)),
            producer_id: i64::from_be_bytes(at(bytes, 43)),
            producer_epoch: i16::from_be_bytes(at(bytes, 51)),
            base_sequence: i32::from_be_bytes(at(bytes, 53)),
            record_count: i32::from_be_bytes(at(bytes, 57)),
        };
        if header.batch_length < (BATCH_HEADER_LEN - LOG_OVERHEAD) as i32 {
            return Err(RecordsError::malformed("the batch length is less than a header's"));
        }
        if header.record_count < 0 {
            return Err(RecordsError::malformed("a negative record count"));
        }
        if header.last_offset_delta < 0 {
            return Err(RecordsError::malformed("a negative last offset delta"));
        }
        Ok(header)
    }

    /// The 61 bytes as they go on the wire.
    pub fn to_bytes(&self) -> [u8; BATCH_HEADER_LEN] {
        let mut out = [0; BATCH_HEADER_LEN];
        self.write(&mut out);
        out
    }

    /// Writes the header over the 61 bytes of `out`.
    pub fn write(&self, out: &mut [u8; BATCH_HEADER_LEN]) {
        out[0..8].copy_from_slice(&self.base_offset.to_be_bytes());
        out[8..12].copy_from_slice(&self.batch_length.to_be_bytes());
        out[12..16].copy_from_slice(&self.partition_leader_epoch.to_be_bytes());
        out[16..17].copy_from_slice(&self.magic.to_be_bytes());
        out[17..21].copy_from_slice(&self.crc.to_be_bytes());
        out[21..23].copy_from_slice(&self.attributes.0.to_be_bytes());
        out[23..27].copy_from_slice(&self.last_offset_delta.to_be_bytes());
        out[27..35].copy_from_slice(&self.base_timestamp.to_be_bytes());
        out[35..43].copy_from_slice(&self.max_timestamp.to_be_bytes());
        out[43..51].copy_from_slice(&self.producer_id.to_be_bytes());
        out[51..53].copy_from_slice(&self.producer_epoch.to_be_bytes());
        out[53..57].copy_from_slice(&self.base_sequence.to_be_bytes());
        out[57..61].copy_from_slice(&self.record_count.to_be_bytes());
    }

    /// Bytes of the whole batch, header included.
    pub fn size_in_bytes(&self) -> usize {
        LOG_OVERHEAD + usize::try_from(self.batch_length).unwrap_or(0)
    }

    /// Offset of the last record that the batch was made with.
    pub fn last_offset(&self) -> i64 {
        self.base_offset.wrapping_add(i64::from(self.last_offset_delta))
    }

    /// Offset after the batch: where the next one starts.
    pub fn next_offset(&self) -> i64 {
        self.last_offset().wrapping_add(1)
    }

    /// Sequence number of the last record, wrapping to 0 after `i32::MAX`; −1 when the batch has none.
    pub fn last_sequence(&self) -> i32 {
        if self.base_sequence < 0 {
            return super::NO_SEQUENCE;
        }
        increment_sequence(self.base_sequence, self.last_offset_delta)
    }

    /// Whether an idempotent producer wrote the batch.
    pub fn has_producer_id(&self) -> bool {
        self.producer_id > super::NO_PRODUCER_ID
    }
}

fn at<const N: usize>(bytes: &[u8; BATCH_HEADER_LEN], offset: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[offset..offset + N]);
    field
}

/// CRC-32C of a whole batch: of everything from the attributes on.
pub(super) fn checksum(batch: &[u8]) -> u32 {
    crc32c::crc32c(batch.get(ATTRIBUTES_OFFSET..).unwrap_or_default())
}

/// Where the part under the checksum starts.
const ATTRIBUTES_OFFSET: usize = 21;

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> BatchHeader {
        BatchHeader {
            base_offset: 0x0102_0304_0506_0708,
            batch_length: 49,
            partition_leader_epoch: 7,
            magic: MAGIC,
            crc: 0xdead_beef,
            attributes: Attributes(0x10),
            last_offset_delta: 3,
            base_timestamp: -1,
            max_timestamp: i64::MAX,
            producer_id: 9,
            producer_epoch: 2,
            base_sequence: i32::MAX - 1,
            record_count: 4,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(BatchHeader::parse(&header().to_bytes()), Ok(header()));
    }

    #[test]
    fn sequences_wrap_to_zero() {
        assert_eq!(header().last_sequence(), 1);
        assert_eq!(increment_sequence(i32::MAX, 1), 0);
        assert_eq!(increment_sequence(5, 0), 5);
        assert_eq!(super::super::decrement_sequence(0, 1), i32::MAX);
        assert_eq!(super::super::decrement_sequence(1, 3), i32::MAX - 1);
        assert_eq!(super::super::decrement_sequence(3, 3), 0);
        assert_eq!(BatchHeader { base_sequence: -1, ..header() }.last_sequence(), -1);
    }

    #[test]
    fn old_formats_are_named_even_when_cut_off() {
        let mut bytes = header().to_bytes();
        for magic in [0, 1, 3, -1] {
            bytes[16] = i8::cast_unsigned(magic);
            assert_eq!(BatchHeader::parse(&bytes), Err(RecordsError::UnsupportedMagic(magic)));
            assert_eq!(BatchHeader::parse(&bytes[..17]), Err(RecordsError::UnsupportedMagic(magic)));
        }
        assert_eq!(
            BatchHeader::parse(&bytes[..16]),
            Err(RecordsError::Truncated { needed: BATCH_HEADER_LEN, available: 16 })
        );
    }

    #[test]
    fn impossible_fields_are_refused() {
        for bad in [
            BatchHeader { batch_length: 48, ..header() },
            BatchHeader { batch_length: -1, ..header() },
            BatchHeader { record_count: -1, ..header() },
            BatchHeader { last_offset_delta: -1, ..header() },
        ] {
            assert!(
                matches!(BatchHeader::parse(&bad.to_bytes()), Err(RecordsError::Malformed { .. })),
                "{bad:?}"
            );
        }
    }
}
