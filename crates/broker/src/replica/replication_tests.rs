//! Three replicas with real logs, joined by the engines under random elections, losses and kills.
//!
//! The checkers know nothing of the engines' insides: they look at logs, high watermarks and acknowledgements.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::messages::fetch_response::{EpochEndOffset, PartitionData};
use milena_protocol::messages::list_offsets_response::{
    ListOffsetsPartitionResponse, ListOffsetsTopicResponse,
};
use milena_protocol::messages::{
    FetchRequest, FetchResponse, FetchableTopicResponse, ListOffsetsRequest, ListOffsetsResponse,
};
use milena_protocol::records::{BatchBuilder, Seal};
use milena_protocol::{ErrorCode, Uuid};
use milena_storage::fs::{MemoryFileSystem, SharedFileSystem};
use milena_storage::{AppendOrigin, Log, LogOptions, StorageError, TopicPartition};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::controller::{
    ControlBody, ControllerConfig, ControllerEngine, ControllerState, CreateTopic, Effect, ElectionKind,
    IsrChange, RequestId,
};
use crate::metadata_cache::BrokerInfo;
use crate::registry::RegisteredBroker;

const TOPIC: Uuid = Uuid([7; 16]);
const LAG: Duration = Duration::from_secs(30);
const NOW_MS: i64 = 1_700_000_000_000;
const MIN_ISR: usize = 2;
const IDS: [i32; 3] = [1, 2, 3];

fn name() -> TopicPartition {
    TopicPartition::new("t", 0)
}

/// A replica's log with its state, as a broker holds them.
struct Local {
    state: PartitionState,
    log: Log,
}

impl Local {
    fn open(fs: &SharedFileSystem, id: i32, high_watermark: i64) -> Self {
        let log = Log::open(fs.clone(), Path::new("data"), name(), LogOptions::default(), NOW_MS).unwrap();
        Self { state: PartitionState::new(id, LAG, log.log_end_offset(), high_watermark), log }
    }

    fn check_epoch(&self, leader_epoch: i32) -> Result<(), ErrorCode> {
        if self.state.roles().leader_epoch == leader_epoch {
            Ok(())
        } else {
            Err(ErrorCode::FENCED_LEADER_EPOCH)
        }
    }

    fn update_roles(&mut self, roles: &Roles, now: Duration) {
        let Some(_changes) = self.state.update_roles(roles.clone(), self.log.log_end_offset(), now) else {
            return;
        };
        if self.state.role() == Role::Leader {
            self.log.assign_leader_epoch(roles.leader_epoch).unwrap();
        }
    }

    /// What a leader answers a follower's fetch.
    fn serve_fetch(&mut self, request: &FetchRequest, now: Duration) -> (PartitionData, Changes) {
        let asked = &request.topics[0].partitions[0];
        let refused = |error_code| {
            (PartitionData { error_code, high_watermark: -1, ..Default::default() }, Changes::default())
        };
        let epoch = self.state.roles().leader_epoch;
        if asked.current_leader_epoch < epoch {
            return refused(ErrorCode::FENCED_LEADER_EPOCH);
        }
        if asked.current_leader_epoch > epoch {
            return refused(ErrorCode::UNKNOWN_LEADER_EPOCH);
        }
        if self.state.role() != Role::Leader {
            return refused(ErrorCode::NOT_LEADER_OR_FOLLOWER);
        }
        let end = self.log.log_end_offset();
        let mut data = PartitionData {
            high_watermark: self.state.high_watermark(),
            log_start_offset: self.log.log_start_offset(),
            ..Default::default()
        };
        let diverging =
            divergence(self.log.leader_epochs(), end, asked.last_fetched_epoch, asked.fetch_offset);
        if let Some(diverging_epoch) = diverging {
            data.diverging_epoch = diverging_epoch;
            return (data, Changes::default());
        }
        match self.log.reader().read(asked.fetch_offset, 200, end, true) {
            Ok(read) => data.records = Some(read.records),
            Err(StorageError::OffsetOutOfRange { .. }) => return refused(ErrorCode::OFFSET_OUT_OF_RANGE),
            Err(error) => panic!("{error}"),
        }
        let fetch = FollowerFetch {
            replica: request.replica_state.replica_id,
            broker_epoch: request.replica_state.replica_epoch,
            offset: asked.fetch_offset,
        };
        match self.state.follower_fetched(fetch, now) {
            Ok(changes) => (data, changes),
            Err(code) => refused(code),
        }
    }

