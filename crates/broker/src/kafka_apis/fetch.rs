//! Fetch (key 1), versions 4 to 18.
//!
//! Served: consumers; long polling, woken by appends; `min_bytes`, `max_bytes` and `partition_max_bytes`, which the first
//! batch may exceed (KIP-74); topics by name, and by id from version 13; both isolation levels, which are the same
//! without transactions; leader epoch checks (KIP-320) and diverging epochs (KIP-595).
//! Not served: fetch sessions (KIP-227). A client that asks for one is told session 0, which means none, and sends every
//! fetch in full; the id of a session that never was is FETCH_SESSION_ID_NOT_FOUND. Followers: no broker but this one has
//! a replica, so the replica id of another is answered with UNKNOWN_TOPIC_OR_PARTITION.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::messages::fetch_response::{EpochEndOffset, LeaderIdAndEpoch, PartitionData};
use milena_protocol::messages::{
    FetchPartition, FetchRequest, FetchResponse, FetchTopic, FetchableTopicResponse,
};
use milena_protocol::{ErrorCode, VersionRange};
use tokio::time::{Instant, timeout_at};

use super::RequestContext;
use crate::network::{Answer, CloseReason, Reply};
use crate::replica_manager::{Partition, ReplicaManager, Waiter, error_code};

pub(super) const VERSIONS: VersionRange = VersionRange::new(4, 18);

/// `fetch.max.bytes` of the broker: the most that one answer holds, whatever the client asks for.
const FETCH_MAX_BYTES: usize = 55 * 1024 * 1024;
/// The most that an answer waits. Clients ask for half a second; one that asks for years only wants to keep us busy.
const MAX_WAIT: Duration = Duration::from_mins(5);
const TOPIC_ID_VERSION: i16 = 13;
const READ_COMMITTED: i8 = 1;
/// The session epoch of a fetch that closes its session, or never had one (`FetchMetadata.FINAL_EPOCH`).
const FINAL_EPOCH: i32 = -1;
const INITIAL_EPOCH: i32 = 0;

/// The answer is read when it is its turn to be written, so a connection never holds two of them in memory.
pub(super) fn handle(request: FetchRequest, context: RequestContext) -> Result<Reply, CloseReason> {
    let wait = Duration::from_millis(u64::try_from(request.max_wait_ms).unwrap_or(0)).min(MAX_WAIT);
    let deadline = Instant::now() + wait;
    Ok(Reply::Later(Box::pin(answer(request, context, deadline))))
}

async fn answer(request: FetchRequest, context: RequestContext, deadline: Instant) -> Answer {
    let in_session =
        request.session_id != 0 && ![INITIAL_EPOCH, FINAL_EPOCH].contains(&request.session_epoch);
    if in_session {
        let error_code = ErrorCode::FETCH_SESSION_ID_NOT_FOUND;
        return context.encode(&FetchResponse { error_code, ..Default::default() }).map(Some);
    }
    let fetch = Fetch::new(request, &context);
    let response = fetch.wait_and_read(deadline).await;
    context.encode(&response).map(Some)
}

/// A fetch whose partitions have been looked up.
struct Fetch {
    max_bytes: usize,
    min_bytes: usize,
    read_committed: bool,
    topics: Vec<FetchedTopic>,
    replicas: Arc<ReplicaManager>,
}

struct FetchedTopic {
    topic: FetchTopic,
    /// One for each of `topic.partitions`.
    partitions: Vec<Result<Arc<Partition>, ErrorCode>>,
}

/// What one look at all partitions found.
struct Found {
    response: FetchResponse,
    bytes: usize,
    /// Something that the client should hear of at once.
    urgent: bool,
}

