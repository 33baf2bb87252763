//! [`PartitionState`]: who leads a partition, who is in sync, and how far all of them are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use milena_protocol::ErrorCode;

/// The end offset of a follower that has not fetched in this leader epoch.
const UNKNOWN_OFFSET: i64 = -1;

/// What the controller says about a partition (LeaderAndIsr).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Roles {
    /// The leader's id, or −1.
    pub leader: i32,
    /// Rises with each decision of the controller.
    pub leader_epoch: i32,
    /// Rises with each change, those that leaders ask for too.
    pub partition_epoch: i32,
    /// The replicas in sync.
    pub isr: Vec<i32>,
    /// All replicas, the preferred leader first.
    pub replicas: Vec<i32>,
}

/// What this broker is for a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It takes records from producers.
    Leader,
    /// It fetches from this broker; −1 while nobody leads.
    Follower(i32),
}

/// The leader's wish to change the in-sync replicas (KIP-497).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterPartition {
    /// The leader's epoch.
    pub leader_epoch: i32,
    /// The state that the wish is about; the controller refuses another one.
    pub partition_epoch: i32,
    /// The replicas in sync with the epochs of their brokers, −1 for one that is not known (KIP-903).
    pub isr: Vec<(i32, i64)>,
}

/// The controller's answer to [`AlterPartition`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlterPartitionResult {
    /// It is so now.
    Altered {
        /// As the controller has it.
        leader_epoch: i32,
        /// As the controller has it.
        partition_epoch: i32,
        /// As the controller has it.
        isr: Vec<i32>,
    },
    /// It refuses, or the request or its answer was lost (any retriable code).
    Failed(ErrorCode),
}

/// A follower's fetch, as the leader sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FollowerFetch {
    /// The follower.
    pub replica: i32,
    /// Its broker epoch, −1 when it does not say.
    pub broker_epoch: i64,
    /// The offset that it asks for, which is where its log ends.
    pub offset: i64,
}

/// What an event changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct Changes {
    /// The high watermark moved to here.
    pub high_watermark: Option<i64>,
    /// To be sent to the controller until it answers; there is one at a time.
    pub alter_partition: Option<AlterPartition>,
}

/// One partition on one broker (Kafka: `Partition` without its log).
///
/// Invariants of a leader: it is in its own ISR; the high watermark is at most the least end offset over every replica
/// that is in the ISR or may be soon (`maximal_isr`), whichever way a change that is under way ends; and it never goes
/// back in one leader epoch.
#[derive(Debug, Clone)]
pub struct PartitionState {
    node_id: i32,
    lag_time_max: Duration,
    roles: Roles,
    role: Role,
    /// Where this replica's log ends.
    log_end_offset: i64,
    high_watermark: i64,
    /// Where this leader's epoch begins. Nothing of a follower that is shorter is known to be this log.
    epoch_start_offset: i64,
    /// As the controller has confirmed.
    isr: BTreeSet<i32>,
    /// What the controller has been asked for, and has not answered.
    proposed: Option<Proposal>,
    /// The other replicas, as a leader knows them.
    followers: BTreeMap<i32, Follower>,
}

#[derive(Debug, Clone)]
struct Proposal {
    isr: BTreeSet<i32>,
    request: AlterPartition,
}

/// A follower (Kafka: `Replica`).
#[derive(Debug, Clone)]
struct Follower {
    log_end_offset: i64,
    log_start_offset: i64,
    broker_epoch: i64,
    /// The last time at which it had all that the leader had; None for never in this epoch.
    caught_up_at: Option<Duration>,
    /// When it fetched last, and the leader's end at that time.
    last_fetch: Option<(Duration, i64)>,
}

impl PartitionState {
    /// A replica on `node_id` of which nothing is known but its log's end and the high watermark that was written down.
    /// `lag_time_max` is `replica.lag.time.max.ms`.
    #[must_use]
    pub fn new(node_id: i32, lag_time_max: Duration, log_end_offset: i64, high_watermark: i64) -> Self {
        Self {
            node_id,
            lag_time_max,
            roles: Roles { leader: -1, leader_epoch: -1, partition_epoch: -1, ..Roles::default() },
            role: Role::Follower(-1),
            log_end_offset,
            high_watermark: high_watermark.clamp(0, log_end_offset.max(0)),
            epoch_start_offset: log_end_offset,
            isr: BTreeSet::new(),
            proposed: None,
            followers: BTreeMap::new(),
        }
    }

