//! The bytes of Kafka's own message classes: `tests/golden` says how they were made.

use std::collections::BTreeMap;

use bytes::Bytes;
use milena_protocol::Message;

use crate::{decode, encode};

const GOLDEN: &str = include_str!("../golden/messages.txt");

/// One message of Kafka's, in one version.
struct Sample {
    kind: &'static str,
    version: i16,
    bytes: Bytes,
}

fn samples() -> BTreeMap<&'static str, Vec<Sample>> {
    let mut samples: BTreeMap<&str, Vec<Sample>> = BTreeMap::new();
    for line in GOLDEN.lines() {
        let [name, kind, versions, hex] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("malformed line {line}")
        };
        let digits: Vec<u32> = hex.chars().map(|digit| digit.to_digit(16).unwrap()).collect();
        let bytes: Bytes = digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect();
        for version in versions.split(',') {
            let version = version.parse().unwrap();
            samples.entry(name).or_default().push(Sample { kind, version, bytes: bytes.clone() });
        }
    }
    samples
}

fn check<M: Message>(samples: &[Sample]) {
    for kind in ["default", "filled", "empty"] {
        let mut versions: Vec<i16> = samples.iter().filter(|s| s.kind == kind).map(|s| s.version).collect();
        versions.sort_unstable();
        let expected: Vec<i16> = (M::VERSIONS.min..=M::VERSIONS.max).collect();
        assert_eq!(versions, expected, "{}: the versions that Kafka has of {kind}", M::NAME);
    }
    for Sample { kind, version, bytes } in samples {
        let message: M = decode(bytes, *version);
        let again = encode(&message, *version).unwrap();
        assert_eq!(&again, bytes, "{} version {version}, {kind}: {message:?}", M::NAME);
        if *kind == "default" {
            assert_eq!(&encode(&M::default(), *version).unwrap(), bytes, "{} version {version}", M::NAME);
            assert_eq!(message, M::default(), "{} version {version}", M::NAME);
        }
    }
}

#[test]
fn every_message_in_every_version_has_the_bytes_of_kafka() {
    let mut samples = samples();
    macro_rules! check_all {
        ($(($module:ident $Message:ident))*) => {
            $(check::<milena_protocol::messages::$Message>(
                &samples.remove(stringify!($Message)).expect(stringify!($Message)),
            );)*
        };
    }
    milena_protocol::for_each_message!(check_all);
    assert!(samples.is_empty(), "not among our messages: {:?}", samples.keys());
}
