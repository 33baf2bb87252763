//! What processes have used.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

/// The time on a clock that all processes share, and that nobody sets; zero where there is none.
#[must_use]
pub fn monotonic() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from)
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

/// Another process.
#[derive(Debug, Clone, Copy)]
pub struct Process(pub u32);

impl Process {
    /// The one whose command line holds `part` and that runs `program`.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(program: &str, part: &Path) -> Result<Self> {
        let part = part.to_str().context("a path that is not UTF-8")?;
        for entry in std::fs::read_dir("/proc").context("reading /proc")? {
            let entry = entry?;
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            // Processes come and go.
            let Ok(command) = std::fs::read(entry.path().join("cmdline")) else { continue };
            let Ok(name) = std::fs::read_to_string(entry.path().join("comm")) else { continue };
            if name.trim() == program && String::from_utf8_lossy(&command).contains(part) {
                return Ok(Self(pid));
            }
        }
        anyhow::bail!("no process {program} with {part} on its command line")
    }

    /// CPU so far, user and system, of all its threads, those that have ended included; to the nanosecond.
    ///
    /// # Errors
    /// When it is gone.
    pub fn cpu(self) -> Result<Duration> {
        let clock =
            clock_getcpuclockid(Pid::from_raw(i32::try_from(self.0)?)).context("the process is gone")?;
        Ok(clock_gettime(clock).context("the process is gone")?.into())
    }

    /// Seconds of CPU so far, user and system, of all its threads.
    ///
    /// # Errors
    /// When it is gone.
    pub fn cpu_s(self) -> Result<f64> {
        use nix::unistd::{SysconfVar, sysconf};
        let ticks = sysconf(SysconfVar::CLK_TCK)?.context("no clock ticks")? as f64;
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", self.0)).context("the process is gone")?;
        // The name, in parentheses, may hold anything.
        let (_, fields) = stat.rsplit_once(')').context("no name in /proc/PID/stat")?;
        let mut times = fields.split_whitespace().skip(11).map(str::parse::<f64>);
        let mut next = || times.next().context("too few fields in /proc/PID/stat");
        Ok((next()?? + next()??) / ticks)
    }

    /// MiB that are resident now, and that were at most: `VmRSS` and `VmHWM`.
    ///
    /// # Errors
    /// When it is gone.
    pub fn resident_mb(self) -> Result<(f64, f64)> {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.0)).context("the process is gone")?;
        let field = |name: &str| -> Result<f64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).context("no such field")?;
            Ok(line.trim_start_matches(':').split_whitespace().next().context("no number")?.parse::<f64>()?
                / 1024.0)
        };
        Ok((field("VmRSS")?, field("VmHWM")?))
    }
}
