//! The faults of an [`EmbeddedCluster`]: each is a call that answers a [`FaultGuard`].

use std::sync::Arc;
use std::time::Duration;

use super::{ClusterError, EmbeddedCluster};
use crate::BrokerError;
use crate::faults::{FaultGuard, Intercept, InterceptAction, MachineFault, NetFault, Throttle, Undo};

/// Faults that compose and end with their guards.
///
/// They belong to a broker's place and not to its process: a broker that is killed and restarted finds them as they were.
impl EmbeddedCluster {
    /// A broker's host is gone: packets to it and from it vanish, those of its session too, so that the cluster replaces it
    /// when the session ends. The broker itself goes on, and learns what has happened when the fault ends, as one behind a
    /// switch that was off.
    ///
    /// - Connections that exist fall silent in both directions, with no FIN and no RST, whatever the broker does with its
    ///   end. What is sent to it waits in the kernel, and is handled when the fault ends, not before. (On a real network the
    ///   sender's kernel would keep it.) What the broker had sent before arrives.
    /// - A connect hangs: on Linux the listener's queue is filled up, so the kernel drops each SYN, and the client sits in
    ///   SYN_SENT and tries again after 1 s, 3 s, 7 s. A connection that was made but not yet accepted when the fault began
    ///   is made and silent. Where the system does not let a queue be filled up, all are so.
    ///
    /// # Errors
    /// [`ClusterError::UnknownBroker`].
    pub fn black_hole(&self, id: i32) -> Result<FaultGuard, ClusterError> {
        self.member(id)?;
        Ok(self.net_fault(format!("black hole {id}"), [NetFault::BlackHole(id)]))
    }

    /// Two brokers do not reach each other: no replication between them, and no word of the controller if one of them is
    /// it. Both keep their sessions, and clients reach both.
    ///
    /// # Errors
    /// [`ClusterError::UnknownBroker`]; [`ClusterError::Cluster`] when they are the same.
    pub fn partition(&self, a: i32, b: i32) -> Result<FaultGuard, ClusterError> {
        self.two_members(a, b)?;
        let both = [NetFault::OneWay { from: a, to: b }, NetFault::OneWay { from: b, to: a }];
        Ok(self.net_fault(format!("partition {a} {b}"), both))
    }

    /// As [`partition`](Self::partition), but only what `from` sends to `to` vanishes. That is requests on connections that
    /// `from` has made, answers on the others; and no new connection comes about, because a handshake needs both ways.
    ///
    /// # Errors
    /// As [`partition`](Self::partition).
    pub fn partition_one_way(&self, from: i32, to: i32) -> Result<FaultGuard, ClusterError> {
        self.two_members(from, to)?;
        Ok(self.net_fault(format!("partition {from} -> {to}"), [NetFault::OneWay { from, to }]))
    }

    /// A broker's listeners for clients fall silent as in a [`black_hole`](Self::black_hole), while the brokers reach each
    /// other: the cluster sees no reason to replace it.
    ///
    /// # Errors
    /// [`ClusterError::UnknownBroker`].
    pub fn partition_clients(&self, id: i32) -> Result<FaultGuard, ClusterError> {
        self.member(id)?;
        Ok(self.net_fault(format!("partition clients {id}"), [NetFault::Clients(id)]))
    }

    /// Whatever a broker receives, requests and answers, is late by so much. Bytes on their way do not wait for each other,
    /// so throughput suffers only where somebody waits for an answer, or 4 MiB are on one line.
    ///
    /// # Errors
    /// [`ClusterError::UnknownBroker`].
    pub fn delay(&self, id: i32, by: Duration) -> Result<FaultGuard, ClusterError> {
        self.member(id)?;
        Ok(self.net_fault(format!("delay {id} by {by:?}"), [NetFault::Delay(id, by)]))
    }

    /// All connections of a broker together carry so many bytes a second in each direction, at least 1.
    ///
    /// # Errors
    /// [`ClusterError::UnknownBroker`].
    pub fn throttle(&self, id: i32, bytes_per_second: u64) -> Result<FaultGuard, ClusterError> {
        self.member(id)?;
        let throttle = NetFault::Throttle(id, Arc::new(Throttle::new(bytes_per_second)));
        Ok(self.net_fault(format!("throttle {id} to {bytes_per_second} B/s"), [throttle]))
    }

    /// A broker's disk has no room: every write to it fails. With the first one that does, the broker's log directory is out
    /// of service, as an I/O error takes it out of Kafka's: every partition of the broker is offline, whoever asks for one hears
    /// KAFKA_STORAGE_ERROR, and the controller gives what it led to other replicas in sync. The broker stays a member of the
    /// cluster. Some tenths of a second after the fault's end, or two seconds after that of a long one, it has recovered its
    /// logs, follows, and catches up. (A broker of Kafka whose only log directory has failed halts, and wants to be started.)
    /// One that is killed or stopped meanwhile does not [`restart`](Self::restart) before the fault's end.
    ///
    /// # Errors
    /// [`ClusterError::UnknownBroker`].
    pub fn disk_full(&self, id: i32) -> Result<FaultGuard, ClusterError> {
        self.machine_fault(format!("disk full {id}"), id, MachineFault::DiskFull)
    }

