//! Code generation and checks of the repository: `cargo xtask <command>`.

use clap::Parser;

mod behaviours;
mod codegen;
mod source;
mod tidy;

/// The commands; each one lives in a module of its own.
#[derive(Parser)]
#[command(name = "cargo xtask", about = "Code generation and checks of the repository")]
enum Command {
    /// Writes crates/protocol/src/messages/generated from Kafka's message schemas.
    Codegen(codegen::Args),
    /// Prints each line of docs/behaviours.md with the tests that show it; fails when one has none.
    Behaviours,
    /// Checks what compilers and linters do not see: sizes, left-overs, sleeps in tests, layers, C in the default build.
    Tidy,
}

fn main() -> std::process::ExitCode {
    let outcome = match Command::parse() {
        Command::Codegen(args) => codegen::run(&args),
        Command::Behaviours => behaviours::run(),
        Command::Tidy => tidy::run(),
    };
    match outcome {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            // Findings are for people to read: without the stack that found them.
            #[allow(clippy::print_stderr, reason = "findings are what the command is for")]
            {
                eprintln!("Error: {error:#}");
            }
            std::process::ExitCode::FAILURE
        }
    }
}
