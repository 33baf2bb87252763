//! The seams where a simulation takes the place of the machine, and brokers without sockets for it.
//!
//! A simulation runs on one thread, on tokio's paused clock. While a [`World`] is entered on the thread, brokers connect
//! to each other through it, ask it for the time of day and for random numbers, and do what blocks where they are; all
//! else of them is what runs on a real machine. Without one, nothing here does anything. No promise of stability.

mod broker;

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

pub use self::broker::{
    Answering, Membership, Remains, ReplicaView, RequestEntry, SimulatedBroker, SimulatedRegistry,
};
pub use crate::network::BoxFuture;

/// A connection's two directions.
pub trait Stream: AsyncRead + AsyncWrite + Debug + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Debug + Send + Sync + Unpin> Stream for T {}

/// What is around the brokers. Each question names the broker that asks, −1 for none.
pub trait World {
    /// Connects to an inter-broker listener.
    fn connect(&self, from: i32, host: &str, port: u16) -> BoxFuture<'static, io::Result<Box<dyn Stream>>>;

    /// The time of day: milliseconds since the epoch.
    fn wall_clock_ms(&self, broker: i32) -> i64;

    /// How long something that blocks waits before it is done.
    fn blocking_delay(&self, broker: i32) -> Duration;

    /// A random number.
    fn random(&self, broker: i32) -> u64;
}

thread_local! {
    static WORLD: RefCell<Option<Rc<dyn World>>> = const { RefCell::new(None) };
    static BROKER: Cell<i32> = const { Cell::new(-1) };
}

/// Leaves the [`World`] when it is dropped.
#[derive(Debug)]
pub struct Entered(());

/// Puts this thread into a world.
#[must_use]
pub fn enter(world: Rc<dyn World>) -> Entered {
    WORLD.set(Some(world));
    Entered(())
}

impl Drop for Entered {
    fn drop(&mut self) {
        WORLD.set(None);
    }
}

/// The world of this thread and the broker that runs, if it is simulated.
pub(crate) fn world() -> Option<(Rc<dyn World>, i32)> {
    WORLD.with_borrow(Clone::clone).map(|world| (world, BROKER.get()))
}

/// Marks that a broker runs on this thread, until it is dropped.
pub(crate) struct Running {
    before: i32,
}

impl Running {
    pub(crate) fn new(broker: i32) -> Self {
        Self { before: BROKER.replace(broker) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        BROKER.set(self.before);
    }
}
