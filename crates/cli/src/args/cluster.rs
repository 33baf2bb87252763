use clap::{Args, Subcommand};
use milena_protocol::{ApiKey, ErrorCode};
use serde::{Deserialize, Serialize};

const EXAMPLES: &str = "\
Examples:
  milena broker --brokers 3 &                      a cluster on ./.milena
  milena cluster status                            who runs, who leads, what is wrong with whom
  milena cluster kill 2                            as kill -9; `restart 2` brings it back on its port
  milena cluster black-hole 1                      its host is gone: no answer, no RST; `heal 1` ends it
  milena cluster intercept Produce error=NOT_ENOUGH_REPLICAS --broker 3 --times 1

Faults stay until they are healed, also when the broker is killed and restarted. Two faults of one kind add up.

Programs may say the same on the Unix socket that DIR/milena.control names: a JSON object a line, such as
{\"command\":\"kill\",\"broker\":2}, is answered with a line, {\"ok\":true} or {\"ok\":false,\"error\":\"...\"}; a \"note\" says what to know about it.";

/// Kill, pause, cut off and heal the brokers of a running `milena broker --brokers N`
///
/// The cluster is that of the data directory (--data).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ClusterArgs {
    #[command(subcommand)]
    pub(crate) command: ClusterCommand,
    /// How long the cluster may take to do it, in milliseconds, or with a unit: 200ms, 2s
    #[arg(long, global = true, value_name = "TIME", default_value = "30s", value_parser = millis)]
    pub(crate) timeout: u64,
}

/// What is asked of a cluster, on the command line and on its control socket.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum ClusterCommand {
    /// Show the brokers: who runs, who is the controller, who leads how many partitions, what is wrong with whom
    Status {
        /// One JSON object a line
        #[arg(long)]
        #[serde(skip)]
        json: bool,
    },
    /// End a broker as kill -9 ends a process; its port refuses connections
    Kill { broker: i32 },
    /// Shut a broker down in order: its leaderships move first
    Stop { broker: i32 },
    /// Start a broker that was killed or stopped, on its files and its port
    Restart { broker: i32 },
    /// Hold a broker as SIGSTOP holds a process
    Pause { broker: i32 },
    /// Let a paused broker go on
    Resume { broker: i32 },
    /// A broker's host is gone: packets to it and from it vanish, and connects hang
    BlackHole { broker: i32 },
    /// Two brokers do not reach each other
    Partition {
        #[arg(value_name = "BROKER")]
        a: i32,
        #[arg(value_name = "BROKER")]
        b: i32,
        /// Only what the first sends to the second vanishes
        #[arg(long)]
        #[serde(default)]
        one_way: bool,
    },
    /// Clients do not reach a broker; the other brokers do
    PartitionClients { broker: i32 },
    /// What a broker receives is late
    Delay {
        broker: i32,
        /// Milliseconds, or with a unit: 200ms, 2s
        #[arg(value_parser = millis)]
        ms: u64,
    },
    /// A broker's connections together carry so much in each direction
    Throttle {
        broker: i32,
        #[arg(value_parser = clap::value_parser!(u64).range(1..))]
        bytes_per_second: u64,
    },
    /// A broker's disk has no room: from its next write until it is healed, it serves no partition, and others lead
    DiskFull { broker: i32 },
    /// A broker's disk does not sync: from its next sync until it is healed, it serves no partition. It shows where the
    /// brokers run with --fsync every-batch or interval=MS
    FsyncFails { broker: i32 },
    /// What a broker appends takes longer
    SlowDisk {
        broker: i32,
        /// Milliseconds, or with a unit: 200ms, 2s
        #[arg(value_parser = millis)]
        ms: u64,
    },
    /// A broker's clock is ahead, or behind
    ClockSkew {
        broker: i32,
        /// Milliseconds; negative when it is behind
        #[arg(allow_negative_numbers = true)]
        ms: i64,
    },
    /// Single requests fare otherwise
    Intercept {
        /// Kafka's name of the API, such as Produce
        #[arg(value_parser = api_name)]
        api: String,
        /// error=NAME, delay=MS, lose-request, lose-answer or disconnect
        #[arg(value_parser = action)]
        action: String,
        /// Only those of this client
        #[arg(long, value_name = "ID")]
        client_id: Option<String>,
        /// Only those to this broker
        #[arg(long, value_name = "BROKER")]
        broker: Option<i32>,
        /// Only the first so many
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        times: Option<u64>,
    },
    /// End the faults of one broker, or all faults; killed and paused brokers stay as they are
    Heal { broker: Option<i32> },
}

