//! DescribeCluster (key 60), versions 0 to 2.
//!
//! Served: the brokers, as clients of the asker's listener reach them. Not served: endpoints of controllers
//! (`endpoint_type` 2), because clients never talk to the controller apart from a broker here; fenced brokers, of which
//! there are none.

use milena_protocol::messages::{DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse};
use milena_protocol::{ErrorCode, VersionRange};

use super::{ALL_CLUSTER_OPERATIONS, RequestContext};
use crate::metadata_cache::NO_LEADER;

pub(super) const VERSIONS: VersionRange = VersionRange::new(0, 2);

const BROKER_ENDPOINTS: i8 = 1;
const CONTROLLER_ENDPOINTS: i8 = 2;

pub(super) fn handle(context: &RequestContext, request: &DescribeClusterRequest) -> DescribeClusterResponse {
    let snapshot = context.node.metadata_cache.load();
    let cluster_id = snapshot.cluster_id().to_owned();
    if request.endpoint_type != BROKER_ENDPOINTS {
        let error_code = match request.endpoint_type {
            CONTROLLER_ENDPOINTS => ErrorCode::MISMATCHED_ENDPOINT_TYPE,
            _ => ErrorCode::UNSUPPORTED_ENDPOINT_TYPE,
        };
        let error_message = Some("The request was sent to an endpoint of a broker.".to_owned());
        return DescribeClusterResponse { error_code, error_message, cluster_id, ..Default::default() };
    }
    let brokers = snapshot.brokers().filter_map(|broker| {
        let endpoint = broker.endpoint(&context.peer.listener)?;
        Some(DescribeClusterBroker {
            broker_id: broker.id,
            host: endpoint.host.clone(),
            port: i32::from(endpoint.port),
            rack: broker.rack.clone(),
            is_fenced: false,
        })
    });
    DescribeClusterResponse {
        cluster_id,
        controller_id: snapshot.controller_id().unwrap_or(NO_LEADER),
        brokers: brokers.collect(),
        cluster_authorized_operations: match request.include_cluster_authorized_operations {
            true => ALL_CLUSTER_OPERATIONS,
            false => i32::MIN,
        },
        ..Default::default()
    }
}
