//! The producer's identity: from where sequences count (KIP-98), and how they begin anew (KIP-360).
//!
//! Kafka's source: `TransactionManager`, its idempotent half. Transactions come later.

use std::{sync::Arc, time::Duration};

use milena_protocol::{
    ErrorCode, Message,
    messages::{InitProducerIdRequest, InitProducerIdResponse},
};
use rand::rngs::SmallRng;

use super::{ProduceError, producer_batch::ProducerIdentity};
use crate::{
    backoff::ExponentialBackoff,
    network::{
        ClientRequest, Completion, LeastLoaded, NetworkClient, NodeId, NodeReadiness, RequestFailure,
        RequestToken,
    },
    time::Instant,
};

/// When a broker has not answered for so long another one is asked as well: ids are cheap, and one broker that swallows
/// packets must not hold the first record up (client.md 35).
const ASK_ANOTHER_AFTER: Duration = Duration::from_millis(500);

/// A candidate that is due at once and cannot be asked is looked at again after this, not in a loop.
const LOOK_AGAIN_MIN: Duration = Duration::from_millis(1);

/// So many are asked at once at the most.
const ASKED_MAX: usize = 3;

/// Gets the producer id and bumps the epoch.
#[derive(Debug)]
pub(crate) struct TransactionManager {
    identity: Option<ProducerIdentity>,
    request_timeout: Duration,
    backoff: ExponentialBackoff,
    attempts: u32,
    retry_at: Instant,
    /// The requests that are not answered; the first answer counts.
    asked: Vec<Asked>,
    /// When a broker can be asked that cannot be now, if nothing happens before.
    look_again_at: Instant,
}

#[derive(Debug)]
struct Asked {
    token: RequestToken,
    node: NodeId,
    at: Instant,
}

impl TransactionManager {
    pub(crate) fn new(backoff: ExponentialBackoff, request_timeout: Duration) -> Self {
        Self {
            identity: None,
            request_timeout,
            backoff,
            attempts: 0,
            retry_at: Instant::ORIGIN,
            asked: Vec::new(),
            look_again_at: Instant::FAR_FUTURE,
        }
    }

    /// The identity for what is sent now; none while it has to be asked for.
    pub(crate) fn identity(&self) -> Option<ProducerIdentity> {
        self.identity
    }

    /// Sequences have to begin anew behind those of `identity`: the next epoch, or a new id when the epochs are used up.
    ///
    /// Does nothing when that has happened already, on behalf of another partition. No broker is asked: each partition's
    /// log takes a higher epoch of the same id as it comes (KIP-360).
    pub(crate) fn bump(&mut self, identity: ProducerIdentity) {
        if self.identity != Some(identity) {
            return;
        }
        self.identity = identity.epoch.checked_add(1).map(|epoch| ProducerIdentity { epoch, ..identity });
        tracing::info!(id = identity.id, epoch = identity.epoch, "sequences begin anew with the next epoch");
    }

    /// Asks any connected broker for an id, if there is none.
    pub(crate) fn poll(&mut self, network: &mut NetworkClient, now: Instant) {
        self.look_again_at = Instant::FAR_FUTURE;
        if self.identity.is_some() || now < self.ask_at() {
            return;
        }
        let asked = &self.asked;
        let candidate = network.least_loaded_but(now, |node| asked.iter().any(|a| a.node == node));
        self.look_again_at = match candidate {
            None => network.next_candidate_at(now),
            Some(LeastLoaded { node, readiness: NodeReadiness::Ready, .. }) => {
                self.ask(node, network, now);
                Instant::FAR_FUTURE
            }
            Some(LeastLoaded { node, readiness: NodeReadiness::CanConnect, .. }) => {
                network.ready(node, now);
                Instant::FAR_FUTURE
            }
            Some(LeastLoaded { look_again_at, .. }) => look_again_at,
        };
    }

    /// When the next broker is to be asked.
    fn ask_at(&self) -> Instant {
        match self.asked.last() {
            None => self.retry_at,
            Some(_) if self.asked.len() >= ASKED_MAX => Instant::FAR_FUTURE,
            Some(asked) => asked.at + ASK_ANOTHER_AFTER,
        }
    }

