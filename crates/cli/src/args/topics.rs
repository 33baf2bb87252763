use clap::{Args, Subcommand};

use super::{Properties, Property};

/// List, create, describe and delete topics
#[derive(Debug, Subcommand)]
pub(crate) enum TopicsCommand {
    /// List the topics
    List(ListArgs),
    /// Create a topic
    Create(CreateArgs),
    /// Show partitions, leaders, epochs, replicas, in-sync replicas, and settings that differ from the default
    Describe(DescribeArgs),
    /// Delete topics, at once and for good
    Delete(DeleteArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Also Kafka's own topics, such as __consumer_offsets
    #[arg(short, long)]
    pub(crate) all: bool,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) properties: Properties,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  milena topics create -t quakes -p 6 -c retention.ms=86400000")]
pub(crate) struct CreateArgs {
    /// The topic's name
    #[arg(short, long, value_name = "TOPIC")]
    pub(crate) topic: String,
    /// Partitions [default: the cluster's num.partitions]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) partitions: Option<i32>,
    /// Replicas of each partition [default: the cluster's default.replication.factor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(i16).range(1..))]
    pub(crate) replication_factor: Option<i16>,
    /// A setting of the topic; may be repeated
    #[arg(short, long = "config", value_name = "KEY=VALUE")]
    pub(crate) configs: Vec<Property>,
    #[command(flatten)]
    pub(crate) properties: Properties,
}

#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    /// The topics; all but Kafka's own if none is named
    #[arg(value_name = "TOPIC")]
    topics: Vec<String>,
    /// The same as naming it without -t
    #[arg(short, long = "topic", value_name = "TOPIC")]
    topic: Vec<String>,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) properties: Properties,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The topics
    #[arg(value_name = "TOPIC", required_unless_present = "topic")]
    topics: Vec<String>,
    /// The same as naming it without -t
    #[arg(short, long = "topic", value_name = "TOPIC")]
    topic: Vec<String>,
    #[command(flatten)]
    pub(crate) properties: Properties,
}

impl DescribeArgs {
    pub(crate) fn topics(&self) -> Vec<&str> {
        self.topics.iter().chain(&self.topic).map(String::as_str).collect()
    }
}

impl DeleteArgs {
    pub(crate) fn topics(&self) -> Vec<&str> {
        self.topics.iter().chain(&self.topic).map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    fn parse(line: &str) -> Result<TopicsCommand, clap::Error> {
        Cli::try_parse_from(format!("milena topics {line}").split(' ')).map(|cli| match cli.command {
            Command::Topics(command) => command,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn topics_are_named_with_and_without_the_option() {
        let Ok(TopicsCommand::Delete(args)) = parse("delete a -t b") else { panic!("delete") };
        assert_eq!(args.topics(), ["a", "b"]);
        let Ok(TopicsCommand::Describe(args)) = parse("describe") else { panic!("describe") };
        assert_eq!(args.topics(), [""; 0]);
        assert!(parse("delete").is_err(), "nothing is deleted by default");
    }

    #[test]
    fn creation() {
        let Ok(TopicsCommand::Create(args)) = parse("create -t q -p 6 -r 1 -c a=1 -c b=2") else {
            panic!("create")
        };
        assert_eq!((args.partitions, args.replication_factor), (Some(6), Some(1)));
        assert_eq!(args.configs.len(), 2);
        for bad in ["create", "create -t q -p 0", "create -t q -r 0", "create -t q -c a"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
