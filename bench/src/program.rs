//! The programs that are measured, ours and the peers': how they are built, and run with a bound on their time.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use clap::ValueEnum;

use crate::Process;

/// A client that has programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Client {
    /// Ours.
    Milena,
    /// Go: twmb/franz-go.
    FranzGo,
    /// Java: Apache Kafka's own.
    Java,
    /// C, through rdkafka.
    Librdkafka,
    /// Pure Rust: krafka.
    Krafka,
}

/// What a program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// Sends records, and prints a line of figures.
    Produce,
    /// Two loops on one producer.
    TwoLoops,
    /// Reads a topic.
    Consume,
}

/// A program with its first arguments.
#[derive(Debug, Clone)]
pub struct Program {
    words: Vec<OsString>,
}

impl Client {
    /// As it is called in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Milena => "milena",
            Self::FranzGo => "franz-go",
            Self::Java => "java",
            Self::Librdkafka => "librdkafka",
            Self::Krafka => "krafka",
        }
    }

    /// Its program; a peer's is built from a copy of its folder below `peers`, which may be read-only.
    ///
    /// # Errors
    /// When the client has no such program, or it cannot be built.
    pub fn program(self, does: Does, peers: &Path) -> Result<Program> {
        let here = std::env::current_exe().context("the path of this program")?;
        let here = here.parent().context("the folder of this program")?;
        let copy = here.join("peers").join(self.name());
        let build = |words: &[&str]| build(words, &peers.join(self.name()), &copy);
        let cargo = ["cargo", "build", "--release"];
        match (self, does) {
            (Self::Milena, Does::Produce) => return Ok(Program::new(here.join("ml"))),
            (Self::Milena, Does::TwoLoops) => return Ok(Program::new(here.join("iso"))),
            (Self::Milena, Does::Consume) => return Ok(Program::new(here.join("consume"))),
            (Self::FranzGo, Does::Produce) => build(&["go", "build", "-o", "fg", "."])?,
            (Self::FranzGo, Does::TwoLoops) => build(&["go", "build", "-o", "fgi", "./iso"])?,
            (Self::FranzGo, Does::Consume) => build(&["go", "build", "-o", "fgc", "./consume"])?,
            (Self::Java, _) => {
                let classes = format!("{}:{}", copy.display(), kafka_jars()?);
                build(&["javac", "-cp", &classes, "Jv.java", "Iso.java", "Jc.java"])?;
                let class = match does {
                    Does::Produce => "Jv",
                    Does::TwoLoops => "Iso",
                    Does::Consume => "Jc",
                };
                let quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=error";
                let words = ["java", "-Xmx512m", quiet, "-cp", &classes, class].map(OsString::from);
                return Ok(Program { words: words.into() });
            }
            (Self::Librdkafka | Self::Krafka, _) => build(&cargo)?,
        }
        let program = match (self, does) {
            (Self::FranzGo, Does::Produce) => "fg",
            (Self::FranzGo, Does::TwoLoops) => "fgi",
            (Self::FranzGo, Does::Consume) => "fgc",
            (Self::Librdkafka, Does::Produce) => "target/release/rd",
            (Self::Librdkafka, Does::TwoLoops) => "target/release/iso",
            (Self::Librdkafka | Self::Krafka, Does::Consume) => "target/release/consume",
            (Self::Krafka, Does::Produce) => "target/release/kr",
            (client, does) => bail!("{} has no program for {does:?}", client.name()),
        };
        Ok(Program::new(copy.join(program)))
    }
}

impl Program {
    /// A program without arguments.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { words: vec![path.into()] }
    }

    /// Starts it with these further arguments.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(&self, arguments: &[&str]) -> Result<Running> {
        let (first, more) = self.words.split_first().context("a program without a name")?;
        let mut command = Command::new(first);
        command.args(more).args(arguments).env("LC_ALL", "C");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        let name = first.to_string_lossy().into_owned();
        let mut child = command.spawn().with_context(|| format!("running {name}"))?;
        let (said, complained) = (collect(child.stdout.take()), collect(child.stderr.take()));
        Ok(Running { name, child, started, said, complained })
    }

    /// Runs it to its end, for at most `patience`.
    ///
    /// # Errors
    /// When it fails or does not end; the error holds what it said.
    pub fn run(&self, arguments: &[&str], patience: Duration) -> Result<Ended> {
        self.start(arguments)?.wait(patience)
    }
}

/// A program that runs; killed when this is dropped.
#[derive(Debug)]
pub struct Running {
    name: String,
    child: Child,
    started: Instant,
    said: JoinHandle<String>,
    complained: JoinHandle<String>,
}

/// What a program left behind.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Its standard output.
    pub said: String,
    /// Its standard error.
    pub complained: String,
    /// From its start to its end.
    pub took: Duration,
}

impl Running {
    /// The process.
    #[must_use]
    pub fn process(&self) -> Process {
        Process(self.child.id())
    }

    /// Waits for its end, for at most `patience`.
    ///
    /// # Errors
    /// When it failed or did not end; the error holds what it said.
    pub fn wait(mut self, patience: Duration) -> Result<Ended> {
        let until = Instant::now() + patience;
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break Some(status);
            }
            if Instant::now() >= until {
                break None;
            }
            thread::sleep(Duration::from_millis(2));
        };
        let took = self.started.elapsed();
        // What it said ends with it.
        _ = self.child.kill();
        _ = self.child.wait();
        let take = |reader: &mut JoinHandle<String>| {
            std::mem::replace(reader, thread::spawn(String::new)).join().unwrap_or_default()
        };
        let (said, complained) = (take(&mut self.said), take(&mut self.complained));
        let ended_well = status.is_some_and(|status: ExitStatus| status.success());
        let how = status.map_or_else(|| format!("did not end in {patience:?}"), |status| status.to_string());
        ensure!(ended_well, "{} {how}: {said}\n{complained}", self.name);
        Ok(Ended { said, complained, took })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What came before a failed read is still worth showing.
            _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The class path of Kafka's jars, which milena-interop brings.
fn kafka_jars() -> Result<String> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"), PathBuf::from);
    let jars = target.join("kafka-jars/4.4.0");
    if !jars.is_dir() {
        milena_interop::tools::run("org.apache.kafka.tools.TopicCommand", &["--version"], b"")?;
    }
    Ok(format!("{}/*", std::path::absolute(jars)?.display()))
}

fn build(words: &[&str], source: &Path, copy: &Path) -> Result<()> {
    ensure!(source.is_dir(), "no folder {}; --peers or PEERS says where the peers are", source.display());
    copy_folder(source, copy)?;
    let manifest = copy.join("Cargo.toml");
    if manifest.is_file() {
        // Or cargo takes it for a part of the workspace that it lies in.
        let text = std::fs::read_to_string(&manifest)?;
        if !text.contains("[workspace]") {
            std::fs::write(&manifest, format!("{text}\n[workspace]\n"))?;
        }
    }
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(copy).env_remove("CARGO_TARGET_DIR");
    let status = command.status().with_context(|| format!("running {}", words[0]))?;
    ensure!(status.success(), "building {} failed", source.display());
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("making {}", to.display()))?;
    for entry in std::fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
            continue;
        }
        let bytes = std::fs::read(entry.path())?;
        // Read and written, since a copy would be as read-only as the original; what is the same stays, so that it is not built again.
        if entry.file_name() != "Cargo.toml" && std::fs::read(&target).is_ok_and(|old| old == bytes) {
            continue;
        }
        std::fs::write(&target, bytes).with_context(|| format!("writing {}", target.display()))?;
    }
    Ok(())
}
