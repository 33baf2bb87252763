//! Programs run to their end, with a bound on the time and everything that they said.

use std::io::{Read, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

/// What a program left behind.
#[derive(Debug, Clone)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    /// All that it wrote to its standard output, byte for byte.
    pub stdout: Vec<u8>,
    /// All that it wrote to its standard error.
    pub stderr: String,
}

impl Output {
    /// The standard output as text.
    ///
    /// # Errors
    /// When the program failed (the error holds what it said), or its output is not UTF-8.
    pub fn text(self) -> Result<String> {
        let stdout = String::from_utf8_lossy(&self.stdout);
        ensure!(self.status.success(), "{}\nstdout: {stdout}\nstderr: {}", self.status, self.stderr);
        String::from_utf8(self.stdout).context("output that is not UTF-8")
    }
}

/// Runs `command` with `stdin` as its input, for at most `patience`.
///
/// # Errors
/// When it cannot be started, or has not ended in time: then it is killed, and the error holds what it had said.
pub(crate) fn run(command: &mut Command, stdin: &[u8], patience: Duration) -> Result<Output> {
    let deadline = Instant::now() + patience;
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {program}"))?;
    let (said, ends) = channel();
    if let Some(mut pipe) = child.stdin.take() {
        let input = stdin.to_vec();
        // A program that does not want its input closes the pipe: no error of ours.
        thread::spawn(move || _ = pipe.write_all(&input));
    }
    read_to_end(child.stdout.take(), said.clone(), Stream::Out);
    read_to_end(child.stderr.take(), said, Stream::Error);
    let streams = Streams::collect(&ends, deadline);
    let Some(Streams { out, error }) = streams else {
        end(&mut child);
        let streams = Streams::collect(&ends, Instant::now() + Duration::from_secs(5)).unwrap_or_default();
        let (out, error) = (String::from_utf8_lossy(&streams.out), String::from_utf8_lossy(&streams.error));
        bail!("{program} did not end in {patience:?}\nstdout: {out}\nstderr: {error}");
    };
    let status = child.wait().with_context(|| format!("waiting for {program}"))?;
    Ok(Output { status, stdout: out, stderr: String::from_utf8_lossy(&error).into_owned() })
}

#[derive(Clone, Copy)]
enum Stream {
    Out,
    Error,
}

#[derive(Default)]
struct Streams {
    out: Vec<u8>,
    error: Vec<u8>,
}

impl Streams {
    /// Both streams once both have ended; `None` when they have not by `deadline`.
    fn collect(ends: &Receiver<(Stream, Vec<u8>)>, deadline: Instant) -> Option<Self> {
        let mut streams = Self::default();
        loop {
            match ends.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok((Stream::Out, bytes)) => streams.out = bytes,
                Ok((Stream::Error, bytes)) => streams.error = bytes,
                Err(RecvTimeoutError::Disconnected) => return Some(streams),
                Err(RecvTimeoutError::Timeout) => return None,
            }
        }
    }
}

fn read_to_end(pipe: Option<impl Read + Send + 'static>, said: Sender<(Stream, Vec<u8>)>, stream: Stream) {
    let Some(mut pipe) = pipe else { return };
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before a failed read is still worth showing.
        _ = pipe.read_to_end(&mut bytes);
        _ = said.send((stream, bytes));
    });
}

fn end(child: &mut Child) {
    // It may have ended by itself in this moment; either way it is gone afterwards.
    _ = child.kill();
    _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, stdin: &[u8], patience: Duration) -> Result<Output> {
        run(Command::new("sh").args(["-c", script]), stdin, patience)
    }

    #[test]
    fn output_is_whole_and_failures_say_what_was_said() {
        let long = vec![b'x'; 1 << 20];
        let output = shell("cat; echo end >&2", &long, Duration::from_secs(60)).unwrap();
        assert!(output.stdout == long && output.stderr == "end\n" && output.status.success());
        let error = shell("echo why >&2; exit 3", b"", Duration::from_secs(60)).unwrap().text().unwrap_err();
        assert!(error.to_string().contains("why"), "{error}");
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let error = shell("echo $$; exec tail -f /dev/null", b"", Duration::from_millis(200))
            .unwrap_err()
            .to_string();
        assert!(error.contains("did not end in 200ms"), "{error}");
    }
}
