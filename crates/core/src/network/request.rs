//! Requests on their way to a broker, and their ends.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use milena_protocol::{
    ApiKey, DecodeError, EncodeError, Message, Request, VersionRange,
    frame::{Frame, encode_request},
    wire::Decoder,
};

use super::NodeId;
use crate::time::Instant;

/// A request of any API, encoded only when it is known which version the broker speaks.
pub trait OutboundRequest: Send + std::fmt::Debug {
    /// The API.
    fn api_key(&self) -> ApiKey;
    /// The versions that this client can say it in.
    fn versions(&self) -> VersionRange;
    /// The frame.
    fn encode(&self, version: i16, correlation_id: i32, client_id: &str) -> Result<Frame, EncodeError>;
}

impl<R: Request> OutboundRequest for R {
    fn api_key(&self) -> ApiKey {
        R::API_KEY
    }

    fn versions(&self) -> VersionRange {
        R::VERSIONS
    }

    fn encode(&self, version: i16, correlation_id: i32, client_id: &str) -> Result<Frame, EncodeError> {
        encode_request(self, version, correlation_id, Some(client_id))
    }
}

/// A request that can be said more than once, because whoever sends it may have to repeat it to another broker.
#[derive(Clone, Debug)]
pub struct SharedRequest(pub Arc<dyn OutboundRequest + Sync>);

impl OutboundRequest for SharedRequest {
    fn api_key(&self) -> ApiKey {
        self.0.api_key()
    }

    fn versions(&self) -> VersionRange {
        self.0.versions()
    }

    fn encode(&self, version: i16, correlation_id: i32, client_id: &str) -> Result<Frame, EncodeError> {
        self.0.encode(version, correlation_id, client_id)
    }
}

/// The sender's own name for a request; it comes back with the [`Completion`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct RequestToken(pub u64);

/// A request handed to the NetworkClient.
#[derive(Debug)]
pub struct ClientRequest {
    /// Comes back with the completion.
    pub token: RequestToken,
    /// What to send.
    pub request: Box<dyn OutboundRequest>,
    /// Versions outside this range are not used, even where both sides know them.
    pub versions: VersionRange,
    /// request.timeout.ms for this request: after it the connection is closed.
    pub timeout: Duration,
    /// False for a produce request with acks=0: it completes when it is written.
    pub expects_response: bool,
}

/// The end of a request. Every accepted request has exactly one, and those of one connection come in order.
#[derive(Debug)]
pub struct Completion {
    /// The sender's name for the request.
    pub token: RequestToken,
    /// The node it was sent to.
    pub node: NodeId,
    /// When it was handed to the connection.
    pub sent_at: Instant,
    /// The answer or why there is none.
    pub result: Result<Response, RequestFailure>,
}

/// An undecoded answer.
#[derive(Debug, Clone)]
pub struct Response {
    /// The version that the request was sent in.
    pub version: i16,
    /// The body, behind the response header; empty for a request that gets no answer.
    pub body: Bytes,
}

impl Response {
    /// The answer to an `R`.
    pub fn decode<R: Request>(&self) -> Result<R::Response, DecodeError> {
        R::Response::decode(&mut Decoder::new(self.body.clone()), self.version)
    }
}

/// Why a request got no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RequestFailure {
    /// The connection ended; the request may or may not have been carried out.
    #[error("disconnected from {node_address}: {reason}")]
    Disconnected {
        /// The broker's address.
        node_address: Arc<str>,
        /// What the socket said.
        reason: Arc<str>,
    },
    /// No answer within the request's timeout; the request may or may not have been carried out.
    #[error("no answer from {node_address} within {timeout:?}")]
    TimedOut {
        /// The broker's address.
        node_address: Arc<str>,
        /// The request's timeout.
        timeout: Duration,
    },
    /// Broker and client have no version of this API in common; it was not sent.
    #[error("{api:?}: the broker speaks versions {broker}, this client {client}")]
    UnsupportedVersion {
        /// The API.
        api: ApiKey,
        /// The broker's versions, or "none".
        broker: String,
        /// The versions that the request may be sent in.
        client: String,
    },
    /// The request cannot be said in the version that both know; it was not sent.
    #[error("cannot encode the request: {0}")]
    Encode(Arc<EncodeError>),
    /// The client was closed before the answer came.
    #[error("the client was closed")]
    Closed,
}
