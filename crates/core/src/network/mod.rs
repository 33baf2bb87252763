//! Connections to brokers as state machines: who is connected, what is in flight, what to do next.
//!
//! [`NetworkClient`] is the whole of it; it knows nodes and requests, but no metadata.

mod cluster_connection_states;
mod connect_race;
mod handshake;
mod in_flight_requests;
mod network_client;
mod node_api_versions;
mod request;
mod suspicion;

pub use cluster_connection_states::ConnectionState;
pub use network_client::{
    DisconnectCause, LeastLoaded, NetworkClient, NodeReadiness, NodeStateChange, StateChange,
};
pub use node_api_versions::NodeApiVersions;
pub use request::{
    ClientRequest, Completion, OutboundRequest, RequestFailure, RequestToken, Response, SharedRequest,
};

/// A broker's id; negative for bootstrap addresses that have no id yet (−1, −2, …).
pub type NodeId = i32;

/// Names one connection for its whole life; a reconnect gets a new one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ConnectionId(pub u64);
