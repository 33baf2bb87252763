//! What each client goes through: the leader of a partition dies while it produces, and its group's coordinator while it consumes.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use milena::{Admin, Consumer, Producer, Record};
use milena_broker::EmbeddedCluster;
use milena_protocol::messages::offset_fetch_request::OffsetFetchRequestTopic;
use milena_protocol::messages::{OffsetFetchRequest, OffsetFetchResponse};
use milena_protocol::{ApiKey, Decoder, Message as _, decode_response_header, encode_request};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::block_in_place;

use crate::support::{LIMIT, read_topic};

/// How many numbers a client produces.
pub(crate) const NUMBERS: usize = 3_000;
pub(crate) const PARTITIONS: i32 = 3;

/// Three brokers in memory, and a topic whose records two of them must have.
pub(crate) async fn cluster_with(topic: &str) -> Result<EmbeddedCluster> {
    let cluster = EmbeddedCluster::builder().brokers(3).start().await?;
    cluster.create_topic_with(topic, PARTITIONS, 3, &[("min.insync.replicas", "2")]).await?;
    Ok(cluster)
}

/// What a client that knows nothing of our runtime is asked; other tasks go on meanwhile.
pub(crate) fn waiting<T>(what: impl FnOnce() -> T) -> T {
    block_in_place(what)
}

/// The numbers of a range, a line each.
pub(crate) fn lines(numbers: std::ops::Range<usize>) -> String {
    numbers.map(|number| format!("{number}\n")).collect()
}

/// Kills the leader of a topic's first partition; answers who it was.
pub(crate) fn kill_leader(cluster: &EmbeddedCluster, topic: &str) -> Result<i32> {
    let leader = cluster.leader(topic, 0).context("no leader")?;
    cluster.kill(leader)?;
    Ok(leader)
}

/// Starts a broker that was killed, and waits until it has everything again.
pub(crate) async fn bring_back(cluster: &EmbeddedCluster, broker: i32, topic: &str) -> Result<()> {
    cluster.restart(broker).await?;
    let is_whole =
        |cluster: &EmbeddedCluster| (0..PARTITIONS).all(|number| cluster.isr(topic, number).len() == 3);
    cluster.wait("whole ISRs", is_whole).await?;
    Ok(())
}

