//! [`Controller`]: this broker's part in the controller's office, and the office itself while this broker holds it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use milena_protocol::{ErrorCode, Uuid};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::channels::ControllerChannelManager;
use super::obedience::Obedience;
use super::{
    ConfigChange, ControllerConfig, ControllerEngine, ControllerError, CreateTopic, CreatedTopic, Effect,
    ElectionKind, IsrChange, PartitionState, RequestId, TopicSelector,
};
use crate::blocking::blocking;
use crate::faults::Host;
use crate::registry::{ClusterRegistry, ClusterRegistryError, ControllerInfo, RegistryError, RegistryView};
use crate::task_gate::TaskGate;

/// How long what time wants done waits after it has failed.
const RETRY_BACKOFF: Duration = Duration::from_secs(1);

/// A topic to grow.
#[derive(Debug, Clone)]
pub(crate) struct CreatePartitions {
    pub(crate) name: String,
    pub(crate) count: i32,
    pub(crate) assignments: Option<Vec<Vec<i32>>>,
}

/// How the controller's requests reach brokers.
#[derive(Debug, Clone)]
pub(crate) enum Delivery {
    /// There is one broker, this one: it does what it is told before the controller goes on.
    Local(Arc<Obedience>),
    /// Over the wire, to each broker's inter-broker listener.
    Wire(TaskGate, Host),
}

/// The controller, as one broker knows it.
///
/// While this broker holds the office, each method is one transaction: the engine decides, the state is made durable, what
/// follows is put on its way, and only then is there an answer. All of it runs on a blocking thread, because it syncs
/// files, and it runs to its end even when nobody waits for the answer any more. Without the office, what is asked of the
/// controller is answered with NOT_CONTROLLER.
#[derive(Debug)]
pub(crate) struct Controller {
    config: ControllerConfig,
    registry: Arc<ClusterRegistry>,
    delivery: Delivery,
    /// Locked while the state is made durable.
    office: Mutex<Option<Office>>,
    is_active: Arc<AtomicBool>,
    /// Counts the events of the office, for those who wait for one.
    events: watch::Sender<u64>,
    /// The origin of the engine's time.
    started: Instant,
    own: Weak<Self>,
}

#[derive(Debug)]
struct Office {
    info: ControllerInfo,
    engine: ControllerEngine,
    channels: Option<ControllerChannelManager>,
    _held: Held,
}

/// Says that the office is held, for as long as it is.
#[derive(Debug)]
struct Held(Arc<AtomicBool>);

