//! [`Decoder`]: reads messages, believes no length, and hands out payloads without copying them.

use bytes::Bytes;

use super::MAX_STRING;
use crate::{DecodeError, Uuid};

/// The most bytes of elements for which an array reserves memory before it has decoded the first.
const ARRAY_RESERVE_MAX: usize = 16 * 1024;

/// Reads primitive types off the front of `bytes`.
///
/// Every method takes the name of the field that it reads, for the error that it may return.
#[derive(Debug, Clone)]
pub struct Decoder {
    bytes: Bytes,
    position: usize,
    /// Where reading ends: at the end of `bytes`, or of the tagged field that is being read. `position <= end` holds
    /// always, and `end <= bytes.len()`.
    end: usize,
}

impl Decoder {
    /// A decoder at the start of `bytes`.
    pub fn new(bytes: Bytes) -> Self {
        let end = bytes.len();
        Self { bytes, position: 0, end }
    }

    /// How many bytes are left.
    pub fn remaining(&self) -> usize {
        self.end - self.position
    }

    /// Says that nothing may be left behind `message`.
    ///
    /// # Errors
    /// [`DecodeError::TrailingBytes`] when something is.
    pub fn expect_empty(&self, message: &'static str) -> Result<(), DecodeError> {
        match self.remaining() {
            0 => Ok(()),
            count => Err(DecodeError::TrailingBytes { message, count }),
        }
    }

