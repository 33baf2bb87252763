//! What the brokers answered one client, and what they have written.

use std::{
    path::Path,
    sync::mpsc::{Receiver, Sender, channel},
    time::Instant,
};

use milena_broker::{EmbeddedCluster, FaultGuard, Intercept, InterceptAction};
use milena_protocol::{
    ApiKey,
    messages::{MetadataRequest, MetadataResponse, ProduceRequest, ProduceResponse},
    records::{BatchHeader, RecordBatches},
};

use crate::support::{Error, TOPIC};

/// An answer on its way to the client.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) at: Instant,
    pub(crate) by: i32,
    pub(crate) body: Body,
}

#[derive(Debug)]
pub(crate) enum Body {
    Metadata(MetadataResponse),
    Produce(ProduceResponse),
}

/// Reads all answers to a client's metadata and produce requests, and changes none.
#[derive(Debug)]
pub(crate) struct Observer {
    answers: Receiver<Answer>,
    _intercepts: Vec<FaultGuard>,
}

impl Observer {
    pub(crate) fn of(cluster: &EmbeddedCluster, client_id: &str) -> Result<Self, Error> {
        let (tell, answers) = channel();
        let mut intercepts = Vec::new();
        for by in cluster.broker_ids() {
            let on = |api| Intercept::on(api).client_id(client_id).broker(by);
            let told = tell.clone();
            let metadata = InterceptAction::change::<MetadataRequest>(move |answer| {
                note(&told, by, Body::Metadata(answer.clone()));
            });
            intercepts.push(cluster.intercept(on(ApiKey::Metadata), metadata)?);
            let told = tell.clone();
            let produce = InterceptAction::change::<ProduceRequest>(move |answer| {
                note(&told, by, Body::Produce(answer.clone()));
            });
            intercepts.push(cluster.intercept(on(ApiKey::Produce), produce)?);
        }
        Ok(Self { answers, _intercepts: intercepts })
    }

    /// The answers since the last call, in order.
    pub(crate) fn take(&self) -> Vec<Answer> {
        self.answers.try_iter().collect()
    }
}

fn note(tell: &Sender<Answer>, by: i32, body: Body) {
    // At the end of a test nobody listens.
    let _ = tell.send(Answer { at: Instant::now(), by, body });
}

impl Answer {
    /// Who leads a partition, and in which epoch, if this is about metadata.
    pub(crate) fn leader(&self, partition: i32) -> Option<(i32, i32)> {
        let Body::Metadata(response) = &self.body else { return None };
        let topic = response.topics.iter().find(|topic| topic.name.as_deref() == Some(TOPIC))?;
        let found = topic.partitions.iter().find(|found| found.partition_index == partition)?;
        Some((found.leader_id, found.leader_epoch))
    }

    /// The first offset of a batch that was written to a partition, if this says so of one.
    pub(crate) fn written(&self, partition: i32) -> Option<i64> {
        let Body::Produce(response) = &self.body else { return None };
        let mut of_topic = response.responses.iter().flat_map(|topic| &topic.partition_responses);
        let found = of_topic.find(|found| found.index == partition)?;
        assert_eq!(found.error_code.0, 0, "{found:?}");
        Some(found.base_offset)
    }

    pub(crate) fn is_metadata(&self) -> bool {
        matches!(self.body, Body::Metadata(_))
    }
}

/// The batches of a partition, from the files of one replica of a cluster that has stopped.
pub(crate) fn batches(cluster: &Path, broker: i32, partition: i32) -> Result<Vec<BatchHeader>, Error> {
    let log = format!("broker-{broker}/logs/{TOPIC}-{partition}/00000000000000000000.log");
    let batches = RecordBatches::new(std::fs::read(cluster.join(log))?.into());
    batches.map(|batch| Ok(*batch?.header())).collect()
}
