//! The log directory: names, formats, locks, restarts.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use common::*;
use milena_protocol::Uuid;
use milena_storage::checkpoint::MetaProperties;
use milena_storage::fs::{
    CrashPlan, FaultyFileSystem, FsOperation, MemoryFileSystem, RealFileSystem, SharedFileSystem, read_file,
};
use milena_storage::{
    ErrorKind, FsyncPolicy, LogConfig, LogManager, LogManagerOptions, Result, TopicPartition,
};

const TOPIC_ID: Uuid = Uuid([7; 16]);

fn manager_options(node_id: i32) -> LogManagerOptions {
    let meta_properties =
        MetaProperties { cluster_id: "test-cluster".to_owned(), node_id, directory_id: Uuid([9; 16]) };
    LogManagerOptions { fsync: FsyncPolicy::EveryBatch, ..LogManagerOptions::new(meta_properties) }
}

fn manager(fs: &SharedFileSystem, dir: &Path) -> Result<LogManager> {
    LogManager::open(fs.clone(), dir, manager_options(1), |_| LogConfig::default(), NOW)
}

fn text(fs: &SharedFileSystem, path: impl AsRef<Path>) -> String {
    String::from_utf8(read_file(&**fs, path.as_ref(), 10_000).unwrap().to_vec()).unwrap()
}

fn fill(manager: &LogManager, partitions: i32) {
    for partition in 0..partitions {
        let topic_partition = TopicPartition::new("orders.v-1", partition);
        let handle =
            manager.get_or_create(&topic_partition, Some(TOPIC_ID), LogConfig::default(), NOW).unwrap();
        append(&mut handle.log().lock(), &Batch::numbered("a", 3)).unwrap();
    }
}

#[test]
fn log_30_the_files_have_kafkas_names_and_formats() {
    let fs = MemoryFileSystem::shared();
    let manager = manager(&fs, Path::new("data")).unwrap();
    fill(&manager, 2);
    let first = manager.get(&TopicPartition::new("orders.v-1", 0)).unwrap();
    first.log().lock().delete_records(2, 3).unwrap();
    let high_watermarks = BTreeMap::from([(TopicPartition::new("orders.v-1", 1), 3)]);
    manager.checkpoint_high_watermarks(&high_watermarks).unwrap();
    manager.shutdown().unwrap();

    let names =
        |dir| fs.list(Path::new(dir)).unwrap().into_iter().map(|entry| entry.name).collect::<Vec<_>>();
    assert_eq!(
        names("data"),
        [
            ".kafka_cleanshutdown",
            ".lock",
            "log-start-offset-checkpoint",
            "meta.properties",
            "orders.v-1-0",
            "orders.v-1-1",
            "recovery-point-offset-checkpoint",
            "replication-offset-checkpoint",
        ]
    );
    assert_eq!(
        names("data/orders.v-1-0"),
        [
            "00000000000000000000.index",
            "00000000000000000000.log",
            "00000000000000000000.timeindex",
            "00000000000000000003.snapshot",
            "leader-epoch-checkpoint",
            "partition.metadata",
        ]
    );
    assert_eq!(text(&fs, "data/recovery-point-offset-checkpoint"), "0\n2\norders.v-1 0 3\norders.v-1 1 3\n");
    assert_eq!(text(&fs, "data/log-start-offset-checkpoint"), "0\n1\norders.v-1 0 2\n");
    assert_eq!(text(&fs, "data/replication-offset-checkpoint"), "0\n1\norders.v-1 1 3\n");
    assert_eq!(text(&fs, "data/orders.v-1-1/leader-epoch-checkpoint"), "0\n1\n0 0\n");
    assert_eq!(
        text(&fs, "data/orders.v-1-0/partition.metadata"),
        format!("version: 0\ntopic_id: {TOPIC_ID}\n")
    );
    let meta = text(&fs, "data/meta.properties");
    assert!(meta.contains("version=1\ncluster.id=test-cluster\nnode.id=1\ndirectory.id="), "{meta}");
    let time_index =
        read_file(&*fs, Path::new("data/orders.v-1-0/00000000000000000000.timeindex"), 100).unwrap();
    assert_eq!(&time_index[..], [&(NOW + 2).to_be_bytes()[..], &2i32.to_be_bytes()].concat());
}

#[test]
fn a_clean_restart_brings_everything_back() {
    let fs = MemoryFileSystem::shared();
    let first = manager(&fs, Path::new("data")).unwrap();
    fill(&first, 3);
    first.get(&TopicPartition::new("orders.v-1", 2)).unwrap().log().lock().delete_records(1, 3).unwrap();
    first.shutdown().unwrap();
    drop(first);
    let second = manager(&fs, Path::new("data")).unwrap();
    assert!(!fs.exists(Path::new("data/.kafka_cleanshutdown")), "from here on a crash is no clean shutdown");
    let logs = second.logs();
    assert_eq!(logs.len(), 3);
    for handle in logs {
        let log = handle.log().lock();
        assert_eq!((log.log_end_offset(), log.topic_id()), (3, Some(TOPIC_ID)));
        assert_eq!(log.log_start_offset(), i64::from(handle.topic_partition().partition == 2));
    }
}

