//! A whole request as it leaves the frame: its header says what follows.

#![no_main]

mod round_trip;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use milena_protocol::{ApiKey, Decoder, decode_request_head, messages};

fuzz_target!(|data: &[u8]| {
    let mut dec = Decoder::new(Bytes::copy_from_slice(data));
    let Ok(head) = decode_request_head(&mut dec) else { return };
    let version = head.api_version;
    macro_rules! by_key {
        ($(($Api:ident $Message:ident))*) => {
            match head.supported() {
                $(Some(ApiKey::$Api) => round_trip::round_trip::<messages::$Message>(&mut dec, version),)*
                _ => {}
            }
        };
    }
    milena_protocol::for_each_request!(by_key);
});
