use super::{BATCH_HEADER_LEN, BatchBuilder, CompressedBatch, Compression, RecordBatch, RecordsError};

/// Re-encodes a batch that its broker called too large as smaller ones (`ProducerBatch.split`).
///
/// Keys, values, headers, timestamps and the codec survive, in the same order; each piece has at most `max_size`
/// bytes *uncompressed*, unless it is a single record. Two records or more always make two pieces or more, so that
/// splitting again and again ends. The pieces are sealed by the caller, with sequences that go on from piece to
/// piece by [`CompressedBatch::record_count`].
///
/// # Errors
/// When the batch cannot be read (see [`RecordBatch::records`]), or `level` is none of its codec's.
pub fn split(
    batch: &RecordBatch,
    max_size: usize,
    level: Option<i32>,
    limit_inflated: usize,
) -> Result<Vec<CompressedBatch>, RecordsError> {
    let codec = batch.header().attributes.compression()?;
    let records = batch.records(limit_inflated)?.collect::<Result<Vec<_>, _>>()?;
    let total: usize = records.iter().map(super::Record::payload_size).sum();
    let max_size = max_size.min(BATCH_HEADER_LEN + total / 2);

    let mut pieces = Vec::new();
    let mut open = BatchBuilder::new(Vec::new());
    for record in &records {
        if !open.is_empty() && open.len() + open.size_of(record) > max_size {
            let full = std::mem::replace(&mut open, BatchBuilder::new(Vec::new()));
            pieces.push(finish(full, codec, level)?);
        }
        open.append_record(record);
    }
    if !open.is_empty() {
        pieces.push(finish(open, codec, level)?);
    }
    Ok(pieces)
}

fn finish(
    full: BatchBuilder,
    codec: Compression,
    level: Option<i32>,
) -> Result<CompressedBatch, RecordsError> {
    match codec {
        Compression::None => Ok(full.uncompressed()),
        codec => full.compress(codec, level, Vec::new()),
    }
}
