//! A disk that fails as it is told, and that forgets on a power cut what was never synced.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::memory::{join, not_found};
use super::{DirEntry, File, FileLock, FileSystem, OpenMode, SharedFile, SharedFileSystem, read_up_to};

/// What an operation is about to do; given to the callback of [`FaultyFileSystem::on_operation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FsOperation {
    /// Open or create a file.
    Open,
    /// Read from a file.
    Read,
    /// Write this many bytes.
    Write(usize),
    /// Change a file's length.
    Truncate,
    /// Sync a file.
    Sync,
    /// Sync a directory.
    SyncDir,
    /// Rename, remove or create a name.
    Names,
}

/// What survives a power cut beyond what was synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashPlan {
    /// Nothing: the disk is exactly as the syncs left it.
    DropUnsynced,
    /// What real disks do: of each file's unsynced tail some prefix, its end possibly zeros; of the unsynced changes to
    /// names some first few. The seed decides.
    Torn(u64),
}

type Hook = Arc<dyn Fn(FsOperation, &Path) + Send + Sync>;

/// Wraps a file system and injects faults. Clones share the script and the disk.
///
/// Durability follows POSIX read strictly: content is durable after a sync of the file, a name after a sync of its
/// directory. Names that were there before the wrapping are durable.
#[derive(Clone)]
pub struct FaultyFileSystem {
    inner: SharedFileSystem,
    state: Arc<Mutex<State>>,
}

