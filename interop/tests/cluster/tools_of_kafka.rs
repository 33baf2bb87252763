//! Kafka's administrative programs, each doing on three brokers what it is for.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use milena::{Producer, Record};
use milena_broker::EmbeddedCluster;
use milena_interop::tools;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{LIMIT, read_topic};
use crate::{cluster, log_dir};

const RECORDS: i64 = 3_000;

#[tokio::test(flavor = "multi_thread")]
async fn kafkas_administrative_programs_work_on_three_brokers() -> Result<()> {
    if !tools::available() {
        return Ok(());
    }
    let (cluster, folder) = cluster().await?;
    let bootstrap = cluster.bootstrap();
    topics_and_configs(&bootstrap)?;
    produce(&bootstrap, "t").await?;
    offsets(&bootstrap)?;
    delete_records(&bootstrap)?;
    log_dirs(&bootstrap)?;
    replicas_agree(&bootstrap)?;
    preferred_leaders(&cluster, &bootstrap).await?;
    reassign(&cluster, &bootstrap, folder.path()).await?;
    let read = read_topic(&bootstrap, "t").await?;
    let count: usize = read.values().map(Vec::len).sum();
    assert_eq!(i64::try_from(count)?, RECORDS - 100, "nothing was lost on the way but what was deleted");
    cluster.shutdown().await?;
    segments(&folder)
}

fn topics_and_configs(bootstrap: &str) -> Result<()> {
    let create = ["--create", "--topic", "t", "--partitions", "3", "--replication-factor", "3"];
    tools::topics(bootstrap, &[&create[..], &["--config", "min.insync.replicas=2"]].concat())?;
    let described = tools::topics(bootstrap, &["--describe", "--topic", "t"])?;
    for wanted in ["PartitionCount: 3", "ReplicationFactor: 3", "min.insync.replicas=2"] {
        ensure!(described.contains(wanted), "no {wanted} in {described}");
    }
    for leader in 1..=3 {
        ensure!(
            described.contains(&format!("Leader: {leader}\t")),
            "broker {leader} leads nothing: {described}"
        );
    }
    let of_topic = ["--entity-type", "topics", "--entity-name", "t"];
    let set = ["--alter", "--add-config", "retention.ms=86400000,max.message.bytes=2000000"];
    configs(bootstrap, &[&of_topic[..], &set].concat())?;
    let described = configs(bootstrap, &[&of_topic[..], &["--describe"]].concat())?;
    for wanted in ["retention.ms=86400000", "max.message.bytes=2000000", "min.insync.replicas=2"] {
        ensure!(described.contains(wanted), "no {wanted} in {described}");
    }
    let of_broker = ["--entity-type", "brokers", "--entity-name", "2"];
    let throttled = [&of_broker[..], &["--alter", "--add-config", "leader.replication.throttled.rate=1000"]];
    let refused = configs(bootstrap, &throttled.concat()).map_err(|error| format!("{error:#}"));
    let refused = refused.err().context("a throttle was accepted that throttles nothing")?;
    ensure!(refused.contains("throttles"), "{refused}");
    Ok(())
}

async fn produce(bootstrap: &str, topic: &str) -> Result<()> {
    // Batches that fit into segments.
    let builder = Producer::builder().bootstrap(bootstrap).set("acks", "all");
    let producer = builder.set("max.request.size", "32768").build()?;
    let mut deliveries = Vec::new();
    for number in 0..RECORDS {
        let record = Record::to(topic).partition(i32::try_from(number % 3)?);
        let value = format!("number {number}: {}", "sphinx of black quartz ".repeat(4));
        deliveries.push(producer.send(record.value(&value)).await?);
    }
    for delivery in deliveries {
        delivery.await?;
    }
    producer.close(LIMIT).await;
    Ok(())
}

fn offsets(bootstrap: &str) -> Result<()> {
    let arguments = ["--bootstrap-server", bootstrap, "--topic", "t"];
    let said = tools::output("org.apache.kafka.tools.GetOffsetShell", &arguments)?;
    assert_eq!(said, "t:0:1000\nt:1:1000\nt:2:1000\n");
    Ok(())
}

fn delete_records(bootstrap: &str) -> Result<()> {
    let file = json_file(&json!({
        "partitions": [{ "topic": "t", "partition": 1, "offset": 100 }],
        "version": 1,
    }))?;
    let arguments = ["--bootstrap-server", bootstrap, "--offset-json-file", path(&file)?];
    let said = tools::output("org.apache.kafka.tools.DeleteRecordsCommand", &arguments)?;
    ensure!(said.contains("partition: t-1\tlow_watermark: 100"), "{said}");
    Ok(())
}

fn log_dirs(bootstrap: &str) -> Result<()> {
    let arguments = ["--bootstrap-server", bootstrap, "--describe", "--topic-list", "t"];
    let said = tools::output("org.apache.kafka.tools.LogDirsCommand", &arguments)?;
    let line = said.lines().find(|line| line.starts_with('{')).with_context(|| said.clone())?;
    let described: Value = serde_json::from_str(line)?;
    let brokers = described["brokers"].as_array().context("no brokers")?;
    assert_eq!(brokers.len(), 3, "{described}");
    for broker in brokers {
        let dirs = broker["logDirs"].as_array().context("no directories")?;
        assert_eq!((dirs.len(), &dirs[0]["error"]), (1, &Value::Null), "{described}");
        let partitions = dirs[0]["partitions"].as_array().context("no partitions")?;
        assert_eq!(partitions.len(), 3, "{described}");
        for partition in partitions {
            ensure!(partition["size"].as_i64().is_some_and(|size| size > 100_000), "{partition}");
            assert_eq!((&partition["offsetLag"], &partition["isFuture"]), (&json!(0), &json!(false)));
        }
    }
    Ok(())
}

