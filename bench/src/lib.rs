//! What the benchmark programs share: clusters and their faults, the programs of all clients and what they print, and the resources of
//! processes.

mod check;
pub mod contest;
mod fates;
mod host_down;
mod observe;
pub mod plot;
mod program;
mod report;
mod stage;
mod table;
mod usage;
pub mod wire;

pub use check::{Found, Verdict};
pub use fates::{Fate, Pace, Waits};
pub use host_down::PortDown;
pub use observe::{Observer, Sink};
pub use program::{Client, Does, Ended, Program, Running};
pub use report::{Report, TwoLoops};
pub use stage::{HostDown, On, Stage};
pub use table::{greatest, median, table};
pub use usage::{Process, Usage, monotonic};

/// Where the peers' sources are, when nothing else is said.
pub const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/peers");

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
