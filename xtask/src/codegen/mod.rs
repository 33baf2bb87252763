//! Writes the protocol crate's messages from the schemas inside Apache Kafka's own kafka-clients jar.
//!
//! Facts only: names, types, versions, tags, nullability, defaults. To add an API, add its name to [`APIS`].

mod emit;
mod jar;
mod model;
mod schema;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use jar::Jar;
use model::Message;
use schema::{Field, Schema};

/// Where the schemas come from.
const KAFKA: &str = "4.4.0";
/// The last line with the requests of a controller that is no Raft quorum.
const KAFKA_WITH_ZOOKEEPER: &str = "3.9.1";

/// The APIs whose request and response are generated.
const APIS: &[&str] = &[
    "AddOffsetsToTxn",
    "AddPartitionsToTxn",
    "AlterPartition",
    "AlterPartitionReassignments",
    "ApiVersions",
    "ConsumerGroupDescribe",
    "ConsumerGroupHeartbeat",
    "CreatePartitions",
    "CreateTopics",
    "DeleteGroups",
    "DeleteRecords",
    "DeleteTopics",
    "DescribeCluster",
    "DescribeConfigs",
    "DescribeGroups",
    "DescribeLogDirs",
    "DescribeProducers",
    "DescribeTopicPartitions",
    "ElectLeaders",
    "EndTxn",
    "Fetch",
    "FindCoordinator",
    "Heartbeat",
    "IncrementalAlterConfigs",
    "InitProducerId",
    "JoinGroup",
    "LeaveGroup",
    "ListGroups",
    "ListOffsets",
    "ListPartitionReassignments",
    "Metadata",
    "OffsetCommit",
    "OffsetFetch",
    "OffsetForLeaderEpoch",
    "Produce",
    "SaslAuthenticate",
    "SaslHandshake",
    "SyncGroup",
    "TxnOffsetCommit",
    "WriteTxnMarkers",
];
/// The APIs of which [`KAFKA`] has only empty shells; they come from [`KAFKA_WITH_ZOOKEEPER`].
const APIS_WITH_ZOOKEEPER: &[&str] = &["ControlledShutdown", "LeaderAndIsr", "StopReplica", "UpdateMetadata"];
/// The requests of a controller. Each says how many came before it, in a tagged field of our own; who does not know it skips it
/// (KIP-482). What was sent again on a new connection may be overtaken by what was sent first, and Kafka's schemas have no order.
const CONTROL_REQUESTS: &[&str] = &["LeaderAndIsrRequest", "StopReplicaRequest", "UpdateMetadataRequest"];
/// The tag of [`CONTROL_REQUESTS`]' own field: Kafka's are numbered from 0, and these requests get no more of them.
const CONTROL_SEQUENCE_TAG: u32 = 1000;
/// Schemas that belong to no API.
const DATA: &[&str] =
    &["ConsumerProtocolAssignment", "ConsumerProtocolSubscription", "RequestHeader", "ResponseHeader"];

const GENERATED: &str = "crates/protocol/src/messages/generated";
const GENERATED_TESTS: &str = "crates/protocol/tests/messages/generated";

/// Options of `cargo xtask codegen`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write nothing; fail when the committed code differs from what the schemas say.
    #[arg(long)]
    check: bool,
}

/// Generates the code, or compares it with what is committed.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the repository")?;
    let work = root.join("target/codegen");
    let new = Jar::fetch(KAFKA, &work)?;
    let old = Jar::fetch(KAFKA_WITH_ZOOKEEPER, &work)?;

    let mut messages = Vec::new();
    for (jar, apis) in [(&new, APIS), (&old, APIS_WITH_ZOOKEEPER)] {
        for api in apis {
            for part in ["Request", "Response"] {
                let mut schema = jar.schema(&format!("{api}{part}"))?;
                if CONTROL_REQUESTS.contains(&schema.name.as_str()) {
                    add_control_sequence(&mut schema);
                }
                messages.push(Message::new(&schema)?);
            }
        }
    }
    for name in DATA {
        messages.push(Message::new(&new.schema(name)?)?);
    }
    messages.sort_by(|a, b| a.name.cmp(&b.name));
    let apis = table::apis(&new, &old, APIS_WITH_ZOOKEEPER)?;

    let mut files = BTreeMap::new();
    for message in &messages {
        files.insert(format!("{GENERATED}/{}.rs", message.module), emit::message(message)?);
    }
    files.insert(format!("{GENERATED}/mod.rs"), table::module(&messages));
    files.insert(format!("{GENERATED}/api_key.rs"), table::api_key(&apis));
    files.insert(format!("{GENERATED_TESTS}/mod.rs"), emit::fill::module(&messages)?);
    let files = format(root, &work, &files)?;
    if args.check { check(root, &files) } else { write(root, &files) }
}

fn add_control_sequence(schema: &mut Schema) {
    let flexible = schema.flexible_versions.clone();
    schema.fields.push(Field {
        name: "ControlSequence".to_owned(),
        r#type: "int64".to_owned(),
        versions: flexible.clone().unwrap_or_default(),
        nullable_versions: None,
        tagged_versions: flexible,
        tag: Some(CONTROL_SEQUENCE_TAG),
        flexible_versions: None,
        default: Some((-1).into()),
        ignorable: true,
        fields: Vec::new(),
    });
}

/// Runs rustfmt over all files, in a copy of their folders.
fn format(
    root: &Path,
    work: &Path,
    files: &BTreeMap<String, String>,
) -> anyhow::Result<BTreeMap<String, String>> {
    let copy = work.join("source");
    let mut paths = Vec::new();
    for (name, text) in files {
        let path = copy.join(name);
        std::fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
        std::fs::write(&path, text)?;
        paths.push(path);
    }
    let status = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(root.join("rustfmt.toml"))
        .args(&paths)
        .status()
        .context("run rustfmt")?;
    ensure!(status.success(), "rustfmt does not accept the generated code in {}", copy.display());
    files.keys().map(|name| Ok((name.clone(), std::fs::read_to_string(copy.join(name))?))).collect()
}

fn write(root: &Path, files: &BTreeMap<String, String>) -> anyhow::Result<()> {
    for stale in committed(root)?.iter().filter(|name| !files.contains_key(*name)) {
        std::fs::remove_file(root.join(stale))?;
    }
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
        // A file that did not change keeps its time, and is not compiled again.
        if std::fs::read_to_string(&path).ok().as_ref() != Some(text) {
            std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
        }
    }
    Ok(())
}

fn check(root: &Path, files: &BTreeMap<String, String>) -> anyhow::Result<()> {
    let mut differing: Vec<_> =
        committed(root)?.into_iter().filter(|name| !files.contains_key(name)).collect();
    for (name, text) in files {
        if std::fs::read_to_string(root.join(name)).ok().as_ref() != Some(text) {
            differing.push(name.clone());
        }
    }
    if differing.is_empty() {
        return Ok(());
    }
    bail!("not what the schemas say; run `cargo xtask codegen` and commit: {}", differing.join(", "));
}

/// The generated files that are there now.
fn committed(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for folder in [GENERATED, GENERATED_TESTS] {
        let path: PathBuf = root.join(folder);
        if !path.exists() {
            continue;
        }
        for entry in std::fs::read_dir(&path)? {
            names.push(format!("{folder}/{}", entry?.file_name().to_string_lossy()));
        }
    }
    Ok(names)
}
