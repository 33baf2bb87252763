//! [`BrokerPartitionInfo`]: the metadata that the producer knows (`kafka.producer.BrokerPartitionInfo`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use milena_protocol::messages::{MetadataResponse, MetadataResponsePartition};
use rand::rngs::SmallRng;

use crate::client_utils::{RefreshReport, fetch_topic_metadata};
use crate::producer_pool::ProducerPool;
use crate::{BrokerAddress, Machine, ProducerConfig, SendError};

/// Told of each refresh when it is over.
pub(crate) type OnRefresh = Box<dyn FnMut(&RefreshReport) + Send>;

/// Each topic's partitions and their leaders, as of the last refresh.
pub(crate) struct BrokerPartitionInfo {
    config: Arc<ProducerConfig>,
    machine: Arc<dyn Machine>,
    rng: SmallRng,
    on_refresh: Option<OnRefresh>,
    topic_partition_info: BTreeMap<String, Vec<PartitionAndLeader>>,
}

/// A partition, and the broker that leads it, if one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartitionAndLeader {
    pub(crate) partition: i32,
    pub(crate) leader: Option<i32>,
}

impl BrokerPartitionInfo {
    pub(crate) fn new(
        config: Arc<ProducerConfig>,
        machine: Arc<dyn Machine>,
        rng: SmallRng,
        on_refresh: Option<OnRefresh>,
    ) -> Self {
        Self { config, machine, rng, on_refresh, topic_partition_info: BTreeMap::new() }
    }

    /// The partitions of a topic in order. One that is not known is asked for here and now, whatever the interval says.
    ///
    /// # Errors
    /// [`SendError::NoMetadata`], [`SendError::UnknownTopic`].
    pub(crate) fn get(
        &mut self,
        topic: &str,
        pool: &mut ProducerPool,
        correlation_id: i32,
    ) -> Result<Vec<PartitionAndLeader>, SendError> {
        if !self.topic_partition_info.contains_key(topic) {
            self.update_info(&BTreeSet::from([topic.to_owned()]), pool, correlation_id)?;
        }
        let known = self.topic_partition_info.get(topic).filter(|partitions| !partitions.is_empty());
        known.cloned().ok_or_else(|| SendError::UnknownTopic(topic.to_owned()))
    }

    /// Fetches the metadata of these topics, and rebuilds the connections to all leaders that it names. The caller, who
    /// wanted to send something, waits.
    ///
    /// # Errors
    /// [`SendError::NoMetadata`]. What was known stays.
    pub(crate) fn update_info(
        &mut self,
        topics: &BTreeSet<String>,
        pool: &mut ProducerPool,
        correlation_id: i32,
    ) -> Result<(), SendError> {
        let (report, fetched) =
            fetch_topic_metadata(topics, &self.config, correlation_id, &self.machine, &mut self.rng);
        if let Some(on_refresh) = &mut self.on_refresh {
            on_refresh(&report);
        }
        let response = fetched?;
        let brokers = brokers_of(&response);
        let mut leaders = BTreeMap::new();
        for topic in response.topics {
            let name = topic.name.unwrap_or_default();
            if !topic.error_code.is_ok() {
                tracing::warn!(topic = name, "no metadata: {}", topic.error_code);
                continue;
            }
            let partitions = partitions_of(&topic.partitions, &brokers);
            for leader in partitions.iter().filter_map(|partition| partition.leader) {
                leaders.extend(brokers.get(&leader).map(|address| (leader, address.clone())));
            }
            self.topic_partition_info.insert(name, partitions);
        }
        pool.update_producer(leaders);
        Ok(())
    }
}

impl fmt::Debug for BrokerPartitionInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrokerPartitionInfo")
            .field("topic_partition_info", &self.topic_partition_info)
            .finish_non_exhaustive()
    }
}

/// The brokers that can be reached, by id; a port that is none makes one that cannot.
fn brokers_of(response: &MetadataResponse) -> BTreeMap<i32, BrokerAddress> {
    let brokers = response.brokers.iter().filter_map(|broker| {
        let port = u16::try_from(broker.port).ok()?;
        Some((broker.node_id, BrokerAddress { host: broker.host.clone(), port }))
    });
    brokers.collect()
}

/// In order, and without leaders that the answer gives no address of.
fn partitions_of(
    partitions: &[MetadataResponsePartition],
    brokers: &BTreeMap<i32, BrokerAddress>,
) -> Vec<PartitionAndLeader> {
    let mut known: Vec<PartitionAndLeader> = partitions
        .iter()
        .map(|partition| PartitionAndLeader {
            partition: partition.partition_index,
            leader: Some(partition.leader_id).filter(|leader| brokers.contains_key(leader)),
        })
        .collect();
    known.sort_by_key(|partition| partition.partition);
    known
}