    fn ask(&mut self, node: NodeId, network: &mut NetworkClient, now: Instant) {
        // Without a transactional id the broker takes no notice of the timeout, but checks that it is there.
        let request = InitProducerIdRequest {
            transactional_id: None,
            transaction_timeout_ms: i32::MAX,
            producer_id: -1,
            producer_epoch: -1,
            ..Default::default()
        };
        let token = network.next_token();
        let request = ClientRequest {
            token,
            request: Box::new(request),
            versions: InitProducerIdRequest::VERSIONS,
            timeout: self.request_timeout,
            expects_response: true,
        };
        if network.send(node, request, now).is_ok() {
            self.asked.push(Asked { token, node, at: now });
        }
    }

    /// When [`poll`](Self::poll) has something to do, if nothing happens before; it has just been called.
    pub(crate) fn next_timeout(&self, now: Instant) -> Instant {
        if self.identity.is_some() {
            return Instant::FAR_FUTURE;
        }
        let ask_at = self.ask_at();
        // Who is due and could not be asked waits for a connection, or for a backoff.
        if ask_at > now { ask_at } else { self.look_again_at.max(now + LOOK_AGAIN_MIN) }
    }

    /// Whether the request is one of its own.
    pub(crate) fn owns(&self, token: RequestToken) -> bool {
        self.asked.iter().any(|asked| asked.token == token)
    }

    /// Takes the answer to one of its own requests.
    ///
    /// # Errors
    /// When no id will be had, ever.
    pub(crate) fn handle_completion(
        &mut self,
        completion: &Completion,
        network: &mut NetworkClient,
        rng: &mut SmallRng,
        now: Instant,
    ) -> Result<(), ProduceError> {
        self.asked.retain(|asked| asked.token != completion.token);
        let response = match &completion.result {
            Ok(response) => response,
            Err(failure @ (RequestFailure::UnsupportedVersion { .. } | RequestFailure::Encode(_))) => {
                return Err(no_idempotence(failure));
            }
            Err(_) => {
                self.back_off(rng, now);
                return Ok(());
            }
        };
        match response.decode::<InitProducerIdRequest>() {
            Ok(answer) => {
                let throttle = u64::try_from(answer.throttle_time_ms).unwrap_or(0);
                network.throttle(completion.node, Duration::from_millis(throttle), now);
                self.handle_answer(&answer, rng, now)
            }
            Err(error) => {
                network.undecodable(completion.node, &error, now);
                self.back_off(rng, now);
                Ok(())
            }
        }
    }

    fn handle_answer(
        &mut self,
        answer: &InitProducerIdResponse,
        rng: &mut SmallRng,
        now: Instant,
    ) -> Result<(), ProduceError> {
        match answer.error_code {
            ErrorCode::NONE if self.identity.is_none() => {
                self.identity =
                    Some(ProducerIdentity { id: answer.producer_id, epoch: answer.producer_epoch });
                self.attempts = 0;
                self.retry_at = Instant::ORIGIN;
                Ok(())
            }
            // Another broker was faster.
            ErrorCode::NONE => Ok(()),
            code if code.is_retriable() => {
                self.back_off(rng, now);
                Ok(())
            }
            ErrorCode::CLUSTER_AUTHORIZATION_FAILED => Err(not_authorized()),
            code => {
                let cause = format!("the broker gives no producer id: {code}: {}", code.message());
                Err(ProduceError::Fatal { code: Some(code), cause: cause.into() })
            }
        }
    }

    fn back_off(&mut self, rng: &mut SmallRng, now: Instant) {
        self.retry_at = now + self.backoff.after(self.attempts, rng);
        self.attempts = self.attempts.saturating_add(1);
    }
}

/// CLUSTER_AUTHORIZATION_FAILED, in words that help.
pub(crate) fn not_authorized() -> ProduceError {
    let cause = "not authorized to produce idempotently: grant this client's principal IDEMPOTENT_WRITE on the \
                 cluster, or WRITE on the topics with brokers from 2.8 on, or set `enable.idempotence=false`";
    ProduceError::Fatal { code: Some(ErrorCode::CLUSTER_AUTHORIZATION_FAILED), cause: Arc::from(cause) }
}

fn no_idempotence(failure: &RequestFailure) -> ProduceError {
    let cause =
        format!("this cluster has no idempotent producers ({failure}): set `enable.idempotence=false`");
    ProduceError::Fatal { code: None, cause: cause.into() }
}
