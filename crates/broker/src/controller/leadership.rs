//! Who leads: what leaders ask for, controlled shutdown, elections on demand.

use milena_protocol::ErrorCode;

use super::batch::Batch;
use super::engine::ControllerEngine;
use super::requests::refuse;
use super::{ControllerError, ElectionKind, IsrChange, PartitionState, StopReplicaPartition, elect};
use crate::metadata_cache::NO_LEADER;

impl ControllerEngine {
    /// A leader wants other in-sync replicas (AlterPartition, KIP-497; `KafkaController.processAlterPartition`). Each
    /// change is answered on its own, with the state that holds.
    ///
    /// # Errors
    /// STALE_BROKER_EPOCH when this is not the broker that is alive.
    pub fn handle_alter_partition(
        &mut self,
        broker: i32,
        broker_epoch: i64,
        changes: &[IsrChange],
    ) -> Result<Vec<Result<PartitionState, ErrorCode>>, ControllerError> {
        self.check_broker_epoch(broker, broker_epoch)?;
        let mut batch = Batch::default();
        let answers: Vec<_> =
            changes.iter().map(|change| self.alter_partition(broker, change, &mut batch)).collect();
        if !batch.is_empty() {
            self.commit(&batch);
            self.complete_reassignments();
        }
        Ok(answers)
    }

    fn alter_partition(
        &mut self,
        broker: i32,
        change: &IsrChange,
        batch: &mut Batch,
    ) -> Result<PartitionState, ErrorCode> {
        let (name, topic) = self.state.topic_by_id(change.topic_id).ok_or(ErrorCode::UNKNOWN_TOPIC_ID)?;
        let partition = topic.partition(change.partition).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
        if change.leader_epoch > partition.leader_epoch || change.partition_epoch > partition.partition_epoch
        {
            // The leader has heard of something that this controller has not: there is a newer one.
            return Err(ErrorCode::NOT_CONTROLLER);
        }
        if change.leader_epoch < partition.leader_epoch {
            return Err(ErrorCode::FENCED_LEADER_EPOCH);
        }
        if partition.leader != broker {
            return Err(ErrorCode::INVALID_REQUEST);
        }
        let isr: Vec<i32> = change.isr.iter().map(|(id, _)| *id).collect();
        if isr == partition.isr {
            // Asked again, because the answer was lost.
            return Ok(partition.clone());
        }
        if change.partition_epoch < partition.partition_epoch {
            return Err(ErrorCode::INVALID_UPDATE_VERSION);
        }
        let is_set = (1..isr.len()).all(|at| !isr[at..].contains(&isr[at - 1]));
        if !is_set || !isr.contains(&broker) || !isr.iter().all(|id| partition.replicas.contains(id)) {
            return Err(ErrorCode::INVALID_REQUEST);
        }
        if !change.isr.iter().all(|(id, epoch)| self.may_be_in_sync(*id, *epoch, name, change.partition)) {
            return Err(ErrorCode::INELIGIBLE_REPLICA);
        }
        let name = name.clone();
        let partition_epoch = partition.partition_epoch + 1;
        let next = PartitionState { isr, partition_epoch, ..partition.clone() };
        self.set_partition(&name, change.partition, next.clone());
        batch.announce(&name, change.partition);
        Ok(next)
    }

    /// Whether a replica may be counted in: it is alive, will be, and is the one that the leader has heard (KIP-841,
    /// KIP-903).
    fn may_be_in_sync(&self, broker: i32, epoch: i64, topic: &str, partition: i32) -> bool {
        self.is_eligible(broker, topic, partition) && (epoch == -1 || self.live[&broker].epoch == epoch)
            // A leader that shuts down is in its own ISR to the last.
            || self.state.partition(topic, partition).is_some_and(|state| state.leader == broker)
    }

    /// A broker wants to leave: its leaderships move, and it leaves the in-sync replicas where others are left. Answers
    /// the partitions that it still leads because nobody else can, of those that have other replicas.
    ///
    /// # Errors
    /// STALE_BROKER_EPOCH when this is not the broker that is alive.
    pub fn handle_controlled_shutdown(
        &mut self,
        broker: i32,
        broker_epoch: i64,
    ) -> Result<Vec<(String, i32)>, ControllerError> {
        self.check_broker_epoch(broker, broker_epoch)?;
        if let Some(live) = self.live.get_mut(&broker) {
            live.shutting_down = true;
        }
        let mut changes = Vec::new();
        let mut remaining = Vec::new();
        for (name, topic) in &self.state.topics {
            let replicated = (0i32..).zip(&topic.partitions).filter(|(_, state)| state.replicas.len() > 1);
            for (number, state) in replicated.filter(|(_, state)| state.replicas.contains(&broker)) {
                match self.without(broker, (name, number), state) {
                    Some(next) => changes.push((name.clone(), number, next)),
                    None if state.leader == broker => remaining.push((name.clone(), number)),
                    None => {}
                }
            }
        }
        if !changes.is_empty() {
            let mut batch = Batch::default();
            for (name, number, next) in changes {
                let leader_epoch = next.leader_epoch;
                self.set_partition(&name, number, next);
                batch.change(&name, number);
                let stop = StopReplicaPartition { partition: number, leader_epoch, delete: false };
                batch.stop(broker, &name, stop);
            }
            self.commit(&batch);
        }
        Ok(remaining)
    }

