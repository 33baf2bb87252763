//! Every codec on bytes that may not be its own; the first byte chooses. What inflates also survives being compressed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use milena_protocol::records::Compression;
use milena_protocol::records::compression::{compress, decompress};

const LIMIT: usize = 1 << 20;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, input)) = data.split_first() else { return };
    let codec = Compression::ALL[usize::from(choice) % Compression::ALL.len()];

    let mut inflated = Vec::new();
    let whole = decompress(codec, input, LIMIT, &mut inflated).is_ok();
    assert!(inflated.len() <= LIMIT + 1, "{codec} wrote {} bytes", inflated.len());

    let content: &[u8] = if whole { &inflated } else { input };
    let mut compressed = Vec::new();
    compress(codec, None, content, &mut compressed).expect("the default level is a level");
    let mut back = Vec::new();
    decompress(codec, &compressed, content.len(), &mut back).expect("it was just compressed");
    assert_eq!(back, content);
});
