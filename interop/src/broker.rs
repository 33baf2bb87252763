//! One broker's process.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// Runs "$@" until it is told to stop or the test process is gone, however that ended: then its end of the pipe is closed and `read`
/// returns. `keep` keeps the data folder $1 for the next start.
const GUARD: &str = r#"
data=$1
shift
sh -c 'echo "pid $$"; exec "$@"' sh "$@" 2>&1 </dev/null &
java=$!
exec >/dev/null 2>&1
read -r word
kill -9 $java
wait $java
[ "$word" = keep ] || { rm -rf "$data"; rmdir "${data%/*}"; }
"#;

/// What a broker says once it serves requests.
const STARTED: &str = "Kafka Server started";

/// How many of its last lines an error shows.
const TAIL: usize = 30;

/// A running broker. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Broker {
    guard: Child,
    /// Open as long as the broker is to live.
    lifeline: Option<ChildStdin>,
    pid: Pid,
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Debug, Default)]
struct State {
    started: bool,
    ended: bool,
    tail: VecDeque<String>,
}

impl Broker {
    /// Starts `java …` with its data in `data`.
    pub(crate) fn spawn(java: &[String], data: &Path) -> Result<Self> {
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, "guard"])
            .arg(data)
            .args(java)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // A Ctrl-C at the terminal is for the tests; the guard sees their end and cleans up after them.
            .process_group(0)
            .spawn()
            .context("starting a broker through sh")?;
        let lifeline = guard.stdin.take();
        let mut said = BufReader::new(guard.stdout.take().context("the broker's output")?);
        let mut line = String::new();
        said.read_line(&mut line).context("reading the broker's process id")?;
        let pid = line.trim().strip_prefix("pid ").and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
        let pid = pid.with_context(|| format!("the broker's process id is not `{}`", line.trim()))?;
        let state = Arc::default();
        listen(said, Arc::clone(&state));
        Ok(Self { guard, lifeline, pid, state })
    }

    /// Waits until the broker serves requests.
    pub(crate) fn wait_until_started(&self, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        let mut state = self.state();
        while !state.started && !state.ended {
            let left = deadline.saturating_duration_since(Instant::now());
            ensure!(!left.is_zero(), "the broker was not ready in {patience:?}; it said\n{}", state.said());
            (state, _) = self.state.1.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        ensure!(!state.ended, "the broker ended at once; it said\n{}", state.said());
        Ok(())
    }

    /// Sends the process a signal.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        if self.state().ended {
            bail!("the broker's process has ended; it said\n{}", self.state().said());
        }
        kill_process(self.pid, signal).with_context(|| format!("sending {signal:?} to the broker"))
    }

    /// Kills the process and waits for its end; the data stays.
    pub(crate) fn kill(mut self) -> Result<()> {
        let mut lifeline = self.lifeline.take().context("the broker's guard")?;
        lifeline.write_all(b"keep\n").context("telling the broker's guard")?;
        self.guard.wait().context("waiting for the broker's end")?;
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        // Nothing to be done about a guard that cannot be waited for.
        _ = self.guard.wait();
    }
}

impl State {
    fn said(&self) -> String {
        self.tail.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

fn listen(said: BufReader<ChildStdout>, state: Arc<(Mutex<State>, Condvar)>) {
    thread::spawn(move || {
        // Kafka's log may hold anything; a line that is not UTF-8 is no reason to stop reading, or the broker would block on its pipe.
        for line in said.split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            let mut state_now = state.0.lock().unwrap_or_else(PoisonError::into_inner);
            state_now.started |= line.contains(STARTED);
            state_now.tail.push_back(line);
            if state_now.tail.len() > TAIL {
                state_now.tail.pop_front();
            }
            state.1.notify_all();
        }
        state.0.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        state.1.notify_all();
    });
}
