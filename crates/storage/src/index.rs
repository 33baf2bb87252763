//! The two sparse indexes of a segment: offset to position, and timestamp to offset.
//!
//! Both are files of fixed-size big-endian entries, relative to the segment's base offset, as Kafka's `OffsetIndex` and
//! `TimeIndex`. Kafka preallocates and maps them; here they grow by writes, which its tools read as well. The entries
//! of the active segment are kept in memory too; those of sealed segments are looked up in the file.

use std::io::{self, IoSlice};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::error::{IoContext, Result, StorageError};
use crate::fs::{FileSystem, OpenMode, SharedFile, read_full_at, read_up_to};

/// An offset and where the batch that ends with it starts in the segment's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OffsetPosition {
    pub(crate) relative_offset: i32,
    pub(crate) position: i32,
}

/// The largest timestamp up to an offset, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimestampEntry {
    pub(crate) timestamp: i64,
    pub(crate) relative_offset: i32,
}

/// `.index`: 8 bytes an entry.
pub(crate) type OffsetIndex = Index<OffsetPosition>;

/// `.timeindex`: 12 bytes an entry.
pub(crate) type TimeIndex = Index<TimestampEntry>;

/// A fixed-size entry of an index file, and the order that a sound file has.
pub(crate) trait Entry: Copy + Send + Sync {
    const SIZE: usize;
    /// What lookups compare.
    fn key(&self) -> i64;
    fn relative_offset(&self) -> i32;
    fn follows(&self, previous: &Self) -> bool;
    fn read(bytes: &[u8]) -> Option<Self>;
    fn write(&self, out: &mut Vec<u8>);
}

impl Entry for OffsetPosition {
    const SIZE: usize = 8;

    fn key(&self) -> i64 {
        i64::from(self.relative_offset)
    }

    fn relative_offset(&self) -> i32 {
        self.relative_offset
    }

    fn follows(&self, previous: &Self) -> bool {
        self.relative_offset > previous.relative_offset && self.position > previous.position
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (relative_offset, rest) = bytes.split_first_chunk()?;
        let position = rest.first_chunk()?;
        Some(Self {
            relative_offset: i32::from_be_bytes(*relative_offset),
            position: i32::from_be_bytes(*position),
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.relative_offset.to_be_bytes());
        out.extend_from_slice(&self.position.to_be_bytes());
    }
}

impl Entry for TimestampEntry {
    const SIZE: usize = 12;

    fn key(&self) -> i64 {
        self.timestamp
    }

    fn relative_offset(&self) -> i32 {
        self.relative_offset
    }

    fn follows(&self, previous: &Self) -> bool {
        self.timestamp > previous.timestamp && self.relative_offset >= previous.relative_offset
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (timestamp, rest) = bytes.split_first_chunk()?;
        let relative_offset = rest.first_chunk()?;
        Some(Self {
            timestamp: i64::from_be_bytes(*timestamp),
            relative_offset: i32::from_be_bytes(*relative_offset),
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.timestamp.to_be_bytes());
        out.extend_from_slice(&self.relative_offset.to_be_bytes());
    }
}

/// An index file.
#[derive(Debug)]
pub(crate) struct Index<E> {
    path: PathBuf,
    file: SharedFile,
    /// Bytes of the file that hold entries; anything behind is the rest of a write that failed.
    size: AtomicU64,
    /// The file's content while its segment is the active one; `None` once it is sealed.
    cache: RwLock<Option<Vec<u8>>>,
    entry: PhantomData<fn() -> E>,
}

impl<E: Entry> Index<E> {
    /// Opens the file, or creates it empty.
    pub(crate) fn open(fs: &dyn FileSystem, path: &Path) -> Result<Self> {
        let file = fs.open(path, OpenMode::Create).at(path)?;
        let size = AtomicU64::new(file.len().at(path)?);
        Ok(Self { path: path.to_owned(), file, size, cache: RwLock::new(None), entry: PhantomData })
    }

    /// Fails if the file cannot be this index of a segment that ends before `end_relative_offset`. Looks at the last
    /// entry only, as Kafka's `AbstractIndex.sanityCheck`, or at `all`, because a power cut may leave holes.
    pub(crate) fn sanity_check(&self, end_relative_offset: i64, all: bool) -> Result<()> {
        let size = self.size.load(Ordering::Acquire);
        if !size.is_multiple_of(E::SIZE as u64) {
            return Err(self.broken(format!("{size} bytes are no multiple of {}", E::SIZE)));
        }
        if !all {
            let last = self.last()?.map_or(0, |last| i64::from(last.relative_offset()));
            let in_range = (0..end_relative_offset).contains(&last);
            return if in_range { Ok(()) } else { Err(self.broken("the last entry is out of the segment")) };
        }
        let content =
            read_up_to(&*self.file, 0, usize::try_from(size).unwrap_or(usize::MAX)).at(&self.path)?;
        let mut previous: Option<E> = None;
        for (number, bytes) in content.chunks_exact(E::SIZE).enumerate() {
            let entry = E::read(bytes).ok_or_else(|| self.broken("an entry is cut off"))?;
            let in_range = (0..end_relative_offset).contains(&i64::from(entry.relative_offset()));
            if !in_range || previous.is_some_and(|previous| !entry.follows(&previous)) {
                return Err(self.broken(format!("entry {number} is out of order or out of the segment")));
            }
            previous = Some(entry);
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.size.load(Ordering::Acquire)).unwrap_or(usize::MAX) / E::SIZE
    }

    pub(crate) fn last(&self) -> Result<Option<E>> {
        match self.len() {
            0 => Ok(None),
            len => self.get(len - 1),
        }
    }

