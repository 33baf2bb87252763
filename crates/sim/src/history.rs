//! [`History`]: what was sent, acknowledged, read and seen from outside. All that checkers know.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use milena_broker::simulation::ReplicaView;
use milena_protocol::Uuid;

/// A record that was handed to a producer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Whose it is.
    pub producer: u32,
    /// Its number; each is larger than those before it.
    pub number: u64,
    /// When it was sent, since the start of the run.
    pub at: Duration,
    /// Where it was put, or where it went after all: one whose partition was not named may be moved.
    pub partition: i32,
    /// Whether its partition was named.
    pub is_placed: bool,
    /// What became of it, and when; None while nobody knows.
    pub outcome: Option<(Duration, Outcome)>,
    /// The id of the topic that it was acknowledged in, if it was.
    pub acknowledged_in: Option<Uuid>,
}

/// What a producer was told about a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is written; at this offset, unless that was not told.
    Acknowledged(Option<i64>),
    /// It may or may not be.
    Failed(String),
}

/// Names a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordId {
    /// Its producer.
    pub producer: u32,
    /// Its number.
    pub number: u64,
}

impl RecordId {
    /// What a record's value says, if it is one of ours.
    #[must_use]
    pub fn parse(value: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(value).ok()?;
        let mut parts = text.split('/');
        let (producer, number) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(Self { producer, number })
    }
}

/// A record that a consumer was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// Who read.
    pub consumer: u32,
    /// From the topic with this id.
    pub topic_id: Uuid,
    /// Of which partition.
    pub partition: i32,
    /// At which offset.
    pub offset: i64,
    /// What.
    pub record: RecordId,
}

/// A high watermark that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watermark {
    /// Since the start of the run.
    pub at: Duration,
    /// By which broker.
    pub broker: i32,
    /// How often that broker had started.
    pub life: u32,
    /// In the topic with this id.
    pub topic_id: Uuid,
    /// Of which partition.
    pub partition: i32,
    /// As which leader epoch's leader.
    pub leader_epoch: i32,
    /// The offset.
    pub offset: i64,
}

/// Somebody who was seen to lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leader {
    /// In the topic with this id.
    pub topic_id: Uuid,
    /// Which partition.
    pub partition: i32,
    /// In which leader epoch.
    pub leader_epoch: i32,
    /// Who.
    pub broker: i32,
}

/// A log that a broker has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Which broker.
    pub broker: i32,
    /// The id of its topic, if it has one.
    pub topic_id: Option<Uuid>,
    /// The partition.
    pub partition: i32,
}

/// A record in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Logged {
    /// Its offset.
    pub offset: i64,
    /// The leader epoch that wrote it.
    pub leader_epoch: i32,
    /// Which it is.
    pub record: RecordId,
}

/// One replica's log at the end of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinalLog {
    /// As the broker sees it.
    pub view: ReplicaView,
    /// What is in it, from its start to its end.
    pub records: Vec<Logged>,
}

/// What was seen of a run.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Every record, in the order of sending.
    pub sent: Vec<Sent>,
    /// Every record that a consumer got, in the order of reading.
    pub read: Vec<Read>,
    /// High watermarks of leaders, in the order of time.
    pub watermarks: Vec<Watermark>,
    /// What consumers were told: by consumer; same order.
    pub consumer_watermarks: BTreeMap<u32, Vec<Watermark>>,
    /// Who has been seen to lead.
    pub leaders: Vec<Leader>,
    /// How many producers there were.
    pub producers: u32,
    /// The records that were sent to a broker, and the ids of the topics that they were sent to.
    pub carried: BTreeSet<(RecordId, Uuid)>,
    /// The id that the topic has in the end; those of the same name that were deleted had others.
    pub topic_id: Uuid,
    /// Every log of the topic, and of those of the same name that were deleted, on every disk in the end.
    pub held: Vec<Held>,
    /// What consumers were refused that they should not have been.
    pub refused: Vec<String>,
    /// The logs of all replicas, by broker and partition, when all was calm again.
    pub logs: BTreeMap<(i32, i32), FinalLog>,
    /// The replicas that each partition is to have.
    pub assignments: BTreeMap<i32, Vec<i32>>,
    /// Those in sync when all was calm again, as the controller has them, and the leader.
    pub in_sync: BTreeMap<i32, (i32, Vec<i32>)>,
    /// When the last fault was undone.
    pub healed_at: Duration,
    /// When all was calm again; None if that did not come about in time.
    pub calm_at: Option<Duration>,
    /// What went wrong with the machinery itself.
    pub broken: Vec<String>,
}
