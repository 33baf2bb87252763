//! [`OffsetMap`]: the last offset of each key, in bounded memory.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

/// How many keys one pass remembers: what fits into 2²⁰ buckets of 25 bytes (`log.cleaner.dedupe.buffer.size`, which is
/// 128 MB in Kafka).
pub(super) const MAX_KEYS: usize = 917_504;

/// Offsets by key. Of a key only a hash of 128 bits is kept, under secrets of this map's own, as Kafka keeps an MD5 of it.
#[derive(Debug)]
pub(super) struct OffsetMap {
    offsets: HashMap<u128, i64>,
    secrets: (RandomState, RandomState),
    capacity: usize,
}

impl OffsetMap {
    pub(super) fn new(capacity: usize) -> Self {
        Self { offsets: HashMap::new(), secrets: (RandomState::new(), RandomState::new()), capacity }
    }

    /// Notes that the last record with this key is at `offset`, unless the map is full: then it answers false.
    pub(super) fn put(&mut self, key: &[u8], offset: i64) -> bool {
        let hash = self.hash(key);
        if self.offsets.len() >= self.capacity && !self.offsets.contains_key(&hash) {
            return false;
        }
        self.offsets.insert(hash, offset);
        true
    }

    /// The offset of the last record with this key, if one was noted.
    pub(super) fn get(&self, key: &[u8]) -> Option<i64> {
        self.offsets.get(&self.hash(key)).copied()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.offsets.len()
    }

    fn hash(&self, key: &[u8]) -> u128 {
        let (high, low) = (self.secrets.0.hash_one(key), self.secrets.1.hash_one(key));
        u128::from(high) << 64 | u128::from(low)
    }
}
