//! The requests of one connection that wait for their answers, in the order in which they were sent.

use std::{collections::VecDeque, time::Duration};

use milena_protocol::ApiKey;

use super::RequestToken;
use crate::time::Instant;

/// A request that was sent and is not answered.
#[derive(Debug)]
pub(super) struct InFlightRequest {
    pub(super) purpose: Purpose,
    pub(super) correlation_id: i32,
    pub(super) api: ApiKey,
    pub(super) version: i16,
    pub(super) sent_at: Instant,
    pub(super) timeout: Duration,
    /// False: it ends when its last byte is written.
    pub(super) expects_response: bool,
}

impl InFlightRequest {
    pub(super) fn deadline(&self) -> Instant {
        self.sent_at + self.timeout
    }
}

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The client's own ApiVersions.
    Handshake,
    /// Somebody's, who gets a completion.
    Client(RequestToken),
}

/// At most max.in.flight.requests.per.connection of them; brokers answer in order, so only the oldest can end.
#[derive(Debug, Default)]
pub(super) struct InFlightRequests {
    queue: VecDeque<InFlightRequest>,
}

impl InFlightRequests {
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn push(&mut self, request: InFlightRequest) {
        self.queue.push_back(request);
    }

    pub(super) fn oldest(&self) -> Option<&InFlightRequest> {
        self.queue.front()
    }

    pub(super) fn pop_oldest(&mut self) -> Option<InFlightRequest> {
        self.queue.pop_front()
    }

    /// The earliest moment at which one of them has waited too long.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.queue.iter().map(InFlightRequest::deadline).min()
    }

    /// Takes the oldest request out when it is one that ends on being written.
    pub(super) fn pop_written(&mut self) -> Option<InFlightRequest> {
        self.queue.pop_front_if(|request| !request.expects_response)
    }
}