    /// A partition without `broker` among those in sync. None when that would leave nobody, or it is not among them.
    fn without(
        &self,
        broker: i32,
        (topic, number): (&str, i32),
        partition: &PartitionState,
    ) -> Option<PartitionState> {
        if partition.leader == broker {
            let eligible = |id| self.is_eligible(id, topic, number);
            let election = elect(ElectionKind::Clean, &partition.replicas, &partition.isr, eligible)?;
            return Some(partition.led_by(election.leader, election.isr));
        }
        let isr: Vec<i32> = partition.isr.iter().copied().filter(|id| *id != broker).collect();
        let leaves = isr.len() < partition.isr.len() && !isr.is_empty();
        leaves.then(|| partition.led_by(partition.leader, isr))
    }

    /// Somebody wants elections (ElectLeaders, KIP-460): [`ElectionKind::Preferred`] or [`ElectionKind::Unclean`]; of all
    /// partitions that need one when none is named.
    pub fn handle_elect_leaders(
        &mut self,
        kind: ElectionKind,
        partitions: Option<Vec<(String, i32)>>,
    ) -> Vec<((String, i32), Result<(), ControllerError>)> {
        let all_that_need_it = partitions.is_none();
        let partitions = partitions.unwrap_or_else(|| {
            let topics = self.state.topics.iter();
            let numbered =
                topics.flat_map(|(name, topic)| (0i32..).zip(&topic.partitions).map(move |p| (name, p)));
            numbered.map(|(name, (number, _))| (name.clone(), number)).collect()
        });
        let mut batch = Batch::default();
        let mut answers = Vec::new();
        for (name, number) in partitions {
            let elected = self.elect_on_demand(kind, &name, number);
            let answer = elected.map(|next| {
                self.set_partition(&name, number, next);
                batch.change(&name, number);
            });
            let is_needless =
                answer.as_ref().is_err_and(|error| error.code == ErrorCode::ELECTION_NOT_NEEDED);
            if !(all_that_need_it && is_needless) {
                answers.push(((name, number), answer));
            }
        }
        if !batch.is_empty() {
            self.commit(&batch);
        }
        answers
    }

    fn elect_on_demand(
        &self,
        kind: ElectionKind,
        topic: &str,
        number: i32,
    ) -> Result<PartitionState, ControllerError> {
        let Some(partition) = self.state.partition(topic, number) else {
            return refuse(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.");
        };
        let not_needed = match kind {
            ElectionKind::Preferred => partition.replicas.first() == Some(&partition.leader),
            ElectionKind::Clean | ElectionKind::Unclean => partition.leader != NO_LEADER,
        };
        if not_needed {
            return refuse(ErrorCode::ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.");
        }
        let eligible = |id| self.is_eligible(id, topic, number);
        match elect(kind, &partition.replicas, &partition.isr, eligible) {
            Some(election) => Ok(partition.led_by(election.leader, election.isr)),
            None if kind == ElectionKind::Preferred => refuse(
                ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE,
                format!("The preferred leader of {topic}-{number} is not alive or not in sync."),
            ),
            None => refuse(
                ErrorCode::ELIGIBLE_LEADERS_NOT_AVAILABLE,
                format!("No replica of {topic}-{number} is alive."),
            ),
        }
    }

    /// A topic allows unclean elections from now on: those that wait for one are held.
    pub(super) fn elect_where_leaderless(&mut self, topic: &str) {
        let partitions = self.state.topics.get(topic).map_or(0, |topic| topic.partitions.len());
        let named = (0i32..).take(partitions).map(|number| (topic.to_owned(), number)).collect();
        // What cannot be elected now will be when a replica comes back.
        let _answers = self.handle_elect_leaders(ElectionKind::Unclean, Some(named));
    }

    pub(super) fn check_broker_epoch(&self, broker: i32, epoch: i64) -> Result<(), ControllerError> {
        match self.live.get(&broker) {
            Some(live) if epoch == -1 || live.epoch == epoch => Ok(()),
            Some(live) => refuse(
                ErrorCode::STALE_BROKER_EPOCH,
                format!("Broker {broker} has epoch {}, not {epoch}.", live.epoch),
            ),
            None => refuse(ErrorCode::STALE_BROKER_EPOCH, format!("Broker {broker} is not alive.")),
        }
    }
}
