//! [`DataDir`]: one broker's directory, locked while it runs, and how others find the broker that holds it.
//!
//! ```text
//! .lock             locked by the operating system while a broker runs, however it ends
//! milena.json       where that broker listens; written when it serves, removed when it stops
//! controller.json   the registry of a broker that is alone, see `registry::store`
//! logs/             TOPIC-PARTITION/ each with a log, in Kafka's format
//! ```

use std::io;
use std::path::{Path, PathBuf};

use milena_storage::fs::{
    FileLock, FileSystem, RealFileSystem, SharedFileSystem, read_file, write_file_atomically,
};
use serde::{Deserialize, Serialize};

use crate::BrokerError;

const LOCK_FILE: &str = ".lock";
const ADDRESS_FILE: &str = "milena.json";
/// An address file is a few hundred bytes; one that is larger is not ours.
const ADDRESS_FILE_MAX: usize = 64 * 1024;

/// A broker that runs on a data directory, in this process or another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningBroker {
    /// The addresses that a client starts with, `host:port`, separated by commas.
    pub bootstrap: String,
    /// The process that it runs in.
    pub pid: u32,
    /// The id of its cluster.
    pub cluster_id: String,
    /// Its id in the cluster.
    pub node_id: i32,
}

/// What is known about a data directory from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataDirState {
    /// No broker holds it, or it does not exist.
    Free,
    /// A broker holds it, but does not serve yet, or no more.
    Busy,
    /// A broker holds it and serves.
    Running(RunningBroker),
}

impl DataDirState {
    /// Looks at `dir`: at its lock, which cannot be stale, and only then at what the lock's holder wrote.
    ///
    /// # Errors
    /// When the lock file cannot be opened.
    pub fn of(dir: &Path) -> Result<Self, BrokerError> {
        let fs = RealFileSystem;
        let lock = dir.join(LOCK_FILE);
        if !lock.exists() {
            return Ok(Self::Free);
        }
        match fs.lock(&lock) {
            Ok(_released_at_once) => Ok(Self::Free),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(match read_address(&fs, dir) {
                Some(broker) => Self::Running(broker),
                None => Self::Busy,
            }),
            Err(error) => Err(BrokerError::io(lock)(error)),
        }
    }
}

/// The broker that serves `dir`, if there is one.
pub fn running(dir: &Path) -> Option<RunningBroker> {
    match DataDirState::of(dir) {
        Ok(DataDirState::Running(broker)) => Some(broker),
        Ok(DataDirState::Free | DataDirState::Busy) | Err(_) => None,
    }
}

/// A data directory that this broker holds.
#[derive(Debug)]
pub(crate) struct DataDir {
    fs: SharedFileSystem,
    path: PathBuf,
    _lock: Box<dyn FileLock>,
}

impl DataDir {
    /// Creates the directory if it is missing, and takes it.
    pub(crate) fn lock(fs: &SharedFileSystem, path: &Path) -> Result<Self, BrokerError> {
        fs.create_dir_all(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => BrokerError::NotADirectory(path.to_owned()),
            _ => BrokerError::io(path)(error),
        })?;
        let lock_path = path.join(LOCK_FILE);
        let lock = fs.lock(&lock_path).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => BrokerError::DataDirInUse {
                dir: path.to_owned(),
                holder: match read_address(&**fs, path) {
                    Some(broker) => format!("the broker at {} (process {})", broker.bootstrap, broker.pid),
                    None => "a broker that is starting or stopping".to_owned(),
                },
            },
            _ => BrokerError::io(&lock_path)(error),
        })?;
        let dir = Self { fs: fs.clone(), path: path.to_owned(), _lock: lock };
        // One that was killed left its address behind.
        dir.withdraw()?;
        Ok(dir)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file_system(&self) -> &SharedFileSystem {
        &self.fs
    }

    /// Tells others where the broker serves.
    pub(crate) fn announce(&self, broker: &RunningBroker) -> Result<(), BrokerError> {
        let path = self.path.join(ADDRESS_FILE);
        let content = serde_json::to_vec_pretty(broker)
            .map_err(|error| BrokerError::CorruptState { path: path.clone(), reason: error.to_string() })?;
        write_file_atomically(&*self.fs, &path, &content).map_err(BrokerError::io(path))
    }

    /// Takes the announcement back.
    pub(crate) fn withdraw(&self) -> Result<(), BrokerError> {
        let path = self.path.join(ADDRESS_FILE);
        match self.fs.remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(BrokerError::io(path)(error)),
            _ => Ok(()),
        }
    }
}

fn read_address(fs: &dyn FileSystem, dir: &Path) -> Option<RunningBroker> {
    let content = read_file(fs, &dir.join(ADDRESS_FILE), ADDRESS_FILE_MAX).ok()?;
    serde_json::from_slice(&content).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_found_only_while_it_is_held() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        assert_eq!(DataDirState::of(&path).unwrap(), DataDirState::Free);

        let fs = RealFileSystem::shared();
        let held = DataDir::lock(&fs, &path).unwrap();
        assert_eq!(DataDirState::of(&path).unwrap(), DataDirState::Busy);
        let broker = RunningBroker {
            bootstrap: "127.0.0.1:9092".to_owned(),
            pid: 7,
            cluster_id: "c".to_owned(),
            node_id: 1,
        };
        held.announce(&broker).unwrap();
        assert_eq!(running(&path), Some(broker));
        let error = DataDir::lock(&fs, &path).unwrap_err().to_string();
        assert!(error.contains("127.0.0.1:9092 (process 7)"), "{error}");

        // As after a kill: the address is still there, the lock is not.
        drop(held);
        assert!(path.join(ADDRESS_FILE).exists());
        assert_eq!(running(&path), None);
        let held = DataDir::lock(&fs, &path).unwrap();
        assert_eq!(DataDirState::of(&path).unwrap(), DataDirState::Busy);
        drop(held);
    }
}
