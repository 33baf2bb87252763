//! Produce (key 0), versions 3 to 13.
//!
//! Served: acks 0, 1 and all; topics by name, and by id in version 13; sequence checks, a repeated batch being acknowledged
//! again with the offsets that it has. Batches are stored as they come: magic, CRC, size, record count against the last
//! offset delta, timestamps and the framing of uncompressed records are checked, compressed bodies are not inflated.
//! Versions 0 to 2 close the connection, as Kafka 4 does, though ApiVersions names them.
//! Not served: transactional batches (INVALID_TXN_STATE); `record_errors`, since a batch is refused whole and the reason is
//! in `error_message`; leader hints (KIP-951), since nobody else can lead. `timeout_ms` is not looked at, because no
//! replica has to be waited for.

use std::sync::Arc;

use bytes::Bytes;
use milena_protocol::messages::produce_response::{PartitionProduceResponse, TopicProduceResponse};
use milena_protocol::messages::{PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData};
use milena_protocol::records::{BatchHeader, Compression};
use milena_protocol::{ErrorCode, VersionRange};
use milena_storage::FsyncPolicy;

use super::RequestContext;
use crate::metadata_cache::is_internal_topic;
use crate::network::{CloseReason, Reply};
use crate::node::Node;
use crate::replica_manager::{Appended, Refusal};

pub(super) const VERSIONS: VersionRange = VersionRange::new(3, 13);

const NO_ACKS: i16 = 0;
const LEADER_ACKS: i16 = 1;
const ALL_ACKS: i16 = -1;

/// The first version in which a batch may be compressed with zstd (KIP-110).
const ZSTD_VERSION: i16 = 7;
/// The first version that names topics by id (KIP-516).
const TOPIC_ID_VERSION: i16 = 13;

pub(super) async fn handle(request: ProduceRequest, context: RequestContext) -> Result<Reply, CloseReason> {
    let acks = request.acks;
    let version = context.version();
    let appends = Appends { node: context.node.clone(), version, request };
    // Under the operating system's policy an append is a copy into the page cache, which takes less time than handing
    // it to another thread. The other policies wait for the disk, and that must not stop the runtime.
    let response = match context.node.config.fsync {
        FsyncPolicy::Os => appends.run(),
        FsyncPolicy::EveryBatch | FsyncPolicy::Interval(_) => {
            tokio::task::spawn_blocking(move || appends.run())
                .await
                .map_err(|_| CloseReason("the broker is stopping".to_owned()))?
        }
    };
    if acks == NO_ACKS {
        return unacknowledged(&response);
    }
    context.reply(&response)
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
}

impl Appends {
    fn run(mut self) -> ProduceResponse {
        let topics = std::mem::take(&mut self.request.topic_data);
        let responses = topics.into_iter().map(|topic| self.topic(topic)).collect();
        ProduceResponse { responses, ..Default::default() }
    }

    fn topic(&self, topic: TopicProduceData) -> TopicProduceResponse {
        let name = self.topic_name(&topic);
        let append = |data: PartitionProduceData| {
            let result = match &name {
                Ok(name) => self.partition(name, data.index, data.records),
                Err(code) => Err((*code).into()),
            };
            answer(data.index, result)
        };
        let partition_responses = topic.partition_data.into_iter().map(append).collect();
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

    fn partition(&self, topic: &str, index: i32, records: Option<Bytes>) -> Result<Appended, Refusal> {
        if ![NO_ACKS, LEADER_ACKS, ALL_ACKS].contains(&self.request.acks) {
            return Err(ErrorCode::INVALID_REQUIRED_ACKS.into());
        }
        if is_internal_topic(topic) {
            return Err(ErrorCode::INVALID_TOPIC_EXCEPTION.into());
        }
        let records = records.unwrap_or_default();
        self.check_first_batch(&records)?;
        let partition = self.node.replica_manager.partition(topic, index)?;
        partition.append(records, self.request.acks == ALL_ACKS, self.node.clock.now_ms())
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

fn answer(index: i32, result: Result<Appended, Refusal>) -> PartitionProduceResponse {
    match result {
        Ok(appended) => PartitionProduceResponse {
            index,
            base_offset: appended.first_offset,
            log_append_time_ms: appended.log_append_time.unwrap_or(-1),
            log_start_offset: appended.log_start_offset,
            ..Default::default()
        },
        Err(refusal) => PartitionProduceResponse {
            index,
            error_code: refusal.code,
            base_offset: -1,
            error_message: refusal.message,
            ..Default::default()
        },
    }
}
