//! Opens the input and reads it on a thread of its own.

use std::{
    fmt,
    fs::File,
    io::{self, IsTerminal as _, Read},
    path::Path,
    thread,
};

use anyhow::{Context as _, bail};
use tokio::sync::mpsc;

use super::{Chunk, ChunkReader};

/// Chunks that may wait for the sender. Reading runs ahead by no more than this.
const CHUNKS_AHEAD: usize = 4;

const STDIN: &str = "standard input";

/// An input that is open.
pub(crate) struct Source {
    name: String,
    input: Box<dyn Read + Send>,
    /// Bytes, where the system knows them.
    size: Option<u64>,
}

/// The chunks of a [`Source`], read by its thread.
#[derive(Debug)]
pub(crate) struct SourceChunks {
    chunks: mpsc::Receiver<io::Result<Chunk>>,
    used: mpsc::Sender<Vec<u8>>,
}

impl Source {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// The file is missing, a directory, or not to be read.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self { name: STDIN.to_owned(), input: Box::new(io::stdin()), size: None });
        }
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
        let about = file.metadata().with_context(|| format!("cannot read {name}"))?;
        if about.is_dir() {
            bail!("{name} is a directory: name a file with one record a line, or `-` for standard input");
        }
        let size = about.is_file().then_some(about.len());
        Ok(Self { name, input: Box::new(file), size })
    }

    /// How messages call it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether somebody sits at a terminal and types.
    pub(crate) fn is_typed(&self) -> bool {
        self.name == STDIN && io::stdin().is_terminal()
    }

    /// Bytes, where they are known beforehand.
    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    /// Starts reading. The thread is no task, because a read of a terminal or pipe cannot be cancelled: at the end of the
    /// process nobody waits for it.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub(crate) fn read(self) -> io::Result<SourceChunks> {
        let (filled, chunks) = mpsc::channel(CHUNKS_AHEAD);
        let (used, mut buffers) = mpsc::channel::<Vec<u8>>(CHUNKS_AHEAD);
        let mut reader = ChunkReader::new(self.input);
        thread::Builder::new().name("milena-input".to_owned()).spawn(move || {
            loop {
                let buffer = buffers.try_recv().unwrap_or_default();
                let (item, last) = match reader.next_chunk(buffer) {
                    Ok(Some(chunk)) => (Ok(chunk), false),
                    Ok(None) => return,
                    Err(error) => (Err(error), true),
                };
                if filled.blocking_send(item).is_err() || last {
                    return;
                }
            }
        })?;
        Ok(SourceChunks { chunks, used })
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).field("size", &self.size).finish_non_exhaustive()
    }
}

impl SourceChunks {
    /// The next lines; none at the end. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<io::Result<Chunk>> {
        self.chunks.recv().await
    }

    /// Gives a chunk's memory back to the reader.
    pub(crate) fn give_back(&self, chunk: Chunk) {
        // When the reader has enough, or has ended, the memory is freed.
        let _ = self.used.try_send(chunk.into_buffer());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_named() {
        let missing = Source::open(Path::new("no/such/file")).unwrap_err();
        assert!(format!("{missing:#}").starts_with("cannot read no/such/file: No such file"), "{missing:#}");
        let directory = Source::open(&std::env::temp_dir()).unwrap_err();
        assert!(directory.to_string().contains("is a directory"), "{directory}");
    }

    #[tokio::test]
    async fn a_file_is_read_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("input");
        std::fs::write(&path, "a\nb\nc").unwrap();
        let source = Source::open(&path).unwrap();
        assert_eq!(source.size(), Some(5));
        let mut chunks = source.read().unwrap();
        let mut bytes = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.unwrap();
            bytes.extend_from_slice(chunk.bytes());
            chunks.give_back(chunk);
        }
        assert_eq!(bytes, b"a\nb\nc");
    }
}