    /// Takes the role that the controller gives out, unless its leader epoch is not above the one that is known: None
    /// then. `log_end_offset` is where the log ends now.
    pub fn update_roles(&mut self, roles: Roles, log_end_offset: i64, now: Duration) -> Option<Changes> {
        if roles.leader_epoch <= self.roles.leader_epoch {
            return None;
        }
        self.roles = roles;
        self.proposed = None;
        self.log_end_offset = log_end_offset;
        self.high_watermark = self.high_watermark.min(log_end_offset);
        if self.roles.leader == self.node_id {
            Some(self.become_leader(now))
        } else {
            self.role = Role::Follower(self.roles.leader);
            self.isr = BTreeSet::new();
            self.followers = BTreeMap::new();
            Some(Changes::default())
        }
    }

    /// Nothing that was known of the followers holds in a new epoch: they may have lost or cut off what they had.
    fn become_leader(&mut self, now: Duration) -> Changes {
        self.role = Role::Leader;
        self.epoch_start_offset = self.log_end_offset;
        self.isr = self.roles.isr.iter().copied().collect();
        let others = self.roles.replicas.iter().filter(|id| **id != self.node_id);
        let follower = |id: &i32| Follower {
            log_end_offset: UNKNOWN_OFFSET,
            log_start_offset: UNKNOWN_OFFSET,
            broker_epoch: -1,
            // One that is in sync has the whole of the lag time to say so.
            caught_up_at: self.isr.contains(id).then_some(now),
            last_fetch: None,
        };
        self.followers = others.map(|id| (*id, follower(id))).collect();
        Changes { high_watermark: self.advance(now), alter_partition: None }
    }

    /// The leader has appended up to `log_end_offset`.
    pub fn appended(&mut self, log_end_offset: i64, now: Duration) -> Changes {
        self.log_end_offset = log_end_offset;
        Changes { high_watermark: self.advance(now), alter_partition: None }
    }

