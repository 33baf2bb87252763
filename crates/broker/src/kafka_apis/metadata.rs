//! Metadata (key 3), versions 0 to 13.
//!
//! Served: all topics, topics by name, topics by id (from version 12; 10 and 11 have the fields, but no broker ever served
//! them); topics created automatically, before the answer rather than after it; authorized operations,
//! which are all there are. Answers come from the metadata cache alone, with the endpoints of the asker's listener.
//! Not served: the top-level error of version 13, which this broker has no reason for.

use std::collections::BTreeSet;
use std::sync::Arc;

use milena_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use milena_protocol::messages::{MetadataRequest, MetadataRequestTopic, MetadataResponse};
use milena_protocol::{ErrorCode, Uuid, VersionRange};

use super::auto_create::create;
use super::{ALL_CLUSTER_OPERATIONS, ALL_TOPIC_OPERATIONS, RequestContext};
use crate::controller::validate_topic_name;
use crate::metadata_cache::{
    MetadataSnapshot, NO_LEADER, PartitionMetadata, TopicMetadata, is_internal_topic,
};

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 13);

/// How many topics one request may create by naming them. Each costs the controller work, and the name nothing.
const MAX_AUTO_CREATED: usize = 1_000;

pub(super) async fn handle(context: &RequestContext, request: MetadataRequest) -> MetadataResponse {
    let create = request.allow_auto_topic_creation && context.node.config.auto_create_topics;
    let refused = match &request.topics {
        Some(topics) if create => auto_create(context, topics).await,
        _ => Vec::new(),
    };
    let snapshot = context.node.metadata_cache.snapshot();
    let view = View {
        snapshot: &snapshot,
        listener: &context.peer.listener,
        version: context.version(),
        request: &request,
    };
    let mut response = view.answer();
    for (name, error) in refused {
        let named = response.topics.iter_mut().find(|topic| topic.name.as_deref() == Some(name.as_str()));
        if let Some(topic) = named.filter(|topic| topic.error_code == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION) {
            topic.error_code = error;
        }
    }
    response
}

/// Creates what is asked for and not there; answers what could not be created, and why.
async fn auto_create(context: &RequestContext, topics: &[MetadataRequestTopic]) -> Vec<(String, ErrorCode)> {
    let missing: BTreeSet<&str> = {
        let snapshot = context.node.metadata_cache.load();
        let names = topics.iter().filter(|topic| topic.topic_id.is_zero()).filter_map(|t| t.name.as_deref());
        let creatable = |name: &&str| {
            snapshot.topic(name).is_none() && validate_topic_name(name).is_ok() && !is_internal_topic(name)
        };
        names.filter(creatable).take(MAX_AUTO_CREATED).collect()
    };
    if missing.is_empty() {
        return Vec::new();
    }
    let names = missing.into_iter().map(str::to_owned).collect();
    let mut answers = create(&context.node, names).await;
    answers.retain(|(name, code)| {
        if code.is_ok() {
            tracing::info!(topic = name, "created, because a client asked for its metadata");
        }
        // Another connection was faster.
        !code.is_ok() && *code != ErrorCode::TOPIC_ALREADY_EXISTS
    });
    answers
}

/// One request against one state of the cluster.
pub(super) struct View<'a> {
    pub(super) snapshot: &'a MetadataSnapshot,
    pub(super) listener: &'a str,
    pub(super) version: i16,
    pub(super) request: &'a MetadataRequest,
}

