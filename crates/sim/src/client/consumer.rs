//! A consumer of the simulation's own: it reads every partition from its start, from whoever leads it; and each topic that is
//! created again under the same name anew.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use milena_protocol::messages::metadata_request::MetadataRequestTopic;
use milena_protocol::messages::{FetchPartition, FetchRequest, FetchTopic, MetadataRequest};
use milena_protocol::{ErrorCode, Uuid, records::RecordBatches};
use tokio::time::sleep;

use super::wire::Caller;
use crate::chance::Chance;
use crate::history::{Read, RecordId, Watermark};
use crate::network::Place;
use crate::note;
use crate::plan::TOPIC;
use crate::sim::{Phase, Sim};

/// The first versions that know topics by their ids (KIP-516).
const FETCH_VERSION: i16 = 13;
const METADATA_VERSION: i16 = 10;
const RETRY: Duration = Duration::from_millis(100);
/// No batch of a run is larger.
const MAX_INFLATED: usize = 1 << 24;

struct Consumer {
    sim: Arc<Sim>,
    id: u32,
    partition: i32,
    chance: Chance,
    /// How far it is, by topic id: a broker that has missed that a topic was deleted and created again may still tell of the
    /// old one.
    positions: BTreeMap<Uuid, Position>,
}

/// How far a topic is read.
#[derive(Clone, Copy)]
struct Position {
    offset: i64,
    /// The newest leader epoch that was read in: who is said to lead in an older one does not any more (KIP-320).
    leader_epoch: i32,
}

/// Who is said to lead.
#[derive(Clone, Copy)]
struct Leader {
    topic_id: Uuid,
    id: i32,
    epoch: i32,
}

/// Reads one partition until the run is over.
pub(crate) async fn consume(sim: Arc<Sim>, id: u32, partition: i32, chance: Chance) {
    let mut consumer = Consumer { sim, id, partition, chance, positions: BTreeMap::new() };
    while consumer.sim.phase() != Phase::Over {
        if let Err(error) = consumer.read_from_leader().await {
            note!(consumer.sim.trace, "c{id} reads partition {partition} again: {error}");
        }
        sleep(RETRY).await;
    }
}

impl Consumer {
    async fn leader(&mut self) -> io::Result<Option<Leader>> {
        let asked = self.sim.hosts[self.chance.index(self.sim.hosts.len())].id;
        let mut caller = Caller::connect(&self.sim, self.place(), asked).await?;
        let topic = MetadataRequestTopic { name: Some(TOPIC.to_owned()), ..Default::default() };
        let request = MetadataRequest { topics: Some(vec![topic]), ..Default::default() };
        let response = caller.call(METADATA_VERSION, &request).await?;
        let Some(topic) = response.topics.first() else { return Ok(None) };
        let found = topic.partitions.iter().find(|found| found.partition_index == self.partition);
        let leader = found.map(|found| Leader {
            topic_id: topic.topic_id,
            id: found.leader_id,
            epoch: found.leader_epoch,
        });
        let newest = self.position(topic.topic_id).leader_epoch;
        Ok(leader.filter(|leader| leader.id >= 0 && leader.epoch >= newest))
    }

    fn position(&mut self, topic_id: Uuid) -> &mut Position {
        self.positions.entry(topic_id).or_insert(Position { offset: 0, leader_epoch: -1 })
    }

    fn place(&self) -> Place {
        Place::Client(self.id)
    }

    /// Reads for as long as the same broker leads.
    async fn read_from_leader(&mut self) -> io::Result<()> {
        let Some(leader) = self.leader().await? else { return Ok(()) };
        let mut caller = Caller::connect(&self.sim, self.place(), leader.id).await?;
        while self.sim.phase() != Phase::Over {
            let partition = FetchPartition {
                partition: self.partition,
                current_leader_epoch: leader.epoch,
                fetch_offset: self.position(leader.topic_id).offset,
                partition_max_bytes: 4_096,
                ..Default::default()
            };
            let topic =
                FetchTopic { topic_id: leader.topic_id, partitions: vec![partition], ..Default::default() };
            let request = FetchRequest {
                max_wait_ms: 500,
                min_bytes: 1,
                max_bytes: 1 << 20,
                session_epoch: -1,
                topics: vec![topic],
                ..Default::default()
            };
            let response = caller.call(FETCH_VERSION, &request).await?;
            for data in response.responses.into_iter().flat_map(|topic| topic.partitions) {
                match data.error_code {
                    ErrorCode::NONE => {}
                    ErrorCode::OFFSET_OUT_OF_RANGE => {
                        let offset = self.position(leader.topic_id).offset;
                        let refused = format!(
                            "b{} of epoch {} does not know offset {offset} of partition {}, which it or another leader \
                             has shown before",
                            leader.id, leader.epoch, self.partition
                        );
                        self.sim.history().refused.push(refused);
                        return Ok(());
                    }
                    _ => return Ok(()),
                }
                self.position(leader.topic_id).leader_epoch = leader.epoch;
                self.saw(leader, data.high_watermark);
                self.take(leader.topic_id, data.records.unwrap_or_default());
            }
        }
        Ok(())
    }

    fn saw(&self, leader: Leader, offset: i64) {
        let watermark = Watermark {
            at: self.sim.now(),
            broker: leader.id,
            life: 0,
            topic_id: leader.topic_id,
            partition: self.partition,
            leader_epoch: leader.epoch,
            offset,
        };
        self.sim.history().consumer_watermarks.entry(self.id).or_default().push(watermark);
    }

    fn take(&mut self, topic_id: Uuid, records: bytes::Bytes) {
        let (consumer, partition) = (self.id, self.partition);
        for batch in RecordBatches::new(records).flatten() {
            for record in batch.records(MAX_INFLATED).into_iter().flatten().flatten() {
                let position = self.position(topic_id);
                if record.offset < position.offset {
                    continue;
                }
                position.offset = record.offset + 1;
                let Some(id) = record.value.as_deref().and_then(RecordId::parse) else { continue };
                let read = Read { consumer, topic_id, partition, offset: record.offset, record: id };
                self.sim.history().read.push(read);
            }
        }
    }
}
