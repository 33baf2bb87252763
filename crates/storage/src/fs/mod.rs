//! The file system behind the log: one pair of traits, three implementations.
//!
//! [`RealFileSystem`] is the disk, [`MemoryFileSystem`] a disk that is gone with the process, and
//! [`FaultyFileSystem`] wraps either and lets a script fill the disk, fail an fsync, slow an operation or cut the power.
//! [`DiskFaults`] wraps either with less of that, for brokers that run for long.
//!
//! Reads and writes are positional. A write that failed half-way is simply written again at the same position, and no
//! file has a cursor that two threads could fight over.

mod disk_faults;
mod faulty;
mod memory;
mod real;

use std::fmt::Debug;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

pub use self::disk_faults::DiskFaults;
pub use self::faulty::{CrashPlan, FaultyFileSystem, FsOperation};
pub use self::memory::MemoryFileSystem;
pub use self::real::RealFileSystem;

/// A cheap handle to a file system.
pub type SharedFileSystem = Arc<dyn FileSystem>;

/// A cheap handle to an open file. It stays readable after the file's name is gone.
pub type SharedFile = Arc<dyn File>;

/// How to open a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// The file must exist; it is only read.
    Read,
    /// The file must exist; it is read and written.
    ReadWrite,
    /// The file is created when it is missing; it is read and written.
    Create,
    /// The file is created, or emptied if it is there.
    CreateEmpty,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// The last component of the path.
    pub name: String,
    /// Whether it is a directory.
    pub is_dir: bool,
}

/// An open file: positional reads and writes.
pub trait File: Debug + Send + Sync {
    /// Reads at most `buf.len()` bytes at `offset`; 0 means the end of the file.
    ///
    /// # Errors
    /// Whatever the environment answers.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all of `parts`, one after the other, at `offset`. After an error any prefix may have been written.
    ///
    /// # Errors
    /// [`io::ErrorKind::StorageFull`] when the disk is full, or whatever the environment answers.
    fn write_all_at(&self, parts: &mut [IoSlice<'_>], offset: u64) -> io::Result<()>;

    /// Cuts (or extends with zeros) the file to `len` bytes.
    ///
    /// # Errors
    /// Whatever the environment answers.
    fn truncate(&self, len: u64) -> io::Result<()>;

    /// Makes the content durable (fdatasync).
    ///
    /// # Errors
    /// Whatever the environment answers; the state of the data on disk is unknown then.
    fn sync_data(&self) -> io::Result<()>;

    /// Makes content and attributes durable (fsync).
    ///
    /// # Errors
    /// As [`sync_data`](Self::sync_data).
    fn sync_all(&self) -> io::Result<()>;

    /// The file's length in bytes.
    ///
    /// # Errors
    /// Whatever the environment answers.
    fn len(&self) -> io::Result<u64>;

    /// Whether the file has no bytes.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// A lock that is held until it is dropped.
pub trait FileLock: Debug + Send + Sync {}

/// The names: opening, renaming, removing, listing.
pub trait FileSystem: Debug + Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] for a missing file in a mode that does not create it.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<SharedFile>;

    /// Renames a file or a directory, replacing a file that has the new name.
    ///
    /// # Errors
    /// Whatever the environment answers.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when it is not there.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory with all that is in it.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when it is not there.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;

    /// The directory's entries in the order of their names.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when it is not there.
    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>>;

    /// Creates a directory and its parents; one that exists is no error.
    ///
    /// # Errors
    /// Whatever the environment answers.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;

    /// Makes the names in a directory durable.
    ///
    /// # Errors
    /// Whatever the environment answers.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Whether a file or directory has this name.
    fn exists(&self, path: &Path) -> bool;

    /// Takes the lock file at `path`, creating it; the lock goes when the answer is dropped.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when somebody else holds it.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn FileLock>>;
}

/// Reads up to `len` bytes at `offset`: fewer only at the end of the file. Never allocates more than the file holds.
///
/// # Errors
/// Whatever the file answers.
pub fn read_up_to(file: &dyn File, offset: u64, len: usize) -> io::Result<Bytes> {
    let available = file.len()?.saturating_sub(offset);
    read_known(file, offset, len.min(usize::try_from(available).unwrap_or(usize::MAX)))
}

/// As [`read_up_to`] where the caller knows that the file has that many bytes, so that its length need not be asked.
pub(crate) fn read_known(file: &dyn File, offset: u64, len: usize) -> io::Result<Bytes> {
    let mut buf = vec![0; len];
    let read = read_full_at(file, &mut buf, offset)?;
    buf.truncate(read);
    Ok(Bytes::from(buf))
}

/// Fills `buf` from `offset`; answers how many bytes there were, fewer than asked only at the end of the file.
pub(crate) fn read_full_at(file: &dyn File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut read = 0;
    while let Some(rest) = buf.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + read as u64) {
            Ok(0) => break,
            Ok(n) => read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Reads a whole file that is at most `limit` bytes long.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] for a longer file, else whatever the file system answers.
pub fn read_file(fs: &dyn FileSystem, path: &Path, limit: usize) -> io::Result<Bytes> {
    let file = fs.open(path, OpenMode::Read)?;
    let len = file.len()?;
    if len > limit as u64 {
        let message = format!("{} has {len} bytes, more than the {limit} it may have", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    read_up_to(&*file, 0, limit)
}

/// Replaces a file's content so that after a crash either the old or the new content is there: writes `NAME.tmp`,
/// makes it durable, renames it, makes the name durable (Kafka: `Utils.atomicMoveWithFallback`).
///
/// # Errors
/// Whatever the file system answers.
pub fn write_file_atomically(fs: &dyn FileSystem, path: &Path, content: &[u8]) -> io::Result<()> {
    let mut tmp = path.as_os_str().to_owned();
    tmp.push(".tmp");
    let tmp = PathBuf::from(tmp);
    let file = fs.open(&tmp, OpenMode::CreateEmpty)?;
    file.write_all_at(&mut [IoSlice::new(content)], 0)?;
    file.sync_all()?;
    fs.rename(&tmp, path)?;
    match path.parent() {
        Some(parent) => fs.sync_dir(parent),
        None => Ok(()),
    }
}
