//! A disk in memory, for tests and for clusters that nobody wants to keep.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::{DirEntry, File, FileLock, FileSystem, OpenMode, SharedFile};

/// Files in memory. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryFileSystem {
    names: Arc<Mutex<Names>>,
}

#[derive(Debug, Default)]
struct Names {
    files: BTreeMap<PathBuf, Arc<MemoryFile>>,
    dirs: BTreeSet<PathBuf>,
    locked: BTreeSet<PathBuf>,
}

impl MemoryFileSystem {
    /// An empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty disk behind a shared handle.
    #[must_use]
    pub fn shared() -> super::SharedFileSystem {
        Arc::new(Self::new())
    }
}

impl Names {
    /// The empty path is where it all starts.
    fn is_dir(&self, path: &Path) -> bool {
        path.as_os_str().is_empty() || self.dirs.contains(path)
    }
}

impl FileSystem for MemoryFileSystem {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<SharedFile> {
        let mut names = self.names.lock();
        if let Some(file) = names.files.get(path) {
            if mode == OpenMode::CreateEmpty {
                file.truncate(0)?;
            }
            return Ok(Arc::<MemoryFile>::clone(file));
        }
        let parent_exists = path.parent().is_none_or(|dir| names.is_dir(dir));
        if matches!(mode, OpenMode::Read | OpenMode::ReadWrite) || !parent_exists || names.dirs.contains(path)
        {
            return Err(not_found(path));
        }
        let file = Arc::new(MemoryFile::default());
        names.files.insert(path.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut names = self.names.lock();
        if let Some(file) = names.files.remove(from) {
            names.files.insert(to.to_owned(), file);
            return Ok(());
        }
        if !names.dirs.contains(from) {
            return Err(not_found(from));
        }
        let moved = |path: &Path| path.strip_prefix(from).ok().map(|rest| join(to, rest));
        let dirs = std::mem::take(&mut names.dirs);
        names.dirs = dirs.into_iter().map(|path| moved(&path).unwrap_or(path)).collect();
        let files = std::mem::take(&mut names.files);
        names.files = files.into_iter().map(|(path, file)| (moved(&path).unwrap_or(path), file)).collect();
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.names.lock().files.remove(path).map(drop).ok_or_else(|| not_found(path))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut names = self.names.lock();
        if !names.dirs.contains(path) {
            return Err(not_found(path));
        }
        names.dirs.retain(|dir| !dir.starts_with(path));
        names.files.retain(|file, _| !file.starts_with(path));
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let names = self.names.lock();
        if !names.is_dir(dir) {
            return Err(not_found(dir));
        }
        let entry = |path: &PathBuf, is_dir| {
            let name = path.file_name()?.to_str()?.to_owned();
            (path.parent() == Some(dir)).then_some(DirEntry { name, is_dir })
        };
        let files = names.files.keys().filter_map(|path| entry(path, false));
        let mut entries: Vec<_> =
            files.chain(names.dirs.iter().filter_map(|path| entry(path, true))).collect();
        entries.sort();
        Ok(entries)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        let ancestors = dir.ancestors().filter(|path| !path.as_os_str().is_empty());
        self.names.lock().dirs.extend(ancestors.map(Path::to_owned));
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        if self.names.lock().is_dir(dir) { Ok(()) } else { Err(not_found(dir)) }
    }

    fn exists(&self, path: &Path) -> bool {
        let names = self.names.lock();
        names.files.contains_key(path) || names.is_dir(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn FileLock>> {
        self.open(path, OpenMode::Create)?;
        if !self.names.lock().locked.insert(path.to_owned()) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Box::new(MemoryLock { names: Arc::clone(&self.names), path: path.to_owned() }))
    }
}

/// Joins without the trailing slash that `Path::join` leaves for an empty rest.
pub(super) fn join(base: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { base.to_owned() } else { base.join(rest) }
}

pub(super) fn not_found(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{} does not exist", path.display()))
}

#[derive(Debug, Default)]
struct MemoryFile {
    data: RwLock<Vec<u8>>,
}

impl File for MemoryFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let data = self.data.read();
        let rest = usize::try_from(offset).ok().and_then(|offset| data.get(offset..)).unwrap_or_default();
        let len = rest.len().min(buf.len());
        if let (Some(to), Some(from)) = (buf.get_mut(..len), rest.get(..len)) {
            to.copy_from_slice(from);
        }
        Ok(len)
    }

    fn write_all_at(&self, parts: &mut [IoSlice<'_>], offset: u64) -> io::Result<()> {
        let mut at = usize::try_from(offset).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let mut data = self.data.write();
        if data.len() < at {
            data.resize(at, 0);
        }
        for part in parts.iter() {
            let overlap = part.len().min(data.len() - at);
            let (over, beyond) = part.split_at(overlap);
            if let Some(target) = data.get_mut(at..at + overlap) {
                target.copy_from_slice(over);
            }
            data.extend_from_slice(beyond);
            at += part.len();
        }
        Ok(())
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        self.data.write().resize(len, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn sync_all(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.data.read().len() as u64)
    }
}

#[derive(Debug)]
struct MemoryLock {
    names: Arc<Mutex<Names>>,
    path: PathBuf,
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.names.lock().locked.remove(&self.path);
    }
}

impl FileLock for MemoryLock {}
