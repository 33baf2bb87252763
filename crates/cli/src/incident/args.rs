//! What can be said to `milena incident`.

use std::{fs::OpenOptions, path::PathBuf, time::Duration};

use anyhow::Context as _;
use clap::Args;

use crate::usage_error;

/// request.timeout.ms of Kafka 0.8: what a play is compared with.
pub(super) const REAL_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// topic.metadata.refresh.interval.ms of Kafka 0.8.
const REAL_INTERVAL: Duration = Duration::from_mins(10);

const EXAMPLES: &str = "\
Examples:
  milena incident                                      on three embedded brokers, in less than a minute
  milena incident --request-timeout 1s --interval 1s --duration 10s     ten times as fast
  milena incident --interval never                     what people did about it: the old producer never refreshes
  milena incident -b LIST --fault 'milena cluster black-hole 3' --heal 'milena cluster heal'
                                                       on the LIST of `milena broker --brokers 3`
  milena incident -b kafka1:9092,kafka2:9092,kafka3:9092 --fault 'virsh suspend kafka3' --heal 'virsh resume kafka3'";

/// Play the incident: a broker's host dies, and two producers meet it
///
/// The producer of Kafka 0.8 and Milena's send to all partitions of a topic at the same steady rate. The host of one broker
/// dies: it answers nothing, not even with a RST. The cluster moves its leaderships when its session ends, and all seems
/// well. But whenever topic.metadata.refresh.interval.ms has passed, the old producer refreshes its metadata before it sends,
/// in the same thread, and if the shuffled metadata.broker.list has the dead host first, everything waits for
/// request.timeout.ms.
///
/// Prints what happens as it happens; in between, once a second, the longest that a record had to wait that was acknowledged
/// in this second, or waits still (…). At the end: a table, one sentence, and a plot of the waits over time (--svg). A wait
/// counts from the moment when the record was due, so what queues up behind a send that hangs counts, too.
///
/// Without -b the cluster is embedded, three brokers in memory. With -b, --fault is the command that makes a host of it
/// dead; the topic is made and deleted again.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IncidentArgs {
    /// With -b: the shell command that makes the host of one broker dead
    #[arg(long, value_name = "COMMAND")]
    pub(super) fault: Option<String>,
    /// With -b: the shell command that undoes it; runs at the end, also when the play is interrupted
    #[arg(long, value_name = "COMMAND", requires = "fault")]
    pub(super) heal: Option<String>,
    /// When the host dies [default: after a tenth of the play]
    #[arg(long, value_name = "TIME", value_parser = time)]
    fault_at: Option<Duration>,
    /// How long both producers send, e.g. 50s, 1500ms, 10m
    #[arg(long, value_name = "TIME", default_value = "50s", value_parser = time)]
    pub(super) duration: Duration,
    /// The old producer's topic.metadata.refresh.interval.ms (Kafka: 10m), or `never`
    #[arg(long, value_name = "TIME", default_value = "4s", value_parser = interval)]
    pub(super) interval: Interval,
    /// The old producer's request.timeout.ms (Kafka: 10s). Another one shortens, or lengthens, the embedded cluster's session
    /// (6s) and Milena's request.timeout.ms (30s) in the same proportion
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    pub(super) request_timeout: Duration,
    /// Records a second, for each of the producers
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) rate: u32,
    /// What the order follows from in which the old producer asks the brokers. With the default, the default play shows
    /// refreshes that ask the dead host first and refreshes that do not; in the field it is one in three
    #[arg(long, value_name = "N", default_value_t = 14)]
    pub(super) seed: u64,
    /// The topic; one that exists is used as it is
    #[arg(short, long, default_value = "milena-incident")]
    pub(super) topic: String,
    /// Where the plot goes
    #[arg(long, value_name = "FILE", default_value = "./incident.svg")]
    pub(super) svg: PathBuf,
}

/// None is never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval(pub(super) Option<Duration>);

impl IncidentArgs {
    pub(super) fn fault_at(&self) -> Duration {
        self.fault_at.unwrap_or(self.duration / 10)
    }

