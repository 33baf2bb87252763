//! What callers' threads see of the metadata, and how they ask for more.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use arc_swap::{ArcSwap, Guard};
use event_listener::{Event, EventListener};
use milena_protocol::ErrorCode;
use parking_lot::Mutex;

use super::{RefreshReason, RefreshReport};
use crate::{cluster::Cluster, signal::Signal, time::Instant};

/// The most reports that wait for somebody to take them; the oldest goes first.
const REPORTS_MAX: usize = 64;

/// The most topics that callers have asked for and the driver has not looked at yet.
const MAILBOX_TOPICS_MAX: usize = 100_000;

/// One consistent state of the metadata; swapped whole.
#[derive(Clone, Debug)]
pub struct MetadataView {
    /// The cluster.
    pub cluster: Arc<Cluster>,
    /// One more with each successful update; 0 while only the bootstrap addresses are known.
    pub version: u64,
    /// When the last successful update came, whole or partial.
    pub updated_at: Instant,
    /// What the last answer that named the topic said of it, if that was an error.
    pub topic_errors: Arc<BTreeMap<Arc<str>, ErrorCode>>,
    /// What cannot be helped by waiting, if anything is.
    pub fatal: Option<Arc<str>>,
    /// Why the last attempt to connect or to refresh failed, with the address; none after a success.
    pub last_failure: Option<Arc<str>>,
    /// True when the client is closed.
    pub closed: bool,
}

/// What callers want and the driver has not looked at yet.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    pub(super) topics: BTreeSet<Arc<str>>,
    pub(super) update: Option<RefreshReason>,
}

#[derive(Debug)]
pub(super) struct Shared {
    view: ArcSwap<MetadataView>,
    updated: Event,
    mailbox: Mutex<Mailbox>,
    reports: Mutex<VecDeque<RefreshReport>>,
    signal: Arc<Signal>,
}

impl Shared {
    pub(super) fn new(view: MetadataView, signal: Arc<Signal>) -> Self {
        Self {
            view: ArcSwap::from_pointee(view),
            updated: Event::new(),
            mailbox: Mutex::default(),
            reports: Mutex::default(),
            signal,
        }
    }

    /// Swaps the view and wakes everybody who waits.
    pub(super) fn publish(&self, view: MetadataView) {
        self.view.store(Arc::new(view));
        self.updated.notify(usize::MAX);
    }

    pub(super) fn take_mail(&self) -> Mailbox {
        std::mem::take(&mut *self.mailbox.lock())
    }

    pub(super) fn report(&self, report: RefreshReport) {
        let mut reports = self.reports.lock();
        if reports.len() == REPORTS_MAX {
            reports.pop_front();
        }
        reports.push_back(report);
    }
}

/// The callers' side of the metadata; cheap to clone.
#[derive(Clone, Debug)]
pub struct MetadataHandle {
    pub(super) shared: Arc<Shared>,
}

impl MetadataHandle {
    /// The latest view. Takes no lock; hold it briefly.
    pub fn view(&self) -> Guard<Arc<MetadataView>> {
        self.shared.view.load()
    }

    /// The latest view, to keep.
    pub fn view_full(&self) -> Arc<MetadataView> {
        self.shared.view.load_full()
    }

    /// Wakes at the next change of the view. Listen first, look then.
    pub fn listen(&self) -> EventListener {
        self.shared.updated.listen()
    }

    /// Asks for a topic: at once if it is new, after the backoff if the last answer did not satisfy. Renews its expiry.
    ///
    /// False when too many topics are being asked for: ask again after the next update.
    pub fn want_topic(&self, topic: &str) -> bool {
        let mut mailbox = self.shared.mailbox.lock();
        if !mailbox.topics.contains(topic) {
            if mailbox.topics.len() >= MAILBOX_TOPICS_MAX {
                return false;
            }
            mailbox.topics.insert(topic.into());
        }
        drop(mailbox);
        self.shared.signal.notify();
        true
    }

    /// Asks for a refresh of all that is wanted, and returns the current version: the answer's is greater.
    pub fn request_update(&self, reason: RefreshReason) -> u64 {
        // The version first: an update that comes in between is too old to be the answer.
        let version = self.view().version;
        self.shared.mailbox.lock().update.get_or_insert(reason);
        self.shared.signal.notify();
        version
    }

    /// The refreshes since the last call, oldest first; at most the last 64.
    pub fn take_refreshes(&self) -> Vec<RefreshReport> {
        self.shared.reports.lock().drain(..).collect()
    }
}
