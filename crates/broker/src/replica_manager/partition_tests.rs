//! One partition, and what happens to it at once.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::records::{BatchBuilder, Seal};
use milena_protocol::{ErrorCode, Uuid};
use milena_storage::fs::{FaultyFileSystem, FsOperation, MemoryFileSystem, SharedFileSystem};
use milena_storage::{PRODUCER_ID_EXPIRATION_MS, TopicPartition};
use tokio::time::timeout;

use super::local_logs::LocalLogs;
use super::purgatory::Waiter;
use super::recreation_tests::{OTHER, OWN, manager, records, role};
use super::{Partition, ReplicaManager};
use crate::clock::Clock;
use crate::config::DEFAULT_REPLICA_LAG_TIME_MAX;
use crate::replica::{FollowedPartition, FollowerAppend, FollowerFetch, FollowerLogs};

const TOPIC: Uuid = Uuid([1; 16]);

fn followed(leader_epoch: i32) -> FollowedPartition {
    FollowedPartition { name: TopicPartition::new("t", 0), topic_id: TOPIC, leader_epoch }
}

/// Three records of another leader, from `offset` on.
fn records_at(offset: i64, high_watermark: i64) -> FollowerAppend {
    let mut bytes = records().to_vec();
    bytes[..8].copy_from_slice(&offset.to_be_bytes());
    FollowerAppend { records: Bytes::from(bytes), high_watermark, log_start_offset: 0 }
}

fn append(partition: &Partition, now: Duration) {
    partition.append(records(), false, Clock::default().now_ms(), now).unwrap();
}

fn fetch_from(offset: i64) -> FollowerFetch {
    FollowerFetch { replica: OTHER, broker_epoch: 1, offset }
}

/// As after an unclean election of a replica that has neither the records nor their deletion.
#[test]
fn replication_28_records_that_come_in_place_of_deleted_ones_survive_a_kill() {
    let fs = MemoryFileSystem::shared();
    let first = manager(&fs);
    first.become_leader_or_follower(&[role(TOPIC, OWN, 0, &[OWN])]);
    let partition = first.partition("t", 0).unwrap();
    for _ in 0..3 {
        append(&partition, Duration::ZERO);
    }
    assert_eq!(partition.delete_records(7), Ok(7));
    first.logs().checkpoint_log_start_offsets().unwrap();

    first.become_leader_or_follower(&[role(TOPIC, OTHER, 1, &[OTHER, OWN])]);
    let mut logs = LocalLogs(&first);
    logs.truncate_to(&followed(1), 3).unwrap();
    logs.append(&followed(1), records_at(3, 6)).unwrap();
    drop((first, partition));

    let second = manager(&fs);
    second.become_leader_or_follower(&[role(TOPIC, OTHER, 2, &[OTHER, OWN])]);
    let end = LocalLogs(&second).log_end(&followed(2)).unwrap();
    assert_eq!((end.start_offset, end.end_offset), (3, 6));
}

#[test]
fn replication_28_records_that_come_in_place_of_compacted_ones_are_compacted_after_a_kill() {
    let fs = MemoryFileSystem::shared();
    let compacted = |manager: &ReplicaManager| {
        let config =
            [("cleanup.policy", "compact"), ("segment.bytes", "1048576"), ("min.cleanable.dirty.ratio", "0")];
        let config = config.map(|(name, value)| (name.to_owned(), value.to_owned()));
        manager.topic_configs.set("t", &config.into());
    };
    let keyed = |offset: i64| {
        let mut batch = BatchBuilder::new(Vec::new());
        // Two of them do not fit into a segment.
        batch.append(0, Some(b"key"), Some(&[7; 600_000]), &[]);
        let mut bytes = batch.seal(Seal::default());
        bytes[..8].copy_from_slice(&offset.to_be_bytes());
        FollowerAppend { records: bytes.into(), high_watermark: offset + 1, log_start_offset: 0 }
    };
    let first = manager(&fs);
    compacted(&first);
    first.become_leader_or_follower(&[role(TOPIC, OTHER, 1, &[OTHER, OWN])]);
    let mut logs = LocalLogs(&first);
    (0..6).for_each(|offset| logs.append(&followed(1), keyed(offset)).unwrap());
    first.clean_logs();
    let first_dirty = |manager: &ReplicaManager| {
        let partition = manager.partition("t", 0).unwrap();
        partition.log().log().lock().first_dirty_offset()
    };
    assert_eq!(first_dirty(&first), 5, "all but the active segment");
    logs.truncate_to(&followed(1), 2).unwrap();
    (2..9).for_each(|offset| logs.append(&followed(1), keyed(offset)).unwrap());
    drop(first);
    let second = manager(&fs);
    compacted(&second);
    second.become_leader_or_follower(&[role(TOPIC, OTHER, 2, &[OTHER, OWN])]);
    assert!(first_dirty(&second) <= 2, "{}", first_dirty(&second));
}

