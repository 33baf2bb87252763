//! Writes the protocol crate's messages from the schemas inside Apache Kafka's own kafka-clients jar.

/// Options of `cargo xtask codegen`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write nothing; fail when the committed code differs from what the schemas say.
    #[arg(long)]
    check: bool,
}

/// Generates the code, or compares it with what is committed.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    anyhow::ensure!(!args.check, "nothing has been generated yet");
    Ok(())
}
