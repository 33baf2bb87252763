//! [`PeerLog`]: one log line for a peer's fault, and no flood of them.

use std::net::SocketAddr;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// How many lines one window may have.
const LINES_PER_WINDOW: u32 = 20;
const WINDOW: Duration = Duration::from_secs(10);

/// Logs what peers do wrong, at most [`LINES_PER_WINDOW`] times in each [`WINDOW`]: a line costs us more than the bytes
/// that provoke it cost them.
#[derive(Debug)]
pub(crate) struct PeerLog {
    window: Mutex<Window>,
}

#[derive(Debug)]
struct Window {
    started: Instant,
    lines: u32,
    suppressed: u64,
}

impl PeerLog {
    pub(crate) fn new() -> Self {
        Self { window: Mutex::new(Window { started: Instant::now(), lines: 0, suppressed: 0 }) }
    }

    /// Logs that the connection of `peer` is closed, and why.
    pub(crate) fn closed(&self, listener: &str, peer: SocketAddr, reason: &str) {
        let Some(suppressed) = self.admit(Instant::now()) else { return };
        if suppressed > 0 {
            tracing::warn!(
                suppressed,
                "more connections were closed for their clients' faults than are logged"
            );
        }
        tracing::warn!(%peer, listener, reason, "closing the connection");
    }

    /// Whether there is room for a line; if so, how many had none before it.
    fn admit(&self, now: Instant) -> Option<u64> {
        let mut window = self.window.lock();
        if now.duration_since(window.started) >= WINDOW {
            let suppressed = window.suppressed;
            *window = Window { started: now, lines: 1, suppressed: 0 };
            return Some(suppressed);
        }
        if window.lines == LINES_PER_WINDOW {
            window.suppressed += 1;
            return None;
        }
        window.lines += 1;
        Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_faults_is_counted_and_not_logged() {
        let log = PeerLog::new();
        let start = Instant::now();
        let admitted = (0..100).filter(|_| log.admit(start).is_some()).count();
        assert_eq!(admitted, LINES_PER_WINDOW as usize);
        assert_eq!(log.admit(start + WINDOW), Some(80));
        assert_eq!(log.admit(start + WINDOW), Some(0));
    }
}
