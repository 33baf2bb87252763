//! Kafka's jars, brought by Maven on first use and kept under target/.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::process;

/// The version of Apache Kafka that is started.
pub(crate) const VERSION: &str = "4.4.0";

/// Maven downloads about 150 MB on first use.
const PATIENCE: Duration = Duration::from_secs(600);

/// Why no Kafka can be started here, if so.
pub(crate) fn missing() -> Option<&'static str> {
    static MISSING: OnceLock<Option<&'static str>> = OnceLock::new();
    *MISSING.get_or_init(|| {
        let runs = |program: &str| {
            Command::new(program).arg("-version").output().is_ok_and(|out| out.status.success())
        };
        if !runs("java") {
            Some("there is no Java (Debian: apt-get install openjdk-17-jre-headless)")
        } else if folder().is_none_or(|folder| !folder.is_dir()) && !runs("mvn") {
            Some("there is no Maven to bring Kafka's jars (Debian: apt-get install maven)")
        } else {
            None
        }
    })
}

/// The class path of Kafka's broker and tools; brings the jars if they are not there.
pub(crate) fn classpath() -> Result<&'static str> {
    static CLASSPATH: OnceLock<Result<String, String>> = OnceLock::new();
    let classpath = CLASSPATH.get_or_init(|| resolve().map_err(|error| format!("{error:#}")));
    classpath.as_deref().map_err(|error| anyhow::anyhow!("{error}"))
}

fn resolve() -> Result<String> {
    let folder = folder().context("no folder for Kafka's jars")?;
    if !folder.is_dir() {
        download(&folder)?;
    }
    let folder = folder.to_str().context("the path of the jars is not UTF-8")?;
    Ok(format!("{folder}/*"))
}

fn folder() -> Option<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repository.join("target"), PathBuf::from);
    Some(std::path::absolute(target).ok()?.join("kafka-jars").join(VERSION))
}

/// Brings the jars into a folder of this process and moves it into place whole, since several test binaries may be at it.
fn download(folder: &Path) -> Result<()> {
    let parent = folder.parent().context("a folder above that of the jars")?;
    std::fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
    let own = tempfile::Builder::new()
        .prefix("coming-")
        .tempdir_in(parent)
        .context("making a folder for the jars")?;
    let mut maven = Command::new("mvn");
    maven.args(["-q", "-B", "-f", concat!(env!("CARGO_MANIFEST_DIR"), "/pom.xml")]);
    maven.arg(format!("-Dkafka.version={VERSION}")).arg("dependency:copy-dependencies");
    maven.arg(format!("-DoutputDirectory={}", own.path().display()));
    process::run(&mut maven, b"", PATIENCE)?.text().context("bringing Kafka's jars with Maven")?;
    let moved = std::fs::rename(own.keep(), folder);
    ensure!(moved.is_ok() || folder.is_dir(), "moving the jars to {}: {moved:?}", folder.display());
    Ok(())
}
