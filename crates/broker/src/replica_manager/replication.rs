//! The tasks that replicate: one fetches from each leader, one asks the controller for changes of in-sync replicas.
//!
//! They only carry messages: what to ask, and what an answer means, is decided by the engines of [`crate::replica`].

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use milena_protocol::messages::alter_partition_request::{BrokerState, PartitionData, TopicData};
use milena_protocol::messages::{AlterPartitionRequest, AlterPartitionResponse};
use milena_protocol::{ErrorCode, Uuid};
use milena_storage::{FsyncPolicy, TopicPartition};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;
use tokio::time::sleep;

use super::ReplicaManager;
use super::local_logs::LocalLogs;
use crate::blocking::blocking;
use crate::faults::BrokerFaults;
use crate::metadata_cache::MetadataCache;
use crate::network::{InterBrokerConnection, Patience};
use crate::replica::{
    AlterPartition, AlterPartitionResult, FetcherConfig, FetcherRequest, FollowedPartition, ReplicaFetcher,
};
use crate::task_gate::TaskGate;

/// How long the controller is left alone after a request that failed, and how long a fetcher without partitions sleeps.
const RETRY_BACKOFF: Duration = Duration::from_millis(50);
/// How often somebody who waits for the controller looks whether it is in office still.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const FETCH_VERSION: i16 = 18;
const LIST_OFFSETS_VERSION: i16 = 8;
const ALTER_PARTITION_VERSION: i16 = 3;

/// What a partition's role means for fetching.
#[derive(Debug)]
pub(super) enum FetchCommand {
    /// From this leader, and from no other.
    Follow { leader: i32, partition: FollowedPartition },
    /// From nobody.
    Unfollow(TopicPartition),
}

/// A change of in-sync replicas that the controller is to be asked for.
#[derive(Debug, Clone)]
pub(super) struct IsrChange {
    pub(super) topic_id: Uuid,
    pub(super) partition: TopicPartition,
    pub(super) request: AlterPartition,
}

/// Where partitions leave what is to be done. Both queues are bounded by what fills them: one command for each new role,
/// one change at a time for each partition.
#[derive(Debug, Clone)]
pub(super) struct ReplicationQueues {
    fetch: UnboundedSender<FetchCommand>,
    isr: UnboundedSender<IsrChange>,
}

/// The other ends of [`ReplicationQueues`].
#[derive(Debug)]
pub(super) struct ReplicationInbox {
    fetch: UnboundedReceiver<FetchCommand>,
    isr: UnboundedReceiver<IsrChange>,
}

impl ReplicationQueues {
    pub(super) fn new() -> (Self, ReplicationInbox) {
        let (fetch, fetch_inbox) = unbounded_channel();
        let (isr, isr_inbox) = unbounded_channel();
        (Self { fetch, isr }, ReplicationInbox { fetch: fetch_inbox, isr: isr_inbox })
    }

    /// A broker that has stopped replicates no more; then nobody listens.
    pub(super) fn fetch(&self, command: FetchCommand) {
        let _stopped = self.fetch.send(command);
    }

    pub(super) fn alter_partition(&self, change: IsrChange) {
        let _stopped = self.isr.send(change);
    }
}

/// What the tasks work on.
#[derive(Debug, Clone)]
pub(crate) struct ReplicationDeps {
    pub(crate) replica_manager: Arc<ReplicaManager>,
    pub(crate) metadata_cache: Arc<MetadataCache>,
    /// The listener on which brokers talk to each other (`inter.broker.listener.name`).
    pub(crate) listener: String,
    pub(crate) fsync: FsyncPolicy,
    pub(crate) gate: TaskGate,
    pub(crate) faults: BrokerFaults,
}

/// The tasks; dropping it ends them.
#[derive(Debug)]
pub(crate) struct Replication {
    tasks: [AbortHandle; 2],
}

impl Replication {
    /// Starts to replicate. Only the first call for a [`ReplicaManager`] finds work.
    pub(crate) fn start(deps: ReplicationDeps) -> Self {
        let inbox = deps.replica_manager.take_inbox().unwrap_or_else(|| ReplicationQueues::new().1);
        let fetchers = Fetchers { deps: deps.clone(), tasks: BTreeMap::new(), leaders: HashMap::new() };
        let gate = deps.gate.clone();
        let fetch = gate.spawn(fetchers.run(inbox.fetch));
        let isr = gate.spawn(IsrChanges { deps, controller: None }.run(inbox.isr));
        Self { tasks: [fetch.abort_handle(), isr.abort_handle()] }
    }
}

