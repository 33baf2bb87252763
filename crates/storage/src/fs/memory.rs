//! A disk in memory, for tests and for clusters that nobody wants to keep.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::{DirEntry, File, FileLock, FileSystem, OpenMode, SharedFile};

/// Files in memory. Clones share them.
///
/// What is done to a name costs what its own path and directory cost, however many other files there are. Dropping all
/// that a directory held does not stop those who use other names.
#[derive(Debug, Clone, Default)]
pub struct MemoryFileSystem {
    names: Arc<Mutex<Names>>,
}

#[derive(Debug, Default)]
struct Names {
    /// Where it all starts: what the empty path and `/` name.
    root: Directory,
    locked: BTreeSet<PathBuf>,
}

type Directory = BTreeMap<OsString, Node>;

#[derive(Debug)]
enum Node {
    File(Arc<MemoryFile>),
    Dir(Directory),
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
    fn dir(&self, path: &Path) -> Option<&Directory> {
        components(path).try_fold(&self.root, |dir, name| match dir.get(name) {
            Some(Node::Dir(dir)) => Some(dir),
            Some(Node::File(_)) | None => None,
        })
    }

    fn dir_mut(&mut self, path: &Path) -> Option<&mut Directory> {
        components(path).try_fold(&mut self.root, |dir, name| match dir.get_mut(name) {
            Some(Node::Dir(dir)) => Some(dir),
            Some(Node::File(_)) | None => None,
        })
    }

    fn node(&self, path: &Path) -> Option<&Node> {
        let (parent, name) = split(path)?;
        self.dir(parent)?.get(name)
    }

    /// The directory in which a path's last component is a name, and that name.
    fn parent_mut<'a>(&mut self, path: &'a Path) -> io::Result<(&mut Directory, &'a OsStr)> {
        let (parent, name) = split(path).ok_or_else(|| not_found(path))?;
        let dir = self.dir_mut(parent).ok_or_else(|| not_found(path))?;
        Ok((dir, name))
    }
}

impl FileSystem for MemoryFileSystem {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<SharedFile> {
        let mut names = self.names.lock();
        let (dir, name) = names.parent_mut(path)?;
        match dir.get(name) {
            Some(Node::File(file)) => {
                if mode == OpenMode::CreateEmpty {
                    file.truncate(0)?;
                }
                Ok(Arc::<MemoryFile>::clone(file))
            }
            None if matches!(mode, OpenMode::Create | OpenMode::CreateEmpty) => {
                let file = Arc::new(MemoryFile::default());
                dir.insert(name.to_owned(), Node::File(Arc::clone(&file)));
                Ok(file)
            }
            Some(Node::Dir(_)) | None => Err(not_found(path)),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut names = self.names.lock();
        let node = names.node(from).ok_or_else(|| not_found(from))?;
        let is_dir = matches!(node, Node::Dir(_));
        if from == to {
            return Ok(());
        }
        if is_dir && to.starts_with(from) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        match names.parent_mut(to).map(|(dir, name)| dir.get(name))? {
            Some(Node::Dir(_)) if !is_dir => return Err(io::ErrorKind::IsADirectory.into()),
            Some(Node::File(_)) if is_dir => return Err(io::ErrorKind::NotADirectory.into()),
            Some(Node::Dir(held)) if !held.is_empty() => {
                return Err(io::ErrorKind::DirectoryNotEmpty.into());
            }
            _ => {}
        }
        let (dir, name) = names.parent_mut(from)?;
        let moved = dir.remove(name).ok_or_else(|| not_found(from))?;
        let (dir, name) = names.parent_mut(to)?;
        let replaced = dir.insert(name.to_owned(), moved);
        drop(names);
        drop(replaced);
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let mut names = self.names.lock();
        let (dir, name) = names.parent_mut(path)?;
        let Some(Node::File(_)) = dir.get(name) else { return Err(not_found(path)) };
        let removed = dir.remove(name);
        drop(names);
        drop(removed);
        Ok(())
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut names = self.names.lock();
        let (dir, name) = names.parent_mut(path)?;
        let Some(Node::Dir(_)) = dir.get(name) else { return Err(not_found(path)) };
        let removed = dir.remove(name);
        drop(names);
        drop(removed);
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let names = self.names.lock();
        let held = names.dir(dir).ok_or_else(|| not_found(dir))?;
        let entry = |(name, node): (&OsString, &Node)| {
            let is_dir = matches!(node, Node::Dir(_));
            Some(DirEntry { name: name.to_str()?.to_owned(), is_dir })
        };
        Ok(held.iter().filter_map(entry).collect())
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        let mut names = self.names.lock();
        let mut parent = &mut names.root;
        for name in components(dir) {
            let node = parent.entry(name.to_owned()).or_insert_with(|| Node::Dir(Directory::new()));
            let Node::Dir(next) = node else { return Err(io::ErrorKind::NotADirectory.into()) };
            parent = next;
        }
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.names.lock().dir(dir).map(drop).ok_or_else(|| not_found(dir))
    }

