//! [`KafkaApis`]: one request after the other, each in the file of its API.
//!
//! The header of each file names the versions that are served, and what of the API is not.

mod alter_partition;
mod alter_partition_reassignments;
mod api_versions;
mod auto_create;
mod control;
mod controlled_shutdown;
mod create_partitions;
mod create_topics;
mod delete_groups;
mod delete_records;
mod delete_topics;
mod describe_cluster;
mod describe_configs;
mod describe_groups;
mod describe_log_dirs;
mod elect_leaders;
mod fetch;
mod find_coordinator;
mod heartbeat;
mod incremental_alter_configs;
mod init_producer_id;
mod intercepted;
mod join_group;
mod leader_and_isr;
mod leader_hints;
mod leave_group;
mod list_groups;
mod list_offsets;
mod list_partition_reassignments;
mod metadata;
#[cfg(test)]
mod metadata_tests;
mod offset_commit;
mod offset_fetch;
mod offset_for_leader_epoch;
mod produce;
mod stop_replica;
mod sync_group;
mod update_metadata;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::{
    ApiKey, Decoder, ErrorCode, Frame, Message, Request, RequestHead, Uuid, VersionRange,
    decode_request_head, encode_response,
};

use crate::blocking::blocking;
use crate::network::{BoxFuture, CloseReason, Peer, Reply, RequestHandler};
use crate::node::Node;

/// What is served, and all that ApiVersions promises.
const SERVED: &[(ApiKey, VersionRange)] = &[
    (ApiKey::Produce, produce::VERSIONS),
    (ApiKey::Fetch, fetch::VERSIONS),
    (ApiKey::ListOffsets, list_offsets::VERSIONS),
    (ApiKey::Metadata, metadata::VERSIONS),
    (ApiKey::LeaderAndIsr, leader_and_isr::VERSIONS),
    (ApiKey::StopReplica, stop_replica::VERSIONS),
    (ApiKey::UpdateMetadata, update_metadata::VERSIONS),
    (ApiKey::ControlledShutdown, controlled_shutdown::VERSIONS),
    (ApiKey::OffsetCommit, offset_commit::VERSIONS),
    (ApiKey::OffsetFetch, offset_fetch::VERSIONS),
    (ApiKey::FindCoordinator, find_coordinator::VERSIONS),
    (ApiKey::JoinGroup, join_group::VERSIONS),
    (ApiKey::Heartbeat, heartbeat::VERSIONS),
    (ApiKey::LeaveGroup, leave_group::VERSIONS),
    (ApiKey::SyncGroup, sync_group::VERSIONS),
    (ApiKey::DescribeGroups, describe_groups::VERSIONS),
    (ApiKey::ListGroups, list_groups::VERSIONS),
    (ApiKey::DeleteGroups, delete_groups::VERSIONS),
    (ApiKey::ApiVersions, api_versions::VERSIONS),
    (ApiKey::CreateTopics, create_topics::VERSIONS),
    (ApiKey::DeleteTopics, delete_topics::VERSIONS),
    (ApiKey::DeleteRecords, delete_records::VERSIONS),
    (ApiKey::InitProducerId, init_producer_id::VERSIONS),
    (ApiKey::OffsetForLeaderEpoch, offset_for_leader_epoch::VERSIONS),
    (ApiKey::DescribeConfigs, describe_configs::VERSIONS),
    (ApiKey::DescribeLogDirs, describe_log_dirs::VERSIONS),
    (ApiKey::CreatePartitions, create_partitions::VERSIONS),
    (ApiKey::ElectLeaders, elect_leaders::VERSIONS),
    (ApiKey::IncrementalAlterConfigs, incremental_alter_configs::VERSIONS),
    (ApiKey::AlterPartitionReassignments, alter_partition_reassignments::VERSIONS),
    (ApiKey::ListPartitionReassignments, list_partition_reassignments::VERSIONS),
    (ApiKey::AlterPartition, alter_partition::VERSIONS),
    (ApiKey::DescribeCluster, describe_cluster::VERSIONS),
];

fn served(api: ApiKey) -> Option<VersionRange> {
    SERVED.iter().find(|(served, _)| *served == api).map(|(_, versions)| *versions)
}

/// Answers the requests of one broker's clients.
pub(crate) struct KafkaApis {
    node: Arc<Node>,
}

