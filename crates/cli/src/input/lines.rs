//! Cuts a byte stream into chunks of whole lines, at the speed of memory.

use std::io::{self, Read};

/// Bytes asked of the input at once.
const CHUNK: usize = 1 << 20;
/// A longer line is an error and not more memory. Larger than what any broker takes (Kafka's limit on a request is 2 GiB,
/// its default 100 MiB).
const MAX_LINE: usize = 1 << 30;

/// Whole lines: ends with a newline, except for the last one of the input.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// `len` bytes of lines; what follows is old bytes that only save the clearing when the buffer is used again.
    buffer: Vec<u8>,
    len: usize,
    /// The number of the first line, from 1.
    first_line: u64,
}

/// Reads [`Chunk`]s. Every line is one record: an empty line too, a last line without a newline too. Only `\n` ends a
/// line; the `\r` of a CRLF stays, because a record's bytes are the caller's.
#[derive(Debug)]
pub(crate) struct ChunkReader<R> {
    input: R,
    /// The beginning of a line whose end has not been read yet.
    carry: Vec<u8>,
    /// The number of the line that comes next.
    line: u64,
    at_end: bool,
}

/// The lines of a [`Chunk`] with their numbers.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
    line: u64,
}

impl Chunk {
    pub(crate) fn lines(&self) -> Lines<'_> {
        Lines { rest: self.bytes(), line: self.first_line }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.len).unwrap_or_default()
    }

    /// The memory, for the next chunk.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let number = self.line;
        self.line += 1;
        let line = match memchr::memchr(b'\n', self.rest) {
            Some(end) => {
                let (line, rest) = self.rest.split_at(end);
                self.rest = rest.get(1..).unwrap_or_default();
                line
            }
            None => std::mem::take(&mut self.rest),
        };
        Some((number, line))
    }
}

impl<R: Read> ChunkReader<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, carry: Vec::new(), line: 1, at_end: false }
    }

    /// The next lines, as many as one read brought; `buffer` is used memory or an empty vector. None at the end.
    ///
    /// # Errors
    /// What the input says, and a line of more than 1 GiB.
    pub(crate) fn next_chunk(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<Chunk>> {
        if self.at_end {
            return Ok(None);
        }
        let mut filled = self.carry.len();
        if buffer.len() < filled + CHUNK {
            buffer.resize(filled + CHUNK, 0);
        }
        buffer[..filled].copy_from_slice(&self.carry);
        self.carry.clear();
        loop {
            let read = self.read(&mut buffer[filled..])?;
            if read == 0 {
                self.at_end = true;
                return Ok((filled > 0).then(|| self.cut(buffer, filled)));
            }
            let end = filled + read;
            if let Some(newline) = memchr::memrchr(b'\n', &buffer[filled..end]) {
                let len = filled + newline + 1;
                self.carry.extend_from_slice(&buffer[len..end]);
                return Ok(Some(self.cut(buffer, len)));
            }
            filled = end;
            if filled > MAX_LINE {
                let text = format!("line {} is longer than {MAX_LINE} bytes", self.line);
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
            if filled == buffer.len() {
                buffer.resize(filled * 2, 0);
            }
        }
    }

    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.input.read(space) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome,
            }
        }
    }

    fn cut(&mut self, buffer: Vec<u8>, len: usize) -> Chunk {
        let chunk = Chunk { buffer, len, first_line: self.line };
        let newlines = memchr::memchr_iter(b'\n', chunk.bytes()).count() as u64;
        self.line += newlines;
        chunk
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes in pieces of `step`.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(self.0.len()).min(space.len());
            space[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn lines_of(input: impl Read) -> Vec<(u64, Vec<u8>)> {
        let mut reader = ChunkReader::new(input);
        let (mut found, mut buffer) = (Vec::new(), Vec::new());
        while let Some(chunk) = reader.next_chunk(buffer).unwrap() {
            found.extend(chunk.lines().map(|(number, line)| (number, line.to_vec())));
            buffer = chunk.into_buffer();
        }
        found
    }

    #[test]
    fn every_line_is_a_record_in_whatever_pieces_it_arrives() {
        let input = b"one\n\ntwo\r\nthree \xff\nlast";
        let expected: &[(u64, &[u8])] =
            &[(1, b"one"), (2, b""), (3, b"two\r"), (4, b"three \xff"), (5, b"last")];
        for step in 1..=input.len() {
            let lines = lines_of(Trickle(input, step));
            let lines: Vec<(u64, &[u8])> = lines.iter().map(|(n, line)| (*n, &line[..])).collect();
            assert_eq!(lines, expected, "in pieces of {step}");
        }
    }

    #[test]
    fn a_trailing_newline_is_no_further_record() {
        assert_eq!(lines_of(&b"a\n"[..]), [(1, b"a".to_vec())]);
        assert_eq!(lines_of(&b"a\n\n"[..]), [(1, b"a".to_vec()), (2, Vec::new())]);
        assert_eq!(lines_of(&b""[..]), []);
    }

    #[test]
    fn a_line_longer_than_a_chunk_is_whole() {
        let mut input = vec![b'x'; 3 * CHUNK + 17];
        input.push(b'\n');
        input.extend_from_slice(b"next");
        let lines = lines_of(Trickle(&input, CHUNK / 3));
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].1.len(), 3 * CHUNK + 17);
        assert_eq!(lines[1], (2, b"next".to_vec()));
    }

    #[test]
    fn what_has_arrived_is_handed_on_without_waiting_for_a_full_chunk() {
        let mut reader = ChunkReader::new(Trickle(b"a\nb\nc", 3));
        let chunk = reader.next_chunk(Vec::new()).unwrap().unwrap();
        assert_eq!(chunk.bytes(), b"a\n");
    }
}