    /// The last entry whose key is at most `key`.
    pub(crate) fn lookup(&self, key: i64) -> Result<Option<E>> {
        let (mut low, mut high) = (0, self.len());
        let mut found = None;
        while low < high {
            let middle = low + (high - low) / 2;
            // An entry can only be missing if the index was truncated meanwhile.
            match self.get(middle)? {
                Some(entry) if entry.key() <= key => {
                    found = Some(entry);
                    low = middle + 1;
                }
                _ => high = middle,
            }
        }
        Ok(found)
    }

    pub(crate) fn append(&self, entry: E) -> Result<()> {
        let mut bytes = Vec::with_capacity(E::SIZE);
        entry.write(&mut bytes);
        let size = self.size.load(Ordering::Acquire);
        self.file.write_all_at(&mut [IoSlice::new(&bytes)], size).at(&self.path)?;
        if let Some(cache) = &mut *self.cache.write() {
            cache.extend_from_slice(&bytes);
        }
        self.size.store(size + bytes.len() as u64, Ordering::Release);
        Ok(())
    }

    /// Forgets all entries that are not below `relative_offset`.
    pub(crate) fn truncate_to(&self, relative_offset: i64) -> Result<()> {
        let mut len = self.len();
        while len > 0 {
            match self.get(len - 1)? {
                Some(entry) if i64::from(entry.relative_offset()) < relative_offset => break,
                _ => len -= 1,
            }
        }
        self.cut(len * E::SIZE)
    }

    /// Forgets all entries.
    pub(crate) fn clear(&self) -> Result<()> {
        self.cut(0)
    }

    fn cut(&self, size: usize) -> Result<()> {
        self.size.store(size as u64, Ordering::Release);
        if let Some(cache) = &mut *self.cache.write() {
            cache.truncate(size);
        }
        self.file.truncate(size as u64).at(&self.path)
    }

    /// Loads the entries into memory: the segment is going to be appended to.
    pub(crate) fn activate(&self) -> Result<()> {
        let size = usize::try_from(self.size.load(Ordering::Acquire)).unwrap_or(usize::MAX);
        let content = read_up_to(&*self.file, 0, size).at(&self.path)?;
        *self.cache.write() = Some(content.to_vec());
        Ok(())
    }

    /// Drops the entries from memory and cuts what a failed write left behind the last one.
    pub(crate) fn seal(&self) -> Result<()> {
        *self.cache.write() = None;
        let size = self.size.load(Ordering::Acquire);
        if self.file.len().at(&self.path)? == size { Ok(()) } else { self.file.truncate(size).at(&self.path) }
    }

    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync_data().at(&self.path)
    }

    pub(crate) fn get(&self, number: usize) -> Result<Option<E>> {
        let start = number * E::SIZE;
        if let Some(cache) = &*self.cache.read() {
            return Ok(cache.get(start..).and_then(E::read));
        }
        // Entries have at most 12 bytes.
        let mut buf = [0; 12];
        let read = read_entry(&self.file, &mut buf, start as u64, E::SIZE).at(&self.path)?;
        Ok(buf.get(..read).and_then(E::read))
    }

    fn broken(&self, reason: impl Into<String>) -> StorageError {
        StorageError::broken(&self.path, reason)
    }
}

fn read_entry(file: &SharedFile, buf: &mut [u8; 12], offset: u64, size: usize) -> io::Result<usize> {
    match buf.get_mut(..size) {
        Some(buf) => read_full_at(&**file, buf, offset),
        None => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::MemoryFileSystem;

    fn filled(fs: &dyn FileSystem) -> OffsetIndex {
        let index = OffsetIndex::open(fs, Path::new("00000000000000000000.index")).unwrap();
        for n in 1..=50 {
            index.append(OffsetPosition { relative_offset: n * 10, position: n * 4096 }).unwrap();
        }
        index
    }

    #[test]
    fn lookup_finds_the_last_entry_at_or_below_in_memory_and_in_the_file() {
        let index = filled(&MemoryFileSystem::new());
        for _ in 0..2 {
            assert_eq!(index.lookup(9).unwrap(), None);
            assert_eq!(index.lookup(10).unwrap().unwrap().position, 4096);
            assert_eq!(index.lookup(19).unwrap().unwrap().position, 4096);
            assert_eq!(index.lookup(250).unwrap().unwrap().position, 25 * 4096);
            assert_eq!(index.lookup(i64::MAX).unwrap().unwrap().position, 50 * 4096);
            index.activate().unwrap();
        }
    }

    #[test]
    fn truncation_forgets_entries_at_or_above() {
        let fs = MemoryFileSystem::new();
        let index = filled(&fs);
        index.truncate_to(250).unwrap();
        assert_eq!(index.last().unwrap().unwrap().relative_offset, 240);
        assert_eq!(filled(&fs).len(), 24 + 50);
    }

    #[test]
    fn broken_files_fail_the_sanity_check() {
        let fs = MemoryFileSystem::new();
        let index = filled(&fs);
        index.sanity_check(501, true).unwrap();
        assert!(index.sanity_check(500, true).is_err(), "an entry beyond the end");
        let file = fs.open(Path::new("00000000000000000000.index"), OpenMode::ReadWrite).unwrap();
        file.write_all_at(&mut [IoSlice::new(&[0; 8])], 80).unwrap();
        assert!(index.sanity_check(501, true).is_err(), "a hole of zeros");
        file.truncate(39).unwrap();
        let index = OffsetIndex::open(&fs, Path::new("00000000000000000000.index")).unwrap();
        assert!(index.sanity_check(501, true).is_err(), "a torn entry");
    }
}
