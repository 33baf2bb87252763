//! [`Trace`]: what happened, line by line, for people and for the test that a seed says it all.

use std::fmt;
use std::io::{self, Write};

use parking_lot::Mutex;
use tokio::time::Instant;

/// What becomes of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TraceMode {
    /// Nothing: the fastest.
    #[default]
    Off,
    /// They are hashed.
    Hash,
    /// They are hashed and printed.
    Print,
}

/// The lines of one run.
#[derive(Debug)]
pub struct Trace {
    mode: TraceMode,
    started: Instant,
    hash: Mutex<u64>,
}

impl Trace {
    /// A trace that starts now.
    #[must_use]
    pub fn new(mode: TraceMode) -> Self {
        Self { mode, started: Instant::now(), hash: Mutex::new(0xcbf2_9ce4_8422_2325) }
    }

    /// Whether anybody wants to see lines.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.mode != TraceMode::Off
    }

    /// Takes a line down; use [`note!`](crate::note), which formats it only if it is wanted.
    pub fn line(&self, line: fmt::Arguments<'_>) {
        let time = self.started.elapsed();
        let line = format!("{:>4}.{:03} {line}", time.as_secs(), time.subsec_millis());
        let mut hash = self.hash.lock();
        for byte in line.bytes() {
            *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        if self.mode == TraceMode::Print {
            // Whoever closed the output has seen enough.
            let _closed = writeln!(io::stdout(), "{line}");
        }
    }

    /// Names the history: two runs with the same hash said the same.
    #[must_use]
    pub fn hash(&self) -> u64 {
        *self.hash.lock()
    }
}

/// Takes a line down in a [`Trace`].
#[macro_export]
macro_rules! note {
    ($trace:expr, $($line:tt)*) => {
        if $trace.is_on() {
            $trace.line(format_args!($($line)*));
        }
    };
}