impl Held {
    fn new(is_held: &Arc<AtomicBool>) -> Self {
        is_held.store(true, Ordering::Release);
        Self(is_held.clone())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Controller {
    pub(crate) fn new(
        config: ControllerConfig,
        registry: Arc<ClusterRegistry>,
        delivery: Delivery,
    ) -> Arc<Self> {
        Arc::new_cyclic(|own| Self {
            config,
            registry,
            delivery,
            office: Mutex::new(None),
            is_active: Arc::default(),
            events: watch::Sender::new(0),
            started: Instant::now(),
            own: own.clone(),
        })
    }

    /// Hears who is alive and who is the controller; wants to be it if nobody is. Blocking.
    pub(crate) fn registry_changed(&self, view: &RegistryView, broker_epoch: i64) {
        self.hear(self.office.lock(), view, broker_epoch);
    }

    /// As [`registry_changed`](Self::registry_changed), for who is told of nothing: of the registry as it is now. A view that was
    /// taken before somebody else had the office would take it away again.
    pub(crate) fn look_at_registry(&self, broker_epoch: i64) {
        let office = self.office.lock();
        let view = self.registry.watch().borrow().clone();
        self.hear(office, &view, broker_epoch);
    }

    fn hear(&self, mut office: MutexGuard<'_, Option<Office>>, view: &RegistryView, broker_epoch: i64) {
        let own = self.config.node_id;
        let is_registered = view.brokers.get(&own).is_some_and(|broker| broker.epoch == broker_epoch);
        if office.as_ref().is_some_and(|office| Some(office.info) != view.controller) {
            tracing::info!(broker = own, "this broker is no longer the controller");
            *office = None;
        }
        if view.controller.is_none() && is_registered {
            match self.registry.elect(own, broker_epoch) {
                Ok((info, state)) => {
                    tracing::info!(broker = own, epoch = info.epoch, "this broker is the controller");
                    let engine = ControllerEngine::elected(self.config.clone(), state);
                    let _held = Held::new(&self.is_active);
                    *office = Some(Office { info, engine, channels: self.channels(), _held });
                }
                // Somebody was faster, or this broker's session has ended; the next view says which.
                Err(error) => tracing::debug!(broker = own, %error, "not elected"),
            }
        }
        if let Some(held) = office.as_mut() {
            if let Some(channels) = &mut held.channels {
                channels.brokers_changed(&view.brokers);
            }
            let (info, brokers) = (held.info, &view.brokers);
            if let Err(error) = self.transaction(office, |engine| engine.handle_brokers(brokers)) {
                tracing::error!(%error, "the controller cannot take note of who is alive, and resigns");
                self.give_up(info);
            }
        }
    }

    fn channels(&self) -> Option<ControllerChannelManager> {
        match &self.delivery {
            Delivery::Local(_) => None,
            Delivery::Wire(gate, host) => Some(ControllerChannelManager::new(
                self.config.inter_broker_listener.clone(),
                self.own.clone(),
                gate.clone(),
                host.clone(),
            )),
        }
    }

    /// Lets time pass in the engine while this broker holds the office; never ends.
    pub(crate) async fn run_timeouts(self: Arc<Self>) {
        let mut events = self.events.subscribe();
        loop {
            events.borrow_and_update();
            let controller = self.clone();
            let look = move || controller.office.lock().as_ref().map(|office| office.engine.next_timeout());
            let Ok(next) = blocking(look).await else { return };
            let due = match next {
                None => None,
                // It was elected just now.
                Some(None) => Some(self.started),
                // One that is too far away never comes.
                Some(Some(due)) => self.started.checked_add(due),
            };
            let due = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                changed = events.changed() => if changed.is_err() { return },
                () = due => {
                    self.in_reach().await;
                    let now = self.started.elapsed();
                    if let Err(error) = self.run(move |engine| engine.handle_time(now)).await {
                        tracing::debug!(%error, "leaderships are not moved back");
                        sleep(RETRY_BACKOFF).await;
                    }
                }
            }
        }
    }

    /// A broker has answered a request of the controller of that epoch.
    pub(super) async fn answered(self: Arc<Self>, epoch: i32, id: RequestId, failed: Vec<(Arc<str>, i32)>) {
        let handle = move |engine: &mut ControllerEngine| {
            if engine.controller_epoch() == epoch {
                engine.handle_answer(id, &failed);
            }
        };
        if let Err(error) = self.run(handle).await {
            tracing::debug!(%error, "an answer comes too late");
        }
    }

    /// A broker has heard of a controller after that of this epoch.
    pub(super) async fn replaced(self: Arc<Self>, epoch: i32) {
        let done = blocking(move || {
            let info = self.office.lock().as_ref().map(|office| office.info);
            if let Some(info) = info.filter(|info| info.epoch == epoch) {
                // If the broker was wrong there is no other one, and somebody has to be elected.
                self.give_up(info);
            }
        });
        // Cancelled: the whole broker is ending.
        let _cancelled = done.await;
    }

    /// Waits until the registry is in reach: whoever is cut off from it decides nothing.
    async fn in_reach(&self) {
        if let Delivery::Wire(_, host) = &self.delivery {
            host.is_back().await;
        }
    }

    /// Whether there is no other broker, nor anybody who tells this one what the registry has: whoever changes that tells.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self.delivery, Delivery::Local(_))
    }

    /// Whether this broker holds the office. Waits for nothing.
    pub(crate) fn is_active(&self) -> bool {
        self.is_active.load(Ordering::Acquire)
    }

