//! The embedded broker's log on disk, read by `DumpLogSegments`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use milena_broker::{Broker, BrokerConfig};
use milena_interop::tools;

use crate::support::CODECS;

const RECORDS: usize = 2_000;

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
