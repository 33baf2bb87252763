//! What pretended brokers answer to ApiVersions and Metadata: the truth about a pretended cluster.

use std::collections::BTreeMap;

use milena_protocol::{
    ApiKey, ErrorCode, Uuid,
    messages::{
        ApiVersion, ApiVersionsResponse, MetadataRequest, MetadataResponse, MetadataResponseBroker,
        MetadataResponsePartition, MetadataResponseTopic,
    },
};

use super::{Broker, PeerRequest, Reply};

/// A partition as the metadata tells it.
#[derive(Clone, Debug)]
pub struct FakePartition {
    pub leader: i32,
    pub epoch: i32,
    pub replicas: Vec<i32>,
    pub isr: Vec<i32>,
    pub error: ErrorCode,
}

/// A topic as the metadata tells it.
#[derive(Clone, Debug)]
pub struct FakeTopic {
    pub id: Uuid,
    pub internal: bool,
    pub partitions: Vec<FakePartition>,
    pub error: ErrorCode,
}

/// A cluster as the metadata tells it.
#[derive(Clone, Debug)]
pub struct FakeCluster {
    pub id: Option<String>,
    pub controller: i32,
    pub brokers: BTreeMap<i32, (String, i32)>,
    pub topics: BTreeMap<String, FakeTopic>,
    pub error: ErrorCode,
    topics_ever: u32,
}

impl FakeCluster {
    /// Brokers 1 to `brokers` at `b1:9092`, …, no topics.
    pub fn new(brokers: i32) -> Self {
        Self {
            id: Some("pretended".to_owned()),
            controller: 1,
            brokers: (1..=brokers).map(|id| (id, (format!("b{id}"), 9092))).collect(),
            topics: BTreeMap::new(),
            error: ErrorCode::NONE,
            topics_ever: 0,
        }
    }

    /// Creates a topic whose partitions have these leaders, all in epoch 0; again, and it is another topic.
    pub fn create(&mut self, name: &str, leaders: &[i32]) -> &mut FakeTopic {
        self.topics_ever += 1;
        let partition = |leader: &i32| FakePartition {
            leader: *leader,
            epoch: 0,
            replicas: vec![*leader],
            isr: vec![*leader],
            error: ErrorCode::NONE,
        };
        let topic = FakeTopic {
            id: Uuid(u128::from(self.topics_ever).to_be_bytes()),
            internal: false,
            partitions: leaders.iter().map(partition).collect(),
            error: ErrorCode::NONE,
        };
        self.topics.insert(name.to_owned(), topic);
        self.topics.get_mut(name).expect("just inserted")
    }

    /// A topic.
    pub fn topic(&mut self, name: &str) -> &mut FakeTopic {
        self.topics.get_mut(name).expect("a topic of this name")
    }

    /// A partition.
    pub fn partition(&mut self, topic: &str, partition: usize) -> &mut FakePartition {
        &mut self.topic(topic).partitions[partition]
    }

    /// Gives a partition another leader, in the next epoch.
    pub fn move_leader(&mut self, topic: &str, partition: usize, leader: i32) {
        let partition = self.partition(topic, partition);
        partition.leader = leader;
        partition.epoch += 1;
    }

    /// What a broker answers without a script.
    pub fn answer(&self, request: &PeerRequest, broker: &Broker) -> Reply {
        match request.api {
            ApiKey::ApiVersions => api_versions(request, broker),
            ApiKey::Metadata => request.answer(&self.metadata(&request.decode())),
            other => panic!("nobody told this test's peer how to answer {other}"),
        }
    }

    /// The answer to a metadata request.
    pub fn metadata(&self, request: &MetadataRequest) -> MetadataResponse {
        let broker = |(id, (host, port)): (&i32, &(String, i32))| MetadataResponseBroker {
            node_id: *id,
            host: host.clone(),
            port: *port,
            ..Default::default()
        };
        let names: Vec<String> = match &request.topics {
            Some(topics) => topics.iter().filter_map(|topic| topic.name.clone()).collect(),
            None => self.topics.keys().cloned().collect(),
        };
        MetadataResponse {
            brokers: self.brokers.iter().map(broker).collect(),
            cluster_id: self.id.clone(),
            controller_id: self.controller,
            topics: names.iter().map(|name| self.metadata_of(name)).collect(),
            error_code: self.error,
            ..Default::default()
        }
    }

    fn metadata_of(&self, name: &str) -> MetadataResponseTopic {
        let mut answer = MetadataResponseTopic { name: Some(name.to_owned()), ..Default::default() };
        let Some(topic) = self.topics.get(name) else {
            answer.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
            return answer;
        };
        answer.error_code = topic.error;
        answer.topic_id = topic.id;
        answer.is_internal = topic.internal;
        if topic.error.is_ok() {
            let partition = |(index, partition): (i32, &FakePartition)| MetadataResponsePartition {
                error_code: partition.error,
                partition_index: index,
                leader_id: partition.leader,
                leader_epoch: partition.epoch,
                replica_nodes: partition.replicas.clone(),
                isr_nodes: partition.isr.clone(),
                offline_replicas: Vec::new(),
            };
            answer.partitions = (0..).zip(&topic.partitions).map(partition).collect();
        }
        answer
    }
}

/// KIP-511: a broker that does not know the version answers in version 0.
fn api_versions(request: &PeerRequest, broker: &Broker) -> Reply {
    let mut versions = broker.versions();
    versions.retain(|(api, _)| *api != ApiKey::ApiVersions);
    versions.push((ApiKey::ApiVersions, broker.api_versions));
    let known = broker.api_versions.contains(request.version);
    if !known {
        versions.retain(|(api, _)| *api == ApiKey::ApiVersions);
    }
    let api = |(api, range): &(ApiKey, milena_protocol::VersionRange)| ApiVersion {
        api_key: *api as i16,
        min_version: range.min,
        max_version: range.max,
    };
    let response = ApiVersionsResponse {
        error_code: if known { ErrorCode::NONE } else { ErrorCode::UNSUPPORTED_VERSION },
        api_keys: versions.iter().map(api).collect(),
        ..Default::default()
    };
    request.answer_in(if known { request.version } else { 0 }, &response)
}