    /// A broker's disk does not sync: an fsync fails. Nobody knows then what is on the disk, so the log directory is out of
    /// service as in [`disk_full`](Self::disk_full), until the fault has ended and the logs were recovered from what is there.
    /// It shows when the broker is to [`restart`](Self::restart), which it cannot, and where there is an fsync, that is with each append under
    /// [`FsyncPolicy::EveryBatch`](crate::FsyncPolicy::EveryBatch), else with each change of a role, in the background and when
    /// a segment is full.
    ///
    /// # Errors
    /// [`ClusterError::UnknownBroker`].
    pub fn fsync_fails(&self, id: i32) -> Result<FaultGuard, ClusterError> {
        self.machine_fault(format!("fsync fails {id}"), id, MachineFault::FsyncFails)
    }

    /// Whatever a broker appends to a log, for a producer or as a follower, waits for its disk for so long, each request of
    /// a connection after the one before it.
    ///
    /// # Errors
    /// [`ClusterError::UnknownBroker`].
    pub fn slow_disk(&self, id: i32, by: Duration) -> Result<FaultGuard, ClusterError> {
        self.machine_fault(format!("slow disk {id} by {by:?}"), id, MachineFault::SlowDisk(by))
    }

    /// A broker's clock is ahead by so many milliseconds, or behind when they are negative. That is the time of day: the
    /// timestamps of records, retention, the age of committed offsets; timeouts go on as they should.
    ///
    /// # Errors
    /// [`ClusterError::UnknownBroker`].
    pub fn clock_skew(&self, id: i32, ms: i64) -> Result<FaultGuard, ClusterError> {
        self.machine_fault(format!("clock skew {id} by {ms} ms"), id, MachineFault::ClockSkew(ms))
    }

    /// Requests that `intercept` means fare as `action` says. When several mean a request, the oldest has its way.
    ///
    /// # Errors
    /// [`ClusterError::UnknownBroker`]; [`ClusterError::Cluster`] when the action is made for another API, or an error is
    /// to be answered by an API that has none, or 0 requests are meant.
    pub fn intercept(
        &self,
        intercept: Intercept,
        action: InterceptAction,
    ) -> Result<FaultGuard, ClusterError> {
        if let Some(id) = intercept.on_broker() {
            self.member(id)?;
        }
        let what = format!("{intercept:?}: {action:?}");
        let begun = self.intercepts.begin(intercept, action);
        let id = begun.map_err(|error| BrokerError::InvalidConfig(error.to_string()))?;
        let intercepts = Arc::downgrade(&self.intercepts);
        let undo: Undo = Box::new(move || {
            if let Some(intercepts) = intercepts.upgrade() {
                intercepts.end(id);
            }
        });
        Ok(FaultGuard::new(what, vec![undo]))
    }

    /// Ends all faults of one broker, be they guarded or kept; those of two brokers count as either's,
    /// and intercepts that are not for one broker alone as nobody's.
    ///
    /// # Errors
    /// [`ClusterError::UnknownBroker`].
    pub fn heal(&self, id: i32) -> Result<(), ClusterError> {
        self.member(id)?.faults.machine.heal();
        self.network.heal(Some(id));
        self.intercepts.heal(Some(id));
        Ok(())
    }

    /// Ends all faults.
    pub fn heal_all(&self) {
        self.network.heal(None);
        self.intercepts.heal(None);
        for member in self.members.values() {
            member.faults.machine.heal();
        }
    }

    /// What is wrong with a broker, in words, for people.
    ///
    /// # Errors
    /// [`ClusterError::UnknownBroker`].
    pub fn faults(&self, id: i32) -> Result<Vec<String>, ClusterError> {
        let mut faults = self.member(id)?.faults.machine.describe();
        faults.extend(self.network.describe(id));
        faults.extend(self.intercepts.describe(id));
        Ok(faults)
    }

    fn two_members(&self, a: i32, b: i32) -> Result<(), ClusterError> {
        self.member(a)?;
        self.member(b)?;
        if a == b {
            let reason = format!("a partition is between two brokers, not between {a} and {b}");
            return Err(BrokerError::InvalidConfig(reason).into());
        }
        Ok(())
    }

    fn machine_fault(&self, what: String, id: i32, fault: MachineFault) -> Result<FaultGuard, ClusterError> {
        let machine = &self.member(id)?.faults.machine;
        let (fault, machine) = (machine.begin(fault), Arc::downgrade(machine));
        let undo: Undo = Box::new(move || {
            if let Some(machine) = machine.upgrade() {
                machine.end(fault);
            }
        });
        Ok(FaultGuard::new(what, vec![undo]))
    }

    fn net_fault(&self, what: String, faults: impl IntoIterator<Item = NetFault>) -> FaultGuard {
        let undo = |fault| -> Undo {
            let (id, network) = (self.network.begin(fault), Arc::downgrade(&self.network));
            Box::new(move || {
                if let Some(network) = network.upgrade() {
                    network.end(id);
                }
            })
        };
        FaultGuard::new(what, faults.into_iter().map(undo).collect())
    }
}