/// Waits until so many records are in a topic that every replica in sync has: what was acknowledged is among them.
pub(crate) async fn reach(bootstrap: &str, topic: &str, wanted: usize) -> Result<()> {
    let consumer = Consumer::builder().bootstrap(bootstrap).build()?;
    let wait = async {
        loop {
            let mut there = 0;
            for partition in 0..PARTITIONS {
                there += usize::try_from(consumer.offsets(topic, partition).await?.1)?;
            }
            if there >= wanted {
                return anyhow::Ok(());
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, wait).await.with_context(|| format!("{wanted} records in {topic}"))??;
    consumer.close().await;
    Ok(())
}

/// A record's place, and the number in it.
pub(crate) type Placed = BTreeMap<(i32, i64), usize>;

/// Every number up to `NUMBERS` is there once, and in each partition they are in the order in which they were sent.
pub(crate) async fn all_are_there_once(bootstrap: &str, topic: &str) -> Result<Placed> {
    let mut placed = Placed::new();
    for (partition, records) in read_topic(bootstrap, topic).await? {
        let mut before = None;
        for record in records {
            let number: usize = std::str::from_utf8(&record.value.context("a null")?)?.parse()?;
            ensure!(before.is_none_or(|before| before < number), "{number} after {before:?} in {partition}");
            before = Some(number);
            placed.insert((partition, record.offset), number);
        }
    }
    let numbers: BTreeSet<usize> = placed.values().copied().collect();
    let missing: Vec<usize> = (0..NUMBERS).filter(|number| !numbers.contains(number)).collect();
    ensure!(missing.is_empty(), "lost: {missing:?}");
    assert_eq!(placed.len(), NUMBERS, "each number once");
    Ok(placed)
}

/// `WORD PARTITION OFFSET NUMBER`, as the clients print it.
pub(crate) fn placed(line: &str, word: &str) -> Result<((i32, i64), usize)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [found, partition, offset, number] = fields[..] else { anyhow::bail!("not a record: {line}") };
    ensure!(found == word, "not {word}: {line}");
    Ok(((partition.parse()?, offset.parse()?), number.parse()?))
}

/// Kills the broker that coordinates a group; answers who it was.
pub(crate) async fn kill_coordinator(cluster: &EmbeddedCluster, group: &str) -> Result<i32> {
    let number = offsets_partition(&cluster.bootstrap(), group).await?;
    let whole = |cluster: &EmbeddedCluster| cluster.isr("__consumer_offsets", number).len() == 3;
    cluster.wait("a whole ISR of the group's partition", whole).await?;
    let coordinator = cluster.leader("__consumer_offsets", number).context("no coordinator")?;
    cluster.kill(coordinator)?;
    Ok(coordinator)
}

/// `Utils.abs(groupId.hashCode()) % partitions`.
async fn offsets_partition(bootstrap: &str, group: &str) -> Result<i32> {
    let admin = Admin::builder().bootstrap(bootstrap).build()?;
    let mut described = admin.describe_topics(&["__consumer_offsets"]).await?;
    let (_, topic) = described.pop().context("no answer")?;
    let partitions = topic.context("the topic of offsets")?.partitions.len();
    admin.close().await;
    let hash =
        group.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    Ok(hash.checked_abs().unwrap_or(0) % i32::try_from(partitions)?)
}

/// Waits until a group has committed that it has consumed so many records, as its coordinator of now has it.
pub(crate) async fn committed(
    cluster: &EmbeddedCluster,
    group: &str,
    topic: &str,
    wanted: usize,
) -> Result<()> {
    let wait = async {
        loop {
            // Without an answer the coordinator has moved, or is about to.
            if let Ok(offsets) = committed_offsets(cluster, group, topic).await
                && usize::try_from(offsets)? == wanted
            {
                return anyhow::Ok(());
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, wait).await.with_context(|| format!("{wanted} committed by {group}"))?
}

async fn committed_offsets(cluster: &EmbeddedCluster, group: &str, topic: &str) -> Result<i64> {
    const VERSION: i16 = 7;
    let number = offsets_partition(&cluster.bootstrap(), group).await?;
    let coordinator = cluster.leader("__consumer_offsets", number).context("no coordinator")?;
    let bootstrap = cluster.bootstrap();
    let address = bootstrap.split(',').nth(usize::try_from(coordinator - 1)?).context("no address")?;
    let mut stream = tokio::net::TcpStream::connect(address).await?;
    let asked =
        OffsetFetchRequestTopic { name: topic.to_owned(), partition_indexes: (0..PARTITIONS).collect() };
    let request =
        OffsetFetchRequest { group_id: group.to_owned(), topics: Some(vec![asked]), ..Default::default() };
    stream.write_all(&encode_request(&request, VERSION, 1, Some("test"))?.to_bytes()).await?;
    let mut answer = vec![0; usize::try_from(stream.read_i32().await?)?];
    stream.read_exact(&mut answer).await?;
    let mut decoder = Decoder::new(answer.into());
    decode_response_header(&mut decoder, ApiKey::OffsetFetch, VERSION)?;
    let response = OffsetFetchResponse::decode(&mut decoder, VERSION)?;
    ensure!(response.error_code.is_ok(), "{}", response.error_code);
    let partitions = response.topics.iter().flat_map(|topic| &topic.partitions);
    Ok(partitions.map(|partition| partition.committed_offset.max(0)).sum())
}

/// Sends a number to each partition, acknowledged by all.
pub(crate) async fn send_to_each(bootstrap: &str, topic: &str, number: usize) -> Result<()> {
    let producer = Producer::builder().bootstrap(bootstrap).set("acks", "all").build()?;
    for partition in 0..PARTITIONS {
        let value = number.to_string();
        producer.send(Record::to(topic).partition(partition).value(&value)).await?.await?;
    }
    producer.close(LIMIT).await;
    Ok(())
}
