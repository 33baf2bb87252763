//! [`Network`]: between the brokers of a cluster, and between them and their clients; and what is wrong with it.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::link::{Direction, Link};
use super::listener_socket::ListenerSocket;
use crate::clock::FOR_EVER;

/// Something that is wrong with the network.
#[derive(Debug, Clone)]
pub(crate) enum NetFault {
    /// The broker's host is gone: nothing reaches it, and nothing comes from it.
    BlackHole(i32),
    /// What one broker sends to another one vanishes.
    OneWay { from: i32, to: i32 },
    /// The listeners of a broker that are for clients are cut off.
    Clients(i32),
    /// What the broker receives is late by so much.
    Delay(i32, Duration),
    /// All of the broker's connections together carry no more than that, in each direction.
    Throttle(i32, Arc<Throttle>),
}

impl NetFault {
    /// Whether it is a fault of this broker's, alone or with another one.
    fn concerns(&self, id: i32) -> bool {
        match self {
            Self::BlackHole(broker)
            | Self::Clients(broker)
            | Self::Delay(broker, _)
            | Self::Throttle(broker, _) => *broker == id,
            Self::OneWay { from, to } => [from, to].contains(&&id),
        }
    }

    fn cuts(&self, link: Link, direction: Direction) -> bool {
        match (self, link) {
            (Self::BlackHole(id), Link::Accepted { at, .. }) => *id == at,
            (Self::BlackHole(id), Link::Connected { from, to }) => [from, to].contains(id),
            (Self::Clients(id), Link::Accepted { at, from_clients }) => from_clients && *id == at,
            (Self::OneWay { from: sender, to: receiver }, Link::Connected { from, to }) => match direction {
                Direction::Out => (*sender, *receiver) == (from, to),
                Direction::In => (*sender, *receiver) == (to, from),
            },
            _ => false,
        }
    }
}

/// What the faults mean for one direction of a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Passage {
    pub(super) is_cut: bool,
    pub(super) delay: Duration,
    pub(super) throttles: Vec<Arc<Throttle>>,
}

impl Passage {
    pub(super) fn is_clear(&self) -> bool {
        !self.is_cut && self.delay.is_zero() && self.throttles.is_empty()
    }
}

/// A network and its faults. Without any, a connection pays one atomic load for each read and write.
#[derive(Debug, Default)]
pub(crate) struct Network {
    /// Moves with each fault that begins or ends, under the lock.
    version: AtomicU64,
    next_link: AtomicU64,
    state: Mutex<State>,
}

pub(super) type FaultId = u64;
pub(super) type LinkId = u64;

#[derive(Debug, Default)]
struct State {
    last_fault: FaultId,
    faults: BTreeMap<FaultId, NetFault>,
    /// Of those that wait for a fault to end.
    waiting: HashMap<(LinkId, Direction), Waker>,
    listeners: Vec<Weak<ListenerSocket>>,
    /// Connections and listeners whose broker has closed them while they were cut: the other end is not to hear of it.
    unburied: Vec<(Link, TcpStream)>,
    unburied_listeners: Vec<Arc<ListenerSocket>>,
}

impl Network {
    pub(crate) fn begin(&self, fault: NetFault) -> FaultId {
        self.change(|state| {
            state.last_fault += 1;
            state.faults.insert(state.last_fault, fault);
            state.last_fault
        })
    }

    pub(crate) fn end(&self, id: FaultId) {
        self.change(|state| {
            state.faults.remove(&id);
        });
    }

    /// Ends whatever is wrong with the network of one broker, or of all.
    pub(crate) fn heal(&self, broker: Option<i32>) {
        self.change(|state| state.faults.retain(|_, fault| broker.is_some_and(|id| !fault.concerns(id))));
    }

    pub(crate) fn is_black_hole(&self, broker: i32) -> bool {
        // Most often there is no fault, and this is called with each heartbeat.
        let state = self.state.lock();
        state.faults.values().any(|fault| matches!(fault, NetFault::BlackHole(id) if *id == broker))
    }

    /// What is wrong with a broker's network, in words, for people.
    pub(crate) fn describe(&self, broker: i32) -> Vec<String> {
        let state = self.state.lock();
        let mine = state.faults.values().filter(|fault| fault.concerns(broker));
        mine.map(|fault| match fault {
            NetFault::BlackHole(_) => "black hole".to_owned(),
            NetFault::OneWay { from, to } => format!("{from} does not reach {to}"),
            NetFault::Clients(_) => "cut off from clients".to_owned(),
            NetFault::Delay(_, delay) => format!("delayed by {delay:?}"),
            NetFault::Throttle(_, throttle) => format!("throttled to {} B/s", throttle.bytes_per_second),
        })
        .collect()
    }

