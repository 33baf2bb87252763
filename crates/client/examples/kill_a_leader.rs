//! Starts three brokers, kills the leader of a partition under a producer, and sees that nothing is lost.
//!
//! `cargo run -p milena --example kill_a_leader`

use milena::{Producer, Record};
use milena_broker::EmbeddedCluster;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cluster = EmbeddedCluster::builder().brokers(3).start().await?;
    cluster.create_topic("orders", 1, 3).await?;
    let producer = Producer::builder().bootstrap(&cluster.bootstrap()).set("acks", "all").build()?;
    producer.send(Record::to("orders").value("before")).await?.await?;
    cluster.kill(cluster.leader("orders", 0).ok_or("no leader")?)?;
    let placed = producer.send(Record::to("orders").value("after")).await?.await?;
    assert_eq!(placed.offset, Some(1), "the first record is on the new leader, too");
    Ok(())
}
