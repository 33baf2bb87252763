//! What the benchmark programs share: the resources of this process, and the line of figures that each client prints at its end.

use serde::{Deserialize, Serialize};

/// The last line of a produce program, of ours and of the peers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Figures {
    /// Which client.
    pub client: String,
    /// Records to send.
    pub records: u64,
    /// Bytes of each record's value.
    pub size: usize,
    /// Records that were acknowledged.
    pub ok: u64,
    /// Records that failed.
    pub err: u64,
    /// Seconds from the first send to the last outcome.
    pub wall_s: f64,
    /// Acknowledged records per second.
    pub rec_per_s: f64,
    /// Seconds of CPU, user and system, in that time.
    pub cpu_s: f64,
    /// Microseconds of CPU per acknowledged record.
    pub cpu_us_per_rec: f64,
    /// Milliseconds from a record's send to its acknowledgement: the median.
    pub p50_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
    /// The 99.9th percentile.
    pub p999_ms: f64,
    /// The longest.
    pub max_ms: f64,
    /// The most memory that was resident, in MiB.
    pub rss_mb: i64,
}

/// What this process has used so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    /// Seconds of CPU, user and system.
    pub cpu_s: f64,
    /// The most memory that was resident, in MiB.
    pub rss_mb: i64,
}

impl Usage {
    /// As of now.
    #[must_use]
    pub fn now() -> Self {
        use nix::sys::resource::{UsageWho, getrusage};
        use nix::sys::time::TimeValLike as _;
        let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Self::default() };
        let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        Self { cpu_s: micros as f64 / 1e6, rss_mb: usage.max_rss() / 1024 }
    }
}
