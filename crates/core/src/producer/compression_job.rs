//! A batch on its way through a compressor, off the driver.

use milena_protocol::records::{BatchBuilder, CompressedBatch, Compression, RecordsError};

use super::{
    buffer_pool::{BufferPool, Reservation},
    completion::Completer,
    partition_queue::OpenBatch,
};
use crate::time::Instant;

/// A full batch and the codec for it. Whoever carries it out calls [`run`](Self::run), on any thread, and hands it back
/// with [`Event::Compressed`](crate::engine::Event::Compressed). Dropping it fails the batch's records.
#[derive(Debug)]
pub struct CompressionJob {
    pub(crate) queue: usize,
    pub(crate) completer: Completer,
    pub(crate) created_at: Instant,
    memory: Reservation,
    codec: Compression,
    level: Option<i32>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Waiting { builder: BatchBuilder, out: Vec<u8> },
    Done(Result<CompressedBatch, RecordsError>),
}

impl CompressionJob {
    pub(crate) fn new(
        queue: usize,
        batch: OpenBatch,
        codec: Compression,
        level: Option<i32>,
        pool: &BufferPool,
    ) -> Self {
        let OpenBatch { builder, memory, completer, created_at } = batch;
        let out = pool.buffer(builder.len() / 2);
        Self { queue, completer, created_at, memory, codec, level, stage: Stage::Waiting { builder, out } }
    }

    /// Compresses. A pure function of the batch; the second call does nothing.
    pub fn run(&mut self) {
        if let Stage::Waiting { builder, out } = &mut self.stage {
            let result = builder.compress(self.codec, self.level, std::mem::take(out));
            let builder = std::mem::replace(builder, BatchBuilder::new(Vec::new()));
            self.stage = Stage::Done(result);
            self.memory.recycle(builder.into_buffer());
        }
    }

    /// Uncompressed bytes, as a measure of the work.
    pub fn size(&self) -> usize {
        match &self.stage {
            Stage::Waiting { builder, .. } => builder.len(),
            Stage::Done(_) => 0,
        }
    }

    /// What came out of it, and the memory that is charged for it.
    pub(crate) fn finish(
        mut self,
    ) -> (Completer, Instant, Result<(CompressedBatch, Reservation), RecordsError>) {
        self.run();
        let Self { completer, created_at, mut memory, stage, .. } = self;
        let result = match stage {
            Stage::Done(result) => result.map(|batch| {
                memory.shrink_to(batch.len());
                (batch, memory)
            }),
            Stage::Waiting { .. } => {
                Err(RecordsError::Malformed { what: "a compression that was not carried out" })
            }
        };
        (completer, created_at, result)
    }
}