impl View<'_> {
    pub(super) fn answer(&self) -> MetadataResponse {
        let cluster_operations = match self.request.include_cluster_authorized_operations {
            true => ALL_CLUSTER_OPERATIONS,
            false => i32::MIN,
        };
        let controller = self.snapshot.controller_id().filter(|id| self.snapshot.broker(*id).is_some());
        MetadataResponse {
            brokers: self.brokers(),
            cluster_id: Some(self.snapshot.cluster_id().to_owned()),
            controller_id: controller.unwrap_or(NO_LEADER),
            topics: self.topics(),
            cluster_authorized_operations: cluster_operations,
            ..Default::default()
        }
    }

    /// The brokers that the asker can reach: those with its listener.
    fn brokers(&self) -> Vec<MetadataResponseBroker> {
        let reachable = self.snapshot.brokers().filter_map(|broker| {
            let endpoint = broker.endpoint(self.listener)?;
            Some(MetadataResponseBroker {
                node_id: broker.id,
                host: endpoint.host.clone(),
                port: i32::from(endpoint.port),
                rack: broker.rack.clone(),
            })
        });
        reachable.collect()
    }

    fn topics(&self) -> Vec<MetadataResponseTopic> {
        match &self.request.topics {
            // In version 0 nobody could ask for no topics, so the empty list means all.
            Some(topics) if self.version > 0 || !topics.is_empty() => {
                let mut seen = BTreeSet::new();
                let first = |topic: &&MetadataRequestTopic| seen.insert((topic.topic_id, topic.name.clone()));
                topics.iter().filter(first).map(|topic| self.topic(topic)).collect()
            }
            _ => {
                let mut all: Vec<&Arc<TopicMetadata>> = self.snapshot.topics().collect();
                all.sort_by(|a, b| a.name.cmp(&b.name));
                all.into_iter().map(|topic| self.known(topic)).collect()
            }
        }
    }

    fn topic(&self, asked: &MetadataRequestTopic) -> MetadataResponseTopic {
        if self.version < 12 && (!asked.topic_id.is_zero() || asked.name.is_none()) {
            let name = asked.name.clone().unwrap_or_default();
            return unknown(ErrorCode::INVALID_REQUEST, Some(name), asked.topic_id);
        }
        if !asked.topic_id.is_zero() {
            return match self.snapshot.topic_by_id(asked.topic_id) {
                Some(topic) => self.known(topic),
                None => unknown(ErrorCode::UNKNOWN_TOPIC_ID, None, asked.topic_id),
            };
        }
        let name = asked.name.clone().unwrap_or_default();
        match self.snapshot.topic(&name) {
            Some(topic) => self.known(topic),
            None if validate_topic_name(&name).is_err() => {
                unknown(ErrorCode::INVALID_TOPIC_EXCEPTION, Some(name), Uuid::ZERO)
            }
            None => unknown(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, Some(name), Uuid::ZERO),
        }
    }

    fn known(&self, topic: &TopicMetadata) -> MetadataResponseTopic {
        let operations = match self.request.include_topic_authorized_operations {
            true => ALL_TOPIC_OPERATIONS,
            false => i32::MIN,
        };
        MetadataResponseTopic {
            error_code: ErrorCode::NONE,
            name: Some(topic.name.to_string()),
            topic_id: topic.id,
            is_internal: is_internal_topic(&topic.name),
            partitions: topic.partitions().iter().map(|partition| self.partition(partition)).collect(),
            topic_authorized_operations: operations,
        }
    }

    /// `ZkMetadataCache.getPartitionMetadata`, with what older versions cannot express.
    fn partition(&self, partition: &PartitionMetadata) -> MetadataResponsePartition {
        let leader = self.snapshot.broker(partition.leader);
        let error = match leader {
            Some(leader) if leader.endpoint(self.listener).is_some() => ErrorCode::NONE,
            Some(_) if self.version >= 6 => ErrorCode::LISTENER_NOT_FOUND,
            _ => ErrorCode::LEADER_NOT_AVAILABLE,
        };
        let reachable = |id: &i32| {
            self.snapshot.broker(*id).is_some_and(|broker| broker.endpoint(self.listener).is_some())
        };
        let mut answer = MetadataResponsePartition {
            error_code: error,
            partition_index: partition.partition,
            leader_id: if error.is_ok() { partition.leader } else { NO_LEADER },
            leader_epoch: partition.leader_epoch,
            replica_nodes: partition.replicas.clone(),
            isr_nodes: partition.isr.clone(),
            offline_replicas: partition.offline_replicas(self.snapshot, self.listener),
        };
        // Clients of version 0 take a broker that they cannot look up for an error of their own.
        if self.version == 0 {
            answer.replica_nodes.retain(reachable);
            answer.isr_nodes.retain(reachable);
            let missing = answer.replica_nodes.len() < partition.replicas.len()
                || answer.isr_nodes.len() < partition.isr.len();
            if error.is_ok() && missing {
                answer.error_code = ErrorCode::REPLICA_NOT_AVAILABLE;
            }
        }
        answer
    }
}

fn unknown(error_code: ErrorCode, name: Option<String>, topic_id: Uuid) -> MetadataResponseTopic {
    let is_internal = name.as_deref().is_some_and(is_internal_topic);
    MetadataResponseTopic { error_code, name, topic_id, is_internal, ..Default::default() }
}
