use std::{path::PathBuf, str::FromStr};

use clap::{Args, ValueEnum};

use super::{Properties, Property};
use crate::{input::KeyRule, output::unescape};

const EXAMPLES: &str = "\
Examples:
  milena produce -t quakes --json-key net earthquakes.jsonl     each line a record, keyed by its field `net`
  printf 'us:5.3\\nci:1.1\\n' | milena produce -t quakes -K :     keys before the colon
  milena produce -t logs -z zstd -X linger.ms=50 /var/log/syslog
  milena produce -t load --rate 1000 events.txt                 1,000 records a second";

/// Produce lines as records
///
/// Each line is one record: an empty line too (an empty value), a last line without a newline too. Only the newline is
/// taken off: of a CRLF the CR stays in the record.
///
/// At the end it prints where the records went, and the time from handing a record to the client to its acknowledgement.
/// Records that failed are counted, one line for each distinct error, and the exit code is 1. Ctrl-C stops reading, waits
/// at most 10 s for what is on its way, and prints the totals (exit code 130); a second one gives up at once.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProduceArgs {
    /// The topic; it is created if the cluster creates topics automatically, as the embedded broker does
    #[arg(short, long, value_name = "TOPIC")]
    pub(crate) topic: String,
    /// The file to read, or - for standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// Split each line into key and value at the first SEP (\t, \xNN and the like are understood); a line without SEP is a
    /// value without a key
    #[arg(short = 'K', long, value_name = "SEP", value_parser = separator, conflicts_with = "json_key")]
    key_separator: Option<Separator>,
    /// Lines are JSON objects; the key is this top-level field: a string's text, a number or boolean as written, null for no
    /// key. A line without the field ends the run: what stands before it is produced, the error names the line
    #[arg(long, value_name = "FIELD")]
    json_key: Option<String>,
    /// A header for every record; may be repeated, order and duplicates are kept; without `=` its value is null
    #[arg(short = 'H', long = "header", value_name = "KEY=VALUE")]
    pub(crate) headers: Vec<HeaderArg>,
    /// Compress batches (the same as -X compression.type=CODEC)
    #[arg(short = 'z', long, value_name = "CODEC")]
    compression: Option<Codec>,
    /// The partition, instead of the one that the key (or, without a key, the load) decides
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..))]
    pub(crate) partition: Option<i32>,
    /// Records a second, evenly spaced
    #[arg(long, value_name = "N", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    #[command(flatten)]
    properties: Properties,
}

/// A header as given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeaderArg {
    pub(crate) key: String,
    pub(crate) value: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Codec {
    None,
    Gzip,
    Snappy,
    Lz4,
    Zstd,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Separator(Vec<u8>);

impl ProduceArgs {
    pub(crate) fn key_rule(&self) -> KeyRule {
        match (&self.key_separator, &self.json_key) {
            (Some(separator), _) => KeyRule::Separator(separator.0.clone()),
            (None, Some(field)) => KeyRule::JsonField(field.clone()),
            (None, None) => KeyRule::None,
        }
    }

    /// The producer's settings in the order in which they are to be set.
    pub(crate) fn settings(&self) -> Vec<Property> {
        let codec = self.compression.and_then(|codec| codec.to_possible_value());
        let compression = codec
            .map(|codec| Property { key: "compression.type".to_owned(), value: codec.get_name().to_owned() });
        compression.into_iter().chain(self.properties.properties.iter().cloned()).collect()
    }
}

impl FromStr for HeaderArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').map_or((text, None), |(key, value)| (key, Some(value)));
        if key.is_empty() {
            return Err("expected KEY=VALUE".to_owned());
        }
        Ok(Self { key: key.to_owned(), value: value.map(ToOwned::to_owned) })
    }
}

fn separator(text: &str) -> Result<Separator, String> {
    let bytes = unescape(text)?;
    if bytes.is_empty() {
        return Err("the separator is empty: name at least one character".to_owned());
    }
    if bytes.contains(&b'\n') {
        return Err("a newline ends the record, so it cannot separate key and value".to_owned());
    }
    Ok(Separator(bytes))
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate >= 0.001);
    rate.ok_or_else(|| "expected a number of records a second, at least 0.001".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    fn parse(line: &[&str]) -> Result<ProduceArgs, clap::Error> {
        let all = ["milena", "produce", "-t", "t"].iter().chain(line);
        Cli::try_parse_from(all).map(|cli| match cli.command {
            Command::Produce(args) => args,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn defaults() {
        let args = parse(&[]).unwrap();
        assert_eq!(args.file, PathBuf::from("-"));
        assert_eq!(args.key_rule(), KeyRule::None);
        assert_eq!(args.settings(), []);
    }

    #[test]
    fn separators_are_unescaped() {
        assert_eq!(parse(&["-K", r"\t"]).unwrap().key_rule(), KeyRule::Separator(b"\t".to_vec()));
        assert_eq!(parse(&["-K", "::", "f"]).unwrap().key_rule(), KeyRule::Separator(b"::".to_vec()));
        for bad in ["", r"\n", r"\x"] {
            assert!(parse(&["-K", bad]).is_err(), "{bad}");
        }
        assert!(parse(&["-K", ":", "--json-key", "k"]).is_err(), "one or the other");
    }

    #[test]
    fn headers_keep_their_order_and_their_equal_signs() {
        let args = parse(&["-H", "a=1", "-H", "b", "-H", "a=x=y", "-H", "c="]).unwrap();
        let headers: Vec<_> = args.headers.iter().map(|h| (h.key.as_str(), h.value.as_deref())).collect();
        assert_eq!(headers, [("a", Some("1")), ("b", None), ("a", Some("x=y")), ("c", Some(""))]);
        assert!(parse(&["-H", "=1"]).is_err());
    }

    #[test]
    fn a_property_overrides_the_codec() {
        let settings = parse(&["-X", "compression.type=lz4", "-z", "zstd"]).unwrap().settings();
        let values: Vec<_> = settings.iter().map(|property| property.value.as_str()).collect();
        assert_eq!(values, ["zstd", "lz4"]);
        assert!(parse(&["-z", "brotli"]).is_err());
    }

    #[test]
    fn numbers_are_checked() {
        for bad in [["--rate", "0"], ["--rate", "x"], ["--rate", "inf"], ["-p", "-1"], ["-p", "x"]] {
            assert!(parse(&bad).is_err(), "{bad:?}");
        }
        assert_eq!(parse(&["--rate", "0.5", "-p", "3"]).unwrap().rate, Some(0.5));
    }
}