impl fmt::Debug for FaultyFileSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyFileSystem").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl FaultyFileSystem {
    /// Wraps `inner`, with no fault scripted yet.
    #[must_use]
    pub fn new(inner: SharedFileSystem) -> Self {
        Self { inner, state: Arc::default() }
    }

    /// After `bytes` more bytes every write fails with [`io::ErrorKind::StorageFull`], having written what fitted.
    /// `None`: the disk has room again.
    pub fn set_free_space(&self, bytes: Option<u64>) {
        self.state.lock().free_space = bytes;
    }

    /// Every sync of a file fails while `fail` holds.
    pub fn fail_syncs(&self, fail: bool) {
        self.state.lock().fail_syncs = fail;
    }

    /// Every truncation of a file fails while `fail` holds.
    pub fn fail_truncates(&self, fail: bool) {
        self.state.lock().fail_truncates = fail;
    }

    /// Calls `hook` before each operation, outside all locks: it may block (a slow disk) or count.
    pub fn on_operation(&self, hook: impl Fn(FsOperation, &Path) + Send + Sync + 'static) {
        self.state.lock().hook = Some(Arc::new(hook));
    }

    /// The power goes in the middle of the `operations`-th changing operation from now (0: the next one): a write is
    /// done in part, anything else not at all, and everything fails until [`restart`](Self::restart).
    pub fn cut_power_after(&self, operations: u64) {
        self.state.lock().power_left = Some(operations);
    }

    /// Takes a power cut back that has not happened.
    pub fn leave_power_on(&self) {
        self.state.lock().power_left = None;
    }

    /// Whether the scripted power cut has happened.
    #[must_use]
    pub fn is_powered_off(&self) -> bool {
        self.state.lock().powered_off
    }

    /// Cuts the power now if it is still on, brings the disk back as `plan` says and clears the scripted faults. Files
    /// opened before are dead: every operation on them fails.
    ///
    /// # Errors
    /// Whatever the wrapped file system answers.
    pub fn restart(&self, plan: CrashPlan) -> io::Result<()> {
        let mut state = self.state.lock();
        let mut chance = match plan {
            CrashPlan::DropUnsynced => None,
            CrashPlan::Torn(seed) => Some(Chance(seed)),
        };
        let pending = std::mem::take(&mut state.pending);
        let surviving = chance.as_mut().map_or(0, |chance| chance.below(pending.len() + 1));
        for operation in pending.into_iter().take(surviving) {
            state.durable.apply(&operation);
        }
        let mut contents = BTreeMap::new();
        for (path, id) in &state.durable.files {
            let Some(tracked) = state.contents.get(id) else { continue };
            if path
                .parent()
                .is_some_and(|dir| state.live.is_tracked_dir(dir) && !state.durable.dirs.contains(dir))
            {
                continue;
            }
            let now = read_up_to(&*tracked.file, 0, usize::MAX)?;
            contents.insert(path.clone(), survivor(&tracked.durable, &now, chance.as_mut()));
        }
        self.rewrite(&state, &contents)?;
        let durable_dirs = std::mem::take(&mut state.durable.dirs);
        let generation = state.generation + 1;
        *state = State { generation, ..State::default() };
        state.live.dirs.clone_from(&durable_dirs);
        state.durable.dirs = durable_dirs;
        Ok(())
    }

    /// Makes the wrapped file system look like `contents`.
    fn rewrite(&self, state: &State, contents: &BTreeMap<PathBuf, Vec<u8>>) -> io::Result<()> {
        for path in state.live.files.keys() {
            ignore_missing(self.inner.remove_file(path))?;
        }
        for dir in state.live.dirs.iter().rev().filter(|dir| !state.durable.dirs.contains(*dir)) {
            ignore_missing(self.inner.remove_dir_all(dir))?;
        }
        for dir in &state.durable.dirs {
            self.inner.create_dir_all(dir)?;
        }
        for (path, content) in contents {
            let file = self.inner.open(path, OpenMode::CreateEmpty)?;
            file.write_all_at(&mut [IoSlice::new(content)], 0)?;
        }
        Ok(())
    }

    fn before(&self, operation: FsOperation, path: &Path) -> io::Result<()> {
        let hook = self.state.lock().hook.clone();
        if let Some(hook) = hook {
            hook(operation, path);
        }
        if self.state.lock().powered_off { Err(power_is_off()) } else { Ok(()) }
    }

    /// Counts a changing operation; fails if it is the one that the power cut hits.
    fn before_change(&self, operation: FsOperation, path: &Path) -> io::Result<()> {
        self.before(operation, path)?;
        if self.state.lock().power_fails_now() { Err(power_is_off()) } else { Ok(()) }
    }

    fn change_name(&self, operation: NameOperation) {
        let mut state = self.state.lock();
        state.live.apply(&operation);
        state.pending.push(operation);
    }

    /// Starts to track a file that exists and is not tracked: it was there before, so it is durable as it is.
    fn track_existing(&self, path: &Path) -> io::Result<()> {
        if self.state.lock().live.files.contains_key(path) {
            return Ok(());
        }
        let file = self.inner.open(path, OpenMode::Read)?;
        let durable = read_up_to(&*file, 0, usize::MAX)?.to_vec();
        let mut state = self.state.lock();
        let id = state.add(Tracked { file, durable });
        state.live.files.insert(path.to_owned(), id);
        state.durable.files.insert(path.to_owned(), id);
        Ok(())
    }
}