#[test]
fn log_31_a_power_cut_keeps_logs_their_ids_and_what_was_acknowledged() {
    let faulty = FaultyFileSystem::new(MemoryFileSystem::shared());
    let fs: SharedFileSystem = Arc::new(faulty.clone());
    let before = manager(&fs, Path::new("data")).unwrap();
    fill(&before, 3);
    drop(before);
    faulty.restart(CrashPlan::DropUnsynced).unwrap();
    let after = manager(&fs, Path::new("data")).unwrap();
    assert_eq!(after.logs().len(), 3);
    for handle in after.logs() {
        let log = handle.log().lock();
        assert_eq!((log.log_end_offset(), log.topic_id()), (3, Some(TOPIC_ID)));
    }
}

/// Its topic was created again. What the checkpoints tell of the deleted log would have a recovery look at nothing below its
/// recovery point, and would take what lies below its start for deleted.
#[test]
fn field_10_what_checkpoints_tell_of_a_deleted_log_is_not_taken_for_the_new_one_of_its_name() {
    for dies_in_between in [false, true] {
        let fs = MemoryFileSystem::shared();
        let mut manager = self::manager(&fs, Path::new("data")).unwrap();
        fill(&manager, 1);
        let name = TopicPartition::new("orders.v-1", 0);
        manager.get(&name).unwrap().log().lock().delete_records(2, 3).unwrap();
        manager.checkpoint().unwrap();
        manager.checkpoint_log_start_offsets().unwrap();
        assert_eq!(text(&fs, "data/log-start-offset-checkpoint"), "0\n1\norders.v-1 0 2\n");
        assert!(manager.delete(&name).unwrap());
        if dies_in_between {
            drop(manager);
            manager = self::manager(&fs, Path::new("data")).unwrap();
        }
        let new = manager.get_or_create(&name, Some(Uuid([8; 16])), LogConfig::default(), NOW).unwrap();
        append(&mut new.log().lock(), &Batch::numbered("a", 3)).unwrap();
        for file in ["data/log-start-offset-checkpoint", "data/recovery-point-offset-checkpoint"] {
            assert_eq!(text(&fs, file), "0\n0\n", "{file}");
        }
        drop((new, manager));
        let after = self::manager(&fs, Path::new("data")).unwrap();
        let handle = after.get(&name).unwrap();
        let log = handle.log().lock();
        assert_eq!((log.log_start_offset(), log.log_end_offset()), (0, 3));
    }
}

#[test]
fn one_broker_per_directory_and_one_directory_per_broker() {
    let fs = MemoryFileSystem::shared();
    let held = manager(&fs, Path::new("data")).unwrap();
    let error = manager(&fs, Path::new("data")).unwrap_err();
    assert!(error.to_string().contains("in use by another broker"), "{error}");
    drop(held);
    let other =
        LogManager::open(fs.clone(), Path::new("data"), manager_options(2), |_| LogConfig::default(), NOW);
    let error = other.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidState);
    assert!(error.to_string().contains("belongs to node 1"), "{error}");
    manager(&fs, Path::new("data")).unwrap();
}

#[test]
fn a_directory_of_a_version_to_come_is_refused() {
    let fs = MemoryFileSystem::shared();
    drop(manager(&fs, Path::new("data")).unwrap());
    let path = Path::new("data").join("meta.properties");
    let newer = text(&fs, &path).replace("version=1", "version=2");
    milena_storage::fs::write_file_atomically(&*fs, &path, newer.as_bytes()).unwrap();
    let error = manager(&fs, Path::new("data")).unwrap_err().to_string();
    assert!(error.contains("version 2"), "{error}");
    assert_eq!(text(&fs, &path), newer);
}

#[test]
fn a_deleted_log_is_gone_and_its_name_is_free_for_another_topic_id() {
    let fs = MemoryFileSystem::shared();
    let manager_ = manager(&fs, Path::new("data")).unwrap();
    fill(&manager_, 1);
    let topic_partition = TopicPartition::new("orders.v-1", 0);
    let other_id = Some(Uuid([8; 16]));
    let error = manager_.get_or_create(&topic_partition, other_id, LogConfig::default(), NOW).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidState);
    let old = manager_.get(&topic_partition).unwrap();
    assert!(manager_.delete(&topic_partition).unwrap());
    assert!(!manager_.delete(&topic_partition).unwrap());
    append(&mut old.log().lock(), &Batch::of(&["late"])).unwrap_err();
    let new = manager_.get_or_create(&topic_partition, other_id, LogConfig::default(), NOW).unwrap();
    assert_eq!(new.log().lock().log_end_offset(), 0);
}

