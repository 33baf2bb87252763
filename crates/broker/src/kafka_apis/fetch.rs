//! Fetch (key 1), versions 4 to 18.
//!
//! Served: consumers, up to the high watermark, and followers, up to the log's end, whose fetches say how far they are;
//! long polling, woken by appends and by moves of the high watermark; `min_bytes`, `max_bytes` and `partition_max_bytes`,
//! which the first batch may exceed (KIP-74); topics by name, and by id from version 13; both isolation levels, which are
//! the same without transactions; leader epoch checks (KIP-320), diverging epochs (KIP-595), sessions (KIP-227), a follower's
//! high watermark (KIP-1166), leader hints (KIP-951) from version 16 on. From version 11 on a consumer that names its rack
//! may read from followers (KIP-392), and is sent to one if `replica_selector` says so.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::messages::fetch_response::{LeaderIdAndEpoch, NodeEndpoint, PartitionData};
use milena_protocol::messages::{
    FetchPartition, FetchRequest, FetchResponse, FetchTopic, FetchableTopicResponse,
};
use milena_protocol::{ErrorCode, Frame, VersionRange};
use milena_storage::{FsyncPolicy, StorageError};
use tokio::time::{Instant, timeout_at};

use super::RequestContext;
use super::leader_hints::LeaderHints;
use crate::blocking::blocking;
use crate::client_memory::Room;
use crate::config::ReplicaSelector;
use crate::network::{CloseReason, Reply};
use crate::node::Node;
use crate::replica::{FollowerFetch, Role};
use crate::replica_manager::{Partition, Progress, ReplicaManager, Waiter, error_code};

pub(super) const VERSIONS: VersionRange = VersionRange::new(4, 18);

/// `fetch.max.bytes` of the broker: the most that one answer holds, whatever the client asks for.
const FETCH_MAX_BYTES: usize = 55 * 1024 * 1024;
/// Bytes whose copying takes less time than handing it to another thread.
const SHORT_READ: u64 = 128 * 1024;
/// The most that an answer waits. Clients ask for half a second; one that asks for years only wants to keep us busy.
const MAX_WAIT: Duration = Duration::from_mins(5);
const TOPIC_ID_VERSION: i16 = 13;
const READ_COMMITTED: i8 = 1;
/// The first version in which a replica says its epoch beside its id (KIP-903).
const REPLICA_STATE_VERSION: i16 = 15;
const DEBUGGING_CONSUMER: i32 = -2;
/// The first version that tells who leads instead (KIP-951).
const LEADER_HINT_VERSION: i16 = 16;

/// The answer is read when it is its turn to be written, so a connection never holds two of them in memory. What it holds it has
/// room for in `fetch_memory`.
pub(super) fn handle(request: FetchRequest, context: RequestContext) -> Result<Reply, CloseReason> {
    let wait = Duration::from_millis(u64::try_from(request.max_wait_ms).unwrap_or(0)).min(MAX_WAIT);
    let deadline = Instant::now() + wait;
    Ok(Reply::InTurn(Box::pin(answer(request, context, deadline))))
}

async fn answer(
    mut request: FetchRequest,
    context: RequestContext,
    deadline: Instant,
) -> Result<(Frame, Option<Room>), CloseReason> {
    let refused = |error_code| {
        let answer = context.encode(&FetchResponse { error_code, ..Default::default() })?;
        Ok((answer, None))
    };
    let is_client = *context.peer.listener != *context.node.config.inter_broker_listener();
    if is_client && replica_id(&request, &context) >= 0 {
        // What a follower has counts for the high watermark: a client must not say that it is one.
        return refused(ErrorCode::CLUSTER_AUTHORIZATION_FAILED);
    }
    let replicas = &context.node.replica_manager;
    let by_id = context.version() >= TOPIC_ID_VERSION;
    let sessions = &context.node.fetch_sessions;
    let begun = sessions.lock().begin(&mut request, by_id, replicas.now(), rand::random);
    let session = match begun {
        Ok(session) => session,
        Err(error_code) => return refused(error_code),
    };
    let fetch = Arc::new(Fetch::new(request, &context));
    let (mut response, room) = fetch.wait_and_read(deadline).await?;
    context.node.fetch_sessions.lock().finish(&session, &mut response);
    add_leader_hints(&mut response, &context);
    Ok((context.encode(&response)?, room))
}

