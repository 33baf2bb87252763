//! [`DiskFaults`]: a disk of a running broker, which is full or does not sync for a while.

use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{DirEntry, File, FileLock, FileSystem, OpenMode, SharedFile, SharedFileSystem};

/// Switches for the faults of a disk. Clones are the same switches.
///
/// It keeps no books as [`FaultyFileSystem`](super::FaultyFileSystem) does, so it may stay around a disk for hours: without a
/// fault an operation pays one load.
#[derive(Debug, Clone, Default)]
pub struct DiskFaults(Arc<Switches>);

#[derive(Debug, Default)]
struct Switches {
    full: AtomicBool,
    failing_syncs: AtomicBool,
}

impl DiskFaults {
    /// The disk under `inner`, with these switches.
    #[must_use]
    pub fn wrap(&self, inner: SharedFileSystem) -> SharedFileSystem {
        Arc::new(SwitchedFileSystem { inner, faults: self.clone() })
    }

    /// While it is full, every write to a file fails with [`io::ErrorKind::StorageFull`], and writes nothing. Files can
    /// still be created, cut and removed.
    pub fn set_full(&self, full: bool) {
        self.0.full.store(full, Ordering::Relaxed);
    }

    /// While they fail, syncs of files and directories do.
    pub fn set_failing_syncs(&self, failing: bool) {
        self.0.failing_syncs.store(failing, Ordering::Relaxed);
    }

    fn before_write(&self) -> io::Result<()> {
        if self.0.full.load(Ordering::Relaxed) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn before_sync(&self) -> io::Result<()> {
        if self.0.failing_syncs.load(Ordering::Relaxed) {
            return Err(io::Error::other("injected fault: fsync failed"));
        }
        Ok(())
    }
}

#[derive(Debug)]
struct SwitchedFileSystem {
    inner: SharedFileSystem,
    faults: DiskFaults,
}

impl FileSystem for SwitchedFileSystem {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<SharedFile> {
        Ok(Arc::new(SwitchedFile { inner: self.inner.open(path, mode)?, faults: self.faults.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir_all(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.inner.list(dir)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.inner.create_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.faults.before_sync()?;
        self.inner.sync_dir(dir)
    }

    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn FileLock>> {
        self.inner.lock(path)
    }
}

#[derive(Debug)]
struct SwitchedFile {
    inner: SharedFile,
    faults: DiskFaults,
}

impl File for SwitchedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.inner.read_at(buf, offset)
    }

    fn write_all_at(&self, parts: &mut [IoSlice<'_>], offset: u64) -> io::Result<()> {
        self.faults.before_write()?;
        self.inner.write_all_at(parts, offset)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.inner.truncate(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.faults.before_sync()?;
        self.inner.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.faults.before_sync()?;
        self.inner.sync_all()
    }

    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn is_empty(&self) -> io::Result<bool> {
        self.inner.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MemoryFileSystem, read_file};
    use super::*;

    #[test]
    fn faults_come_and_go_under_open_files() {
        let faults = DiskFaults::default();
        let fs = faults.wrap(MemoryFileSystem::shared());
        let path = Path::new("a");
        let file = fs.open(path, OpenMode::Create).unwrap();
        let write = |text: &[u8], at| file.write_all_at(&mut [IoSlice::new(text)], at);
        write(b"one", 0).unwrap();
        faults.set_full(true);
        assert_eq!(write(b"two", 3).unwrap_err().kind(), io::ErrorKind::StorageFull);
        file.sync_data().unwrap();
        faults.set_full(false);
        faults.set_failing_syncs(true);
        write(b"two", 3).unwrap();
        file.sync_data().unwrap_err();
        file.sync_all().unwrap_err();
        faults.set_failing_syncs(false);
        file.sync_all().unwrap();
        assert_eq!(read_file(&*fs, path, 100).unwrap(), &b"onetwo"[..]);
    }
}
