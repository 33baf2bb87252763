//! Code generation and checks of the repository: `cargo xtask <command>`.

use clap::Parser;

mod codegen;

/// The commands; each one lives in a module of its own.
#[derive(Parser)]
#[command(name = "cargo xtask", about = "Code generation and checks of the repository")]
enum Command {
    /// Writes crates/protocol/src/messages/generated from Kafka's message schemas.
    Codegen(codegen::Args),
}

fn main() -> anyhow::Result<()> {
    match Command::parse() {
        Command::Codegen(args) => codegen::run(&args),
    }
}
