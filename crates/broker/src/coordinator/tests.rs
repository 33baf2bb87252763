//! Groups in virtual time.

use std::time::Duration;

use bytes::Bytes;
use milena_protocol::ErrorCode;
use tokio::time::Instant;

use super::engine::{CommittedOffset, CoordinatorEngine, MAX_GROUPS, OffsetKey};
use super::group::{Answer, JoinAnswer, JoinGroup, Leaving, SyncAnswer, SyncGroup, Token};

const SESSION: Duration = Duration::from_secs(10);
const REBALANCE: Duration = Duration::from_secs(60);

/// An engine and its time.
struct Harness {
    engine: CoordinatorEngine,
    now: Instant,
    answers: Vec<(Token, Answer)>,
    members: u32,
}

impl Harness {
    fn new() -> Self {
        Self { engine: CoordinatorEngine::default(), now: Instant::now(), answers: Vec::new(), members: 0 }
    }

    fn join_as(&mut self, member_id: &str, change: impl FnOnce(&mut JoinGroup)) -> Token {
        let mut join = JoinGroup {
            group_id: "g".to_owned(),
            member_id: member_id.to_owned(),
            instance_id: None,
            client_id: "c".to_owned(),
            client_host: "/127.0.0.1".to_owned(),
            session_timeout: SESSION,
            rebalance_timeout: REBALANCE,
            protocol_type: "consumer".to_owned(),
            protocols: vec![("range".to_owned(), Bytes::from_static(b"m"))],
            require_known_member: false,
        };
        change(&mut join);
        self.members += 1;
        self.engine.handle_join(join, format!("m{}", self.members), self.now)
    }

    fn join(&mut self, member_id: &str) -> Token {
        self.join_as(member_id, |_| {})
    }