impl Drop for Replication {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Hands commands to one task for each leader (Kafka: `ReplicaFetcherManager`).
struct Fetchers {
    deps: ReplicationDeps,
    tasks: BTreeMap<i32, FetcherHandle>,
    /// Who each partition is fetched from.
    leaders: HashMap<TopicPartition, i32>,
}

struct FetcherHandle {
    commands: UnboundedSender<FetchCommand>,
    partitions: usize,
    task: AbortHandle,
}

impl Drop for FetcherHandle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fetchers {
    async fn run(mut self, mut inbox: UnboundedReceiver<FetchCommand>) {
        while let Some(command) = inbox.recv().await {
            match command {
                FetchCommand::Unfollow(name) => self.unfollow(name),
                FetchCommand::Follow { leader, partition } => {
                    if self.leaders.get(&partition.name).is_some_and(|current| *current != leader) {
                        self.unfollow(partition.name.clone());
                    }
                    self.follow(leader, partition);
                }
            }
        }
    }

    fn follow(&mut self, leader: i32, partition: FollowedPartition) {
        let deps = &self.deps;
        let handle = self.tasks.entry(leader).or_insert_with(|| {
            let (commands, inbox) = unbounded_channel();
            let task = deps.gate.spawn(FetcherTask::new(leader, deps.clone()).run(inbox)).abort_handle();
            FetcherHandle { commands, partitions: 0, task }
        });
        if self.leaders.insert(partition.name.clone(), leader).is_none() {
            handle.partitions += 1;
        }
        let _ended = handle.commands.send(FetchCommand::Follow { leader, partition });
    }

    fn unfollow(&mut self, name: TopicPartition) {
        let Some(leader) = self.leaders.remove(&name) else { return };
        let Some(handle) = self.tasks.get_mut(&leader) else { return };
        handle.partitions -= 1;
        if handle.partitions == 0 {
            self.tasks.remove(&leader);
        } else {
            let _ended = handle.commands.send(FetchCommand::Unfollow(name));
        }
    }
}

/// Fetches from one leader (Kafka: `ReplicaFetcherThread`).
struct FetcherTask {
    leader: i32,
    deps: ReplicationDeps,
    fetcher: ReplicaFetcher,
    connection: Option<InterBrokerConnection>,
    patience: Patience,
}

enum FetcherAnswer {
    Fetch(milena_protocol::messages::FetchResponse),
    ListOffsets(milena_protocol::messages::ListOffsetsResponse),
}

impl FetcherAnswer {
    /// Whether nothing is cut: after a truncation the producers' state is read from the log again.
    fn only_appends(&self) -> bool {
        let Self::Fetch(response) = self else { return false };
        let mut partitions = response.responses.iter().flat_map(|topic| &topic.partitions);
        partitions.all(|partition| partition.diverging_epoch.end_offset < 0)
    }

    fn has_records(&self) -> bool {
        let Self::Fetch(response) = self else { return false };
        let mut partitions = response.responses.iter().flat_map(|topic| &topic.partitions);
        partitions.any(|partition| partition.records.as_ref().is_some_and(|records| !records.is_empty()))
    }
}

impl FetcherTask {
    fn new(leader: i32, deps: ReplicationDeps) -> Self {
        let manager = &deps.replica_manager;
        let config = FetcherConfig::new(manager.node_id, manager.broker_epoch());
        Self {
            leader,
            deps,
            fetcher: ReplicaFetcher::new(config),
            connection: None,
            patience: Patience::new(),
        }
    }

    async fn run(mut self, mut commands: UnboundedReceiver<FetchCommand>) {
        loop {
            while let Ok(command) = commands.try_recv() {
                self.take(command);
            }
            let manager = &self.deps.replica_manager;
            let now = manager.now();
            self.fetcher.set_broker_epoch(manager.broker_epoch());
            let mut logs = LocalLogs(manager);
            let Some(request) = self.fetcher.poll_request(&mut logs, now) else {
                let due = self.fetcher.next_timeout().map(|due| due.saturating_sub(now));
                tokio::select! {
                    biased;
                    command = commands.recv() => match command {
                        Some(command) => self.take(command),
                        None => return,
                    },
                    () = sleep(due.unwrap_or(RETRY_BACKOFF)) => {}
                }
                continue;
            };
            let exchange = exchange(&mut self.connection, &self.deps, self.leader, request);
            let exchange = in_time(self.leader, &mut self.patience, exchange);
            tokio::select! {
                biased;
                answer = exchange => self = match self.answered(answer).await {
                    Some(task) => task,
                    None => return,
                },
                command = commands.recv() => {
                    // A partition that is new shall not wait until the leader has news of another one.
                    self.connection = None;
                    self.fetcher.handle_cancelled();
                    match command {
                        Some(command) => self.take(command),
                        None => return,
                    }
                }
            }
        }
    }

