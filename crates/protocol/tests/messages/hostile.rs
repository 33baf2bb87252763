//! Bytes that no honest peer sends: decoding must answer with an error or a message, never panic, and never allocate
//! more than the bytes that arrived can justify.

use bytes::{BufMut, Bytes, BytesMut};
use milena_protocol::messages::{FetchResponse, MetadataRequest, MetadataResponse};
use milena_protocol::{DecodeError, Decoder, Message};
use proptest::prelude::*;

use crate::allocations::peak_during;
use crate::encode;
use crate::fill::{Fill, Random};

/// A decoded element takes more memory than the few bytes that it may have on the wire, and a growing array is there
/// twice while it moves.
const FACTOR: usize = 128;
/// What an array reserves before its first element, at each level, and small change.
const SLACK: usize = 64 * 1024;

/// Decodes what may be anything; what it is must survive another round.
fn survives<M: Message>(bytes: &Bytes, version: i16) {
    let mut dec = Decoder::new(bytes.clone());
    let (result, peak) = peak_during(|| M::decode(&mut dec, version));
    let bound = FACTOR * bytes.len() + SLACK;
    assert!(peak <= bound, "{} version {version}: {peak} bytes of memory for {} bytes", M::NAME, bytes.len());
    if let Ok(message) = result {
        let again = encode(&message, version).unwrap_or_else(|error| panic!("{error}: {message:?}"));
        assert_eq!(crate::decode::<M>(&again, version), message);
    }
}

fn survives_in_all_versions<M: Message>(bytes: &Bytes) {
    (M::VERSIONS.min..=M::VERSIONS.max).for_each(|version| survives::<M>(bytes, version));
}

fn every_prefix_is_an_error<M: Message + Fill>() {
    for version in M::VERSIONS.min..=M::VERSIONS.max {
        let bytes = encode(&M::fill(&mut Random::new(7), version), version).unwrap();
        // All of them for a short message, a sample for a long one.
        for len in (0..bytes.len()).step_by(1 + bytes.len() / 200) {
            let mut dec = Decoder::new(bytes.slice(..len));
            let result = M::decode(&mut dec, version);
            assert!(result.is_err(), "{} version {version}: {len} of {} bytes", M::NAME, bytes.len());
        }
    }
}

