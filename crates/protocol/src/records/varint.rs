//! Kafka's zigzag varints (`ByteUtils.writeVarint`, `writeVarlong`): at most 5 bytes for 32 bits, 10 for 64.

use super::RecordsError;

/// The most bytes that a 32-bit varint takes.
pub(super) const MAX_VARINT: usize = 5;

/// The most bytes that a 64-bit varint takes.
pub(super) const MAX_VARLONG: usize = 10;

const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// Bytes that `value` takes. The 32- and the 64-bit encodings of the same number are equal.
#[inline]
pub(super) const fn size(value: i64) -> usize {
    let raw = zigzag(value);
    // Lengths and deltas nearly always take one byte or two.
    if raw < 1 << 7 {
        1
    } else if raw < 1 << 14 {
        2
    } else {
        (u64::BITS - raw.leading_zeros()).div_ceil(7) as usize
    }
}

/// Writes `value` at `at` and returns where it ends. The caller left [`MAX_VARLONG`] bytes of room (5 for 32 bits).
#[inline]
pub(super) fn put<const N: usize>(out: &mut [u8; N], at: usize, value: i64) -> usize {
    let mut rest = zigzag(value);
    let mut at = at;
    while rest >= 0x80 {
        out[at] = (rest as u8) | 0x80;
        rest >>= 7;
        at += 1;
    }
    out[at] = rest as u8;
    at + 1
}

/// Appends `value`.
pub(super) fn push(out: &mut Vec<u8>, value: i64) {
    let mut bytes = [0; MAX_VARLONG];
    let end = put(&mut bytes, 0, value);
    out.extend_from_slice(&bytes[..end]);
}

/// A position in borrowed bytes that reads what records are made of, never past the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// A cursor over `span` alone; positions stay those of the whole.
    pub(super) fn inside(&self, span: Span) -> Self {
        Self { bytes: self.bytes.get(..span.end).unwrap_or_default(), at: span.start }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    #[inline]
    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, RecordsError> {
        let byte = *self.bytes.get(self.at).ok_or(RecordsError::Malformed { what })?;
        self.at += 1;
        Ok(byte)
    }

    /// A varint of at most 5 bytes.
    #[inline]
    pub(super) fn varint(&mut self, what: &'static str) -> Result<i32, RecordsError> {
        // Lengths and deltas nearly always fit one byte.
        if let Some(&first) = self.bytes.get(self.at)
            && first < 0x80
        {
            self.at += 1;
            return Ok(i32::from(first >> 1) ^ -i32::from(first & 1));
        }
        let raw = self.raw::<MAX_VARINT>(what)?;
        // Bits past the 32nd are dropped, as Java's shift drops them.
        let raw = raw as u32;
        Ok((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
    }

    /// A varint of at most 10 bytes.
    #[inline]
    pub(super) fn varlong(&mut self, what: &'static str) -> Result<i64, RecordsError> {
        let raw = self.raw::<MAX_VARLONG>(what)?;
        Ok((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
    }

    fn raw<const MAX: usize>(&mut self, what: &'static str) -> Result<u64, RecordsError> {
        let mut value = 0u64;
        for (i, &byte) in self.bytes.get(self.at..).unwrap_or_default().iter().take(MAX).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.at += i + 1;
                return Ok(value);
            }
        }
        Err(RecordsError::Malformed { what })
    }

    /// `length` bytes, as the range that they take.
    #[inline]
    pub(super) fn take(&mut self, length: i32, what: &'static str) -> Result<Span, RecordsError> {
        let length = usize::try_from(length).map_err(|_| RecordsError::Malformed { what })?;
        if length > self.remaining() {
            return Err(RecordsError::Malformed { what });
        }
        let start = self.at;
        self.at += length;
        Ok(Span { start, end: self.at })
    }

    /// A length and that many bytes; −1 (and, as Kafka reads it, any negative length) is null.
    #[inline]
    pub(super) fn nullable(&mut self, what: &'static str) -> Result<Option<Span>, RecordsError> {
        let length = self.varint(what)?;
        if length < 0 { Ok(None) } else { self.take(length, what).map(Some) }
    }
}

/// A range of a batch's body, checked to be inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_values_agree_at_every_width() {
        for shift in 0..64 {
            for value in
                [1i64 << shift, (1i64 << shift).wrapping_sub(1), -(1i64 << (shift % 63)), !(1i64 << shift)]
            {
                let mut out = Vec::new();
                push(&mut out, value);
                assert_eq!(out.len(), size(value), "{value}");
                let mut cursor = Cursor::new(&out, 0);
                assert_eq!(cursor.varlong("v"), Ok(value));
                assert_eq!(cursor.remaining(), 0);
                if let Ok(small) = i32::try_from(value) {
                    assert_eq!(Cursor::new(&out, 0).varint("v"), Ok(small));
                }
            }
        }
        assert_eq!(size(0), 1);
        assert_eq!(size(i64::MIN), 10);
        assert_eq!(size(i64::from(i32::MIN)), 5);
    }

    #[test]
    fn varints_end_at_their_bound_and_at_the_bytes_end() {
        let endless = [0x80u8; 11];
        assert!(Cursor::new(&endless, 0).varint("v").is_err());
        assert!(Cursor::new(&endless, 0).varlong("v").is_err());
        assert!(Cursor::new(&[0x80], 0).varint("v").is_err());
        assert!(Cursor::new(&[], 0).varint("v").is_err());
        let mut six = [0x80u8; 6];
        six[5] = 1;
        assert!(Cursor::new(&six, 0).varint("v").is_err());
        assert!(Cursor::new(&six, 0).varlong("v").is_ok());
    }
}
