//! Produce (key 0), versions 3 to 13.
//!
//! Served: acks 0, 1 and all; topics by name, and by id in version 13; sequence checks, a repeated batch being acknowledged
//! again with the offsets that it has. Batches are stored as they come: magic, CRC, size, record count against the last
//! offset delta, timestamps and the framing of uncompressed records are checked, compressed bodies are not inflated.
//! Versions 0 to 2 close the connection, as Kafka 4 does, though ApiVersions names them.
//! With acks=all the answer waits, for `timeout_ms` at most, until the high watermark has passed the records; that holds up
//! no other request of the connection, and later requests append meanwhile. Leader hints (KIP-951) from version 10 on.
//! Not served: transactional batches (INVALID_TXN_STATE); `record_errors`, since a batch is refused whole and the reason is
//! in `error_message`.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::messages::produce_response::{
    LeaderIdAndEpoch, NodeEndpoint, PartitionProduceResponse, TopicProduceResponse,
};
use milena_protocol::messages::{ProduceRequest, ProduceResponse, TopicProduceData};
use milena_protocol::records::{BatchHeader, Compression};
use milena_protocol::{ErrorCode, Uuid, VersionRange};
use milena_storage::FsyncPolicy;
use tokio::time::{Instant, timeout_at};

use super::RequestContext;
use super::leader_hints::LeaderHints;
use crate::blocking::blocking;
use crate::metadata_cache::is_internal_topic;
use crate::network::{CloseReason, Reply};
use crate::node::Node;
use crate::replica_manager::{Appended, Partition, Refusal, Waiter};

pub(super) const VERSIONS: VersionRange = VersionRange::new(3, 13);

const NO_ACKS: i16 = 0;
const LEADER_ACKS: i16 = 1;
const ALL_ACKS: i16 = -1;

/// The first version in which a batch may be compressed with zstd (KIP-110).
const ZSTD_VERSION: i16 = 7;
/// The first version that names topics by id (KIP-516).
const TOPIC_ID_VERSION: i16 = 13;
/// The first version that tells who leads instead (KIP-951).
const LEADER_HINT_VERSION: i16 = 10;
/// The most that an answer waits. Clients ask for half a minute; one that asks for weeks only wants to keep us busy.
const MAX_WAIT: Duration = Duration::from_mins(5);

pub(super) async fn handle(request: ProduceRequest, context: RequestContext) -> Result<Reply, CloseReason> {
    let acks = request.acks;
    let version = context.version();
    let wait = Duration::from_millis(u64::try_from(request.timeout_ms).unwrap_or(0)).min(MAX_WAIT);
    let appends = Appends { node: context.node.clone(), version, request, waiting: Vec::new() };
    context.node.faults.machine.before_append().await;
    // Under the operating system's policy an append is a copy into the page cache, which takes less time than handing
    // it to another thread. The other policies wait for the disk, and that must not stop the runtime.
    let (mut response, waiting) = match context.node.config.fsync {
        FsyncPolicy::Os => appends.run(),
        FsyncPolicy::EveryBatch | FsyncPolicy::Interval(_) => blocking(move || appends.run())
            .await
            .map_err(|_| CloseReason("the broker is stopping".to_owned()))?,
    };
    if acks == NO_ACKS {
        return unacknowledged(&response);
    }
    if waiting.is_empty() {
        add_leader_hints(&mut response, &context);
        return context.reply(&response);
    }
    let deadline = Instant::now() + wait;
    Ok(Reply::Later(Box::pin(async move {
        replicated(&mut response, waiting, &context, deadline).await;
        add_leader_hints(&mut response, &context);
        context.encode(&response).map(Some)
    })))
}

/// Records of an acks=all request that not every replica in sync has yet, and where their answer is.
struct Unreplicated {
    topic: usize,
    partition_response: usize,
    partition: Arc<Partition>,
    appended: Appended,
}

