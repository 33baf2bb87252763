//! [`ControllerChannelManager`]: a queue and a connection to every live broker.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use foldhash::HashMap;
use milena_protocol::ErrorCode;
use milena_protocol::messages::LeaderAndIsrResponse;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;
use tokio::time::sleep;

use super::wire::{
    LEADER_AND_ISR_VERSION, STOP_REPLICA_VERSION, UPDATE_METADATA_VERSION, leader_and_isr_request,
    stop_replica_request, update_metadata_request,
};
use super::{ControlBody, ControlRequest, Controller, LeaderAndIsr};
use crate::faults::Host;
use crate::metadata_cache::BrokerEndpoint;
use crate::network::{InterBrokerConnection, Patience};
use crate::registry::RegisteredBroker;
use crate::task_gate::TaskGate;

/// How long a channel waits before it tries a broker again that it cannot reach.
const RETRY_BACKOFF: Duration = Duration::from_millis(20);

/// The channels of one controller (`kafka.controller.ControllerChannelManager`). A broker gets its requests one by one, in
/// order, each again and again until it has answered or is dead; what it hears out of order it refuses
/// ([`ControlFence`](super::ControlFence)).
#[derive(Debug)]
pub(super) struct ControllerChannelManager {
    listener: String,
    controller: Weak<Controller>,
    gate: TaskGate,
    host: Host,
    channels: BTreeMap<i32, Channel>,
}

/// The queue is bounded by the events of one session: it goes with the broker's life.
#[derive(Debug)]
struct Channel {
    broker_epoch: i64,
    queue: UnboundedSender<ControlRequest>,
    task: AbortHandle,
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ControllerChannelManager {
    pub(super) fn new(listener: String, controller: Weak<Controller>, gate: TaskGate, host: Host) -> Self {
        Self { listener, controller, gate, host, channels: BTreeMap::new() }
    }

    /// Opens a channel to each broker that is new, and closes those to the dead.
    pub(super) fn brokers_changed(&mut self, brokers: &BTreeMap<i32, RegisteredBroker>) {
        self.channels
            .retain(|id, channel| brokers.get(id).is_some_and(|broker| broker.epoch == channel.broker_epoch));
        for (id, broker) in brokers {
            if self.channels.contains_key(id) {
                continue;
            }
            let Some(endpoint) = broker.info.endpoint(&self.listener).cloned() else {
                tracing::error!(broker = id, listener = self.listener, "the broker lacks the listener");
                continue;
            };
            let (queue, inbox) = unbounded_channel();
            let (controller, broker_epoch) = (self.controller.clone(), broker.epoch);
            let host = self.host.clone();
            let task = RequestSendTask { controller, host, broker: *id, endpoint, connection: None };
            let task = self.gate.spawn(task.run(inbox)).abort_handle();
            self.channels.insert(*id, Channel { broker_epoch, queue, task });
        }
    }

    pub(super) fn send(&self, request: ControlRequest) {
        if let Some(channel) = self.channels.get(&request.broker) {
            // A task that has ended has been told that this controller, or that broker, is no more.
            let _ended = channel.queue.send(request);
        }
    }
}

/// Sends to one broker (`RequestSendThread`).
struct RequestSendTask {
    controller: Weak<Controller>,
    host: Host,
    broker: i32,
    endpoint: BrokerEndpoint,
    connection: Option<InterBrokerConnection>,
}

/// Whether a broker that answers so is not to be asked again: there is another controller, or the broker lives its next life
/// already, or has heard of something later. Nobody else would tell it what it has to hear.
fn is_final(error: ErrorCode) -> bool {
    matches!(
        error,
        ErrorCode::STALE_CONTROLLER_EPOCH | ErrorCode::STALE_BROKER_EPOCH | ErrorCode::INVALID_UPDATE_VERSION
    )
}

/// What a broker said.
type Outcome = Result<Vec<(Arc<str>, i32)>, ErrorCode>;

impl RequestSendTask {
    async fn run(mut self, mut inbox: UnboundedReceiver<ControlRequest>) {
        let mut patience = Patience::new();
        while let Some(request) = inbox.recv().await {
            let outcome = loop {
                match patience.wait_for(self.exchange(&request)).await {
                    Some(Ok(Err(error))) if !is_final(error) => {
                        tracing::info!(broker = request.broker, %error, "a broker does not obey yet");
                    }
                    Some(Ok(outcome)) => break outcome,
                    Some(Err(error)) => {
                        tracing::debug!(broker = request.broker, %error, "a control request has to be sent again");
                    }
                    None => tracing::debug!(broker = request.broker, "a control request is not answered"),
                }
                self.connection = None;
                sleep(RETRY_BACKOFF).await;
            };
            let Some(controller) = self.controller.upgrade() else { return };
            let controller_epoch = request.stamp.controller_epoch;
            match outcome {
                Ok(failed) => controller.answered(controller_epoch, request.id, failed).await,
                Err(ErrorCode::STALE_CONTROLLER_EPOCH) => {
                    controller.replaced(controller_epoch).await;
                    return;
                }
                // The broker lives its next life already; the registry will say so.
                Err(error) => {
                    tracing::info!(broker = request.broker, %error, "a broker refuses a control request");
                    return;
                }
            }
        }
    }

    async fn exchange(&mut self, request: &ControlRequest) -> std::io::Result<Outcome> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let BrokerEndpoint { host, port, .. } = &self.endpoint;
                InterBrokerConnection::connect(&self.host, self.broker, host, *port).await?
            }
        };
        let connection = self.connection.insert(connection);
        let (error, failed) = match &request.body {
            ControlBody::LeaderAndIsr(body) => {
                let message = leader_and_isr_request(request, body);
                let response = connection.call(LEADER_AND_ISR_VERSION, &message).await?;
                (response.error_code, failed_of(body, &response))
            }
            ControlBody::StopReplica(body) => {
                let message = stop_replica_request(request, body);
                (connection.call(STOP_REPLICA_VERSION, &message).await?.error_code, Vec::new())
            }
            ControlBody::UpdateMetadata(update) => {
                let message = update_metadata_request(request, update);
                (connection.call(UPDATE_METADATA_VERSION, &message).await?.error_code, Vec::new())
            }
        };
        Ok(if error.is_ok() { Ok(failed) } else { Err(error) })
    }
}

/// The partitions whose log cannot be used.
fn failed_of(asked: &LeaderAndIsr, answer: &LeaderAndIsrResponse) -> Vec<(Arc<str>, i32)> {
    let names: HashMap<_, _> = asked.topics.iter().map(|topic| (topic.id, &topic.name)).collect();
    let mut failed = Vec::new();
    for topic in &answer.topics {
        let Some(name) = names.get(&topic.topic_id) else { continue };
        for partition in &topic.partition_errors {
            if partition.error_code == ErrorCode::KAFKA_STORAGE_ERROR {
                failed.push((Arc::clone(name), partition.partition_index));
            }
        }
    }
    failed
}
