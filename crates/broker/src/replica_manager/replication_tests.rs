//! Brokers that replicate over real sockets. The controller is the test: it gives out the roles.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use milena_protocol::messages::fetch_response::PartitionData;
use milena_protocol::messages::produce_response::PartitionProduceResponse;
use milena_protocol::messages::{
    FetchPartition, FetchRequest, FetchResponse, FetchTopic, ListOffsetsPartition, ListOffsetsRequest,
    ListOffsetsTopic, OffsetForLeaderEpochRequest, OffsetForLeaderPartition, OffsetForLeaderTopic,
    ProduceRequest, ProduceResponse,
};
use milena_protocol::records::Seal;
use milena_protocol::{ErrorCode, Uuid};
use milena_storage::fs::MemoryFileSystem;

use super::Partition;
use crate::config::DEFAULT_REPLICA_LAG_TIME_MAX;
use crate::controller::{LeaderAndIsrTopic, PartitionState};
use crate::metadata_cache::{BrokerInfo, MetadataUpdate, PartitionUpdate, TopicUpdate};
use crate::network::InterBrokerConnection;
use crate::replica::{AlterPartition, AlterPartitionResult};
use crate::test_cluster::{connect, produce_request, record};
use crate::{Broker, BrokerConfig, ReplicaSelector};

const TOPIC: Uuid = Uuid([9; 16]);
const IDS: [i32; 3] = [1, 2, 3];

struct Trio {
    brokers: BTreeMap<i32, Broker>,
    configs: BTreeMap<i32, BrokerConfig>,
    infos: Vec<BrokerInfo>,
    epoch: i32,
}

impl Trio {
    async fn start() -> Self {
        let (mut brokers, mut configs) = (BTreeMap::new(), BTreeMap::new());
        let mut infos = Vec::new();
        for id in IDS {
            let config = BrokerConfig {
                node_id: id,
                rack: Some(format!("rack-{id}")),
                replica_selector: ReplicaSelector::RackAware,
                file_system: MemoryFileSystem::shared(),
                ..BrokerConfig::new(format!("broker-{id}"))
            };
            let broker = Broker::start(config.clone()).await.unwrap();
            configs.insert(id, config);
            infos.push(broker.node().metadata_cache.load().broker(id).unwrap().clone());
            brokers.insert(id, broker);
        }
        Self { brokers, configs, infos, epoch: 0 }
    }

    fn set_min_isr(&self, min: &str) {
        let configs = BTreeMap::from([("min.insync.replicas".to_owned(), min.to_owned())]);
        for broker in self.brokers.values() {
            broker.node().topic_configs.set("t", &configs);
        }
    }

    /// Starts the next epoch, and tells `told` of it.
    async fn elect(&mut self, leader: i32, isr: &[i32], told: &[i32]) {
        self.epoch += 1;
        self.tell(leader, isr, told).await;
    }

    async fn tell(&self, leader: i32, isr: &[i32], told: &[i32]) {
        let leader_epoch = self.epoch;
        let partition = PartitionUpdate {
            partition: 0,
            leader,
            leader_epoch,
            replicas: IDS.to_vec(),
            isr: isr.to_vec(),
            offline: Vec::new(),
        };
        let topic = TopicUpdate { name: "t".into(), id: TOPIC, partitions: vec![partition] };
        let update = MetadataUpdate {
            controller_id: 1,
            controller_epoch: 100,
            live_brokers: self.infos.clone(),
            topics: vec![topic],
        };
        let state = PartitionState {
            replicas: IDS.to_vec(),
            isr: isr.to_vec(),
            leader,
            leader_epoch,
            partition_epoch: leader_epoch,
            adding_replicas: Vec::new(),
            removing_replicas: Vec::new(),
        };
        let roles = LeaderAndIsrTopic { name: "t".into(), id: TOPIC, partitions: vec![(0, state)] };
        for id in told {
            let node = self.brokers[id].node().clone();
            node.metadata_cache.update(&update).unwrap();
            let roles = roles.clone();
            tokio::task::spawn_blocking(move || node.replica_manager.become_leader_or_follower(&[roles]))
                .await
                .unwrap();
        }
    }

    async fn client(&self, id: i32) -> Client {
        Client(connect(self.brokers[&id].address()).await.unwrap())
    }

    fn log(&self, id: i32) -> Bytes {
        let partition = self.brokers[&id].node().replica_manager.partition("t", 0).unwrap();
        partition.reader().read(0, usize::MAX, i64::MAX, true).unwrap().records
    }

