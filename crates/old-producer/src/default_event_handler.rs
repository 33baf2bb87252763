//! [`DefaultEventHandler`]: refresh, dispatch, back off, again (`kafka.producer.async.DefaultEventHandler`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use milena_protocol::messages::{PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData};
use milena_protocol::records::{
    BatchBuilder, NO_PARTITION_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, Seal,
};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::broker_partition_info::{BrokerPartitionInfo, OnRefresh, PartitionAndLeader};
use crate::producer_pool::ProducerPool;
use crate::{BrokerAddress, KeyedMessage, Machine, Partitioner, ProducerConfig, RequestError, SendError};

/// No batch of 0.8 belonged to a sequence.
const NOT_IDEMPOTENT: Seal = Seal {
    producer_id: NO_PRODUCER_ID,
    producer_epoch: NO_PRODUCER_EPOCH,
    base_sequence: NO_SEQUENCE,
    transactional: false,
    control: false,
    partition_leader_epoch: NO_PARTITION_LEADER_EPOCH,
    base_offset: 0,
};

type TopicAndPartition = (String, i32);
/// What goes to one broker; None stands for partitions that have no leader.
type PerBroker = BTreeMap<Option<i32>, BTreeMap<TopicAndPartition, Vec<KeyedMessage>>>;

/// Sends messages in the thread of whoever wants them sent.
#[derive(Debug)]
pub(crate) struct DefaultEventHandler {
    config: Arc<ProducerConfig>,
    machine: Arc<dyn Machine>,
    partitioner: Box<dyn Partitioner>,
    rng: SmallRng,
    broker_partition_info: BrokerPartitionInfo,
    producer_pool: ProducerPool,
    correlation_id: i32,
    /// None: never. A refresh because of a retry does not count.
    last_topic_metadata_refresh_time: Option<Duration>,
    /// What was sent to since the last refresh.
    topic_metadata_to_refresh: BTreeSet<String>,
    /// Where messages without a key go until the next refresh.
    send_partition_per_topic_cache: BTreeMap<String, i32>,
}

/// What is left to do after a try, and what was wrong last.
struct Outstanding {
    messages: Vec<KeyedMessage>,
    cause: Option<SendError>,
}

impl DefaultEventHandler {
    pub(crate) fn new(
        config: ProducerConfig,
        machine: Arc<dyn Machine>,
        partitioner: Box<dyn Partitioner>,
        mut rng: SmallRng,
        on_refresh: Option<OnRefresh>,
    ) -> Self {
        let config = Arc::new(config);
        let order = SmallRng::seed_from_u64(rng.random());
        let info = BrokerPartitionInfo::new(Arc::clone(&config), Arc::clone(&machine), order, on_refresh);
        Self {
            broker_partition_info: info,
            producer_pool: ProducerPool::new(Arc::clone(&config), Arc::clone(&machine)),
            config,
            machine,
            partitioner,
            rng,
            correlation_id: 0,
            last_topic_metadata_refresh_time: None,
            topic_metadata_to_refresh: BTreeSet::new(),
            send_partition_per_topic_cache: BTreeMap::new(),
        }
    }

    /// Sends, while messages remain and retries are left.
    ///
    /// # Errors
    /// [`SendError::FailedToSend`].
    pub(crate) fn handle(&mut self, messages: Vec<KeyedMessage>) -> Result<(), SendError> {
        let tries = self.config.message_send_max_retries.saturating_add(1);
        let mut outstanding = Outstanding { messages, cause: None };
        for _ in 0..tries {
            if outstanding.messages.is_empty() {
                return Ok(());
            }
            let topics = topics_of(&outstanding.messages);
            self.topic_metadata_to_refresh.extend(topics);
            if self.refresh_is_due() {
                let topics = std::mem::take(&mut self.topic_metadata_to_refresh);
                self.refresh(&topics);
                // Also when nobody has answered: the next one comes after the interval again.
                self.last_topic_metadata_refresh_time = Some(self.machine.now());
            }
            outstanding = self.dispatch(outstanding.messages);
            if !outstanding.messages.is_empty() {
                self.machine.sleep(self.config.retry_backoff);
                // Also after the last try: a loop that looks at its retries only at the top.
                self.refresh(&topics_of(&outstanding.messages));
            }
        }
        if outstanding.messages.is_empty() {
            return Ok(());
        }
        let topics: Vec<String> = topics_of(&outstanding.messages).into_iter().collect();
        let cause = Box::new(outstanding.cause.unwrap_or(SendError::Closed));
        tracing::error!(?topics, "failed to send: {cause}");
        Err(SendError::FailedToSend { messages: outstanding.messages.len(), topics, tries, cause })
    }