    /// Changes the faults, and tells everybody. A listener turns deaf, or hears again, before this returns.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock();
        let answer = change(&mut state);
        self.version.fetch_add(1, Ordering::Release);
        let State { faults, unburied, unburied_listeners, listeners, .. } = &mut *state;
        let is_cut = |link, direction| faults.values().any(|fault| fault.cuts(link, direction));
        let is_silent = |link| is_cut(link, Direction::In) || is_cut(link, Direction::Out);
        unburied.retain(|(link, _)| is_silent(*link));
        // First, so that what has no broker any more does not hear again, for however short a time.
        unburied_listeners.retain(|listener| is_silent(listener.link()));
        listeners.retain(|listener| match listener.upgrade() {
            Some(listener) => {
                listener.turn_deaf(is_silent(listener.link()));
                true
            }
            None => false,
        });
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_values().for_each(Waker::wake);
        answer
    }

    pub(super) fn new_link(&self) -> LinkId {
        self.next_link.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// What the faults mean for one direction of a link, and from which version on.
    pub(super) fn passage(&self, link: Link, direction: Direction) -> (u64, Passage) {
        let state = self.state.lock();
        (self.version.load(Ordering::Acquire), passage_of(&state, link, direction))
    }

    /// Has a direction woken when the faults change, unless they have since `seen`.
    pub(super) fn wait(&self, seen: u64, key: (LinkId, Direction), waker: &Waker) -> bool {
        let mut state = self.state.lock();
        let is_news = self.version.load(Ordering::Acquire) != seen;
        if !is_news {
            state.waiting.insert(key, waker.clone());
        }
        !is_news
    }

    pub(super) fn forget(&self, id: LinkId) {
        let mut state = self.state.lock();
        for direction in [Direction::In, Direction::Out] {
            state.waiting.remove(&(id, direction));
        }
    }

    /// Closes a connection, now or when the other end can hear of it.
    pub(super) fn bury(&self, link: Link, socket: TcpStream) {
        let mut state = self.state.lock();
        if is_silent(&state, link) {
            state.unburied.push((link, socket));
        }
    }

    /// Has a listener turn deaf when it is cut off.
    pub(super) fn add_listener(&self, listener: &Arc<ListenerSocket>) {
        let mut state = self.state.lock();
        listener.turn_deaf(is_silent(&state, listener.link()));
        state.listeners.push(Arc::downgrade(listener));
    }

    /// As [`bury`](Self::bury).
    pub(super) fn bury_listener(&self, listener: Arc<ListenerSocket>) {
        let mut state = self.state.lock();
        if is_silent(&state, listener.link()) {
            state.unburied_listeners.push(listener);
        }
    }

    /// A listener that its broker's next life goes on with.
    pub(super) fn dig_out_listener(&self, broker: i32, name: &str) -> Option<Arc<ListenerSocket>> {
        let unburied = &mut self.state.lock().unburied_listeners;
        let found = unburied.iter().position(|listener| listener.is(broker, name))?;
        Some(unburied.swap_remove(found))
    }
}

fn is_silent(state: &State, link: Link) -> bool {
    let cuts = |fault: &NetFault| fault.cuts(link, Direction::In) || fault.cuts(link, Direction::Out);
    state.faults.values().any(cuts)
}

fn passage_of(state: &State, link: Link, direction: Direction) -> Passage {
    let mut passage = Passage::default();
    for fault in state.faults.values() {
        passage.is_cut |= fault.cuts(link, direction);
        match fault {
            NetFault::Delay(id, delay) if *id == link.owner() && direction == Direction::In => {
                passage.delay = passage.delay.saturating_add(*delay).min(FOR_EVER);
            }
            NetFault::Throttle(id, throttle) if *id == link.owner() => {
                passage.throttles.push(throttle.clone());
            }
            _ => {}
        }
    }
    passage
}

/// A broker's slow line: bytes are let through one lot after the other.
#[derive(Debug)]
pub(crate) struct Throttle {
    bytes_per_second: u64,
    /// When the line is free again, in and out.
    free_at: Mutex<[Option<Instant>; 2]>,
}

impl Throttle {
    pub(crate) fn new(bytes_per_second: u64) -> Self {
        Self { bytes_per_second: bytes_per_second.max(1), free_at: Mutex::default() }
    }

    /// What may go at once: a fiftieth of a second's worth, as long as that is not silly.
    pub(super) fn lot(&self) -> usize {
        usize::try_from((self.bytes_per_second / 50).clamp(1, 64 * 1024)).unwrap_or(1)
    }

    pub(super) fn free_at(&self, direction: Direction) -> Option<Instant> {
        self.free_at.lock()[direction as usize]
    }

    pub(super) fn charge(&self, direction: Direction, bytes: usize, now: Instant) {
        let took = Duration::from_secs_f64(bytes as f64 / self.bytes_per_second as f64);
        let free_at = &mut self.free_at.lock()[direction as usize];
        *free_at = Some(free_at.map_or(now, |at| at.max(now)) + took);
    }
}