    fn high_watermark(&self, id: i32) -> i64 {
        self.brokers[&id].node().replica_manager.partition("t", 0).unwrap().high_watermark()
    }
}

/// Waits for the first record.
async fn appended(partition: &Partition) {
    let waiter = Arc::default();
    let _registration = partition.register(&waiter);
    while partition.reader().log_end_offset() == 0 {
        waiter.woken().await;
    }
}

struct Client(InterBrokerConnection);

impl Client {
    async fn produce_for(&mut self, records: Bytes, acks: i16, timeout_ms: i32) -> ProduceResponse {
        let request = ProduceRequest { timeout_ms, ..produce_request(TOPIC, 0, records, acks) };
        self.0.call(13, &request).await.unwrap()
    }

    async fn produce(&mut self, records: Bytes, acks: i16) -> PartitionProduceResponse {
        self.produce_for(records, acks, 30_000).await.responses[0].partition_responses[0].clone()
    }

    async fn fetch_for(&mut self, offset: i64, max_wait_ms: i32) -> FetchResponse {
        self.fetch_from("", offset, max_wait_ms).await
    }

    async fn fetch_from(&mut self, rack: &str, offset: i64, max_wait_ms: i32) -> FetchResponse {
        let partition = FetchPartition {
            fetch_offset: offset,
            partition_max_bytes: 1024 * 1024,
            current_leader_epoch: -1,
            ..Default::default()
        };
        let topic = FetchTopic { topic_id: TOPIC, partitions: vec![partition], ..Default::default() };
        let request = FetchRequest {
            max_wait_ms,
            min_bytes: 1,
            max_bytes: 1024 * 1024,
            session_epoch: -1,
            rack_id: rack.to_owned(),
            topics: vec![topic],
            ..Default::default()
        };
        self.0.call(17, &request).await.unwrap()
    }

    async fn fetch(&mut self, offset: i64, max_wait_ms: i32) -> PartitionData {
        self.fetch_for(offset, max_wait_ms).await.responses[0].partitions[0].clone()
    }
}

fn sealed(value: &str, seal: Seal) -> Bytes {
    record(value.as_bytes(), seal)
}

fn batch(value: &str) -> Bytes {
    sealed(value, Seal::default())
}

#[tokio::test]
async fn replication_24_acks_all_answers_when_every_replica_in_sync_has_the_record() {
    let mut trio = Trio::start().await;
    trio.elect(1, &IDS, &[1, 2]).await;
    let mut client = trio.client(1).await;
    // 3 does not follow yet.
    let response = client.produce_for(batch("one"), -1, 50).await;
    assert_eq!(response.responses[0].partition_responses[0].error_code, ErrorCode::REQUEST_TIMED_OUT);
    assert_eq!(client.produce(batch("two"), 1).await.error_code, ErrorCode::NONE);
    assert_eq!(trio.high_watermark(1), 0);
    trio.tell(1, &IDS, &[3]).await;
    let produced = client.produce(batch("three"), -1).await;
    assert_eq!((produced.error_code, produced.base_offset), (ErrorCode::NONE, 2));
    for id in IDS {
        assert_eq!(trio.log(id), trio.log(1), "broker {id}");
    }
    assert_eq!(trio.high_watermark(1), 3);
}

#[tokio::test]
async fn replication_24_the_high_watermark_is_written_down() {
    let mut trio = Trio::start().await;
    trio.elect(1, &IDS, &IDS).await;
    let mut client = trio.client(1).await;
    assert_eq!(client.produce(batch("one"), -1).await.error_code, ErrorCode::NONE);
    assert_eq!(client.produce(batch("two"), 1).await.error_code, ErrorCode::NONE);
    trio.elect(-1, &[1], &[1]).await;
    trio.brokers.remove(&1).unwrap().shutdown().await.unwrap();
    // Alone in its own cluster again, which knows nothing of the topic and would delete what it does not know.
    let fs = &trio.configs[&1].file_system;
    let path = std::path::Path::new("broker-1/logs/replication-offset-checkpoint");
    let written = milena_storage::checkpoint::read_offsets(&**fs, path).unwrap();
    let known = written[&milena_storage::TopicPartition::new("t", 0)];
    assert!((1..=2).contains(&known), "{known}");
}

#[tokio::test]
async fn replication_26_too_few_in_sync_is_refused_before_the_append() {
    let mut trio = Trio::start().await;
    trio.set_min_isr("2");
    trio.elect(1, &[1], &IDS).await;
    let mut client = trio.client(1).await;
    let refused = client.produce(batch("one"), -1).await;
    assert_eq!(refused.error_code, ErrorCode::NOT_ENOUGH_REPLICAS);
    assert_eq!(trio.log(1), Bytes::new());
    assert_eq!(client.produce(batch("one"), 1).await.error_code, ErrorCode::NONE);
}