    pub(crate) fn close(&mut self) {
        self.producer_pool.close();
    }

    /// (0.8 compared with `>` in milliseconds, so that an interval of 0 spared the sends within one millisecond.)
    fn refresh_is_due(&self) -> bool {
        let Some(interval) = self.config.topic_metadata_refresh_interval else { return false };
        let last = self.last_topic_metadata_refresh_time;
        last.is_none_or(|last| self.machine.now().saturating_sub(last) >= interval)
    }

    /// Here, in the thread that wants to send; a failure is logged and swallowed.
    fn refresh(&mut self, topics: &BTreeSet<String>) {
        let correlation_id = self.next_correlation_id();
        let updated = self.broker_partition_info.update_info(topics, &mut self.producer_pool, correlation_id);
        if let Err(error) = updated {
            tracing::error!("{error}");
        }
        self.send_partition_per_topic_cache.clear();
    }

    /// `dispatchSerializedData`: sends to one broker after the other, and gives back what has to be tried again.
    fn dispatch(&mut self, messages: Vec<KeyedMessage>) -> Outstanding {
        let per_broker = match self.partition_and_collate(&messages) {
            Ok(per_broker) => per_broker,
            Err(cause) => {
                tracing::warn!("failed to collate messages by topic and partition: {cause}");
                return Outstanding { messages, cause: Some(cause) };
            }
        };
        let mut outstanding = Outstanding { messages: Vec::new(), cause: None };
        for (broker, mut partitions) in per_broker {
            let failed = match broker {
                None => partitions.keys().map(|at| (at.clone(), SendError::NoLeader(at.0.clone()))).collect(),
                Some(broker) => self.send(broker, &partitions),
            };
            for (at, cause) in failed {
                tracing::warn!(topic = at.0, partition = at.1, "failed to send: {cause}");
                outstanding.messages.extend(partitions.remove(&at).unwrap_or_default());
                outstanding.cause = Some(cause);
            }
        }
        outstanding
    }

    fn partition_and_collate(&mut self, messages: &[KeyedMessage]) -> Result<PerBroker, SendError> {
        let mut per_broker = PerBroker::new();
        for message in messages {
            let correlation_id = self.next_correlation_id();
            let topic = &message.topic;
            let partitions =
                self.broker_partition_info.get(topic, &mut self.producer_pool, correlation_id)?;
            let number = self.partition_of(message, &partitions)?;
            // A partition without a leader fails when it is sent to, so that the others are served.
            let leader = partitions.iter().find(|known| known.partition == number);
            let of_broker = per_broker.entry(leader.and_then(|known| known.leader)).or_default();
            of_broker.entry((topic.clone(), number)).or_default().push(message.clone());
        }
        Ok(per_broker)
    }

    fn partition_of(
        &mut self,
        message: &KeyedMessage,
        partitions: &[PartitionAndLeader],
    ) -> Result<i32, SendError> {
        let topic = &message.topic;
        let Some(key) = message.partitioned_by() else {
            return self.sticky_partition(topic, partitions);
        };
        let count = i32::try_from(partitions.len()).unwrap_or(i32::MAX);
        let partition = self.partitioner.partition(key, count);
        if (0..count).contains(&partition) {
            return Ok(partition);
        }
        Err(SendError::NoSuchPartition { topic: topic.clone(), partition, partitions: count })
    }

