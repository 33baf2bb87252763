//! The embedded broker's own figures: how quickly a cluster starts, what it holds in memory, what a record costs it beside a real Kafka,
//! and what its metadata cache takes. See README.md.

mod cache;
mod cpu;
mod memory;
mod start;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use milena_bench::Process;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

#[derive(Parser)]
#[command(about = "The embedded broker's figures")]
enum Args {
    /// Three brokers from nothing to the first acknowledged produce, in this process, in memory and on disk.
    Start(start::Args),
    /// What `milena broker` has in memory after many records.
    Memory(memory::Args),
    /// CPU of the broker for each record, `milena broker` beside a real Kafka, the same clients in turns.
    Cpu(cpu::Args),
    /// A metadata cache of 100,000 partitions: announced, and looked up while updates run.
    Cache(cache::Args),
}

fn main() -> Result<()> {
    match Args::parse() {
        Args::Start(args) => start::run(&args),
        Args::Memory(args) => memory::run(&args),
        Args::Cpu(args) => cpu::run(&args),
        Args::Cache(args) => cache::run(&args),
    }
}

/// A running `milena broker`, its data in a folder of its own. Dropping it stops it.
struct MilenaBroker {
    child: Child,
    bootstrap: String,
    // Kept open, or its log would have nowhere to go; and after the child, which is gone before its data.
    _said: BufReader<ChildStdout>,
    _data: tempfile::TempDir,
}

impl MilenaBroker {
    fn start(program: &Path, brokers: usize) -> Result<Self> {
        let data = tempfile::tempdir().context("making a folder for the broker")?;
        let mut command = Command::new(program);
        command.args(["broker", "--port", "0", "--data"]).arg(data.path());
        if brokers > 1 {
            command.args(["--brokers", &brokers.to_string()]);
        }
        command.env("RUST_LOG", "error").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("running {}", program.display()))?;
        let mut said = BufReader::new(child.stdout.take().context("the broker's output")?);
        let mut line = String::new();
        said.read_line(&mut line).context("waiting for the broker's address")?;
        let bootstrap = line.trim().to_owned();
        let broker = Self { child, bootstrap, _said: said, _data: data };
        let addresses = broker.bootstrap.split(',').filter(|address| address.contains(':')).count();
        ensure!(addresses == brokers, "`{}` is not what a cluster of {brokers} says", broker.bootstrap);
        Ok(broker)
    }

    fn process(&self) -> Process {
        Process(self.child.id())
    }
}

impl Drop for MilenaBroker {
    fn drop(&mut self) {
        let stopped =
            i32::try_from(self.child.id()).is_ok_and(|id| kill(Pid::from_raw(id), Signal::SIGTERM).is_ok());
        if !stopped {
            _ = self.child.kill();
        }
        _ = self.child.wait();
    }
}

/// The `milena` command: the one given, or that of this source tree, built as its users build it.
fn milena(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = Command::new("cargo");
    command.args(["build", "--release", "--package", "milena-cli", "--bin", "milena"]).current_dir(&root);
    ensure!(command.status().context("running cargo")?.success(), "building milena failed");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("release/milena"))
}
