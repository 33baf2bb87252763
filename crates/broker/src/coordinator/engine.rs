//! [`CoordinatorEngine`]: all groups and their offsets. No clock, no disk, no network.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use milena_protocol::ErrorCode;
use tokio::time::Instant;

use super::group::{Answer, Group, GroupState, JoinAnswer, JoinGroup, Leaving, SyncAnswer, SyncGroup, Token};

/// `group.min.session.timeout.ms` and `group.max.session.timeout.ms`.
const SESSION_TIMEOUTS: std::ops::RangeInclusive<Duration> =
    Duration::from_secs(6)..=Duration::from_secs(1_800);
/// `offset.metadata.max.bytes`.
const MAX_OFFSET_METADATA: usize = 4_096;
/// How many groups there may be. Kafka has no bound; each costs memory that nobody asked for.
pub(super) const MAX_GROUPS: usize = 10_000;

/// A partition that a group has an offset of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OffsetKey {
    pub(crate) topic: String,
    pub(crate) partition: i32,
}

/// A committed offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommittedOffset {
    pub(crate) offset: i64,
    /// −1 when the client did not say.
    pub(crate) leader_epoch: i32,
    pub(crate) metadata: String,
    /// Milliseconds since the epoch.
    pub(crate) committed_at_ms: i64,
}

/// A group as tools want to see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupDescription {
    pub(crate) state: &'static str,
    pub(crate) protocol_type: String,
    pub(crate) protocol: String,
    pub(crate) members: Vec<MemberDescription>,
}

/// A member as tools want to see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemberDescription {
    pub(crate) member_id: String,
    pub(crate) instance_id: Option<String>,
    pub(crate) client_id: String,
    pub(crate) client_host: String,
    pub(crate) metadata: bytes::Bytes,
    pub(crate) assignment: bytes::Bytes,
}

type Offsets = BTreeMap<OffsetKey, CommittedOffset>;

/// The groups that this broker coordinates.
#[derive(Debug, Default)]
pub(super) struct CoordinatorEngine {
    groups: BTreeMap<String, Group>,
    offsets: BTreeMap<String, Offsets>,
    next_token: Token,
    answers: VecDeque<(Token, Answer)>,
}

impl CoordinatorEngine {
    /// The next answer that has become due.
    pub(super) fn poll_answer(&mut self) -> Option<(Token, Answer)> {
        self.answers.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.groups.values().filter_map(Group::next_timeout).min()
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        let due = |group: &Group| group.next_timeout().is_some_and(|until| until <= now);
        for group in self.groups.values_mut().filter(|group| due(group)) {
            group.handle_timeout(now);
            self.answers.extend(group.take_answers());
        }
    }

    /// A consumer wants to be a member; `new_id` is fresh. The answer comes under the token.
    pub(super) fn handle_join(&mut self, join: JoinGroup, new_id: String, now: Instant) -> Token {
        let token = self.token();
        let full = !self.groups.contains_key(&join.group_id) && !self.has_room();
        let error = if join.group_id.is_empty() {
            ErrorCode::INVALID_GROUP_ID
        } else if !SESSION_TIMEOUTS.contains(&join.session_timeout) {
            ErrorCode::INVALID_SESSION_TIMEOUT
        } else if full {
            ErrorCode::GROUP_MAX_SIZE_REACHED
        } else if !join.member_id.is_empty() && !self.groups.contains_key(&join.group_id) {
            ErrorCode::UNKNOWN_MEMBER_ID
        } else {
            let group = self.groups.entry(join.group_id.clone()).or_insert_with(Group::new);
            group.handle_join(token, join, new_id, now);
            self.answers.extend(group.take_answers());
            return token;
        };
        let answer = JoinAnswer { error, generation: -1, member_id: join.member_id, ..Default::default() };
        self.answers.push_back((token, Answer::Join(answer)));
        token
    }

    /// Whether there may be one more group. Those that nobody is in any more make room; their offsets stay.
    fn has_room(&mut self) -> bool {
        if self.groups.len() >= MAX_GROUPS {
            self.groups.retain(|_, group| !group.is_deserted());
        }
        self.groups.len() < MAX_GROUPS
    }

    /// A member wants its assignment. The answer comes under the token.
    pub(super) fn handle_sync(&mut self, sync: SyncGroup, now: Instant) -> Token {
        let token = self.token();
        match self.groups.get_mut(&sync.group_id) {
            Some(group) => {
                group.handle_sync(token, sync, now);
                self.answers.extend(group.take_answers());
            }
            None => {
                let error = ErrorCode::UNKNOWN_MEMBER_ID;
                self.answers.push_back((token, Answer::Sync(SyncAnswer { error, ..Default::default() })));
            }
        }
        token
    }

