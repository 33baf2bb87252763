//! A producer against pretended brokers whose logs check sequences as Kafka's do.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

mod logs;

use std::{cell::RefCell, rc::Rc, sync::Arc, time::Duration};

pub use logs::{Fault, Logs, Produced};
use milena_core::{
    cluster::TopicInfo,
    config::ProducerConfig,
    engine::Engine,
    producer::{Append, AppendError, Delivery, ProduceError, ProducerEngine, ProducerShared},
    record::{Record, RecordMetadata},
};
use milena_protocol::ApiKey;

use crate::support::{Harness, Peer, START, ms, secs};

pub type Outcome = Result<RecordMetadata, ProduceError>;

/// A producer, its brokers and their logs.
pub struct Test {
    pub harness: Harness<ProducerEngine>,
    pub shared: Arc<ProducerShared>,
    pub logs: Rc<RefCell<Logs>>,
}

/// Kafka's defaults, without linger, for broker 1.
pub fn config() -> ProducerConfig {
    let mut config = ProducerConfig { linger: Duration::ZERO, ..ProducerConfig::default() };
    config.client.bootstrap = vec![("b1".to_owned(), 9092)];
    config
}

impl Test {
    /// `brokers` brokers and a topic `t` whose partitions have these leaders.
    pub fn new(config: ProducerConfig, brokers: i32, leaders: &[i32]) -> Self {
        Self::seeded(config, brokers, leaders, 7)
    }

    pub fn seeded(config: ProducerConfig, brokers: i32, leaders: &[i32], seed: u64) -> Self {
        let mut peer = Peer::new(brokers);
        peer.cluster.create("t", leaders);
        let logs = Rc::new(RefCell::new(Logs::new()));
        for api in [ApiKey::Produce, ApiKey::InitProducerId] {
            let logs = Rc::clone(&logs);
            peer.script(api, move |request, cluster| logs.borrow_mut().serve(request, cluster));
        }
        let (engine, shared) = ProducerEngine::new(config, seed, START);
        Self { harness: Harness::new(engine, peer), shared, logs }
    }

    /// As [`new`](Self::new), and the topic is known, the producer has its id, and every leader is connected.
    pub fn warm(config: ProducerConfig, brokers: i32, leaders: &[i32]) -> Self {
        let mut test = Self::new(config, brokers, leaders);
        test.warm_up(leaders.len());
        test
    }

    pub fn warm_up(&mut self, partitions: usize) {
        for partition in 0..partitions {
            let delivery = self.send(i32::try_from(partition).expect("few"), "warm");
            self.outcome(delivery).expect("nothing is wrong yet");
        }
        self.harness.advance(ms(1));
        let mut logs = self.logs.borrow_mut();
        logs.produced.clear();
        logs.forget_records();
    }

    pub fn topic(&mut self) -> Arc<TopicInfo> {
        self.topic_named("t")
    }

    /// What the producer knows of a topic; waits for it as `send` does.
    pub fn topic_named(&mut self, name: &str) -> Arc<TopicInfo> {
        if self.known(name).is_none() {
            self.shared.metadata().want_topic(name);
        }
        let shared = Arc::clone(&self.shared);
        self.harness.run_until(secs(60), |_| known(&shared, name).is_some());
        self.known(name).expect("waited for it")
    }

    fn known(&self, name: &str) -> Option<Arc<TopicInfo>> {
        known(&self.shared, name)
    }

    /// Queues a record; nothing happens until time passes.
    pub fn send(&mut self, partition: i32, value: &str) -> Delivery {
        let topic = self.topic();
        self.send_to(&topic, partition, value)
    }

    /// Queues a record for a topic as it was known once.
    pub fn send_to(&self, topic: &TopicInfo, partition: i32, value: &str) -> Delivery {
        let timestamp = i64::try_from(self.harness.now.as_nanos() / 1_000_000).expect("small");
        let record = Record::to(&topic.name).partition(partition).value(value);
        match self.append(topic, &record, timestamp) {
            Ok(Append::Appended(delivery)) => delivery,
            other => panic!("{other:?}"),
        }
    }

    /// Queues a record and makes the turn that its signal asks for.
    pub fn send_now(&mut self, partition: i32, value: &str) -> Delivery {
        let delivery = self.send(partition, value);
        self.harness.poll();
        delivery
    }

    /// As a producer does it: first what most records find, then what the others need.
    pub fn append(
        &self,
        topic: &TopicInfo,
        record: &Record<'_>,
        timestamp: i64,
    ) -> Result<Append, AppendError> {
        if let Some(delivery) = self.shared.accumulator().append_to_open(topic, record, timestamp) {
            return Ok(Append::Appended(delivery));
        }
        self.shared.append(topic, record, timestamp, self.harness.now, None)
    }

    /// Lets time pass until each has its result.
    #[track_caller]
    pub fn outcomes(&mut self, deliveries: Vec<Delivery>) -> Vec<Outcome> {
        deliveries.into_iter().map(|delivery| self.outcome(delivery)).collect()
    }

    #[track_caller]
    pub fn outcome(&mut self, mut delivery: Delivery) -> Outcome {
        let mut outcome = None;
        self.harness.run_until(secs(600), |_| {
            outcome = delivery.result();
            outcome.is_some()
        });
        outcome.expect("waited for it")
    }

    /// Lets everything that is queued end, and checks that nothing is kept.
    #[track_caller]
    pub fn settle(&mut self) {
        let shared = Arc::clone(&self.shared);
        self.harness.run_until(secs(600), |_| shared.accumulator().incomplete_batches() == 0);
        // What the socket still holds comes back with the next turns.
        self.harness.advance(secs(60));
        let pool = self.shared.accumulator().pool();
        assert_eq!(pool.free(), pool.total(), "memory was lost");
    }

    /// The values in a partition's log, in order.
    pub fn values(&mut self, partition: i32) -> Vec<String> {
        let id = self.harness.peer.cluster.topic("t").id;
        self.logs.borrow().values(id, partition)
    }

    pub fn fault(&self, fault: Fault) {
        self.logs.borrow_mut().faults.push_back(fault);
    }

    pub fn produced(&self) -> Vec<Produced> {
        self.logs.borrow().produced.clone()
    }

    /// What brokers got for a partition, for a test that failed.
    pub fn story(&self, partition: i32) -> String {
        self.produced().iter().filter(|p| p.partition == partition).map(Produced::line).collect()
    }

    /// How many connections and requests there were, for what must not grow.
    pub fn produce_requests(&self) -> usize {
        self.harness.peer.count(ApiKey::Produce)
    }

    pub fn close(&mut self, within: Duration) {
        self.shared.begin_close(self.harness.now + within);
        self.harness.run_until(within + secs(1), |harness| harness.engine.is_closed());
    }
}

fn known(shared: &ProducerShared, name: &str) -> Option<Arc<TopicInfo>> {
    shared.metadata().view().cluster.topic(name).filter(|topic| !topic.partitions.is_empty()).cloned()
}