#[tokio::test]
async fn replication_26_too_few_in_sync_after_the_append_is_told_too() {
    let mut trio = Trio::start().await;
    trio.set_min_isr("2");
    // 2 never fetches, and the controller is asked to count it out.
    trio.elect(1, &[1, 2], &[1]).await;
    let mut client = trio.client(1).await;
    let manager = trio.brokers[&1].node().replica_manager.clone();
    let partition = manager.partition("t", 0).unwrap();
    let (produced, ()) = tokio::join!(client.produce(batch("one"), -1), async {
        appended(&partition).await;
        let late = manager.now() + DEFAULT_REPLICA_LAG_TIME_MAX * 2;
        partition.tick(late);
        let request = AlterPartition { leader_epoch: 1, partition_epoch: 1, isr: vec![(1, -1)] };
        assert!(partition.wants(&request));
        let altered = AlterPartitionResult::Altered { leader_epoch: 1, partition_epoch: 2, isr: vec![1] };
        partition.alter_partition_answered(&request, altered, late);
    });
    assert_eq!(produced.error_code, ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND);
    assert_eq!(client.produce(batch("two"), -1).await.error_code, ErrorCode::NOT_ENOUGH_REPLICAS);
}

#[tokio::test]
async fn replication_27_consumers_see_nothing_past_the_high_watermark_and_followers_do() {
    let mut trio = Trio::start().await;
    trio.elect(1, &IDS, &[1, 2]).await;
    let mut client = trio.client(1).await;
    assert_eq!(client.produce(batch("one"), 1).await.error_code, ErrorCode::NONE);
    let seen = client.fetch(0, 0).await;
    assert_eq!((seen.error_code, seen.high_watermark), (ErrorCode::NONE, 0));
    assert_eq!(seen.records.unwrap(), Bytes::new());

    // One that waits is woken by the high watermark.
    let mut waiting = trio.client(1).await;
    let (seen, ()) = tokio::join!(waiting.fetch(0, 60_000), trio.tell(1, &IDS, &[3]));
    assert_eq!(seen.high_watermark, 1);
    assert_eq!(seen.records.unwrap(), trio.log(3));

    let asked = ListOffsetsPartition { timestamp: -1, ..Default::default() };
    let topic = ListOffsetsTopic { name: "t".to_owned(), partitions: vec![asked] };
    let mut request = ListOffsetsRequest { replica_id: -1, topics: vec![topic], ..Default::default() };
    trio.elect(1, &IDS, &[1]).await;
    assert_eq!(client.produce(batch("two"), 1).await.error_code, ErrorCode::NONE);
    let found = client.0.call(8, &request).await.unwrap().topics[0].partitions[0].offset;
    assert_eq!(found, 1);
    request.replica_id = 2;
    let found = client.0.call(8, &request).await.unwrap().topics[0].partitions[0].offset;
    assert_eq!(found, 2);
}

#[tokio::test]
async fn replication_27_a_consumer_that_names_its_rack_reads_there_up_to_the_high_watermark() {
    let mut trio = Trio::start().await;
    trio.elect(1, &[1, 2], &[1, 2]).await;
    let mut client = trio.client(1).await;
    assert_eq!(client.produce(batch("one"), -1).await.error_code, ErrorCode::NONE);
    let preferred = async |client: &mut Client, rack: &str| {
        let response = client.fetch_from(rack, 0, 0).await;
        let data = &response.responses[0].partitions[0];
        (data.preferred_read_replica, data.records.as_ref().map_or(0, Bytes::len) > 0)
    };
    assert_eq!(preferred(&mut client, "").await, (-1, true));
    assert_eq!(preferred(&mut client, "rack-1").await, (-1, true));
    assert_eq!(preferred(&mut client, "rack-2").await, (2, false));
    // 3 is not in sync, and nobody is in the last one.
    assert_eq!(preferred(&mut client, "rack-3").await, (-1, true));
    assert_eq!(preferred(&mut client, "rack-4").await, (-1, true));

    let mut client = trio.client(2).await;
    assert_eq!(client.fetch(0, 0).await.error_code, ErrorCode::NOT_LEADER_OR_FOLLOWER);
    // The follower hears of the high watermark a little later, and wakes who waits for it.
    let response = client.fetch_from("rack-2", 0, 60_000).await;
    let data = &response.responses[0].partitions[0];
    assert_eq!((data.error_code, data.high_watermark), (ErrorCode::NONE, 1));
    assert_eq!(data.records.as_ref().unwrap(), &trio.log(1));
}

