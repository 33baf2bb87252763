//! [`Shard`]: the groups of one partition of `__consumer_offsets`.

use std::collections::{HashMap, VecDeque};

use milena_protocol::ErrorCode;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::engine::{CommittedOffset, CoordinatorEngine, OffsetKey};
use super::group::{Answer, Token};

/// One partition's groups, for as long as this broker leads it without a break.
#[derive(Debug)]
pub(super) struct Shard {
    /// The leader epoch since which this broker leads.
    pub(super) led_since: i32,
    /// None while the partition's log is being read.
    engine: Option<CoordinatorEngine>,
    /// The requests that wait, each for one answer.
    waiting: HashMap<Token, oneshot::Sender<Answer>>,
    /// What was appended and is not known to be replicated, in the log's order.
    pending: VecDeque<Pending>,
}

#[derive(Debug)]
struct Pending {
    last_offset: i64,
    group_id: String,
    offsets: Vec<(OffsetKey, Option<CommittedOffset>)>,
}

impl Shard {
    /// A shard that is being loaded.
    pub(super) fn new(led_since: i32) -> Self {
        Self { led_since, engine: None, waiting: HashMap::new(), pending: VecDeque::new() }
    }

    pub(super) fn loaded(&mut self, engine: CoordinatorEngine) {
        self.engine = Some(engine);
    }

    pub(super) fn engine(&self) -> Option<&CoordinatorEngine> {
        self.engine.as_ref()
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.engine.as_ref()?.next_timeout()
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        // One that is being loaded has no timeouts.
        let _loading = self.with(|engine| engine.handle_timeout(now));
    }

    /// Works on the engine, and hands out the answers that have become due.
    ///
    /// # Errors
    /// COORDINATOR_LOAD_IN_PROGRESS.
    pub(super) fn with<T>(
        &mut self,
        handle: impl FnOnce(&mut CoordinatorEngine) -> T,
    ) -> Result<T, ErrorCode> {
        let engine = self.engine.as_mut().ok_or(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS)?;
        let result = handle(engine);
        self.deliver();
        Ok(result)
    }

    /// As [`with`](Self::with), for a request whose answer may become due later.
    ///
    /// # Errors
    /// COORDINATOR_LOAD_IN_PROGRESS.
    pub(super) fn wait_for(
        &mut self,
        handle: impl FnOnce(&mut CoordinatorEngine) -> Token,
        sender: oneshot::Sender<Answer>,
    ) -> Result<(), ErrorCode> {
        let engine = self.engine.as_mut().ok_or(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS)?;
        let token = handle(engine);
        self.waiting.insert(token, sender);
        self.deliver();
        Ok(())
    }

    /// Offsets are in the log, up to `last_offset`.
    pub(super) fn appended(
        &mut self,
        last_offset: i64,
        group_id: String,
        offsets: Vec<(OffsetKey, Option<CommittedOffset>)>,
    ) {
        self.pending.push_back(Pending { last_offset, group_id, offsets });
    }

    /// Takes the offsets that are in the log up to `last_offset`, all of which is replicated.
    pub(super) fn apply(&mut self, last_offset: i64) {
        let Some(engine) = &mut self.engine else { return };
        while let Some(pending) = self.pending.pop_front_if(|pending| pending.last_offset <= last_offset) {
            for (key, offset) in pending.offsets {
                engine.set_offset(&pending.group_id, key, offset);
            }
        }
    }

    fn deliver(&mut self) {
        let Some(engine) = &mut self.engine else { return };
        while let Some((token, answer)) = engine.poll_answer() {
            // Nobody waits any more when the connection has gone.
            if let Some(waiting) = self.waiting.remove(&token) {
                let _gone = waiting.send(answer);
            }
        }
    }
}
