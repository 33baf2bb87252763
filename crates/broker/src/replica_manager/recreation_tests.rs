//! A topic that is deleted and created again under its name.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use milena_protocol::records::{BatchBuilder, Seal};
use milena_protocol::{ErrorCode, Uuid};
use milena_storage::checkpoint::MetaProperties;
use milena_storage::fs::{MemoryFileSystem, SharedFileSystem};
use milena_storage::{LogConfig, LogManager, LogManagerOptions, TopicPartition};

use super::ReplicaManager;
use super::local_logs::LocalLogs;
use crate::clock::Clock;
use crate::controller::{
    ControllerState, LeaderAndIsrTopic, PartitionState, StopReplica, StopReplicaPartition, StopReplicaTopic,
};
use crate::replica::{FollowedPartition, FollowerAppend, FollowerLogs};
use crate::topic_configs::TopicConfigs;

pub(super) const OWN: i32 = 1;
pub(super) const OTHER: i32 = 2;
pub(super) const OLD: Uuid = Uuid([1; 16]);
const NEW: Uuid = Uuid([2; 16]);

pub(super) fn manager(fs: &SharedFileSystem) -> ReplicaManager {
    let meta_properties =
        MetaProperties { cluster_id: "c".to_owned(), node_id: OWN, directory_id: Uuid([9; 16]) };
    let options = LogManagerOptions::new(meta_properties);
    let logs = LogManager::open(fs.clone(), Path::new("logs"), options, |_| LogConfig::default(), 0).unwrap();
    ReplicaManager::new(OWN, logs, LogConfig::default(), Arc::new(TopicConfigs::default()), Clock::default())
}

/// The role in partition 0 of a topic.
pub(super) fn role(id: Uuid, leader: i32, leader_epoch: i32, replicas: &[i32]) -> LeaderAndIsrTopic {
    let state = PartitionState {
        leader,
        leader_epoch,
        partition_epoch: leader_epoch,
        ..PartitionState::new(replicas.to_vec(), |_| true)
    };
    LeaderAndIsrTopic { name: "t".into(), id, partitions: vec![(0, state)] }
}

fn delete(manager: &ReplicaManager) {
    let partition = StopReplicaPartition { partition: 0, leader_epoch: -2, delete: true };
    let topic = StopReplicaTopic { name: "t".into(), partitions: vec![partition] };
    manager.stop_replicas(&StopReplica { topics: vec![topic] });
}

pub(super) fn records() -> Bytes {
    let mut batch = BatchBuilder::new(Vec::new());
    for value in [b"a", b"b", b"c"] {
        batch.append(Clock::default().now_ms(), None, Some(value), &[]);
    }
    batch.seal(Seal::default()).into()
}

#[test]
fn field_10_a_follower_takes_nothing_of_a_deleted_topic_into_the_new_one_of_its_name() {
    let manager = manager(&MemoryFileSystem::shared());
    let followed =
        |topic_id| FollowedPartition { name: TopicPartition::new("t", 0), topic_id, leader_epoch: 0 };
    let append = || FollowerAppend { records: records(), high_watermark: 0, log_start_offset: 0 };
    manager.become_leader_or_follower(&[role(OLD, OTHER, 0, &[OTHER, OWN])]);
    delete(&manager);
    // The same leader, in an epoch of the same number; an answer of the old one is still to be carried out.
    manager.become_leader_or_follower(&[role(NEW, OTHER, 0, &[OTHER, OWN])]);
    let mut logs = LocalLogs(&manager);
    assert_eq!(logs.append(&followed(OLD), append()), Err(ErrorCode::UNKNOWN_TOPIC_ID));
    assert_eq!(logs.truncate_to(&followed(OLD), 0), Err(ErrorCode::UNKNOWN_TOPIC_ID));
    assert_eq!(logs.restart_at(&followed(OLD), 7), Err(ErrorCode::UNKNOWN_TOPIC_ID));
    assert_eq!(logs.log_end(&followed(NEW)).unwrap().end_offset, 0);
    assert_eq!(logs.append(&followed(NEW), append()), Ok(()));
    assert_eq!(logs.log_end(&followed(NEW)).unwrap().end_offset, 3);
}

#[test]
fn field_10_the_high_watermark_of_a_deleted_log_is_not_that_of_the_new_one_of_its_name() {
    let fs = MemoryFileSystem::shared();
    let first = manager(&fs);
    let append = |manager: &ReplicaManager| {
        let partition = manager.partition("t", 0).unwrap();
        partition.append(records(), false, Clock::default().now_ms(), Duration::ZERO).unwrap();
        partition.high_watermark()
    };
    first.become_leader_or_follower(&[role(OLD, OWN, 0, &[OWN])]);
    assert_eq!(append(&first), 3);
    first.checkpoint_high_watermarks();
    delete(&first);
    first.become_leader_or_follower(&[role(NEW, OWN, 0, &[OWN, OTHER])]);
    assert_eq!(append(&first), 0, "the other replica has nothing yet");
    // It dies before the high watermarks are written down again.
    drop(first);
    let second = manager(&fs);
    second.become_leader_or_follower(&[role(NEW, OWN, 1, &[OWN, OTHER])]);
    let partition = second.partition_of("t", NEW, 0).unwrap();
    assert_eq!((partition.log_end().end_offset, partition.high_watermark()), (3, 0));
    assert_eq!(second.partition_of("t", OLD, 0).err(), Some(ErrorCode::UNKNOWN_TOPIC_ID));
}

#[test]
fn field_10_no_news_of_a_deleted_topic_are_none_of_the_new_one_of_its_name() {
    let manager = manager(&MemoryFileSystem::shared());
    manager.become_leader_or_follower(&[role(NEW, OWN, 0, &[OWN])]);
    let nothing = LeaderAndIsrTopic { partitions: Vec::new(), ..role(OLD, OWN, 0, &[OWN]) };
    manager.become_leader_or_follower(&[nothing]);
    assert!(manager.partition_of("t", NEW, 0).is_ok());
}

/// The topic was deleted between the registration of a broker that had restarted and the controller's hearing of that.
#[test]
fn field_10_a_log_of_a_deleted_topic_goes_though_its_replica_has_no_role_yet() {
    let fs = MemoryFileSystem::shared();
    let first = manager(&fs);
    first.become_leader_or_follower(&[role(OLD, OTHER, 0, &[OTHER, OWN])]);
    drop(first);
    let second = manager(&fs);
    assert_eq!((second.partitions().len(), second.logs().logs().len()), (0, 1));
    second.remove_stray_logs(&ControllerState::new("c".to_owned()));
    assert!(second.logs().logs().is_empty());
    second.become_leader_or_follower(&[role(NEW, OWN, 0, &[OWN])]);
    assert!(second.partition_of("t", NEW, 0).is_ok());
}
