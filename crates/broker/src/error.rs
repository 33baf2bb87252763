//! [`BrokerError`]: why a broker did not start or stop as asked.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a broker did not start, or did not stop cleanly.
///
/// What goes wrong while it serves is answered to the client that asked, with Kafka's error codes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrokerError {
    /// Another broker uses the data directory. The caller's fault: join that one, or take another directory.
    #[error("{} is in use by {holder}: stop that broker, or use another directory", dir.display())]
    DataDirInUse {
        /// The directory.
        dir: PathBuf,
        /// Who holds it, as far as is known.
        holder: String,
    },
    /// Where the data directory should be is a file. The caller's fault.
    #[error("{} is no directory: name one, or a path where one can be created", .0.display())]
    NotADirectory(PathBuf),
    /// The configuration contradicts itself or Kafka. The caller's fault.
    #[error("invalid configuration: {0}")]
    InvalidConfig(String),
    /// A listener's address cannot be listened on. The environment's fault, or the caller's.
    #[error("listener {listener} cannot listen on {address}: {source}")]
    Bind {
        /// The listener's name.
        listener: String,
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A file that the broker itself wrote cannot be understood. The environment's fault, or another version's.
    #[error("{} is not what a broker wrote there: {reason}", path.display())]
    CorruptState {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file system failed. The environment's fault.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The log failed. The environment's fault.
    #[error("the log failed: {0}")]
    Log(String),
    /// A task of the broker's runtime was cancelled under it. The caller's fault: the runtime is shutting down.
    #[error("the runtime is shutting down")]
    Cancelled,
}

impl BrokerError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.into(), source }
    }
}