#[test]
fn replication_28_nobody_waits_for_a_followers_disk_to_hear_that_it_is_one() {
    let disk = FaultyFileSystem::new(MemoryFileSystem::shared());
    let fs: SharedFileSystem = Arc::new(disk.clone());
    let manager = manager(&fs);
    manager.become_leader_or_follower(&[role(TOPIC, OTHER, 1, &[OTHER, OWN])]);
    let partition = manager.partition("t", 0).unwrap();
    let operations = Arc::new(AtomicU32::new(0));
    let count = operations.clone();
    disk.on_operation(move |operation: FsOperation, path: &Path| {
        assert!(!partition.state_is_locked(), "{operation:?} {}", path.display());
        count.fetch_add(1, Ordering::Relaxed);
    });
    let mut logs = LocalLogs(&manager);
    logs.append(&followed(1), records_at(0, 3)).unwrap();
    logs.append(&followed(1), records_at(3, 6)).unwrap();
    logs.truncate_to(&followed(1), 3).unwrap();
    logs.restart_at(&followed(1), 9).unwrap();
    assert!(operations.load(Ordering::Relaxed) > 10, "{operations:?}");
}

#[test]
fn replication_24_what_a_follower_has_in_one_leader_epoch_says_nothing_in_another_one() {
    let manager = manager(&MemoryFileSystem::shared());
    manager.become_leader_or_follower(&[role(TOPIC, OWN, 1, &[OWN, OTHER])]);
    let partition = manager.partition("t", 0).unwrap();
    append(&partition, Duration::ZERO);
    // It is looked at when the roles have changed meanwhile.
    manager.become_leader_or_follower(&[role(TOPIC, OWN, 2, &[OWN, OTHER])]);
    let fetched = |epoch| partition.follower_fetched(fetch_from(3), epoch, Duration::ZERO);
    assert_eq!(fetched(1), Err(ErrorCode::FENCED_LEADER_EPOCH));
    assert_eq!(partition.high_watermark(), 0);
    assert_eq!(fetched(2), Ok(()));
    assert_eq!(partition.high_watermark(), 3);
}

#[test]
fn replication_27_an_append_shows_consumers_what_had_waited_for_a_follower_that_is_late() {
    let manager = manager(&MemoryFileSystem::shared());
    let mut roles = role(TOPIC, OWN, 1, &[OWN, OTHER]);
    roles.partitions[0].1.isr = vec![OWN];
    manager.become_leader_or_follower(&[roles]);
    let partition = manager.partition("t", 0).unwrap();
    append(&partition, Duration::ZERO);
    partition.follower_fetched(fetch_from(0), 1, Duration::ZERO).unwrap();
    append(&partition, Duration::ZERO);
    // It has what there was at its last fetch, and may join soon: it is waited for.
    partition.follower_fetched(fetch_from(3), 1, Duration::ZERO).unwrap();
    append(&partition, Duration::ZERO);
    assert_eq!((partition.high_watermark(), partition.reader().log_end_offset()), (6, 9));
    let before = partition.progress(false).bytes;
    append(&partition, DEFAULT_REPLICA_LAG_TIME_MAX * 2);
    assert_eq!(partition.high_watermark(), 12);
    let both = 2 * records().len() as u64;
    assert!(partition.progress(false).bytes - before >= both, "both have become visible");
}

#[test]
fn replication_29_producers_that_are_gone_are_forgotten() {
    let manager = manager(&MemoryFileSystem::shared());
    manager.become_leader_or_follower(&[role(TOPIC, OWN, 1, &[OWN])]);
    let partition = manager.partition("t", 0).unwrap();
    let seal = Seal { producer_id: 5, producer_epoch: 0, base_sequence: 0, ..Seal::default() };
    let mut batch = BatchBuilder::new(Vec::new());
    batch.append(manager.clock.now_ms(), None, Some(b"a"), &[]);
    partition.append(batch.seal(seal).into(), false, manager.clock.now_ms(), Duration::ZERO).unwrap();
    let is_known = || partition.log().log().lock().producer_state().last_entry(5).is_some();
    manager.remove_expired_producers();
    assert!(is_known());
    manager.clock.set_skew(PRODUCER_ID_EXPIRATION_MS);
    manager.remove_expired_producers();
    assert!(!is_known());
}

#[tokio::test(start_paused = true)]
async fn log_32_who_waits_for_all_live_replicas_looks_again_when_one_has_died() {
    let manager = manager(&MemoryFileSystem::shared());
    manager.become_leader_or_follower(&[role(TOPIC, OWN, 1, &[OWN, OTHER])]);
    let partition = manager.partition("t", 0).unwrap();
    let waiter = Arc::new(Waiter::default());
    let _registration = partition.register(&waiter);
    manager.brokers_died(&[OTHER]);
    timeout(Duration::from_secs(1), waiter.woken()).await.unwrap();
    assert_eq!(partition.low_watermark(|id| id != OTHER), Ok(0));
}
