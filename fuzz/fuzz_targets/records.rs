//! Record batches in a row, as a fetch answer or a segment has them: everything that reads them, and what reads and
//! writes them again.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use milena_protocol::records::{BatchBuilder, RecordBatches, Seal, reseal, split};

const LIMIT: usize = 1 << 20;

fuzz_target!(|data: &[u8]| {
    let _ = reseal(data, 1, 1, 1, Vec::new());
    let mut batches = RecordBatches::new(Bytes::copy_from_slice(data));
    for batch in batches.by_ref().flatten() {
        let _ = (batch.check_crc(), batch.control_type());
        let _ = split(&batch, 1000, None, LIMIT);
        assert!(batch.with_log_append_time(7).check_crc().is_ok());
        let Ok(records) = batch.records(LIMIT) else { continue };
        let records: Vec<_> = records.flatten().collect();

        // What was read is written, and read again the same but for the offsets, which start anew.
        let mut builder = BatchBuilder::new(Vec::new());
        for record in &records {
            builder.append_record(record);
        }
        let mut again = RecordBatches::new(Bytes::from(builder.seal(Seal::default())));
        let again = again.next().expect("a batch was sealed").expect("it is a good one");
        let mut count = 0;
        for (read, record) in again.records(0).expect("nothing is compressed").zip(&records) {
            let read = read.expect("it was just written");
            assert_eq!(
                (read.timestamp, &read.key, &read.value),
                (record.timestamp, &record.key, &record.value)
            );
            assert_eq!(read.headers, record.headers);
            count += 1;
        }
        assert_eq!(count, records.len());
    }
    let _ = batches.truncated();
});
