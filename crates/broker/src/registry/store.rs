//! [`RegistryStore`]: the registry's state in one JSON file, which is replaced whole.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use milena_storage::fs::{SharedFileSystem, read_file, write_file_atomically};
use serde::{Deserialize, Serialize};

use super::RegistryState;
use crate::BrokerError;
use crate::controller::ControllerState;

/// The registry of a broker that is alone, inside of its data directory.
pub(crate) const REGISTRY_OF_ONE: &str = "controller.json";
/// The registry of the brokers of a cluster, inside of the cluster's directory.
pub(crate) const REGISTRY_OF_MANY: &str = "cluster.json";

const VERSION: u32 = 1;

/// The state on disk.
#[derive(Debug, Clone)]
pub(crate) struct RegistryStore {
    fs: SharedFileSystem,
    path: PathBuf,
}

#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    next_broker_epoch: i64,
    next_producer_id: i64,
    state: &'a ControllerState,
}

#[derive(Deserialize)]
struct Read {
    version: u32,
    #[serde(default = "first_broker_epoch")]
    next_broker_epoch: i64,
    next_producer_id: Option<i64>,
    state: serde_json::Value,
}

/// The files of a broker that was alone have no epochs of brokers.
fn first_broker_epoch() -> i64 {
    1
}

impl RegistryStore {
    /// The state in the file `name` of `data_dir`.
    pub(crate) fn new(fs: SharedFileSystem, data_dir: &Path, name: &str) -> Self {
        Self { fs, path: data_dir.join(name) }
    }

    /// The state that was saved last, or None on a new directory.
    pub(crate) fn load(&self) -> Result<Option<RegistryState>, BrokerError> {
        // However large: it was written by a registry, which does not ask how many topics there are.
        let content = match read_file(&*self.fs, &self.path, usize::MAX) {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(BrokerError::io(&self.path)(error)),
        };
        let read: Read = serde_json::from_slice(&content).map_err(|error| self.corrupt(&error))?;
        if read.version != VERSION {
            let reason = format!("version {} where {VERSION} is known", read.version);
            return Err(BrokerError::CorruptState { path: self.path.clone(), reason });
        }
        let next_broker_epoch = read.next_broker_epoch;
        // Where the files of a broker that was alone had it.
        let older = read.state.get("next_producer_id").and_then(serde_json::Value::as_i64);
        let next_producer_id = read.next_producer_id.or(older).unwrap_or(0);
        let cluster: ControllerState =
            serde_json::from_value(read.state).map_err(|error| self.corrupt(&error))?;
        Ok(Some(RegistryState { next_broker_epoch, next_producer_id, cluster: Arc::new(cluster) }))
    }

    /// Creates the directory of the file, if it is missing.
    pub(crate) fn create_dir(&self) -> Result<(), BrokerError> {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        self.fs.create_dir_all(dir).map_err(BrokerError::io(dir))
    }

    /// Makes `state` durable. When this fails, the old state is still there.
    pub(crate) fn save(&self, state: &RegistryState) -> Result<(), BrokerError> {
        let written = Written {
            version: VERSION,
            next_broker_epoch: state.next_broker_epoch,
            next_producer_id: state.next_producer_id,
            state: &state.cluster,
        };
        let content = serde_json::to_vec(&written).map_err(|error| self.corrupt(&error))?;
        write_file_atomically(&*self.fs, &self.path, &content).map_err(BrokerError::io(&self.path))
    }

    fn corrupt(&self, error: &serde_json::Error) -> BrokerError {
        BrokerError::CorruptState { path: self.path.clone(), reason: error.to_string() }
    }
}
