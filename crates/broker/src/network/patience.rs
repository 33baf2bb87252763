//! [`Patience`]: how long a broker waits for another one's answer.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout};

/// For the first answer.
const LEAST: Duration = Duration::from_secs(2);
/// `replica.socket.timeout.ms`.
const MOST: Duration = Duration::from_secs(30);
/// What the last answer took, so many times, is no silence either.
const TIMES_THE_LAST: u32 = 3;

/// How long to wait for a broker's answer before it is asked again on a new connection: not long at first, and twice as long after
/// each silence.
///
/// Kafka's brokers wait for 30 s at once, and when a connection has died without a word (a firewall that forgot it, a cable that
/// was out for a while) followers of a cluster that is whole again get nothing until then, and brokers do not hear who leads. For
/// what may be asked twice: a fetch, a change of the ISR, which its epochs fence, and a control request, which its sequence does.
#[derive(Debug)]
pub(crate) struct Patience(Duration);

impl Patience {
    pub(crate) const fn new() -> Self {
        Self(LEAST)
    }

    /// What comes of an exchange; None when it takes too long.
    pub(crate) async fn wait_for<T>(&mut self, exchange: impl Future<Output = T>) -> Option<T> {
        let asked_at = Instant::now();
        let answer = timeout(self.0, exchange).await.ok();
        self.0 = match answer {
            Some(_) => (asked_at.elapsed() * TIMES_THE_LAST).clamp(LEAST, MOST),
            None => (self.0 * 2).min(MOST),
        };
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn patience_grows_with_each_silence_and_remembers_how_long_an_answer_took() {
        let mut patience = Patience::new();
        let mut waited = Vec::new();
        for _ in 0..6 {
            let since = Instant::now();
            assert_eq!(patience.wait_for(pending::<()>()).await, None);
            waited.push(since.elapsed().as_secs());
        }
        assert_eq!(waited, [2, 4, 8, 16, 30, 30]);
        assert!(patience.wait_for(sleep(Duration::from_secs(3))).await.is_some());
        assert!(patience.wait_for(sleep(Duration::from_secs(8))).await.is_some(), "three times what it took");
        assert!(patience.wait_for(sleep(Duration::ZERO)).await.is_some());
        assert!(patience.wait_for(sleep(Duration::from_secs(3))).await.is_none(), "it was quick again");
    }
}
