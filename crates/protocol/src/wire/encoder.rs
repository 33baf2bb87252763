//! [`Encoder`]: writes messages, and leaves payloads where they are.

use bytes::{BufMut, Bytes, BytesMut};

use super::MAX_STRING;
use crate::{EncodeError, Uuid};

/// A byte field of at least this length, in bytes, becomes a chunk of its own instead of being copied.
pub const PAYLOAD_CHUNK_MIN: usize = 1024;

const MAX_LENGTH: usize = i32::MAX as usize;

/// Collects a message as a list of chunks: small fields together in one buffer, payloads as they are.
#[derive(Debug, Default)]
pub struct Encoder {
    /// Everything but the payloads.
    small: BytesMut,
    /// Where in `small` each payload belongs. The positions never decrease.
    payloads: Vec<(usize, Bytes)>,
    payload_bytes: usize,
}

impl Encoder {
    /// An encoder that has written nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// An encoder with room for `bytes` bytes beside the payloads.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { small: BytesMut::with_capacity(bytes), ..Self::default() }
    }

    /// How many bytes have been written, payloads included.
    pub fn len(&self) -> usize {
        self.small.len() + self.payload_bytes
    }

    /// Whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What was written, in order; no chunk is empty.
    pub fn finish(self) -> Vec<Bytes> {
        let small = self.small.freeze();
        let mut chunks = Vec::with_capacity(2 * self.payloads.len() + 1);
        let mut written = 0;
        for (position, payload) in self.payloads {
            if position > written {
                chunks.push(small.slice(written..position));
                written = position;
            }
            chunks.push(payload);
        }
        if written < small.len() {
            chunks.push(small.slice(written..));
        }
        chunks
    }

    /// Overwrites the four bytes at the very start, which must have been written, with `value`.
    pub(crate) fn patch_first_i32(&mut self, value: i32) {
        if let Some(first) = self.small.first_chunk_mut() {
            *first = value.to_be_bytes();
        }
    }

    /// Writes a boolean as one byte.
    pub fn bool(&mut self, value: bool) {
        self.small.put_u8(u8::from(value));
    }

    /// Writes an int8.
    pub fn i8(&mut self, value: i8) {
        self.small.put_i8(value);
    }

    /// Writes an int16.
    pub fn i16(&mut self, value: i16) {
        self.small.put_i16(value);
    }

    /// Writes an int32.
    pub fn i32(&mut self, value: i32) {
        self.small.put_i32(value);
    }

    /// Writes an int64.
    pub fn i64(&mut self, value: i64) {
        self.small.put_i64(value);
    }

    /// Writes a uint16.
    pub fn u16(&mut self, value: u16) {
        self.small.put_u16(value);
    }

    /// Writes a uint32.
    pub fn u32(&mut self, value: u32) {
        self.small.put_u32(value);
    }

    /// Writes a float64.
    pub fn f64(&mut self, value: f64) {
        self.small.put_f64(value);
    }

    /// Writes the 16 bytes of an id.
    pub fn uuid(&mut self, value: Uuid) {
        self.small.put_slice(&value.0);
    }

    /// Writes an unsigned variable-length integer: 7 bits a byte, the lowest first.
    pub fn unsigned_varint(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.small.put_u8(value as u8 | 0x80);
            value >>= 7;
        }
        self.small.put_u8(value as u8);
    }

    /// Writes bytes as they are, without a length.
    pub fn raw(&mut self, value: &[u8]) {
        self.small.put_slice(value);
    }

    /// Writes a string.
    ///
    /// # Errors
    /// When it is longer than 32,767 bytes.
    pub fn string(&mut self, value: &str, flexible: bool, field: &'static str) -> Result<(), EncodeError> {
        if value.len() > MAX_STRING {
            return Err(EncodeError::TooLong { field, len: value.len(), max: MAX_STRING });
        }
        if flexible {
            self.unsigned_varint(value.len() as u32 + 1);
        } else {
            self.i16(value.len() as i16);
        }
        self.raw(value.as_bytes());
        Ok(())
    }

    /// Writes a string or null.
    ///
    /// # Errors
    /// When it is longer than 32,767 bytes.
    pub fn nullable_string(
        &mut self,
        value: Option<&str>,
        flexible: bool,
        field: &'static str,
    ) -> Result<(), EncodeError> {
        match value {
            Some(value) => self.string(value, flexible, field)?,
            None if flexible => self.unsigned_varint(0),
            None => self.i16(-1),
        }
        Ok(())
    }

    /// Writes a byte field; from [`PAYLOAD_CHUNK_MIN`] bytes on it is not copied.
    ///
    /// # Errors
    /// When it is longer than 2 GiB.
    pub fn bytes(&mut self, value: &Bytes, flexible: bool, field: &'static str) -> Result<(), EncodeError> {
        self.length(value.len(), flexible, field)?;
        self.payload(value);
        Ok(())
    }

    /// Writes a byte field or null; from [`PAYLOAD_CHUNK_MIN`] bytes on it is not copied.
    ///
    /// # Errors
    /// When it is longer than 2 GiB.
    pub fn nullable_bytes(
        &mut self,
        value: Option<&Bytes>,
        flexible: bool,
        field: &'static str,
    ) -> Result<(), EncodeError> {
        match value {
            Some(value) => self.bytes(value, flexible, field),
            None => {
                self.null_length(flexible);
                Ok(())
            }
        }
    }

    /// Writes an array: its count, then each element by `write`.
    ///
    /// # Errors
    /// When there are more than 2³¹ elements, or what `write` says.
    pub fn array<T>(
        &mut self,
        values: &[T],
        flexible: bool,
        field: &'static str,
        mut write: impl FnMut(&mut Self, &T) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.length(values.len(), flexible, field)?;
        values.iter().try_for_each(|value| write(self, value))
    }

    /// Writes an array or null.
    ///
    /// # Errors
    /// As for [`Encoder::array`].
    pub fn nullable_array<T>(
        &mut self,
        values: Option<&[T]>,
        flexible: bool,
        field: &'static str,
        write: impl FnMut(&mut Self, &T) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        match values {
            Some(values) => self.array(values, flexible, field, write),
            None => {
                self.null_length(flexible);
                Ok(())
            }
        }
    }

    /// Writes one tagged field (KIP-482): its tag, its size, and its value by `write`.
    ///
    /// # Errors
    /// When it is longer than 2 GiB, or what `write` says.
    pub fn tagged_field(
        &mut self,
        tag: u32,
        field: &'static str,
        write: impl FnOnce(&mut Self) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.unsigned_varint(tag);
        // The size is known only when the value is written: it moves up to make room.
        let (start, payloads, before) = (self.small.len(), self.payloads.len(), self.len());
        write(self)?;
        let size = self.len() - before;
        if size > MAX_LENGTH {
            return Err(EncodeError::TooLong { field, len: size, max: MAX_LENGTH });
        }
        let end = self.small.len();
        self.unsigned_varint(size as u32);
        let shift = self.small.len() - end;
        self.small[start..].rotate_right(shift);
        for (position, _) in &mut self.payloads[payloads..] {
            *position += shift;
        }
        Ok(())
    }

    fn length(&mut self, len: usize, flexible: bool, field: &'static str) -> Result<(), EncodeError> {
        if len > MAX_LENGTH {
            return Err(EncodeError::TooLong { field, len, max: MAX_LENGTH });
        }
        if flexible {
            self.unsigned_varint(len as u32 + 1);
        } else {
            self.i32(len as i32);
        }
        Ok(())
    }

    fn null_length(&mut self, flexible: bool) {
        if flexible {
            self.unsigned_varint(0);
        } else {
            self.i32(-1);
        }
    }

    fn payload(&mut self, value: &Bytes) {
        if value.len() < PAYLOAD_CHUNK_MIN {
            self.raw(value);
        } else {
            self.payload_bytes += value.len();
            self.payloads.push((self.small.len(), value.clone()));
        }
    }
}