#[tokio::test]
async fn replication_28_on_becoming_a_follower_those_that_wait_are_sent_to_the_new_leader() {
    let mut trio = Trio::start().await;
    trio.elect(1, &IDS, &[1]).await;
    let (mut producer, mut consumer) = (trio.client(1).await, trio.client(1).await);
    let partition = trio.brokers[&1].node().replica_manager.partition("t", 0).unwrap();
    let (produced, fetched, ()) =
        tokio::join!(producer.produce_for(batch("lost"), -1, 60_000), consumer.fetch_for(0, 60_000), async {
            appended(&partition).await;
            trio.elect(2, &IDS, &IDS).await;
        });
    let answer = &produced.responses[0].partition_responses[0];
    assert_eq!(answer.error_code, ErrorCode::NOT_LEADER_OR_FOLLOWER);
    assert_eq!((answer.current_leader.leader_id, answer.current_leader.leader_epoch), (2, 2));
    let port = i32::from(trio.brokers[&2].address().port());
    assert_eq!((produced.node_endpoints[0].node_id, produced.node_endpoints[0].port), (2, port));
    let answer = &fetched.responses[0].partitions[0];
    assert_eq!(answer.error_code, ErrorCode::NOT_LEADER_OR_FOLLOWER);
    assert_eq!((answer.current_leader.leader_id, fetched.node_endpoints[0].port), (2, port));
}

#[tokio::test]
async fn replication_28_a_divergent_tail_is_cut_over_the_wire() {
    let mut trio = Trio::start().await;
    trio.elect(1, &IDS, &IDS).await;
    let mut client = trio.client(1).await;
    assert_eq!(client.produce(batch("kept"), -1).await.error_code, ErrorCode::NONE);
    // Nobody follows 1 any more, which does not know and takes two more.
    trio.elect(2, &IDS, &[2, 3]).await;
    for value in ["lost", "lost too"] {
        assert_eq!(client.produce(batch(value), 1).await.error_code, ErrorCode::NONE);
    }
    let mut client = trio.client(2).await;
    assert_eq!(client.produce(batch("new"), 1).await.error_code, ErrorCode::NONE);
    trio.tell(2, &IDS, &[1]).await;
    let produced = client.produce(batch("newer"), -1).await;
    assert_eq!((produced.error_code, produced.base_offset), (ErrorCode::NONE, 2));
    for id in IDS {
        assert_eq!(trio.log(id), trio.log(2), "broker {id}");
    }

    let asked = OffsetForLeaderPartition { leader_epoch: 1, current_leader_epoch: 2, partition: 0 };
    let topic = OffsetForLeaderTopic { topic: "t".to_owned(), partitions: vec![asked] };
    let request = OffsetForLeaderEpochRequest { replica_id: -1, topics: vec![topic] };
    let end = client.0.call(4, &request).await.unwrap().topics[0].partitions[0].clone();
    assert_eq!((end.error_code, end.leader_epoch, end.end_offset), (ErrorCode::NONE, 1, 1));
}

#[tokio::test]
async fn replication_29_the_producers_state_survives_failover() {
    let mut trio = Trio::start().await;
    trio.elect(1, &IDS, &IDS).await;
    let of = |base_sequence| Seal { producer_id: 5, producer_epoch: 1, base_sequence, ..Default::default() };
    let mut client = trio.client(1).await;
    for sequence in 0..6 {
        let produced = client.produce(sealed("record", of(sequence)), -1).await;
        assert_eq!((produced.error_code, produced.base_offset), (ErrorCode::NONE, i64::from(sequence)));
    }
    trio.elect(3, &IDS, &IDS).await;
    let mut client = trio.client(3).await;
    for sequence in 1..6 {
        let repeated = client.produce(sealed("record", of(sequence)), -1).await;
        assert_eq!((repeated.error_code, repeated.base_offset), (ErrorCode::NONE, i64::from(sequence)));
    }
    let gap = client.produce(sealed("record", of(8)), -1).await;
    assert_eq!(gap.error_code, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
    let old = Seal { producer_epoch: 0, ..of(6) };
    assert_eq!(client.produce(sealed("record", old), -1).await.error_code, ErrorCode::INVALID_PRODUCER_EPOCH);
    let next = client.produce(sealed("record", of(6)), -1).await;
    assert_eq!((next.error_code, next.base_offset), (ErrorCode::NONE, 6));
}
