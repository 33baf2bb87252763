//! Reads message schemas out of a kafka-clients jar that Maven fetches.

use std::cell::RefCell;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use zip::ZipArchive;

use super::schema::Schema;

const FOLDER: &str = "common/message/";

/// An opened kafka-clients jar.
pub(super) struct Jar {
    archive: RefCell<ZipArchive<File>>,
}

impl Jar {
    /// Fetches the jar of this version into `folder`, unless it is there.
    pub(super) fn fetch(version: &str, folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(format!("kafka-clients-{version}.jar"));
        if !path.exists() {
            let status = Command::new("mvn")
                .args(["-q", "-B", "dependency:copy"])
                .arg(format!("-Dartifact=org.apache.kafka:kafka-clients:{version}"))
                .arg(format!("-DoutputDirectory={}", folder.display()))
                .status()
                .context("run mvn: Maven fetches the jar with the schemas")?;
            ensure!(status.success(), "mvn could not fetch kafka-clients {version}");
        }
        let file = File::open(&path).with_context(|| format!("open {}", path.display()))?;
        let archive = ZipArchive::new(file).with_context(|| format!("read {}", path.display()))?;
        Ok(Self { archive: RefCell::new(archive) })
    }

    /// The schema of this name.
    pub(super) fn schema(&self, name: &str) -> anyhow::Result<Schema> {
        let mut archive = self.archive.borrow_mut();
        let entry = archive.by_name(&format!("{FOLDER}{name}.json"));
        let text = std::io::read_to_string(entry.with_context(|| format!("find the schema {name}"))?)?;
        Schema::parse(&text).with_context(|| format!("parse the schema {name}"))
    }

    /// All schemas.
    pub(super) fn schemas(&self) -> anyhow::Result<Vec<Schema>> {
        let mut schemas = Vec::new();
        let files: Vec<_> = self.archive.borrow().file_names().map(|name| name.map(String::from)).collect();
        for file in files {
            if let Some(name) = file?.strip_prefix(FOLDER).and_then(|name| name.strip_suffix(".json")) {
                schemas.push(self.schema(name)?);
            }
        }
        Ok(schemas)
    }
}
