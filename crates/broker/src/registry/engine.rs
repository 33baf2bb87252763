//! [`RegistryEngine`]: sessions, epochs and the one durable state.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use crate::controller::ControllerState;
use crate::metadata_cache::BrokerInfo;

/// How many producer ids a broker gets at a time (`ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE`).
const PRODUCER_ID_BLOCK: i64 = 1_000;

/// How the registry judges who is alive.
#[derive(Debug, Clone)]
pub struct RegistryConfig {
    /// `broker.session.timeout.ms`: a broker that is silent for so long is dead.
    pub session_timeout: Duration,
}

impl Default for RegistryConfig {
    fn default() -> Self {
        Self { session_timeout: Duration::from_secs(9) }
    }
}

/// What the registry must never forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryState {
    /// Above every broker epoch that was ever given out.
    pub next_broker_epoch: i64,
    /// Every producer id below this one may have been given away.
    pub next_producer_id: i64,
    /// The controller's state, and the epoch of the last controller.
    pub cluster: Arc<ControllerState>,
}

impl RegistryState {
    /// The registry of a new cluster.
    #[must_use]
    pub fn new(cluster_id: String) -> Self {
        Self {
            next_broker_epoch: 1,
            next_producer_id: 0,
            cluster: Arc::new(ControllerState::new(cluster_id)),
        }
    }
}

/// A broker that has a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredBroker {
    /// Names this life of the broker: each registration gets a higher one.
    pub epoch: i64,
    /// The broker and its endpoints.
    pub info: BrokerInfo,
    /// Whether it can use no log: its log directory has failed.
    pub log_dir_failed: bool,
}

/// The controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControllerInfo {
    /// The broker that it runs on.
    pub id: i32,
    /// The epoch that it was elected in.
    pub epoch: i32,
}

/// What watchers see. They see states and not events: a broker that went and came back in between shows in its epoch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RegistryView {
    /// The brokers that are alive.
    pub brokers: BTreeMap<i32, RegisteredBroker>,
    /// The controller, if there is one.
    pub controller: Option<ControllerInfo>,
}

/// What a broker is told when it registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registration {
    /// The epoch of this life of the broker.
    pub broker_epoch: i64,
    /// The epoch of the last controller: requests of an earlier one are to be refused, also by a broker that has just
    /// started and has never heard of it.
    pub controller_epoch: i32,
}

/// Why the registry refuses something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The broker has no session of this epoch: it was too slow, or has been replaced. It has to register again.
    #[error("broker {broker} has no session with epoch {epoch}")]
    NoSession {
        /// The broker.
        broker: i32,
        /// The epoch that it believes in.
        epoch: i64,
    },
    /// Every number has been given away.
    #[error("all producer ids have been given away")]
    NoProducerIds,
    /// There is a controller already.
    #[error("broker {} is the controller, in epoch {}", .0.id, .0.epoch)]
    ControllerExists(ControllerInfo),
    /// The sender is no longer the controller.
    #[error("the state was written in controller epoch {epoch}, but epoch {current} has begun")]
    StaleControllerEpoch {
        /// The sender's epoch.
        epoch: i32,
        /// The epoch that has begun.
        current: i32,
    },
}

/// The registry. Times are those since any fixed moment.
#[derive(Debug, Clone)]
pub struct RegistryEngine {
    config: RegistryConfig,
    state: RegistryState,
    sessions: BTreeMap<i32, Session>,
    /// Has a session, always: it ends with it.
    controller: Option<ControllerInfo>,
    needs_persist: bool,
}

#[derive(Debug, Clone)]
struct Session {
    broker: RegisteredBroker,
    expires_at: Duration,
}

impl RegistryEngine {
    /// The registry of the cluster whose state this is; nobody is alive yet.
    #[must_use]
    pub fn new(config: RegistryConfig, state: RegistryState) -> Self {
        Self { config, state, sessions: BTreeMap::new(), controller: None, needs_persist: false }
    }

    /// What must be durable before anybody hears of what was done last.
    pub fn state(&self) -> &RegistryState {
        &self.state
    }

    /// Whether [`state`](Self::state) has changed since this was asked last.
    pub fn take_needs_persist(&mut self) -> bool {
        std::mem::take(&mut self.needs_persist)
    }

    /// What watchers see now.
    pub fn view(&self) -> RegistryView {
        let brokers = self.sessions.iter().map(|(id, session)| (*id, session.broker.clone())).collect();
        RegistryView { brokers, controller: self.controller }
    }

    /// A broker is there. A session that it had ends, and with it the broker's being controller: whoever registers
    /// has just started and knows nothing of either.
    pub fn register(&mut self, info: BrokerInfo, now: Duration) -> Registration {
        let id = info.id;
        self.end_session(id);
        let epoch = self.state.next_broker_epoch;
        self.state.next_broker_epoch += 1;
        self.needs_persist = true;
        let broker = RegisteredBroker { epoch, info, log_dir_failed: false };
        let expires_at = now.saturating_add(self.config.session_timeout);
        self.sessions.insert(id, Session { broker, expires_at });
        Registration { broker_epoch: epoch, controller_epoch: self.state.cluster.controller_epoch }
    }

