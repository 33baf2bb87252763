//! [`Sim`]: what the parts of a run share.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use milena_broker::simulation::{BoxFuture, SimulatedRegistry, Stream, World};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::chance::Chance;
use crate::history::History;
use crate::host::Host;
use crate::network::{Network, Place};
use crate::plan::Plan;
use crate::trace::Trace;

/// The time of day at which every run starts: 2026-01-01.
const EPOCH_MS: i64 = 1_767_225_600_000;

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Things go wrong, or will.
    Running,
    /// Everything is healed, and producers send a little.
    Healed,
    /// Producers send no more, and end when all they sent has an outcome.
    Draining,
    /// Everybody ends.
    Over,
}

/// A run.
#[derive(Debug)]
pub struct Sim {
    /// What it is made of.
    pub plan: Plan,
    /// What happens is taken down here.
    pub trace: Trace,
    /// The network.
    pub network: Network,
    /// Who is alive, and what the controllers have decided.
    pub registry: SimulatedRegistry,
    /// The brokers' machines, in the order of their ids.
    pub hosts: Vec<Arc<Host>>,
    phase: Mutex<Phase>,
    /// Rings when the phase is another one.
    pub phase_changed: Notify,
    started: Instant,
    history: Mutex<History>,
    chance: Mutex<Chance>,
}

impl Sim {
    /// A run that starts now.
    #[must_use]
    pub fn new(
        plan: Plan,
        trace: Trace,
        network: Network,
        registry: SimulatedRegistry,
        hosts: Vec<Arc<Host>>,
        chance: Chance,
    ) -> Arc<Self> {
        Arc::new(Self {
            plan,
            trace,
            network,
            registry,
            hosts,
            phase: Mutex::new(Phase::Running),
            phase_changed: Notify::new(),
            started: Instant::now(),
            history: Mutex::default(),
            chance: Mutex::new(chance),
        })
    }

    /// Since the start of the run.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// What was seen so far.
    pub fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock()
    }

    /// What nobody else has a generator for.
    pub fn chance(&self) -> MutexGuard<'_, Chance> {
        self.chance.lock()
    }

    /// Where the run is.
    #[must_use]
    pub fn phase(&self) -> Phase {
        *self.phase.lock()
    }

    /// The run is in its next phase.
    pub fn enter_phase(&self, phase: Phase) {
        *self.phase.lock() = phase;
        self.phase_changed.notify_waiters();
    }

    /// The machine of a broker.
    #[must_use]
    pub fn host(&self, id: i32) -> Option<&Arc<Host>> {
        self.hosts.iter().find(|host| host.id == id)
    }
}

/// A run, as its brokers see it.
#[derive(Debug)]
pub struct Surroundings(pub Arc<Sim>);

impl World for Surroundings {
    fn connect(&self, from: i32, host: &str, port: u16) -> BoxFuture<'static, io::Result<Box<dyn Stream>>> {
        let network = self.0.network.clone();
        let to = broker_named(host);
        Box::pin(async move {
            let to = to.ok_or(io::ErrorKind::NotFound)?;
            let stream = network.connect(Place::Broker(from), Place::Broker(to), port).await?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        })
    }

    fn wall_clock_ms(&self, broker: i32) -> i64 {
        let skew = self.0.host(broker).map_or(0, |host| host.clock_skew_ms());
        let now = i64::try_from(self.0.now().as_millis()).unwrap_or(i64::MAX);
        EPOCH_MS + now + skew
    }

    fn blocking_delay(&self, broker: i32) -> Duration {
        let slowest = self.0.host(broker).map_or(Duration::ZERO, |host| host.disk_delay());
        if slowest.is_zero() { slowest } else { self.0.chance().time(Duration::ZERO, slowest) }
    }

    fn random(&self, _broker: i32) -> u64 {
        self.0.chance().number()
    }
}

/// The broker that is called so: `broker-1`, or its address, `10.0.0.1`.
#[must_use]
pub fn broker_named(host: &str) -> Option<i32> {
    let id = host.strip_prefix("broker-").or_else(|| host.strip_prefix("10.0.0."))?;
    id.parse().ok()
}

/// The time of day by a client's clock, which is right.
#[must_use]
pub fn client_clock_ms(now: Duration) -> i64 {
    EPOCH_MS + i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}
