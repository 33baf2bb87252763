//! The producer of Kafka 0.8 (2013), with its structure and its illness. **Do not use it**: it is here to be compared with.
//! The producer to use is in the crate `milena`.
//!
//! # The story
//!
//! A cluster of three brokers. The host of one of them dies: it answers nothing, not even with a RST. Its leaderships move
//! to the other two, and all seems well. But every ten minutes, give or take, whatever is sent waits for ten seconds, and
//! then all seems well again.
//!
//! What happens: every `topic.metadata.refresh.interval.ms` (10 minutes) the next `send` refreshes the metadata *itself, in
//! the caller's thread*, before it sends. It asks the brokers of `metadata.broker.list` in random order, one after the
//! other, each over a new connection. The list is the configured one, so the dead broker stays in it for ever, however
//! often the cluster has said that it is gone. With probability 1/n it comes first, and its address swallows the SYN; the
//! connect gives up after `request.timeout.ms` (10 s). Only then the next broker is asked, answers within a millisecond, and
//! all that had to wait is sent.
//!
//! People's ways out were to give a live host the dead one's address (a refused connect costs nothing), to put a virtual IP
//! that drops dead brokers in front of the list, or to switch the refresh off with a negative interval. The real way out is
//! the new producer, which refreshes in the background, over the connections that it has, asks the brokers that it knows
//! now, and lets no caller wait for it.
//!
//! `milena incident` plays it, this producer beside the new one.
//!
//! # The parts, under their names
//!
//! - [`Producer`]: `send` holds a lock for as long as it takes, so one caller's refresh is every caller's.
//! - `DefaultEventHandler`: the loop of refresh, dispatch, back off and retry.
//! - `BrokerPartitionInfo`: the cached metadata; `update_info` replaces it, and rebuilds the pool.
//! - `client_utils::fetch_topic_metadata` (`ClientUtils`): the walk through the shuffled list.
//! - `ProducerPool`: a [`SyncProducer`] per broker; those of the leaders are closed and built again at each refresh.
//! - [`SyncProducer`] over a `BlockingChannel`: one request at a time, `request.timeout.ms` to connect and to read.
//!
//! It speaks today's protocol, in fixed versions that brokers from Kafka 2.4 to 4.x have, because 0.8 did not negotiate.
//! Left out is what has no part in the story: `producer.type=async`, compression, metrics, ZooKeeper.
//!
//! All that is random follows from a seed, and time and sockets come from a [`Machine`], so tests play the incident in
//! virtual time.
//!
//! ```no_run
//! use milena_old_producer::{KeyedMessage, Producer, ProducerConfig};
//!
//! let mut config = ProducerConfig::default();
//! config.set("metadata.broker.list", "kafka1:9092,kafka2:9092,kafka3:9092")?;
//! config.set("topic.metadata.refresh.interval.ms", "600000")?;
//! let producer = Producer::builder(config).build()?;
//! // Blocks until it is acknowledged, or has failed; for 10 s and more if a refresh is due and picks a dead host.
//! producer.send(vec![KeyedMessage::new("quakes", "magnitude 5.3")])?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod blocking_channel;
mod broker_partition_info;
mod client_utils;
mod config;
mod default_event_handler;
mod error;
mod machine;
mod partitioner;
mod producer;
mod producer_pool;
mod sync_producer;

pub use client_utils::{Asked, RefreshReport};
pub use config::{BrokerAddress, ProducerConfig};
pub use error::{ConfigError, RequestError, SendError};
pub use machine::{Host, Machine, Socket};
pub use partitioner::{ByteArrayPartitioner, Partitioner};
pub use producer::{KeyedMessage, Producer, ProducerBuilder};
pub use sync_producer::SyncProducer;
