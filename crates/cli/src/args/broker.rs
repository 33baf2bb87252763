use std::{net::SocketAddr, time::Duration};

use clap::Args;
use milena_broker::FsyncPolicy;

use super::Property;

const EXAMPLES: &str = "\
Examples:
  milena broker                                    on ./.milena, at 127.0.0.1:9092
  milena broker --data /tmp/kafka --port 0         at a port that the system chooses
  milena broker --host 0.0.0.0 --advertise build7  for other machines, which know this one as build7
  milena broker -X num.partitions=6 -X log.retention.ms=3600000
  milena broker --brokers 3                        a cluster, at ports 9092 to 9094; see `milena cluster --help`";

/// Run a broker, or a cluster of several
///
/// Prints one line with its address, or all addresses separated by commas, on standard output when it serves, and its log on standard error. Ctrl-C, SIGTERM and
/// SIGHUP (unless it was started with nohup) shut it down cleanly. While it runs, every `milena` command on the same data directory uses it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BrokerArgs {
    /// How many brokers, each with a directory and a port of its own, with ids from 1 on [default: as many as the data directory
    /// is for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) brokers: Option<i32>,
    /// The port to listen on, the first of as many as there are brokers; 0 lets the system choose
    #[arg(short, long, value_name = "PORT", default_value_t = 9092)]
    pub(crate) port: u16,
    /// The address to listen on
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    pub(crate) host: String,
    /// The host that clients are told to connect to [default: that of --host; localhost if that means every address]
    #[arg(long, value_name = "HOST")]
    pub(crate) advertise: Option<String>,
    /// When an acknowledged record is on the disk: with every-batch before the acknowledgement, with interval=MS within that
    /// time, with os when the system likes. A killed process loses nothing in either case; a power cut may
    #[arg(long, value_name = "POLICY", default_value = "os", value_parser = fsync)]
    pub(crate) fsync: FsyncPolicy,
    /// A broker setting under its Kafka name; may be repeated
    #[arg(short = 'X', long = "property", value_name = "KEY=VALUE")]
    pub(crate) properties: Vec<Property>,
}

impl BrokerArgs {
    /// The host that clients are told, if it is not the address that is listened on.
    pub(crate) fn advertised_host(&self, bind: SocketAddr) -> Option<String> {
        let everywhere = bind.ip().is_unspecified().then(|| "localhost".to_owned());
        let named = self.host.parse::<std::net::IpAddr>().is_err().then(|| self.host.clone());
        self.advertise.clone().or(everywhere).or(named)
    }
}

fn fsync(text: &str) -> Result<FsyncPolicy, String> {
    let interval = |millis: &str| millis.parse().ok().filter(|millis| *millis > 0).map(Duration::from_millis);
    match text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value))) {
        ("every-batch", None) => Some(FsyncPolicy::EveryBatch),
        ("os", None) => Some(FsyncPolicy::Os),
        ("interval", value) => interval(value.unwrap_or("1000")).map(FsyncPolicy::Interval),
        _ => None,
    }
    .ok_or_else(|| "expected every-batch, interval=MILLISECONDS or os".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fsync_policies() {
        assert_eq!(fsync("every-batch"), Ok(FsyncPolicy::EveryBatch));
        assert_eq!(fsync("os"), Ok(FsyncPolicy::Os));
        assert_eq!(fsync("interval"), Ok(FsyncPolicy::Interval(Duration::from_secs(1))));
        assert_eq!(fsync("interval=20"), Ok(FsyncPolicy::Interval(Duration::from_millis(20))));
        for bad in ["", "never", "os=1", "interval=0", "interval=x"] {
            assert!(fsync(bad).is_err(), "{bad}");
        }
    }
}
