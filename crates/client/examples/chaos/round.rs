//! One round: trouble, peace, and the checks.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use milena::{Admin, Producer};
use milena_broker::EmbeddedCluster;
use tokio::{sync::watch, task::JoinSet};

use crate::{
    Error,
    records::{self, LIMIT, Sent, Totals},
    trouble,
};

const BROKERS: i32 = 3;
const PARTITIONS: i32 = 4;
const PRODUCERS: u32 = 2;

/// The cluster that goes through it.
pub(crate) async fn cluster(folder: &Path) -> Result<Arc<EmbeddedCluster>, Error> {
    let builder = EmbeddedCluster::builder().brokers(BROKERS).data_dir(folder);
    let builder = builder.configure(|config| config.replica_lag_time_max = Duration::from_secs(2));
    Ok(Arc::new(builder.start().await?))
}

/// Trouble for so long, peace, and the checks. Answers also what failed, in words: that is allowed to.
pub(crate) async fn play(
    cluster: &Arc<EmbeddedCluster>,
    folder: &Path,
    number: u64,
    seed: u64,
    trouble_for: Duration,
) -> Result<(Totals, Vec<String>), Error> {
    let topic = format!("round-{number}");
    cluster.create_topic_with(&topic, PARTITIONS, 3, &[("min.insync.replicas", "2")]).await?;
    let (stop_trouble, no_more_trouble) = watch::channel(false);
    let (stop_sending, no_more_records) = watch::channel(false);
    let seed = seed ^ (number << 32);
    let away = tokio::spawn(trouble::away(cluster.clone(), seed, no_more_trouble.clone()));
    let ill = tokio::spawn(trouble::ill(cluster.clone(), seed ^ 1, no_more_trouble));
    let (mut senders, mut producers) = (JoinSet::new(), Vec::new());
    for id in 0..PRODUCERS {
        let producer =
            Producer::builder().bootstrap(&cluster.bootstrap()).set("delivery.timeout.ms", "170000");
        let producer = Arc::new(producer.build()?);
        producers.push(producer.clone());
        for partition in 0..PARTITIONS {
            let (producer, topic, stop) = (producer.clone(), topic.clone(), no_more_records.clone());
            senders.spawn(async move {
                let sent = records::send(producer, id, topic, partition, stop).await;
                (id, partition, sent)
            });
        }
    }

    tokio::time::sleep(trouble_for).await;
    stop_trouble.send_replace(true);
    let mut totals = Totals { troubles: away.await?? + ill.await??, ..Totals::default() };
    stop_sending.send_replace(true);
    let mut sent: BTreeMap<i32, BTreeMap<u32, Sent>> = BTreeMap::new();
    let mut failures = Vec::new();
    while let Some(ended) = senders.join_next().await {
        let (id, partition, of_one) = ended?;
        let of_one = of_one?;
        totals += of_one.totals();
        if let Some(error) = of_one.last_error() {
            failures.push(format!("{topic}-{partition}, producer {id}: {error}"));
        }
        sent.entry(partition).or_default().insert(id, of_one);
    }
    for producer in producers {
        producer.close(LIMIT).await;
    }

    for (partition, sent) in &sent {
        let whole = |cluster: &EmbeddedCluster| cluster.isr(&topic, *partition).len() == 3;
        cluster.wait(&format!("a whole ISR of {topic}-{partition}"), whole).await?;
        totals.read += records::check(&cluster.bootstrap(), &topic, *partition, sent).await?;
        compare_replicas(folder, &topic, *partition)?;
    }
    let admin = Admin::builder().bootstrap(&cluster.bootstrap()).build()?;
    for (_, refused) in admin.delete_topics(&[&topic]).await? {
        refused?;
    }
    admin.close().await;
    Ok((totals, failures))
}

/// Byte for byte: the leader decides what a batch looks like, and the others keep it so.
fn compare_replicas(folder: &Path, topic: &str, partition: i32) -> Result<(), Error> {
    let mut first: Option<Vec<u8>> = None;
    for id in 1..=BROKERS {
        let replica = folder.join(format!("broker-{id}/logs/{topic}-{partition}"));
        let log = whole_log(&replica)?;
        match &first {
            None => first = Some(log),
            Some(first) if *first == log => {}
            Some(first) => {
                let at = first.iter().zip(&log).position(|(one, other)| one != other);
                let (one, other) = (first.len(), log.len());
                return Err(format!(
                    "{topic}-{partition}: brokers 1 ({one} B) and {id} ({other} B) differ at {at:?}"
                )
                .into());
            }
        }
    }
    Ok(())
}

fn whole_log(replica: &Path) -> Result<Vec<u8>, Error> {
    let entries = std::fs::read_dir(replica)?.collect::<Result<Vec<_>, _>>()?;
    let is_log = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "log");
    let mut segments: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).filter(is_log).collect();
    segments.sort();
    let mut log = Vec::new();
    for segment in segments {
        log.extend(std::fs::read(segment)?);
    }
    Ok(log)
}
