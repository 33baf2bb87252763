//! Which leader epoch wrote which offsets (KIP-101).

use std::path::{Path, PathBuf};

use crate::checkpoint::read_checkpoint;
use crate::error::{IoContext, Result, StorageError};
use crate::fs::{SharedFileSystem, write_file_atomically};

/// The checkpoint's file name.
pub const LEADER_EPOCH_FILE: &str = "leader-epoch-checkpoint";

/// An epoch and the offset of the first record written in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpochEntry {
    /// The leader epoch.
    pub epoch: i32,
    /// Offset of the first record in it.
    pub start_offset: i64,
}

/// The leader epochs of one log, kept in `leader-epoch-checkpoint` (Kafka: `LeaderEpochFileCache`).
///
/// Invariant: epochs and start offsets both rise from entry to entry.
#[derive(Debug)]
pub struct LeaderEpochFileCache {
    fs: SharedFileSystem,
    path: PathBuf,
    entries: Vec<EpochEntry>,
}

impl LeaderEpochFileCache {
    /// Opens the cache of the log in `dir`. A broken file is an empty cache: recovery assigns again what it finds.
    pub(crate) fn open(fs: SharedFileSystem, dir: &Path) -> Self {
        let path = dir.join(LEADER_EPOCH_FILE);
        let entries = read_entries(&fs, &path).unwrap_or_else(|error| {
            tracing::warn!(%error, "the leader epochs start empty");
            Vec::new()
        });
        Self { fs, path, entries }
    }

    /// The epochs, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[EpochEntry] {
        &self.entries
    }

    /// The newest epoch.
    #[must_use]
    pub fn latest_epoch(&self) -> Option<i32> {
        self.entries.last().map(|entry| entry.epoch)
    }

    /// The epoch that wrote `offset`.
    #[must_use]
    pub fn epoch_for_offset(&self, offset: i64) -> Option<i32> {
        self.entries.iter().rev().find(|entry| entry.start_offset <= offset).map(|entry| entry.epoch)
    }

    /// The largest known epoch at or below `epoch` with the offset after its last record
    /// (what OffsetForLeaderEpoch answers); `None` when nothing is known of it.
    #[must_use]
    pub fn end_offset_for(&self, epoch: i32, log_end_offset: i64) -> Option<(i32, i64)> {
        let latest = self.latest_epoch()?;
        if epoch < 0 || epoch > latest {
            return None;
        }
        if epoch == latest {
            return Some((epoch, log_end_offset));
        }
        let higher = self.entries.iter().position(|entry| entry.epoch > epoch)?;
        let end = self.entries.get(higher)?.start_offset;
        // An epoch before the first known one ends where the first known one starts.
        let floor = higher.checked_sub(1).and_then(|floor| self.entries.get(floor));
        Some((floor.map_or(epoch, |entry| entry.epoch), end))
    }

    /// Notes that `epoch` starts at `start_offset`, and writes it down if that is news.
    pub(crate) fn assign(&mut self, epoch: i32, start_offset: i64) -> Result<()> {
        if self.is_known(epoch, start_offset) {
            return Ok(());
        }
        let before = self.entries.clone();
        self.note(epoch, start_offset);
        // What is not written down is not noted, so that the next append tries again.
        self.write().inspect_err(|_| self.entries = before)
    }

    /// As [`assign`](Self::assign), without writing. Answers whether something changed.
    pub(crate) fn note(&mut self, epoch: i32, start_offset: i64) -> bool {
        if self.is_known(epoch, start_offset) {
            return false;
        }
        // A newer claim on an offset, or an epoch that restarts, replaces what contradicts it.
        self.entries.retain(|entry| entry.epoch < epoch && entry.start_offset < start_offset);
        self.entries.push(EpochEntry { epoch, start_offset });
        true
    }

    /// Takes note of a batch that recovery has found: what it says counts, and not an entry that claims its offsets for a
    /// newer epoch. There is such an entry after a power cut that undid a truncation and not what was noted after it.
    /// Answers whether something changed, without writing.
    pub(crate) fn note_found(&mut self, epoch: i32, base_offset: i64, last_offset: i64) -> bool {
        if epoch < 0 {
            return false;
        }
        let before = self.entries.len();
        self.entries.retain(|entry| entry.epoch <= epoch || entry.start_offset > last_offset);
        let dropped = self.entries.len() < before;
        self.note(epoch, base_offset) || dropped
    }

    fn is_known(&self, epoch: i32, start_offset: i64) -> bool {
        // Not the last entry: that may be of an epoch that this log notes and has no records of yet.
        epoch < 0 || self.epoch_for_offset(start_offset).is_some_and(|known| known >= epoch)
    }

    /// Forgets what starts at or after `end_offset`.
    pub(crate) fn truncate_from_end(&mut self, end_offset: i64) -> Result<()> {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.start_offset < end_offset);
        if self.entries.len() == before { Ok(()) } else { self.write() }
    }

    /// Forgets what ends at or before `start_offset`; the epoch that contains it starts there now.
    pub(crate) fn truncate_from_start(&mut self, start_offset: i64) -> Result<()> {
        let Some(keep) = self.entries.iter().rposition(|entry| entry.start_offset <= start_offset) else {
            return Ok(());
        };
        let moved = self.entries.get(keep).is_some_and(|entry| entry.start_offset < start_offset);
        if keep == 0 && !moved {
            return Ok(());
        }
        self.entries.drain(..keep);
        if let Some(first) = self.entries.first_mut() {
            first.start_offset = start_offset;
        }
        self.write()
    }

    pub(crate) fn clear(&mut self) -> Result<()> {
        self.entries.clear();
        self.write()
    }

    pub(crate) fn write(&self) -> Result<()> {
        let mut text = format!("0\n{}\n", self.entries.len());
        for EpochEntry { epoch, start_offset } in &self.entries {
            text.push_str(&format!("{epoch} {start_offset}\n"));
        }
        write_file_atomically(&*self.fs, &self.path, text.as_bytes()).at(&self.path)
    }
}