    fn serve_list_offsets(&self, request: &ListOffsetsRequest) -> ListOffsetsResponse {
        let asked = &request.topics[0].partitions[0];
        let current = asked.current_leader_epoch == self.state.roles().leader_epoch;
        let partition = match self.state.role() {
            Role::Leader if current => {
                let offset = match asked.timestamp {
                    -1 => self.log.log_end_offset(),
                    _ => self.log.log_start_offset(),
                };
                ListOffsetsPartitionResponse { offset, ..Default::default() }
            }
            _ => ListOffsetsPartitionResponse {
                error_code: ErrorCode::NOT_LEADER_OR_FOLLOWER,
                ..Default::default()
            },
        };
        let topic = ListOffsetsTopicResponse { name: "t".to_owned(), partitions: vec![partition] };
        ListOffsetsResponse { topics: vec![topic], ..Default::default() }
    }

    fn read_to(&self, end: i64) -> Bytes {
        self.log.reader().read(self.log.log_start_offset(), usize::MAX, end, true).unwrap().records
    }
}

impl FollowerLogs for Local {
    fn log_end(&mut self, _partition: &FollowedPartition) -> Result<LogEnd, ErrorCode> {
        Ok(LogEnd {
            start_offset: self.log.log_start_offset(),
            end_offset: self.log.log_end_offset(),
            last_epoch: self.log.leader_epochs().latest_epoch(),
            high_watermark: self.state.high_watermark(),
        })
    }

    fn append(&mut self, followed: &FollowedPartition, append: FollowerAppend) -> Result<(), ErrorCode> {
        self.check_epoch(followed.leader_epoch)?;
        self.log.append_as_follower(append.records, NOW_MS).unwrap();
        let _changes = self.state.followed(self.log.log_end_offset(), append.high_watermark);
        Ok(())
    }

    fn truncate(&mut self, name: &FollowedPartition, end: &EpochEndOffset) -> Result<(), ErrorCode> {
        let offset = truncation_offset(self.log.leader_epochs(), self.log.log_end_offset(), end);
        self.truncate_to(name, offset)
    }

    fn truncate_to(&mut self, followed: &FollowedPartition, offset: i64) -> Result<(), ErrorCode> {
        self.check_epoch(followed.leader_epoch)?;
        self.log.truncate_to(offset, NOW_MS).unwrap();
        self.state.truncated(self.log.log_end_offset());
        Ok(())
    }

    fn restart_at(&mut self, followed: &FollowedPartition, offset: i64) -> Result<(), ErrorCode> {
        self.check_epoch(followed.leader_epoch)?;
        self.log.truncate_fully_and_start_at(offset, NOW_MS).unwrap();
        self.state.truncated(offset);
        Ok(())
    }
}

/// A broker: its disk survives a kill, the rest does not.
struct Broker {
    id: i32,
    fs: SharedFileSystem,
    local: Option<Local>,
    fetcher: Option<(i32, ReplicaFetcher)>,
    request: Option<FetcherRequest>,
    alter_partition: Option<AlterPartition>,
    /// As last written to `replication-offset-checkpoint`.
    high_watermark_checkpoint: i64,
    broker_epoch: i64,
}

/// An acks=all record on its way.
struct Waiting {
    broker: i32,
    leader_epoch: i32,
    offset: i64,
    payload: Vec<u8>,
}

/// The real controller, with what is on its way to each broker, in order.
struct Controller {
    engine: ControllerEngine,
    queues: BTreeMap<i32, VecDeque<(RequestId, i64, Option<Roles>)>>,
}