    fn sync(&mut self, member_id: &str, generation: i32, assignments: &[(&str, &'static str)]) -> Token {
        let assignments = assignments
            .iter()
            .map(|(id, to)| ((*id).to_owned(), Bytes::from_static(to.as_bytes())))
            .collect();
        let sync = SyncGroup {
            group_id: "g".to_owned(),
            member_id: member_id.to_owned(),
            instance_id: None,
            generation,
            protocol_type: None,
            protocol: None,
            assignments,
        };
        self.engine.handle_sync(sync, self.now)
    }

    fn answer(&mut self, token: Token) -> Option<Answer> {
        self.answers.extend(std::iter::from_fn(|| self.engine.poll_answer()));
        let at = self.answers.iter().position(|(answered, _)| *answered == token)?;
        Some(self.answers.remove(at).1)
    }

    fn joined(&mut self, token: Token) -> JoinAnswer {
        match self.answer(token) {
            Some(Answer::Join(answer)) => answer,
            other => panic!("{other:?}"),
        }
    }

    fn synced(&mut self, token: Token) -> SyncAnswer {
        match self.answer(token) {
            Some(Answer::Sync(answer)) => answer,
            other => panic!("{other:?}"),
        }
    }

    fn heartbeat(&mut self, member_id: &str, generation: i32) -> ErrorCode {
        self.engine.handle_heartbeat("g", member_id, None, generation, self.now)
    }

    fn state(&self) -> &'static str {
        self.engine.describe("g").unwrap().state
    }

    fn advance(&mut self, by: Duration) {
        let end = self.now + by;
        while let Some(next) = self.engine.next_timeout().filter(|next| *next <= end) {
            self.now = self.now.max(next);
            self.engine.handle_timeout(self.now);
        }
        self.now = end;
    }

    /// A stable group of m1, which leads, and m2, in generation 2.
    fn pair() -> Self {
        let mut h = Self::new();
        let first = h.join("");
        assert_eq!(h.joined(first).generation, 1);
        h.sync("m1", 1, &[("m1", "all")]);
        let second = h.join("");
        assert_eq!(h.heartbeat("m1", 1), ErrorCode::REBALANCE_IN_PROGRESS);
        let again = h.join("m1");
        let leader = h.joined(again);
        assert_eq!((leader.leader.as_str(), leader.generation), ("m1", 2));
        let ids: Vec<_> = leader.members.iter().map(|(id, _, _)| id.as_str()).collect();
        assert_eq!(ids, ["m1", "m2"]);
        assert!(h.joined(second).members.is_empty(), "only the leader is told of the others");
        let follower = h.sync("m2", 2, &[]);
        assert_eq!(h.answer(follower), None, "it waits for the leader");
        let leader = h.sync("m1", 2, &[("m1", "one"), ("m2", "two")]);
        assert_eq!(
            (h.synced(leader).assignment, h.synced(follower).assignment),
            ("one".into(), "two".into())
        );
        assert_eq!(h.state(), "Stable");
        h
    }
}

#[test]
fn two_members_share_what_the_leader_hands_out() {
    let mut h = Harness::pair();
    assert_eq!(h.heartbeat("m1", 2), ErrorCode::NONE);
    // One that has lost the answer asks again and gets the same.
    let again = h.sync("m2", 2, &[]);
    assert_eq!(h.synced(again).assignment, "two");
    let again = h.join("m2");
    assert_eq!(h.joined(again).generation, 2, "nothing has changed, so nobody is disturbed");
    assert_eq!(h.state(), "Stable");
}

#[test]
fn a_new_member_is_first_told_its_id() {
    let mut h = Harness::new();
    let token = h.join_as("", |join| join.require_known_member = true);
    let told = h.joined(token);
    assert_eq!((told.error, told.member_id.as_str()), (ErrorCode::MEMBER_ID_REQUIRED, "m1"));
    let token = h.join_as("m1", |join| join.require_known_member = true);
    assert_eq!(h.joined(token).error, ErrorCode::NONE);
    h.sync("m1", 1, &[("m1", "all")]);
    // One that never comes back does not hold the others up for longer than its session.
    h.join_as("", |join| join.require_known_member = true);
    let token = h.join("m1");
    assert_eq!(h.answer(token), None);
    h.advance(SESSION);
    assert_eq!(h.joined(token).generation, 2);
}

#[test]
fn strangers_and_stragglers_are_told_so() {
    let mut h = Harness::pair();
    assert_eq!(h.heartbeat("m1", 1), ErrorCode::ILLEGAL_GENERATION);
    assert_eq!(h.heartbeat("m9", 2), ErrorCode::UNKNOWN_MEMBER_ID);
    let token = h.sync("m1", 1, &[]);
    assert_eq!(h.synced(token).error, ErrorCode::ILLEGAL_GENERATION);
    let token = h.join("m9");
    assert_eq!(h.joined(token).error, ErrorCode::UNKNOWN_MEMBER_ID);
    let token = h.join_as("", |join| join.protocol_type = "connect".to_owned());
    assert_eq!(h.joined(token).error, ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
    let token = h.join_as("", |join| join.protocols = vec![("sticky".to_owned(), Bytes::new())]);
    assert_eq!(h.joined(token).error, ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
    let token = h.join_as("", |join| join.session_timeout = Duration::from_secs(1));
    assert_eq!(h.joined(token).error, ErrorCode::INVALID_SESSION_TIMEOUT);
    let token = h.join_as("", |join| join.group_id = String::new());
    assert_eq!(h.joined(token).error, ErrorCode::INVALID_GROUP_ID);
    assert_eq!(h.state(), "Stable");
}

#[test]
fn a_member_that_is_silent_or_leaves_makes_room() {
    let mut h = Harness::pair();
    h.advance(SESSION / 2);
    assert_eq!(h.heartbeat("m1", 2), ErrorCode::NONE);
    h.advance(SESSION / 2);
    // m2 was silent for a whole session.
    assert_eq!(h.state(), "PreparingRebalance");
    let token = h.join("m1");
    let answer = h.joined(token);
    assert_eq!((answer.generation, answer.members.len()), (3, 1));
    h.sync("m1", 3, &[("m1", "all")]);

    let leaving = Leaving { member_id: "m1".to_owned(), instance_id: None };
    assert_eq!(h.engine.handle_leave("g", &leaving, h.now), ErrorCode::NONE);
    assert_eq!(h.engine.handle_leave("g", &leaving, h.now), ErrorCode::UNKNOWN_MEMBER_ID);
    assert_eq!(h.state(), "Empty");
    assert_eq!(h.engine.next_timeout(), None, "an empty group waits for nothing");
}

#[test]
fn groups_that_nobody_is_in_any_more_make_room_for_others() {
    let mut h = Harness::new();
    let join = |h: &mut Harness, group: usize| {
        let token = h.join_as("", |join| join.group_id = group.to_string());
        h.joined(token)
    };
    let first = join(&mut h, 0);
    for group in 1..MAX_GROUPS {
        assert_eq!(join(&mut h, group).error, ErrorCode::NONE);
    }
    assert_eq!(join(&mut h, MAX_GROUPS).error, ErrorCode::GROUP_MAX_SIZE_REACHED);
    let leaving = Leaving { member_id: first.member_id.clone(), instance_id: None };
    assert_eq!(h.engine.handle_leave("0", &leaving, h.now), ErrorCode::NONE);
    assert_eq!(join(&mut h, MAX_GROUPS).error, ErrorCode::NONE);
    let heartbeat = h.engine.handle_heartbeat("0", &first.member_id, None, 1, h.now);
    assert_eq!(heartbeat, ErrorCode::UNKNOWN_MEMBER_ID);
    assert_eq!(join(&mut h, 0).error, ErrorCode::GROUP_MAX_SIZE_REACHED);
}

#[test]
fn who_does_not_join_again_in_time_is_left_out() {
    let mut h = Harness::pair();
    let newcomer = h.join("");
    for _ in 0..12 {
        // m1 and m2 live, but do not join.
        h.heartbeat("m1", 2);
        h.heartbeat("m2", 2);
        assert_eq!(h.answer(newcomer), None);
        h.advance(REBALANCE / 12);
    }
    let answer = h.joined(newcomer);
    assert_eq!((answer.generation, answer.leader.as_str()), (3, answer.member_id.as_str()));
    assert_eq!(answer.members.len(), 1);
    assert_eq!(h.heartbeat("m1", 2), ErrorCode::UNKNOWN_MEMBER_ID);
}

#[test]
fn a_leader_that_brings_no_assignment_is_replaced() {
    let mut h = Harness::pair();
    let (one, two) = (h.join_as("m1", |j| j.protocols[0].1 = "new".into()), h.join("m2"));
    assert_eq!((h.joined(one).generation, h.joined(two).generation), (3, 3));
    let waiting = h.sync("m2", 3, &[]);
    for _ in 0..12 {
        h.heartbeat("m1", 3);
        h.advance(REBALANCE / 12);
    }
    assert_eq!(h.synced(waiting).error, ErrorCode::REBALANCE_IN_PROGRESS);
    let token = h.join("m2");
    assert_eq!(h.joined(token).leader, "m2");
}

#[test]
fn a_static_member_comes_back_under_a_new_id_and_the_old_one_is_fenced() {
    let mut h = Harness::new();
    let instance = |join: &mut JoinGroup| join.instance_id = Some("i".to_owned());
    let token = h.join_as("", instance);
    assert_eq!(h.joined(token).member_id, "m1");
    h.sync("m1", 1, &[("m1", "all")]);
    let token = h.join_as("", instance);
    let answer = h.joined(token);
    assert_eq!((answer.member_id.as_str(), answer.generation), ("m2", 2));
    let token = h.join_as("m1", instance);
    assert_eq!(h.joined(token).error, ErrorCode::FENCED_INSTANCE_ID);
    assert_eq!(h.engine.handle_heartbeat("g", "m1", Some("i"), 2, h.now), ErrorCode::FENCED_INSTANCE_ID);
}

#[test]
fn the_protocol_is_one_that_all_members_know() {
    let mut h = Harness::new();
    let protocols = |names: &'static [&'static str]| {
        move |join: &mut JoinGroup| {
            join.protocols =
                names.iter().map(|name| ((*name).to_owned(), Bytes::from_static(name.as_bytes()))).collect();
        }
    };
    h.join_as("", protocols(&["sticky", "range"]));
    let second = h.join_as("", protocols(&["range", "roundrobin"]));
    let first = h.join_as("m1", protocols(&["sticky", "range"]));
    assert_eq!(h.joined(second).protocol.as_deref(), Some("range"));
    let leader = h.joined(first);
    assert!(
        leader.members.iter().all(|(_, _, metadata)| metadata == "range"),
        "the metadata of that protocol"
    );
}

#[test]
fn offsets_are_committed_by_members_and_by_those_who_need_no_group() {
    let mut h = Harness::pair();
    let mut check = |member: &str, generation| h.engine.check_commit("g", member, None, generation, h.now);
    assert_eq!(check("m1", 2), Ok(()));
    assert_eq!(check("m1", 1), Err(ErrorCode::ILLEGAL_GENERATION));
    assert_eq!(check("", -1), Err(ErrorCode::UNKNOWN_MEMBER_ID), "the group has members");
    assert_eq!(h.engine.check_commit("other", "", None, -1, h.now), Ok(()));
    assert_eq!(h.engine.check_commit("", "", None, -1, h.now), Err(ErrorCode::INVALID_GROUP_ID));

    let key = OffsetKey { topic: "t".to_owned(), partition: 0 };
    let offset = CommittedOffset { offset: 5, leader_epoch: -1, metadata: String::new(), committed_at_ms: 0 };
    h.engine.set_offset("other", key.clone(), Some(offset.clone()));
    assert_eq!(h.engine.offsets("other").collect::<Vec<_>>(), [(&key, &offset)]);
    let listed: Vec<_> = h.engine.list().into_iter().map(|(id, state, _)| (id, state)).collect();
    assert_eq!(listed, [("g".to_owned(), "Stable"), ("other".to_owned(), "Empty")]);

    assert_eq!(h.engine.handle_delete("g"), Err(ErrorCode::NON_EMPTY_GROUP));
    assert_eq!(h.engine.handle_delete("nope"), Err(ErrorCode::GROUP_ID_NOT_FOUND));
    assert_eq!(h.engine.handle_delete("other"), Ok(vec![key.clone()]));
    h.engine.set_offset("other", key, None);
    assert_eq!(h.engine.describe("other"), None);
}
