//! What brokers answer, and what becomes of the batches (`Sender.handleProduceResponse`, `completeBatch`).

use std::{sync::Arc, time::Duration};

use milena_protocol::{
    ErrorCode, Uuid,
    messages::{PartitionProduceResponse, ProduceRequest, ProduceResponse, produce_response::NodeEndpoint},
};

use super::{InFlightBatch, InFlightProduce, Sender};
use crate::{
    cluster::Node,
    config::Acks,
    metadata::{LeaderHint, Metadata, RefreshReason},
    network::{Completion, NetworkClient, NodeId, RequestFailure, Response},
    producer::{
        ProduceError, completion::Outcome, producer_batch::ProducerBatch, transaction_manager::not_authorized,
    },
    time::Instant,
};

/// From this version on the client itself keeps to what a broker asks of it with throttle_time_ms (KIP-219).
const FIRST_VERSION_TO_THROTTLE: i16 = 6;

/// How one try of a batch ended.
enum Answer {
    /// The broker has it.
    Written { base_offset: Option<i64>, log_append_time: Option<i64> },
    /// The broker answered an error.
    Error(Box<PartitionProduceResponse>),
    /// There is no answer: the broker may have it.
    Unknown { cause: Arc<str> },
    /// It was not sent, and cannot be.
    Unusable { cause: Arc<str> },
}

/// What to do with a batch that is not written.
enum Verdict {
    /// Again, after the backoff.
    Retry,
    /// Again when those before it are through; the broker is not to be spared.
    RetryInTurn,
    /// The sequence begins anew, and then again.
    Renumber,
    /// As smaller ones.
    Split,
    /// Not again.
    Fail(Outcome),
    /// Not again, and nothing else either.
    Fatal(ProduceError),
}

impl Sender {
    pub(super) fn handle_produce(
        &mut self,
        request: InFlightProduce,
        completion: Completion,
        metadata: &mut Metadata,
        network: &mut NetworkClient,
        now: Instant,
    ) {
        match completion.result {
            Ok(_) if self.settings.acks == Acks::None => {
                for in_flight in request.batches {
                    let written = Answer::Written { base_offset: None, log_append_time: None };
                    self.end_try(in_flight, written, metadata, now);
                }
            }
            Ok(response) => self.handle_response(request, &response, metadata, network, now),
            Err(failure) => {
                let cause: Arc<str> = failure.to_string().into();
                for in_flight in request.batches {
                    let cause = Arc::clone(&cause);
                    let answer = match failure {
                        RequestFailure::UnsupportedVersion { .. } | RequestFailure::Encode(_) => {
                            Answer::Unusable { cause }
                        }
                        RequestFailure::Disconnected { .. }
                        | RequestFailure::TimedOut { .. }
                        | RequestFailure::Closed => Answer::Unknown { cause },
                    };
                    self.end_try(in_flight, answer, metadata, now);
                }
            }
        }
    }

    fn handle_response(
        &mut self,
        request: InFlightProduce,
        response: &Response,
        metadata: &mut Metadata,
        network: &mut NetworkClient,
        now: Instant,
    ) {
        let answer = match response.decode::<ProduceRequest>() {
            Ok(answer) => answer,
            Err(error) => {
                network.undecodable(request.node, &error, now);
                let cause: Arc<str> = format!("the broker's answer cannot be decoded: {error}").into();
                for in_flight in request.batches {
                    self.end_try(in_flight, Answer::Unknown { cause: Arc::clone(&cause) }, metadata, now);
                }
                return;
            }
        };
        if response.version >= FIRST_VERSION_TO_THROTTLE {
            let throttle = u64::try_from(answer.throttle_time_ms).unwrap_or(0);
            network.throttle(request.node, Duration::from_millis(throttle), now);
        }
        let nodes: Vec<Node> = answer.node_endpoints.iter().filter_map(node_of).collect();
        for (in_flight, answer) in self.pair(request.batches, answer) {
            let answer = match answer {
                None => Answer::Unknown { cause: "the broker's answer does not name the partition".into() },
                Some(answer) if answer.error_code.is_ok() => Answer::Written {
                    base_offset: Some(answer.base_offset).filter(|offset| *offset >= 0),
                    log_append_time: Some(answer.log_append_time_ms).filter(|time| *time >= 0),
                },
                Some(answer) => {
                    self.apply_hint(&in_flight, &answer, &nodes, metadata);
                    Answer::Error(Box::new(answer))
                }
            };
            self.end_try(in_flight, answer, metadata, now);
        }
    }