struct Cluster {
    /// None where the test itself decides.
    controller: Option<Controller>,
    rng: SmallRng,
    now: Duration,
    brokers: BTreeMap<i32, Broker>,
    roles: Roles,
    next_broker_epoch: i64,
    waiting: Vec<Waiting>,
    acknowledged: BTreeMap<i64, Vec<u8>>,
    produced: u64,
    unclean: bool,
    /// The last high watermark of each leader by its epoch.
    high_watermarks: BTreeMap<i32, i64>,
}

impl Cluster {
    fn new(seed: u64) -> Self {
        let broker = |id: i32| Broker {
            id,
            fs: MemoryFileSystem::shared(),
            local: None,
            fetcher: None,
            request: None,
            alter_partition: None,
            high_watermark_checkpoint: 0,
            broker_epoch: i64::from(id),
        };
        let roles = Roles {
            leader: 1,
            leader_epoch: 0,
            partition_epoch: 0,
            isr: IDS.to_vec(),
            replicas: IDS.to_vec(),
        };
        let mut cluster = Self {
            controller: None,
            rng: SmallRng::seed_from_u64(seed),
            now: Duration::ZERO,
            brokers: IDS.iter().map(|id| (*id, broker(*id))).collect(),
            roles,
            next_broker_epoch: 10,
            waiting: Vec::new(),
            acknowledged: BTreeMap::new(),
            produced: 0,
            unclean: false,
            high_watermarks: BTreeMap::new(),
        };
        for broker in cluster.brokers.values_mut() {
            broker.local = Some(Local::open(&broker.fs, broker.id, 0));
        }
        for id in IDS {
            cluster.deliver_roles(id);
        }
        cluster
    }

    /// The same, under the real controller.
    fn controlled(seed: u64, unclean: bool) -> Self {
        let mut cluster = Self::new(seed);
        let config = ControllerConfig {
            node_id: 1,
            default_partitions: 1,
            default_replication_factor: 3,
            unclean_leader_election: unclean,
            leader_rebalance: None,
            inter_broker_listener: "INTERNAL".to_owned(),
        };
        let state = ControllerState::new("cluster".to_owned());
        let engine = ControllerEngine::elected(config, state.into());
        cluster.controller = Some(Controller { engine, queues: BTreeMap::new() });
        cluster.notice();
        let topic = CreateTopic {
            name: "t".to_owned(),
            id: TOPIC,
            num_partitions: -1,
            replication_factor: -1,
            assignments: vec![(0, IDS.to_vec())],
            configs: Vec::new(),
        };
        cluster.decide_with(|engine| engine.handle_create_topic(topic, false).map(|_| ())).unwrap();
        // They come from nothing, not from the roles that the test would have given.
        for broker in cluster.brokers.values_mut() {
            broker.local = Some(Local::open(&broker.fs, broker.id, 0));
            (broker.fetcher, broker.request) = (None, None);
        }
        cluster
    }

    /// The controller decides, and what it wants to tell is on its way.
    fn decide_with<T>(&mut self, decide: impl FnOnce(&mut ControllerEngine) -> T) -> T {
        let controller = self.controller.as_mut().unwrap();
        let answer = decide(&mut controller.engine);
        while let Some(effect) = controller.engine.poll_effect() {
            let Effect::Send(request) = effect else { continue };
            let roles = match request.body {
                ControlBody::LeaderAndIsr(body) => {
                    let states = body.topics.into_iter().flat_map(|topic| topic.partitions);
                    states.map(|(_, state)| roles_of(&state)).next()
                }
                _ => None,
            };
            let queue = controller.queues.entry(request.broker).or_default();
            queue.push_back((request.id, request.stamp.broker_epoch, roles));
        }
        if let Some(state) = controller.engine.state().partition("t", 0) {
            self.roles = roles_of(state);
        }
        answer
    }

