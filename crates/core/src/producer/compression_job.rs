//! A batch on its way through a compressor, off the driver.

use milena_protocol::records::{BatchBuilder, CompressedBatch, Compression, RecordsError};

use super::{buffer_pool::Reservation, completion::Completer, partition_queue::OpenBatch};
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
    Waiting(BatchBuilder),
    Done(Result<CompressedBatch, RecordsError>),
    /// While a codec is at work, and for ever if it panicked.
    Lost,
}

impl CompressionJob {
    pub(crate) fn new(queue: usize, batch: OpenBatch, codec: Compression, level: Option<i32>) -> Self {
        let OpenBatch { builder, memory, completer, created_at, .. } = batch;
        Self { queue, completer, created_at, memory, codec, level, stage: Stage::Waiting(builder) }
    }

    /// Compresses. A pure function of the batch; the second call does nothing.
    ///
    /// If it panics the job is to be handed back all the same: the batch fails, and those behind it go on.
    pub fn run(&mut self) {
        match std::mem::replace(&mut self.stage, Stage::Lost) {
            Stage::Waiting(builder) => {
                let mut result = builder.compress(self.codec, self.level, Vec::new());
                // It is charged what comes out, and may wait long.
                if let Ok(batch) = &mut result {
                    batch.shrink_to_fit();
                }
                self.stage = Stage::Done(result);
                self.memory.recycle(builder.into_buffer());
            }
            stage => self.stage = stage,
        }
    }

    /// Uncompressed bytes, as a measure of the work.
    pub fn size(&self) -> usize {
        match &self.stage {
            Stage::Waiting(builder) => builder.len(),
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
            Stage::Waiting(_) | Stage::Lost => {
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
    use crate::producer::{buffer_pool::BufferPool, completion::IncompleteBatches};

    #[test]
    fn a_compressed_batch_holds_what_it_is_charged_and_no_more() {
        let pool = Arc::new(BufferPool::new(4 << 20, 4 << 20));
        let completer = || Arc::<IncompleteBatches>::default().open("t".into(), 0);
        for codec in [Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
            let memory = pool.try_reserve(1 << 20, 0).expect("free");
            let mut batch = OpenBatch::new(memory, &pool, completer(), Instant::ORIGIN);
            for _ in 0..10 {
                batch.builder.append(0, None, Some(&[b'x'; 100_000]), &[]);
            }
            let job = CompressionJob::new(0, batch, codec, None);
            let (_, _, result) = job.finish();
            let (batch, memory) = result.expect("a known level");
            let (held, charged) = (batch.into_buffer().capacity(), memory.bytes());
            assert!(held <= charged + 64, "{codec:?}: {held} bytes held, {charged} charged");
        }
        assert_eq!(pool.free(), pool.total());
    }

    #[test]
    fn a_codec_that_panicked_fails_its_batch_and_gives_the_memory_back() {
        let pool = Arc::new(BufferPool::new(1 << 10, 1 << 10));
        let memory = pool.try_reserve(64, 0).expect("free");
        let completer = Arc::<IncompleteBatches>::default().open("t".into(), 0);
        let batch = OpenBatch::new(memory, &pool, completer, Instant::ORIGIN);
        let mut job = CompressionJob::new(0, batch, Compression::Lz4, None);
        job.stage = Stage::Lost;
        let (_, _, result) = job.finish();
        assert!(result.is_err());
        assert_eq!(pool.free(), pool.total());
    }
}