    /// Each batch with what the answer says of it. Brokers answer in the order of the request, mostly.
    fn pair(
        &self,
        batches: Vec<InFlightBatch>,
        answer: ProduceResponse,
    ) -> Vec<(InFlightBatch, Option<PartitionProduceResponse>)> {
        let mut paired: Vec<_> = batches.into_iter().map(|in_flight| (in_flight, None)).collect();
        let mut place = 0;
        for topic in answer.responses {
            for partition in topic.partition_responses {
                let is_it = |(in_flight, taken): &(InFlightBatch, Option<PartitionProduceResponse>)| {
                    taken.is_none() && self.names(in_flight, &topic.name, topic.topic_id, partition.index)
                };
                let found = match paired.get(place) {
                    Some(next) if is_it(next) => Some(place),
                    _ => paired.iter().position(is_it),
                };
                if let Some(found) = found {
                    paired[found].1 = Some(partition);
                    place = found + 1;
                }
            }
        }
        paired
    }

    fn names(&self, in_flight: &InFlightBatch, topic: &str, topic_id: Uuid, partition: i32) -> bool {
        let Some(Some(state)) = self.partitions.get(in_flight.partition) else { return false };
        let same_topic = match topic_id.is_zero() {
            true => *state.queue.topic == *topic,
            false => in_flight.topic_id == topic_id,
        };
        same_topic && state.queue.partition == partition
    }

    /// A broker that is not the leader says who is (KIP-951): then nobody needs to ask (client.md 7).
    fn apply_hint(
        &mut self,
        in_flight: &InFlightBatch,
        answer: &PartitionProduceResponse,
        nodes: &[Node],
        metadata: &mut Metadata,
    ) {
        let Some(Some(partition)) = self.partitions.get_mut(in_flight.partition) else { return };
        let leader = &answer.current_leader;
        if !answer.error_code.is_invalid_metadata() || leader.leader_epoch < 0 {
            return;
        }
        let hint = LeaderHint { leader_id: leader.leader_id, leader_epoch: leader.leader_epoch };
        let (topic, id) = (&partition.queue.topic, partition.queue.partition);
        // Of a topic that was created again since, an old leader knows nothing: its epochs are another topic's.
        let sent_to = in_flight.topic_id;
        if !sent_to.is_zero() && metadata.cluster().topic_id(topic).is_some_and(|now| now != sent_to) {
            return;
        }
        if !metadata.apply_leader_hint(topic, id, hint, nodes) {
            metadata.last_seen_epoch_newer(topic, id, hint.leader_epoch);
        }
    }

    /// A batch comes back from the wire.
    fn end_try(&mut self, in_flight: InFlightBatch, answer: Answer, metadata: &mut Metadata, now: Instant) {
        let InFlightBatch { partition: id, mut batch, .. } = in_flight;
        let Some(Some(partition)) = self.partitions.get_mut(id) else { return };
        let asked = partition.in_flight_node;
        partition.returned();
        let others_in_flight = partition.in_flight > 0;
        let answer = match answer {
            Answer::Error(answer) if answer.error_code == ErrorCode::DUPLICATE_SEQUENCE_NUMBER => {
                // It was written by an earlier try; where, the broker does not say (client.md 31).
                Answer::Written { base_offset: None, log_append_time: None }
            }
            answer => answer,
        };
        if let Answer::Written { base_offset, log_append_time } = answer {
            partition.acknowledged(batch.order);
            batch.complete(Outcome::Acknowledged { base_offset, log_append_time });
        } else {
            self.demand_refresh(&answer, metadata);
            let in_doubt = batch.may_be_written;
            note_error(&mut batch, &answer);
            if batch.is_complete() {
                // It expired in flight. Whether it is written is for those behind it to find out.
                self.lost(id, &batch);
            } else {
                let in_flight_before = others_in_flight && self.is_behind_another(id, batch.order);
                let mut verdict = self.verdict(id, &batch, answer, in_flight_before);
                if in_doubt && matches!(verdict, Verdict::Renumber) && self.dispute(id, asked, metadata, now)
                {
                    batch.may_be_written = true;
                    verdict = Verdict::Retry;
                }
                self.carry_out(id, batch, verdict, now);
                // Where it may go depends on where it was.
                self.routes_stale = true;
            }
        }
        self.resolve(id);
    }

    /// Whether a batch of the partition that comes before this one is in flight.
    fn is_behind_another(&self, id: usize, order: u64) -> bool {
        let all = self.in_flight.values().flat_map(|request| &request.batches);
        all.filter(|other| other.partition == id).any(|other| other.batch.order < order)
    }

    /// Whether a broker that lacks a batch which may be written elsewhere is not believed yet; then others are asked who leads.
    fn dispute(&mut self, id: usize, asked: Option<NodeId>, metadata: &mut Metadata, now: Instant) -> bool {
        let (Some(Some(partition)), Some(node)) = (self.partitions.get_mut(id), asked) else { return false };
        let disputed = !partition.is_lack_confirmed(node, metadata, now);
        if disputed {
            metadata.doubt(node, RefreshReason::Stale(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER));
        }
        disputed
    }

