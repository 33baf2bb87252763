//! `.snapshot` files: the producers' state at an offset, so that recovery need not read the log from its start.
//!
//! Kafka's format, version 1: version i16, CRC-32C u32 of all that follows, a count i32, then per producer id i64,
//! epoch i16, last sequence i32, last offset i64, offset delta i32, timestamp i64, coordinator epoch i32, first offset of
//! the open transaction i64 (−1 for none). Only the last batch of each producer is in it.

use std::path::Path;

use bytes::{Buf, BufMut};
use milena_protocol::records::NO_SEQUENCE;

use super::{BatchMetadata, ProducerStateEntry, ProducerStateManager};
use crate::error::{IoContext, Result, StorageError};
use crate::fs::{FileSystem, read_file, write_file_atomically};

/// The files' suffix.
pub(crate) const SNAPSHOT_SUFFIX: &str = "snapshot";

const VERSION: i16 = 1;
/// Version and CRC.
const PREFIX_BYTES: usize = 6;
const ENTRY_BYTES: usize = 46;
/// Ten million producers of one partition.
const MAX_FILE_BYTES: usize = 512 * 1024 * 1024;

/// Writes the state so that it is durable.
pub(crate) fn write_snapshot(fs: &dyn FileSystem, path: &Path, state: &ProducerStateManager) -> Result<()> {
    write_file_atomically(fs, path, &encode(state)).at(path)
}

/// Reads a snapshot.
///
/// # Errors
/// [`StorageError::BrokenFile`] for anything that is no snapshot.
pub(crate) fn read_snapshot(fs: &dyn FileSystem, path: &Path) -> Result<ProducerStateManager> {
    let bytes = read_file(fs, path, MAX_FILE_BYTES).at(path)?;
    decode(&bytes).map_err(|reason| StorageError::broken(path, reason))
}

fn encode(state: &ProducerStateManager) -> Vec<u8> {
    let mut entries = Vec::with_capacity(4 + state.producers.len() * ENTRY_BYTES);
    entries.put_i32(i32::try_from(state.producers.len()).unwrap_or(i32::MAX));
    for (id, entry) in state.producers() {
        let none =
            BatchMetadata { last_sequence: NO_SEQUENCE, last_offset: -1, offset_delta: 0, timestamp: -1 };
        let last = entry.batches.back().copied().unwrap_or(none);
        entries.put_i64(id);
        entries.put_i16(entry.producer_epoch);
        entries.put_i32(last.last_sequence);
        entries.put_i64(last.last_offset);
        entries.put_i32(last.offset_delta);
        entries.put_i64(entry.last_timestamp);
        entries.put_i32(entry.coordinator_epoch);
        entries.put_i64(entry.current_txn_first_offset.unwrap_or(-1));
    }
    let mut file = Vec::with_capacity(PREFIX_BYTES + entries.len());
    file.put_i16(VERSION);
    file.put_u32(crc32c::crc32c(&entries));
    file.extend_from_slice(&entries);
    file
}

fn decode(mut bytes: &[u8]) -> Result<ProducerStateManager, String> {
    let short = |_| "it is cut off".to_owned();
    let version = bytes.try_get_i16().map_err(short)?;
    if version != VERSION {
        return Err(format!("version {version} is not {VERSION}"));
    }
    let expected = bytes.try_get_u32().map_err(short)?;
    let found = crc32c::crc32c(bytes);
    if expected != found {
        return Err(format!("its CRC is {found:#010x}, not {expected:#010x}"));
    }
    let count =
        usize::try_from(bytes.try_get_i32().map_err(short)?).map_err(|_| "a negative count".to_owned())?;
    if count.checked_mul(ENTRY_BYTES) != Some(bytes.len()) {
        return Err(format!("{count} producers do not take {} bytes", bytes.len()));
    }
    let mut state = ProducerStateManager::default();
    for _ in 0..count {
        let (id, entry) = decode_entry(&mut bytes).map_err(short)?;
        state.insert(id, entry);
    }
    Ok(state)
}

fn decode_entry(bytes: &mut &[u8]) -> Result<(i64, ProducerStateEntry), bytes::TryGetError> {
    let id = bytes.try_get_i64()?;
    let mut entry = ProducerStateEntry::new(bytes.try_get_i16()?);
    let last_sequence = bytes.try_get_i32()?;
    let last_offset = bytes.try_get_i64()?;
    let offset_delta = bytes.try_get_i32()?;
    let timestamp = bytes.try_get_i64()?;
    entry.last_timestamp = timestamp;
    entry.coordinator_epoch = bytes.try_get_i32()?;
    entry.current_txn_first_offset = Some(bytes.try_get_i64()?).filter(|offset| *offset >= 0);
    if last_sequence != NO_SEQUENCE {
        entry.batches.push_back(BatchMetadata { last_sequence, last_offset, offset_delta, timestamp });
    }
    Ok((id, entry))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn state() -> ProducerStateManager {
        let mut state = ProducerStateManager::default();
        for id in 0..3 {
            let mut entry = ProducerStateEntry::new(7);
            entry.last_timestamp = 1000 + id;
            entry.current_txn_first_offset = (id == 1).then_some(40);
            let batch = |n: i32| BatchMetadata {
                last_sequence: n,
                last_offset: i64::from(n) * 10,
                offset_delta: 4,
                timestamp: 1000 + id,
            };
            entry.batches.extend((0..id as i32).map(batch));
            state.insert(id, entry);
        }
        state
    }

    #[test]
    fn the_last_batch_of_each_producer_survives() {
        let read = decode(&encode(&state())).unwrap();
        let mut expected = state();
        for entry in expected.producers.values_mut() {
            entry.batches = entry.batches.back().copied().into_iter().collect();
        }
        assert_eq!(read.producers, expected.producers);
    }

    #[test]
    fn a_changed_byte_anywhere_is_noticed() {
        let good = encode(&state());
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert!(decode(&bad).is_err(), "byte {at}");
            assert!(decode(&good[..at]).is_err(), "cut at {at}");
        }
    }

    proptest! {
        #[test]
        fn garbage_never_panics(mut bytes: Vec<u8>) {
            prop_assert!(decode(&bytes).is_err());
            // With version and CRC right, the count is what stops it.
            bytes.insert(0, 0x7f);
            let mut file = VERSION.to_be_bytes().to_vec();
            file.extend(crc32c::crc32c(&bytes).to_be_bytes());
            file.extend(&bytes);
            prop_assert!(decode(&file).is_err());
        }
    }
}
