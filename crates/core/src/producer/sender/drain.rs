//! From ready partitions to requests (`RecordAccumulator.drainBatchesForOneNode`, `Sender.sendProduceRequest`).

use std::sync::Arc;

use bytes::Bytes;
use milena_protocol::{
    Message, VersionRange,
    messages::{PartitionProduceData, ProduceRequest, TopicProduceData},
    records::Compression,
};

use super::{InFlightBatch, InFlightProduce, Sender};
use crate::{
    config::Acks,
    engine::Command,
    network::{ClientRequest, NetworkClient, NodeId},
    producer::{
        CompressionJob, ProduceError, completion::Outcome, partition_state::PartitionState,
        producer_batch::ProducerBatch, transaction_manager::TransactionManager,
    },
    time::Instant,
};

/// The last version in which topics go by name: what is sent while a topic's id is not known (KIP-516).
const LAST_VERSION_WITH_NAMES: i16 = 12;

/// A drained batch and its bytes.
struct Drained {
    partition: usize,
    batch: ProducerBatch,
    bytes: Bytes,
}

impl Sender {
    /// Sends to each node what is ready, as long as it takes requests.
    pub(super) fn send_all(&mut self, network: &mut NetworkClient, now: Instant) {
        if self.transactions.as_ref().is_some_and(|transactions| transactions.identity().is_none()) {
            // Connections are opened meanwhile: the first record must not wait for them as well.
            self.connect_ready(network, now);
            return;
        }
        let nodes: Vec<NodeId> = self.nodes.keys().copied().collect();
        for node in nodes {
            self.send_to(node, network, now);
        }
    }

    fn connect_ready(&mut self, network: &mut NetworkClient, now: Instant) {
        let nodes: Vec<NodeId> = self.nodes.keys().copied().collect();
        let pressure = self.pressure();
        for node in nodes {
            if self.is_ready(node, network, pressure, now) && !network.ready(node, now) {
                self.wake_at = self.wake_at.min(network.poll_delay(node, now));
            }
        }
    }

    fn send_to(&mut self, node: NodeId, network: &mut NetworkClient, now: Instant) {
        self.note_availability(node, network.can_send(node, now), now);
        if network.is_suspected(node) {
            return self.probe(node, network, now);
        }
        while self.is_ready(node, network, self.pressure(), now) {
            if !(network.ready(node, now) && network.can_send(node, now)) {
                self.wake_at = self.wake_at.min(network.poll_delay(node, now));
                return;
            }
            let drained = self.drain(node, now);
            if drained.is_empty() || !self.send_request(node, drained, network, now) {
                return;
            }
        }
    }

    /// For partitioner.availability.timeout.ms: since when the node has had something to take and did not.
    fn note_availability(&mut self, node: NodeId, can_send: bool, now: Instant) {
        let Some(queue) = self.nodes.get_mut(&node).filter(|_| !self.settings.availability_timeout.is_zero())
        else {
            return;
        };
        let mut partitions = queue.partitions.iter().filter_map(|id| self.partitions.get(*id)?.as_ref());
        if can_send || queue.drained_at.is_none() {
            queue.drained_at = Some(now);
        }
        if partitions.any(|partition| !partition.waiting.is_empty() || partition.queue.oldest().is_some()) {
            queue.ready_at = Some(now);
        }
    }

    /// Takes one batch of each of the node's partitions, up to max.request.size, and begins one further each time, or where it was full.
    /// A blocked partition is skipped; a first batch goes whatever its size.
    fn drain(&mut self, node: NodeId, now: Instant) -> Vec<Drained> {
        let Some(queue) = self.nodes.get(&node) else { return Vec::new() };
        let count = queue.partitions.len();
        let start = queue.next;
        let mut drained: Vec<Drained> = Vec::with_capacity(count);
        let mut size = 0;
        let mut next = start + 1;
        for step in 0..count {
            let place = (start + step) % count;
            let Some(id) = self.nodes.get(&node).and_then(|queue| queue.partitions.get(place)).copied()
            else {
                continue;
            };
            let room = match drained.is_empty() {
                true => usize::MAX,
                false => self.settings.max_request_size.saturating_sub(size),
            };
            match self.drain_partition(id, room, now) {
                Ok(Some((batch, bytes))) => {
                    size += bytes.len();
                    drained.push(Drained { partition: id, batch, bytes });
                }
                Ok(None) => {}
                Err(NoRoom) => {
                    next = place;
                    break;
                }
            }
        }
        if let Some(queue) = self.nodes.get_mut(&node) {
            queue.next = next % count.max(1);
        }
        drained
    }

