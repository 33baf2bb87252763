//! [`Group`]: one consumer group of the classic protocol (Kafka: `ClassicGroup`).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::ErrorCode;
use tokio::time::Instant;

/// Names a request that is answered later.
pub(super) type Token = u64;

/// A consumer that wants to be a member.
#[derive(Debug, Clone)]
pub(crate) struct JoinGroup {
    pub(crate) group_id: String,
    /// Empty for one that is new.
    pub(crate) member_id: String,
    pub(crate) instance_id: Option<String>,
    pub(crate) client_id: String,
    pub(crate) client_host: String,
    pub(crate) session_timeout: Duration,
    pub(crate) rebalance_timeout: Duration,
    pub(crate) protocol_type: String,
    /// In the member's order of preference.
    pub(crate) protocols: Vec<(String, Bytes)>,
    /// Whether a new member is first told its id, so that one that vanishes before it knows it leaves nothing (KIP-394).
    pub(crate) require_known_member: bool,
}

/// What a member is told when a generation begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct JoinAnswer {
    pub(crate) error: ErrorCode,
    pub(crate) generation: i32,
    pub(crate) protocol_type: Option<String>,
    pub(crate) protocol: Option<String>,
    pub(crate) leader: String,
    pub(crate) member_id: String,
    /// Only for the leader: id, instance id and metadata of each member.
    pub(crate) members: Vec<(String, Option<String>, Bytes)>,
}

/// A member that asks for its assignment; the leader brings those of all.
#[derive(Debug, Clone)]
pub(crate) struct SyncGroup {
    pub(crate) group_id: String,
    pub(crate) member_id: String,
    pub(crate) instance_id: Option<String>,
    pub(crate) generation: i32,
    pub(crate) protocol_type: Option<String>,
    pub(crate) protocol: Option<String>,
    pub(crate) assignments: Vec<(String, Bytes)>,
}

/// A member's assignment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SyncAnswer {
    pub(crate) error: ErrorCode,
    pub(crate) protocol_type: Option<String>,
    pub(crate) protocol: Option<String>,
    pub(crate) assignment: Bytes,
}

/// A member that leaves, by its id or by its instance id.
#[derive(Debug, Clone)]
pub(crate) struct Leaving {
    pub(crate) member_id: String,
    pub(crate) instance_id: Option<String>,
}

/// An answer that has become due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Join(JoinAnswer),
    Sync(SyncAnswer),
}

/// Where a group is in its cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupState {
    /// No members; perhaps offsets.
    Empty,
    /// Members are joining, until all known ones have or `until` is past.
    PreparingRebalance { until: Instant },
    /// The generation has begun, and its leader is making the assignment.
    CompletingRebalance { until: Instant },
    /// Everybody has, or may have, its assignment.
    Stable,
}

impl GroupState {
    /// Kafka's name of it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::PreparingRebalance { .. } => "PreparingRebalance",
            Self::CompletingRebalance { .. } => "CompletingRebalance",
            Self::Stable => "Stable",
        }
    }
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) instance_id: Option<String>,
    pub(super) client_id: String,
    pub(super) client_host: String,
    session_timeout: Duration,
    rebalance_timeout: Duration,
    protocols: Vec<(String, Bytes)>,
    pub(super) assignment: Bytes,
    /// A join that waits for the generation to begin.
    joining: Option<Token>,
    /// A sync that waits for the leader.
    syncing: Option<Token>,
    /// Whether it has asked for the assignment of this generation.
    synced: bool,
    /// When it is taken for dead, unless it is heard of before. While a request of it waits, it is not.
    expires: Instant,
}

impl Member {
    fn waits(&self) -> bool {
        self.joining.is_some() || self.syncing.is_some()
    }

    pub(super) fn metadata(&self, protocol: &str) -> Bytes {
        let found = self.protocols.iter().find(|(name, _)| name == protocol);
        found.map(|(_, metadata)| metadata.clone()).unwrap_or_default()
    }
}

/// A consumer group.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) state: GroupState,
    pub(super) generation: i32,
    pub(super) protocol_type: Option<String>,
    pub(super) protocol: Option<String>,
    leader: Option<String>,
    pub(super) members: BTreeMap<String, Member>,
    /// Ids that were given out and have not come back, with the time when they are forgotten.
    pending: BTreeMap<String, Instant>,
    /// The member behind each instance id; exactly those of `members` that have one.
    instances: BTreeMap<String, String>,
    answers: Vec<(Token, Answer)>,
}