    /// The controller hears who is alive.
    fn notice(&mut self) {
        let registered = |broker: &Broker| {
            let info = BrokerInfo { id: broker.id, rack: None, endpoints: Vec::new() };
            (broker.id, RegisteredBroker { epoch: broker.broker_epoch, info, log_dir_failed: false })
        };
        let alive = self.brokers.values().filter(|broker| broker.local.is_some());
        let alive = alive.map(registered).collect();
        self.decide_with(|engine| engine.handle_brokers(&alive));
    }

    fn some_broker(&mut self) -> i32 {
        IDS[self.rng.random_range(0..IDS.len())]
    }

    fn live(&self) -> Vec<i32> {
        self.brokers.values().filter(|broker| broker.local.is_some()).map(|broker| broker.id).collect()
    }

    fn local(&mut self, id: i32) -> Option<&mut Local> {
        self.brokers.get_mut(&id)?.local.as_mut()
    }

    /// LeaderAndIsr reaches a broker.
    fn deliver_roles(&mut self, id: i32) {
        if self.controller.is_none() {
            return self.take_roles(id, &self.roles.clone());
        }
        let controller = self.controller.as_mut().unwrap();
        let Some((request, broker_epoch, roles)) =
            controller.queues.get_mut(&id).and_then(VecDeque::pop_front)
        else {
            return;
        };
        let broker = &self.brokers[&id];
        if broker.local.is_none() || broker.broker_epoch != broker_epoch {
            return;
        }
        if let Some(roles) = roles {
            self.take_roles(id, &roles);
        }
        self.decide_with(|engine| engine.handle_answer(request, &[]));
    }

    fn take_roles(&mut self, id: i32, roles: &Roles) {
        let now = self.now;
        let broker = self.brokers.get_mut(&id).unwrap();
        let Some(local) = &mut broker.local else { return };
        if roles.leader_epoch <= local.state.roles().leader_epoch {
            return;
        }
        local.update_roles(roles, now);
        broker.alter_partition = None;
        let followed = FollowedPartition { name: name(), topic_id: TOPIC, leader_epoch: roles.leader_epoch };
        match local.state.role() {
            Role::Follower(leader) if leader >= 0 => match &mut broker.fetcher {
                Some((source, fetcher)) if *source == leader => fetcher.add_partition(followed),
                fetcher => {
                    let config = FetcherConfig {
                        backoff: Duration::from_millis(1),
                        ..FetcherConfig::new(id, broker.broker_epoch)
                    };
                    let mut new = ReplicaFetcher::new(config);
                    new.add_partition(followed);
                    broker.request = None;
                    *fetcher = Some((leader, new));
                }
            },
            _ => (broker.fetcher, broker.request) = (None, None),
        }
    }

    fn note_changes(&mut self, id: i32, changes: Changes) {
        if let Some(request) = changes.alter_partition {
            self.brokers.get_mut(&id).unwrap().alter_partition = Some(request);
        }
    }

    /// The controller gives the lead to somebody; `leader` None for the first that may.
    fn elect(&mut self, leader: Option<i32>) {
        if self.controller.is_some() {
            let named = Some(vec![("t".to_owned(), 0)]);
            let _answers =
                self.decide_with(|engine| engine.handle_elect_leaders(ElectionKind::Preferred, named));
            return;
        }
        let live = self.live();
        let eligible = |id: &i32| live.contains(id) && self.roles.isr.contains(id);
        let chosen = leader.filter(eligible).or_else(|| IDS.into_iter().find(eligible));
        let unclean = if self.unclean { live.first().copied() } else { None };
        if chosen.is_none() && unclean.is_some() {
            self.roles.isr = unclean.into_iter().collect();
        }
        self.roles.leader = chosen.or(unclean).unwrap_or(-1);
        self.roles.leader_epoch += 1;
        self.roles.partition_epoch += 1;
    }