    /// A broker is still there.
    ///
    /// # Errors
    /// [`RegistryError::NoSession`] when it is too late.
    pub fn heartbeat(&mut self, broker: i32, epoch: i64, now: Duration) -> Result<(), RegistryError> {
        self.tick(now);
        let timeout = self.config.session_timeout;
        let session = self.session_mut(broker, epoch)?;
        session.expires_at = now.saturating_add(timeout);
        Ok(())
    }

    /// A broker leaves of its own will.
    ///
    /// # Errors
    /// [`RegistryError::NoSession`] when it has left already, or has come back since.
    pub fn unregister(&mut self, broker: i32, epoch: i64) -> Result<(), RegistryError> {
        self.session_mut(broker, epoch)?;
        self.end_session(broker);
        Ok(())
    }

    /// A broker cannot use its log directory any more (`KafkaZkClient.propagateLogDirEvent`). That ends when it registers
    /// again, with logs that it has recovered.
    ///
    /// # Errors
    /// [`RegistryError::NoSession`].
    pub fn log_dir_failed(&mut self, broker: i32, epoch: i64) -> Result<(), RegistryError> {
        self.session_mut(broker, epoch)?.broker.log_dir_failed = true;
        Ok(())
    }

    /// Nobody could be heard for so long, because the registry itself made no step: that ends no session.
    pub fn forgive(&mut self, time: Duration) {
        for session in self.sessions.values_mut() {
            session.expires_at = session.expires_at.saturating_add(time);
        }
    }

    /// Ends the sessions that are due.
    pub fn tick(&mut self, now: Duration) {
        let due = |session: &&i32| self.sessions[*session].expires_at <= now;
        let due: Vec<i32> = self.sessions.keys().filter(due).copied().collect();
        for broker in due {
            self.end_session(broker);
        }
    }

    /// When the next session ends, if nobody says anything.
    pub fn next_expiry(&self) -> Option<Duration> {
        self.sessions.values().map(|session| session.expires_at).min()
    }

    /// Makes a broker the controller, in an epoch of its own, and gives it the state to work on. The first that asks
    /// wins.
    ///
    /// # Errors
    /// [`RegistryError::ControllerExists`], [`RegistryError::NoSession`].
    pub fn elect(
        &mut self,
        broker: i32,
        broker_epoch: i64,
    ) -> Result<(ControllerInfo, Arc<ControllerState>), RegistryError> {
        self.session_mut(broker, broker_epoch)?;
        if let Some(controller) = self.controller {
            return Err(RegistryError::ControllerExists(controller));
        }
        let cluster = Arc::make_mut(&mut self.state.cluster);
        cluster.controller_epoch += 1;
        let controller = ControllerInfo { id: broker, epoch: cluster.controller_epoch };
        self.controller = Some(controller);
        self.needs_persist = true;
        Ok((controller, self.state.cluster.clone()))
    }

    /// A controller gives up its office, but stays alive.
    pub fn resign(&mut self, controller: ControllerInfo) {
        if self.controller == Some(controller) {
            self.controller = None;
        }
    }

    /// Replaces the controller's state.
    ///
    /// # Errors
    /// [`RegistryError::StaleControllerEpoch`] when another controller was elected since the one that `next` is of;
    /// nothing has changed then.
    pub fn write(&mut self, next: Arc<ControllerState>) -> Result<(), RegistryError> {
        let current = self.state.cluster.controller_epoch;
        if next.controller_epoch != current {
            return Err(RegistryError::StaleControllerEpoch { epoch: next.controller_epoch, current });
        }
        self.state.cluster = next;
        self.needs_persist = true;
        Ok(())
    }

    /// Gives away producer ids that nobody will ever get again.
    ///
    /// # Errors
    /// [`RegistryError::NoProducerIds`].
    pub fn allocate_producer_ids(&mut self) -> Result<Range<i64>, RegistryError> {
        let start = self.state.next_producer_id;
        let end = start.checked_add(PRODUCER_ID_BLOCK).ok_or(RegistryError::NoProducerIds)?;
        self.state.next_producer_id = end;
        self.needs_persist = true;
        Ok(start..end)
    }

    fn session_mut(&mut self, broker: i32, epoch: i64) -> Result<&mut Session, RegistryError> {
        let session = self.sessions.get_mut(&broker).filter(|session| session.broker.epoch == epoch);
        session.ok_or(RegistryError::NoSession { broker, epoch })
    }

    fn end_session(&mut self, broker: i32) {
        self.sessions.remove(&broker);
        if self.controller.is_some_and(|controller| controller.id == broker) {
            self.controller = None;
        }
    }
}