#[test]
fn an_interrupted_deletion_is_finished() {
    let fs = MemoryFileSystem::shared();
    fill(&manager(&fs, Path::new("data")).unwrap(), 1);
    fs.rename(Path::new("data/orders.v-1-0"), Path::new("data/orders.v-1-0-delete")).unwrap();
    assert!(manager(&fs, Path::new("data")).unwrap().logs().is_empty());
    assert!(!fs.exists(Path::new("data/orders.v-1-0-delete")));
}

#[test]
fn names_that_leave_the_directory_are_refused() {
    let manager = manager(&MemoryFileSystem::shared(), Path::new("data")).unwrap();
    for topic in ["../up", "a/b", "", ".."] {
        let topic_partition = TopicPartition::new(topic, 0);
        manager.get_or_create(&topic_partition, None, LogConfig::default(), NOW).unwrap_err();
    }
}

#[test]
fn broken_checkpoints_are_left_out() {
    let fs = MemoryFileSystem::shared();
    let first = manager(&fs, Path::new("data")).unwrap();
    fill(&first, 1);
    first.checkpoint().unwrap();
    drop(first);
    for name in
        ["recovery-point-offset-checkpoint", "log-start-offset-checkpoint", "replication-offset-checkpoint"]
    {
        milena_storage::fs::write_file_atomically(&*fs, &Path::new("data").join(name), b"0\n7\nx\n").unwrap();
    }
    let second = manager(&fs, Path::new("data")).unwrap();
    assert_eq!(second.logs()[0].reader().log_end_offset(), 3);
    assert!(second.read_high_watermarks().is_empty());
}

#[test]
fn the_same_on_a_real_disk() {
    let dir = tempfile::tempdir().unwrap();
    let fs = RealFileSystem::shared();
    let data = dir.path().join("data");
    let first = manager(&fs, &data).unwrap();
    fill(&first, 2);
    manager(&fs, &data).unwrap_err();
    let handle = first.get(&TopicPartition::new("orders.v-1", 1)).unwrap();
    {
        let mut log = handle.log().lock();
        log.set_config(small_segments(500));
        for n in 0..50 {
            append(&mut log, &Batch::numbered(&format!("batch-{n}"), 3)).unwrap();
        }
        log.truncate_to(100, NOW).unwrap();
        assert!(log.segment_base_offsets().len() > 10);
    }
    let expected = read_all(&handle.log().lock(), 300);
    first.shutdown().unwrap();
    drop(first);
    // The second time there was no clean shutdown.
    for _ in 0..2 {
        let again = manager(&fs, &data).unwrap();
        let handle = again.get(&TopicPartition::new("orders.v-1", 1)).unwrap();
        assert_eq!(read_all(&handle.log().lock(), 300), expected);
    }
}

#[test]
fn a_checkpoint_syncs_full_segments_so_that_a_recovery_reads_only_the_last() {
    let fs = MemoryFileSystem::shared();
    let faulty = FaultyFileSystem::new(fs);
    let fs: SharedFileSystem = Arc::new(faulty.clone());
    let os = LogManagerOptions { fsync: FsyncPolicy::Os, ..manager_options(1) };
    let open_manager =
        || LogManager::open(fs.clone(), Path::new("data"), os.clone(), |_| small_segments(500), NOW).unwrap();
    let first = open_manager();
    let topic_partition = TopicPartition::new("orders", 0);
    let handle = first.get_or_create(&topic_partition, None, small_segments(500), NOW).unwrap();
    for n in 0..30 {
        append(&mut handle.log().lock(), &Batch::numbered(&format!("batch-{n}"), 3)).unwrap();
    }
    assert_eq!(handle.log().lock().recovery_point(), 0);
    first.checkpoint().unwrap();
    let active = *handle.log().lock().segment_base_offsets().last().unwrap();
    assert_eq!(handle.log().lock().recovery_point(), active);
    assert_eq!(text(&fs, "data/recovery-point-offset-checkpoint"), format!("0\n1\norders 0 {active}\n"));
    drop((first, handle));

    faulty.restart(CrashPlan::DropUnsynced).unwrap();
    let second = open_manager();
    let handle = second.get(&topic_partition).unwrap();
    assert_eq!(
        read_all(&handle.log().lock(), 500).len() as i64,
        active,
        "what was full survives a power cut"
    );
    // A failing disk is reported, and poisons the log.
    for n in 0..30 {
        append(&mut handle.log().lock(), &Batch::numbered(&format!("more-{n}"), 3)).unwrap();
    }
    faulty.fail_syncs(true);
    assert_eq!(second.checkpoint().unwrap_err().kind(), ErrorKind::Storage);
    assert!(handle.log().lock().poisoned().is_some());
}