    fn exists(&self, path: &Path) -> bool {
        let names = self.names.lock();
        names.dir(path).is_some() || names.node(path).is_some()
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn FileLock>> {
        self.open(path, OpenMode::Create)?;
        if !self.names.lock().locked.insert(path.to_owned()) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Box::new(MemoryLock { names: Arc::clone(&self.names), path: path.to_owned() }))
    }
}

/// What leads from the root to a path.
fn components(path: &Path) -> impl Iterator<Item = &OsStr> {
    let names = path.components().filter(|part| !matches!(part, Component::RootDir | Component::CurDir));
    names.map(Component::as_os_str)
}

/// A path's directory and its name in there; None for the root.
fn split(path: &Path) -> Option<(&Path, &OsStr)> {
    Some((path.parent()?, path.file_name()?))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn on_disk(paths: &[&str]) -> MemoryFileSystem {
        let fs = MemoryFileSystem::new();
        for path in paths.iter().map(Path::new) {
            fs.create_dir_all(path.parent().unwrap()).unwrap();
            fs.open(path, OpenMode::Create).unwrap();
        }
        fs
    }

    fn names(fs: &MemoryFileSystem, dir: &str) -> Vec<(String, bool)> {
        fs.list(dir.as_ref()).unwrap().into_iter().map(|entry| (entry.name, entry.is_dir)).collect()
    }

    fn kind<T: std::fmt::Debug>(result: io::Result<T>) -> io::ErrorKind {
        result.unwrap_err().kind()
    }

    #[test]
    fn a_directory_lists_its_own_names_in_order() {
        let fs = on_disk(&["a/c/deep", "a/b", "a-/x", "a.b", "ab/y"]);
        assert_eq!(names(&fs, "a"), [("b".to_owned(), false), ("c".to_owned(), true)]);
        let root = ["a", "a-", "a.b", "ab"];
        for path in ["", "/", "."] {
            assert_eq!(names(&fs, path).into_iter().map(|(name, _)| name).collect::<Vec<_>>(), root);
        }
        assert_eq!(kind(fs.list("a/b".as_ref())), io::ErrorKind::NotFound, "a file");
        assert_eq!(kind(fs.list("c".as_ref())), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_renamed_directory_takes_along_what_is_in_it_and_nothing_else() {
        let fs = on_disk(&["logs/a-0/log", "logs/a-0/index", "logs/a-01/log"]);
        let open = fs.open("logs/a-0/log".as_ref(), OpenMode::Read).unwrap();
        open.write_all_at(&mut [IoSlice::new(b"kept")], 0).unwrap();
        fs.rename("logs/a-0".as_ref(), "logs/a-0.x-delete".as_ref()).unwrap();
        assert_eq!(names(&fs, "logs"), [("a-0.x-delete".to_owned(), true), ("a-01".to_owned(), true)]);
        let moved = fs.open("logs/a-0.x-delete/log".as_ref(), OpenMode::Read).unwrap();
        assert_eq!(moved.len().unwrap(), 4, "the same file under another name");
        fs.remove_dir_all("logs/a-0.x-delete".as_ref()).unwrap();
        assert_eq!(names(&fs, "logs"), [("a-01".to_owned(), true)]);
        assert_eq!(open.len().unwrap(), 4, "an open file stays readable");
    }

    #[test]
    fn a_rename_replaces_a_file_and_never_what_a_directory_holds() {
        let fs = on_disk(&["a/tmp", "a/file", "b/x", "c/y"]);
        fs.open("a/tmp".as_ref(), OpenMode::Read).unwrap().truncate(7).unwrap();
        fs.rename("a/tmp".as_ref(), "a/file".as_ref()).unwrap();
        assert_eq!(fs.open("a/file".as_ref(), OpenMode::Read).unwrap().len().unwrap(), 7);
        let rename = |from: &str, to: &str| fs.rename(from.as_ref(), to.as_ref());
        assert_eq!(kind(rename("b", "c")), io::ErrorKind::DirectoryNotEmpty);
        assert_eq!(kind(rename("b", "a/file")), io::ErrorKind::NotADirectory);
        assert_eq!(kind(rename("a/file", "b")), io::ErrorKind::IsADirectory);
        assert_eq!(kind(rename("b", "b/x/b")), io::ErrorKind::InvalidInput);
        assert_eq!(kind(rename("b", "nowhere/b")), io::ErrorKind::NotFound);
        assert_eq!(kind(rename("gone", "d")), io::ErrorKind::NotFound);
        rename("b", "b").unwrap();
        assert_eq!(names(&fs, "b"), [("x".to_owned(), false)], "nothing has moved");
    }

    #[test]
    fn files_are_created_where_their_directory_is() {
        let fs = on_disk(&["a/file"]);
        let open = |path: &str, mode| fs.open(path.as_ref(), mode);
        assert_eq!(kind(open("b/file", OpenMode::Create)), io::ErrorKind::NotFound);
        assert_eq!(kind(open("a/other", OpenMode::ReadWrite)), io::ErrorKind::NotFound);
        assert_eq!(kind(open("a", OpenMode::Create)), io::ErrorKind::NotFound, "a directory");
        assert_eq!(kind(open("a/file/x", OpenMode::Create)), io::ErrorKind::NotFound);
        assert_eq!(kind(fs.create_dir_all("a/file/x".as_ref())), io::ErrorKind::NotADirectory);
        assert_eq!(kind(fs.remove_file("a".as_ref())), io::ErrorKind::NotFound);
        assert_eq!(kind(fs.remove_dir_all("a/file".as_ref())), io::ErrorKind::NotFound);
        assert!(fs.exists("a/file".as_ref()) && fs.exists("a".as_ref()) && fs.exists("".as_ref()));
        fs.remove_file("/a/file".as_ref()).unwrap();
        assert!(!fs.exists("a/file".as_ref()));
    }
}