    /// Connections that end demand a refresh by themselves.
    fn demand_refresh(&self, answer: &Answer, metadata: &mut Metadata) {
        if let Answer::Error(answer) = answer {
            let code = answer.error_code;
            let unknown_id = code == ErrorCode::UNKNOWN_TOPIC_ID || code == ErrorCode::INCONSISTENT_TOPIC_ID;
            if code.is_invalid_metadata() || unknown_id {
                metadata.request_update(RefreshReason::Stale(code));
            }
        }
    }

    fn verdict(&self, id: usize, batch: &ProducerBatch, answer: Answer, in_flight_before: bool) -> Verdict {
        let completion = batch.completion();
        let (topic, partition) = (Arc::clone(completion.topic()), completion.partition());
        let fail = |error| Verdict::Fail(Outcome::Failed(error));
        match answer {
            Answer::Error(answer) => self.verdict_of_error(id, batch, &answer, in_flight_before),
            Answer::Unknown { .. } if self.may_retry(batch) => Verdict::Retry,
            Answer::Unknown { cause } => fail(ProduceError::Disconnected { topic, partition, cause }),
            Answer::Unusable { cause } => fail(ProduceError::Unusable { topic, partition, cause }),
            Answer::Written { .. } => Verdict::Retry,
        }
    }

    fn verdict_of_error(
        &self,
        id: usize,
        batch: &ProducerBatch,
        answer: &PartitionProduceResponse,
        in_flight_before: bool,
    ) -> Verdict {
        let code = answer.error_code;
        let idempotent = self.transactions.is_some();
        if let (Some(transactions), Some(sequence)) = (&self.transactions, batch.sequence) {
            let current = transactions.identity() == Some(sequence.identity);
            match code {
                ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER => {
                    let Some(Some(partition)) = self.partitions.get(id) else { return Verdict::Retry };
                    return match partition.is_first(batch, in_flight_before) {
                        true => Verdict::Renumber,
                        false => Verdict::RetryInTurn,
                    };
                }
                // Without the log's start the broker does not know enough itself: it soon will.
                ErrorCode::UNKNOWN_PRODUCER_ID if answer.log_start_offset < 0 => return Verdict::Retry,
                ErrorCode::UNKNOWN_PRODUCER_ID => return Verdict::Renumber,
                ErrorCode::INVALID_PRODUCER_EPOCH if !current => return Verdict::Renumber,
                ErrorCode::PRODUCER_FENCED => {
                    let cause =
                        "another producer with the same id has a newer epoch: this one is fenced off".into();
                    return Verdict::Fatal(ProduceError::Fatal { code: Some(code), cause });
                }
                _ => {}
            }
        }
        match code {
            // If an earlier try was written, smaller batches would be written as well: nothing tells that they are the same.
            ErrorCode::MESSAGE_TOO_LARGE if batch.records > 1 && !(idempotent && batch.may_be_written) => {
                Verdict::Split
            }
            ErrorCode::CLUSTER_AUTHORIZATION_FAILED => Verdict::Fatal(not_authorized()),
            _ if (code.is_retriable() || is_topic_id_error(code)) && self.may_retry(batch) => Verdict::Retry,
            _ => Verdict::Fail(refusal(batch, answer)),
        }
    }

    fn may_retry(&self, batch: &ProducerBatch) -> bool {
        batch.attempts <= self.settings.retries
    }

    fn carry_out(&mut self, id: usize, mut batch: ProducerBatch, verdict: Verdict, now: Instant) {
        let Some(Some(partition)) = self.partitions.get_mut(id) else { return };
        if partition.is_written(&batch) && !matches!(verdict, Verdict::Retry) {
            batch.complete(Outcome::WRITTEN);
            return;
        }
        match verdict {
            // Nothing is sent again after its time, and nothing fails before (client.md 27): expiry sees to it.
            Verdict::Retry => {
                let wait = self.backoff.after(batch.attempts.saturating_sub(1), &mut self.rng);
                batch.retry_at = now + wait;
                partition.requeue(batch);
            }
            Verdict::RetryInTurn => {
                batch.retry_at = now;
                partition.requeue(batch);
            }
            Verdict::Renumber => {
                // At once, but not again and again: a broker that takes no sequence at all is to be spared.
                let again = batch.attempts.checked_sub(2);
                let wait = again.map(|attempts| self.backoff.after(attempts, &mut self.rng));
                batch.retry_at = now + wait.unwrap_or_default();
                partition.break_sequence();
                partition.requeue(batch);
            }
            Verdict::Split => self.split(id, batch),
            Verdict::Fail(outcome) => {
                partition.lost(&batch);
                batch.complete(outcome);
            }
            Verdict::Fatal(error) => {
                partition.lost(&batch);
                batch.complete(Outcome::Failed(error.clone()));
                self.fail_fatally(error);
            }
        }
    }

