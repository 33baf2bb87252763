//! A Kafka client in pure Rust: no C library, no JVM.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use milena::{Producer, Record};
//! use std::time::Duration;
//!
//! let producer = Producer::builder().bootstrap("localhost:9092").set("linger.ms", "5").build()?;
//! let delivery = producer.send(Record::to("quakes").key("us").value("magnitude 5.3")).await?;
//! let placed = delivery.await?;
//! println!("{}-{} at {:?}", placed.topic, placed.partition, placed.offset);
//! producer.close(Duration::from_secs(10)).await;
//! # Ok(())
//! # }
//! ```
//!
//! # The tour
//!
//! [`Producer`] queues records on the caller's thread; one driver thread owns all decisions (the pure `milena-core`);
//! one task per broker moves bytes. [`Producer::metadata`] shows the cluster as the client sees it.
//! Settings have Kafka's names and defaults ([`ProducerBuilder::set`]).
#![forbid(unsafe_code)]

mod admin;
mod clock;
mod connection;
mod consumer;
mod driver;
mod metadata;
mod producer;

pub use admin::{
    Admin, AdminBuilder, AdminError, ConfigEntry, NewTopic, OffsetSpec, PartitionDescription, Refusal,
    TopicDescription,
};
pub use consumer::{ConsumeError, Consumer, ConsumerBuilder, Fetched, StartAt};
pub use driver::BuildError;
pub use metadata::MetadataWatch;
pub use milena_core::{
    cluster::{Cluster, Node, PartitionInfo, TopicInfo},
    config::{ClientConfig, ProducerConfig},
    metadata::{MetadataView, RefreshReason, RefreshReport},
};
pub use producer::{
    AppendError, ConfigError, Delivery, Header, MetadataError, ProduceError, Producer, ProducerBuilder,
    Record, RecordMetadata, SendError,
};
