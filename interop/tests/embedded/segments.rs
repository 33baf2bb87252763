//! The embedded broker's log on disk, read by `DumpLogSegments`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use milena::{NewTopic, Producer, Record};
use milena_broker::{Broker, BrokerConfig};
use milena_interop::tools;

use crate::support::{CODECS, LIMIT, create_topic, read_topic};

const RECORDS: usize = 2_000;
/// How many records with keys each codec writes.
const KEYED: usize = 600;

#[tokio::test(flavor = "multi_thread")]
async fn kafka_reads_our_segments_of_every_codec() -> Result<()> {
    if !tools::available() {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let mut config = BrokerConfig::new(folder.path());
    // Several segments, and several entries in each index.
    config.log.segment_bytes = 64 << 10;
    let broker = Broker::start(config).await?;
    for codec in CODECS {
        let lines: String = lines(codec).map(|line| line + "\n").collect();
        tools::console_producer(&broker.bootstrap(), "dumped", &lines, &["--compression-codec", codec])?;
    }
    broker.shutdown().await?;

    let files = files(folder.path(), "dumped-0")?;
    let with = |extension: &str| -> Vec<&Path> {
        let files = files.iter().filter(|file| file.extension().is_some_and(|found| found == extension));
        files.map(PathBuf::as_path).collect()
    };
    let (logs, mut indexes, times) = (with("log"), with("index"), with("timeindex"));
    ensure!(logs.len() > 2 && indexes.len() == logs.len() && times.len() == logs.len(), "{files:?}");
    let dump = tools::dump_log_segments(&[&logs[..], &indexes, &times].concat())?;
    let payloads = dump.lines().filter_map(|line| Some(line.split_once(" payload: ")?.1));
    let wanted = CODECS.iter().flat_map(|codec| lines(codec));
    ensure!(payloads.eq(wanted), "the records in the log are not those that were produced");
    for codec in CODECS {
        ensure!(dump.contains(&format!("compresscodec: {codec}")), "no batch with {codec}");
    }
    indexes.extend(times);
    tools::check_indexes(&indexes)
}

#[tokio::test(flavor = "multi_thread")]
async fn log_32_kafka_reads_what_compaction_left() -> Result<()> {
    if !tools::available() {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let mut config = BrokerConfig::new(folder.path());
    config.log.segment_bytes = 8 << 10;
    config.log_cleaner_backoff = Duration::from_millis(200);
    let broker = Broker::start(config).await?;
    let bootstrap = broker.bootstrap();
    let set = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let configs = [("cleanup.policy", "compact"), ("min.cleanable.dirty.ratio", "0.01")].map(set).to_vec();
    create_topic(&bootstrap, NewTopic { configs, ..NewTopic::new("cleaned") }).await?;
    let mut last = BTreeMap::new();
    for (number, codec) in CODECS.iter().enumerate() {
        let builder = Producer::builder().bootstrap(&bootstrap).set("compression.type", codec);
        let producer = builder.set("max.request.size", "4096").build()?;
        for n in 0..KEYED {
            // Some keys are written again and again, some by one codec alone, and some are deleted.
            let key = if n % 3 == 0 { format!("{codec} {n}") } else { format!("key {}", n % 50) };
            let value = format!("{number} {n}: {}", "sphinx of black quartz ".repeat(n % 5));
            let record = Record::to("cleaned").key(&key);
            let record = if n % 50 == 7 { record } else { record.value(&value) };
            drop(producer.send(record).await?);
            last.insert(key, (n % 50 != 7).then_some(value));
        }
        producer.close(LIMIT).await;
    }
    // A third of the records have keys of their own; what is not sealed yet stays.
    let compacted = async {
        loop {
            let read = read_topic(&bootstrap, "cleaned").await?;
            let records: Vec<_> = read.into_values().flatten().collect();
            if records.len() < CODECS.len() * KEYED / 2 {
                return anyhow::Ok(records);
            }
        }
    };
    let read = tokio::time::timeout(LIMIT, compacted).await.context("the log was not compacted")??;
    // It may have become less since; a consumer of Kafka's gets over batches without records to the last one.
    let more = ["--partition", "0", "--offset", "earliest", "--formatter-property", "print.offset=true"];
    let java = tools::console_consumer(&bootstrap, "cleaned", KEYED, &more)?;
    assert_eq!(java.lines().count(), KEYED);
    broker.shutdown().await?;

    let mut found = BTreeMap::new();
    for record in &read {
        let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
        found.insert(record.key.as_ref().map(text).context("no key")?, record.value.as_ref().map(text));
    }
    ensure!(found == last, "the last values are not those that were sent");
    let files = files(folder.path(), "cleaned-0")?;
    let is_of_a_segment = |file: &&PathBuf| {
        let extension = file.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| ["log", "index", "timeindex"].contains(&extension))
    };
    let logs: Vec<&Path> = files.iter().filter(is_of_a_segment).map(PathBuf::as_path).collect();
    let dump = tools::dump_compacted_log_segments(&logs)?;
    ensure!(dump.contains(" payload: "), "{dump}");
    Ok(())
}

fn lines(codec: &str) -> impl Iterator<Item = String> {
    (0..RECORDS).map(move |number| {
        format!("{codec} number {number}: {}", "sphinx of black quartz ".repeat(number % 9))
    })
}

/// The files of a partition, by name, wherever in the data folder it is.
fn files(data: &Path, partition: &str) -> Result<Vec<PathBuf>> {
    let folder = find(data, partition)?.with_context(|| format!("no folder {partition}"))?;
    let files = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut files = files.collect::<Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

fn find(folder: &Path, name: &str) -> Result<Option<PathBuf>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if !path.is_dir() {
            continue;
        }
        let found = if path.ends_with(name) { Some(path) } else { find(&path, name)? };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}
