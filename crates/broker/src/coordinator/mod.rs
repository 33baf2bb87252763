//! The group coordinator: consumer groups of the classic protocol and the offsets that they commit.
//!
//! A group belongs to a partition of the topic `__consumer_offsets`, by its id's hash, and the leader of that partition
//! coordinates it. [`group`] is the pure state machine of one group, [`engine`] that of one partition's groups: requests and
//! the time go in, answers come out when they are due. [`GroupCoordinator`] is the driver: it wakes the engines when a
//! timeout is over, hands answers to the requests that wait, and keeps committed offsets in the partition's log, in Kafka's
//! own records, from which they are read by a broker that becomes its leader. A [`shard`] is what it has of one partition.
//!
//! Not here: the members of a group are not written down, so after a restart, or with another coordinator, they join again;
//! the consumer protocol of KIP-848; offsets of transactions; the expiry of offsets (`offsets.retention.minutes`).

mod driver;
mod engine;
mod group;
mod offset_records;
mod shard;
#[cfg(test)]
mod tests;

pub(crate) use driver::GroupCoordinator;
pub(crate) use engine::{CommittedOffset, OffsetKey};
pub(crate) use group::{JoinAnswer, JoinGroup, Leaving, SyncGroup};
