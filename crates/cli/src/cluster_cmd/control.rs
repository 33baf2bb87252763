//! The control socket: where it is, and what is said on it.

use std::{
    fs,
    hash::{BuildHasher as _, RandomState},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// In the data directory: the path of the socket.
const POINTER: &str = "milena.control";
/// In the data directory, if that is short enough.
const SOCKET: &str = "milena.sock";
/// The system's own limit is 108 bytes on Linux and 104 elsewhere, a zero included.
const MAX_PATH: usize = 100;

/// What is answered to a command.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) ok: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    /// What the caller should know, though it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
    /// The answer to `status`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) brokers: Vec<Broker>,
}

/// How one broker fares.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Broker {
    pub(super) broker: i32,
    pub(super) address: String,
    pub(super) state: String,
    pub(super) controller: bool,
    pub(super) leads: usize,
    pub(super) faults: Vec<String>,
}

/// Where a cluster's socket is: in its data directory, or, because a socket's path must be short, in a directory of its own
/// among the temporary ones. A file in the data directory says which. All of it goes when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) socket: PathBuf,
    pointer: PathBuf,
    own_dir: Option<PathBuf>,
}

impl Place {
    /// A place for the socket of the one cluster that runs on `dir`, which the caller holds: what is there is stale.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn make(dir: &Path) -> io::Result<Self> {
        Self::remove_stale(dir);
        let dir = dir.canonicalize()?;
        let mut place = Self { socket: dir.join(SOCKET), pointer: dir.join(POINTER), own_dir: None };
        // Also where nothing points to it any more.
        let _ = fs::remove_file(&place.socket);
        if place.socket.as_os_str().len() > MAX_PATH {
            let own_dir = short_dir()?;
            place.socket = own_dir.join(SOCKET);
            place.own_dir = Some(own_dir);
        }
        let text = place.socket.to_str().ok_or_else(|| io::Error::other("the path is not UTF-8"))?;
        fs::write(&place.pointer, text)?;
        Ok(place)
    }

    /// The socket of the cluster on `dir`; None when it has none.
    pub(super) fn find(dir: &Path) -> Option<PathBuf> {
        fs::read_to_string(dir.join(POINTER)).ok().map(PathBuf::from)
    }

    /// What a cluster has left that was killed.
    fn remove_stale(dir: &Path) {
        let Some(socket) = Self::find(dir).filter(|socket| socket.ends_with(SOCKET)) else { return };
        let _ = fs::remove_file(&socket);
        // Only one of ours can be empty now; that of the data is not.
        let _ = socket.parent().map(fs::remove_dir);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.socket);
        let _ = fs::remove_file(&self.pointer);
        let _ = self.own_dir.as_ref().map(fs::remove_dir);
    }
}

/// A new directory that nobody else may enter.
fn short_dir() -> io::Result<PathBuf> {
    let random = RandomState::new().hash_one(std::process::id());
    let dir = std::env::temp_dir().join(format!("milena-{random:016x}"));
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&dir)?;
    Ok(dir)
}

/// Connects to a cluster's socket.
///
/// # Errors
/// The system's.
#[cfg(unix)]
pub(super) fn connect(socket: &Path) -> io::Result<std::os::unix::net::UnixStream> {
    std::os::unix::net::UnixStream::connect(socket)
}

/// There are none.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub(super) fn connect(_socket: &Path) -> io::Result<fs::File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_has_a_short_path_wherever_the_data_is() {
        let dir = tempfile::tempdir().unwrap();
        let near = Place::make(dir.path()).unwrap();
        assert!(near.socket.starts_with(dir.path().canonicalize().unwrap()));
        assert_eq!(Place::find(dir.path()), Some(near.socket.clone()));
        drop(near);
        assert_eq!(Place::find(dir.path()), None);
        fs::write(dir.path().join(SOCKET), "").unwrap();
        let again = Place::make(dir.path()).unwrap();
        assert!(!again.socket.exists(), "what nobody listens on would be in the way");
        drop(again);

        let deep = dir.path().join("d".repeat(60)).join("e".repeat(60));
        fs::create_dir_all(&deep).unwrap();
        let far = Place::make(&deep).unwrap();
        assert!(far.socket.as_os_str().len() <= MAX_PATH, "{far:?}");
        assert_eq!(Place::find(&deep), Some(far.socket.clone()));
        let far_dir = far.socket.parent().unwrap().to_owned();
        // As after a kill.
        fs::write(&far.socket, "").unwrap();
        std::mem::forget(far);
        let next = Place::make(&deep).unwrap();
        assert!(!far_dir.exists());
        drop(next);
        assert!(deep.exists());
    }
}
