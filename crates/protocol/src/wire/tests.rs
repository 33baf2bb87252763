use bytes::Bytes;

use super::{Decoder, Encoder, PAYLOAD_CHUNK_MIN};
use crate::{DecodeError, EncodeError, Uuid};

const FIELD: &str = "Test.field";

fn written(write: impl FnOnce(&mut Encoder)) -> Vec<u8> {
    let mut enc = Encoder::new();
    write(&mut enc);
    let len = enc.len();
    let bytes = enc.finish().concat();
    assert_eq!(bytes.len(), len);
    bytes
}

fn reading(bytes: &[u8]) -> Decoder {
    Decoder::new(Bytes::copy_from_slice(bytes))
}

#[test]
fn numbers_are_big_endian() {
    let bytes = written(|enc| {
        enc.bool(true);
        enc.i8(-2);
        enc.i16(-3);
        enc.u16(0xfff0);
        enc.i32(-4);
        enc.u32(0xffff_fff0);
        enc.i64(-5);
        enc.f64(1.5);
        enc.uuid(Uuid([9; 16]));
    });
    assert_eq!(bytes[..8], [1, 0xfe, 0xff, 0xfd, 0xff, 0xf0, 0xff, 0xff]);
    let mut dec = reading(&bytes);
    assert_eq!(dec.bool(FIELD), Ok(true));
    assert_eq!(dec.i8(FIELD), Ok(-2));
    assert_eq!(dec.i16(FIELD), Ok(-3));
    assert_eq!(dec.u16(FIELD), Ok(0xfff0));
    assert_eq!(dec.i32(FIELD), Ok(-4));
    assert_eq!(dec.u32(FIELD), Ok(0xffff_fff0));
    assert_eq!(dec.i64(FIELD), Ok(-5));
    assert_eq!(dec.f64(FIELD), Ok(1.5));
    assert_eq!(dec.uuid(FIELD), Ok(Uuid([9; 16])));
    assert_eq!(dec.expect_empty("Test"), Ok(()));
    assert_eq!(dec.i8(FIELD), Err(DecodeError::Truncated { field: FIELD, needed: 1, remaining: 0 }));
}

#[test]
fn unsigned_varints_take_seven_bits_a_byte() {
    for (value, bytes) in [
        (0, &[0][..]),
        (127, &[0x7f]),
        (128, &[0x80, 1]),
        (16_383, &[0xff, 0x7f]),
        (16_384, &[0x80, 0x80, 1]),
        (u32::MAX, &[0xff, 0xff, 0xff, 0xff, 0x0f]),
    ] {
        assert_eq!(written(|enc| enc.unsigned_varint(value)), bytes);
        assert_eq!(reading(bytes).unsigned_varint(FIELD), Ok(value));
    }
}

#[test]
fn varints_that_are_too_long_are_refused() {
    let too_long = Err(DecodeError::VarintTooLong { field: FIELD });
    assert_eq!(reading(&[0x80, 0x80, 0x80, 0x80, 0x80, 0]).unsigned_varint(FIELD), too_long);
    assert_eq!(reading(&[0xff, 0xff, 0xff, 0xff, 0x10]).unsigned_varint(FIELD), too_long);
    let too_long = Err(DecodeError::VarintTooLong { field: FIELD });
    assert_eq!(reading(&[0x80; 11]).varlong(FIELD), too_long);
    assert_eq!(reading(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).varlong(FIELD), too_long);
    assert!(matches!(reading(&[0x80]).unsigned_varint(FIELD), Err(DecodeError::Truncated { .. })));
}

