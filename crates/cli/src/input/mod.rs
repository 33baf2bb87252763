//! What `milena produce` reads: a file or standard input, cut into lines, each split into key and value.

mod key;
mod lines;
mod source;

pub(crate) use key::KeyRule;
pub(crate) use lines::{Chunk, ChunkReader};
pub(crate) use source::Source;
