//! [`SilentConnections`]: connections that have not said anything yet, and make room for those that might.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// The connections of a listener that have not sent a whole request, the oldest first.
#[derive(Debug, Default)]
pub(super) struct SilentConnections {
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    /// The number of the last one.
    last: u64,
    connections: BTreeMap<u64, Silent>,
}

#[derive(Debug)]
struct Silent {
    since: Instant,
    address: SocketAddr,
    /// None until it is spawned.
    task: Option<AbortHandle>,
}

/// A connection's place among the silent; given up when it has spoken, or has ended.
#[derive(Debug)]
pub(super) struct SilentPlace {
    connections: Arc<SilentConnections>,
    number: u64,
}

impl SilentConnections {
    /// Enters a connection that is served by the task that `spawn` spawns.
    pub(super) fn enter(
        self: &Arc<Self>,
        address: SocketAddr,
        spawn: impl FnOnce(SilentPlace) -> AbortHandle,
    ) {
        let number = {
            let mut list = self.list.lock();
            list.last += 1;
            let number = list.last;
            list.connections.insert(number, Silent { since: Instant::now(), address, task: None });
            number
        };
        // Not locked: a runtime that is shutting down drops the task, and its place with it, before `spawn` returns.
        let task = spawn(SilentPlace { connections: self.clone(), number });
        if let Some(silent) = self.list.lock().connections.get_mut(&number) {
            silent.task = Some(task);
        }
    }

    /// Ends the oldest connection, if it has been silent for `patience`, and says whose it was.
    pub(super) fn evict(&self, patience: Duration) -> Option<SocketAddr> {
        let oldest = {
            let mut list = self.list.lock();
            let oldest = list.connections.first_entry()?;
            if oldest.get().since.elapsed() < patience || oldest.get().task.is_none() {
                return None;
            }
            oldest.remove()
        };
        oldest.task?.abort();
        Some(oldest.address)
    }
}

impl Drop for SilentPlace {
    fn drop(&mut self) {
        self.connections.list.lock().connections.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_is_over_before_it_is_entered_leaves_nothing() {
        let connections = Arc::new(SilentConnections::default());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let handle = runtime.handle().clone();
        // From now on it drops what it is given to spawn.
        drop(runtime);
        connections.enter(SocketAddr::from(([127, 0, 0, 1], 1)), |place| {
            handle.spawn(async move { drop(place) }).abort_handle()
        });
        assert_eq!(connections.evict(Duration::ZERO), None);
        assert!(connections.list.lock().connections.is_empty());
    }
}
