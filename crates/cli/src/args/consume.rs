use std::str::FromStr;

use clap::Args;

use super::Properties;
use crate::output::Format;

const EXAMPLES: &str = r"Examples:
  milena consume -t quakes -e                             all that is there, one payload a line
  milena consume -t quakes -o end                         what comes from now on, until Ctrl-C
  milena consume -t quakes -o -10 -e                      the last 10 of each partition
  milena consume -t quakes -o @1517363399650 -c 100       from this time on (milliseconds since 1970, UTC)
  milena consume -t quakes -e -f '%p/%o %k: %s\n'         partition, offset, key and payload
  milena consume -t quakes -e --json | jq -r .key         with jq

Format tokens, as kcat's:
  %s %S %R   payload, its length (-1 for null), its length as a 32-bit big-endian number
  %k %K      key, its length (-1 for null)
  %t %p %o   topic, partition, offset
  %T         timestamp in milliseconds since 1970, UTC
  %h         headers, name=value,name=value
  %%         a percent sign;  \n \r \t \xNN \\  as in C";

/// Consume records
///
/// Prints the records of a topic byte for byte, in order within each partition, without a consumer group: nothing is
/// committed, every run starts where -o says. It ends with -c or -e, by Ctrl-C, or when nobody reads its output any more;
/// the exit code is 0 then.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConsumeArgs {
    /// The topic
    #[arg(short, long, value_name = "TOPIC")]
    pub(crate) topic: String,
    /// Where to start: beginning, end, an offset, -N for the last N of each partition, @MILLISECONDS for a time
    #[arg(short, long, value_name = "OFFSET", default_value = "beginning", allow_hyphen_values = true)]
    pub(crate) offset: StartOffset,
    /// Only this partition
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..))]
    pub(crate) partition: Option<i32>,
    /// Exit after this many records
    #[arg(short, long, value_name = "N")]
    pub(crate) count: Option<u64>,
    /// Exit after the last record that was there when the command started
    #[arg(short, long)]
    pub(crate) exit_at_end: bool,
    /// How to print a record [default: %s\n]
    #[arg(short, long, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<String>,
    /// What a null key or payload is printed as: nothing, unless this is given; NULL by -Z alone
    #[arg(
        short = 'Z',
        long = "null",
        value_name = "TEXT",
        num_args = 0..=1,
        default_missing_value = "NULL",
        require_equals = true,
        conflicts_with = "json"
    )]
    null: Option<String>,
    /// Print one JSON object a line, with topic, partition, offset, tstype, ts, headers, key and payload; what is not UTF-8
    /// is base64, with "key_encoding" or "payload_encoding" beside it
    #[arg(short = 'J', long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) properties: Properties,
}

/// `-o`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartOffset {
    Beginning,
    End,
    /// This very offset.
    At(i64),
    /// So many before the end, in each partition.
    Last(i64),
    /// The first record of this time or later, in milliseconds since 1970.
    Time(i64),
}

impl ConsumeArgs {
    /// How to print; none for JSON.
    ///
    /// # Errors
    /// A format that cannot be understood.
    pub(crate) fn format(&self) -> Result<Option<Format>, String> {
        if self.json {
            return Ok(None);
        }
        let format = self.format.as_deref().unwrap_or(r"%s\n");
        Format::parse(format, self.null.as_deref()).map(Some)
    }
}

impl FromStr for StartOffset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected beginning, end, an offset such as 42, -N, or @MILLISECONDS".to_owned();
        let number = |digits: &str| {
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| digits.parse().ok()).flatten().ok_or_else(expected)
        };
        match text {
            "beginning" => Ok(Self::Beginning),
            "end" => Ok(Self::End),
            _ => match text.split_at_checked(1) {
                Some(("-", count)) => number(count).map(Self::Last),
                Some(("@", millis)) => number(millis).map(Self::Time),
                _ => number(text).map(Self::At),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    fn parse(line: &[&str]) -> Result<ConsumeArgs, clap::Error> {
        let all = ["milena", "consume", "-t", "t"].iter().chain(line);
        Cli::try_parse_from(all).map(|cli| match cli.command {
            Command::Consume(args) => args,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn offsets() {
        let start = |text| parse(&["-o", text]).map(|args| args.offset).ok();
        assert_eq!(parse(&[]).unwrap().offset, StartOffset::Beginning);
        assert_eq!(start("end"), Some(StartOffset::End));
        assert_eq!(start("42"), Some(StartOffset::At(42)));
        assert_eq!(start("-10"), Some(StartOffset::Last(10)));
        assert_eq!(start("@1517363399650"), Some(StartOffset::Time(1_517_363_399_650)));
        for bad in ["", "-", "@", "x", "+1", "--1", "-@1", "1.5", "99999999999999999999", "é"] {
            assert_eq!(start(bad), None, "{bad}");
        }
    }

    #[test]
    fn null_has_a_default_text_and_takes_no_other_argument() {
        assert!(parse(&["-Z", "-e"]).unwrap().null.as_deref() == Some("NULL"));
        assert!(parse(&["--null=-", "-e"]).unwrap().null.as_deref() == Some("-"));
        assert!(parse(&[]).unwrap().null.is_none());
    }

    #[test]
    fn formats() {
        assert_eq!(parse(&[]).unwrap().format(), Format::parse("%s\n", None).map(Some));
        assert_eq!(parse(&["-J"]).unwrap().format(), Ok(None));
        assert!(parse(&["-f", "%z"]).unwrap().format().is_err());
        assert!(parse(&["-f", "%s", "--json"]).is_err());
    }
}