impl Group {
    pub(super) fn new() -> Self {
        Self {
            state: GroupState::Empty,
            generation: 0,
            protocol_type: None,
            protocol: None,
            leader: None,
            members: BTreeMap::new(),
            pending: BTreeMap::new(),
            instances: BTreeMap::new(),
            answers: Vec::new(),
        }
    }

    /// Whether it has no members, and expects none.
    pub(super) fn is_deserted(&self) -> bool {
        self.state == GroupState::Empty && self.pending.is_empty()
    }

    /// The answers that have become due.
    pub(super) fn take_answers(&mut self) -> Vec<(Token, Answer)> {
        std::mem::take(&mut self.answers)
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let rebalance = match self.state {
            GroupState::PreparingRebalance { until } | GroupState::CompletingRebalance { until } => {
                Some(until)
            }
            GroupState::Empty | GroupState::Stable => None,
        };
        let sessions = self.members.values().filter(|member| !member.waits()).map(|member| member.expires);
        sessions.chain(self.pending.values().copied()).chain(rebalance).min()
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.pending.retain(|_, until| *until > now);
        let dead = |member: &Member| !member.waits() && member.expires <= now;
        self.remove_members(now, |member| dead(member));
        match self.state {
            GroupState::PreparingRebalance { until } if until <= now => {
                self.remove_silently(|member| member.joining.is_none());
                self.begin_generation(now);
            }
            GroupState::CompletingRebalance { until } if until <= now => {
                self.remove_members(now, |member| !member.synced);
                // The leader may be alive and yet bring no assignment.
                if matches!(self.state, GroupState::CompletingRebalance { .. }) {
                    self.prepare_rebalance(now);
                }
            }
            _ => self.begin_generation_if_complete(now),
        }
    }

    /// `new_id` is used when the member has none yet.
    pub(super) fn handle_join(&mut self, token: Token, mut join: JoinGroup, new_id: String, now: Instant) {
        if let Err(error) = self.check_protocols(&join) {
            return self.answer_join_error(token, error, join.member_id);
        }
        if join.member_id.is_empty() {
            join.member_id = match join.instance_id.clone() {
                Some(instance) => self.replace_instance(&instance, new_id),
                None if join.require_known_member => {
                    self.pending.insert(new_id.clone(), now + join.session_timeout);
                    return self.answer_join_error(token, ErrorCode::MEMBER_ID_REQUIRED, new_id);
                }
                None => new_id,
            };
            return self.add_or_update(token, join, now);
        }
        if let Err(error) = self.check_instance(join.instance_id.as_deref(), &join.member_id) {
            return self.answer_join_error(token, error, join.member_id);
        }
        if self.pending.remove(&join.member_id).is_some() {
            return self.add_or_update(token, join, now);
        }
        let Some(member) = self.members.get(&join.member_id) else {
            return self.answer_join_error(token, ErrorCode::UNKNOWN_MEMBER_ID, join.member_id);
        };
        let unchanged = member.protocols == join.protocols;
        let leads = self.leader.as_ref() == Some(&join.member_id);
        match self.state {
            // It has lost the answer of this generation.
            GroupState::CompletingRebalance { .. } if unchanged => {
                self.answer_current(token, &join.member_id);
            }
            // Only the leader can want a rebalance without having changed.
            GroupState::Stable if unchanged && !leads => self.answer_current(token, &join.member_id),
            _ => self.add_or_update(token, join, now),
        }
    }

