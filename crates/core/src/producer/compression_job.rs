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
    Waiting {
        builder: BatchBuilder,
        out: Vec<u8>,
    },
    Done(Result<CompressedBatch, RecordsError>),
    /// While a codec is at work, and for ever if it panicked.
    Lost,
}

impl CompressionJob {
    pub(crate) fn new(
        queue: usize,
        batch: OpenBatch,
        codec: Compression,
        level: Option<i32>,
        pool: &BufferPool,
    ) -> Self {
        let OpenBatch { builder, memory, completer, created_at, .. } = batch;
        let out = pool.buffer(builder.len() / 2);
        Self { queue, completer, created_at, memory, codec, level, stage: Stage::Waiting { builder, out } }
    }

    /// Compresses. A pure function of the batch; the second call does nothing.
    ///
    /// If it panics the job is to be handed back all the same: the batch fails, and those behind it go on.
    pub fn run(&mut self) {
        match std::mem::replace(&mut self.stage, Stage::Lost) {
            Stage::Waiting { builder, out } => {
                self.stage = Stage::Done(builder.compress(self.codec, self.level, out));
                self.memory.recycle(builder.into_buffer());
            }
            stage => self.stage = stage,
        }
    }

    /// Uncompressed bytes, as a measure of the work.
    pub fn size(&self) -> usize {
        match &self.stage {
            Stage::Waiting { builder, .. } => builder.len(),
            Stage::Done(_) | Stage::Lost => 0,
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
            Stage::Waiting { .. } | Stage::Lost => {
                Err(RecordsError::Malformed { what: "a compression that did not end" })
            }
        };
        (completer, created_at, result)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::producer::completion::IncompleteBatches;

    #[test]
    fn a_codec_that_panicked_fails_its_batch_and_gives_the_memory_back() {
        let pool = Arc::new(BufferPool::new(1 << 10, 1 << 10));
        let memory = pool.try_reserve(64, 0).expect("free");
        let completer = Arc::<IncompleteBatches>::default().open("t".into(), 0);
        let batch = OpenBatch::new(memory, &pool, completer, Instant::ORIGIN);
        let mut job = CompressionJob::new(0, batch, Compression::Lz4, None, &pool);
        job.stage = Stage::Lost;
        let (_, _, result) = job.finish();
        assert!(result.is_err());
        assert_eq!(pool.free(), pool.total());
    }
}
