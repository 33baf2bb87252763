//! Kafka's jars, brought by Maven on first use and kept under target/.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::process;

/// The version of Apache Kafka that is started, and whose tools are run, unless another is asked for.
pub(crate) const VERSION: &str = "4.4.0";

/// Maven downloads about 150 MB on first use.
const PATIENCE: Duration = Duration::from_secs(600);

/// Why no Kafka of this version can be started here, if so.
pub(crate) fn missing(version: &str) -> Option<&'static str> {
    static PROGRAMS: OnceLock<(bool, bool)> = OnceLock::new();
    let &(java, maven) = PROGRAMS.get_or_init(|| {
        let runs = |program: &str| {
            Command::new(program).arg("-version").output().is_ok_and(|out| out.status.success())
        };
        (runs("java"), runs("mvn"))
    });
    if !java {
        Some("there is no Java (Debian: apt-get install openjdk-17-jre-headless)")
    } else if folder(version).is_none_or(|folder| !folder.is_dir()) && !maven {
        Some("there is no Maven to bring Kafka's jars (Debian: apt-get install maven)")
    } else {
        None
    }
}

/// The class path of Kafka's broker and tools; brings the jars if they are not there.
pub(crate) fn classpath(version: &str) -> Result<String> {
    // Held while the jars come, so that they come once. A failure is kept, too: waiting for the network again helps no test.
    static CLASSPATHS: Mutex<BTreeMap<String, Result<String, String>>> = Mutex::new(BTreeMap::new());
    let mut classpaths = CLASSPATHS.lock().unwrap_or_else(PoisonError::into_inner);
    let classpath = classpaths
        .entry(version.to_owned())
        .or_insert_with(|| resolve(version).map_err(|error| format!("{error:#}")));
    classpath.clone().map_err(|error| anyhow::anyhow!("{error}"))
}

fn resolve(version: &str) -> Result<String> {
    let folder = folder(version).context("no folder for Kafka's jars")?;
    if !folder.is_dir() {
        download(version, &folder)?;
    }
    let folder = folder.to_str().context("the path of the jars is not UTF-8")?;
    Ok(format!("{folder}/*"))
}

fn folder(version: &str) -> Option<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repository.join("target"), PathBuf::from);
    Some(std::path::absolute(target).ok()?.join("kafka-jars").join(version))
}

/// Brings the jars into a folder of this process and moves it into place whole, since several test binaries may be at it.
fn download(version: &str, folder: &Path) -> Result<()> {
    let parent = folder.parent().context("a folder above that of the jars")?;
    std::fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
    let own = tempfile::Builder::new()
        .prefix("coming-")
        .tempdir_in(parent)
        .context("making a folder for the jars")?;
    let mut maven = Command::new("mvn");
    maven.args(["-q", "-B", "-f", concat!(env!("CARGO_MANIFEST_DIR"), "/pom.xml")]);
    maven.arg(format!("-Dkafka.version={version}")).arg("dependency:copy-dependencies");
    maven.arg(format!("-DoutputDirectory={}", own.path().display()));
    process::run(&mut maven, b"", PATIENCE)?.text().context("bringing Kafka's jars with Maven")?;
    let moved = std::fs::rename(own.keep(), folder);
    ensure!(moved.is_ok() || folder.is_dir(), "moving the jars to {}: {moved:?}", folder.display());
    Ok(())
}
