//! Clients in other languages: kafka-python, kafkajs, franz-go. Their programs are in `interop/clients`; what they need is brought by pip,
//! npm and Go on first use, in the versions that the files there name, and kept under target/.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::{Program, process};

/// A download on a slow line.
const PATIENCE: Duration = Duration::from_secs(600);

/// A client in another language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Python.
    KafkaPython,
    /// JavaScript.
    KafkaJs,
    /// Go.
    FranzGo,
}

impl Client {
    /// Starts its program: `produce BOOTSTRAP TOPIC` reads numbers and prints `acked PARTITION OFFSET NUMBER`; `consume BOOTSTRAP TOPIC
    /// GROUP` prints `consumed PARTITION OFFSET NUMBER` until its input ends. `None`, with a word about it, where it cannot be had.
    ///
    /// # Errors
    /// When it cannot be started.
    ///
    /// # Panics
    /// When it cannot be had and `MILENA_REQUIRE_CLIENTS=1`.
    pub fn start(self, arguments: &[&str]) -> Result<Option<Program>> {
        match self.prepared() {
            Ok(folder) => {
                let mut command = self.command(folder);
                command.args(arguments);
                Program::start(command).map(Some)
            }
            Err(why) => {
                skip(&format!("{}: {why}", self.name()));
                Ok(None)
            }
        }
    }

    /// The name of its folder.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::KafkaPython => "kafka-python",
            Self::KafkaJs => "kafkajs",
            Self::FranzGo => "franz-go",
        }
    }

    fn source(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(self.name())
    }

    fn command(self, folder: &Path) -> Command {
        match self {
            Self::KafkaPython => {
                let mut python = Command::new("python3");
                python.env("PYTHONPATH", folder).arg(self.source().join("client.py"));
                python
            }
            Self::KafkaJs => {
                let mut node = Command::new("node");
                node.env("NODE_PATH", folder.join("node_modules")).arg(self.source().join("client.js"));
                node
            }
            Self::FranzGo => Command::new(folder.join("client")),
        }
    }

    /// The folder with what it needs; made once. An error says why not.
    fn prepared(self) -> Result<&'static Path, &'static str> {
        static PREPARED: [OnceLock<Result<PathBuf, String>>; 3] =
            [OnceLock::new(), OnceLock::new(), OnceLock::new()];
        let prepared =
            PREPARED[self as usize].get_or_init(|| self.prepare().map_err(|error| format!("{error:#}")));
        prepared.as_deref().map_err(String::as_str)
    }

    fn prepare(self) -> Result<PathBuf> {
        // One at a time: two cores have enough to do.
        static PREPARING: Mutex<()> = Mutex::new(());
        let _preparing = PREPARING.lock().unwrap_or_else(PoisonError::into_inner);
        let (source, folder) = (self.source(), self.folder()?);
        if self == Self::FranzGo {
            // Go itself knows what has changed.
            let mut go = Command::new("go");
            go.current_dir(&source).env("CGO_ENABLED", "0").args(["build", "-o"]).arg(folder.join("client"));
            return prepare(go.arg(".")).map(|()| folder);
        }
        if folder.is_dir() {
            return Ok(folder);
        }
        let parent = folder.parent().context("a folder above the client's")?;
        std::fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
        let own = tempfile::Builder::new().prefix("coming-").tempdir_in(parent).context("making a folder")?;
        if self == Self::KafkaPython {
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]);
            prepare(pip.arg(own.path()).arg("--requirement").arg(source.join("requirements.txt")))?;
        } else {
            for name in ["package.json", "package-lock.json"] {
                std::fs::copy(source.join(name), own.path().join(name)).with_context(|| name.to_owned())?;
            }
            let mut npm = Command::new("npm");
            prepare(npm.current_dir(own.path()).args(["ci", "--silent", "--no-audit", "--no-fund"]))?;
        }
        // Whole into its place, since several test binaries may be at it.
        let moved = std::fs::rename(own.keep(), &folder);
        ensure!(moved.is_ok() || folder.is_dir(), "moving what came to {}: {moved:?}", folder.display());
        Ok(folder)
    }

    /// Another folder for other versions.
    fn folder(self) -> Result<PathBuf> {
        let manifest = match self {
            Self::KafkaPython => "requirements.txt",
            Self::KafkaJs => "package-lock.json",
            Self::FranzGo => "go.sum",
        };
        let content = std::fs::read_to_string(self.source().join(manifest)).context(manifest)?;
        let version =
            content.bytes().fold(0u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the repository")?;
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repository.join("target"), PathBuf::from);
        let clients = std::path::absolute(target).context("the target folder")?.join("clients");
        Ok(clients.join(format!("{}-{version:08x}", self.name())))
    }
}

fn prepare(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    process::run(command, b"", PATIENCE)?.text().with_context(|| format!("preparing it with {program}"))?;
    Ok(())
}

#[allow(clippy::print_stderr, reason = "a skipped test has no other way to say why")]
fn skip(why: &str) {
    let required = std::env::var("MILENA_REQUIRE_CLIENTS").is_ok_and(|value| value == "1");
    assert!(!required, "MILENA_REQUIRE_CLIENTS=1, but {why}");
    eprintln!("skipped: {why}");
}