/// The broker that fetches; below zero for a client.
fn replica_id(request: &FetchRequest, context: &RequestContext) -> i32 {
    let says_state = context.version() >= REPLICA_STATE_VERSION;
    if says_state { request.replica_state.replica_id } else { request.replica_id }
}

/// Tells who leads the partitions that moved away, and where it is to be reached.
fn add_leader_hints(response: &mut FetchResponse, context: &RequestContext) {
    if context.version() < LEADER_HINT_VERSION {
        return;
    }
    let mut hints = LeaderHints::new(context);
    for topic in &mut response.responses {
        let name = || context.topic_name(topic.topic_id).ok();
        for data in &mut topic.partitions {
            if let Some((leader_id, leader_epoch)) = hints.leader(data.error_code, name, data.partition_index)
            {
                data.current_leader = LeaderIdAndEpoch { leader_id, leader_epoch };
            }
        }
    }
    response.node_endpoints =
        hints.endpoints(|node_id, at| NodeEndpoint { node_id, host: at.host, port: at.port, rack: at.rack });
}

/// A fetch whose partitions have been looked up.
struct Fetch {
    max_bytes: usize,
    min_bytes: usize,
    read_committed: bool,
    /// Who fetches, if it is a follower, with its broker epoch.
    follower: Option<(i32, i64)>,
    /// A tool that compares replicas: it reads to the log's end, from any of them (`FetchRequest.DEBUGGING_CONSUMER_ID`).
    debugging: bool,
    /// The rack of a consumer that may be sent to followers.
    rack: Option<String>,
    node: Arc<Node>,
    /// The listener that the client came in on.
    listener: Arc<str>,
    topics: Vec<FetchedTopic>,
    replicas: Arc<ReplicaManager>,
}

struct FetchedTopic {
    topic: FetchTopic,
    /// One for each of `topic.partitions`.
    partitions: Vec<Result<Arc<Partition>, ErrorCode>>,
}

/// What one look at all partitions found.
#[derive(Default)]
struct Found {
    response: FetchResponse,
    bytes: usize,
    /// Room for the records that were found; followers need none.
    room: Option<Room>,
    /// What a batch had to wait for that a look before this one owed.
    reserved: Option<Room>,
    /// The size of the first batch, when there was no room for it. This look has come to nothing then.
    owed: Option<usize>,
    /// Something that the client should hear of at once.
    urgent: bool,
}

impl Found {
    fn keep(&mut self, room: Room, records: &Bytes) {
        self.bytes += records.len();
        match &mut self.room {
            Some(all) => all.merge(room),
            None => self.room = Some(room),
        }
    }
}

impl Fetch {
    fn new(mut request: FetchRequest, context: &RequestContext) -> Self {
        let replica_id = replica_id(&request, context);
        let by_id = context.version() >= TOPIC_ID_VERSION;
        let topics = std::mem::take(&mut request.topics).into_iter().map(|topic| {
            let name =
                if by_id { context.topic_name(topic.topic_id) } else { Ok(Arc::from(topic.topic.as_str())) };
            let find = |partition: &FetchPartition| match &name {
                Ok(name) if by_id => context.node.partition_of(name, topic.topic_id, partition.partition),
                Ok(name) => context.node.partition(name, partition.partition),
                Err(code) => Err(*code),
            };
            let partitions = topic.partitions.iter().map(find).collect();
            FetchedTopic { topic, partitions }
        });
        Self {
            max_bytes: usize::try_from(request.max_bytes).unwrap_or(0).min(FETCH_MAX_BYTES),
            min_bytes: usize::try_from(request.min_bytes).unwrap_or(0),
            read_committed: request.isolation_level == READ_COMMITTED,
            follower: (replica_id >= 0).then_some((replica_id, request.replica_state.replica_epoch)),
            debugging: replica_id == DEBUGGING_CONSUMER,
            rack: (replica_id < 0 && !request.rack_id.is_empty()).then_some(request.rack_id),
            node: context.node.clone(),
            listener: context.peer.listener.clone(),
            topics: topics.collect(),
            replicas: context.node.replica_manager.clone(),
        }
    }