    /// MESSAGE_TOO_LARGE: the batch goes as smaller ones, and later ones do not grow as large.
    fn split(&mut self, id: usize, mut batch: ProducerBatch) {
        let Some(Some(partition)) = self.partitions.get_mut(id) else { return };
        let size = batch.size();
        let batch_size = self.settings.batch_size;
        let target = if size > batch_size { batch_size } else { size / 2 };
        match batch.split(target, self.settings.compression_level, self.accumulator.pool()) {
            Ok(pieces) => {
                partition.queue.lower_max_batch(target.max(1));
                tracing::debug!(?partition.queue, size, pieces = pieces.len(), "the batch was too large: split");
                for piece in pieces {
                    partition.requeue(piece);
                }
            }
            Err(error) => {
                partition.lost(&batch);
                let (topic, partition) = (Arc::clone(&partition.queue.topic), partition.queue.partition);
                let cause =
                    format!("the batch is too large for the broker and cannot be split: {error}").into();
                batch.complete(Outcome::Failed(ProduceError::Encoding { topic, partition, cause }));
            }
        }
    }

    fn lost(&mut self, id: usize, batch: &ProducerBatch) {
        if let Some(Some(partition)) = self.partitions.get_mut(id) {
            partition.lost(batch);
        }
    }

    /// Begins the partition's sequence anew, if that is due and possible now.
    pub(super) fn resolve(&mut self, id: usize) {
        if let (Some(Some(partition)), Some(transactions)) =
            (self.partitions.get_mut(id), &mut self.transactions)
        {
            partition.resolve(transactions);
        }
    }
}

fn is_topic_id_error(code: ErrorCode) -> bool {
    code == ErrorCode::UNKNOWN_TOPIC_ID || code == ErrorCode::INCONSISTENT_TOPIC_ID
}

/// What an expired batch names as its cause, and whether a broker may have it.
fn note_error(batch: &mut ProducerBatch, answer: &Answer) {
    match answer {
        Answer::Written { .. } => {}
        Answer::Unknown { cause } => {
            batch.may_be_written = true;
            batch.last_error = Some(Arc::clone(cause));
        }
        Answer::Unusable { cause } => batch.last_error = Some(Arc::clone(cause)),
        Answer::Error(answer) => {
            let code = answer.error_code;
            batch.may_be_written = match code {
                // The broker has looked for the batch and has not got it: not from an earlier try either.
                ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER
                | ErrorCode::UNKNOWN_PRODUCER_ID
                | ErrorCode::INVALID_PRODUCER_EPOCH => false,
                _ => batch.may_be_written || may_be_written(code),
            };
            let text = match &answer.error_message {
                Some(message) => format!("{code}: {message}"),
                None => format!("{code}: {}", code.message()),
            };
            batch.last_error = Some(text.into());
        }
    }
}

/// Errors that are also answered when the records were written and only their replication is in doubt.
fn may_be_written(code: ErrorCode) -> bool {
    let refused_first = [
        ErrorCode::NOT_ENOUGH_REPLICAS,
        ErrorCode::UNKNOWN_TOPIC_ID,
        ErrorCode::INCONSISTENT_TOPIC_ID,
        ErrorCode::CORRUPT_MESSAGE,
        ErrorCode::MESSAGE_TOO_LARGE,
        ErrorCode::TOPIC_AUTHORIZATION_FAILED,
    ];
    !refused_first.contains(&code)
}

/// The error for each record of a batch that the broker refused (KIP-467).
fn refusal(batch: &ProducerBatch, answer: &PartitionProduceResponse) -> Outcome {
    let code = answer.error_code;
    let text = |text: &Option<String>| text.as_deref().map(Arc::from);
    if answer.record_errors.is_empty() {
        let completion = batch.completion();
        return Outcome::Failed(ProduceError::Refused {
            topic: Arc::clone(completion.topic()),
            partition: completion.partition(),
            code,
            message: text(&answer.error_message),
        });
    }
    let records = answer.record_errors.iter().filter_map(|error| {
        let index = u32::try_from(error.batch_index).ok()?;
        Some((index, text(&error.batch_index_error_message).or_else(|| text(&answer.error_message))))
    });
    Outcome::Refused { code, records: records.collect() }
}

fn node_of(endpoint: &NodeEndpoint) -> Option<Node> {
    Some(Node {
        id: endpoint.node_id,
        host: endpoint.host.as_str().into(),
        port: u16::try_from(endpoint.port).ok()?,
        rack: endpoint.rack.as_deref().map(Arc::from),
    })
}
