//! A scripted peer in virtual time, for any [`Engine`].
//!
//! [`Harness`] owns the engine and the clock. What the engine commands is carried out against [`Peer`], a cluster of
//! pretended brokers; what comes back is an event some virtual time later. Nothing waits, nothing is random.

#![allow(dead_code, unreachable_pub, unused_imports, reason = "each test binary uses its own part")]

mod client;
mod cluster;
mod peer;

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

pub use client::{Bare, Client, METADATA_VERSION, Pure, config, named};
pub use cluster::FakeCluster;
use milena_core::{
    engine::{Command, Engine, Event},
    network::ConnectionId,
    time::Instant,
};
pub use peer::{Broker, Peer, PeerRequest, Reach, Reply};

/// So many turns at one moment of virtual time are a loop.
const TURNS_AT_ONE_MOMENT_MAX: u32 = 10_000;

pub const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Fails unless each gap is the one expected, in milliseconds, give or take the jitter and some latency.
#[track_caller]
pub fn assert_gaps(gaps: &[Duration], expected: &[u64]) {
    for (gap, expected) in gaps.iter().zip(expected) {
        let (low, high) = (ms(*expected).mul_f64(0.79), ms(*expected).mul_f64(1.21) + ms(5));
        assert!(*gap >= low && *gap <= high, "{gaps:?} instead of about {expected:?} ms");
    }
    assert!(gaps.len() >= expected.len(), "only {gaps:?}");
}

/// An engine, its peer, and the time.
pub struct Harness<E> {
    pub engine: E,
    pub peer: Peer,
    pub now: Instant,
    events: BTreeMap<(Instant, u64), Event>,
    scheduled: u64,
    turns_at_this_moment: u32,
    /// When the last answer on a connection comes: brokers answer in order, so a slow request delays those behind it.
    answered_at: BTreeMap<ConnectionId, Instant>,
}

impl<E: Engine> Harness<E> {
    /// The engine has not been polled yet: the first call of [`poll`](Self::poll) or of what runs does it.
    pub fn new(engine: E, peer: Peer) -> Self {
        Self {
            engine,
            peer,
            now: START,
            events: BTreeMap::new(),
            scheduled: 0,
            turns_at_this_moment: 0,
            answered_at: BTreeMap::new(),
        }
    }

    /// What a driver does when callers signal: one turn at the present moment.
    pub fn poll(&mut self) {
        self.turns_at_this_moment += 1;
        assert!(self.turns_at_this_moment < TURNS_AT_ONE_MOMENT_MAX, "the engine loops at {:?}", self.now);
        self.engine.poll(self.now);
        while let Some(command) = self.engine.poll_command() {
            self.carry_out(command);
        }
    }

    /// Goes to the next event or timeout and handles it; false when there is none until `deadline`.
    pub fn step(&mut self, deadline: Instant) -> bool {
        let event_at = self.events.first_key_value().map(|((at, _), _)| *at);
        let timeout = self.engine.next_timeout().map(|at| at.max(self.now));
        let Some(at) = [event_at, timeout].into_iter().flatten().min().filter(|at| *at <= deadline) else {
            return false;
        };
        self.go_to(at);
        if event_at == Some(at)
            && let Some((_, event)) = self.events.pop_first()
        {
            self.deliver(event);
        }
        self.poll();
        true
    }

    /// Lets so much time pass, with all that happens in it.
    pub fn advance(&mut self, time: Duration) {
        let end = self.now + time;
        self.poll();
        while self.step(end) {}
        self.go_to(end);
        self.poll();
    }

    /// Lets time pass until the condition holds; panics when it does not within `limit`.
    #[track_caller]
    pub fn run_until(&mut self, limit: Duration, mut condition: impl FnMut(&mut Self) -> bool) {
        let deadline = self.now + limit;
        self.poll();
        while !condition(self) {
            assert!(self.step(deadline), "not within {limit:?}; the peer saw:\n{}", self.peer.story());
        }
    }

    /// Ends a broker's connections, as its death would.
    pub fn disconnect(&mut self, broker: i32, reason: &str) {
        for connection in self.peer.connections_of(broker) {
            self.peer.forget(connection);
            self.schedule(Duration::ZERO, Event::Disconnected { connection, reason: reason.to_owned() });
        }
    }

    /// Makes an event happen later.
    pub fn schedule(&mut self, delay: Duration, event: Event) {
        self.scheduled += 1;
        self.events.insert((self.now + delay, self.scheduled), event);
    }

    /// The delay of an answer, or more: not before the one before it.
    fn in_order(&mut self, connection: ConnectionId, delay: Duration) -> Duration {
        let last = self.answered_at.entry(connection).or_insert(self.now);
        *last = (*last).max(self.now + delay);
        *last - self.now
    }

    fn go_to(&mut self, at: Instant) {
        if at > self.now {
            self.now = at;
            self.turns_at_this_moment = 0;
        }
    }

    fn deliver(&mut self, event: Event) {
        if let Event::Connected { connection } | Event::Received { connection, .. } = &event
            && !self.peer.is_open(*connection)
        {
            // The engine closed it meanwhile: some drivers still report, so the engine must not mind.
            tracing::trace!(?connection, "late event");
        }
        self.engine.handle_event(event, self.now);
    }

    fn carry_out(&mut self, command: Command) {
        match command {
            Command::Resolve { node, host, port } => {
                let (delay, result) = self.peer.resolve(&host, port, self.now);
                if let Some(delay) = delay {
                    self.schedule(delay, Event::Resolved { node, host, result });
                }
            }
            Command::Connect { connection, address, .. } => self.connect(connection, address),
            Command::Transmit { connection, frame, notify } => {
                let latency = self.peer.latency;
                if notify && self.peer.is_open(connection) {
                    self.schedule(Duration::ZERO, Event::Transmitted { connection });
                }
                for (delay, reply) in self.peer.receive(connection, &frame.to_bytes(), self.now) {
                    let event = match reply {
                        Some(frame) => Event::Received { connection, frame },
                        None => {
                            Event::Disconnected { connection, reason: "connection reset by peer".to_owned() }
                        }
                    };
                    let delay = self.in_order(connection, latency + delay);
                    self.schedule(delay, event);
                }
            }
            Command::Close { connection } => self.peer.close(connection, self.now),
            Command::Compress(mut job) => {
                job.run();
                self.schedule(Duration::ZERO, Event::Compressed(job));
            }
        }
    }

    fn connect(&mut self, connection: ConnectionId, address: SocketAddr) {
        let latency = self.peer.latency;
        match self.peer.connect(connection, address, self.now) {
            Reach::Accepts => self.schedule(latency, Event::Connected { connection }),
            Reach::Refuses => {
                let reason = "connection refused".to_owned();
                self.schedule(latency, Event::Disconnected { connection, reason });
            }
            Reach::Swallows => {}
        }
    }
}

/// Not the origin: an engine must not take zero for "now".
pub const START: Instant = Instant::from_millis(1_000);