/// Waits until every record has reached the replicas in sync, or cannot, or the time is over, and says so in the answer
/// (Kafka: `DelayedProduce`).
async fn replicated(
    response: &mut ProduceResponse,
    mut waiting: Vec<Unreplicated>,
    context: &RequestContext,
    deadline: Instant,
) {
    let waiter = Arc::new(Waiter::default());
    // Before the first look, so that no move of the high watermark slips in between.
    let _registrations: Vec<_> = waiting.iter().map(|waits| waits.partition.register(&waiter)).collect();
    loop {
        let mut fail = |waits: &Unreplicated, code| fail_partition(response, waits, code);
        waiting.retain(|waits| match waits.partition.acknowledged(&waits.appended) {
            None => true,
            Some(Ok(())) => false,
            Some(Err(code)) => {
                fail(waits, code);
                false
            }
        });
        if waiting.is_empty() {
            return;
        }
        let over =
            context.node.replica_manager.is_stopping() || timeout_at(deadline, waiter.woken()).await.is_err();
        if over {
            for waits in &waiting {
                fail(waits, ErrorCode::REQUEST_TIMED_OUT);
            }
            return;
        }
    }
}

fn fail_partition(response: &mut ProduceResponse, waits: &Unreplicated, code: ErrorCode) {
    let topic = response.responses.get_mut(waits.topic);
    if let Some(answer) = topic.and_then(|topic| topic.partition_responses.get_mut(waits.partition_response))
    {
        *answer = self::answer(answer.index, Err(&code.into()));
    }
}

/// Tells who leads the partitions that moved away, and where it is to be reached.
fn add_leader_hints(response: &mut ProduceResponse, context: &RequestContext) {
    if context.version() < LEADER_HINT_VERSION {
        return;
    }
    let mut hints = LeaderHints::new(context);
    for topic in &mut response.responses {
        let name = || match context.version() < TOPIC_ID_VERSION {
            true => Some(topic.name.as_str().into()),
            false => context.topic_name(topic.topic_id).ok(),
        };
        for answer in &mut topic.partition_responses {
            if let Some((leader_id, leader_epoch)) = hints.leader(answer.error_code, name, answer.index) {
                answer.current_leader = LeaderIdAndEpoch { leader_id, leader_epoch };
            }
        }
    }
    response.node_endpoints =
        hints.endpoints(|node_id, at| NodeEndpoint { node_id, host: at.host, port: at.port, rack: at.rack });
}

/// With acks=0 there is no answer; when something failed, closing the connection is the only way to say so.
fn unacknowledged(response: &ProduceResponse) -> Result<Reply, CloseReason> {
    let partitions = response
        .responses
        .iter()
        .flat_map(|topic| topic.partition_responses.iter().map(move |partition| (&topic.name, partition)));
    match partitions.into_iter().find(|(_, partition)| !partition.error_code.is_ok()) {
        None => Ok(Reply::Now(None)),
        Some((topic, failed)) => Err(CloseReason(format!(
            "a produce request with acks=0 failed for {topic}-{}: {}",
            failed.index, failed.error_code
        ))),
    }
}

/// One request's appends, to be made here or on a blocking thread.
struct Appends {
    node: Arc<Node>,
    version: i16,
    request: ProduceRequest,
    waiting: Vec<Unreplicated>,
}

impl Appends {
    fn run(mut self) -> (ProduceResponse, Vec<Unreplicated>) {
        let topics = std::mem::take(&mut self.request.topic_data);
        let responses =
            topics.into_iter().enumerate().map(|(number, topic)| self.topic(number, topic)).collect();
        (ProduceResponse { responses, ..Default::default() }, self.waiting)
    }

