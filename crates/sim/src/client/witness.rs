//! [`Witness`]: which topic a producer's records went to, and which one they were acknowledged in.
//!
//! A topic that is deleted and created again keeps its name, so that what the producer itself says of a record does not
//! tell: the requests and answers on the wire do.

use std::collections::BTreeMap;

use bytes::Bytes;
use milena_core::network::ConnectionId;
use milena_protocol::messages::{ProduceRequest, ProduceResponse};
use milena_protocol::records::RecordBatches;
use milena_protocol::{
    ApiKey, Decoder, ErrorCode, Message, Uuid, decode_request_head, decode_response_header,
};

use crate::history::RecordId;

/// No batch of a run is larger.
const MAX_INFLATED: usize = 1 << 24;

/// What one partition was sent in a request.
struct Carried {
    topic_id: Uuid,
    partition: i32,
    records: Vec<RecordId>,
}

/// Listens to what one producer sends and gets.
#[derive(Default)]
pub(super) struct Witness {
    /// Requests that are not answered, each with its version.
    asked: BTreeMap<(ConnectionId, i32), (i16, Vec<Carried>)>,
    answered: BTreeMap<RecordId, Uuid>,
    last_answered: BTreeMap<i32, Uuid>,
}

impl Witness {
    /// A frame goes out, its length first. Answers what it carries, and to which topics.
    pub(super) fn sent(&mut self, connection: ConnectionId, frame: &Bytes) -> Vec<(RecordId, Uuid)> {
        let Some((correlation_id, version, request)) = produce(frame) else { return Vec::new() };
        let carried: Vec<Carried> = request
            .topic_data
            .iter()
            .flat_map(|topic| {
                topic.partition_data.iter().map(|data| Carried {
                    topic_id: topic.topic_id,
                    partition: data.index,
                    records: data.records.clone().map(record_ids).unwrap_or_default(),
                })
            })
            .collect();
        let all = carried.iter().flat_map(|one| one.records.iter().map(|record| (*record, one.topic_id)));
        let all = all.collect();
        self.asked.insert((connection, correlation_id), (version, carried));
        all
    }

    /// A frame came in, without its length.
    pub(super) fn received(&mut self, connection: ConnectionId, frame: &Bytes) {
        let Some(correlation_id) = frame.first_chunk().map(|id| i32::from_be_bytes(*id)) else { return };
        let Some((version, carried)) = self.asked.remove(&(connection, correlation_id)) else { return };
        let mut decoder = Decoder::new(frame.clone());
        if decode_response_header(&mut decoder, ApiKey::Produce, version).is_err() {
            return;
        }
        let Ok(response) = ProduceResponse::decode(&mut decoder, version) else { return };
        for topic in &response.responses {
            for answer in &topic.partition_responses {
                if !matches!(answer.error_code, ErrorCode::NONE | ErrorCode::DUPLICATE_SEQUENCE_NUMBER) {
                    continue;
                }
                self.last_answered.insert(answer.index, topic.topic_id);
                let is_meant =
                    |one: &&Carried| one.topic_id == topic.topic_id && one.partition == answer.index;
                for record in carried.iter().filter(is_meant).flat_map(|one| &one.records) {
                    self.answered.insert(*record, topic.topic_id);
                }
            }
        }
    }

    /// The topic in which a record of a partition, of which the producer says that it is acknowledged, is. One that has no
    /// answer of its own was written before one that has.
    pub(super) fn acknowledged_in(&mut self, record: RecordId, partition: i32) -> Option<Uuid> {
        self.answered.remove(&record).or_else(|| self.last_answered.get(&partition).copied())
    }
}

fn produce(frame: &Bytes) -> Option<(i32, i16, ProduceRequest)> {
    let mut decoder = Decoder::new(frame.slice(4..));
    let head = decode_request_head(&mut decoder).ok()?;
    if head.api()? != ApiKey::Produce {
        return None;
    }
    let request = ProduceRequest::decode(&mut decoder, head.api_version).ok()?;
    Some((head.correlation_id, head.api_version, request))
}

fn record_ids(records: Bytes) -> Vec<RecordId> {
    let batches = RecordBatches::new(records).flatten();
    let records = batches
        .flat_map(|batch| batch.records(MAX_INFLATED).into_iter().flatten().flatten().collect::<Vec<_>>());
    records.filter_map(|record| RecordId::parse(record.value.as_deref()?)).collect()
}