fn read_entries(fs: &SharedFileSystem, path: &Path) -> Result<Vec<EpochEntry>> {
    let mut entries: Vec<EpochEntry> = Vec::new();
    for line in read_checkpoint(&**fs, path)? {
        let entry = line.split_once(' ').and_then(|(epoch, offset)| {
            Some(EpochEntry { epoch: epoch.parse().ok()?, start_offset: offset.trim().parse().ok()? })
        });
        match (entry, entries.last()) {
            (Some(entry), None) => entries.push(entry),
            (Some(entry), Some(last))
                if entry.epoch > last.epoch && entry.start_offset > last.start_offset =>
            {
                entries.push(entry);
            }
            _ => {
                return Err(StorageError::broken(
                    path,
                    format!("{line:?} is no epoch that follows the last"),
                ));
            }
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::MemoryFileSystem;

    fn cache(fs: &SharedFileSystem) -> LeaderEpochFileCache {
        LeaderEpochFileCache::open(fs.clone(), Path::new(""))
    }

    fn filled(fs: &SharedFileSystem) -> LeaderEpochFileCache {
        let mut cache = cache(fs);
        for (epoch, offset) in [(2, 10), (2, 15), (4, 20), (5, 30)] {
            cache.assign(epoch, offset).unwrap();
        }
        cache
    }

    fn pairs(cache: &LeaderEpochFileCache) -> Vec<(i32, i64)> {
        cache.entries().iter().map(|entry| (entry.epoch, entry.start_offset)).collect()
    }

    #[test]
    fn end_offsets_as_kafka_answers_them() {
        let cache = filled(&MemoryFileSystem::shared());
        assert_eq!(cache.end_offset_for(1, 40), Some((1, 10)), "before the first known epoch");
        assert_eq!(cache.end_offset_for(2, 40), Some((2, 20)));
        assert_eq!(cache.end_offset_for(3, 40), Some((2, 20)), "the largest at or below");
        assert_eq!(cache.end_offset_for(5, 40), Some((5, 40)), "the latest ends with the log");
        assert_eq!(cache.end_offset_for(6, 40), None);
        assert_eq!(cache.end_offset_for(-1, 40), None);
        assert_eq!(cache.epoch_for_offset(25), Some(4));
        assert_eq!(cache.epoch_for_offset(9), None);
    }

    #[test]
    fn assignments_survive_in_kafkas_format() {
        let fs = MemoryFileSystem::shared();
        filled(&fs);
        let text = crate::fs::read_file(&*fs, Path::new(LEADER_EPOCH_FILE), 100).unwrap();
        assert_eq!(&text[..], b"0\n3\n2 10\n4 20\n5 30\n");
        assert_eq!(pairs(&cache(&fs)), [(2, 10), (4, 20), (5, 30)]);
    }

    #[test]
    fn truncation_at_both_ends() {
        let fs = MemoryFileSystem::shared();
        let mut cache = filled(&fs);
        cache.truncate_from_end(30).unwrap();
        assert_eq!(pairs(&cache), [(2, 10), (4, 20)]);
        cache.truncate_from_start(15).unwrap();
        assert_eq!(pairs(&cache), [(2, 15), (4, 20)]);
        cache.truncate_from_start(25).unwrap();
        assert_eq!(pairs(&cache), [(4, 25)]);
    }

    #[test]
    fn a_newer_epoch_replaces_claims_on_its_offsets() {
        let mut cache = filled(&MemoryFileSystem::shared());
        cache.assign(7, 20).unwrap();
        assert_eq!(pairs(&cache), [(2, 10), (7, 20)]);
    }

    #[test]
    fn a_broken_file_is_an_empty_cache() {
        let fs = MemoryFileSystem::shared();
        for text in ["1\n0\n", "0\n2\n1 1\n", "0\n2\n5 1\n4 9\n", "0\n1\nx y\n", ""] {
            write_file_atomically(&*fs, Path::new(LEADER_EPOCH_FILE), text.as_bytes()).unwrap_or_default();
            assert_eq!(pairs(&cache(&fs)), []);
        }
    }

    #[test]
    fn what_recovery_finds_counts_and_not_what_was_noted_over_it() {
        let mut cache = cache(&MemoryFileSystem::shared());
        for (epoch, offset) in [(0, 0), (1, 35), (3, 36), (8, 40)] {
            cache.assign(epoch, offset).unwrap();
        }
        assert!(!cache.note_found(0, 0, 34), "as it was noted");
        assert!(cache.note_found(0, 35, 37), "the truncation to 35 was undone");
        assert_eq!(pairs(&cache), [(0, 0), (8, 40)], "of what is behind it nothing is known yet");
        assert!(!cache.note_found(-1, 38, 38), "a batch of no epoch says nothing");
    }

    #[test]
    fn what_recovery_finds_of_an_older_epoch_moves_no_start() {
        let fs = MemoryFileSystem::shared();
        let mut cache = cache(&fs);
        for (epoch, offset) in [(0, 0), (4, 2), (8, 72)] {
            cache.assign(epoch, offset).unwrap();
        }
        assert!(
            !cache.note_found(4, 47, 71),
            "a batch in the middle of epoch 4; nothing was appended in epoch 8 yet"
        );
        assert_eq!(pairs(&cache), [(0, 0), (4, 2), (8, 72)]);
    }
}
