use clap::Args;

use super::Properties;

const EXAMPLES: &str = "\
Examples:
  milena metadata                                               nodes, and each partition's leader, epoch and replicas
  milena metadata --watch                                       each refresh: why, how long it took, which leaders moved
  milena metadata --watch -X metadata.max.age.ms=300000         as seldom as a producer refreshes by itself";

/// Show the cluster as the client sees it
///
/// Nodes, leaders, leader epochs, in-sync replicas; the view's version (one more with each successful refresh) and age. With
/// --watch the view is refreshed each second, and each refresh printed with its reason and duration, and the view again when
/// it changed, until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MetadataArgs {
    /// Show only these topics; may be repeated
    #[arg(short, long = "topic", value_name = "TOPIC")]
    pub(crate) topics: Vec<String>,
    /// Go on, and print each refresh
    #[arg(short, long)]
    pub(crate) watch: bool,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) properties: Properties,
}
