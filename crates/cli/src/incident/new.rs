//! Milena's part.

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use milena::{Producer, Record};
use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinSet},
    time::sleep,
};

use super::{
    args::IncidentArgs,
    meter::{Fate, Meter},
    schedule::{RECORD, Schedule, WARM_UP},
    time_line::Event,
};

/// Kafka's and Milena's request.timeout.ms.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Sends until this is dropped.
#[derive(Debug)]
pub(super) struct NewProducer {
    task: AbortHandle,
    producer: Arc<Producer>,
}

impl NewProducer {
    /// Its producer: with all defaults, but that nothing lingers, as nothing does in the old one, and that a play may be
    /// shortened.
    ///
    /// # Errors
    /// The bootstrap list is none.
    pub(super) fn build(args: &IncidentArgs, bootstrap: &str) -> anyhow::Result<Producer> {
        let builder = Producer::builder().bootstrap(bootstrap).set("client.id", "new-producer");
        let mut builder = builder.set("linger.ms", "0");
        let timeout = args.scaled(REQUEST_TIMEOUT);
        if timeout != REQUEST_TIMEOUT {
            builder = builder.set("request.timeout.ms", &timeout.as_millis().max(1).to_string());
        }
        Ok(builder.build()?)
    }

    /// As the old producer's.
    ///
    /// # Errors
    /// They are not acknowledged.
    pub(super) async fn warm_up(producer: &Producer, topic: &str, partitions: i32) -> anyhow::Result<()> {
        for _ in 0..WARM_UP {
            for partition in 0..partitions {
                deliver(producer, topic, partition).await.context("the new producer, before the play")?;
            }
        }
        Ok(())
    }

    pub(super) fn start(
        producer: Producer,
        schedule: Schedule,
        meter: Arc<Meter>,
        events: mpsc::Sender<Event>,
    ) -> Self {
        let producer = Arc::new(producer);
        let task = tokio::spawn(send(Arc::clone(&producer), schedule, meter, events)).abort_handle();
        Self { task, producer }
    }

    /// Ends, without waiting for what is on its way for long.
    pub(super) async fn close(self) {
        self.task.abort();
        self.producer.close(Duration::from_millis(100)).await;
    }
}

impl Drop for NewProducer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn send(
    producer: Arc<Producer>,
    mut schedule: Schedule,
    meter: Arc<Meter>,
    events: mpsc::Sender<Event>,
) {
    let mut deliveries = JoinSet::new();
    while let Some(pause) = schedule.until_next() {
        sleep(pause).await;
        for record in schedule.take_due() {
            meter.begin(record.number, record.due, record.partition);
            let (producer, meter, events) = (Arc::clone(&producer), Arc::clone(&meter), events.clone());
            let (topic, schedule) = (Arc::clone(&schedule.topic), schedule.clone());
            // A task for each, so that one that waits to be queued keeps no other from it, and order is not the question.
            deliveries.spawn(async move {
                let outcome = deliver(&producer, &topic, record.partition).await;
                meter.end(record.number, if outcome.is_ok() { Fate::Acknowledged } else { Fate::Failed });
                if let Err(error) = outcome {
                    let (at, who) = (schedule.now(), "new");
                    let _ = events.send(Event::Failed { at, who, error: error.to_string() }).await;
                }
            });
            while deliveries.try_join_next().is_some() {}
        }
    }
    while deliveries.join_next().await.is_some() {}
}

async fn deliver(producer: &Producer, topic: &str, partition: i32) -> anyhow::Result<()> {
    producer.send(Record::to(topic).value(RECORD).partition(partition)).await?.await?;
    Ok(())
}
