//! [`LogDirFailureChannel`]: how a log directory says that it has failed.
//!
//! Kafka wraps each operation of a log (`LocalLog.maybeHandleIOException`); here the file system under the logs is
//! wrapped, so that no operation can be forgotten.

use std::fmt;
use std::io::{self, ErrorKind, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::fs::{DirEntry, File, FileLock, FileSystem, OpenMode, SharedFile, SharedFileSystem};

type Listener = Box<dyn Fn() + Send + Sync>;

/// The first failure of a log directory since it was sound. Clones are the same channel.
///
/// Any failed operation counts, a full disk's too, but for those that say something about a name and nothing about the
/// disk: a file that is not there, for instance, because its topic was deleted meanwhile.
#[derive(Clone, Default)]
pub struct LogDirFailureChannel(Arc<Shared>);

#[derive(Default)]
struct Shared {
    failure: Mutex<Option<String>>,
    listener: OnceLock<Listener>,
}

impl fmt::Debug for LogDirFailureChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogDirFailureChannel").field("failure", &self.0.failure).finish_non_exhaustive()
    }
}

impl LogDirFailureChannel {
    /// What has failed, if something has.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.0.failure.lock().clone()
    }

    /// Has `listener` called when the directory fails, on the thread that finds out and perhaps under a log's lock: it must
    /// only pass the word on. The first listener stays.
    pub fn on_failure(&self, listener: impl Fn() + Send + Sync + 'static) {
        let _first = self.0.listener.set(Box::new(listener));
    }

    /// Forgets the failure.
    pub(crate) fn clear(&self) {
        *self.0.failure.lock() = None;
    }

    /// The same file system; what fails in it is said here.
    pub(crate) fn watch(&self, inner: SharedFileSystem) -> SharedFileSystem {
        Arc::new(WatchedFileSystem { inner, channel: self.clone() })
    }

    fn note<T>(&self, path: &Path, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && is_of_the_disk(error)
        {
            self.failed(path, error);
        }
        result
    }

    fn failed(&self, path: &Path, error: &io::Error) {
        let mut failure = self.0.failure.lock();
        if failure.is_some() {
            return;
        }
        *failure = Some(format!("{}: {error}", path.display()));
        drop(failure);
        if let Some(listener) = self.0.listener.get() {
            listener();
        }
    }
}

/// Whether an error says that the disk cannot be relied on.
fn is_of_the_disk(error: &io::Error) -> bool {
    let of_a_name_or_a_moment = matches!(
        error.kind(),
        ErrorKind::NotFound
            | ErrorKind::AlreadyExists
            | ErrorKind::DirectoryNotEmpty
            | ErrorKind::InvalidFilename
            | ErrorKind::InvalidInput
            | ErrorKind::Interrupted
            | ErrorKind::WouldBlock
    );
    !of_a_name_or_a_moment
}

#[derive(Debug)]
struct WatchedFileSystem {
    inner: SharedFileSystem,
    channel: LogDirFailureChannel,
}

impl FileSystem for WatchedFileSystem {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<SharedFile> {
        let inner = self.channel.note(path, self.inner.open(path, mode))?;
        Ok(Arc::new(WatchedFile { inner, path: path.to_owned(), channel: self.channel.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.channel.note(from, self.inner.rename(from, to))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.channel.note(path, self.inner.remove_file(path))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.channel.note(path, self.inner.remove_dir_all(path))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.channel.note(dir, self.inner.list(dir))
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.channel.note(dir, self.inner.create_dir_all(dir))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.channel.note(dir, self.inner.sync_dir(dir))
    }

    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn FileLock>> {
        self.inner.lock(path)
    }
}

#[derive(Debug)]
struct WatchedFile {
    inner: SharedFile,
    path: PathBuf,
    channel: LogDirFailureChannel,
}

impl File for WatchedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.channel.note(&self.path, self.inner.read_at(buf, offset))
    }

    fn write_all_at(&self, parts: &mut [IoSlice<'_>], offset: u64) -> io::Result<()> {
        self.channel.note(&self.path, self.inner.write_all_at(parts, offset))
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.channel.note(&self.path, self.inner.truncate(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.channel.note(&self.path, self.inner.sync_data())
    }

    fn sync_all(&self) -> io::Result<()> {
        self.channel.note(&self.path, self.inner.sync_all())
    }

    fn len(&self) -> io::Result<u64> {
        self.channel.note(&self.path, self.inner.len())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::fs::{DiskFaults, MemoryFileSystem};

    #[test]
    fn the_first_failure_is_told_once_and_a_missing_file_is_none() {
        let (faults, channel) = (DiskFaults::default(), LogDirFailureChannel::default());
        let fs = channel.watch(faults.wrap(MemoryFileSystem::shared()));
        let told = Arc::new(AtomicU32::new(0));
        let count = told.clone();
        channel.on_failure(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let (path, missing) = (Path::new("a"), Path::new("b"));
        fs.open(missing, OpenMode::Read).unwrap_err();
        fs.remove_file(missing).unwrap_err();
        let file = fs.open(path, OpenMode::Create).unwrap();
        file.sync_all().unwrap();
        assert_eq!(channel.failure(), None);

        faults.set_full(true);
        file.write_all_at(&mut [IoSlice::new(b"x")], 0).unwrap_err();
        faults.set_failing_syncs(true);
        fs.sync_dir(path).unwrap_err();
        assert_eq!(told.load(Ordering::Relaxed), 1);
        assert!(channel.failure().is_some_and(|failure| failure.starts_with("a: ")), "{channel:?}");
        channel.clear();
        file.sync_data().unwrap_err();
        assert_eq!(told.load(Ordering::Relaxed), 2);
    }
}
