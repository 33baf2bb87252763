//! [`Machine`]: what a broker runs on, its disk and its clock; and what is wrong with them.

use std::collections::BTreeMap;
use std::time::Duration;

use milena_storage::fs::DiskFaults;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::network::FaultId;
use crate::clock::{Clock, FOR_EVER};

/// Something that is wrong with a machine.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MachineFault {
    /// The disk has no room.
    DiskFull,
    /// The disk does not sync.
    FsyncFails,
    /// What is appended takes so much longer.
    SlowDisk(Duration),
    /// The clock is wrong by so many milliseconds.
    ClockSkew(i64),
}

/// The machine of one broker, in all its lives.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    pub(crate) disk: DiskFaults,
    pub(crate) clock: Clock,
    append_delay: watch::Sender<Duration>,
    faults: Mutex<(FaultId, BTreeMap<FaultId, MachineFault>)>,
}

impl Machine {
    pub(crate) fn begin(&self, fault: MachineFault) -> FaultId {
        let (last, faults) = &mut *self.faults.lock();
        *last += 1;
        faults.insert(*last, fault);
        self.obey(faults);
        *last
    }

    pub(crate) fn end(&self, id: FaultId) {
        let (_, faults) = &mut *self.faults.lock();
        faults.remove(&id);
        self.obey(faults);
    }

    pub(crate) fn heal(&self) {
        let (_, faults) = &mut *self.faults.lock();
        faults.clear();
        self.obey(faults);
    }

    pub(crate) fn describe(&self) -> Vec<String> {
        let describe = |fault: &MachineFault| match fault {
            MachineFault::DiskFull => "disk full".to_owned(),
            MachineFault::FsyncFails => "fsync fails".to_owned(),
            MachineFault::SlowDisk(by) => format!("disk slow by {by:?}"),
            MachineFault::ClockSkew(ms) => format!("clock wrong by {ms} ms"),
        };
        self.faults.lock().1.values().map(describe).collect()
    }

    /// Waits as long as the disk makes an append wait. Not in the file system, which must not hold up the runtime's threads:
    /// they are the other brokers' too.
    pub(crate) async fn before_append(&self) {
        if self.append_delay.borrow().is_zero() {
            return;
        }
        let (started, mut delay) = (Instant::now(), self.append_delay.subscribe());
        loop {
            let until = started + *delay.borrow_and_update();
            if timeout_at(until, delay.changed()).await.is_err() {
                return;
            }
        }
    }

    fn obey(&self, faults: &BTreeMap<FaultId, MachineFault>) {
        let faults = || faults.values();
        self.disk.set_full(faults().any(|fault| matches!(fault, MachineFault::DiskFull)));
        self.disk.set_failing_syncs(faults().any(|fault| matches!(fault, MachineFault::FsyncFails)));
        let mut slow = Duration::ZERO;
        let mut skew = 0_i64;
        for fault in faults() {
            match fault {
                MachineFault::SlowDisk(by) => slow = slow.saturating_add(*by).min(FOR_EVER),
                MachineFault::ClockSkew(ms) => skew = skew.saturating_add(*ms),
                MachineFault::DiskFull | MachineFault::FsyncFails => {}
            }
        }
        self.append_delay.send_replace(slow);
        self.clock.set_skew(skew);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_disk_that_is_slow_for_ever_is_until_it_is_healed() {
        let machine = Machine::default();
        for _ in 0..2 {
            machine.begin(MachineFault::SlowDisk(Duration::MAX));
        }
        let heal = async {
            tokio::task::yield_now().await;
            machine.heal();
        };
        tokio::join!(machine.before_append(), heal);
    }
}
