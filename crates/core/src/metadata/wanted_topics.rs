//! Which topics this client wants to know of, since when nobody used them, and about which an answer is owed (KIP-526).

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::RefreshReason;
use crate::{cluster::touch, time::Instant};

/// An answer about a topic that is owed to somebody.
#[derive(Clone, Copy, Debug)]
struct Owed {
    /// True for a topic that no request has named yet: it does not wait for a backoff, once.
    fresh: bool,
    /// True while a request that names it is under way.
    asked: bool,
    /// Which call asked for it.
    request_version: u64,
    reason: RefreshReason,
}

/// The wanted topics, by name.
#[derive(Debug, Default)]
pub(super) struct WantedTopics {
    /// When each was last used, in nanoseconds; the clock is shared with the snapshots.
    topics: BTreeMap<Arc<str>, Arc<AtomicU64>>,
    /// Names of `topics` only. Looked at in each turn, and mostly empty.
    owed: BTreeMap<Arc<str>, Owed>,
}

impl WantedTopics {
    pub(super) fn contains(&self, topic: &str) -> bool {
        self.topics.contains_key(topic)
    }

    pub(super) fn names(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.topics.keys()
    }

    /// A topic's name as it is shared, and the clock of its uses.
    pub(super) fn entry(&self, topic: &str) -> Option<(&Arc<str>, &Arc<AtomicU64>)> {
        self.topics.get_key_value(topic)
    }

    /// Renews a topic's expiry, or adds it. True if it is new.
    pub(super) fn add(&mut self, topic: &Arc<str>, request_version: u64, now: Instant) -> bool {
        if let Some(last_used) = self.topics.get(topic) {
            touch(last_used, now);
            return false;
        }
        self.topics.insert(Arc::clone(topic), Arc::new(AtomicU64::new(now.as_nanos())));
        let owed = Owed { fresh: true, asked: false, request_version, reason: RefreshReason::NewTopic };
        self.owed.insert(Arc::clone(topic), owed);
        true
    }

    /// Asks for a wanted topic once more, after the backoff. A request that is under way already is not the answer.
    pub(super) fn ask_again(&mut self, topic: &str, request_version: u64, reason: RefreshReason) {
        let Some((name, _)) = self.topics.get_key_value(topic) else { return };
        match self.owed.get_mut(topic) {
            // Still to be asked for, whatever for.
            Some(owed) if !owed.asked => owed.request_version = request_version,
            Some(owed) => *owed = Owed { fresh: false, asked: false, request_version, reason },
            None => {
                let owed = Owed { fresh: false, asked: false, request_version, reason };
                self.owed.insert(Arc::clone(name), owed);
            }
        }
    }

    /// As [`ask_again`](Self::ask_again), without the backoff.
    pub(super) fn ask_at_once(&mut self, topic: &str, request_version: u64, reason: RefreshReason) {
        self.ask_again(topic, request_version, reason);
        if let Some(owed) = self.owed.get_mut(topic) {
            owed.fresh = true;
        }
    }

    /// The topics that an answer is owed about and no request under way names, each with its reason.
    pub(super) fn owed(&self) -> impl Iterator<Item = (&Arc<str>, RefreshReason)> {
        self.owed.iter().filter(|(_, owed)| !owed.asked).map(|(name, owed)| (name, owed.reason))
    }

    /// True when a topic is waiting that needs no backoff.
    pub(super) fn has_fresh(&self) -> bool {
        self.owed.values().any(|owed| owed.fresh && !owed.asked)
    }

    /// Notes that a request under way names these topics.
    pub(super) fn asked(&mut self, topics: &[Arc<str>]) {
        for topic in topics {
            if let Some(owed) = self.owed.get_mut(topic) {
                (owed.fresh, owed.asked) = (false, true);
            }
        }
    }

    /// Notes that a request that named these topics was answered.
    pub(super) fn answered(&mut self, topics: &[Arc<str>], request_version: u64) {
        for topic in topics {
            if self.owed.get(topic).is_some_and(|owed| owed.request_version <= request_version) {
                self.owed.remove(topic);
            }
        }
    }

    /// Notes that a request that named these topics failed.
    pub(super) fn failed(&mut self, topics: &[Arc<str>]) {
        for topic in topics {
            if let Some(owed) = self.owed.get_mut(topic) {
                owed.asked = false;
            }
        }
    }

    /// Forgets the topics that nobody used for so long; one that was never answered stays (client.md 10).
    pub(super) fn expire(&mut self, max_idle: Duration, now: Instant) {
        let Self { topics, owed } = self;
        topics.retain(|name, last_used| {
            let last_used = Instant::from_nanos(last_used.load(Ordering::Relaxed));
            let new = owed.get(name).is_some_and(|owed| owed.reason == RefreshReason::NewTopic);
            let keep = new || now - last_used < max_idle;
            if !keep {
                owed.remove(name);
            }
            keep
        });
    }
}