    /// Reads at once, and if that is too little, again when enough has been appended or the time is over.
    async fn wait_and_read(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<(FetchResponse, Option<Room>), CloseReason> {
        let waiter = Arc::new(Waiter::default());
        // Before the first look, so that no append slips in between.
        let _registrations: Vec<_> = self.partitions().map(|partition| partition.register(&waiter)).collect();
        let mut first_look = true;
        loop {
            let before = self.progress();
            let found = self.read(first_look).await?;
            first_look = false;
            if self.replicas.is_stopping() || found.urgent || found.bytes >= self.min_bytes {
                return Ok((found.response, found.room));
            }
            let missing = (self.min_bytes - found.bytes) as u64;
            // Others may have its room meanwhile.
            drop(found);
            let enough = async {
                loop {
                    waiter.woken().await;
                    let now = self.progress();
                    if now.events != before.events || now.bytes.wrapping_sub(before.bytes) >= missing {
                        return;
                    }
                }
            };
            if timeout_at(deadline, enough).await.is_err() {
                let found = self.read(false).await?;
                return Ok((found.response, found.room));
            }
        }
    }

    /// Looks at all partitions, and again when there is room for a batch that is owed (KIP-74).
    async fn read(self: &Arc<Self>, first_look: bool) -> Result<Found, CloseReason> {
        let mut reserved = None;
        loop {
            let found = self.look_where_it_may_wait(first_look, reserved).await?;
            let Some(bytes) = found.owed else { return Ok(found) };
            // Whoever waits for room holds none.
            drop(found);
            reserved = Some(self.node.fetch_memory.reserve(bytes).await);
        }
    }

    /// Looks at all partitions. What is more than a short copy is read where it holds up nobody else.
    async fn look_where_it_may_wait(
        self: &Arc<Self>,
        first_look: bool,
        reserved: Option<Room>,
    ) -> Result<Found, CloseReason> {
        let is_short = self.is_short();
        if is_short && !self.waits_for_appends() {
            return Ok(self.look(first_look, reserved));
        }
        // Followers are few, and producers wait for them. Where clients come in too, anybody may say that it is one.
        let takes_turns = self.follower.is_none() || self.node.config.is_for_clients(&self.listener);
        let turn = match takes_turns && !is_short {
            true => self.node.large_reads.clone().acquire_owned().await.ok(),
            false => None,
        };
        let fetch = self.clone();
        let found = blocking(move || {
            // Held to the end, also if the client does not wait for it.
            let _turn = turn;
            fetch.look(first_look, reserved)
        });
        found.await.map_err(|_| CloseReason("the broker is stopping".to_owned()))
    }

    /// Whether what there is to read is little, and in memory.
    fn is_short(&self) -> bool {
        let mut room = SHORT_READ;
        let asked = self.topics.iter().flat_map(|topic| topic.topic.partitions.iter().zip(&topic.partitions));
        for (asked, partition) in asked {
            let Ok(partition) = partition else { continue };
            let Some(there) = partition.reader().recent_bytes_from(asked.fetch_offset) else { return false };
            let wanted = there.min(u64::try_from(asked.partition_max_bytes).unwrap_or(0));
            let Some(rest) = room.checked_sub(wanted) else { return false };
            room = rest;
        }
        true
    }

    /// Whether the look at epochs, for which a log is locked, may have to wait for an append that waits for the disk.
    fn waits_for_appends(&self) -> bool {
        let asked = self.topics.iter().flat_map(|topic| &topic.topic.partitions);
        self.node.config.fsync == FsyncPolicy::EveryBatch
            && asked.into_iter().any(|asked| asked.last_fetched_epoch >= 0)
    }

    fn partitions(&self) -> impl Iterator<Item = &Arc<Partition>> {
        self.topics.iter().flat_map(|topic| &topic.partitions).filter_map(|partition| partition.as_ref().ok())
    }

    fn progress(&self) -> Progress {
        let each = self.partitions().map(|partition| partition.progress(self.follower.is_some()));
        each.fold(Progress::default(), |sum, one| Progress {
            bytes: sum.bytes.wrapping_add(one.bytes),
            events: sum.events.wrapping_add(one.events),
        })
    }

    /// Looks at all partitions; the first look is the one that says how far a follower is. Blocking.
    fn look(&self, first_look: bool, reserved: Option<Room>) -> Found {
        let mut found = Found { reserved, ..Default::default() };
        for topic in &self.topics {
            let mut partitions = Vec::with_capacity(topic.partitions.len());
            for (asked, partition) in topic.topic.partitions.iter().zip(&topic.partitions) {
                partitions.push(self.read_partition(asked, partition, first_look, &mut found));
                if found.owed.is_some() {
                    return found;
                }
            }
            found.response.responses.push(FetchableTopicResponse {
                topic: topic.topic.topic.clone(),
                topic_id: topic.topic.topic_id,
                partitions,
            });
        }
        found.reserved = None;
        found
    }

    fn read_partition(
        &self,
        asked: &FetchPartition,
        partition: &Result<Arc<Partition>, ErrorCode>,
        first_look: bool,
        found: &mut Found,
    ) -> PartitionData {
        let partition = match partition {
            Ok(partition) => partition,
            Err(code) => return refused(asked, *code, found),
        };
        let role = match partition.check_replica(asked.current_leader_epoch) {
            Ok(Role::Follower(_)) if self.rack.is_none() && !self.debugging => {
                Err(ErrorCode::NOT_LEADER_OR_FOLLOWER)
            }
            role => role,
        };
        let role = match role {
            Ok(role) => role,
            // It may have been given up since it was looked up.
            Err(code) => {
                let code = self.node.elsewhere(&partition.name().topic, asked.partition, code);
                return refused(asked, code, found);
            }
        };
        let mut data = PartitionData {
            partition_index: asked.partition,
            high_watermark: partition.high_watermark(),
            last_stable_offset: partition.last_stable_offset(),
            log_start_offset: partition.reader().log_start_offset(),
            aborted_transactions: self.read_committed.then(Vec::new),
            preferred_read_replica: -1,
            records: Some(Bytes::new()),
            ..Default::default()
        };
        if let Some(end) = partition.diverging_epoch(asked.last_fetched_epoch, asked.fetch_offset) {
            data.diverging_epoch = end;
            found.urgent = true;
            return data;
        }
        if role == Role::Leader
            && let Some(replica) = self.closer_replica(partition, asked)
        {
            data.preferred_read_replica = replica;
            found.urgent = true;
            return data;
        }
        let bound = match self.follower {
            Some(_) => partition.reader().log_end_offset(),
            None if self.debugging => partition.reader().log_end_offset(),
            None if self.read_committed => data.last_stable_offset,
            None => data.high_watermark,
        };
        match self.read_records(partition, asked, bound, found) {
            Ok(records) => {
                if let Some(follower) = self.follower {
                    if let Err(code) = self.confirm(partition, asked, follower, first_look) {
                        return refused(asked, code, found);
                    }
                    data.high_watermark = partition.high_watermark();
                    found.urgent |= asked.high_watermark < data.high_watermark;
                    found.urgent |= (0..data.log_start_offset).contains(&asked.log_start_offset);
                    found.bytes += records.len();
                }
                data.records = Some(records);
                data
            }
            Err(error) => {
                let code = error_code(&error);
                if code != ErrorCode::OFFSET_OUT_OF_RANGE {
                    tracing::error!(partition = %partition.name(), %error, "a read failed");
                }
                refused(asked, code, found)
            }
        }
    }
}

impl Fetch {
    /// Reads what the request, and for a client the memory, has room for. The first batch of all is owed, however large it is.
    fn read_records(
        &self,
        partition: &Partition,
        asked: &FetchPartition,
        bound: i64,
        found: &mut Found,
    ) -> Result<Bytes, StorageError> {
        let reader = partition.reader();
        let limit = usize::try_from(asked.partition_max_bytes).unwrap_or(0);
        let limit = limit.min(self.max_bytes.saturating_sub(found.bytes));
        let first = found.bytes == 0;
        if self.follower.is_some() {
            return Ok(reader.read(asked.fetch_offset, limit, bound, first)?.records);
        }
        let memory = &self.node.fetch_memory;
        let mut room = memory.take_free(limit);
        let mut read = reader.read(asked.fetch_offset, room.bytes(), bound, false)?;
        if first && read.first_batch_bytes > room.bytes() {
            let owed = read.first_batch_bytes;
            drop(room);
            let reserved = found.reserved.take().filter(|reserved| reserved.bytes() >= owed);
            let Some(reserved) = reserved.or_else(|| memory.try_reserve(owed)) else {
                found.owed = Some(owed);
                return Ok(Bytes::new());
            };
            room = reserved;
            read = reader.read(asked.fetch_offset, room.bytes(), bound, false)?;
        }
        room.shrink_to(read.records.len());
        found.keep(room, &read.records);
        Ok(read.records)
    }