    fn kill(&mut self, id: i32) {
        let broker = self.brokers.get_mut(&id).unwrap();
        let Some(local) = broker.local.take() else { return };
        if self.rng.random_bool(0.5) {
            broker.high_watermark_checkpoint = local.state.high_watermark();
        }
        (broker.fetcher, broker.request, broker.alter_partition) = (None, None, None);
        if self.controller.is_some() {
            return;
        }
        let isr: Vec<i32> = self.roles.isr.iter().copied().filter(|other| *other != id).collect();
        if !isr.is_empty() {
            self.roles.isr = isr;
        }
        let leader = self.roles.leader;
        self.elect((leader != id).then_some(leader));
    }

    fn restart(&mut self, id: i32) {
        let broker = self.brokers.get_mut(&id).unwrap();
        if broker.local.is_some() {
            return;
        }
        self.next_broker_epoch += 1;
        broker.broker_epoch = self.next_broker_epoch;
        broker.local = Some(Local::open(&broker.fs, id, broker.high_watermark_checkpoint));
        if self.controller.is_some() {
            return;
        }
        let leader = self.roles.leader;
        self.elect((leader >= 0).then_some(leader));
        // A broker that starts is told before it does anything else.
        self.deliver_roles(id);
    }

    fn produce(&mut self, id: i32) {
        let now = self.now;
        self.produced += 1;
        let payload = format!("record {}", self.produced).into_bytes();
        let Some(local) = self.local(id) else { return };
        if local.state.role() != Role::Leader || local.state.isr().len() < MIN_ISR {
            return;
        }
        let mut batch = BatchBuilder::new(Vec::new());
        batch.append(NOW_MS, None, Some(&payload), &[]);
        let leader_epoch = local.state.roles().leader_epoch;
        let records = batch.seal(Seal::default()).into();
        let info = local.log.append_as_leader(records, leader_epoch, AppendOrigin::Client, NOW_MS).unwrap();
        let changes = local.state.appended(local.log.log_end_offset(), now);
        self.note_changes(id, changes);
        self.waiting.push(Waiting { broker: id, leader_epoch, offset: info.last_offset, payload });
    }

    /// Acknowledges what may be.
    fn acknowledge(&mut self) {
        for waiting in std::mem::take(&mut self.waiting) {
            let Some(local) = self.local(waiting.broker) else { continue };
            let state = &local.state;
            if state.role() != Role::Leader || state.roles().leader_epoch != waiting.leader_epoch {
                continue;
            }
            if state.high_watermark() <= waiting.offset {
                self.waiting.push(waiting);
            } else if state.maximal_isr_len() >= MIN_ISR {
                self.acknowledged.insert(waiting.offset, waiting.payload);
            }
        }
    }

    fn send(&mut self, id: i32) {
        let now = self.now;
        let broker = self.brokers.get_mut(&id).unwrap();
        if let (Some(local), Some((_, fetcher)), None) =
            (&mut broker.local, &mut broker.fetcher, &broker.request)
        {
            broker.request = fetcher.poll_request(local, now);
        }
    }

    /// The request of a follower reaches its leader, and the answer the follower, unless something is lost.
    fn exchange(&mut self, id: i32, loss: f64) {
        let now = self.now;
        let broker = self.brokers.get_mut(&id).unwrap();
        let (Some(request), Some((leader, _))) = (broker.request.take(), &broker.fetcher) else { return };
        let leader = *leader;
        let (lose_request, lose_answer) = (self.rng.random_bool(loss), self.rng.random_bool(loss));
        let answer = match self.local(leader).filter(|_| !lose_request) {
            None => None,
            Some(local) => match &request {
                FetcherRequest::Fetch(fetch) => {
                    let (data, changes) = local.serve_fetch(fetch, now);
                    self.note_changes(leader, changes);
                    Some(Answer::Fetch(data))
                }
                FetcherRequest::ListOffsets(request) => {
                    Some(Answer::ListOffsets(local.serve_list_offsets(request)))
                }
            },
        };
        let broker = self.brokers.get_mut(&id).unwrap();
        let (Some(local), Some((_, fetcher))) = (&mut broker.local, &mut broker.fetcher) else { return };
        match answer.filter(|_| !lose_answer) {
            None => fetcher.handle_disconnect(now),
            Some(Answer::Fetch(data)) => {
                let topic =
                    FetchableTopicResponse { topic_id: TOPIC, partitions: vec![data], ..Default::default() };
                let response = FetchResponse { responses: vec![topic], ..Default::default() };
                fetcher.handle_fetch_response(response, local, now);
            }
            Some(Answer::ListOffsets(response)) => fetcher.handle_list_offsets_response(response, local, now),
        }
    }