    fn topic(&mut self, number: usize, topic: TopicProduceData) -> TopicProduceResponse {
        let name = self.topic_name(&topic);
        let mut partition_responses = Vec::with_capacity(topic.partition_data.len());
        for data in topic.partition_data {
            let result = match &name {
                Ok(name) => self.partition(name, topic.topic_id, data.index, data.records),
                Err(code) => Err((*code).into()),
            };
            partition_responses.push(answer(data.index, result.as_ref().map(|(_, appended)| appended)));
            match result {
                Ok((partition, appended))
                    if self.request.acks == ALL_ACKS && partition.acknowledged(&appended) != Some(Ok(())) =>
                {
                    self.waiting.push(Unreplicated {
                        topic: number,
                        partition_response: partition_responses.len() - 1,
                        partition,
                        appended,
                    });
                }
                Ok(_) | Err(_) => {}
            }
        }
        TopicProduceResponse { name: topic.name, topic_id: topic.topic_id, partition_responses }
    }

    fn topic_name(&self, topic: &TopicProduceData) -> Result<Arc<str>, ErrorCode> {
        if self.version < TOPIC_ID_VERSION {
            return Ok(topic.name.as_str().into());
        }
        let snapshot = self.node.metadata_cache.load();
        snapshot
            .topic_by_id(topic.topic_id)
            .map(|topic| topic.name.clone())
            .ok_or(ErrorCode::UNKNOWN_TOPIC_ID)
    }

    fn partition(
        &self,
        topic: &str,
        topic_id: Uuid,
        index: i32,
        records: Option<Bytes>,
    ) -> Result<(Arc<Partition>, Appended), Refusal> {
        if ![NO_ACKS, LEADER_ACKS, ALL_ACKS].contains(&self.request.acks) {
            return Err(ErrorCode::INVALID_REQUIRED_ACKS.into());
        }
        if is_internal_topic(topic) {
            return Err(ErrorCode::INVALID_TOPIC_EXCEPTION.into());
        }
        let records = records.unwrap_or_default();
        self.check_first_batch(&records)?;
        let partition = match self.version < TOPIC_ID_VERSION {
            true => self.node.partition(topic, index)?,
            false => self.node.partition_of(topic, topic_id, index)?,
        };
        let (acks_all, now) = (self.request.acks == ALL_ACKS, self.node.replica_manager.now());
        let appended = partition.append(records, acks_all, self.node.clock.now_ms(), now)?;
        Ok((partition, appended))
    }

    /// What depends on the request and not on the log (`ProduceRequest.validateRecords`).
    fn check_first_batch(&self, records: &Bytes) -> Result<(), Refusal> {
        let refuse = |code, message: &str| Err(Refusal { code, message: Some(message.to_owned()) });
        if records.is_empty() {
            return refuse(
                ErrorCode::INVALID_RECORD,
                "Produce requests must have at least one record batch per partition.",
            );
        }
        // A batch that cannot be read is refused where all of it is checked.
        let Ok(header) = BatchHeader::parse(records) else { return Ok(()) };
        if header.attributes.is_transactional() || self.request.transactional_id.is_some() {
            return refuse(ErrorCode::INVALID_TXN_STATE, "This broker does not serve transactions.");
        }
        if self.version < ZSTD_VERSION && header.attributes.compression() == Ok(Compression::Zstd) {
            return refuse(
                ErrorCode::UNSUPPORTED_COMPRESSION_TYPE,
                "Produce requests before version 7 are not allowed to use ZStandard compression.",
            );
        }
        Ok(())
    }
}

fn answer(index: i32, result: Result<&Appended, &Refusal>) -> PartitionProduceResponse {
    match result {
        Ok(Appended { info, .. }) => PartitionProduceResponse {
            index,
            base_offset: info.first_offset,
            log_append_time_ms: info.log_append_time.unwrap_or(-1),
            log_start_offset: info.log_start_offset,
            ..Default::default()
        },
        Err(refusal) => PartitionProduceResponse {
            index,
            error_code: refusal.code,
            base_offset: -1,
            error_message: refusal.message.clone(),
            ..Default::default()
        },
    }
}