    fn take(&mut self, command: FetchCommand) {
        match command {
            FetchCommand::Follow { partition, .. } => self.fetcher.add_partition(partition),
            FetchCommand::Unfollow(name) => self.fetcher.remove_partition(&name),
        }
    }

    /// Appends what has come: a copy into the page cache, unless the policy waits for the disk. Cutting logs takes longer.
    async fn answered(mut self, answer: Option<FetcherAnswer>) -> Option<Self> {
        if answer.is_none() {
            self.connection = None;
        }
        if answer.as_ref().is_some_and(FetcherAnswer::has_records) {
            self.deps.faults.machine.before_append().await;
        }
        match self.deps.fsync {
            FsyncPolicy::Os if answer.as_ref().is_none_or(FetcherAnswer::only_appends) => {
                self.handle(answer);
                Some(self)
            }
            _ => {
                let handled = blocking(move || {
                    self.handle(answer);
                    self
                });
                handled.await.ok()
            }
        }
    }

    fn handle(&mut self, answer: Option<FetcherAnswer>) {
        let now = self.deps.replica_manager.now();
        let mut logs = LocalLogs(&self.deps.replica_manager);
        match answer {
            Some(FetcherAnswer::Fetch(response)) => {
                self.fetcher.handle_fetch_response(response, &mut logs, now);
            }
            Some(FetcherAnswer::ListOffsets(response)) => {
                self.fetcher.handle_list_offsets_response(response, &mut logs, now);
            }
            None => self.fetcher.handle_disconnect(now),
        }
    }
}

/// Sends a request to the leader.
async fn exchange(
    connection: &mut Option<InterBrokerConnection>,
    deps: &ReplicationDeps,
    leader: i32,
    request: FetcherRequest,
) -> std::io::Result<FetcherAnswer> {
    let connection = connect(connection, deps, leader).await?;
    match request {
        FetcherRequest::Fetch(request) => {
            connection.call(FETCH_VERSION, &request).await.map(FetcherAnswer::Fetch)
        }
        FetcherRequest::ListOffsets(request) => {
            connection.call(LIST_OFFSETS_VERSION, &request).await.map(FetcherAnswer::ListOffsets)
        }
    }
}

/// The leader's answer; None when there is none.
async fn in_time(
    leader: i32,
    patience: &mut Patience,
    exchange: impl Future<Output = std::io::Result<FetcherAnswer>>,
) -> Option<FetcherAnswer> {
    let Some(result) = patience.wait_for(exchange).await else {
        tracing::debug!(leader, "a leader does not answer a fetch: it is asked again");
        return None;
    };
    result.inspect_err(|error| tracing::debug!(leader, %error, "a leader cannot be fetched from")).ok()
}

/// The connection to a broker, made if there is none.
async fn connect<'a>(
    connection: &'a mut Option<InterBrokerConnection>,
    deps: &ReplicationDeps,
    broker: i32,
) -> std::io::Result<&'a mut InterBrokerConnection> {
    let made = match connection.take() {
        Some(connection) => connection,
        None => {
            let endpoint = {
                let snapshot = deps.metadata_cache.load();
                snapshot.broker(broker).and_then(|broker| broker.endpoint(&deps.listener)).cloned()
            };
            let Some(endpoint) = endpoint else {
                let reason = format!("broker {broker} is not known to have the listener {}", deps.listener);
                return Err(std::io::Error::new(std::io::ErrorKind::NotFound, reason));
            };
            InterBrokerConnection::connect(&deps.faults.host, broker, &endpoint.host, endpoint.port).await?
        }
    };
    Ok(connection.insert(made))
}

/// Asks the controller for changes of in-sync replicas (Kafka: `AlterPartitionManager`).
struct IsrChanges {
    deps: ReplicationDeps,
    controller: Option<(i32, InterBrokerConnection)>,
}

impl IsrChanges {
    async fn run(mut self, mut inbox: UnboundedReceiver<IsrChange>) {
        let mut patience = Patience::new();
        while let Some(first) = inbox.recv().await {
            let mut changes = vec![first];
            while let Ok(change) = inbox.try_recv() {
                changes.push(change);
            }
            changes.retain(|change| self.is_wanted(change));
            if changes.is_empty() {
                continue;
            }
            let response = match patience.wait_for(self.ask_while_in_office(&changes)).await {
                Some(Ok(response)) => response,
                Some(Err(error)) => {
                    tracing::debug!(%error, "the controller cannot be asked for new in-sync replicas");
                    failed(ErrorCode::NETWORK_EXCEPTION)
                }
                None => failed(ErrorCode::REQUEST_TIMED_OUT),
            };
            if !response.error_code.is_ok() {
                self.controller = None;
            }
            let retry = self.answered(changes, &response);
            if retry {
                sleep(RETRY_BACKOFF).await;
            }
        }
    }

