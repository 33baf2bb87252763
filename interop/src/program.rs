//! Programs that are talked to while they run.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// How long a program may say nothing at all.
const PATIENCE: Duration = Duration::from_secs(300);
/// How many of its last lines an error shows.
const TAIL: usize = 40;

/// A running program, whose lines are read one by one. Dropping it kills it.
#[derive(Debug)]
pub struct Program {
    name: String,
    child: Child,
    /// `None` once the program has been told that there is no more.
    input: Option<Sender<Vec<u8>>>,
    lines: Receiver<String>,
    /// Never gets anything; disconnected when all of its standard error has been read.
    errors: Receiver<String>,
    tail: Arc<Mutex<VecDeque<String>>>,
}

impl Program {
    /// Starts a program.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(mut command: Command) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {name}"))?;
        let (input, to_write) = channel::<Vec<u8>>();
        let mut stdin = child.stdin.take().context("the program's input")?;
        thread::spawn(move || {
            for bytes in to_write {
                // A program that has ended reads no more: what it said tells why.
                if stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_err() {
                    return;
                }
            }
        });
        let tail = Arc::default();
        let ((said, lines), (errors_end, errors)) = (channel(), channel());
        let (output, complaints) = (child.stdout.take(), child.stderr.take());
        read_lines(output.context("the program's output")?, Arc::clone(&tail), move |line| {
            // Reading goes on when nobody listens any more, or the program would block on its pipe.
            _ = said.send(line);
        });
        read_lines(complaints.context("the program's errors")?, Arc::clone(&tail), move |_| {
            let _held_until_the_end: &Sender<String> = &errors_end;
        });
        Ok(Self { name, child, input: Some(input), lines, errors, tail })
    }

    /// Gives it input.
    pub fn write(&self, text: &str) {
        if let Some(input) = &self.input {
            // The thread that writes has ended with the program.
            _ = input.send(text.as_bytes().to_vec());
        }
    }

    /// Tells it that there is no more input.
    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// The next line that it prints to its standard output; `None` when it prints no more.
    ///
    /// # Errors
    /// When it is silent for too long; the error holds what it has said.
    pub fn next_line(&mut self) -> Result<Option<String>> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => {
                bail!("{} has said nothing for {PATIENCE:?}; before that\n{}", self.name, self.said())
            }
        }
    }

    /// Reads lines until one that `wanted` takes, and answers it.
    ///
    /// # Errors
    /// When the program ends before, or is silent for too long.
    pub fn wait_for(&mut self, mut wanted: impl FnMut(&str) -> bool) -> Result<String> {
        loop {
            match self.next_line()? {
                Some(line) if wanted(&line) => return Ok(line),
                Some(_) => {}
                None => bail!("{} has ended too early; it said\n{}", self.name, self.last_words()),
            }
        }
    }

    /// Ends its input, and waits for its end; answers the lines that were not read.
    ///
    /// # Errors
    /// When it fails or does not end; the error holds what it has said.
    pub fn finish(mut self) -> Result<Vec<String>> {
        self.end_input();
        let mut rest = Vec::new();
        while let Some(line) = self.next_line()? {
            rest.push(line);
        }
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().with_context(|| format!("waiting for {}", self.name))? {
                Some(status) => break status,
                None => ensure!(Instant::now() < deadline, "{} closed its output and did not end", self.name),
            }
            thread::yield_now();
        };
        ensure!(status.success(), "{}: {status}; it said\n{}", self.name, self.last_words());
        Ok(rest)
    }

    /// Asks it to end (SIGTERM), as a user does with Ctrl-C, and waits for its end; answers the lines that were not read.
    ///
    /// # Errors
    /// When it does not end.
    pub fn terminate(mut self) -> Result<Vec<String>> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("a process id")?;
        kill_process(pid, Signal::TERM).with_context(|| format!("ending {}", self.name))?;
        let mut rest = Vec::new();
        while let Some(line) = self.next_line()? {
            rest.push(line);
        }
        Ok(rest)
    }

    /// The last that it has said, now that it says no more: what is still in its pipe is read first.
    fn last_words(&self) -> String {
        _ = self.errors.recv_timeout(PATIENCE);
        self.said()
    }

    /// The last that it has said.
    #[must_use]
    pub fn said(&self) -> String {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone afterwards.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn read_lines(
    pipe: impl Read + Send + 'static,
    tail: Arc<Mutex<VecDeque<String>>>,
    said: impl Fn(String) + Send + 'static,
) {
    thread::spawn(move || {
        for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
            {
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                if tail.len() == TAIL {
                    tail.pop_front();
                }
                tail.push_back(line.clone());
            }
            said(line);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Program::start(command).unwrap()
    }

    #[test]
    fn a_program_is_talked_to_line_by_line() {
        let mut program = shell("while read line; do echo \"heard $line\"; done; echo over");
        program.write("one\ntwo\n");
        assert_eq!(program.wait_for(|line| line.contains("two")).unwrap(), "heard two");
        program.write("three\n");
        assert_eq!(program.finish().unwrap(), ["heard three", "over"]);
        let error = shell("echo why >&2; exit 3").finish().unwrap_err().to_string();
        assert!(error.contains("why"), "{error}");
        let error = shell("echo a").wait_for(|line| line == "b").unwrap_err().to_string();
        assert!(error.contains("too early"), "{error}");
    }
}
