//! Our own command, as its users run it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::process::{self, Output};

/// How long the command may take here; one that is not done by then hangs.
const PATIENCE: Duration = Duration::from_secs(300);
/// A first build of everything takes minutes, and another cargo may hold the lock of the target folder.
const BUILD_PATIENCE: Duration = Duration::from_secs(900);

/// Runs the `milena` command, of this very source tree, with its data in no place that matters: give it `--bootstrap` or `--data`.
///
/// # Errors
/// When it cannot be built or started, or does not end in time. How it ended is in the output.
pub fn milena(arguments: &[&str], stdin: &[u8]) -> Result<Output> {
    let mut command = Command::new(program()?);
    command.args(arguments);
    for variable in ["MILENA_BOOTSTRAP", "MILENA_DATA", "RUST_LOG"] {
        command.env_remove(variable);
    }
    process::run(&mut command, stdin, PATIENCE).with_context(|| format!("milena {}", arguments.join(" ")))
}

fn program() -> Result<&'static Path> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| build().map_err(|error| format!("{error:#}")));
    program.as_deref().map_err(|error| anyhow::anyhow!("{error}"))
}

/// Cargo tells a test the path of the binaries of its own package only. Of others it tells whoever asks it to build them, which is quick
/// when they are built, and which also gives the command of today and not of an earlier build.
fn build() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(["build", "--quiet", "--package", "milena-cli", "--bin", "milena"]);
    command.args(["--message-format", "json-render-diagnostics"]);
    let said = process::run(&mut command, b"", BUILD_PATIENCE)?.text().context("building milena")?;
    let messages = said.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut executables =
        messages.filter_map(|message| message.get("executable")?.as_str().map(PathBuf::from));
    executables.next().context("cargo built milena and did not say where it is")
}