#[test]
fn varlongs_are_zigzag() {
    for (value, bytes) in [
        (0, &[0][..]),
        (-1, &[1]),
        (1, &[2]),
        (-65, &[0x81, 1]),
        (i64::MAX, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
        (i64::MIN, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
    ] {
        assert_eq!(reading(bytes).varlong(FIELD), Ok(value));
    }
}

#[test]
fn strings_know_null_and_utf8() {
    assert_eq!(written(|enc| enc.string("aé", false, FIELD).unwrap()), [0, 3, b'a', 0xc3, 0xa9]);
    assert_eq!(written(|enc| enc.string("aé", true, FIELD).unwrap()), [4, b'a', 0xc3, 0xa9]);
    assert_eq!(written(|enc| enc.nullable_string(None, false, FIELD).unwrap()), [0xff, 0xff]);
    assert_eq!(written(|enc| enc.nullable_string(None, true, FIELD).unwrap()), [0]);
    assert_eq!(reading(&[0xff, 0xff]).nullable_string(false, FIELD), Ok(None));
    assert_eq!(reading(&[1]).nullable_string(true, FIELD), Ok(Some(String::new())));
    assert_eq!(reading(&[0]).string(true, FIELD), Err(DecodeError::UnexpectedNull { field: FIELD }));
    assert_eq!(reading(&[2, 0xc3]).string(true, FIELD), Err(DecodeError::InvalidUtf8 { field: FIELD }));
    let negative = DecodeError::NegativeLength { field: FIELD, length: -2 };
    assert_eq!(reading(&[0xff, 0xfe]).string(false, FIELD), Err(negative));
    let truncated = DecodeError::Truncated { field: FIELD, needed: 0x7fff, remaining: 1 };
    assert_eq!(reading(&[0x7f, 0xff, b'a']).string(false, FIELD), Err(truncated));
}

#[test]
fn a_string_has_at_most_32767_bytes() {
    let text = "x".repeat(32_768);
    for flexible in [false, true] {
        let mut enc = Encoder::new();
        let error = EncodeError::TooLong { field: FIELD, len: 32_768, max: 32_767 };
        assert_eq!(enc.string(&text, flexible, FIELD), Err(error));
        assert_eq!(enc.string(&text[1..], flexible, FIELD), Ok(()));
    }
    let bytes = written(|enc| {
        enc.unsigned_varint(32_769);
        enc.raw(text.as_bytes());
    });
    let error = DecodeError::StringTooLong { field: FIELD, length: 32_768 };
    assert_eq!(reading(&bytes).string(true, FIELD), Err(error));
}

#[test]
fn payloads_are_not_copied_in_either_direction() {
    let payload = Bytes::from(vec![7; PAYLOAD_CHUNK_MIN]);
    let small = Bytes::from(vec![8; PAYLOAD_CHUNK_MIN - 1]);
    let mut enc = Encoder::new();
    enc.bytes(&payload, false, FIELD).unwrap();
    enc.bytes(&small, false, FIELD).unwrap();
    enc.nullable_bytes(Some(&payload), true, FIELD).unwrap();
    let chunks = enc.finish();
    assert_eq!(chunks.iter().map(Bytes::len).collect::<Vec<_>>(), [4, 1024, 4 + 1023 + 2, 1024]);
    assert_eq!([chunks[1].as_ptr(), chunks[3].as_ptr()], [payload.as_ptr(); 2]);

    let input = Bytes::from(chunks.concat());
    let mut dec = Decoder::new(input.clone());
    let first = dec.bytes(false, FIELD).unwrap();
    assert_eq!(first.as_ptr(), input[4..].as_ptr());
    assert_eq!(first, payload);
    assert_eq!(dec.bytes(false, FIELD), Ok(small));
    assert_eq!(dec.nullable_bytes(true, FIELD), Ok(Some(payload)));
}

#[test]
fn a_tagged_field_gets_its_size_though_it_holds_payloads_and_tagged_fields() {
    let payload = Bytes::from(vec![7; 2 * PAYLOAD_CHUNK_MIN]);
    let mut enc = Encoder::new();
    enc.bytes(&payload, true, FIELD).unwrap();
    enc.unsigned_varint(1);
    enc.tagged_field(200, FIELD, |enc| {
        enc.i8(1);
        enc.bytes(&payload, true, FIELD)?;
        enc.unsigned_varint(1);
        enc.tagged_field(3, FIELD, |enc| enc.bytes(&payload, true, FIELD))?;
        enc.i8(2);
        Ok(())
    })
    .unwrap();
    let len = enc.len();
    let bytes: Bytes = enc.finish().concat().into();
    assert_eq!(bytes.len(), len);

    let mut dec = Decoder::new(bytes);
    assert_eq!(dec.bytes(true, FIELD).as_ref(), Ok(&payload));
    let mut seen = Vec::new();
    dec.tagged_fields(FIELD, |tag, dec| {
        seen.push(tag);
        assert_eq!(dec.i8(FIELD)?, 1);
        assert_eq!(dec.bytes(true, FIELD)?, payload);
        dec.tagged_fields(FIELD, |tag, dec| {
            seen.push(tag);
            assert_eq!(dec.bytes(true, FIELD)?, payload);
            Ok(true)
        })?;
        assert_eq!(dec.i8(FIELD)?, 2);
        Ok(true)
    })
    .unwrap();
    assert_eq!(seen, [200, 3]);
    assert_eq!(dec.expect_empty("Test"), Ok(()));
}

#[test]
fn a_tagged_field_cannot_reach_behind_itself() {
    // One field of one byte whose reader wants two, though more bytes follow it.
    let mut dec = reading(&[1, 0, 1, 0xaa, 0xbb]);
    let result = dec.tagged_fields(FIELD, |_, dec| dec.i16(FIELD).map(|_| true));
    assert_eq!(result, Err(DecodeError::Truncated { field: FIELD, needed: 2, remaining: 1 }));
    let mut dec = reading(&[1, 0, 3, 0xaa, 0xbb]);
    let result = dec.skip_tagged_fields(FIELD);
    assert_eq!(result, Err(DecodeError::Truncated { field: FIELD, needed: 3, remaining: 2 }));
}

#[test]
fn array_counts_are_measured_against_what_is_left() {
    let mut dec = reading(&[0, 0, 0, 3, 1, 2, 3, 4, 5]);
    let error = DecodeError::TooManyElements { field: FIELD, count: 3, remaining: 5 };
    assert_eq!(dec.array(false, 2, FIELD, |dec| dec.i16(FIELD)), Err(error));
    let mut dec = reading(&[0, 0, 0, 2, 0, 1, 0, 2, 9]);
    assert_eq!(dec.array(false, 2, FIELD, |dec| dec.i16(FIELD)), Ok(vec![1, 2]));
    let error = dec.expect_empty("Test");
    assert_eq!(error, Err(DecodeError::TrailingBytes { message: "Test", count: 1 }));
    assert_eq!(reading(&[0]).nullable_array(true, 1, FIELD, |dec| dec.i8(FIELD)), Ok(None));
    assert_eq!(reading(&[1]).nullable_array(true, 1, FIELD, |dec| dec.i8(FIELD)), Ok(Some(vec![])));
    let error = DecodeError::NegativeLength { field: FIELD, length: -2 };
    assert_eq!(reading(&[0xff, 0xff, 0xff, 0xfe]).array(false, 1, FIELD, |dec| dec.i8(FIELD)), Err(error));
}
