//! The produce path: accumulate, drain, send, retry.
//!
//! On callers' threads: [`RecordAccumulator::append`] encodes a record into the open batch of its partition and gives a
//! [`Delivery`]. Owned by the driver: the Sender takes batches when they are ready, gives them their place in the
//! producer's sequence and sends them, retries, expires, and completes them.

mod buffer_pool;
mod completion;
mod compression_job;
mod engine;
mod error;
mod partition_queue;
mod partition_state;
mod partitioner;
mod placement;
mod producer_batch;
mod record_accumulator;
mod rescue;
mod sender;
mod transaction_manager;

pub use buffer_pool::{BufferPool, MemoryWait, PoolClosed, PooledBuffer, Reservation};
pub use completion::{BatchCompletion, Delivery};
pub use compression_job::CompressionJob;
pub use engine::{ProducerEngine, ProducerShared};
pub use error::{AppendError, Fault, ProduceError};
pub use partitioner::{BuiltInPartitioner, PartitionLoad, murmur2, partition_for_key};
pub use producer_batch::ProducerIdentity;
pub(crate) use record_accumulator::TopicQueues;
pub use record_accumulator::{Append, Flush, RecordAccumulator};
pub use sender::Sender;
