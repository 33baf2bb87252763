//! [`Network`]: ordered streams between places, which are slow, break, and fall silent.
//!
//! What TCP promises holds: bytes arrive in order, each once, or the connection ends. A blocked link holds them back until it
//! heals; the dead say nothing, and a host that comes back resets what it does not know.

mod state;
mod stream;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::sleep;

use self::state::State;
pub use self::stream::SimStream;
use crate::chance::Chance;

/// The port on which brokers talk to clients.
pub const CLIENT_PORT: u16 = 9092;
/// The port on which brokers talk to each other.
pub const INTERNAL_PORT: u16 = 9093;

/// A machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// That of a broker.
    Broker(i32),
    /// That of a client.
    Client(u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broker(id) => write!(f, "b{id}"),
            Self::Client(id) => write!(f, "c{id}"),
        }
    }
}

/// A connection that a listener has got.
#[derive(Debug)]
pub struct Accepted {
    /// The broker's end.
    pub stream: SimStream,
    /// Who is at the other end.
    pub peer: Place,
    /// The port that it came in on.
    pub port: u16,
}

/// The network of a run. Clones share it.
#[derive(Debug, Clone)]
pub struct Network(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// A link or a host has changed.
    changed: Notify,
}

impl Network {
    /// A network on which a packet takes a time from `fastest` to `slowest`.
    #[must_use]
    pub fn new(chance: Chance, fastest: Duration, slowest: Duration) -> Self {
        let state = Mutex::new(State::new(chance, fastest, slowest));
        Self(Arc::new(Shared { state, changed: Notify::new() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock()
    }

    /// Connects; waits for as long as no packet comes through.
    ///
    /// # Errors
    /// When nobody listens there.
    pub async fn connect(&self, from: Place, to: Place, port: u16) -> io::Result<SimStream> {
        loop {
            let changed = self.0.changed.notified();
            let round_trip = self.state().round_trip(from, to);
            let Some(round_trip) = round_trip else {
                changed.await;
                // The next attempt of a TCP that has doubled its waits.
                let pause = self.state().retransmission();
                sleep(pause).await;
                continue;
            };
            sleep(round_trip).await;
            let mut state = self.state();
            if !state.is_open(from, to) || !state.is_open(to, from) {
                continue;
            }
            let Some(listener) = state.listener(to) else {
                return Err(io::ErrorKind::ConnectionRefused.into());
            };
            let id = state.connect(from, to);
            drop(state);
            let accepted = Accepted { stream: SimStream::new(self.clone(), id, 1), peer: from, port };
            if listener.send(accepted).is_err() {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            return Ok(SimStream::new(self.clone(), id, 0));
        }
    }

    /// A broker's process listens.
    pub fn listen(&self, place: Place, listener: UnboundedSender<Accepted>) {
        self.state().listen(place, listener);
        self.0.changed.notify_waiters();
    }

    /// A process ends. Its system closes its connections, either after what was written or at once.
    pub fn process_ends(&self, place: Place, is_abrupt: bool) {
        self.state().process_ends(place, is_abrupt);
    }

    /// A machine loses its power: nothing comes from it any more, and nothing says so.
    pub fn host_dies(&self, place: Place) {
        self.state().host_dies(place);
    }

    /// The machine is back, and knows no connection.
    pub fn host_returns(&self, place: Place) {
        self.state().host_returns(place);
        self.0.changed.notify_waiters();
    }

    /// No packet gets from one place to the other until it is healed.
    pub fn block(&self, from: Place, to: Place) {
        self.state().block(from, to);
    }

    /// Undoes one [`block`](Self::block).
    pub fn heal(&self, from: Place, to: Place) {
        self.state().heal(from, to);
        self.0.changed.notify_waiters();
    }

    /// Everything from and to a place takes so many times as long.
    pub fn slow_down(&self, place: Place, factor: u32) {
        self.state().slow_down(place, factor);
    }

    /// Breaks a connection that exists, if there is one; says which.
    pub fn break_one(&self, pick: u64) -> Option<(Place, Place)> {
        self.state().break_one(pick)
    }
}