impl KafkaApis {
    pub(crate) fn new(node: Arc<Node>) -> Self {
        Self { node }
    }

    async fn dispatch(&self, peer: Arc<Peer>, frame: Bytes) -> Result<Reply, CloseReason> {
        let mut decoder = Decoder::new(frame);
        let head = decode_request_head(&mut decoder)
            .map_err(|error| CloseReason(format!("garbage where a request begins: {error}")))?;
        let Some((api, versions)) = head.api().and_then(|api| Some((api, served(api)?))) else {
            return Err(CloseReason(format!("API {} is not served", head.api_key)));
        };
        let context = RequestContext { node: self.node.clone(), peer, api, head };
        if !versions.contains(context.head.api_version) {
            // The one API whose version a client has to guess (KIP-511).
            if api == ApiKey::ApiVersions {
                return api_versions::unsupported(&context);
            }
            let version = context.head.api_version;
            return Err(CloseReason(format!(
                "{} version {version} is not served: {versions} are",
                api.name()
            )));
        }
        let faults = &self.node.faults;
        let client_id = context.head.client_id.as_deref();
        match faults.intercepts.intercept(self.node.config.node_id, api, client_id) {
            None => context.serve(&mut decoder).await,
            Some(intercepted) => intercepted::serve(intercepted, context, &mut decoder).await,
        }
    }
}

impl RequestHandler for KafkaApis {
    fn handle(&self, peer: Arc<Peer>, frame: Bytes) -> BoxFuture<'_, Result<Reply, CloseReason>> {
        Box::pin(self.dispatch(peer, frame))
    }
}

/// One request on its way through.
struct RequestContext {
    node: Arc<Node>,
    peer: Arc<Peer>,
    api: ApiKey,
    head: RequestHead,
}

impl RequestContext {
    async fn serve(self, decoder: &mut Decoder) -> Result<Reply, CloseReason> {
        match self.api {
            ApiKey::Produce => produce::handle(self.decode(decoder)?, self).await,
            ApiKey::Fetch => fetch::handle(self.decode(decoder)?, self),
            ApiKey::ListOffsets => {
                let request = self.decode(decoder)?;
                let answer = blocking(move || self.reply(&list_offsets::handle(&self, request)));
                answer.await.map_err(|_| CloseReason("the broker is stopping".to_owned()))?
            }
            ApiKey::Metadata => self.reply(&metadata::handle(&self, self.decode(decoder)?).await),
            ApiKey::LeaderAndIsr => self.reply(&leader_and_isr::handle(&self, self.decode(decoder)?).await),
            ApiKey::StopReplica => self.reply(&stop_replica::handle(&self, self.decode(decoder)?).await),
            ApiKey::UpdateMetadata => {
                self.reply(&update_metadata::handle(&self, self.decode(decoder)?).await)
            }
            ApiKey::ControlledShutdown => {
                self.reply(&controlled_shutdown::handle(&self, &self.decode(decoder)?).await)
            }
            ApiKey::ElectLeaders => self.reply(&elect_leaders::handle(&self, self.decode(decoder)?).await),
            ApiKey::IncrementalAlterConfigs => {
                self.reply(&incremental_alter_configs::handle(&self, self.decode(decoder)?).await)
            }
            ApiKey::AlterPartitionReassignments => {
                self.reply(&alter_partition_reassignments::handle(&self, self.decode(decoder)?).await)
            }
            ApiKey::ListPartitionReassignments => {
                self.reply(&list_partition_reassignments::handle(&self, self.decode(decoder)?).await)
            }
            ApiKey::AlterPartition => {
                self.reply(&alter_partition::handle(&self, self.decode(decoder)?).await)
            }
            ApiKey::FindCoordinator => {
                self.reply(&find_coordinator::handle(&self, self.decode(decoder)?).await)
            }
            ApiKey::OffsetCommit => self.reply(&offset_commit::handle(&self, self.decode(decoder)?).await),
            ApiKey::OffsetFetch => self.reply(&offset_fetch::handle(&self, self.decode(decoder)?)),
            ApiKey::JoinGroup => Ok(join_group::handle(self.decode(decoder)?, self)),
            ApiKey::SyncGroup => Ok(sync_group::handle(self.decode(decoder)?, self)),
            ApiKey::Heartbeat => self.reply(&heartbeat::handle(&self, &self.decode(decoder)?)),
            ApiKey::LeaveGroup => self.reply(&leave_group::handle(&self, self.decode(decoder)?)),
            ApiKey::DescribeGroups => self.reply(&describe_groups::handle(&self, self.decode(decoder)?)),
            ApiKey::ListGroups => self.reply(&list_groups::handle(&self, &self.decode(decoder)?)),
            ApiKey::DeleteGroups => self.reply(&delete_groups::handle(&self, self.decode(decoder)?).await),
            ApiKey::ApiVersions => self.reply(&api_versions::handle(&self, &self.decode(decoder)?)),
            ApiKey::CreateTopics => self.reply(&create_topics::handle(&self, self.decode(decoder)?).await),
            ApiKey::DeleteTopics => self.reply(&delete_topics::handle(&self, self.decode(decoder)?).await),
            ApiKey::DeleteRecords => delete_records::handle(self.decode(decoder)?, self).await,
            ApiKey::DescribeLogDirs => {
                let request = self.decode(decoder)?;
                let answer = blocking(move || self.reply(&describe_log_dirs::handle(&self, &request)));
                answer.await.map_err(|_| CloseReason("the broker is stopping".to_owned()))?
            }
            ApiKey::InitProducerId => {
                self.reply(&init_producer_id::handle(&self, &self.decode(decoder)?).await)
            }
            ApiKey::OffsetForLeaderEpoch => {
                let request = self.decode(decoder)?;
                let answer = blocking(move || self.reply(&offset_for_leader_epoch::handle(&self, request)));
                answer.await.map_err(|_| CloseReason("the broker is stopping".to_owned()))?
            }
            ApiKey::DescribeConfigs => self.reply(&describe_configs::handle(&self, self.decode(decoder)?)),
            ApiKey::CreatePartitions => {
                self.reply(&create_partitions::handle(&self, self.decode(decoder)?).await)
            }
            ApiKey::DescribeCluster => self.reply(&describe_cluster::handle(&self, &self.decode(decoder)?)),
            api => Err(CloseReason(format!("{} is not served", api.name()))),
        }
    }

