//! A stream of bytes that arrives in pieces: the frames do not depend on the pieces, and memory stays in proportion.

#![no_main]

use bytes::{BufMut, Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use milena_protocol::{FrameError, FrameReader};

/// The frames, and what ended the stream.
fn frames(stream: &[u8], step: usize) -> (Vec<Bytes>, Option<FrameError>) {
    let reader = FrameReader::new(1024 * 1024);
    let mut buffer = BytesMut::new();
    let mut frames = Vec::new();
    for (index, arrived) in stream.chunks(step).enumerate() {
        buffer.put_slice(arrived);
        loop {
            match reader.next_frame(&mut buffer) {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Some(error)),
            }
        }
        let so_far = (index + 1) * step;
        assert!(buffer.capacity() <= 2 * so_far + 16 * 1024, "{} for {so_far}", buffer.capacity());
    }
    (frames, None)
}

fuzz_target!(|data: &[u8]| {
    let [step, stream @ ..] = data else { return };
    assert_eq!(frames(stream, 1 + usize::from(*step)), frames(stream, stream.len().max(1)));
});