    fn is_wanted(&self, change: &IsrChange) -> bool {
        let name = &change.partition;
        let partition = self.deps.replica_manager.partition_of(&name.topic, change.topic_id, name.partition);
        partition.is_ok_and(|partition| partition.wants(&change.request))
    }

    /// Asks the controller. Gives it up when there is another one: it may be dead and never answer, and until it has, no ISR
    /// of this broker's partitions can grow.
    async fn ask_while_in_office(
        &mut self,
        changes: &[IsrChange],
    ) -> std::io::Result<AlterPartitionResponse> {
        let cache = self.deps.metadata_cache.clone();
        let in_office = move || {
            let snapshot = cache.load();
            (snapshot.controller_id(), snapshot.controller_epoch())
        };
        let asked = in_office();
        let replaced = async {
            while in_office() == asked {
                sleep(LOOK_EVERY).await;
            }
        };
        tokio::select! {
            biased;
            response = self.ask(changes) => response,
            () = replaced => Ok(failed(ErrorCode::NOT_CONTROLLER)),
        }
    }

    async fn ask(&mut self, changes: &[IsrChange]) -> std::io::Result<AlterPartitionResponse> {
        let Some(id) = self.deps.metadata_cache.load().controller_id() else {
            return Ok(failed(ErrorCode::NOT_CONTROLLER));
        };
        let mut connection =
            self.controller.take().filter(|(known, _)| *known == id).map(|(_, connection)| connection);
        let request = self.request(changes);
        let response =
            connect(&mut connection, &self.deps, id).await?.call(ALTER_PARTITION_VERSION, &request);
        let response = response.await?;
        self.controller = connection.map(|connection| (id, connection));
        Ok(response)
    }

    fn request(&self, changes: &[IsrChange]) -> AlterPartitionRequest {
        let mut topics: BTreeMap<Uuid, Vec<PartitionData>> = BTreeMap::new();
        for change in changes {
            let isr = change.request.isr.iter();
            topics.entry(change.topic_id).or_default().push(PartitionData {
                partition_index: change.partition.partition,
                leader_epoch: change.request.leader_epoch,
                new_isr_with_epochs: isr
                    .map(|(broker_id, broker_epoch)| BrokerState {
                        broker_id: *broker_id,
                        broker_epoch: *broker_epoch,
                    })
                    .collect(),
                partition_epoch: change.request.partition_epoch,
                ..Default::default()
            });
        }
        let topics =
            topics.into_iter().map(|(topic_id, partitions)| TopicData { topic_id, partitions }).collect();
        let manager = &self.deps.replica_manager;
        AlterPartitionRequest { broker_id: manager.node_id, broker_epoch: manager.broker_epoch(), topics }
    }

    /// Hands the answers out; says whether something is to be asked once more.
    fn answered(&self, changes: Vec<IsrChange>, response: &AlterPartitionResponse) -> bool {
        let now = self.deps.replica_manager.now();
        let mut retry = false;
        for change in changes {
            let name = &change.partition;
            let partition =
                self.deps.replica_manager.partition_of(&name.topic, change.topic_id, name.partition);
            let Ok(partition) = partition else { continue };
            let topics = response.topics.iter().filter(|topic| topic.topic_id == change.topic_id);
            let mut answers = topics.flat_map(|topic| &topic.partitions);
            let result = match answers.find(|answer| answer.partition_index == name.partition) {
                _ if !response.error_code.is_ok() => AlterPartitionResult::Failed(response.error_code),
                None => AlterPartitionResult::Failed(ErrorCode::UNKNOWN_SERVER_ERROR),
                Some(answer) if answer.error_code.is_ok() => AlterPartitionResult::Altered {
                    leader_epoch: answer.leader_epoch,
                    partition_epoch: answer.partition_epoch,
                    isr: answer.isr.clone(),
                },
                Some(answer) => AlterPartitionResult::Failed(answer.error_code),
            };
            tracing::debug!(partition = %name, ?result, "the controller has answered a change of in-sync replicas");
            retry |= matches!(result, AlterPartitionResult::Failed(_));
            partition.alter_partition_answered(&change.request, result, now);
        }
        retry
    }
}

fn failed(error_code: ErrorCode) -> AlterPartitionResponse {
    AlterPartitionResponse { error_code, ..Default::default() }
}