    /// Says that what was read for a follower is still of the log whose epochs were compared with its own; at the first look
    /// that is how far it is.
    fn confirm(
        &self,
        partition: &Partition,
        asked: &FetchPartition,
        (replica, broker_epoch): (i32, i64),
        first_look: bool,
    ) -> Result<(), ErrorCode> {
        let leader_epoch = asked.current_leader_epoch;
        if !first_look {
            return partition.check_leader(leader_epoch);
        }
        let fetch = FollowerFetch { replica, broker_epoch, offset: asked.fetch_offset };
        partition.follower_fetched(fetch, leader_epoch, self.replicas.now())?;
        partition.follower_starts_at(replica, asked.log_start_offset);
        Ok(())
    }

    /// A follower in the consumer's rack, if that is not ours, which the consumer can reach
    /// (`ReplicaManager.findPreferredReadReplica`).
    fn closer_replica(&self, partition: &Partition, asked: &FetchPartition) -> Option<i32> {
        let config = &self.node.config;
        let rack = self.rack.as_ref()?;
        if config.replica_selector != ReplicaSelector::RackAware || config.rack.as_ref() == Some(rack) {
            return None;
        }
        let snapshot = self.node.metadata_cache.load();
        let is_close = |id: &i32| {
            let broker = snapshot.broker(*id).filter(|broker| broker.rack.as_ref() == Some(rack));
            broker.is_some_and(|broker| broker.endpoint(&self.listener).is_some())
        };
        partition.readable_from(asked.fetch_offset).into_iter().find(is_close)
    }
}

fn refused(asked: &FetchPartition, error_code: ErrorCode, found: &mut Found) -> PartitionData {
    found.urgent = true;
    PartitionData {
        partition_index: asked.partition,
        error_code,
        high_watermark: -1,
        last_stable_offset: -1,
        log_start_offset: -1,
        current_leader: LeaderIdAndEpoch::default(),
        preferred_read_replica: -1,
        records: Some(Bytes::new()),
        ..Default::default()
    }
}