    /// Keeps the controller from deciding, as one that has much to do.
    #[cfg(test)]
    pub(crate) fn busy(&self) -> impl Sized + '_ {
        self.office.lock()
    }

    /// Creates topics, each on its own unless they have too many partitions together, and waits until everybody knows them and
    /// they are led, at most `wait`.
    pub(crate) async fn create_topics(
        self: &Arc<Self>,
        topics: Vec<CreateTopic>,
        validate_only: bool,
        wait: Duration,
    ) -> Vec<Result<CreatedTopic, ControllerError>> {
        let count = topics.len();
        let names: Vec<String> = topics.iter().map(|topic| topic.name.clone()).collect();
        let handle = move |engine: &mut ControllerEngine| {
            engine.check_total_created(&topics)?;
            Ok(engine.together(|engine| {
                topics.into_iter().map(|topic| engine.handle_create_topic(topic, validate_only)).collect()
            }))
        };
        let answers = self.run(handle).await.flatten().unwrap_or_else(|error| vec![Err(error); count]);
        self.settled(names, answers, validate_only, wait).await
    }

    /// Deletes topics, each on its own, and waits until everybody has forgotten them, at most `wait`.
    pub(crate) async fn delete_topics(
        self: &Arc<Self>,
        topics: Vec<TopicSelector>,
        wait: Duration,
    ) -> Vec<Result<(String, Uuid), ControllerError>> {
        let count = topics.len();
        let handle = move |engine: &mut ControllerEngine| {
            engine.together(|engine| topics.iter().map(|topic| engine.handle_delete_topic(topic)).collect())
        };
        let answers: Vec<Result<(String, Uuid), _>> =
            self.run(handle).await.unwrap_or_else(|error| vec![Err(error); count]);
        let name = |answer: &Result<(String, Uuid), _>| match answer {
            Ok((name, _)) => name.clone(),
            Err(_) => String::new(),
        };
        self.settled(answers.iter().map(name).collect(), answers, false, wait).await
    }

    /// Grows topics and waits, as [`create_topics`](Self::create_topics) does.
    pub(crate) async fn create_partitions(
        self: &Arc<Self>,
        topics: Vec<CreatePartitions>,
        validate_only: bool,
        wait: Duration,
    ) -> Vec<Result<(), ControllerError>> {
        let count = topics.len();
        let names: Vec<String> = topics.iter().map(|topic| topic.name.clone()).collect();
        let handle = move |engine: &mut ControllerEngine| {
            let wanted: Vec<_> = topics.iter().map(|topic| (topic.name.as_str(), topic.count)).collect();
            engine.check_total_added(&wanted)?;
            Ok(engine.together(|engine| {
                let grow = |topic: CreatePartitions| {
                    let CreatePartitions { name, count, assignments } = topic;
                    engine.handle_create_partitions(&name, count, assignments, validate_only)
                };
                topics.into_iter().map(grow).collect()
            }))
        };
        let answers = self.run(handle).await.flatten().unwrap_or_else(|error| vec![Err(error); count]);
        self.settled(names, answers, validate_only, wait).await
    }

    /// Takes producer ids out of circulation; any broker may.
    pub(crate) async fn allocate_producer_ids(self: &Arc<Self>) -> Result<Range<i64>, ControllerError> {
        let registry = self.registry.clone();
        let done = blocking(move || registry.allocate_producer_ids()).await;
        done.map_err(|error| failed(&error))?.map_err(|error| failed(&error))
    }

    /// A leader wants other in-sync replicas.
    pub(crate) async fn alter_partition(
        self: &Arc<Self>,
        broker: i32,
        broker_epoch: i64,
        changes: Vec<IsrChange>,
    ) -> Result<Vec<Result<PartitionState, ErrorCode>>, ControllerError> {
        self.run(move |engine| engine.handle_alter_partition(broker, broker_epoch, &changes)).await?
    }

    /// A broker wants to leave; answers what it still leads.
    pub(crate) async fn controlled_shutdown(
        self: &Arc<Self>,
        broker: i32,
        broker_epoch: i64,
    ) -> Result<Vec<(String, i32)>, ControllerError> {
        self.run(move |engine| engine.handle_controlled_shutdown(broker, broker_epoch)).await?
    }

    /// Holds elections.
    pub(crate) async fn elect_leaders(
        self: &Arc<Self>,
        kind: ElectionKind,
        partitions: Option<Vec<(String, i32)>>,
    ) -> Result<Vec<((String, i32), Result<(), ControllerError>)>, ControllerError> {
        self.run(move |engine| engine.handle_elect_leaders(kind, partitions)).await
    }

    /// Moves replicas, or stops moving them; with `keeps_factor` only to as many as there are.
    pub(crate) async fn alter_reassignments(
        self: &Arc<Self>,
        wanted: Vec<(String, i32, Option<Vec<i32>>)>,
        keeps_factor: bool,
    ) -> Result<Vec<Result<(), ControllerError>>, ControllerError> {
        let alter = move |engine: &mut ControllerEngine| {
            let one = |(topic, number, target): (String, i32, _)| {
                engine.handle_alter_reassignment(&topic, number, target, keeps_factor)
            };
            wanted.into_iter().map(one).collect()
        };
        self.run(alter).await
    }

    /// The partitions whose replicas are being moved.
    pub(crate) async fn reassignments(
        self: &Arc<Self>,
    ) -> Result<Vec<(String, i32, PartitionState)>, ControllerError> {
        let list = |engine: &mut ControllerEngine| {
            let moving = engine.reassignments();
            moving.map(|(name, number, state)| (name.to_owned(), number, state.clone())).collect()
        };
        self.run(list).await
    }

    /// Changes settings of topics, each on its own.
    pub(crate) async fn alter_configs(
        self: &Arc<Self>,
        topics: Vec<(String, Vec<ConfigChange>)>,
        validate_only: bool,
    ) -> Result<Vec<Result<(), ControllerError>>, ControllerError> {
        let alter = move |engine: &mut ControllerEngine| {
            engine.together(|engine| {
                let one = |(topic, changes): (String, _)| {
                    engine.handle_incremental_alter_configs(&topic, changes, validate_only)
                };
                topics.into_iter().map(one).collect()
            })
        };
        self.run(alter).await
    }

    async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        handle: impl FnOnce(&mut ControllerEngine) -> T + Send + 'static,
    ) -> Result<T, ControllerError> {
        let controller = self.clone();
        let done = blocking(move || {
            controller.return_to_office();
            controller.transaction(controller.office.lock(), handle)
        });
        done.await.unwrap_or_else(|error| Err(failed(&error)))
    }

    /// A broker that is alone and had to resign, because its disk took no state, takes the office again: nobody else does,
    /// and nobody tells it to.
    fn return_to_office(&self) {
        if let Delivery::Local(broker) = &self.delivery
            && !self.is_active()
        {
            self.look_at_registry(broker.broker_epoch());
        }
    }

    fn transaction<T>(
        &self,
        mut office: MutexGuard<'_, Option<Office>>,
        handle: impl FnOnce(&mut ControllerEngine) -> T,
    ) -> Result<T, ControllerError> {
        let Some(Office { engine, channels, info, .. }) = office.as_mut() else {
            return Err(not_controller());
        };
        let info = *info;
        let before = engine.clone();
        let answer = handle(engine);
        let mut saved = before.state().clone();
        let mut nothing_done = true;
        while let Some(effect) = engine.poll_effect() {
            match effect {
                // The last state holds all that the earlier ones did: one write for them all.
                Effect::Persist if Arc::ptr_eq(&saved, engine.state()) => {}
                Effect::Persist => match self.registry.write(engine.state().clone()) {
                    Ok(()) => saved = engine.state().clone(),
                    Err(ClusterRegistryError::Disk(error)) if nothing_done => {
                        *engine = before;
                        return Err(failed(&error));
                    }
                    Err(error) => {
                        // Nobody may be told of what is not durable, and the engine knows of nothing else any more.
                        *office = None;
                        return Err(self.resign(info, &error));
                    }
                },
                Effect::TopicConfigs { topic, configs } => self.registry.publish_configs(&topic, &configs),
                Effect::Send(request) => {
                    nothing_done = false;
                    match (&self.delivery, &*channels) {
                        (_, Some(channels)) => channels.send(request),
                        (Delivery::Local(broker), _) => match broker.obey(&request) {
                            Ok(failed) => engine.handle_answer(request.id, &failed),
                            Err(code) => tracing::error!(%code, "this broker refuses its own controller"),
                        },
                        (Delivery::Wire(..), None) => {}
                    }
                }
            }
        }
        drop(office);
        self.events.send_modify(|count| *count = count.wrapping_add(1));
        Ok(answer)
    }

    fn give_up(&self, info: ControllerInfo) {
        let mut office = self.office.lock();
        if office.as_ref().is_some_and(|office| office.info == info) {
            *office = None;
            if let Err(error) = self.registry.resign(info) {
                tracing::debug!(%error, "another controller is elected already");
            }
        }
    }

    fn resign(&self, info: ControllerInfo, error: &ClusterRegistryError) -> ControllerError {
        tracing::warn!(%error, epoch = info.epoch, "the controller gives up");
        if let Err(error) = self.registry.resign(info) {
            tracing::debug!(%error, "another controller is elected already");
        }
        self.events.send_modify(|count| *count = count.wrapping_add(1));
        match error {
            ClusterRegistryError::Refused(RegistryError::StaleControllerEpoch { .. }) => not_controller(),
            error => failed(error),
        }
    }

    /// Waits until all that was done to these topics has reached everybody; what has not in time is answered with
    /// REQUEST_TIMED_OUT, although it will.
    async fn settled<T>(
        self: &Arc<Self>,
        names: Vec<String>,
        mut answers: Vec<Result<T, ControllerError>>,
        validate_only: bool,
        wait: Duration,
    ) -> Vec<Result<T, ControllerError>> {
        if validate_only {
            return answers;
        }
        let done = names.iter().zip(&answers).filter(|(_, answer)| answer.is_ok());
        let mut left: Vec<String> = done.map(|(name, _)| name.clone()).rev().collect();
        let mut events = self.events.subscribe();
        let all = async {
            loop {
                left = self.clone().unsettled(std::mem::take(&mut left)).await;
                if left.is_empty() || events.changed().await.is_err() {
                    return;
                }
            }
        };
        if timeout(wait, all).await.is_err() {
            for (name, answer) in names.iter().zip(&mut answers) {
                if answer.is_ok() && !self.clone().unsettled(vec![name.clone()]).await.is_empty() {
                    let message = format!("Not every broker has heard of {name} in {wait:?}.");
                    *answer = Err(ControllerError { code: ErrorCode::REQUEST_TIMED_OUT, message });
                }
            }
        }
        answers
    }

    /// Topics without the last ones, as far as all that was done to them has reached everybody. Another controller tells
    /// everybody anyway.
    async fn unsettled(self: Arc<Self>, mut topics: Vec<String>) -> Vec<String> {
        let look = move || {
            let office = self.office.lock();
            let is_settled =
                |topic: &String| office.as_ref().is_none_or(|office| office.engine.is_settled(topic));
            while topics.pop_if(|topic| is_settled(topic)).is_some() {}
            topics
        };
        // Cancelled: the whole broker is ending.
        blocking(look).await.unwrap_or_default()
    }
}

/// Tells a broker of the settings of topics, as the controller changes them.
pub(crate) fn config_listener(
    topic_configs: &Arc<crate::topic_configs::TopicConfigs>,
    replica_manager: &Arc<crate::replica_manager::ReplicaManager>,
) -> crate::registry::ConfigListener {
    // Weak: what was killed is not kept alive by whoever might tell it something.
    let (configs, replicas) = (Arc::downgrade(topic_configs), Arc::downgrade(replica_manager));
    Box::new(move |topic: &str, changed: &BTreeMap<String, String>| {
        let (Some(configs), Some(replicas)) = (configs.upgrade(), replicas.upgrade()) else { return };
        configs.set(topic, changed);
        replicas.topic_configs_changed(topic);
    })
}

fn not_controller() -> ControllerError {
    let message = "This is not the correct controller for this cluster.".to_owned();
    ControllerError { code: ErrorCode::NOT_CONTROLLER, message }
}

fn failed(error: &dyn std::error::Error) -> ControllerError {
    let message = format!("the controller could not make the change durable: {error}");
    ControllerError { code: ErrorCode::KAFKA_STORAGE_ERROR, message }
}