    /// A follower has asked for its next records, so it has everything before them (`Partition.updateFollowerFetchState`).
    ///
    /// # Errors
    /// NOT_LEADER_OR_FOLLOWER when this broker does not lead, UNKNOWN_TOPIC_OR_PARTITION for a broker that has no replica,
    /// STALE_BROKER_EPOCH for one that has been restarted since.
    pub fn follower_fetched(&mut self, fetch: FollowerFetch, now: Duration) -> Result<Changes, ErrorCode> {
        if self.role != Role::Leader {
            return Err(ErrorCode::NOT_LEADER_OR_FOLLOWER);
        }
        let leader_end = self.log_end_offset;
        let Some(follower) = self.followers.get_mut(&fetch.replica) else {
            return Err(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
        };
        if fetch.broker_epoch < follower.broker_epoch {
            return Err(ErrorCode::STALE_BROKER_EPOCH);
        }
        if fetch.offset >= leader_end {
            follower.caught_up_at = Some(now);
        } else if let Some((at, end)) = follower.last_fetch.filter(|(_, end)| fetch.offset >= *end) {
            // It has what there was at its last fetch: a leader that is never idle has followers in sync too.
            debug_assert!(end <= leader_end, "a leader's log does not shrink");
            follower.caught_up_at = follower.caught_up_at.max(Some(at));
        }
        follower.log_end_offset = fetch.offset;
        follower.broker_epoch = fetch.broker_epoch;
        follower.last_fetch = Some((now, leader_end));
        let high_watermark = self.advance(now);
        Ok(Changes { high_watermark, alter_partition: self.expand(fetch.replica) })
    }

    /// A follower's log starts at `log_start_offset`. Says whether that is news.
    pub fn follower_starts_at(&mut self, replica: i32, log_start_offset: i64) -> bool {
        let Some(follower) = self.followers.get_mut(&replica) else { return false };
        let is_news = follower.log_start_offset != log_start_offset;
        follower.log_start_offset = log_start_offset;
        is_news
    }

    /// Where every live replica's log starts, at the least; `own` is where this leader's does. Below 0 while one that is alive
    /// has not said so in this leader epoch.
    #[must_use]
    pub fn low_watermark(&self, own: i64, is_alive: impl Fn(i32) -> bool) -> i64 {
        let live = self.followers.iter().filter(|(id, _)| is_alive(**id));
        live.map(|(_, follower)| follower.log_start_offset).fold(own, i64::min)
    }

    /// A follower's broker is not alive: if it is not in sync, it is waited for no more until it fetches again
    /// (`Partition.isReplicaIsrEligible`). One that is in sync stays so until the controller says otherwise.
    pub fn follower_died(&mut self, replica: i32, now: Duration) -> Changes {
        if self.role != Role::Leader || self.in_maximal_isr(replica) {
            return Changes::default();
        }
        if let Some(follower) = self.followers.get_mut(&replica) {
            (follower.caught_up_at, follower.last_fetch) = (None, None);
        }
        Changes { high_watermark: self.advance(now), alter_partition: None }
    }

    /// Time has passed: followers that lag too long leave the ISR (`Partition.maybeShrinkIsr`).
    pub fn tick(&mut self, now: Duration) -> Changes {
        if self.role != Role::Leader {
            return Changes::default();
        }
        let high_watermark = self.advance(now);
        let lagging = |id: &&i32| match self.followers.get(id) {
            Some(follower) => {
                follower.log_end_offset != self.log_end_offset && !self.is_caught_up(follower, now)
            }
            None => false,
        };
        let keep: BTreeSet<i32> = self.isr.iter().filter(|id| !lagging(id)).copied().collect();
        let shrinks = self.proposed.is_none() && keep.len() < self.isr.len();
        Changes { high_watermark, alter_partition: shrinks.then(|| self.propose(keep)) }
    }

    /// The controller has answered `request`. After a failure that says nothing, the changes carry the request once more,
    /// to be sent after a pause.
    pub fn alter_partition_answered(
        &mut self,
        request: &AlterPartition,
        result: AlterPartitionResult,
        now: Duration,
    ) -> Changes {
        let current = self.proposed.as_ref().filter(|proposal| proposal.request == *request);
        if self.role != Role::Leader || current.is_none() {
            return Changes::default();
        }
        match result {
            AlterPartitionResult::Altered { leader_epoch, partition_epoch, isr } => {
                // Another leader epoch is the controller's next request to tell.
                if leader_epoch == self.roles.leader_epoch && partition_epoch >= self.roles.partition_epoch {
                    self.roles.partition_epoch = partition_epoch;
                    self.isr = isr.into_iter().collect();
                    self.proposed = None;
                }
                Changes { high_watermark: self.advance(now), alter_partition: None }
            }
            // It is certain that nothing has changed.
            AlterPartitionResult::Failed(
                ErrorCode::INELIGIBLE_REPLICA | ErrorCode::OPERATION_NOT_ATTEMPTED,
            ) => {
                self.proposed = None;
                self.forget_joining(request);
                Changes { high_watermark: self.advance(now), alter_partition: None }
            }
            // The controller has moved on and its next request says where to. Until then either may hold.
            AlterPartitionResult::Failed(
                ErrorCode::FENCED_LEADER_EPOCH
                | ErrorCode::INVALID_UPDATE_VERSION
                | ErrorCode::INVALID_REQUEST
                | ErrorCode::NEW_LEADER_ELECTED
                | ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
                | ErrorCode::UNKNOWN_TOPIC_ID,
            ) => Changes::default(),
            AlterPartitionResult::Failed(_) => {
                Changes { high_watermark: None, alter_partition: Some(request.clone()) }
            }
        }
    }

    /// The follower has appended what it fetched, and heard of the leader's high watermark. A high watermark that was
    /// once known to be right stays so, even if a new leader does not know yet.
    pub fn followed(&mut self, log_end_offset: i64, leader_high_watermark: i64) -> Changes {
        self.log_end_offset = log_end_offset;
        let before = self.high_watermark;
        self.high_watermark = before.max(leader_high_watermark.min(log_end_offset));
        Changes {
            high_watermark: (self.high_watermark != before).then_some(self.high_watermark),
            alter_partition: None,
        }
    }

    /// The follower's log has been cut and ends at `log_end_offset` now. Below the high watermark that happens only after
    /// an unclean election, or when the leader's log starts further on.
    pub fn truncated(&mut self, log_end_offset: i64) {
        self.log_end_offset = log_end_offset;
        self.high_watermark = self.high_watermark.min(log_end_offset);
    }

    /// The log's start has moved past the high watermark (DeleteRecords, or a log that starts anew).
    pub fn started_at(&mut self, log_start_offset: i64) {
        self.high_watermark = self.high_watermark.max(log_start_offset).min(self.log_end_offset);
    }

    /// What this broker is for the partition.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// What the controller said last, with the partition epoch of the last confirmed change.
    #[must_use]
    pub fn roles(&self) -> &Roles {
        &self.roles
    }

    /// Offset after the last record that every replica in sync has.
    #[must_use]
    pub fn high_watermark(&self) -> i64 {
        self.high_watermark
    }

    /// Where this replica's log ends.
    #[must_use]
    pub fn log_end_offset(&self) -> i64 {
        self.log_end_offset
    }

    /// Where the leader's epoch starts; only means something on a leader.
    #[must_use]
    pub fn epoch_start_offset(&self) -> i64 {
        self.epoch_start_offset
    }

    /// The replicas in sync as the controller has confirmed them; empty on a follower.
    #[must_use]
    pub fn isr(&self) -> &BTreeSet<i32> {
        &self.isr
    }

    /// How many replicas have every record below the high watermark, however a change that is under way ends.
    #[must_use]
    pub fn maximal_isr_len(&self) -> usize {
        match &self.proposed {
            None => self.isr.len(),
            Some(proposal) => self.isr.union(&proposal.isr).count(),
        }
    }

    /// The change that the controller has not answered.
    #[must_use]
    pub fn in_flight(&self) -> Option<&AlterPartition> {
        self.proposed.as_ref().map(|proposal| &proposal.request)
    }

    /// Where a follower's log ends as far as the leader knows; None before its first fetch in this epoch.
    #[must_use]
    pub fn follower_end_offset(&self, replica: i32) -> Option<i64> {
        let end = self.followers.get(&replica)?.log_end_offset;
        (end != UNKNOWN_OFFSET).then_some(end)
    }

    /// The followers in sync that have what comes before and after `offset`, as far as the leader has heard, the one with the
    /// most records first: a consumer may read on there (KIP-392).
    #[must_use]
    pub fn readable_from(&self, offset: i64) -> Vec<i32> {
        let in_sync = self.followers.iter().filter(|(id, _)| self.isr.contains(id));
        let mut readable: Vec<_> = in_sync
            .filter(|(_, follower)| (follower.log_start_offset..=follower.log_end_offset).contains(&offset))
            .map(|(id, follower)| (follower.log_end_offset, *id))
            .collect();
        readable.sort_by_key(|(end, id)| (std::cmp::Reverse(*end), *id));
        readable.into_iter().map(|(_, id)| id).collect()
    }

    fn in_maximal_isr(&self, replica: i32) -> bool {
        let proposed = self.proposed.as_ref().is_some_and(|proposal| proposal.isr.contains(&replica));
        proposed || self.isr.contains(&replica)
    }

    fn is_caught_up(&self, follower: &Follower, now: Duration) -> bool {
        follower.caught_up_at.is_some_and(|at| now.saturating_sub(at) <= self.lag_time_max)
    }

    /// Moves the high watermark as far as it may go (`Partition.maybeIncrementLeaderHW`).
    fn advance(&mut self, now: Duration) -> Option<i64> {
        if self.role != Role::Leader {
            return None;
        }
        let mut least = self.log_end_offset;
        for (id, follower) in &self.followers {
            // One that is about to join is waited for, or it would never reach a high watermark that runs ahead of it.
            let joining = follower.log_end_offset != UNKNOWN_OFFSET && self.is_caught_up(follower, now);
            if joining || self.in_maximal_isr(*id) {
                least = least.min(follower.log_end_offset);
            }
        }
        if least <= self.high_watermark {
            return None;
        }
        self.high_watermark = least;
        Some(least)
    }

    /// Asks for a follower that has caught up to be counted in (`Partition.maybeExpandIsr`).
    fn expand(&mut self, replica: i32) -> Option<AlterPartition> {
        let follower = self.followers.get(&replica)?;
        let reached = self.high_watermark.max(self.epoch_start_offset);
        if self.proposed.is_some() || self.isr.contains(&replica) || follower.log_end_offset < reached {
            return None;
        }
        let mut isr = self.isr.clone();
        isr.insert(replica);
        Some(self.propose(isr))
    }

    /// Who may not join is waited for no more until it fetches again: it may have been on its way out, and then nobody
    /// would hear of it, and every record would wait for it as long as it counts as caught up.
    fn forget_joining(&mut self, request: &AlterPartition) {
        for (id, _) in request.isr.iter().filter(|(id, _)| !self.isr.contains(id)) {
            if let Some(follower) = self.followers.get_mut(id) {
                (follower.caught_up_at, follower.last_fetch) = (None, None);
            }
        }
    }

    fn propose(&mut self, isr: BTreeSet<i32>) -> AlterPartition {
        let epoch_of = |id: &i32| self.followers.get(id).map_or(-1, |follower| follower.broker_epoch);
        let request = AlterPartition {
            leader_epoch: self.roles.leader_epoch,
            partition_epoch: self.roles.partition_epoch,
            isr: isr.iter().map(|id| (*id, epoch_of(id))).collect(),
        };
        self.proposed = Some(Proposal { isr, request: request.clone() });
        request
    }
}
