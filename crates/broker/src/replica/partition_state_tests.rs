//! broker.md, "Replication", on one partition's state in virtual time.

use super::*;
use std::time::Duration;

use milena_protocol::ErrorCode;

const LAG: Duration = Duration::from_secs(30);

fn at(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn roles(leader: i32, leader_epoch: i32, isr: &[i32]) -> Roles {
    Roles { leader, leader_epoch, partition_epoch: leader_epoch, isr: isr.to_vec(), replicas: vec![1, 2, 3] }
}

/// Broker 1, leading with `isr` in epoch 1 from offset `end` on.
fn leader(isr: &[i32], end: i64) -> PartitionState {
    let mut state = PartitionState::new(1, LAG, end, 0);
    let _changes = state.update_roles(roles(1, 1, isr), end, at(0)).unwrap();
    state
}

fn fetch(state: &mut PartitionState, replica: i32, offset: i64, now: Duration) -> Changes {
    state.follower_fetched(FollowerFetch { replica, broker_epoch: 7, offset }, now).unwrap()
}

fn altered(request: &AlterPartition) -> AlterPartitionResult {
    AlterPartitionResult::Altered {
        leader_epoch: request.leader_epoch,
        partition_epoch: request.partition_epoch + 1,
        isr: request.isr.iter().map(|(id, _)| *id).collect(),
    }
}

#[test]
fn replication_23_a_follower_joins_at_the_high_watermark_and_the_start_of_the_leaders_epoch() {
    let mut state = leader(&[1, 2], 10);
    let _changes = state.appended(12, at(1));
    // The high watermark is not known yet, but the epoch starts at 10.
    assert_eq!(fetch(&mut state, 3, 9, at(2)).alter_partition, None);
    let request = fetch(&mut state, 3, 10, at(3)).alter_partition.unwrap();
    assert_eq!(request.isr, [(1, -1), (2, -1), (3, 7)]);
    assert_eq!((request.leader_epoch, request.partition_epoch), (1, 1));
    // One change at a time, and it counts in both ways until the controller has answered.
    assert_eq!(fetch(&mut state, 3, 12, at(4)).alter_partition, None);
    assert_eq!((state.isr().len(), state.maximal_isr_len()), (2, 3));
    let _changes = state.alter_partition_answered(&request, altered(&request), at(5));
    assert_eq!((state.isr().len(), state.in_flight()), (3, None));
    assert_eq!(state.roles().partition_epoch, 2);

    // Past the epoch's start, but behind the high watermark.
    let mut state = leader(&[1, 2], 10);
    let _changes = state.appended(12, at(1));
    assert_eq!(fetch(&mut state, 2, 12, at(2)).high_watermark, Some(12));
    assert_eq!(fetch(&mut state, 3, 11, at(3)).alter_partition, None);
    assert!(fetch(&mut state, 3, 12, at(4)).alter_partition.is_some());
}

#[test]
fn replication_27_consumers_are_sent_to_followers_that_have_what_they_ask_for() {
    let mut state = leader(&[1, 2, 3], 10);
    let _changes = fetch(&mut state, 2, 8, at(1));
    let _changes = fetch(&mut state, 3, 10, at(1));
    assert_eq!(state.readable_from(8), [3, 2]);
    assert_eq!(state.readable_from(9), [3]);
    // Its retention was earlier than the leader's.
    assert!(state.follower_starts_at(3, 5));
    assert_eq!(state.readable_from(5), [3, 2]);
    assert_eq!(state.readable_from(4), [2]);
}

#[test]
fn replication_23_only_replicas_of_this_life_fetch_and_only_from_the_leader() {
    let mut state = leader(&[1, 2], 0);
    let fetch = |replica, broker_epoch| FollowerFetch { replica, broker_epoch, offset: 0 };
    assert_eq!(state.follower_fetched(fetch(4, 7), at(1)), Err(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION));
    assert!(state.follower_fetched(fetch(2, 7), at(1)).is_ok());
    assert_eq!(state.follower_fetched(fetch(2, 6), at(2)), Err(ErrorCode::STALE_BROKER_EPOCH));
    let _changes = state.update_roles(roles(2, 2, &[1, 2]), 0, at(3)).unwrap();
    assert_eq!(state.follower_fetched(fetch(2, 7), at(4)), Err(ErrorCode::NOT_LEADER_OR_FOLLOWER));
}

#[test]
fn replication_24_the_high_watermark_is_the_least_end_over_the_isr_and_never_goes_back() {
    let mut state = leader(&[1, 2, 3], 0);
    assert_eq!(state.appended(5, at(1)).high_watermark, None);
    assert_eq!(fetch(&mut state, 2, 5, at(2)).high_watermark, None);
    assert_eq!(fetch(&mut state, 3, 3, at(3)).high_watermark, Some(3));
    assert_eq!(fetch(&mut state, 3, 5, at(4)).high_watermark, Some(5));
    // A follower that starts over takes nothing back.
    assert_eq!(fetch(&mut state, 3, 0, at(5)).high_watermark, None);
    assert_eq!(state.high_watermark(), 5);
    // Nor does a new epoch, although nothing is known of the followers then.
    let changes = state.update_roles(roles(1, 2, &[1, 2]), 5, at(6)).unwrap();
    assert_eq!((changes.high_watermark, state.high_watermark()), (None, 5));
    assert_eq!(state.follower_end_offset(2), None);
    assert_eq!(state.appended(6, at(7)).high_watermark, None);
    assert_eq!(fetch(&mut state, 2, 6, at(8)).high_watermark, Some(6));
}

#[test]
fn replication_24_a_leader_that_is_alone_in_sync_waits_for_nobody() {
    let mut state = leader(&[1], 4);
    assert_eq!(state.high_watermark(), 4);
    assert_eq!(state.appended(9, at(1)).high_watermark, Some(9));
}

#[test]
fn replication_24_a_follower_that_keeps_up_is_waited_for_until_it_has_joined() {
    let mut state = leader(&[1], 0);
    let _changes = state.appended(10, at(1));
    // It has all that there was at its last fetch, each time; without a wait the high watermark would run ahead for ever.
    assert_eq!(fetch(&mut state, 2, 0, at(2)).alter_partition, None);
    let _changes = state.appended(20, at(3));
    assert_eq!(fetch(&mut state, 2, 10, at(4)).alter_partition, None);
    assert_eq!(state.appended(30, at(5)).high_watermark, None);
    let request = fetch(&mut state, 2, 20, at(6)).alter_partition.unwrap();
    assert_eq!(request.isr, [(1, -1), (2, 7)]);
}

#[test]
fn replication_24_one_that_may_be_in_sync_already_is_waited_for() {
    let mut state = leader(&[1, 2], 0);
    let request = fetch(&mut state, 3, 0, at(1)).alter_partition.unwrap();
    // The controller may have made 3 a candidate for the lead, and we do not know; nor does time change that.
    let _changes = state.appended(4, at(2));
    assert_eq!(fetch(&mut state, 2, 4, LAG * 3).high_watermark, None);
    let lost = AlterPartitionResult::Failed(ErrorCode::REQUEST_TIMED_OUT);
    let _changes = state.alter_partition_answered(&request, lost, LAG * 3);
    assert_eq!(state.tick(LAG * 3).high_watermark, None);
    let refused = AlterPartitionResult::Failed(ErrorCode::INELIGIBLE_REPLICA);
    assert_eq!(state.alter_partition_answered(&request, refused, LAG * 3).high_watermark, Some(4));
}

#[test]
fn replication_24_one_that_died_on_its_way_in_is_waited_for_no_more() {
    let mut state = leader(&[1, 2], 10);
    let _changes = state.appended(12, at(1));
    assert_eq!(fetch(&mut state, 2, 12, at(1)).high_watermark, Some(12));
    assert_eq!(fetch(&mut state, 3, 11, at(2)), Changes::default());
    let _changes = state.appended(14, at(3));
    assert_eq!(fetch(&mut state, 2, 14, at(4)).high_watermark, Some(14));
    // It has what there was at its last fetch, so it is about to join, and the next records wait for it.
    assert_eq!(fetch(&mut state, 3, 12, at(5)), Changes::default());
    let _changes = state.appended(16, at(6));
    assert_eq!(fetch(&mut state, 2, 16, at(7)).high_watermark, None);
    assert_eq!(state.follower_died(2, at(8)), Changes::default(), "the controller says who is in sync");
    assert_eq!(state.follower_died(3, at(8)).high_watermark, Some(16));
    assert_eq!(state.isr().len(), 2);
}

#[test]
fn replication_24_one_that_may_not_join_is_waited_for_no_more() {
    // Broker 3 stops in order: it hears of its new leader, fetches once, is told to give up, and is never heard of again.
    let mut state = leader(&[1, 2], 0);
    let request = fetch(&mut state, 3, 0, at(1)).alter_partition.unwrap();
    let refused = AlterPartitionResult::Failed(ErrorCode::INELIGIBLE_REPLICA);
    let _changes = state.alter_partition_answered(&request, refused, at(2));
    let _changes = state.appended(4, at(3));
    assert_eq!(fetch(&mut state, 2, 4, at(4)).high_watermark, Some(4));
    // If it is not gone, it is as good as any other.
    assert!(fetch(&mut state, 3, 4, at(5)).alter_partition.is_some());
}

#[test]
fn replication_25_only_a_replica_that_lags_too_long_is_removed() {
    let mut state = leader(&[1, 2, 3], 0);
    let _changes = state.appended(5, at(10));
    let _changes = fetch(&mut state, 2, 5, at(20));
    let _changes = fetch(&mut state, 3, 2, at(20));
    assert_eq!(state.tick(LAG).alter_partition, None);
    // Both have been silent for too long, but 2 has everything.
    let request = state.tick(LAG + at(10_000)).alter_partition.unwrap();
    assert_eq!(request.isr, [(1, -1), (2, 7)]);
    // While the controller has not answered, 3 still counts.
    assert_eq!((state.high_watermark(), state.maximal_isr_len()), (2, 3));
    let changes = state.alter_partition_answered(&request, altered(&request), LAG + at(10_001));
    assert_eq!((changes.high_watermark, state.isr().len()), (Some(5), 2));
    assert_eq!(state.tick(LAG * 10).alter_partition, None);
}

#[test]
fn replication_25_a_replica_that_has_what_there_was_at_its_last_fetch_keeps_up() {
    let mut state = leader(&[1, 2], 0);
    let mut end = 0;
    for second in 1..100 {
        end += 10;
        let _changes = state.appended(end, at(second * 1000));
        let _changes = fetch(&mut state, 2, end - 10, at(second * 1000 + 1));
        assert_eq!(state.tick(at(second * 1000 + 2)).alter_partition, None, "after {second} s");
    }
}

#[test]
fn replication_26_what_counts_for_min_insync_replicas_before_and_after_the_append() {
    let mut state = leader(&[1, 2], 0);
    let _changes = state.appended(1, at(1));
    let request = state.tick(LAG + at(1)).alter_partition.unwrap();
    // Asked for, not decided: the record is still waited for on two replicas.
    assert_eq!((state.isr().len(), state.maximal_isr_len()), (2, 2));
    let changes = state.alter_partition_answered(&request, altered(&request), LAG + at(2));
    // The high watermark passes the record, with fewer replicas than two.
    assert_eq!(changes.high_watermark, Some(1));
    assert_eq!((state.isr().len(), state.maximal_isr_len()), (1, 1));
}

#[test]
fn replication_28_a_follower_forgets_what_a_leader_knows_and_an_old_epoch_changes_nothing() {
    let mut state = leader(&[1, 2, 3], 8);
    let _changes = state.appended(9, at(1));
    let request = state.tick(LAG + at(1)).alter_partition.unwrap();
    let _changes = state.update_roles(roles(2, 2, &[1, 2]), 9, LAG).unwrap();
    assert_eq!((state.role(), state.in_flight(), state.isr().len()), (Role::Follower(2), None, 0));
    let late = state.alter_partition_answered(&request, altered(&request), LAG + at(2));
    assert_eq!((late, state.isr().len()), (Changes::default(), 0));
    assert_eq!(state.update_roles(roles(1, 2, &[1]), 9, LAG), None);
    assert_eq!(state.update_roles(roles(1, 1, &[1]), 9, LAG), None);
    assert_eq!(state.role(), Role::Follower(2));

    // What the new leader knows later than we did takes nothing back; a truncation does.
    assert_eq!(state.followed(9, 7).high_watermark, Some(7));
    assert_eq!(state.followed(9, 5).high_watermark, None);
    assert_eq!(state.followed(9, 20).high_watermark, Some(9));
    state.truncated(6);
    assert_eq!((state.high_watermark(), state.log_end_offset()), (6, 6));
}

#[test]
fn a_change_is_asked_for_until_the_controller_has_decided() {
    let ask = || {
        let mut state = leader(&[1, 2], 0);
        let request = fetch(&mut state, 3, 0, at(1)).alter_partition.unwrap();
        (state, request)
    };
    for code in [ErrorCode::NOT_CONTROLLER, ErrorCode::REQUEST_TIMED_OUT, ErrorCode::UNKNOWN_SERVER_ERROR] {
        let (mut state, request) = ask();
        let again = state.alter_partition_answered(&request, AlterPartitionResult::Failed(code), at(2));
        assert_eq!((again.alter_partition.as_ref(), state.maximal_isr_len()), (Some(&request), 3), "{code}");
    }
    // The change may have happened: the next LeaderAndIsr will say.
    let (mut state, request) = ask();
    let refused = AlterPartitionResult::Failed(ErrorCode::INVALID_UPDATE_VERSION);
    assert_eq!(state.alter_partition_answered(&request, refused, at(2)), Changes::default());
    assert_eq!((state.isr().len(), state.maximal_isr_len()), (2, 3));
    // It has not: the follower has to ask again.
    let (mut state, request) = ask();
    let refused = AlterPartitionResult::Failed(ErrorCode::INELIGIBLE_REPLICA);
    assert_eq!(state.alter_partition_answered(&request, refused, at(2)), Changes::default());
    assert_eq!((state.maximal_isr_len(), state.in_flight()), (2, None));
    assert_eq!(fetch(&mut state, 3, 0, at(3)).alter_partition, Some(request));
}