    /// The partition's next batch, sealed, if it may go and has room.
    fn drain_partition(
        &mut self,
        id: usize,
        room: usize,
        now: Instant,
    ) -> Result<Option<(ProducerBatch, Bytes)>, NoRoom> {
        let Self { settings, transactions, accumulator, commands, .. } = self;
        let Some(Some(partition)) = self.partitions.get_mut(id) else { return Ok(None) };
        if partition.blocked(transactions.is_some(), settings.in_order, now).is_some() {
            return Ok(None);
        }
        let mut batch = match partition.waiting.front() {
            Some(first) if first.size() > room => return Err(NoRoom),
            Some(_) => match partition.waiting.pop_front() {
                Some(first) => first,
                None => return Ok(None),
            },
            None if partition.compressing => return Ok(None),
            None if settings.compression != Compression::None => {
                if let Some(open) = partition.queue.take() {
                    let (codec, level) = (settings.compression, settings.compression_level);
                    let job = CompressionJob::new(id, open, codec, level);
                    partition.compressing = true;
                    commands.push_back(Command::Compress(job));
                }
                return Ok(None);
            }
            None => match partition.queue.take_within(room) {
                Some(open) => {
                    let order = partition.next_order(open.builder.record_count());
                    ProducerBatch::new(open, order)
                }
                None if partition.queue.oldest().is_some() => return Err(NoRoom),
                None => return Ok(None),
            },
        };
        if let Some(identity) = transactions.as_ref().and_then(TransactionManager::identity) {
            partition.assign_sequence(&mut batch, identity);
        }
        match batch.seal(accumulator.pool()) {
            Ok(bytes) => Ok(Some((batch, bytes))),
            Err(error) => {
                partition.lost(&batch);
                let (topic, partition) = (Arc::clone(&partition.queue.topic), partition.queue.partition);
                let error = ProduceError::Encoding { topic, partition, cause: error.to_string().into() };
                batch.complete(Outcome::Failed(error));
                Ok(None)
            }
        }
    }

    /// False when the node would not take it after all.
    fn send_request(
        &mut self,
        node: NodeId,
        drained: Vec<Drained>,
        network: &mut NetworkClient,
        now: Instant,
    ) -> bool {
        let (request, versions) = self.produce_request(&drained);
        let token = network.next_token();
        let request = ClientRequest {
            token,
            request: Box::new(request),
            versions,
            timeout: self.settings.request_timeout,
            expects_response: self.settings.acks != Acks::None,
        };
        let sent = network.send(node, request, now).is_ok();
        let mut batches = Vec::with_capacity(drained.len());
        let mut expires_at = Instant::FAR_FUTURE;
        for Drained { partition: id, mut batch, .. } in drained {
            let Some(Some(partition)) = self.partitions.get_mut(id) else { continue };
            if !sent {
                partition.waiting.push_front(batch);
                continue;
            }
            batch.attempts = batch.attempts.saturating_add(1);
            batch.completion().note_sent();
            batch.attempted_epoch = partition.leader_epoch;
            expires_at = expires_at.min(batch.created_at + self.settings.delivery_timeout);
            partition.sent(node);
            batches.push(InFlightBatch { partition: id, topic_id: partition.topic_id, batch });
        }
        if sent {
            self.in_flight.insert(token, InFlightProduce { node, batches, expires_at });
        }
        sent
    }

    fn produce_request(&self, drained: &[Drained]) -> (ProduceRequest, VersionRange) {
        let mut topics: Vec<TopicProduceData> = Vec::new();
        let mut versions = ProduceRequest::VERSIONS;
        for Drained { partition: id, bytes, .. } in drained {
            let Some(PartitionState { queue, topic_id, .. }) =
                self.partitions.get(*id).and_then(Option::as_ref)
            else {
                continue;
            };
            if topic_id.is_zero() {
                versions.max = versions.max.min(LAST_VERSION_WITH_NAMES);
            }
            let data = PartitionProduceData { index: queue.partition, records: Some(bytes.clone()) };
            // Neighbours are of one topic, mostly: their queues were made together.
            match topics.iter_mut().rev().find(|topic| topic.name == *queue.topic) {
                Some(topic) => topic.partition_data.push(data),
                None => topics.push(TopicProduceData {
                    name: queue.topic.to_string(),
                    topic_id: *topic_id,
                    partition_data: vec![data],
                }),
            }
        }
        let request = ProduceRequest {
            transactional_id: None,
            acks: self.settings.acks.to_wire(),
            timeout_ms: i32::try_from(self.settings.request_timeout.as_millis()).unwrap_or(i32::MAX),
            topic_data: topics,
        };
        (request, versions)
    }
}

/// The request is full.
struct NoRoom;