fn millis(text: &str) -> Result<u64, String> {
    let (number, factor) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => text.strip_suffix('s').map_or((text, 1), |number| (number, 1000)),
    };
    let millis = number.parse().ok().and_then(|number: u64| number.checked_mul(factor));
    millis.ok_or_else(|| "expected milliseconds, or a number with ms or s behind it".to_owned())
}

/// What becomes of intercepted requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ActionArg {
    Error(ErrorCode),
    Delay(u64),
    LoseRequest,
    LoseAnswer,
    Disconnect,
}

impl ActionArg {
    /// # Errors
    /// It is none; the text says what is.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let expected = || "expected error=NAME, delay=MS, lose-request, lose-answer or disconnect".to_owned();
        match text.split_once('=') {
            Some(("error", name)) => {
                let found = ErrorCode::ALL.iter().find(|code| code.name().eq_ignore_ascii_case(name));
                found.map(|code| Self::Error(*code)).ok_or_else(|| {
                    format!("Kafka has no error {name}; its errors have names such as NOT_ENOUGH_REPLICAS")
                })
            }
            Some(("delay", by)) => millis(by).map(Self::Delay),
            None if text == "lose-request" => Ok(Self::LoseRequest),
            None if text == "lose-answer" => Ok(Self::LoseAnswer),
            None if text == "disconnect" => Ok(Self::Disconnect),
            _ => Err(expected()),
        }
    }
}

fn action(text: &str) -> Result<String, String> {
    ActionArg::parse(text).map(|_| text.to_owned())
}

/// # Errors
/// Kafka has no such API.
pub(crate) fn api(name: &str) -> Result<ApiKey, String> {
    let found = ApiKey::ALL.iter().find(|api| api.name().eq_ignore_ascii_case(name));
    found.copied().ok_or_else(|| format!("Kafka has no API {name}; its APIs have names such as Produce"))
}

fn api_name(name: &str) -> Result<String, String> {
    api(name).map(|api| api.name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_actions() {
        assert_eq!(millis("200"), Ok(200));
        assert_eq!(millis("200ms"), Ok(200));
        assert_eq!(millis("2s"), Ok(2000));
        assert!(millis("2h").is_err() && millis("").is_err() && millis("-1").is_err());
        assert_eq!(
            ActionArg::parse("error=not_enough_replicas"),
            Ok(ActionArg::Error(ErrorCode::NOT_ENOUGH_REPLICAS))
        );
        assert_eq!(ActionArg::parse("delay=1s"), Ok(ActionArg::Delay(1000)));
        for bad in ["error=NO", "error", "delay", "disconnect=1", ""] {
            assert!(ActionArg::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(api_name("produce"), Ok("Produce".to_owned()));
        assert!(api_name("Product").is_err());
    }

    #[test]
    fn what_is_said_on_the_socket_has_the_names_of_the_command_line() {
        let said: ClusterCommand = serde_json::from_str(r#"{"command":"black-hole","broker":2}"#).unwrap();
        assert_eq!(said, ClusterCommand::BlackHole { broker: 2 });
        let said: ClusterCommand = serde_json::from_str(r#"{"command":"partition","a":1,"b":2}"#).unwrap();
        assert_eq!(said, ClusterCommand::Partition { a: 1, b: 2, one_way: false });
        let said: ClusterCommand = serde_json::from_str(r#"{"command":"heal"}"#).unwrap();
        assert_eq!(said, ClusterCommand::Heal { broker: None });
        assert!(serde_json::from_str::<ClusterCommand>(r#"{"command":"kill"}"#).is_err());
    }
}
