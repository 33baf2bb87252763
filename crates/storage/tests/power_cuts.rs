//! Random histories of appends, truncations and retention with power cuts anywhere, against a model.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::sync::Arc;

use common::*;
use milena_storage::fs::{CrashPlan, FaultyFileSystem, MemoryFileSystem, SharedFileSystem};
use milena_storage::{FsyncPolicy, Log, LogConfig, LogOptions, Result};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
enum Action {
    Append {
        records: usize,
    },
    /// Cut this many records off the end.
    Truncate {
        records: i64,
    },
    /// Apply `retention.bytes`.
    Retain,
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        8 => (1usize..5).prop_map(|records| Action::Append { records }),
        1 => (1i64..12).prop_map(|records| Action::Truncate { records }),
        1 => Just(Action::Retain),
    ];
    prop::collection::vec(action, 1..60)
}

/// What the log must hold: the value of each offset from `start`.
#[derive(Debug, Default)]
struct Model {
    start: i64,
    values: Vec<String>,
    /// What the action that the cut interrupted would have appended.
    in_flight: Vec<String>,
    /// Where the truncation that the cut interrupted would have cut, at the lowest.
    lowest_end: Option<i64>,
    next_name: usize,
}

impl Model {
    fn end(&self) -> i64 {
        self.start + self.values.len() as i64
    }

    fn set_end(&mut self, end: i64) {
        self.values.truncate(usize::try_from(end - self.start).unwrap_or(0));
    }

    fn apply(&mut self, log: &mut Log, action: Action) -> Result<()> {
        (self.in_flight, self.lowest_end) = (Vec::new(), None);
        match action {
            Action::Append { records } => {
                self.next_name += 1;
                let batch = Batch::numbered(&format!("batch-{}", self.next_name), records);
                self.in_flight.clone_from(&batch.values);
                append(log, &batch)?;
                self.values.append(&mut self.in_flight);
            }
            Action::Truncate { records } => {
                let to = (self.end() - records).max(self.start);
                // The batch that contains the offset goes as a whole; the largest has four records.
                self.lowest_end = Some((to - 4).max(self.start));
                log.truncate_to(to, NOW)?;
                self.lowest_end = None;
                self.set_end(log.log_end_offset());
            }
            Action::Retain => {
                log.delete_old_segments(NOW, i64::MAX)?;
                let gone = usize::try_from(log.log_start_offset() - self.start).unwrap();
                self.values.drain(..gone);
                self.start += gone as i64;
            }
        }
        Ok(())
    }

    /// Compares, and goes on from what was found.
    fn check(&mut self, log: &Log) {
        let found = read_all(log, 333);
        let (start, end) = (log.log_start_offset(), log.log_end_offset());
        let acknowledged = self.lowest_end.unwrap_or(self.end());
        assert!(end >= acknowledged, "ends at {end}, {acknowledged} was acknowledged");
        assert!(end <= self.end() + self.in_flight.len() as i64, "{end}: more than was ever written");
        let all: Vec<_> = self.values.iter().chain(&self.in_flight).cloned().collect();
        for (offset, value) in &found {
            // Segments whose removal was not yet on disk may come back.
            if let Ok(at) = usize::try_from(offset - self.start) {
                assert_eq!(value, &all[at], "at offset {offset}");
            }
        }
        let offsets: Vec<_> = found.iter().map(|(offset, _)| *offset).collect();
        assert_eq!(offsets, (start..end).collect::<Vec<_>>(), "no hole");
        self.start = start;
        self.values = found.into_iter().map(|(_, value)| value).collect();
    }
}

fn open_log(fs: &SharedFileSystem, config: &LogConfig, recovery_point: i64) -> Result<Log> {
    let options = LogOptions {
        fsync: FsyncPolicy::EveryBatch,
        config: config.clone(),
        recovery_point,
        ..LogOptions::default()
    };
    Log::open(fs.clone(), Path::new("data"), topic_partition(), options, NOW)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn log_31_no_history_with_power_cuts_loses_or_invents_records(
        rounds in prop::collection::vec((actions(), 0u64..400, any::<u64>(), any::<bool>()), 1..5),
        segment_bytes in 200i32..900,
    ) {
        let faulty = FaultyFileSystem::new(MemoryFileSystem::shared());
        let fs: SharedFileSystem = Arc::new(faulty.clone());
        fs.create_dir_all(Path::new("data")).unwrap();
        fs.sync_dir(Path::new("")).unwrap();
        let config = LogConfig { retention_bytes: 1500, ..small_segments(segment_bytes) };
        let mut model = Model::default();
        // As the checkpoint says: what was durable at some earlier time.
        let mut recovery_point = 0;
        for (actions, cut_after, seed, checkpoint) in rounds {
            faulty.cut_power_after(cut_after);
            (model.in_flight, model.lowest_end) = (Vec::new(), None);
            if let Ok(mut log) = open_log(&fs, &config, recovery_point) {
                for action in actions {
                    if model.apply(&mut log, action).is_err() {
                        break;
                    }
                }
                if checkpoint || log.recovery_point() < recovery_point {
                    recovery_point = log.recovery_point();
                }
            }
            faulty.restart(CrashPlan::Torn(seed)).unwrap();
            model.check(&open_log(&fs, &config, recovery_point).unwrap());
        }
    }
}
