//! Every codec, from our producer to Kafka's consumer and from Kafka's producer to ours.

use anyhow::{Result, ensure};
use milena::{NewTopic, Producer, Record};
use milena_interop::tools;

use crate::cluster::cluster;
use crate::support::{CODECS, LIMIT, create_topic, read_topic};
use crate::values;

/// Enough to give every codec more than one of its blocks.
const RECORDS: usize = 2_000;

#[tokio::test(flavor = "multi_thread")]
async fn kafkas_consumer_reads_every_codec_of_our_producer() -> Result<()> {
    let Some(kafka) = cluster().await else { return Ok(()) };
    let (bootstrap, topic) = (kafka.bootstrap(), "codecs-of-ours");
    create_topic(&bootstrap, NewTopic { partitions: 1, ..NewTopic::new(topic) }).await?;
    for codec in CODECS {
        let builder = Producer::builder().bootstrap(&bootstrap).set("compression.type", codec);
        let producer = builder.set("linger.ms", "50").set("batch.size", "131072").build()?;
        let mut deliveries = Vec::new();
        for line in lines(codec) {
            deliveries.push(producer.send(Record::to(topic).value(&line)).await?);
        }
        for delivery in deliveries {
            delivery.await?;
        }
        producer.close(LIMIT).await;
    }
    let read = tools::console_consumer(&bootstrap, topic, CODECS.len() * RECORDS, &[])?;
    let wanted = CODECS.iter().flat_map(|codec| lines(codec));
    ensure!(read.lines().eq(wanted), "Kafka's consumer read something else");
    let dump = tools::dump_log_segments(&[&kafka.log(topic, 0).await?])?;
    compressed_with_all_codecs(&dump)
}

#[tokio::test(flavor = "multi_thread")]
async fn our_consumer_reads_every_codec_of_kafkas_producer() -> Result<()> {
    let Some(kafka) = cluster().await else { return Ok(()) };
    let (bootstrap, topic) = (kafka.bootstrap(), "codecs-of-theirs");
    create_topic(&bootstrap, NewTopic { partitions: 1, ..NewTopic::new(topic) }).await?;
    for codec in CODECS {
        let text: String = lines(codec).map(|line| line + "\n").collect();
        let more = ["--compression-codec", codec, "--batch-size", "131072"];
        tools::console_producer(&bootstrap, topic, &text, &more)?;
    }
    let read = read_topic(&bootstrap, topic).await?;
    let read = read.get(&0).map(|records| values(records)).transpose()?.unwrap_or_default();
    let wanted = CODECS.iter().flat_map(|codec| lines(codec));
    ensure!(read.into_iter().eq(wanted), "our consumer read something else");
    let dump = tools::dump_log_segments(&[&kafka.log(topic, 0).await?])?;
    compressed_with_all_codecs(&dump)
}

fn lines(codec: &str) -> impl Iterator<Item = String> {
    (0..RECORDS)
        .map(move |number| format!("{codec} number {number}: {}", "žluťoučký kůň ".repeat(number % 9)))
}

/// None of the tests above would fail if a codec was left out.
fn compressed_with_all_codecs(dump: &str) -> Result<()> {
    for codec in CODECS {
        ensure!(dump.contains(&format!("compresscodec: {codec}")), "no batch with {codec}");
    }
    Ok(())
}
