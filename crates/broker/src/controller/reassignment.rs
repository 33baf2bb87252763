//! Reassignments: moving replicas to other brokers (KIP-455).
//!
//! First the new replicas are added, and the leader has them fetch; once the whole target is in sync, the partition is led
//! from within the target, and what is to go is deleted. Both steps are in the durable state, so any controller can go on.

use std::collections::BTreeSet;

use milena_protocol::ErrorCode;

use super::batch::Batch;
use super::engine::ControllerEngine;
use super::requests::refuse;
use super::{ControllerError, ElectionKind, PartitionState, StopReplicaPartition, elect};

impl ControllerEngine {
    /// Somebody wants a partition's replicas to be these; None cancels a reassignment that is under way
    /// (AlterPartitionReassignments). With `keeps_factor` there have to be as many as there were (KIP-860).
    ///
    /// # Errors
    /// INVALID_REPLICA_ASSIGNMENT, INVALID_REPLICATION_FACTOR, NO_REASSIGNMENT_IN_PROGRESS, UNKNOWN_TOPIC_OR_PARTITION.
    pub fn handle_alter_reassignment(
        &mut self,
        topic: &str,
        number: i32,
        target: Option<Vec<i32>>,
        keeps_factor: bool,
    ) -> Result<(), ControllerError> {
        let Some(partition) = self.state.partition(topic, number) else {
            return refuse(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.");
        };
        let target = match target {
            Some(target) => self.checked_target(target)?,
            None if partition.is_reassigning() => partition.original_replicas(),
            None => {
                return refuse(ErrorCode::NO_REASSIGNMENT_IN_PROGRESS, "No reassignment is in progress.");
            }
        };
        let original = partition.original_replicas();
        if keeps_factor && target.len() != original.len() {
            return refuse(
                ErrorCode::INVALID_REPLICATION_FACTOR,
                format!("The replication factor is changed from {} to {}.", original.len(), target.len()),
            );
        }
        let added = target.iter().copied().filter(|id| !original.contains(id));
        let removed = original.iter().copied().filter(|id| !target.contains(id));
        let (adding_replicas, removing_replicas): (Vec<i32>, Vec<i32>) = (added.collect(), removed.collect());
        let mut replicas = target.clone();
        replicas.extend(&removing_replicas);
        let dropped: Vec<i32> =
            partition.replicas.iter().copied().filter(|id| !replicas.contains(id)).collect();
        let next = PartitionState { replicas, adding_replicas, removing_replicas, ..partition.clone() };
        let Some(next) = self.led_within(topic, number, &next) else {
            return refuse(
                ErrorCode::INVALID_REPLICA_ASSIGNMENT,
                "None of the replicas that would be left can lead the partition now.",
            );
        };
        self.replace_replicas(topic, number, next, &dropped);
        self.complete_reassignments();
        Ok(())
    }

    /// The partitions whose replicas are being moved (ListPartitionReassignments).
    pub fn reassignments(&self) -> impl Iterator<Item = (&str, i32, &PartitionState)> {
        self.state.topics.iter().flat_map(|(name, topic)| {
            let moving = (0i32..).zip(&topic.partitions).filter(|(_, partition)| partition.is_reassigning());
            moving.map(move |(number, partition)| (name.as_str(), number, partition))
        })
    }

    /// Ends the reassignments whose target is in sync.
    pub(super) fn complete_reassignments(&mut self) {
        let done: Vec<(String, i32, PartitionState)> = self
            .reassignments()
            .filter_map(|(name, number, partition)| {
                let target = partition.target_replicas();
                let in_sync = target.iter().all(|id| partition.isr.contains(id));
                let next = PartitionState {
                    replicas: target,
                    adding_replicas: Vec::new(),
                    removing_replicas: Vec::new(),
                    ..partition.clone()
                };
                let next = in_sync.then(|| self.led_within(name, number, &next)).flatten()?;
                Some((name.to_owned(), number, next))
            })
            .collect();
        for (name, number, next) in done {
            let before = self.state.partition(&name, number).map(|state| state.removing_replicas.clone());
            self.replace_replicas(&name, number, next, &before.unwrap_or_default());
        }
    }

    /// The partition in its next epoch, led by one of its replicas and in sync with its replicas alone. None when nobody
    /// could lead it, unless nobody leads it now.
    fn led_within(&self, topic: &str, number: i32, partition: &PartitionState) -> Option<PartitionState> {
        let isr = partition.isr.iter().copied().filter(|id| partition.replicas.contains(id));
        let isr: Vec<i32> = isr.collect();
        if isr.contains(&partition.leader) {
            return Some(partition.led_by(partition.leader, isr));
        }
        let eligible = |id| self.is_eligible(id, topic, number);
        let election = elect(ElectionKind::Clean, &partition.replicas, &isr, eligible);
        match election {
            Some(election) => Some(partition.led_by(election.leader, election.isr)),
            None if partition.leader < 0 && !isr.is_empty() => Some(partition.led_by(partition.leader, isr)),
            None => None,
        }
    }

    fn replace_replicas(&mut self, topic: &str, number: i32, next: PartitionState, dropped: &[i32]) {
        let mut batch = Batch::default();
        let stop = StopReplicaPartition { partition: number, leader_epoch: next.leader_epoch, delete: true };
        for broker in dropped {
            batch.stop(*broker, topic, stop);
        }
        batch.change(topic, number);
        self.set_partition(topic, number, next);
        self.commit(&batch);
    }

    fn checked_target(&self, target: Vec<i32>) -> Result<Vec<i32>, ControllerError> {
        let invalid = |message: String| refuse(ErrorCode::INVALID_REPLICA_ASSIGNMENT, message);
        if target.is_empty() {
            return invalid("Replica assignment is empty.".to_owned());
        }
        if target.iter().collect::<BTreeSet<_>>().len() < target.len() {
            return invalid(format!("Replica assignment {target:?} names a broker twice."));
        }
        match target.iter().find(|id| !self.is_alive(**id)) {
            Some(unknown) => {
                invalid(format!("Replica assignment names broker {unknown}, which is not alive."))
            }
            None => Ok(target),
        }
    }
}