    /// Takes `len` bytes off the front without copying them.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn raw(&mut self, len: usize, field: &'static str) -> Result<Bytes, DecodeError> {
        let start = self.position;
        self.advance(len, field)?;
        Ok(self.bytes.slice(start..self.position))
    }

    /// Reads one byte as a boolean; as in Kafka, everything but zero is true.
    ///
    /// # Errors
    /// When no byte is left.
    pub fn bool(&mut self, field: &'static str) -> Result<bool, DecodeError> {
        Ok(self.fixed::<1>(field)? != [0])
    }

    /// Reads an int8.
    ///
    /// # Errors
    /// When no byte is left.
    pub fn i8(&mut self, field: &'static str) -> Result<i8, DecodeError> {
        Ok(i8::from_be_bytes(self.fixed(field)?))
    }

    /// Reads an int16.
    ///
    /// # Errors
    /// When fewer than 2 bytes are left.
    pub fn i16(&mut self, field: &'static str) -> Result<i16, DecodeError> {
        Ok(i16::from_be_bytes(self.fixed(field)?))
    }

    /// Reads an int32.
    ///
    /// # Errors
    /// When fewer than 4 bytes are left.
    pub fn i32(&mut self, field: &'static str) -> Result<i32, DecodeError> {
        Ok(i32::from_be_bytes(self.fixed(field)?))
    }

    /// Reads an int64.
    ///
    /// # Errors
    /// When fewer than 8 bytes are left.
    pub fn i64(&mut self, field: &'static str) -> Result<i64, DecodeError> {
        Ok(i64::from_be_bytes(self.fixed(field)?))
    }

    /// Reads a uint16.
    ///
    /// # Errors
    /// When fewer than 2 bytes are left.
    pub fn u16(&mut self, field: &'static str) -> Result<u16, DecodeError> {
        Ok(u16::from_be_bytes(self.fixed(field)?))
    }

    /// Reads a uint32.
    ///
    /// # Errors
    /// When fewer than 4 bytes are left.
    pub fn u32(&mut self, field: &'static str) -> Result<u32, DecodeError> {
        Ok(u32::from_be_bytes(self.fixed(field)?))
    }

    /// Reads a float64.
    ///
    /// # Errors
    /// When fewer than 8 bytes are left.
    pub fn f64(&mut self, field: &'static str) -> Result<f64, DecodeError> {
        Ok(f64::from_be_bytes(self.fixed(field)?))
    }

    /// Reads the 16 bytes of an id.
    ///
    /// # Errors
    /// When fewer than 16 bytes are left.
    pub fn uuid(&mut self, field: &'static str) -> Result<Uuid, DecodeError> {
        Ok(Uuid(self.fixed(field)?))
    }

    /// Reads an unsigned variable-length integer of at most 5 bytes.
    ///
    /// # Errors
    /// When it is longer, does not fit in 32 bits, or the bytes end in it.
    pub fn unsigned_varint(&mut self, field: &'static str) -> Result<u32, DecodeError> {
        let mut value = 0u32;
        for shift in [0, 7, 14, 21, 28] {
            let [byte] = self.fixed(field)?;
            if shift == 28 && byte > 0x0f {
                break;
            }
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(DecodeError::VarintTooLong { field })
    }

    /// Reads a zigzag variable-length integer of at most 10 bytes.
    ///
    /// # Errors
    /// When it is longer, does not fit in 64 bits, or the bytes end in it.
    pub fn varlong(&mut self, field: &'static str) -> Result<i64, DecodeError> {
        let mut value = 0u64;
        for shift in (0..=63).step_by(7) {
            let [byte] = self.fixed(field)?;
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err(DecodeError::VarintTooLong { field })
    }

    /// Reads a string that cannot be null.
    ///
    /// # Errors
    /// When it is null, longer than what is left or than 32,767 bytes, or not UTF-8.
    pub fn string(&mut self, flexible: bool, field: &'static str) -> Result<String, DecodeError> {
        self.nullable_string(flexible, field)?.ok_or(DecodeError::UnexpectedNull { field })
    }

    /// Reads a string or null.
    ///
    /// # Errors
    /// When it is longer than what is left or than 32,767 bytes, or not UTF-8.
    pub fn nullable_string(
        &mut self,
        flexible: bool,
        field: &'static str,
    ) -> Result<Option<String>, DecodeError> {
        let length = match flexible {
            true => self.compact_length(field)?,
            false => self.i16(field)?.into(),
        };
        let Some(len) = nullable(length, field)? else { return Ok(None) };
        if len > MAX_STRING {
            return Err(DecodeError::StringTooLong { field, length: len });
        }
        let start = self.position;
        self.advance(len, field)?;
        match std::str::from_utf8(&self.bytes[start..self.position]) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(_) => Err(DecodeError::InvalidUtf8 { field }),
        }
    }

    /// Reads a byte field that cannot be null, without copying it: it keeps the whole input alive.
    ///
    /// # Errors
    /// When it is null or longer than what is left.
    pub fn bytes(&mut self, flexible: bool, field: &'static str) -> Result<Bytes, DecodeError> {
        self.nullable_bytes(flexible, field)?.ok_or(DecodeError::UnexpectedNull { field })
    }

    /// Reads a byte field or null, without copying it: it keeps the whole input alive.
    ///
    /// # Errors
    /// When it is longer than what is left.
    pub fn nullable_bytes(
        &mut self,
        flexible: bool,
        field: &'static str,
    ) -> Result<Option<Bytes>, DecodeError> {
        match self.length(flexible, field)? {
            Some(len) => self.raw(len, field).map(Some),
            None => Ok(None),
        }
    }

    /// Reads an array that cannot be null: its count, then each element by `read`.
    ///
    /// # Errors
    /// As for [`Decoder::nullable_array`], and when it is null.
    pub fn array<T>(
        &mut self,
        flexible: bool,
        element_min: usize,
        field: &'static str,
        read: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        self.nullable_array(flexible, element_min, field, read)?.ok_or(DecodeError::UnexpectedNull { field })
    }

    /// Reads an array or null. No element takes fewer than `element_min` bytes on the wire, which bounds the count
    /// before anything is allocated; beyond a small start, memory grows only with what has been decoded.
    ///
    /// # Errors
    /// When the bytes that are left cannot hold the count, or what `read` says.
    pub fn nullable_array<T>(
        &mut self,
        flexible: bool,
        element_min: usize,
        field: &'static str,
        mut read: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Option<Vec<T>>, DecodeError> {
        let Some(count) = self.length(flexible, field)? else { return Ok(None) };
        let remaining = self.remaining();
        if count > remaining / element_min.max(1) {
            return Err(DecodeError::TooManyElements { field, count, remaining });
        }
        let start = remaining.min(ARRAY_RESERVE_MAX) / size_of::<T>().max(1);
        let mut values = Vec::with_capacity(count.min(start.max(1)));
        for _ in 0..count {
            values.push(read(self)?);
        }
        Ok(Some(values))
    }

    /// Reads the tagged fields at the end of a struct (KIP-482). `read` gets each tag and a decoder that ends with
    /// the field, and says whether it knows the tag; what it does not know is skipped.
    ///
    /// # Errors
    /// When a field is longer than what is left or than its value, or what `read` says.
    pub fn tagged_fields(
        &mut self,
        field: &'static str,
        mut read: impl FnMut(u32, &mut Self) -> Result<bool, DecodeError>,
    ) -> Result<(), DecodeError> {
        for _ in 0..self.unsigned_varint(field)? {
            let tag = self.unsigned_varint(field)?;
            let size = self.unsigned_varint(field)? as usize;
            let start = self.position;
            self.advance(size, field)?;
            let (after, end) = (self.position, self.end);
            (self.position, self.end) = (start, after);
            if read(tag, self)? && self.remaining() > 0 {
                return Err(DecodeError::TaggedFieldSize { field, tag, unread: self.remaining() });
            }
            (self.position, self.end) = (after, end);
        }
        Ok(())
    }

    /// Skips all tagged fields at the end of a struct that knows none.
    ///
    /// # Errors
    /// When a field is longer than what is left.
    pub fn skip_tagged_fields(&mut self, field: &'static str) -> Result<(), DecodeError> {
        self.tagged_fields(field, |_, _| Ok(false))
    }

    /// The length of a byte field or the count of an array; None when it is null.
    fn length(&mut self, flexible: bool, field: &'static str) -> Result<Option<usize>, DecodeError> {
        let length = match flexible {
            true => self.compact_length(field)?,
            false => self.i32(field)?.into(),
        };
        nullable(length, field)
    }

    fn compact_length(&mut self, field: &'static str) -> Result<i64, DecodeError> {
        Ok(i64::from(self.unsigned_varint(field)?) - 1)
    }

    fn fixed<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], DecodeError> {
        match self.bytes[self.position..self.end].first_chunk() {
            Some(bytes) => {
                self.position += N;
                Ok(*bytes)
            }
            None => Err(self.truncated(N, field)),
        }
    }

    fn advance(&mut self, len: usize, field: &'static str) -> Result<(), DecodeError> {
        if len > self.remaining() {
            return Err(self.truncated(len, field));
        }
        self.position += len;
        Ok(())
    }

    #[cold]
    fn truncated(&self, needed: usize, field: &'static str) -> DecodeError {
        DecodeError::Truncated { field, needed, remaining: self.remaining() }
    }
}

/// -1 stands for null; what is below it stands for nothing.
fn nullable(length: i64, field: &'static str) -> Result<Option<usize>, DecodeError> {
    match length {
        -1 => Ok(None),
        length => {
            usize::try_from(length).map(Some).map_err(|_| DecodeError::NegativeLength { field, length })
        }
    }
}