    pub(super) fn handle_sync(&mut self, token: Token, sync: SyncGroup, now: Instant) {
        let refuse = |error| (token, Answer::Sync(SyncAnswer { error, ..Default::default() }));
        if let Err(error) = self.check_member(&sync.member_id, sync.instance_id.as_deref(), sync.generation) {
            return self.answers.push(refuse(error));
        }
        let differs = |given: &Option<String>, own: &Option<String>| given.is_some() && given != own;
        if differs(&sync.protocol_type, &self.protocol_type) || differs(&sync.protocol, &self.protocol) {
            return self.answers.push(refuse(ErrorCode::INCONSISTENT_GROUP_PROTOCOL));
        }
        self.heard_of(&sync.member_id, now);
        match self.state {
            GroupState::Empty => self.answers.push(refuse(ErrorCode::UNKNOWN_MEMBER_ID)),
            GroupState::PreparingRebalance { .. } => {
                self.answers.push(refuse(ErrorCode::REBALANCE_IN_PROGRESS));
            }
            GroupState::CompletingRebalance { .. } => {
                if let Some(member) = self.members.get_mut(&sync.member_id) {
                    member.synced = true;
                    // A retry takes the place of the request that it repeats.
                    if let Some(before) = member.syncing.replace(token) {
                        let error = ErrorCode::REBALANCE_IN_PROGRESS;
                        self.answers.push((before, Answer::Sync(SyncAnswer { error, ..Default::default() })));
                    }
                }
                if self.leader.as_ref() == Some(&sync.member_id) {
                    self.assign(sync.assignments, now);
                }
            }
            GroupState::Stable => {
                let answer = self.assignment_of(&sync.member_id);
                self.answers.push((token, Answer::Sync(answer)));
            }
        }
    }

    pub(super) fn handle_heartbeat(
        &mut self,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
        now: Instant,
    ) -> ErrorCode {
        if let Err(error) = self.check_member(member_id, instance_id, generation) {
            return error;
        }
        self.heard_of(member_id, now);
        match self.state {
            GroupState::PreparingRebalance { .. } => ErrorCode::REBALANCE_IN_PROGRESS,
            _ => ErrorCode::NONE,
        }
    }

    pub(super) fn handle_leave(&mut self, leaving: &Leaving, now: Instant) -> ErrorCode {
        let mut id = leaving.member_id.clone();
        if let Some(instance) = &leaving.instance_id {
            match self.instances.get(instance) {
                None => return ErrorCode::UNKNOWN_MEMBER_ID,
                Some(own) if id.is_empty() || *own == id => id = own.clone(),
                Some(_) => return ErrorCode::FENCED_INSTANCE_ID,
            }
        }
        if self.pending.remove(&id).is_some() {
            self.begin_generation_if_complete(now);
            return ErrorCode::NONE;
        }
        if !self.members.contains_key(&id) {
            return ErrorCode::UNKNOWN_MEMBER_ID;
        }
        self.remove_member(&id, ErrorCode::UNKNOWN_MEMBER_ID);
        self.rebalance_after_removal(now);
        ErrorCode::NONE
    }

    /// Whether a member of this generation, or somebody outside of any group, may commit offsets.
    pub(super) fn check_commit(
        &mut self,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
        now: Instant,
    ) -> Result<(), ErrorCode> {
        // A consumer that assigns partitions to itself names no generation.
        if generation < 0 && self.state == GroupState::Empty {
            return Ok(());
        }
        self.check_member(member_id, instance_id, generation)?;
        self.heard_of(member_id, now);
        match self.state {
            GroupState::CompletingRebalance { .. } => Err(ErrorCode::REBALANCE_IN_PROGRESS),
            _ => Ok(()),
        }
    }

    fn check_member(
        &self,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
    ) -> Result<(), ErrorCode> {
        self.check_instance(instance_id, member_id)?;
        if !self.members.contains_key(member_id) {
            return Err(ErrorCode::UNKNOWN_MEMBER_ID);
        }
        if generation != self.generation {
            return Err(ErrorCode::ILLEGAL_GENERATION);
        }
        Ok(())
    }

    fn check_instance(&self, instance_id: Option<&str>, member_id: &str) -> Result<(), ErrorCode> {
        match instance_id.map(|instance| self.instances.get(instance)) {
            None => Ok(()),
            Some(None) => Err(ErrorCode::UNKNOWN_MEMBER_ID),
            Some(Some(own)) if own == member_id => Ok(()),
            Some(Some(_)) => Err(ErrorCode::FENCED_INSTANCE_ID),
        }
    }