    /// The controller handles a leader's wish, unless it, or the answer, is lost.
    fn alter_partition(&mut self, id: i32, loss: f64) {
        let Some(request) = self.brokers.get_mut(&id).unwrap().alter_partition.take() else { return };
        let (lose_request, lose_answer) = (self.rng.random_bool(loss), self.rng.random_bool(loss));
        let mut result = AlterPartitionResult::Failed(ErrorCode::REQUEST_TIMED_OUT);
        if !lose_request {
            result = self.decide(id, &request);
        }
        if lose_answer {
            result = AlterPartitionResult::Failed(ErrorCode::REQUEST_TIMED_OUT);
        }
        let now = self.now;
        let Some(local) = self.local(id) else { return };
        let changes = local.state.alter_partition_answered(&request, result, now);
        self.note_changes(id, changes);
    }

    fn decide(&mut self, id: i32, request: &AlterPartition) -> AlterPartitionResult {
        if self.controller.is_some() {
            let change = IsrChange {
                topic_id: TOPIC,
                partition: 0,
                leader_epoch: request.leader_epoch,
                partition_epoch: request.partition_epoch,
                isr: request.isr.clone(),
            };
            let broker_epoch = self.brokers[&id].broker_epoch;
            let answer =
                self.decide_with(|engine| engine.handle_alter_partition(id, broker_epoch, &[change]));
            return match answer.map(|mut answers| answers.remove(0)) {
                Ok(Ok(state)) => AlterPartitionResult::Altered {
                    leader_epoch: state.leader_epoch,
                    partition_epoch: state.partition_epoch,
                    isr: state.isr,
                },
                Ok(Err(code)) => AlterPartitionResult::Failed(code),
                Err(error) => AlterPartitionResult::Failed(error.code),
            };
        }
        let isr: Vec<i32> = request.isr.iter().map(|(id, _)| *id).collect();
        if request.leader_epoch != self.roles.leader_epoch {
            return AlterPartitionResult::Failed(ErrorCode::FENCED_LEADER_EPOCH);
        }
        let repeated = isr == self.roles.isr;
        if !repeated && request.partition_epoch != self.roles.partition_epoch {
            return AlterPartitionResult::Failed(ErrorCode::INVALID_UPDATE_VERSION);
        }
        let alive = |(id, epoch): &(i32, i64)| {
            let broker = &self.brokers[id];
            broker.local.is_some() && (*epoch == -1 || *epoch == broker.broker_epoch)
        };
        if !request.isr.iter().all(alive) {
            return AlterPartitionResult::Failed(ErrorCode::INELIGIBLE_REPLICA);
        }
        if !repeated {
            self.roles.isr = isr.clone();
            self.roles.partition_epoch += 1;
        }
        AlterPartitionResult::Altered {
            leader_epoch: self.roles.leader_epoch,
            partition_epoch: self.roles.partition_epoch,
            isr,
        }
    }

    /// One random event.
    fn step(&mut self) {
        self.now += Duration::from_millis(self.rng.random_range(0..20));
        let id = self.some_broker();
        match self.rng.random_range(0..1000) {
            0..4 => self.kill(id),
            // The registry tells the controller a little later, and of a quick restart only the new epoch.
            _ if self.controller.is_some() && self.rng.random_bool(0.03) => self.notice(),
            4..20 => self.restart(id),
            20..28 => self.elect(Some(id)),
            28..32 => self.now += LAG,
            32..200 => (0..3).for_each(|_| self.deliver_roles(id)),
            200..300 => self.produce(id),
            300..500 => self.send(id),
            500..800 => self.exchange(id, 0.1),
            800..950 => self.alter_partition(id, 0.1),
            _ => {
                let now = self.now;
                let Some(local) = self.local(id) else { return };
                let changes = local.state.tick(now);
                self.note_changes(id, changes);
            }
        }
        self.acknowledge();
    }

