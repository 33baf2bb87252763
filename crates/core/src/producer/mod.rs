//! The produce path: accumulate, drain, send, retry.
//!
//! On callers' threads: [`RecordAccumulator::append`] encodes a record into the open batch of its partition and gives a
//! [`Delivery`]. Owned by the driver: the Sender takes batches when they are ready, gives them their place in the
//! producer's sequence and sends them, retries, expires, and completes them.

mod buffer_pool;
mod completion;
mod error;
mod partition_queue;
mod partitioner;
mod record_accumulator;

pub use buffer_pool::{BufferPool, MemoryWait, PoolClosed, PooledBuffer, Reservation};
pub use completion::{BatchCompletion, Delivery};
pub use error::{AppendError, Fault, ProduceError};
pub use partitioner::{BuiltInPartitioner, PartitionLoad, murmur2, partition_for_key};
pub use record_accumulator::{Append, Flush, RecordAccumulator};

/// A full batch on its way through a compressor (replaced by the real one).
#[derive(Debug)]
pub struct CompressionJob;
