//! What goes over the wire, in words, for the trace.

use std::fmt::Write;

use bytes::Bytes;
use milena_protocol::messages::{
    AlterPartitionRequest, AlterPartitionResponse, LeaderAndIsrRequest, ProduceRequest, ProduceResponse,
};
use milena_protocol::records::BatchHeader;
use milena_protocol::{
    ApiKey, Decoder, ErrorCode, Message, RequestHead, decode_request_head, decode_response_header,
};

/// A request of which the trace has more to say than its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    api: ApiKey,
    version: i16,
}

/// A request in words, unless it is one of the many that say little.
pub(crate) fn request(frame: &Bytes) -> Option<(Seen, String)> {
    let mut decoder = Decoder::new(frame.clone());
    let head: RequestHead = decode_request_head(&mut decoder).ok()?;
    let seen = Seen { api: head.api()?, version: head.api_version };
    let said = match seen.api {
        ApiKey::Produce => produce(&ProduceRequest::decode(&mut decoder, seen.version).ok()?),
        ApiKey::AlterPartition => {
            alter_partition(&AlterPartitionRequest::decode(&mut decoder, seen.version).ok()?)
        }
        ApiKey::LeaderAndIsr => {
            leader_and_isr(&LeaderAndIsrRequest::decode(&mut decoder, seen.version).ok()?)
        }
        ApiKey::StopReplica | ApiKey::ControlledShutdown | ApiKey::InitProducerId => String::new(),
        _ => return None,
    };
    Some((seen, format!("{}{said}", seen.api.name())))
}

fn produce(request: &ProduceRequest) -> String {
    let mut said = String::new();
    for data in request.topic_data.iter().flat_map(|topic| &topic.partition_data) {
        let Some(header) = data.records.as_ref().and_then(|records| BatchHeader::parse(records).ok()) else {
            continue;
        };
        let _infallible = write!(
            said,
            " [{}: {} records, producer {} epoch {} sequence {}]",
            data.index, header.record_count, header.producer_id, header.producer_epoch, header.base_sequence
        );
    }
    said
}

fn alter_partition(request: &AlterPartitionRequest) -> String {
    let mut said = format!(" of b{}", request.broker_id);
    for data in request.topics.iter().flat_map(|topic| &topic.partitions) {
        let isr: Vec<_> =
            data.new_isr_with_epochs.iter().map(|one| (one.broker_id, one.broker_epoch)).collect();
        let _infallible = write!(
            said,
            " [{}: epoch {}, version {}, in sync {isr:?}]",
            data.partition_index, data.leader_epoch, data.partition_epoch
        );
    }
    said
}

fn leader_and_isr(request: &LeaderAndIsrRequest) -> String {
    let mut said = format!(" of controller b{} epoch {}", request.controller_id, request.controller_epoch);
    for state in request.topic_states.iter().flat_map(|topic| &topic.partition_states) {
        let _infallible = write!(
            said,
            " [{}: b{} leads in epoch {}, version {}, in sync {:?}]",
            state.partition_index, state.leader, state.leader_epoch, state.partition_epoch, state.isr
        );
    }
    said
}

/// The answer to such a request in words.
pub(crate) fn answer(seen: Seen, frame: &Bytes) -> Option<String> {
    let mut decoder = Decoder::new(frame.slice(4..));
    decode_response_header(&mut decoder, seen.api, seen.version).ok()?;
    let mut said = format!("{} answered", seen.api.name());
    let mut tell = |partition: i32, code: ErrorCode, more: String| {
        let _infallible = write!(said, " [{partition}: {code}{more}]");
    };
    match seen.api {
        ApiKey::Produce => {
            let response = ProduceResponse::decode(&mut decoder, seen.version).ok()?;
            for answer in response.responses.iter().flat_map(|topic| &topic.partition_responses) {
                tell(answer.index, answer.error_code, format!(", at {}", answer.base_offset));
            }
        }
        ApiKey::AlterPartition => {
            let response = AlterPartitionResponse::decode(&mut decoder, seen.version).ok()?;
            tell(-1, response.error_code, String::new());
            for answer in response.topics.iter().flat_map(|topic| &topic.partitions) {
                let now = format!(
                    ", epoch {}, version {}, in sync {:?}",
                    answer.leader_epoch, answer.partition_epoch, answer.isr
                );
                tell(answer.partition_index, answer.error_code, now);
            }
        }
        _ => return None,
    }
    Some(said)
}