fn flipped<M: Message + Fill>(seed: u64) {
    let mut random = Random::new(seed);
    let range = (M::VERSIONS.max - M::VERSIONS.min + 1) as u64;
    let version = M::VERSIONS.min + random.below(range) as i16;
    let mut bytes = BytesMut::from(&encode(&M::fill(&mut random, version), version).unwrap()[..]);
    for _ in 0..=random.below(3) {
        let bits = 8 * bytes.len() as u64;
        if bits > 0 {
            let bit = random.below(bits) as usize;
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
    survives::<M>(&bytes.freeze(), version);
}

#[test]
fn a_message_cut_short_is_an_error() {
    macro_rules! check_all {
        ($(($module:ident $Message:ident))*) => {
            $(every_prefix_is_an_error::<milena_protocol::messages::$Message>();)*
        };
    }
    milena_protocol::for_each_message!(check_all);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_neither_panic_nor_take_memory(
        // Mostly zeros and ones make plausible lengths; anything else is found out at once.
        bytes in prop::collection::vec(prop_oneof![4 => 0u8..4, 1 => any::<u8>()], 0..400),
    ) {
        let bytes = Bytes::from(bytes);
        macro_rules! check_all {
            ($(($module:ident $Message:ident))*) => {
                $(survives_in_all_versions::<milena_protocol::messages::$Message>(&bytes);)*
            };
        }
        milena_protocol::for_each_message!(check_all);
    }

    #[test]
    fn flipped_bits_neither_panic_nor_take_memory(seed in any::<u64>()) {
        macro_rules! check_all {
            ($(($module:ident $Message:ident))*) => {
                $(flipped::<milena_protocol::messages::$Message>(seed);)*
            };
        }
        milena_protocol::for_each_message!(check_all);
    }
}

#[test]
fn field_25_an_array_count_takes_no_more_memory_than_arrived() {
    // throttle_time_ms, then as many brokers as an int32 can say; nothing follows.
    let mut bytes = BytesMut::new();
    bytes.put_i32(0);
    bytes.put_i32(i32::MAX);
    let mut dec = Decoder::new(bytes.freeze());
    let (result, peak) = peak_during(|| MetadataResponse::decode(&mut dec, 3));
    let field = "MetadataResponse.brokers";
    assert_eq!(result, Err(DecodeError::TooManyElements { field, count: i32::MAX as usize, remaining: 0 }));
    assert!(peak < 1024, "{peak} bytes");

    // Half a million topics would just fit into what arrived, but the first one is broken.
    let arrived = 8_000_000;
    let mut bytes = BytesMut::with_capacity(arrived);
    bytes.put_bytes(0, 4 + 2 + 4); // throttle time, error code, session id
    bytes.put_i32(arrived as i32 / 14);
    bytes.put_i16(-7);
    bytes.resize(arrived, 0);
    let mut dec = Decoder::new(bytes.freeze());
    let (result, peak) = peak_during(|| FetchResponse::decode(&mut dec, 7));
    let field = "FetchResponse.FetchableTopicResponse.topic";
    assert_eq!(result, Err(DecodeError::NegativeLength { field, length: -7 }));
    assert!(peak < SLACK, "{peak} bytes");
}

#[test]
fn a_million_empty_elements_take_memory_in_proportion() {
    // Topics without a name in version 12: each is a null id, a null name and no tagged field.
    let count = 200_000;
    let mut bytes = BytesMut::new();
    bytes.put_slice(&[0xc1, 0x9a, 0x0c]);
    bytes.put_bytes(0, 18 * count);
    bytes.put_slice(&[0, 0, 0]);
    let bytes = bytes.freeze();
    let mut dec = Decoder::new(bytes.clone());
    let (result, peak) = peak_during(|| MetadataRequest::decode(&mut dec, 12));
    assert_eq!(result.unwrap().topics.map(|topics| topics.len()), Some(count));
    assert!(peak <= 16 * bytes.len(), "{peak} bytes of memory for {} bytes", bytes.len());
}

#[test]
fn unknown_tagged_fields_are_skipped() {
    let request = MetadataRequest { topics: None, ..MetadataRequest::default() };
    let plain = encode(&request, 12).unwrap();
    let mut bytes = BytesMut::from(&plain[..]);
    // The message ends with the number of its tagged fields: none. Make it two that nobody knows.
    assert_eq!(bytes.last(), Some(&0));
    bytes.truncate(bytes.len() - 1);
    bytes.put_slice(&[2, 5, 3, b'a', b'b', b'c', 0xff, 0x7f, 0]);
    assert_eq!(crate::decode::<MetadataRequest>(&bytes.freeze(), 12), request);
}

#[test]
fn a_known_tagged_field_has_to_have_its_size() {
    let mut response = FetchResponse::default();
    response.node_endpoints.push(Default::default());
    let good = encode(&response, 16).unwrap();
    let mut bytes = BytesMut::from(&good[..]);
    // One byte more than the value has, and one is there.
    let size = good.len() - response_head(&response) - 1;
    bytes[response_head(&response)] = size as u8 + 1;
    bytes.put_u8(0);
    let error = FetchResponse::decode(&mut Decoder::new(bytes.freeze()), 16);
    assert_eq!(error, Err(DecodeError::TaggedFieldSize { field: "FetchResponse", tag: 0, unread: 1 }));
}

/// Where the size of the only tagged field is: behind the plain fields, the number of tagged fields and the tag.
fn response_head(response: &FetchResponse) -> usize {
    let plain = FetchResponse { node_endpoints: Vec::new(), ..response.clone() };
    encode(&plain, 16).unwrap().len() + 1
}
