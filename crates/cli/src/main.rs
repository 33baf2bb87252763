//! The `milena` command. Start reading at [`args`] (what can be said), then [`cluster`] (whom the commands talk to), then the
//! commands: [`produce`], [`consume`], [`topics`], [`metadata_cmd`], [`broker_cmd`], [`cluster_cmd`], [`incident`].
#![forbid(unsafe_code)]

mod args;
mod broker_cmd;
mod client;
mod cluster;
mod cluster_cmd;
mod consume;
mod incident;
mod input;
mod metadata_cmd;
mod output;
mod produce;
mod signals;
mod silence;
mod topics;

use std::{
    error::Error,
    io::{self, Write as _},
    process::ExitCode,
};

use tracing_subscriber::EnvFilter;

use crate::args::{Cli, Command, Global};

/// The command line, or a setting in it, is wrong: exit code 2, as for what the parser refuses.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UsageError(Box<dyn Error + Send + Sync>);

/// A [`UsageError`] for this reason.
pub(crate) fn usage_error(reason: impl Into<Box<dyn Error + Send + Sync>>) -> anyhow::Error {
    UsageError(reason.into()).into()
}

/// How a command ended that did what it could.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// Records failed; the command has said which.
    Failed,
    /// By Ctrl-C, SIGTERM or SIGHUP, before everything was done.
    Interrupted,
}

fn main() -> ExitCode {
    let cli = Cli::from_command_line();
    init_log(&cli);
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| {
            let outcome = runtime.block_on(run(cli));
            // A thread that reads a terminal, or hangs in the resolver, must not keep the process.
            runtime.shutdown_background();
            outcome
        });
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::FAILURE,
        Ok(Outcome::Interrupted) => ExitCode::from(130),
        Err(error) => {
            say(&in_one_line(&error));
            ExitCode::from(if error.is::<UsageError>() { 2 } else { 1 })
        }
    }
}

async fn run(cli: Cli) -> anyhow::Result<Outcome> {
    let Cli { global, command } = cli;
    match command {
        Command::Produce(args) => produce::run(&global, &args).await,
        Command::Consume(args) => consume::run(&global, &args).await,
        Command::Topics(command) => topics::run(&global, &command).await,
        Command::Metadata(args) => metadata_cmd::run(&global, &args).await,
        Command::Broker(args) => broker_cmd::run(&global, &args).await,
        Command::Cluster(args) => cluster_cmd::run(&global, args).await,
        Command::Incident(args) => incident::run(&global, &args).await,
    }
}

/// An error and its causes; a cause that its effect has told already is not told again.
pub(crate) fn in_one_line(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(|cause| cause.to_string().replace('\n', " ")) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// One line on standard error, in the command's name.
pub(crate) fn say(text: &str) {
    // When standard error is closed there is nobody to tell.
    let _ = writeln!(io::stderr(), "milena: {text}");
}

fn init_log(cli: &Cli) {
    let default = match (&cli.command, &cli.global) {
        (_, Global { verbose: true, .. }) => "info,milena=debug,milena_core=debug,milena_broker=debug",
        (Command::Broker(_), _) => "info",
        // What recovery cut off an embedded broker's log is nowhere else to be seen.
        _ => "error,milena_storage=warn",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    // A terminal that is gone takes no line, and no word about that either, which would be a panic.
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    log.log_internal_errors(false).init();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let error =
            anyhow::anyhow!("the disk is full").context("x.log: the disk is full").context("cannot write");
        assert_eq!(in_one_line(&error), "cannot write: x.log: the disk is full");
    }
}
