//! [`fetch_topic_metadata`]: the walk through the list of brokers (`kafka.client.ClientUtils`). The illness is here.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use milena_protocol::messages::MetadataResponse;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom as _;

use crate::{BrokerAddress, Machine, ProducerConfig, RequestError, SendError, SyncProducer};

/// A refresh of the metadata: whom it asked, and how long whatever was to be sent had to wait for it.
#[derive(Debug, Clone)]
pub struct RefreshReport {
    /// When it began, by [`Machine::now`].
    pub started: Duration,
    /// How long it took in all.
    pub took: Duration,
    /// Those that were asked, in order. If there was an answer, it is the last one's.
    pub asked: Vec<Asked>,
}

impl RefreshReport {
    /// Whether anybody has answered.
    pub fn succeeded(&self) -> bool {
        self.asked.last().is_some_and(|asked| asked.error.is_none())
    }
}

/// A broker that a refresh has asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Who.
    pub broker: BrokerAddress,
    /// How long it took to connect, ask, and read the answer, or to give up.
    pub took: Duration,
    /// Why there was no answer; None if there was one.
    pub error: Option<RequestError>,
}

/// Asks one broker of `metadata.broker.list` after the other, in random order, each over a connection of its own, until one
/// answers.
///
/// The list is shuffled "so that most requests don't get routed to the same broker". It is the configured one: neither that
/// a broker did not answer the last time, nor that the cluster has not named it for days, changes its chance to be first.
///
/// # Errors
/// [`SendError::NoMetadata`] when none has answered.
pub(crate) fn fetch_topic_metadata(
    topics: &BTreeSet<String>,
    config: &ProducerConfig,
    correlation_id: i32,
    machine: &Arc<dyn Machine>,
    rng: &mut SmallRng,
) -> (RefreshReport, Result<MetadataResponse, SendError>) {
    let mut brokers = config.metadata_broker_list.clone();
    brokers.shuffle(rng);
    let started = machine.now();
    let mut asked = Vec::new();
    let mut outcome = None;
    for broker in brokers {
        let began = machine.now();
        let mut producer = SyncProducer::of(broker.clone(), config, machine);
        let answer = producer.fetch_metadata(topics, correlation_id);
        drop(producer);
        let (error, answered) = (answer.as_ref().err().cloned(), answer.is_ok());
        if let Some(error) = &error {
            tracing::warn!(%broker, ?topics, correlation_id, "fetching topic metadata failed: {error}");
        }
        asked.push(Asked { broker, took: machine.now() - began, error });
        outcome = Some(answer);
        if answered {
            break;
        }
    }
    let report = RefreshReport { started, took: machine.now() - started, asked };
    let failed = |last| SendError::NoMetadata {
        topics: topics.iter().cloned().collect(),
        brokers: report.asked.iter().map(|asked| asked.broker.clone()).collect(),
        last,
    };
    let outcome = match outcome {
        Some(outcome) => outcome.map_err(failed),
        // `ProducerConfig::validate` has refused an empty list.
        None => Err(SendError::Closed),
    };
    (report, outcome)
}
