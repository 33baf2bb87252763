//! The command line: what can be said, its help, and what is refused before anything is started.

mod broker;
mod cluster;
mod consume;
mod metadata;
mod produce;
mod property;
mod topics;

use std::path::PathBuf;

use clap::{
    ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, error::ErrorKind,
    parser::ValueSource,
};

pub(crate) use crate::incident::IncidentArgs;
pub(crate) use broker::BrokerArgs;
pub(crate) use cluster::{ActionArg, ClusterArgs, ClusterCommand, api as intercepted_api};
pub(crate) use consume::{ConsumeArgs, StartOffset};
pub(crate) use metadata::MetadataArgs;
pub(crate) use produce::{HeaderArg, ProduceArgs};
pub(crate) use property::{Properties, Property};
pub(crate) use topics::{CreateArgs, DeleteArgs, DescribeArgs, ListArgs, TopicsCommand};

const EXAMPLES: &str = "\
Examples:
  milena produce -t quakes --json-key net earthquakes.jsonl     to the embedded broker, on ./.milena
  milena consume -t quakes -e                                   back again
  milena -b kafka1:9092,kafka2:9092 produce -t quakes FILE      to a real cluster
  milena broker --data /tmp/kafka --port 9092                   a broker for other programs
  milena broker --brokers 3                                     three of them, which `milena cluster` kills and heals

Exit codes: 0 done, 1 failed (what failed and what to do is on standard error), 2 the command line is wrong, 130 interrupted
before everything was produced.";

/// Apache Kafka's produce path, and a broker, in one command.
///
/// Without a cluster to talk to (-b), every command uses an embedded broker on a data directory (--data): it joins the one
/// that runs there, or starts one for as long as the command takes.
#[derive(Debug, Parser)]
#[command(name = "milena", version, after_help = EXAMPLES, max_term_width = 120)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// What was said on the command line. Help and errors end the process.
    pub(crate) fn from_command_line() -> Self {
        Self::from_matches(&Self::command().get_matches()).unwrap_or_else(|error| error.exit())
    }

    /// # Errors
    /// The command has no use for what was said.
    fn from_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let cli = Self::from_arg_matches(matches)?;
        // What is in the environment is for other commands.
        let is_said = matches.value_source("bootstrap") == Some(ValueSource::CommandLine);
        let own = match cli.command {
            Command::Broker(_) => "`milena broker` runs brokers of its own, on a data directory (--data)",
            Command::Cluster(_) => "`milena cluster` is for the cluster of a data directory (--data)",
            _ => return Ok(cli),
        };
        if is_said && cli.global.bootstrap().is_some() {
            let message = format!("{own}, and not for a bootstrap list: leave -b out\n");
            return Err(Self::command().error(ErrorKind::ArgumentConflict, message));
        }
        Ok(cli)
    }
}

/// Options that every command has.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct Global {
    /// Brokers of a running cluster to start from
    #[arg(short, long, global = true, env = "MILENA_BOOTSTRAP", value_name = "HOST:PORT,…")]
    bootstrap: Option<String>,
    /// The embedded broker's data directory, used when there is no bootstrap list
    #[arg(long, global = true, env = "MILENA_DATA", default_value = "./.milena", value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// Say more on standard error (RUST_LOG says precisely what, e.g. RUST_LOG=milena=debug)
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

impl Global {
    /// The cluster to talk to; an empty list, as from an emptied variable, is none.
    pub(crate) fn bootstrap(&self) -> Option<&str> {
        self.bootstrap.as_deref().filter(|list| !list.trim().is_empty())
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Produce(ProduceArgs),
    Consume(ConsumeArgs),
    #[command(subcommand)]
    Topics(TopicsCommand),
    Metadata(MetadataArgs),
    Broker(BrokerArgs),
    Cluster(ClusterArgs),
    Incident(IncidentArgs),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_options_stand_before_and_after_the_command() {
        for line in ["milena -b a:1 topics list", "milena topics list -b a:1"] {
            let cli = Cli::try_parse_from(line.split(' ')).unwrap();
            assert_eq!(cli.global.bootstrap(), Some("a:1"), "{line}");
        }
        for line in ["milena -b a:1 cluster status", "milena cluster status -b a:1", "milena broker -b a:1"] {
            let matches = Cli::command().try_get_matches_from(line.split(' ')).unwrap();
            let refused = Cli::from_matches(&matches).unwrap_err().to_string();
            assert!(refused.contains("leave -b out"), "{line}: {refused}");
        }
        let cli = Cli::try_parse_from(["milena", "-b", " ", "topics", "list"]).unwrap();
        assert_eq!(cli.global.bootstrap(), None);
    }
}