impl Fetch {
    fn new(mut request: FetchRequest, context: &RequestContext) -> Self {
        let replica_id = request.replica_id.max(request.replica_state.replica_id);
        let by_id = context.version() >= TOPIC_ID_VERSION;
        let topics = std::mem::take(&mut request.topics).into_iter().map(|topic| {
            let name =
                if by_id { context.topic_name(topic.topic_id) } else { Ok(Arc::from(topic.topic.as_str())) };
            let find = |partition: &FetchPartition| match &name {
                Ok(_) if replica_id >= 0 => Err(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
                Ok(name) => context.node.replica_manager.partition(name, partition.partition),
                Err(code) => Err(*code),
            };
            let partitions = topic.partitions.iter().map(find).collect();
            FetchedTopic { topic, partitions }
        });
        Self {
            max_bytes: usize::try_from(request.max_bytes).unwrap_or(0).min(FETCH_MAX_BYTES),
            min_bytes: usize::try_from(request.min_bytes).unwrap_or(0),
            read_committed: request.isolation_level == READ_COMMITTED,
            topics: topics.collect(),
            replicas: context.node.replica_manager.clone(),
        }
    }

    /// Reads at once, and if that is too little, again when enough has been appended or the time is over.
    async fn wait_and_read(&self, deadline: Instant) -> FetchResponse {
        let waiter = Arc::new(Waiter::default());
        // Before the first look, so that no append slips in between.
        let _registrations: Vec<_> = self.partitions().map(|partition| partition.register(&waiter)).collect();
        loop {
            let appended = self.appended_bytes();
            let found = self.read();
            if self.replicas.is_stopping() || found.urgent || found.bytes >= self.min_bytes {
                return found.response;
            }
            let missing = (self.min_bytes - found.bytes) as u64;
            let enough = async {
                loop {
                    waiter.woken().await;
                    // What other than an append woke us changes what a look finds.
                    let added = self.appended_bytes().wrapping_sub(appended);
                    if added == 0 || added >= missing {
                        return;
                    }
                }
            };
            if timeout_at(deadline, enough).await.is_err() {
                return self.read().response;
            }
        }
    }

    fn partitions(&self) -> impl Iterator<Item = &Arc<Partition>> {
        self.topics.iter().flat_map(|topic| &topic.partitions).filter_map(|partition| partition.as_ref().ok())
    }

    fn appended_bytes(&self) -> u64 {
        self.partitions().fold(0, |sum, partition| sum.wrapping_add(partition.appended_bytes()))
    }

    fn read(&self) -> Found {
        let mut found = Found { response: FetchResponse::default(), bytes: 0, urgent: false };
        for topic in &self.topics {
            let asked = topic.topic.partitions.iter().zip(&topic.partitions);
            let partitions =
                asked.map(|(asked, partition)| self.read_partition(asked, partition, &mut found));
            let partitions = partitions.collect();
            found.response.responses.push(FetchableTopicResponse {
                topic: topic.topic.topic.clone(),
                topic_id: topic.topic.topic_id,
                partitions,
            });
        }
        found
    }

    fn read_partition(
        &self,
        asked: &FetchPartition,
        partition: &Result<Arc<Partition>, ErrorCode>,
        found: &mut Found,
    ) -> PartitionData {
        let partition = match partition {
            Ok(partition) => partition,
            Err(code) => return refused(asked, *code, found),
        };
        if let Err(code) = partition.check_leader(asked.current_leader_epoch) {
            return refused(asked, code, found);
        }
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
        if let Some((epoch, end_offset)) =
            partition.diverging_epoch(asked.last_fetched_epoch, asked.fetch_offset)
        {
            data.diverging_epoch = EpochEndOffset { epoch, end_offset };
            found.urgent = true;
            return data;
        }
        let limit = usize::try_from(asked.partition_max_bytes).unwrap_or(0);
        let limit = limit.min(self.max_bytes.saturating_sub(found.bytes));
        let first = found.bytes == 0;
        let bound = if self.read_committed { data.last_stable_offset } else { data.high_watermark };
        match partition.reader().read(asked.fetch_offset, limit, bound, first) {
            Ok(read) => {
                found.bytes += read.records.len();
                data.records = Some(read.records);
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
