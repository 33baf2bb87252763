//! The group coordinator: consumer groups of the classic protocol and the offsets that they commit.
//!
//! [`group`] is the pure state machine of one group, [`engine`] that of all of them: requests and the time go in,
//! answers come out when they are due. [`GroupCoordinator`] is the driver: it wakes the engine when a timeout is over,
//! hands answers to the requests that wait, and keeps committed offsets in the topic `__consumer_offsets`, in
//! Kafka's own records, from which they are read at the next start.
//!
//! Not here: the members of a group are not written down, so after a restart they join again; the consumer protocol of
//! KIP-848; offsets of transactions; the expiry of offsets (`offsets.retention.minutes`).

mod driver;
mod engine;
mod group;
mod offset_records;
#[cfg(test)]
mod tests;

pub(crate) use driver::GroupCoordinator;
pub(crate) use engine::{CommittedOffset, OffsetKey};
pub(crate) use group::{JoinAnswer, JoinGroup, Leaving, SyncGroup};
