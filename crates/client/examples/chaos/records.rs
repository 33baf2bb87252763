//! What was sent and acknowledged, and what is there in the end: the checks know nothing of client and broker but their
//! public faces.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
    ops::AddAssign,
    sync::Arc,
    time::Duration,
};

use milena::{Consumer, Delivery, Producer, Record, StartAt};
use tokio::sync::watch;

use crate::Error;

/// Longer than anything takes once there is peace.
pub(crate) const LIMIT: Duration = Duration::from_secs(180);

/// Deliveries that one sender keeps before it waits for the oldest.
const WINDOW: usize = 20_000;
/// Sends between two looks at what has arrived.
const LOOK_EVERY: u64 = 64;
const VALUE_LEN: usize = 64;

/// What one producer sent to one partition.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    count: u64,
    acknowledged: u64,
    /// Those that failed, of which the broker may have any.
    failed: BTreeSet<u64>,
    last_error: Option<String>,
    last_offset: Option<i64>,
}

/// How much there was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) sent: u64,
    pub(crate) acknowledged: u64,
    pub(crate) failed: u64,
    pub(crate) read: u64,
    pub(crate) troubles: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.acknowledged += other.acknowledged;
        self.failed += other.failed;
        self.read += other.read;
        self.troubles += other.troubles;
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sent, acknowledged, failed, read, troubles } = self;
        write!(
            f,
            "{troubles} troubles, {sent} sent, {acknowledged} acknowledged, {failed} failed, {read} read back"
        )
    }
}

/// Sends numbers to a partition as fast as it goes, until told to stop; then waits for all outcomes.
pub(crate) async fn send(
    producer: Arc<Producer>,
    id: u32,
    topic: String,
    partition: i32,
    mut stop: watch::Receiver<bool>,
) -> Result<Sent, Error> {
    let mut sent = Sent::default();
    let mut under_way: VecDeque<(u64, Delivery)> = VecDeque::new();
    let mut value = [b'.'; VALUE_LEN];
    value[..4].copy_from_slice(&id.to_be_bytes());
    while !*stop.borrow_and_update() {
        value[4..12].copy_from_slice(&sent.count.to_be_bytes());
        let record = Record::to(&topic).partition(partition).value(&value);
        let delivery = tokio::time::timeout(LIMIT, producer.send(record)).await??;
        under_way.push_back((sent.count, delivery));
        sent.count += 1;
        if sent.count.is_multiple_of(LOOK_EVERY) {
            while let Some((number, delivery)) = under_way.front_mut()
                && let Some(outcome) = delivery.result()
            {
                sent.note(*number, outcome)?;
                under_way.pop_front();
            }
            // `send` seldom waits: the others are to have their turn.
            tokio::task::yield_now().await;
        }
        if under_way.len() >= WINDOW
            && let Some((number, delivery)) = under_way.pop_front()
        {
            sent.note(number, tokio::time::timeout(LIMIT, delivery).await?)?;
        }
    }
    for (number, delivery) in under_way {
        sent.note(number, tokio::time::timeout(LIMIT, delivery).await?)?;
    }
    Ok(sent)
}

impl Sent {
    fn note(
        &mut self,
        number: u64,
        outcome: Result<milena::RecordMetadata, milena::ProduceError>,
    ) -> Result<(), Error> {
        match outcome {
            Ok(metadata) => {
                self.acknowledged += 1;
                if let Some(offset) = metadata.offset {
                    if self.last_offset.is_some_and(|last| last >= offset) {
                        return Err(format!(
                            "record {number} was acknowledged at {offset}, behind {:?}",
                            self.last_offset
                        )
                        .into());
                    }
                    self.last_offset = Some(offset);
                }
            }
            Err(error) => {
                self.failed.insert(number);
                self.last_error = Some(error.to_string());
            }
        }
        Ok(())
    }

    pub(crate) fn totals(&self) -> Totals {
        Totals {
            sent: self.count,
            acknowledged: self.acknowledged,
            failed: self.failed.len() as u64,
            ..Totals::default()
        }
    }

    pub(crate) fn last_error(&self) -> Option<&str> {
        self.last_error.as_deref()
    }
}

/// Reads a partition from its beginning and compares it with what the producers, by their ids, say. Answers how much it read.
pub(crate) async fn check(
    bootstrap: &str,
    topic: &str,
    partition: i32,
    sent: &BTreeMap<u32, Sent>,
) -> Result<u64, Error> {
    let mut consumer = Consumer::builder().bootstrap(bootstrap).build()?;
    let (_, end) = consumer.offsets(topic, partition).await?;
    consumer.assign(vec![(topic.to_owned(), partition, StartAt::Beginning)]).await?;
    let mut next: BTreeMap<u32, u64> = sent.keys().map(|id| (*id, 0)).collect();
    let (mut read, mut offset) = (0, 0);
    while offset < end {
        let fetched = tokio::time::timeout(LIMIT, consumer.next()).await??;
        for record in fetched.records() {
            let record = record?;
            offset = record.offset + 1;
            read += 1;
            let (id, number) = parse(record.value.as_deref()).ok_or("a record that nobody sent")?;
            let (Some(expected), Some(sent)) = (next.get_mut(&id), sent.get(&id)) else {
                return Err(format!("a record of producer {id}, which there is not").into());
            };
            let place =
                format!("{topic}-{partition}, offset {}: producer {id}'s record {number}", record.offset);
            if number < *expected {
                return Err(format!("{place} comes twice or too late: {expected} was due").into());
            }
            if let Some(lost) = (*expected..number).find(|number| !sent.failed.contains(number)) {
                return Err(format!("{place}: {lost} was acknowledged and is not there").into());
            }
            *expected = number + 1;
        }
    }
    consumer.close().await;
    for (id, sent) in sent {
        if let Some(lost) = (next[id]..sent.count).find(|number| !sent.failed.contains(number)) {
            return Err(format!("{topic}-{partition} ends before producer {id}'s record {lost}").into());
        }
    }
    Ok(read)
}

fn parse(value: Option<&[u8]>) -> Option<(u32, u64)> {
    let (id, rest) = value?.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*id), u64::from_be_bytes(*rest.first_chunk::<8>()?)))
}
