//! [`Controller`]: carries out on this node what the engine decides.

use std::ops::Range;
use std::sync::Arc;

use milena_protocol::{ErrorCode, Uuid};
use parking_lot::Mutex;

use super::{
    ControlBody, ControlRequest, ControllerEngine, ControllerError, CreateTopic, CreatedTopic, Effect,
    TopicSelector,
};
use crate::metadata_cache::MetadataCache;
use crate::registry::{ClusterRegistry, RegistryView};
use crate::replica_manager::ReplicaManager;
use crate::topic_configs::TopicConfigs;

/// What the controller acts on.
#[derive(Debug)]
pub(crate) struct ControllerDeps {
    pub(crate) registry: Arc<ClusterRegistry>,
    pub(crate) metadata_cache: Arc<MetadataCache>,
    pub(crate) replica_manager: Arc<ReplicaManager>,
    pub(crate) topic_configs: Arc<TopicConfigs>,
}

/// A topic to grow.
#[derive(Debug, Clone)]
pub(crate) struct CreatePartitions {
    pub(crate) name: String,
    pub(crate) count: i32,
    pub(crate) assignments: Option<Vec<Vec<i32>>>,
}

/// The controller of a cluster whose only broker is this one.
///
/// Each method is one transaction: the engine decides, the state is made durable, the effects are carried out, and only
/// then is there an answer. All of it runs on a blocking thread, because it syncs files and creates directories, and it
/// runs to its end even when nobody waits for the answer any more.
#[derive(Debug)]
pub(crate) struct Controller {
    engine: Mutex<ControllerEngine>,
    deps: ControllerDeps,
}

impl Controller {
    pub(crate) fn new(engine: ControllerEngine, deps: ControllerDeps) -> Self {
        Self { engine: Mutex::new(engine), deps }
    }

    /// Hears who is alive. Blocking.
    pub(crate) fn brokers_changed(&self, view: &RegistryView) -> Result<(), ControllerError> {
        self.transaction(|engine| engine.handle_brokers(&view.brokers))
    }

    /// Creates topics, each on its own.
    pub(crate) async fn create_topics(
        self: &Arc<Self>,
        topics: Vec<CreateTopic>,
        validate_only: bool,
    ) -> Vec<Result<CreatedTopic, ControllerError>> {
        let count = topics.len();
        let handle = move |engine: &mut ControllerEngine| {
            topics.into_iter().map(|topic| engine.handle_create_topic(topic, validate_only)).collect()
        };
        self.run(handle).await.unwrap_or_else(|error| vec![Err(error); count])
    }

    /// Deletes topics, each on its own.
    pub(crate) async fn delete_topics(
        self: &Arc<Self>,
        topics: Vec<TopicSelector>,
    ) -> Vec<Result<(String, Uuid), ControllerError>> {
        let count = topics.len();
        let handle = move |engine: &mut ControllerEngine| {
            topics.iter().map(|topic| engine.handle_delete_topic(topic)).collect()
        };
        self.run(handle).await.unwrap_or_else(|error| vec![Err(error); count])
    }

    /// Grows topics, each on its own.
    pub(crate) async fn create_partitions(
        self: &Arc<Self>,
        topics: Vec<CreatePartitions>,
        validate_only: bool,
    ) -> Vec<Result<(), ControllerError>> {
        let count = topics.len();
        let handle = move |engine: &mut ControllerEngine| {
            let grow = |topic: CreatePartitions| {
                engine.handle_create_partitions(&topic.name, topic.count, topic.assignments, validate_only)
            };
            topics.into_iter().map(grow).collect()
        };
        self.run(handle).await.unwrap_or_else(|error| vec![Err(error); count])
    }

    /// Takes producer ids out of circulation.
    pub(crate) async fn allocate_producer_ids(self: &Arc<Self>) -> Result<Range<i64>, ControllerError> {
        self.run(ControllerEngine::handle_allocate_producer_ids).await?
    }

    async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        handle: impl FnOnce(&mut ControllerEngine) -> T + Send + 'static,
    ) -> Result<T, ControllerError> {
        let controller = self.clone();
        let done = tokio::task::spawn_blocking(move || controller.transaction(handle)).await;
        done.unwrap_or_else(|error| Err(failed(&error)))
    }

    fn transaction<T>(&self, handle: impl FnOnce(&mut ControllerEngine) -> T) -> Result<T, ControllerError> {
        let mut engine = self.engine.lock();
        let before = engine.clone();
        let answer = handle(&mut engine);
        let mut saved = before.state().clone();
        let mut nothing_done = true;
        while let Some(effect) = engine.poll_effect() {
            match effect {
                // The last state holds all that the earlier ones did: one write for them all.
                Effect::Persist if Arc::ptr_eq(&saved, engine.state()) => {}
                Effect::Persist => {
                    if let Err(error) = self.deps.registry.write(engine.state().clone()) {
                        tracing::error!(%error, "the controller's state cannot be saved");
                        if nothing_done {
                            *engine = before;
                            return Err(failed(&error));
                        }
                        // What was done is durable. Nobody hears of the rest before a later write has it.
                        while engine.poll_effect().is_some() {}
                    }
                    saved = engine.state().clone();
                }
                Effect::TopicConfigs { topic, configs } => self.deps.topic_configs.set(&topic, &configs),
                Effect::Send(request) => {
                    nothing_done = false;
                    self.carry_out(&request);
                    engine.handle_answer(request.id, &[]);
                }
            }
        }
        Ok(answer)
    }

    fn carry_out(&self, request: &ControlRequest) {
        match &request.body {
            ControlBody::LeaderAndIsr(request) => {
                for topic in &request.topics {
                    self.deps.replica_manager.become_leader_or_follower(topic);
                }
            }
            ControlBody::StopReplica(request) => self.deps.replica_manager.stop_replicas(request),
            ControlBody::UpdateMetadata(update) => {
                if let Err(error) = self.deps.metadata_cache.update(update) {
                    tracing::error!(%error, "a metadata update is refused");
                }
            }
        }
    }
}

fn failed(error: &dyn std::error::Error) -> ControllerError {
    let message = format!("the controller could not make the change durable: {error}");
    ControllerError { code: ErrorCode::KAFKA_STORAGE_ERROR, message }
}
