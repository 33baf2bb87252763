//! A consumer of the simulation's own: it reads every partition from its start, from whoever leads it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use milena_protocol::messages::metadata_request::MetadataRequestTopic;
use milena_protocol::messages::{FetchPartition, FetchRequest, FetchTopic, MetadataRequest};
use milena_protocol::{ErrorCode, records::RecordBatches};
use tokio::time::sleep;

use super::wire::Caller;
use crate::chance::Chance;
use crate::history::{Read, RecordId, Watermark};
use crate::network::Place;
use crate::note;
use crate::plan::TOPIC;
use crate::sim::{Phase, Sim};

/// The last version that names topics by name.
const FETCH_VERSION: i16 = 12;
const METADATA_VERSION: i16 = 9;
const RETRY: Duration = Duration::from_millis(100);
/// No batch of a run is larger.
const MAX_INFLATED: usize = 1 << 24;

struct Consumer {
    sim: Arc<Sim>,
    id: u32,
    partition: i32,
    chance: Chance,
    offset: i64,
    /// The newest leader epoch that it has read in: who is said to lead in an older one does not any more (KIP-320).
    leader_epoch: i32,
}

/// Reads one partition until the run is over.
pub(crate) async fn consume(sim: Arc<Sim>, id: u32, partition: i32, chance: Chance) {
    let mut consumer = Consumer { sim, id, partition, chance, offset: 0, leader_epoch: -1 };
    while consumer.sim.phase() != Phase::Over {
        if let Err(error) = consumer.read_from_leader().await {
            note!(consumer.sim.trace, "c{id} reads partition {partition} again: {error}");
        }
        sleep(RETRY).await;
    }
}

impl Consumer {
    async fn leader(&mut self) -> io::Result<Option<(i32, i32)>> {
        let asked = self.sim.hosts[self.chance.index(self.sim.hosts.len())].id;
        let mut caller = Caller::connect(&self.sim, self.place(), asked).await?;
        let topic = MetadataRequestTopic { name: Some(TOPIC.to_owned()), ..Default::default() };
        let request = MetadataRequest { topics: Some(vec![topic]), ..Default::default() };
        let response = caller.call(METADATA_VERSION, &request).await?;
        let partitions = response.topics.iter().flat_map(|topic| &topic.partitions);
        let found = partitions.into_iter().find(|found| found.partition_index == self.partition);
        let leader = found.map(|found| (found.leader_id, found.leader_epoch));
        Ok(leader.filter(|(id, epoch)| *id >= 0 && *epoch >= self.leader_epoch))
    }

    fn place(&self) -> Place {
        Place::Client(self.id)
    }

    /// Reads for as long as the same broker leads.
    async fn read_from_leader(&mut self) -> io::Result<()> {
        let Some((leader, leader_epoch)) = self.leader().await? else { return Ok(()) };
        let mut caller = Caller::connect(&self.sim, self.place(), leader).await?;
        while self.sim.phase() != Phase::Over {
            let partition = FetchPartition {
                partition: self.partition,
                current_leader_epoch: leader_epoch,
                fetch_offset: self.offset,
                partition_max_bytes: 4_096,
                ..Default::default()
            };
            let topic =
                FetchTopic { topic: TOPIC.to_owned(), partitions: vec![partition], ..Default::default() };
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
                        let refused = format!(
                            "b{leader} of epoch {leader_epoch} does not know offset {} of partition {}, which it or \
                             another leader has shown before",
                            self.offset, self.partition
                        );
                        self.sim.history().refused.push(refused);
                        return Ok(());
                    }
                    _ => return Ok(()),
                }
                self.leader_epoch = leader_epoch;
                self.saw(leader, leader_epoch, data.high_watermark);
                self.take(data.records.unwrap_or_default());
            }
        }
        Ok(())
    }

    fn saw(&self, broker: i32, leader_epoch: i32, offset: i64) {
        let watermark = Watermark {
            at: self.sim.now(),
            broker,
            life: 0,
            partition: self.partition,
            leader_epoch,
            offset,
        };
        self.sim.history().consumer_watermarks.entry(self.id).or_default().push(watermark);
    }

    fn take(&mut self, records: bytes::Bytes) {
        for batch in RecordBatches::new(records).flatten() {
            for record in batch.records(MAX_INFLATED).into_iter().flatten().flatten() {
                if record.offset < self.offset {
                    continue;
                }
                self.offset = record.offset + 1;
                let Some(id) = record.value.as_deref().and_then(RecordId::parse) else { continue };
                let read =
                    Read { consumer: self.id, partition: self.partition, offset: record.offset, record: id };
                self.sim.history().read.push(read);
            }
        }
    }
}