    /// Once chosen it stays until the next refresh, even when its leader is gone: "we want to postpone the failure until the
    /// send operation anyways".
    fn sticky_partition(&mut self, topic: &str, partitions: &[PartitionAndLeader]) -> Result<i32, SendError> {
        if let Some(partition) = self.send_partition_per_topic_cache.get(topic) {
            return Ok(*partition);
        }
        let available: Vec<i32> =
            partitions.iter().filter(|known| known.leader.is_some()).map(|known| known.partition).collect();
        if available.is_empty() {
            return Err(SendError::NoLeader(topic.to_owned()));
        }
        let chosen = available[self.rng.random_range(0..available.len())];
        self.send_partition_per_topic_cache.insert(topic.to_owned(), chosen);
        Ok(chosen)
    }

    /// One request to one broker. Says which partitions have to be tried again, and why.
    fn send(
        &mut self,
        broker: i32,
        partitions: &BTreeMap<TopicAndPartition, Vec<KeyedMessage>>,
    ) -> Vec<(TopicAndPartition, SendError)> {
        let correlation_id = self.next_correlation_id();
        let request = self.request(partitions);
        let Some(producer) = self.producer_pool.get(broker) else {
            // Only leaders with an address are known, and each has got its producer when it became known.
            let all = partitions.keys();
            return all.map(|at| (at.clone(), SendError::NoLeader(at.0.clone()))).collect();
        };
        let address = producer.broker().clone();
        match producer.produce(&request, correlation_id) {
            Ok(None) => Vec::new(),
            Ok(Some(response)) => failures(&response, partitions, &address),
            Err(error) => partitions.keys().map(|at| (at.clone(), error.clone().into())).collect(),
        }
    }

    fn request(&self, partitions: &BTreeMap<TopicAndPartition, Vec<KeyedMessage>>) -> ProduceRequest {
        let timestamp = self.machine.wall_millis();
        let mut topics: Vec<TopicProduceData> = Vec::new();
        for ((topic, partition), messages) in partitions {
            let mut batch = BatchBuilder::new(Vec::new());
            for message in messages {
                batch.append(timestamp, message.key.as_deref(), Some(&message.message), &[]);
            }
            let records = Some(batch.seal(NOT_IDEMPOTENT).into());
            let data = PartitionProduceData { index: *partition, records };
            match topics.last_mut().filter(|last| last.name == *topic) {
                Some(last) => last.partition_data.push(data),
                None => topics.push(TopicProduceData {
                    name: topic.clone(),
                    partition_data: vec![data],
                    ..Default::default()
                }),
            }
        }
        ProduceRequest {
            transactional_id: None,
            acks: self.config.request_required_acks,
            timeout_ms: i32::try_from(self.config.request_timeout.as_millis()).unwrap_or(i32::MAX),
            topic_data: topics,
        }
    }

    fn next_correlation_id(&mut self) -> i32 {
        let id = self.correlation_id;
        self.correlation_id = id.wrapping_add(1);
        id
    }
}

fn topics_of(messages: &[KeyedMessage]) -> BTreeSet<String> {
    messages.iter().map(|message| message.topic.clone()).collect()
}

/// The partitions that the broker has refused, and those that its answer does not speak of.
fn failures(
    response: &ProduceResponse,
    partitions: &BTreeMap<TopicAndPartition, Vec<KeyedMessage>>,
    broker: &BrokerAddress,
) -> Vec<(TopicAndPartition, SendError)> {
    let mut codes = BTreeMap::new();
    for topic in &response.responses {
        for partition in &topic.partition_responses {
            codes.insert((topic.name.as_str(), partition.index), partition.error_code);
        }
    }
    let failure = |at: &TopicAndPartition| {
        let (topic, partition) = (at.0.clone(), at.1);
        let error = match codes.get(&(at.0.as_str(), partition)).copied() {
            Some(code) if code.is_ok() => return None,
            Some(code) => SendError::Refused { broker: broker.clone(), topic, partition, code },
            None => {
                let what = format!("it lacks {topic}-{partition}");
                RequestError::Misfit { broker: broker.clone(), what }.into()
            }
        };
        Some((at.clone(), error))
    };
    partitions.keys().filter_map(failure).collect()
}