#[test]
fn log_31_a_directory_that_failed_is_recovered_in_place() {
    let disk = FaultyFileSystem::new(MemoryFileSystem::shared());
    let fs: SharedFileSystem = Arc::new(disk.clone());
    let manager = manager(&fs, Path::new("data")).unwrap();
    fill(&manager, 2);
    let name = |partition| TopicPartition::new("orders.v-1", partition);
    let failed = manager.get(&name(0)).unwrap();
    disk.fail_syncs(true);
    append(&mut failed.log().lock(), &Batch::of(&["not acknowledged"])).unwrap_err();
    assert!(manager.failures().failure().is_some());
    manager.probe().unwrap_err();
    disk.fail_syncs(false);
    disk.set_free_space(Some(100));
    manager.probe().unwrap_err();
    disk.set_free_space(None);
    manager.probe().unwrap();
    append(&mut failed.log().lock(), &Batch::of(&["poisoned"])).unwrap_err();

    manager.recover(|_| LogConfig::default(), NOW).unwrap();
    assert_eq!(manager.failures().failure(), None);
    assert_eq!(manager.logs().len(), 2);
    let old = manager.get(&name(1)).unwrap();
    for partition in 0..2 {
        let handle = manager.get(&name(partition)).unwrap();
        let mut log = handle.log().lock();
        assert_eq!(log.topic_id(), Some(TOPIC_ID));
        let end = log.log_end_offset();
        append(&mut log, &Batch::of(&["later"])).unwrap();
        let all = read_all(&log, 1_000);
        let acknowledged = [(0, "a-0"), (1, "a-1"), (2, "a-2"), (end, "later")];
        for (offset, value) in acknowledged {
            assert!(all.contains(&(offset, value.to_owned())), "{all:?}");
        }
    }
    assert!(failed.log().lock().poisoned().is_some());
    // Once more: now a log that nothing has happened to takes nothing either, for another one has its files.
    manager.recover(|_| LogConfig::default(), NOW).unwrap();
    append(&mut old.log().lock(), &Batch::of(&["too late"])).unwrap_err();
}

#[test]
fn a_topic_with_the_longest_name_can_be_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let manager = manager(&RealFileSystem::shared(), dir.path()).unwrap();
    let name = TopicPartition::new("x".repeat(249), 12_345);
    for id in [TOPIC_ID, Uuid([8; 16])] {
        manager.get_or_create(&name, Some(id), LogConfig::default(), NOW).unwrap();
        assert!(manager.delete(&name).unwrap());
        let left = std::fs::read_dir(dir.path()).unwrap();
        assert!(left.flatten().all(|entry| !entry.path().is_dir()), "a directory is left");
    }
    assert_eq!(manager.failures().failure(), None);
}

#[test]
fn a_shutdown_syncs_no_log_that_nothing_was_ever_in() {
    let faulty = FaultyFileSystem::new(MemoryFileSystem::shared());
    let fs: SharedFileSystem = Arc::new(faulty.clone());
    let first = manager(&fs, Path::new("data")).unwrap();
    for partition in 0..20 {
        let empty = TopicPartition::new("empty", partition);
        first.get_or_create(&empty, Some(TOPIC_ID), LogConfig::default(), NOW).unwrap();
    }
    fill(&first, 1);
    let syncs = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&syncs);
    faulty.on_operation(move |operation, path| {
        if matches!(operation, FsOperation::Sync | FsOperation::SyncDir) {
            seen.lock().unwrap().push(path.to_owned());
        }
    });
    first.shutdown().unwrap();
    drop(first);
    let synced = std::mem::take(&mut *syncs.lock().unwrap());
    let below = |name: &str| synced.iter().filter(|path| path.to_string_lossy().contains(name)).count();
    assert_eq!(below("empty-"), 0, "{synced:?}");
    assert!(below("orders.v-1-0") > 0 && synced.iter().any(|path| path.ends_with("data")), "{synced:?}");

    // What was shut down in order survives a power cut, and the empty logs are what they were.
    faulty.restart(CrashPlan::DropUnsynced).unwrap();
    let second = manager(&fs, Path::new("data")).unwrap();
    assert_eq!(second.logs().len(), 21);
    let full = second.get(&TopicPartition::new("orders.v-1", 0)).unwrap();
    assert_eq!(read_all(&full.log().lock(), 300).len(), 3);
    let empty = second.get(&TopicPartition::new("empty", 7)).unwrap();
    assert_eq!(empty.log().lock().log_end_offset(), 0);
}