    /// Everything comes back and nothing is lost any more; the leader's records reach everybody.
    fn heal(&mut self) {
        for id in IDS {
            self.restart(id);
        }
        if self.controller.is_some() {
            self.notice();
        }
        self.elect(None);
        for round in 0..3_000 {
            self.now += Duration::from_millis(10);
            for id in IDS {
                self.deliver_roles(id);
                self.send(id);
                self.exchange(id, 0.0);
                self.alter_partition(id, 0.0);
            }
            self.acknowledge();
            self.check_leaders();
            if round % 10 == 0 && self.is_whole() {
                return;
            }
        }
        panic!("the replicas do not come together: {:?}", self.roles);
    }

    fn is_whole(&self) -> bool {
        let ends: BTreeSet<i64> =
            self.brokers.values().map(|b| b.local.as_ref().unwrap().log.log_end_offset()).collect();
        let marks: BTreeSet<i64> =
            self.brokers.values().map(|b| b.local.as_ref().unwrap().state.high_watermark()).collect();
        ends.len() == 1 && marks == ends && self.roles.isr.len() == IDS.len()
    }

    /// The high watermark never goes back on one leader, and there is one leader in an epoch.
    fn check_leaders(&mut self) {
        for broker in self.brokers.values() {
            let Some(local) = &broker.local else { continue };
            let (state, end) = (&local.state, local.log.log_end_offset());
            assert!(state.high_watermark() <= end, "broker {}: {state:?}", broker.id);
            assert_eq!(state.log_end_offset(), end);
            if state.role() == Role::Leader {
                let known = self.high_watermarks.entry(state.roles().leader_epoch).or_default();
                assert!(state.high_watermark() >= *known, "went back from {known}: {state:?}");
                *known = state.high_watermark();
            }
        }
    }

    /// What lies below two replicas' high watermarks is the same on both.
    fn check_logs(&self) {
        let locals: Vec<&Local> = self.brokers.values().filter_map(|broker| broker.local.as_ref()).collect();
        for (index, one) in locals.iter().enumerate() {
            for other in &locals[index + 1..] {
                let end = one.state.high_watermark().min(other.state.high_watermark());
                assert_eq!(one.read_to(end), other.read_to(end), "below {end}");
            }
        }
    }

    fn check_acknowledged(&self) {
        for (offset, payload) in &self.acknowledged {
            for broker in self.brokers.values() {
                let read = broker.local.as_ref().unwrap().log.reader().read(*offset, 1, i64::MAX, true);
                let batch = read.unwrap().records;
                assert!(
                    batch.windows(payload.len()).any(|window| window == payload),
                    "broker {} has lost offset {offset}",
                    broker.id
                );
            }
        }
    }
}

fn roles_of(state: &crate::controller::PartitionState) -> Roles {
    Roles {
        leader: state.leader,
        leader_epoch: state.leader_epoch,
        partition_epoch: state.partition_epoch,
        isr: state.isr.clone(),
        replicas: state.replicas.clone(),
    }
}

enum Answer {
    Fetch(PartitionData),
    ListOffsets(ListOffsetsResponse),
}

fn run(mut cluster: Cluster) -> Cluster {
    for step in 0..3_000 {
        cluster.step();
        cluster.check_leaders();
        if step % 20 == 0 {
            cluster.check_logs();
        }
    }
    cluster.heal();
    cluster.check_logs();
    cluster.check_acknowledged();
    cluster
}

#[test]
fn replication_27_and_28_nothing_acknowledged_is_lost_and_replicas_agree_under_random_failures() {
    let (mut acknowledged, mut elections) = (0, 0);
    for seed in 0..60 {
        let cluster = run(Cluster::new(seed));
        acknowledged += cluster.acknowledged.len();
        elections += cluster.roles.leader_epoch;
    }
    // Else nothing was tried.
    assert!(acknowledged > 1_000, "{acknowledged}");
    assert!(elections > 600, "{elections}");
}

