//! [`ClusterRegistry`]: the registry of the brokers of one process, and its file.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use super::store::RegistryStore;
use super::{
    ControllerInfo, Registration, RegistryConfig, RegistryEngine, RegistryError, RegistryState, RegistryView,
};
use crate::BrokerError;
use crate::controller::ControllerState;
use crate::metadata_cache::BrokerInfo;
use crate::node::random_uuid;

/// Why the registry did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterRegistryError {
    /// It refuses.
    #[error(transparent)]
    Refused(#[from] RegistryError),
    /// It would, but its file cannot be written. Nothing has changed.
    #[error(transparent)]
    Disk(#[from] BrokerError),
}

/// Who is told of settings.
pub(crate) type ConfigListener = Box<dyn Fn(&str, &BTreeMap<String, String>) + Send + Sync>;

/// What ZooKeeper was, for the brokers of one process: they share it by reference.
///
/// Whatever it is asked for is durable before it is answered, and before a watcher sees it. The methods that say so wait
/// for the disk.
pub(crate) struct ClusterRegistry {
    /// Locked while its file is written.
    engine: Mutex<RegistryEngine>,
    /// The controller's state, as it is durable.
    cluster_state: ArcSwap<ControllerState>,
    session_timeout: Duration,
    store: RegistryStore,
    started: Instant,
    /// When a broker was last heard, in time since `started`.
    heard_at: Mutex<Duration>,
    view: watch::Sender<RegistryView>,
    config_listeners: Mutex<BTreeMap<i32, ConfigListener>>,
}

impl fmt::Debug for ClusterRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterRegistry").field("store", &self.store).finish_non_exhaustive()
    }
}

impl ClusterRegistry {
    /// The registry whose file this is, or that of a new cluster. Blocking.
    pub(crate) fn open(store: RegistryStore, config: RegistryConfig) -> Result<Self, BrokerError> {
        let state = match store.load()? {
            Some(state) => state,
            None => {
                let state = RegistryState::new(random_uuid().to_string());
                // No broker may belong to a cluster that nobody remembers.
                store.create_dir()?;
                store.save(&state)?;
                state
            }
        };
        let session_timeout = config.session_timeout;
        let cluster_state = ArcSwap::new(state.cluster.clone());
        let engine = Mutex::new(RegistryEngine::new(config, state));
        let (view, config_listeners) = (watch::Sender::default(), Mutex::default());
        let (started, heard_at) = (Instant::now(), Mutex::default());
        Ok(Self { engine, cluster_state, session_timeout, store, started, heard_at, view, config_listeners })
    }

    /// The controller's state, as it is durable. Waits for nothing.
    pub(crate) fn cluster_state(&self) -> Arc<ControllerState> {
        self.cluster_state.load_full()
    }

    /// Who is alive, and who is the controller; the receiver hears of each change.
    pub(crate) fn watch(&self) -> watch::Receiver<RegistryView> {
        self.view.subscribe()
    }

    /// How often a broker has to say that it is still there: often enough that one or two that are late end no session.
    pub(crate) fn heartbeat_interval(&self) -> Duration {
        self.session_timeout / 4
    }

    /// A broker is there. Blocking.
    pub(crate) fn register(&self, info: BrokerInfo) -> Result<Registration, ClusterRegistryError> {
        let now = self.started.elapsed();
        self.transaction(|engine| {
            self.hear(engine, now);
            Ok(engine.register(info, now))
        })
    }

    /// A broker is still there.
    pub(crate) fn heartbeat(&self, broker: i32, epoch: i64) -> Result<(), ClusterRegistryError> {
        let now = self.started.elapsed();
        self.transaction(|engine| {
            self.hear(engine, now);
            engine.heartbeat(broker, epoch, now)
        })
    }

    /// A broker says something. When none has for half a session, this process made no step (a machine that is busy with
    /// other things, or sleeps): brokers that live in it are not dead for that.
    fn hear(&self, engine: &mut RegistryEngine, now: Duration) {
        let before = std::mem::replace(&mut *self.heard_at.lock(), now);
        let silence = now.saturating_sub(before);
        if silence > self.session_timeout / 2 {
            engine.forgive(silence);
        }
    }

    /// A broker leaves.
    pub(crate) fn unregister(&self, broker: i32, epoch: i64) -> Result<(), ClusterRegistryError> {
        self.transaction(|engine| engine.unregister(broker, epoch))
    }

    /// A broker cannot use its log directory.
    pub(crate) fn log_dir_failed(&self, broker: i32, epoch: i64) -> Result<(), ClusterRegistryError> {
        self.transaction(|engine| engine.log_dir_failed(broker, epoch))
    }

    /// A broker wants to be the controller. Blocking.
    pub(crate) fn elect(
        &self,
        broker: i32,
        epoch: i64,
    ) -> Result<(ControllerInfo, Arc<ControllerState>), ClusterRegistryError> {
        self.transaction(|engine| engine.elect(broker, epoch))
    }

    /// A controller gives up.
    pub(crate) fn resign(&self, controller: ControllerInfo) -> Result<(), ClusterRegistryError> {
        self.transaction(|engine| {
            engine.resign(controller);
            Ok(())
        })
    }

    /// Takes producer ids out of circulation. Blocking.
    pub(crate) fn allocate_producer_ids(&self) -> Result<Range<i64>, ClusterRegistryError> {
        self.transaction(RegistryEngine::allocate_producer_ids)
    }

    /// Has `listener` told of each topic whose settings change, with all that is set on it now. It is forgotten when
    /// another listener of the same broker comes.
    pub(crate) fn listen_to_configs(&self, broker: i32, listener: ConfigListener) {
        self.config_listeners.lock().insert(broker, listener);
    }

    /// Tells the brokers that a topic's settings are these.
    pub(crate) fn publish_configs(&self, topic: &str, configs: &BTreeMap<String, String>) {
        for listener in self.config_listeners.lock().values() {
            listener(topic, configs);
        }
    }

    /// The controller's state is another one. Blocking.
    pub(crate) fn write(&self, next: Arc<ControllerState>) -> Result<(), ClusterRegistryError> {
        self.transaction(|engine| engine.write(next))
    }

    fn transaction<T>(
        &self,
        work: impl FnOnce(&mut RegistryEngine) -> Result<T, RegistryError>,
    ) -> Result<T, ClusterRegistryError> {
        let mut engine = self.engine.lock();
        let before = engine.clone();
        let answer = work(&mut engine);
        if engine.take_needs_persist()
            && let Err(error) = self.store.save(engine.state())
        {
            tracing::error!(%error, "the registry's state cannot be saved; nothing is changed");
            *engine = before;
            return Err(error.into());
        }
        // First what the view tells of.
        self.cluster_state.store(engine.state().cluster.clone());
        let view = engine.view();
        self.view.send_if_modified(|current| {
            let is_news = *current != view;
            if is_news {
                *current = view;
            }
            is_news
        });
        Ok(answer?)
    }
}
