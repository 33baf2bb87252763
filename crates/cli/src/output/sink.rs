//! Standard output, buffered; a reader that has gone is no error.

use std::io::{self, BufWriter, Stdout, Write};

/// Bytes collected before the system is asked to take them.
const BUFFER: usize = 256 << 10;

/// Where records go.
#[derive(Debug)]
pub(crate) struct Sink<W: Write = Stdout> {
    out: BufWriter<W>,
}

impl Sink {
    pub(crate) fn stdout() -> Self {
        Self::new(io::stdout())
    }
}

impl<W: Write> Sink<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out: BufWriter::with_capacity(BUFFER, out) }
    }

    /// Lets `print` write. False when nobody reads any more (`milena consume … | head -1`): time to end, successfully.
    ///
    /// # Errors
    /// Any other failure to write, such as a full disk.
    pub(crate) fn print(
        &mut self,
        print: impl FnOnce(&mut BufWriter<W>) -> io::Result<()>,
    ) -> anyhow::Result<bool> {
        still_read(print(&mut self.out))
    }

    /// Hands over what was collected. False as with [`print`](Self::print).
    ///
    /// # Errors
    /// As with [`print`](Self::print).
    pub(crate) fn flush(&mut self) -> anyhow::Result<bool> {
        still_read(self.out.flush())
    }
}

fn still_read(outcome: io::Result<()>) -> anyhow::Result<bool> {
    match outcome {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(anyhow::Error::new(error).context("cannot write to standard output")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_broken_pipe_ends_quietly_and_a_full_disk_does_not() {
        let mut gone = Sink::new(Failing(io::ErrorKind::BrokenPipe));
        assert!(gone.print(|out| out.write_all(b"collected")).unwrap());
        assert!(!gone.flush().unwrap());
        let mut full = Sink::new(Failing(io::ErrorKind::StorageFull));
        assert!(full.print(|out| out.write_all(&[0; BUFFER])).is_err());
    }
}