    fn check_protocols(&self, join: &JoinGroup) -> Result<(), ErrorCode> {
        let inconsistent = Err(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
        if join.protocol_type.is_empty() || join.protocols.is_empty() {
            return inconsistent;
        }
        let others =
            || self.members.iter().filter(|(id, _)| **id != join.member_id).map(|(_, member)| member);
        if others().next().is_none() {
            return Ok(());
        }
        if self.protocol_type.as_ref() != Some(&join.protocol_type) {
            return inconsistent;
        }
        let all_know =
            |name: &str| others().all(|member| member.protocols.iter().any(|(own, _)| own == name));
        if join.protocols.iter().any(|(name, _)| all_know(name)) { Ok(()) } else { inconsistent }
    }

    /// A member that comes back under its instance id gets a new id; who still uses the old one is fenced (KIP-345).
    fn replace_instance(&mut self, instance: &str, new_id: String) -> String {
        if let Some(old) = self.instances.get(instance).cloned() {
            self.remove_member(&old, ErrorCode::FENCED_INSTANCE_ID);
        }
        new_id
    }

    fn add_or_update(&mut self, token: Token, join: JoinGroup, now: Instant) {
        if self.members.is_empty() {
            self.protocol_type = Some(join.protocol_type.clone());
        }
        if let Some(before) = self.members.remove(&join.member_id) {
            // A retry takes the place of the request that it repeats.
            self.release(&join.member_id, &before, ErrorCode::REBALANCE_IN_PROGRESS);
        }
        if let Some(instance) = &join.instance_id {
            self.instances.insert(instance.clone(), join.member_id.clone());
        }
        let member = Member {
            instance_id: join.instance_id,
            client_id: join.client_id,
            client_host: join.client_host,
            session_timeout: join.session_timeout,
            rebalance_timeout: join.rebalance_timeout,
            protocols: join.protocols,
            assignment: Bytes::new(),
            joining: Some(token),
            syncing: None,
            synced: false,
            expires: now + join.session_timeout,
        };
        self.leader.get_or_insert_with(|| join.member_id.clone());
        self.members.insert(join.member_id, member);
        if matches!(self.state, GroupState::PreparingRebalance { .. }) {
            self.begin_generation_if_complete(now);
        } else {
            self.prepare_rebalance(now);
        }
    }

    fn prepare_rebalance(&mut self, now: Instant) {
        for member in self.members.values_mut() {
            member.synced = false;
            if let Some(token) = member.syncing.take() {
                // Its session did not run while it waited.
                member.expires = now + member.session_timeout;
                let error = ErrorCode::REBALANCE_IN_PROGRESS;
                self.answers.push((token, Answer::Sync(SyncAnswer { error, ..Default::default() })));
            }
        }
        let until = now + self.rebalance_timeout();
        self.state = GroupState::PreparingRebalance { until };
        self.begin_generation_if_complete(now);
    }

    fn rebalance_timeout(&self) -> Duration {
        self.members.values().map(|member| member.rebalance_timeout).max().unwrap_or_default()
    }

    fn begin_generation_if_complete(&mut self, now: Instant) {
        let preparing = matches!(self.state, GroupState::PreparingRebalance { .. });
        if preparing
            && self.pending.is_empty()
            && self.members.values().all(|member| member.joining.is_some())
        {
            self.begin_generation(now);
        }
    }

    fn begin_generation(&mut self, now: Instant) {
        self.generation += 1;
        if self.members.is_empty() {
            (self.state, self.protocol, self.leader) = (GroupState::Empty, None, None);
            return;
        }
        self.protocol = self.vote();
        if self.leader.as_ref().is_none_or(|leader| !self.members.contains_key(leader)) {
            self.leader = self.members.keys().next().cloned();
        }
        self.state = GroupState::CompletingRebalance { until: now + self.rebalance_timeout() };
        let waiting: Vec<(String, Token)> = self
            .members
            .iter_mut()
            .filter_map(|(id, member)| {
                member.expires = now + member.session_timeout;
                member.joining.take().map(|token| (id.clone(), token))
            })
            .collect();
        for (id, token) in waiting {
            self.answer_current(token, &id);
        }
    }

    /// The protocol that most members prefer among those that all of them know.
    fn vote(&self) -> Option<String> {
        let first = self.members.values().next()?;
        let all_know = |name: &str| {
            self.members.values().all(|member| member.protocols.iter().any(|(own, _)| own == name))
        };
        let candidates: BTreeSet<&str> =
            first.protocols.iter().map(|(name, _)| name.as_str()).filter(|name| all_know(name)).collect();
        let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
        for member in self.members.values() {
            let choice =
                member.protocols.iter().map(|(name, _)| name.as_str()).find(|n| candidates.contains(n));
            *votes.entry(choice?).or_default() += 1;
        }
        let most = votes.values().copied().max()?;
        votes.into_iter().find(|(_, count)| *count == most).map(|(name, _)| name.to_owned())
    }

    fn assign(&mut self, assignments: Vec<(String, Bytes)>, now: Instant) {
        for (id, assignment) in assignments {
            if let Some(member) = self.members.get_mut(&id) {
                member.assignment = assignment;
            }
        }
        self.state = GroupState::Stable;
        let waiting: Vec<(String, Token)> = self
            .members
            .iter_mut()
            .filter_map(|(id, member)| {
                member.expires = now + member.session_timeout;
                member.syncing.take().map(|token| (id.clone(), token))
            })
            .collect();
        for (id, token) in waiting {
            let answer = self.assignment_of(&id);
            self.answers.push((token, Answer::Sync(answer)));
        }
    }

    fn assignment_of(&self, member_id: &str) -> SyncAnswer {
        SyncAnswer {
            error: ErrorCode::NONE,
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            assignment: self
                .members
                .get(member_id)
                .map(|member| member.assignment.clone())
                .unwrap_or_default(),
        }
    }

    fn answer_current(&mut self, token: Token, member_id: &str) {
        let leader = self.leader.clone().unwrap_or_default();
        let protocol = self.protocol.clone().unwrap_or_default();
        let describe = |(id, member): (&String, &Member)| {
            (id.clone(), member.instance_id.clone(), member.metadata(&protocol))
        };
        let members =
            if leader == member_id { self.members.iter().map(describe).collect() } else { Vec::new() };
        let answer = JoinAnswer {
            error: ErrorCode::NONE,
            generation: self.generation,
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            leader,
            member_id: member_id.to_owned(),
            members,
        };
        self.answers.push((token, Answer::Join(answer)));
    }

    fn answer_join_error(&mut self, token: Token, error: ErrorCode, member_id: String) {
        let answer = JoinAnswer { error, generation: -1, member_id, ..Default::default() };
        self.answers.push((token, Answer::Join(answer)));
    }

    fn heard_of(&mut self, member_id: &str, now: Instant) {
        if let Some(member) = self.members.get_mut(member_id) {
            member.expires = now + member.session_timeout;
        }
    }

    fn remove_members(&mut self, now: Instant, gone: impl Fn(&Member) -> bool) {
        if self.remove_silently(gone) {
            self.rebalance_after_removal(now);
        }
    }

    fn remove_silently(&mut self, gone: impl Fn(&Member) -> bool) -> bool {
        let ids: Vec<String> =
            self.members.iter().filter(|(_, member)| gone(member)).map(|(id, _)| id.clone()).collect();
        for id in &ids {
            self.remove_member(id, ErrorCode::UNKNOWN_MEMBER_ID);
        }
        !ids.is_empty()
    }

    /// Takes a member out; requests of it that wait are answered with `error`.
    fn remove_member(&mut self, id: &str, error: ErrorCode) {
        let Some(member) = self.members.remove(id) else { return };
        self.release(id, &member, error);
        if let Some(instance) = &member.instance_id {
            self.instances.remove(instance);
        }
        if self.leader.as_deref() == Some(id) {
            self.leader = self.members.keys().next().cloned();
        }
    }

    fn release(&mut self, id: &str, member: &Member, error: ErrorCode) {
        if let Some(token) = member.joining {
            self.answer_join_error(token, error, id.to_owned());
        }
        if let Some(token) = member.syncing {
            self.answers.push((token, Answer::Sync(SyncAnswer { error, ..Default::default() })));
        }
    }

    fn rebalance_after_removal(&mut self, now: Instant) {
        match self.state {
            GroupState::Stable | GroupState::CompletingRebalance { .. } => self.prepare_rebalance(now),
            GroupState::PreparingRebalance { .. } => self.begin_generation_if_complete(now),
            GroupState::Empty => {}
        }
    }
}