#[test]
fn replication_27_and_28_nothing_acknowledged_is_lost_under_the_real_controller() {
    let (mut acknowledged, mut elections) = (0, 0);
    for seed in 1_000..1_060 {
        let cluster = run(Cluster::controlled(seed, false));
        acknowledged += cluster.acknowledged.len();
        elections += cluster.roles.leader_epoch;
    }
    assert!(acknowledged > 1_000, "{acknowledged}");
    assert!(elections > 400, "{elections}");
}

#[test]
fn replication_28_after_unclean_elections_replicas_still_come_to_agree() {
    for seed in 100..130 {
        let mut cluster = match seed % 2 {
            0 => Cluster::controlled(seed, true),
            _ => Cluster { unclean: true, ..Cluster::new(seed) },
        };
        for _ in 0..2_000 {
            cluster.step();
            cluster.check_leaders();
        }
        cluster.heal();
        let logs: BTreeSet<Bytes> =
            cluster.brokers.values().map(|broker| broker.local.as_ref().unwrap().read_to(i64::MAX)).collect();
        assert_eq!(logs.len(), 1, "seed {seed}");
    }
}

/// Broker 2 with two records of epoch 1 that nobody else has, under a leader that has written one of epoch 2 in their place.
fn diverged() -> Cluster {
    let mut cluster = Cluster::new(1);
    cluster.roles.leader_epoch = 1;
    cluster.roles.leader = 2;
    cluster.deliver_roles(2);
    cluster.produce(2);
    cluster.produce(2);
    cluster.elect(Some(1));
    cluster.deliver_roles(1);
    cluster.produce(1);
    cluster
}

#[test]
fn replication_28_a_divergent_tail_is_cut_by_leader_epoch_not_by_high_watermark() {
    let mut cluster = diverged();
    let before = cluster.local(2).unwrap().read_to(i64::MAX);
    assert_ne!(before, cluster.local(1).unwrap().read_to(i64::MAX));
    cluster.deliver_roles(2);
    // The role alone cuts nothing, though the high watermark is 0.
    assert_eq!(cluster.local(2).unwrap().read_to(i64::MAX), before);
    cluster.send(2);
    cluster.exchange(2, 0.0);
    assert_eq!(cluster.local(2).unwrap().log.log_end_offset(), 0);
    cluster.heal();
    assert_eq!(cluster.local(1).unwrap().read_to(i64::MAX), cluster.local(2).unwrap().read_to(i64::MAX));
}

#[test]
fn replication_28_records_of_an_epoch_that_the_leader_never_wrote_in_are_cut() {
    let mut cluster = diverged();
    // 3 takes over without having written or fetched anything: the epoch of 2's records lies above all that it has.
    cluster.elect(Some(3));
    cluster.deliver_roles(3);
    cluster.deliver_roles(2);
    cluster.send(2);
    cluster.exchange(2, 0.0);
    assert_eq!(cluster.local(2).unwrap().log.log_end_offset(), 0);
    cluster.heal();
    assert!(cluster.is_whole());
}

#[test]
fn replication_28_a_leader_that_never_wrote_forgets_its_epoch() {
    let mut cluster = Cluster::new(1);
    cluster.produce(1);
    // 2 leads for a moment and writes nothing; then 1 leads again with the record that 2 never had.
    cluster.elect(Some(2));
    cluster.deliver_roles(2);
    cluster.elect(Some(1));
    cluster.heal();
    let epochs =
        |cluster: &mut Cluster, id| cluster.local(id).unwrap().log.leader_epochs().entries().to_vec();
    let of_leader: Vec<_> =
        epochs(&mut cluster, 1).into_iter().filter(|entry| entry.start_offset < 1).collect();
    assert_eq!(epochs(&mut cluster, 2), of_leader);
}
