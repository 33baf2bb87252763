//! Ctrl-C, SIGTERM and SIGHUP: the first asks to stop, the second to give up, the third ends the process.

use std::{future::pending, io, process};

use tokio::sync::watch;

/// How often the user asked to stop. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    asked: watch::Receiver<u32>,
}

impl Stop {
    /// Takes the signals over from here on.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub(crate) fn listen() -> io::Result<Self> {
        let (ask, asked) = watch::channel(0);
        let mut terminate = Terminate::new()?;
        // A handler that fails later is as one that is never called.
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    Ok(()) = tokio::signal::ctrl_c() => {}
                    () = terminate.received() => {}
                    else => return,
                }
                ask.send_modify(|times| *times += 1);
                if *ask.borrow() > 2 {
                    process::exit(130);
                }
            }
        });
        Ok(Self { asked })
    }

    /// Waits until the user has asked so often. Cancel-safe.
    pub(crate) async fn asked(&self, times: u32) {
        let mut asked = self.asked.clone();
        if asked.wait_for(|seen| *seen >= times).await.is_err() {
            pending::<()>().await;
        }
    }
}

#[cfg(unix)]
struct Terminate {
    terminate: tokio::signal::unix::Signal,
    /// The terminal is gone. None where whoever started the process has it ignore that, as `nohup` does.
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Terminate {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let terminate = signal(SignalKind::terminate())?;
        let hang_up = if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { terminate, hang_up })
    }

    async fn received(&mut self) {
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => pending().await,
            }
        };
        let received = tokio::select! {
            received = self.terminate.recv() => received,
            received = hang_up => received,
        };
        if received.is_none() {
            pending::<()>().await;
        }
    }
}

/// Whether SIGHUP was ignored when the process began. Only Linux tells; elsewhere it is taken not to be.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP is signal 1, the lowest bit.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(not(unix))]
struct Terminate;

#[cfg(not(unix))]
impl Terminate {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn received(&mut self) {
        pending().await
    }
}
