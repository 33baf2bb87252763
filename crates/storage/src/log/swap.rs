//! Replacing segments by one that was written anew, so that a crash leaves the old ones or the new one
//! (`LocalLog.replaceSegments`).
//!
//! The new segment is written and synced under `….cleaned`; its indexes, then its batches become `….swap`. From the moment
//! the batches have that name the new segment counts: the old ones are removed, and the new one gets its own name, its
//! batches last. Whoever finds batches under `….swap` finishes that.

use std::path::Path;
use std::sync::Arc;

use super::Log;
use crate::error::{IoContext, Result};
use crate::fs::{FileSystem, SharedFileSystem};
use crate::segment::{
    INDEX_SUFFIX, LOG_SUFFIX, LogSegment, TIME_INDEX_SUFFIX, parse_segment_file, remove_files, segment_file,
};

/// Being written.
pub(super) const CLEANED: &str = ".cleaned";
/// Whole, and in place of others.
const SWAP: &str = ".swap";

/// Segments that were written anew, not yet in the log.
#[derive(Debug)]
pub struct CleanedGroup {
    pub(super) old: Vec<Arc<LogSegment>>,
    pub(super) truncations: u64,
}

impl CleanedGroup {
    pub(super) fn base_offset(&self) -> i64 {
        self.old.first().map_or(0, |first| first.base_offset())
    }
}

impl Log {
    /// Puts segments that were written anew in place of those that they were made of. Answers false, and does nothing, if the
    /// log has changed there meanwhile. A failure in the middle poisons the log; what is on disk is whole.
    ///
    /// # Errors
    /// Storage errors.
    pub fn swap_in(&mut self, group: &CleanedGroup, now_ms: i64) -> Result<bool> {
        self.check_not_poisoned()?;
        let segments = self.shared.segments();
        let is_first =
            |segment: &Arc<LogSegment>| group.old.first().is_some_and(|old| Arc::ptr_eq(old, segment));
        let Some(at) = segments.iter().position(is_first) else { return Ok(false) };
        let range = at..at + group.old.len();
        let same = segments
            .get(range.clone())
            .is_some_and(|found| found.iter().zip(&group.old).all(|(found, old)| Arc::ptr_eq(found, old)));
        let base = group.base_offset();
        if !same || range.end >= segments.len() || group.truncations != self.truncations {
            remove_files(&*self.fs, &self.dir, base, CLEANED)?;
            return Ok(false);
        }
        let swapped = self.swap_files(group).and_then(|()| {
            let new = LogSegment::open(&*self.fs, &self.dir, base, now_ms)?;
            new.load().map(|()| Arc::new(new))
        });
        let new = self.poison_on_error(swapped)?;
        let mut next = segments.to_vec();
        next.splice(range, [new]);
        self.shared.set_segments(next);
        self.remove_stray_snapshots()?;
        Ok(true)
    }

    fn swap_files(&self, group: &CleanedGroup) -> Result<()> {
        let (fs, dir, base) = (&*self.fs, self.dir.as_path(), group.base_offset());
        fs.sync_dir(dir).at(dir)?;
        rename(fs, dir, base, &INDEXES, CLEANED, SWAP)?;
        rename(fs, dir, base, &BATCHES, CLEANED, SWAP)?;
        let others = group.old.iter().skip(1).map(|segment| segment.base_offset());
        finish(&self.fs, dir, base, others)
    }
}

/// Finishes the swaps that a crash has interrupted.
pub(super) fn finish_swaps(fs: &SharedFileSystem, dir: &Path, now_ms: i64) -> Result<()> {
    let entries = fs.list(dir).at(dir)?;
    let bases = |extra: &str| -> Vec<i64> {
        let names = entries.iter().filter_map(|entry| entry.name.strip_suffix(extra));
        let segments = names.filter_map(parse_segment_file);
        segments.filter(|(_, suffix)| *suffix == LOG_SUFFIX).map(|(base, _)| base).collect()
    };
    let old = bases("");
    for base in bases(SWAP) {
        tracing::info!(dir = %dir.display(), base, "finishing a compaction");
        let swapped = LogSegment::open_named(&**fs, dir, base, SWAP, now_ms)?;
        let end = swapped.end_of_batches()?;
        let replaced = old.iter().copied().filter(|other| *other > base && *other < end);
        finish(fs, dir, base, replaced)?;
    }
    Ok(())
}

const INDEXES: [&str; 2] = [INDEX_SUFFIX, TIME_INDEX_SUFFIX];
const BATCHES: [&str; 1] = [LOG_SUFFIX];

/// The batches under `….swap` count; `others` are what they replace beside what has their own base offset.
fn finish(fs: &SharedFileSystem, dir: &Path, base: i64, others: impl Iterator<Item = i64>) -> Result<()> {
    for other in others {
        remove_files(&**fs, dir, other, "")?;
    }
    rename(&**fs, dir, base, &INDEXES, SWAP, "")?;
    rename(&**fs, dir, base, &BATCHES, SWAP, "")
}

/// Renames those of a segment's files that there are, and makes the names durable.
fn rename(fs: &dyn FileSystem, dir: &Path, base: i64, suffixes: &[&str], from: &str, to: &str) -> Result<()> {
    for suffix in suffixes {
        let old = segment_file(dir, base, &format!("{suffix}{from}"));
        if fs.exists(&old) {
            fs.rename(&old, &segment_file(dir, base, &format!("{suffix}{to}"))).at(&old)?;
        }
    }
    fs.sync_dir(dir).at(dir)
}
