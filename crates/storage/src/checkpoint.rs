//! The small text files of a log directory, in Kafka's formats and written so that a crash leaves the old or the new.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use milena_protocol::Uuid;

use crate::TopicPartition;
use crate::error::{IoContext, Result, StorageError};
use crate::fs::{FileSystem, read_file, write_file_atomically};

/// Offsets up to which each log is known to be on disk.
pub const RECOVERY_POINT_FILE: &str = "recovery-point-offset-checkpoint";
/// High watermarks.
pub const HIGH_WATERMARK_FILE: &str = "replication-offset-checkpoint";
/// Log start offsets that DeleteRecords moved beyond the first segment's.
pub const LOG_START_OFFSET_FILE: &str = "log-start-offset-checkpoint";
/// Offsets up to which each log was compacted.
pub const CLEANER_OFFSET_FILE: &str = "cleaner-offset-checkpoint";
/// Says that the broker closed its logs; removed when they are opened.
pub const CLEAN_SHUTDOWN_FILE: &str = ".kafka_cleanshutdown";
/// Which cluster and node a directory belongs to.
pub const META_PROPERTIES_FILE: &str = "meta.properties";
/// Which topic id a log belongs to.
pub const PARTITION_METADATA_FILE: &str = "partition.metadata";

/// A million partitions with long names fit; anything larger is no checkpoint.
const MAX_FILE_BYTES: usize = 256 * 1024 * 1024;

/// Writes an offset checkpoint: the version 0, the number of lines, `topic partition offset` a line
/// (Kafka: `OffsetCheckpointFile`).
///
/// # Errors
/// When the file system fails.
pub fn write_offsets(
    fs: &dyn FileSystem,
    path: &Path,
    offsets: &BTreeMap<TopicPartition, i64>,
) -> Result<()> {
    let mut text = format!("0\n{}\n", offsets.len());
    for (TopicPartition { topic, partition }, offset) in offsets {
        let _ = writeln!(text, "{topic} {partition} {offset}");
    }
    write_file_atomically(fs, path, text.as_bytes()).at(path)
}

/// Reads an offset checkpoint; a missing file has no offsets.
///
/// # Errors
/// When the file is broken or the file system fails.
pub fn read_offsets(fs: &dyn FileSystem, path: &Path) -> Result<BTreeMap<TopicPartition, i64>> {
    let mut offsets = BTreeMap::new();
    for line in read_checkpoint(fs, path)? {
        let mut words = line.split_whitespace();
        let topic = words.next().map(str::to_owned);
        let partition = words.next().and_then(|word| word.parse().ok());
        let offset = words.next().and_then(|word| word.parse().ok());
        match (topic, partition, offset, words.next()) {
            (Some(topic), Some(partition), Some(offset), None) => {
                offsets.insert(TopicPartition::new(topic, partition), offset);
            }
            _ => return Err(StorageError::broken(path, format!("{line:?} is no `topic partition offset`"))),
        }
    }
    Ok(offsets)
}

/// The lines of a checkpoint of version 0 after version and count, checked against the count.
pub(crate) fn read_checkpoint(fs: &dyn FileSystem, path: &Path) -> Result<Vec<String>> {
    let Some(text) = read_text(fs, path)? else { return Ok(Vec::new()) };
    let mut lines = text.lines();
    if lines.next().map(str::trim) != Some("0") {
        return Err(StorageError::broken(path, "the first line is not the version 0"));
    }
    let expected: usize = lines
        .next()
        .and_then(|line| line.trim().parse().ok())
        .ok_or_else(|| StorageError::broken(path, "the second line is no count"))?;
    let lines: Vec<_> = lines.filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
    if lines.len() == expected {
        Ok(lines)
    } else {
        Err(StorageError::broken(path, format!("{expected} lines announced, {} there", lines.len())))
    }
}

/// Reads a text file; `None` if it is missing.
pub(crate) fn read_text(fs: &dyn FileSystem, path: &Path) -> Result<Option<String>> {
    let bytes = match read_file(fs, path, MAX_FILE_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.at(path)?,
    };
    let text =
        String::from_utf8(bytes.to_vec()).map_err(|_| StorageError::broken(path, "it is no UTF-8 text"))?;
    Ok(Some(text))
}

/// `meta.properties`: which cluster and node a log directory belongs to (KIP-631; version 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaProperties {
    /// The cluster's id.
    pub cluster_id: String,
    /// The broker's id.
    pub node_id: i32,
    /// The directory's id (KIP-858).
    pub directory_id: Uuid,
}

impl MetaProperties {
    /// Reads the file; `None` if it is missing.
    ///
    /// # Errors
    /// When the file is broken, naming the property, or the file system fails.
    pub fn read(fs: &dyn FileSystem, path: &Path) -> Result<Option<Self>> {
        let Some(text) = read_text(fs, path)? else { return Ok(None) };
        let properties = parse_properties(&text);
        let get = |key: &str| properties.get(key).copied();
        let broken = |key: &str| StorageError::broken(path, format!("{key} is missing or not valid"));
        if let Some(version) = get("version").filter(|version| !["0", "1"].contains(version)) {
            let reason = format!("version {version} where 0 and 1 are known");
            return Err(StorageError::broken(path, reason));
        }
        Ok(Some(Self {
            cluster_id: get("cluster.id").ok_or_else(|| broken("cluster.id"))?.to_owned(),
            // Version 0 called it broker.id.
            node_id: get("node.id")
                .or_else(|| get("broker.id"))
                .and_then(|id| id.parse().ok())
                .ok_or_else(|| broken("node.id"))?,
            directory_id: match get("directory.id") {
                Some(id) => id.parse().map_err(|_| broken("directory.id"))?,
                None => Uuid::ZERO,
            },
        }))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When the file system fails.
    pub fn write(&self, fs: &dyn FileSystem, path: &Path) -> Result<()> {
        let Self { cluster_id, node_id, directory_id } = self;
        let text = format!(
            "#\nversion=1\ncluster.id={cluster_id}\nnode.id={node_id}\ndirectory.id={directory_id}\n"
        );
        write_file_atomically(fs, path, text.as_bytes()).at(path)
    }
}

/// Reads a log's topic id from `partition.metadata` (KIP-516); `None` if the file is missing.
///
/// # Errors
/// When the file is broken or the file system fails.
pub fn read_partition_metadata(fs: &dyn FileSystem, path: &Path) -> Result<Option<Uuid>> {
    let Some(text) = read_text(fs, path)? else { return Ok(None) };
    let properties: BTreeMap<_, _> = text.lines().filter_map(|line| line.split_once(": ")).collect();
    if properties.get("version").map(|version| version.trim()) != Some("0") {
        return Err(StorageError::broken(path, "the version is not 0"));
    }
    let id = properties.get("topic_id").and_then(|id| id.trim().parse().ok());
    id.map(Some).ok_or_else(|| StorageError::broken(path, "topic_id is missing or not valid"))
}

/// Writes a log's topic id to `partition.metadata`.
///
/// # Errors
/// When the file system fails.
pub fn write_partition_metadata(fs: &dyn FileSystem, path: &Path, topic_id: Uuid) -> Result<()> {
    let text = format!("version: 0\ntopic_id: {topic_id}\n");
    write_file_atomically(fs, path, text.as_bytes()).at(path)
}

fn parse_properties(text: &str) -> BTreeMap<&str, &str> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('=')).map(|(key, value)| (key.trim(), value.trim())).collect()
}