    /// Finds what would be found only when the play is over.
    ///
    /// # Errors
    /// The fault comes too late, or the plot cannot be written.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let (fault_at, duration) = (self.fault_at(), self.duration);
        if fault_at >= duration {
            let reason = format!(
                "--fault-at {fault_at:?} is not before the end of the play (--duration {duration:?})"
            );
            return Err(usage_error(reason));
        }
        let is_new = !self.svg.exists();
        let opened = OpenOptions::new().append(true).create(true).open(&self.svg);
        opened.with_context(|| format!("cannot write {} (--svg)", self.svg.display()))?;
        if is_new {
            std::fs::remove_file(&self.svg)?;
        }
        Ok(())
    }

    /// A time of the real incident, on this play's scale.
    pub(super) fn scaled(&self, real: Duration) -> Duration {
        real.mul_f64(self.request_timeout.div_duration_f64(REAL_REQUEST_TIMEOUT))
    }

    /// What is not as it was in the field, if anything.
    pub(super) fn scale(&self) -> Option<String> {
        let mut parts = Vec::new();
        match self.interval.0 {
            None => parts.push("topic.metadata.refresh.interval.ms is negative instead of 10 min".to_owned()),
            Some(interval) if interval != REAL_INTERVAL => {
                parts.push(format!("topic.metadata.refresh.interval.ms is {interval:?} instead of 10 min"));
            }
            Some(_) => {}
        }
        if self.request_timeout != REAL_REQUEST_TIMEOUT {
            let factor = REAL_REQUEST_TIMEOUT.div_duration_f64(self.request_timeout);
            parts.push(format!(
                "request.timeout.ms is {:?} instead of 10 s (read each second as {factor})",
                self.request_timeout
            ));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit.trim() {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        _ => 0.0,
    };
    let time = number.parse().ok().map(|number: f64| number * seconds);
    time.filter(|time| (0.001..=86_400.0).contains(time))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "expected a time such as 500ms, 10s or 2m".to_owned())
}

fn interval(text: &str) -> Result<Interval, String> {
    match text {
        "never" => Ok(Interval(None)),
        _ => time(text).map(|time| Interval(Some(time))).map_err(|error| format!("{error}, or never")),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    fn parse(line: &[&str]) -> Result<IncidentArgs, clap::Error> {
        let all = ["milena", "incident"].iter().chain(line);
        Cli::try_parse_from(all).map(|cli| match cli.command {
            Command::Incident(args) => args,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn by_default_a_second_is_a_second_and_it_takes_less_than_a_minute() {
        let args = parse(&[]).unwrap();
        assert_eq!(args.request_timeout, REAL_REQUEST_TIMEOUT);
        assert_eq!(args.scaled(Duration::from_secs(9)), Duration::from_secs(9));
        assert_eq!(args.fault_at(), Duration::from_secs(5));
        assert!(args.duration < Duration::from_secs(55));
        let scale = args.scale().unwrap();
        assert_eq!(scale, "topic.metadata.refresh.interval.ms is 4s instead of 10 min");
        assert_eq!(parse(&["--interval", "10m"]).unwrap().scale(), None);
    }

    #[test]
    fn a_shorter_request_timeout_shortens_the_rest_and_says_so() {
        let args = parse(&["--request-timeout", "500ms", "--interval", "never"]).unwrap();
        assert_eq!(args.scaled(Duration::from_secs(9)), Duration::from_millis(450));
        let scale = args.scale().unwrap();
        assert!(scale.contains("negative") && scale.contains("500ms instead of 10 s"), "{scale}");
        assert!(scale.ends_with("(read each second as 20)"), "{scale}");
    }

    #[test]
    fn times() {
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(time("1.5 s"), Ok(Duration::from_millis(1500)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        for bad in ["", "5", "s", "-1s", "1h", "0s", "1e9s", "2000000s", "inf"] {
            assert!(time(bad).is_err(), "{bad}");
        }
        assert_eq!(interval("never"), Ok(Interval(None)));
        assert!(interval("-1").is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for bad in [&["--rate", "0"][..], &["--heal", "x"], &["--duration", "5"]] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