/// It never ends by itself: the first report with a line for each partition is what is waited for.
fn replicas_agree(bootstrap: &str) -> Result<()> {
    let arguments = ["--broker-list", bootstrap, "--topics-include", "t", "--report-interval-ms", "500"];
    let more = ["--time", "-2"];
    let mut program =
        tools::start("org.apache.kafka.tools.ReplicaVerificationTool", &[&arguments[..], &more].concat())?;
    program.wait_for(|line| {
        line.contains("max lag is 0 for partition") && line.contains("at offset 1000 among 3")
    })?;
    Ok(())
}

async fn preferred_leaders(cluster: &EmbeddedCluster, bootstrap: &str) -> Result<()> {
    let leaders = |cluster: &EmbeddedCluster| {
        (0..3).filter_map(|number| cluster.leader("t", number)).collect::<Vec<_>>()
    };
    let before = leaders(cluster);
    cluster.stop(2).await?;
    cluster.wait("other leaders", |cluster| !leaders(cluster).contains(&2)).await?;
    cluster.restart(2).await?;
    let whole = |cluster: &EmbeddedCluster| (0..3).all(|number| cluster.isr("t", number).len() == 3);
    cluster.wait("whole ISRs", whole).await?;
    let arguments =
        ["--bootstrap-server", bootstrap, "--election-type", "preferred", "--all-topic-partitions"];
    let said = tools::output("org.apache.kafka.tools.LeaderElectionCommand", &arguments)?;
    ensure!(said.contains("Successfully completed leader election (PREFERRED)"), "{said}");
    assert_eq!(leaders(cluster), before);
    Ok(())
}

/// Generated, executed and verified: two replicas of three, and the leaders elsewhere.
async fn reassign(cluster: &EmbeddedCluster, bootstrap: &str, folder: &Path) -> Result<()> {
    let tool = |arguments: &[&str]| {
        let class = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand";
        tools::output(class, &[&["--bootstrap-server", bootstrap], arguments].concat())
    };
    let topics = json_file(&json!({ "topics": [{ "topic": "t" }], "version": 1 }))?;
    let generate = ["--generate", "--topics-to-move-json-file", path(&topics)?, "--broker-list", "1,2,3"];
    let said = tool(&generate)?;
    let proposed = said.lines().rfind(|line| line.starts_with('{')).with_context(|| said.clone())?;
    let proposed: Value = serde_json::from_str(proposed)?;
    assert_eq!(proposed["partitions"].as_array().map(Vec::len), Some(3), "{proposed}");

    let partition =
        |number: i32, replicas: &[i32]| json!({ "topic": "t", "partition": number, "replicas": replicas });
    let wanted = json!({
        "partitions": [partition(0, &[3, 1]), partition(1, &[1, 2]), partition(2, &[2, 3])],
        "version": 1,
    });
    let file = json_file(&wanted)?;
    let from_file = ["--reassignment-json-file", path(&file)?];
    let throttled = tool(&[&["--execute", "--throttle", "1000000"][..], &from_file].concat());
    let refused = throttled.map_err(|error| format!("{error:#}")).err().context("a throttle was accepted")?;
    ensure!(refused.contains("throttles"), "{refused}");
    let said = tool(&[&["--execute"][..], &from_file].concat())?;
    ensure!(said.contains("Successfully started partition reassignments for t-0,t-1,t-2"), "{said}");
    let sorted = |cluster: &EmbeddedCluster, number| {
        let mut isr = cluster.isr("t", number);
        isr.sort_unstable();
        isr
    };
    cluster
        .wait("the replicas where they should be", |cluster| {
            [(0, [1, 3]), (1, [1, 2]), (2, [2, 3])]
                .into_iter()
                .all(|(number, isr)| sorted(cluster, number) == isr)
        })
        .await?;
    let said = tool(&[&["--verify"][..], &from_file].concat())?;
    for number in 0..3 {
        ensure!(said.contains(&format!("Reassignment of partition t-{number} is completed.")), "{said}");
    }
    let gone = folder.join("broker-2").join("logs").join("t-0");
    cluster.wait("the end of the log that moved away", |_| !gone.exists()).await?;
    Ok(())
}

/// What the followers have on disk is the leader's, and Kafka reads it.
fn segments(folder: &TempDir) -> Result<()> {
    let mut dumps = Vec::new();
    for broker in [1, 3] {
        let mut files: Vec<PathBuf> = std::fs::read_dir(log_dir(folder, broker, "t-0"))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        files.retain(|file| file.extension().is_some_and(|found| found == "log"));
        files.sort();
        ensure!(files.len() > 1, "one segment alone: {files:?}");
        let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        let dump = tools::dump_log_segments(&files)?;
        let payloads = dump.lines().filter_map(|line| Some(line.split_once(" payload: ")?.1.to_owned()));
        dumps.push(payloads.collect::<Vec<_>>());
    }
    assert_eq!(dumps[0].len(), 1_000);
    ensure!(dumps[0] == dumps[1], "the replicas differ");
    Ok(())
}

fn configs(bootstrap: &str, arguments: &[&str]) -> Result<String> {
    let arguments = [&["--bootstrap-server", bootstrap], arguments].concat();
    tools::output("org.apache.kafka.tools.ConfigCommand", &arguments)
}

fn json_file(value: &Value) -> Result<tempfile::NamedTempFile> {
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), value.to_string())?;
    Ok(file)
}

fn path(file: &tempfile::NamedTempFile) -> Result<&str> {
    file.path().to_str().context("a path that is not UTF-8")
}
