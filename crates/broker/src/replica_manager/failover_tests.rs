//! A whole cluster over real sockets, whose leaders are killed, or lose their disks, while records come in.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::messages::ProduceRequest;
use milena_protocol::records::{RecordBatches, Seal};
use milena_protocol::{ErrorCode, Uuid};
use milena_storage::FsyncPolicy;
use milena_storage::fs::{DiskFaults, MemoryFileSystem};
use tokio::time::{interval, timeout};

use crate::test_cluster::{PATIENCE, TestCluster, connect, produce_request, record};

/// A cluster, and what it has acknowledged.
struct Produced {
    cluster: TestCluster,
    topic: Uuid,
    /// With acks=all, by offset.
    acknowledged: BTreeMap<i64, String>,
}

impl Produced {
    async fn start(fsync: FsyncPolicy) -> Self {
        let cluster = TestCluster::start_with(MemoryFileSystem::shared(), 1..=3, fsync).await;
        let topic = cluster.create_with("t", &[1, 2, 3], &[("min.insync.replicas", "2")]).await;
        Self { cluster, topic, acknowledged: BTreeMap::new() }
    }

    fn leader(&self) -> i32 {
        self.cluster.state("t").leader
    }

    /// Produces with acks=all until somebody acknowledges it.
    async fn produce(&mut self, value: String) {
        let trying = async {
            let mut ticks = interval(Duration::from_millis(5));
            loop {
                if let Some(offset) = self.try_to_produce(&value).await {
                    return offset;
                }
                ticks.tick().await;
            }
        };
        let offset = timeout(PATIENCE, trying).await.expect("nobody acknowledges");
        assert_eq!(self.acknowledged.insert(offset, value), None, "offset {offset} was acknowledged before");
    }

    async fn try_to_produce(&self, value: &str) -> Option<i64> {
        let mut connection = connect(self.cluster.brokers.get(&self.leader())?.address()).await.ok()?;
        let records = record(value.as_bytes(), Seal::default());
        let request = ProduceRequest { timeout_ms: 1_000, ..produce_request(self.topic, 0, records, -1) };
        let response = connection.call(13, &request).await.ok()?;
        let answer = &response.responses[0].partition_responses[0];
        (answer.error_code == ErrorCode::NONE).then_some(answer.base_offset)
    }

    /// Says that so many were acknowledged, and that all replicas have all of them where they were said to be.
    async fn check(&self, count: usize) {
        self.cluster.wait("one log", logs_agree).await;
        let mut found = BTreeMap::new();
        for batch in RecordBatches::new(log(&self.cluster, 1).unwrap()) {
            for record in batch.unwrap().records(1024).unwrap() {
                let record = record.unwrap();
                found.insert(record.offset, String::from_utf8(record.value.unwrap().to_vec()).unwrap());
            }
        }
        assert_eq!(self.acknowledged.len(), count);
        for (offset, value) in &self.acknowledged {
            assert_eq!(found.get(offset), Some(value), "offset {offset}");
        }
    }
}

fn log(cluster: &TestCluster, id: i32) -> Option<Bytes> {
    let partition = cluster.brokers[&id].node().replica_manager.partition("t", 0).ok()?;
    Some(partition.reader().read(0, usize::MAX, i64::MAX, true).unwrap().records)
}

fn logs_agree(cluster: &TestCluster) -> bool {
    let first = log(cluster, 1);
    first.is_some() && first == log(cluster, 2) && first == log(cluster, 3)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replication_24_nothing_acknowledged_is_lost_while_leaders_are_killed() {
    let mut produced = Produced::start(FsyncPolicy::default()).await;
    for round in 0..4 {
        for record in 0..15 {
            produced.produce(format!("{round} before {record}")).await;
        }
        let leader = produced.leader();
        drop(produced.cluster.brokers.remove(&leader));
        for record in 0..15 {
            produced.produce(format!("{round} after {record}")).await;
        }
        assert_ne!(produced.leader(), leader);
        produced.cluster.start_broker(leader).await;
        produced.cluster.wait("a whole ISR", |cluster| cluster.state("t").isr.len() == 3).await;
    }
    produced.check(120).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn log_31_nothing_acknowledged_is_lost_while_the_leaders_disks_fail() {
    let mut produced = Produced::start(FsyncPolicy::EveryBatch).await;
    for round in 0..6 {
        for record in 0..5 {
            produced.produce(format!("{round} before {record}")).await;
        }
        let leader = produced.leader();
        let disk = produced.cluster.disks[&leader].clone();
        let fail = if round % 2 == 0 { DiskFaults::set_full } else { DiskFaults::set_failing_syncs };
        fail(&disk, true);
        for record in 0..5 {
            produced.produce(format!("{round} after {record}")).await;
        }
        assert_ne!(produced.leader(), leader);
        fail(&disk, false);
        produced.cluster.wait("a whole ISR", |cluster| cluster.state("t").isr.len() == 3).await;
    }
    produced.check(60).await;
}