    fn version(&self) -> i16 {
        self.head.api_version
    }

    fn decode<R: Request>(&self, decoder: &mut Decoder) -> Result<R, CloseReason> {
        R::decode(decoder, self.version())
            .map_err(|error| CloseReason(format!("malformed {} request: {error}", self.api.name())))
    }

    fn reply<M: Message>(&self, response: &M) -> Result<Reply, CloseReason> {
        self.encode(response).map(|frame| Reply::Now(Some(frame)))
    }

    fn encode<M: Message>(&self, response: &M) -> Result<Frame, CloseReason> {
        encode_response(self.api, self.version(), self.head.correlation_id, response).map_err(|error| {
            tracing::error!(%error, api = self.api.name(), "an answer cannot be encoded");
            CloseReason(format!("our answer to {} cannot be encoded: {error}", self.api.name()))
        })
    }

    /// The name behind a topic id, for the versions that ask by id.
    fn topic_name(&self, id: Uuid) -> Result<Arc<str>, ErrorCode> {
        let snapshot = self.node.metadata_cache.load();
        snapshot.topic_by_id(id).map(|topic| topic.name.clone()).ok_or(ErrorCode::UNKNOWN_TOPIC_ID)
    }
}

/// How long a request says that it may wait.
fn timeout(timeout_ms: i32) -> Duration {
    Duration::from_millis(u64::try_from(timeout_ms).unwrap_or(0))
}

/// All operations on a topic, as a bit field (`AclEntry.supportedOperations`): READ, WRITE, CREATE, DELETE, ALTER,
/// DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS. Without an authorizer everybody may do everything.
const ALL_TOPIC_OPERATIONS: i32 = 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 11;

/// All operations on a group: READ, DELETE, DESCRIBE.
const ALL_GROUP_OPERATIONS: i32 = 1 << 3 | 1 << 6 | 1 << 8;

/// All operations on the cluster: CREATE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS,
/// IDEMPOTENT_WRITE.
const ALL_CLUSTER_OPERATIONS: i32 = 1 << 5 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12;
