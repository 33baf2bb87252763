//! The metadata cache with 100,000 partitions.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use hdrhistogram::Histogram;
use milena_bench::{greatest, median, table};
use milena_broker::metadata_cache::{
    BrokerEndpoint, BrokerInfo, MetadataCache, MetadataUpdate, PartitionUpdate, TopicUpdate,
};
use milena_protocol::Uuid;

/// Lookups that are timed together, since reading the clock takes longer than one.
const TOGETHER: usize = 1_000;
const BROKERS: i32 = 3;

#[derive(clap::Args)]
pub struct Args {
    /// How many partitions.
    #[arg(long, default_value_t = 100_000)]
    partitions: usize,
    /// How many of them a topic has; one run for each number.
    #[arg(long, value_delimiter = ',', default_values_t = [10, 100])]
    per_topic: Vec<usize>,
    /// Announcements of everything to a cache that knows nothing.
    #[arg(long, default_value_t = 10)]
    rounds: usize,
    /// Seconds of lookups, without updates and with them.
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// Milliseconds between two updates, of one topic each, while lookups run.
    #[arg(long, default_value_t = 10)]
    update_every: u64,
}

pub fn run(args: &Args) -> Result<()> {
    let mut rows = Vec::new();
    for &per_topic in &args.per_topic {
        let topics = args.partitions / per_topic.max(1);
        let everything = update(0..topics, per_topic, 1);
        let mut announced = Vec::new();
        for _ in 0..args.rounds {
            let cache = MetadataCache::new("bench");
            let begun = Instant::now();
            cache.update(&everything)?;
            announced.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        let cache = MetadataCache::new("bench");
        cache.update(&everything)?;
        let quiet = lookups(args, &cache, topics);
        let (ended, updates) = (AtomicBool::new(false), AtomicU64::new(0));
        let busy = thread::scope(|scope| {
            scope.spawn(|| keep_updating(args, &cache, topics, per_topic, &ended, &updates));
            let busy = lookups(args, &cache, topics);
            ended.store(true, Ordering::Relaxed);
            busy
        });
        let updates = updates.into_inner();
        rows.push([
            format!("{topics} topics of {per_topic}"),
            format!("{:.1} / {:.1}", median(&announced), greatest(&announced)),
            format!("{:.0}", quiet.mean_ns),
            format!("{:.0}", busy.mean_ns),
            format!("{:.1}", busy.p999_ns / 1e3),
            format!("{:.0}", updates as f64 / args.seconds as f64),
        ]);
    }
    println!("A metadata cache of {} partitions, three replicas each\n", args.partitions);
    let heads = [
        "",
        "announced at once, ms: median / worst",
        "lookup of a topic, ns: alone",
        "while updates run, ns",
        "the same, p99.9, µs",
        "updates/s",
    ];
    println!("{}", table(heads, &rows));
    Ok(())
}

struct Lookups {
    mean_ns: f64,
    /// Of single lookups, with the reading of the clock.
    p999_ns: f64,
}

/// As a Metadata request finds a topic: take the snapshot, find the name, look at each partition's leader.
fn lookups(args: &Args, cache: &MetadataCache, topics: usize) -> Lookups {
    let names: Vec<String> = (0..topics).map(name).collect();
    let until = Instant::now() + Duration::from_secs(args.seconds);
    // Far apart from each other in memory, and never in the same order twice.
    let mut at = 1usize;
    let mut next = || {
        at = (at.wrapping_mul(6_364_136_223_846_793_005)).wrapping_add(1_442_695_040_888_963_407);
        &names[(at >> 33) % topics]
    };
    let (mut counted, mut nanos) = (0u64, 0u128);
    let Ok(mut single) = Histogram::<u64>::new(3) else { return Lookups { mean_ns: 0.0, p999_ns: 0.0 } };
    while Instant::now() < until {
        let begun = Instant::now();
        for _ in 0..TOGETHER {
            look(cache, next());
        }
        nanos += begun.elapsed().as_nanos();
        counted += TOGETHER as u64;
        for _ in 0..TOGETHER / 10 {
            let name = next();
            let begun = Instant::now();
            look(cache, name);
            // It grows as it must.
            _ = single.record(begun.elapsed().as_nanos() as u64);
        }
    }
    Lookups { mean_ns: nanos as f64 / counted.max(1) as f64, p999_ns: single.value_at_quantile(0.999) as f64 }
}

fn look(cache: &MetadataCache, name: &str) {
    let snapshot = cache.load();
    black_box(snapshot.topic(name).map(|topic| (topic.id, topic.partitions().len())));
}

/// A topic has other leaders, again and again.
fn keep_updating(
    args: &Args,
    cache: &MetadataCache,
    topics: usize,
    per_topic: usize,
    ended: &AtomicBool,
    updates: &AtomicU64,
) {
    let mut epoch = 2;
    while !ended.load(Ordering::Relaxed) {
        let topic = epoch as usize % topics;
        // The controller's epoch stays the same, so none is refused.
        if cache.update(&update(topic..topic + 1, per_topic, epoch)).is_ok() {
            updates.fetch_add(1, Ordering::Relaxed);
        }
        epoch += 1;
        thread::sleep(Duration::from_millis(args.update_every));
    }
}

fn update(topics: std::ops::Range<usize>, per_topic: usize, epoch: i32) -> MetadataUpdate {
    let broker = |id| {
        let listener = "PLAINTEXT".to_owned();
        let endpoint = BrokerEndpoint { listener, host: "127.0.0.1".to_owned(), port: 9092 };
        BrokerInfo { id, rack: None, endpoints: vec![endpoint] }
    };
    let partition = |number: usize| {
        let leader = (number as i32 + epoch) % BROKERS + 1;
        let replicas: Vec<i32> = (1..=BROKERS).collect();
        PartitionUpdate {
            partition: number as i32,
            leader,
            leader_epoch: epoch,
            isr: replicas.clone(),
            replicas,
            offline: Vec::new(),
        }
    };
    let topic = |number: usize| TopicUpdate {
        name: Arc::from(name(number)),
        id: Uuid((number as u128 + 1).to_be_bytes()),
        partitions: (0..per_topic).map(partition).collect(),
    };
    MetadataUpdate {
        controller_id: 1,
        controller_epoch: 1,
        live_brokers: (1..=BROKERS).map(broker).collect(),
        topics: topics.map(topic).collect(),
    }
}

fn name(topic: usize) -> String {
    format!("topic-{topic:06}")
}
