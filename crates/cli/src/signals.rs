//! Ctrl-C and SIGTERM: the first asks to stop, the second to give up, the third ends the process.

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
struct Terminate(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Terminate {
    fn new() -> io::Result<Self> {
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).map(Self)
    }

    async fn received(&mut self) {
        if self.0.recv().await.is_none() {
            pending::<()>().await;
        }
    }
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