    pub(super) fn handle_heartbeat(
        &mut self,
        group_id: &str,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
        now: Instant,
    ) -> ErrorCode {
        match self.groups.get_mut(group_id) {
            Some(group) => group.handle_heartbeat(member_id, instance_id, generation, now),
            None => ErrorCode::UNKNOWN_MEMBER_ID,
        }
    }

    pub(super) fn handle_leave(&mut self, group_id: &str, leaving: &Leaving, now: Instant) -> ErrorCode {
        let Some(group) = self.groups.get_mut(group_id) else { return ErrorCode::UNKNOWN_MEMBER_ID };
        let error = group.handle_leave(leaving, now);
        self.answers.extend(group.take_answers());
        error
    }

    /// Whether the member may commit now. A consumer without a group protocol needs no group for it.
    pub(super) fn check_commit(
        &mut self,
        group_id: &str,
        member_id: &str,
        instance_id: Option<&str>,
        generation: i32,
        now: Instant,
    ) -> Result<(), ErrorCode> {
        match self.groups.get_mut(group_id) {
            _ if group_id.is_empty() => Err(ErrorCode::INVALID_GROUP_ID),
            Some(group) => group.check_commit(member_id, instance_id, generation, now),
            None if generation < 0 => Ok(()),
            None => Err(ErrorCode::ILLEGAL_GENERATION),
        }
    }

    /// Whether the offset itself can be taken.
    pub(super) fn check_metadata(metadata: &str) -> Result<(), ErrorCode> {
        if metadata.len() > MAX_OFFSET_METADATA {
            return Err(ErrorCode::OFFSET_METADATA_TOO_LARGE);
        }
        Ok(())
    }

    /// Takes an offset that is durable; None deletes it.
    pub(super) fn set_offset(&mut self, group_id: &str, key: OffsetKey, offset: Option<CommittedOffset>) {
        match offset {
            Some(offset) => {
                self.offsets.entry(group_id.to_owned()).or_default().insert(key, offset);
            }
            None => {
                if let Some(offsets) = self.offsets.get_mut(group_id) {
                    offsets.remove(&key);
                    if offsets.is_empty() {
                        self.offsets.remove(group_id);
                    }
                }
            }
        }
    }

    pub(super) fn offsets(&self, group_id: &str) -> impl Iterator<Item = (&OffsetKey, &CommittedOffset)> {
        self.offsets.get(group_id).into_iter().flatten()
    }

    /// The groups that have members or offsets, with state and protocol type.
    pub(super) fn list(&self) -> Vec<(String, &'static str, String)> {
        let ids: std::collections::BTreeSet<&String> =
            self.groups.keys().chain(self.offsets.keys()).collect();
        let describe =
            |id: &String| self.describe(id).map(|group| (id.clone(), group.state, group.protocol_type));
        ids.into_iter().filter_map(describe).collect()
    }

    pub(super) fn describe(&self, group_id: &str) -> Option<GroupDescription> {
        let Some(group) = self.groups.get(group_id) else {
            // A group of which only offsets are known, since nobody has joined it after a restart.
            let empty = GroupDescription {
                state: GroupState::Empty.name(),
                protocol_type: String::new(),
                protocol: String::new(),
                members: Vec::new(),
            };
            return self.offsets.contains_key(group_id).then_some(empty);
        };
        let protocol = group.protocol.clone().unwrap_or_default();
        let members = group.members.iter().map(|(id, member)| MemberDescription {
            member_id: id.clone(),
            instance_id: member.instance_id.clone(),
            client_id: member.client_id.clone(),
            client_host: member.client_host.clone(),
            metadata: member.metadata(&protocol),
            assignment: member.assignment.clone(),
        });
        Some(GroupDescription {
            state: group.state.name(),
            protocol_type: group.protocol_type.clone().unwrap_or_default(),
            members: members.collect(),
            protocol,
        })
    }

    /// Forgets a group without members; answers the offsets that have to be deleted.
    pub(super) fn handle_delete(&mut self, group_id: &str) -> Result<Vec<OffsetKey>, ErrorCode> {
        match self.groups.get(group_id) {
            Some(group) if group.state != GroupState::Empty => return Err(ErrorCode::NON_EMPTY_GROUP),
            None if !self.offsets.contains_key(group_id) => return Err(ErrorCode::GROUP_ID_NOT_FOUND),
            _ => {}
        }
        self.groups.remove(group_id);
        Ok(self.offsets(group_id).map(|(key, _)| key.clone()).collect())
    }

    fn token(&mut self) -> Token {
        self.next_token += 1;
        self.next_token
    }
}