impl FileSystem for FaultyFileSystem {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<SharedFile> {
        self.before(FsOperation::Open, path)?;
        let creates = matches!(mode, OpenMode::Create | OpenMode::CreateEmpty);
        let exists = self.inner.exists(path);
        if exists {
            self.track_existing(path)?;
        }
        if creates && (!exists || mode == OpenMode::CreateEmpty) {
            self.before_change(FsOperation::Names, path)?;
        }
        let inner = self.inner.open(path, mode)?;
        if !exists {
            let id = self.state.lock().add(Tracked { file: Arc::clone(&inner), durable: Vec::new() });
            self.change_name(NameOperation::Create(path.to_owned(), id));
        }
        let state = self.state.lock();
        let id = *state.live.files.get(path).ok_or_else(|| not_found(path))?;
        Ok(Arc::new(FaultyFile {
            fs: self.clone(),
            inner,
            path: path.to_owned(),
            id,
            generation: state.generation,
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.before_change(FsOperation::Names, from)?;
        let is_dir = self.inner.list(from).is_ok();
        if !is_dir {
            self.track_existing(from)?;
        }
        self.inner.rename(from, to)?;
        self.change_name(NameOperation::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.before_change(FsOperation::Names, path)?;
        self.track_existing(path)?;
        self.inner.remove_file(path)?;
        self.change_name(NameOperation::Remove(path.to_owned()));
        Ok(())
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.before_change(FsOperation::Names, path)?;
        self.inner.remove_dir_all(path)?;
        self.change_name(NameOperation::Remove(path.to_owned()));
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.before(FsOperation::Read, dir)?;
        self.inner.list(dir)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        if self.inner.list(dir).is_ok() {
            return self.before(FsOperation::Read, dir);
        }
        self.before_change(FsOperation::Names, dir)?;
        let missing: Vec<_> = dir.ancestors().take_while(|path| !self.inner.exists(path)).collect();
        self.inner.create_dir_all(dir)?;
        for path in missing.into_iter().rev().filter(|path| !path.as_os_str().is_empty()) {
            self.change_name(NameOperation::CreateDir(path.to_owned()));
        }
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.before_change(FsOperation::SyncDir, dir)?;
        self.inner.sync_dir(dir)?;
        let mut state = self.state.lock();
        let (now, later) =
            std::mem::take(&mut state.pending).into_iter().partition(|pending| pending.is_in(dir));
        state.pending = later;
        let now: Vec<NameOperation> = now;
        for operation in &now {
            state.durable.apply(operation);
        }
        Ok(())
    }

    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn FileLock>> {
        self.before(FsOperation::Open, path)?;
        self.inner.lock(path)
    }
}

#[derive(Debug)]
struct FaultyFile {
    fs: FaultyFileSystem,
    inner: SharedFile,
    path: PathBuf,
    id: FileId,
    generation: u64,
}

impl FaultyFile {
    fn check_alive(&self) -> io::Result<()> {
        if self.fs.state.lock().generation == self.generation { Ok(()) } else { Err(power_is_off()) }
    }

    fn sync(&self) -> io::Result<()> {
        self.check_alive()?;
        self.fs.before_change(FsOperation::Sync, &self.path)?;
        let mut state = self.fs.state.lock();
        if state.fail_syncs {
            return Err(io::Error::other("scripted fault: fsync failed"));
        }
        let content = read_up_to(&*self.inner, 0, usize::MAX)?;
        if let Some(tracked) = state.contents.get_mut(&self.id) {
            tracked.durable = content.to_vec();
        }
        Ok(())
    }
}

impl File for FaultyFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.check_alive()?;
        self.fs.before(FsOperation::Read, &self.path)?;
        self.inner.read_at(buf, offset)
    }

    fn write_all_at(&self, parts: &mut [IoSlice<'_>], offset: u64) -> io::Result<()> {
        self.check_alive()?;
        let len: usize = parts.iter().map(|part| part.len()).sum();
        self.fs.before(FsOperation::Write(len), &self.path)?;
        let (room, error) = {
            let mut state = self.fs.state.lock();
            if state.power_fails_now() {
                (len / 2, Some(power_is_off()))
            } else if let Some(free) = state.free_space.filter(|free| *free < len as u64) {
                state.free_space = Some(0);
                (usize::try_from(free).unwrap_or(len), Some(io::ErrorKind::StorageFull.into()))
            } else {
                state.free_space = state.free_space.map(|free| free - len as u64);
                (len, None)
            }
        };
        match error {
            None => self.inner.write_all_at(parts, offset),
            Some(error) => {
                let all: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).take(room).collect();
                self.inner.write_all_at(&mut [IoSlice::new(&all)], offset)?;
                Err(error)
            }
        }
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.check_alive()?;
        self.fs.before_change(FsOperation::Truncate, &self.path)?;
        if self.fs.state.lock().fail_truncates {
            return Err(io::Error::other("scripted fault: truncate failed"));
        }
        self.inner.truncate(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.check_alive()?;
        self.inner.len()
    }
}

type FileId = u64;

#[derive(Default)]
struct State {
    free_space: Option<u64>,
    fail_syncs: bool,
    fail_truncates: bool,
    power_left: Option<u64>,
    powered_off: bool,
    hook: Option<Hook>,
    generation: u64,
    next_id: FileId,
    contents: BTreeMap<FileId, Tracked>,
    live: Namespace,
    durable: Namespace,
    /// Changes to names since their directory was last synced, oldest first.
    pending: Vec<NameOperation>,
}

impl State {
    fn add(&mut self, tracked: Tracked) -> FileId {
        self.next_id += 1;
        self.contents.insert(self.next_id, tracked);
        self.next_id
    }

    fn power_fails_now(&mut self) -> bool {
        match &mut self.power_left {
            Some(0) => self.powered_off = true,
            Some(left) => *left -= 1,
            None => {}
        }
        self.powered_off
    }
}

struct Tracked {
    file: SharedFile,
    durable: Vec<u8>,
}

#[derive(Debug, Default)]
struct Namespace {
    files: BTreeMap<PathBuf, FileId>,
    dirs: BTreeSet<PathBuf>,
}

impl Namespace {
    fn apply(&mut self, operation: &NameOperation) {
        match operation {
            NameOperation::Create(path, id) => {
                self.files.insert(path.clone(), *id);
            }
            NameOperation::CreateDir(path) => {
                self.dirs.insert(path.clone());
            }
            NameOperation::Remove(path) => {
                self.files.retain(|file, _| !file.starts_with(path));
                self.dirs.retain(|dir| !dir.starts_with(path));
            }
            NameOperation::Rename(from, to) => {
                let moved = |path: PathBuf| match path.strip_prefix(from) {
                    Ok(rest) => join(to, rest),
                    Err(_) => path,
                };
                if self.files.contains_key(from) {
                    self.files.remove(to);
                }
                self.files =
                    std::mem::take(&mut self.files).into_iter().map(|(p, id)| (moved(p), id)).collect();
                self.dirs = std::mem::take(&mut self.dirs).into_iter().map(moved).collect();
            }
        }
    }

    /// Directories from before the wrapping are not tracked, and always there.
    fn is_tracked_dir(&self, dir: &Path) -> bool {
        self.dirs.contains(dir)
    }
}

#[derive(Debug)]
enum NameOperation {
    Create(PathBuf, FileId),
    CreateDir(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

impl NameOperation {
    fn is_in(&self, dir: &Path) -> bool {
        match self {
            Self::Create(path, _) | Self::CreateDir(path) | Self::Remove(path) => path.parent() == Some(dir),
            Self::Rename(from, to) => from.parent() == Some(dir) || to.parent() == Some(dir),
        }
    }
}

/// What a file holds after the power cut, given what was synced and what was written.
fn survivor(durable: &[u8], now: &[u8], chance: Option<&mut Chance>) -> Vec<u8> {
    let Some(chance) = chance else { return durable.to_vec() };
    let Some(tail) = now.strip_prefix(durable) else {
        // Cut or overwritten since the sync: the old or the new state.
        return if chance.below(2) == 0 { durable.to_vec() } else { now.to_vec() };
    };
    let kept = chance.below(tail.len() + 1);
    let mut content: Vec<u8> = durable.iter().chain(tail).copied().take(durable.len() + kept).collect();
    if chance.below(3) == 0 {
        // The length reached the disk, the last blocks did not.
        let lost = chance.below(kept + 1);
        let from = content.len() - lost;
        content.truncate(from);
        content.resize(from + lost, 0);
    }
    content
}

/// A small generator of random numbers (splitmix64), so that a seed replays a crash.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from((z ^ (z >> 31)) % bound).unwrap_or(0)
    }
}

fn power_is_off() -> io::Error {
    io::Error::other("scripted fault: the power is off")
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
