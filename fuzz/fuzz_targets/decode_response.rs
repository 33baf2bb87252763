//! A whole response. Two bytes in front of it say which request the client had sent, and in which version.

#![no_main]

mod round_trip;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use milena_protocol::{ApiKey, Decoder, Request, decode_response_header, messages};

fuzz_target!(|data: &[u8]| {
    let [key, version, rest @ ..] = data else { return };
    let Some(api) = ApiKey::from_i16((*key).into()) else { return };
    let version = i16::from(*version);
    if !api.valid_versions().contains(version) {
        return;
    }
    let mut dec = Decoder::new(Bytes::copy_from_slice(rest));
    if decode_response_header(&mut dec, api, version).is_err() {
        return;
    }
    macro_rules! by_key {
        ($(($Api:ident $Message:ident))*) => {
            match api {
                $(ApiKey::$Api => {
                    round_trip::round_trip::<<messages::$Message as Request>::Response>(&mut dec, version);
                })*
                _ => {}
            }
        };
    }
    milena_protocol::for_each_request!(by_key);
});
