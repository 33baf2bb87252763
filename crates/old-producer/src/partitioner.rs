//! Which partition a key goes to (`kafka.producer.Partitioner`).

use std::fmt;

/// Chooses a partition by the key.
pub trait Partitioner: Send + fmt::Debug {
    /// The partition for `key`, from 0 to `partitions` - 1.
    fn partition(&self, key: &[u8], partitions: i32) -> i32;
}

/// The choice of 0.8 for keys of bytes: the absolute value of `Arrays.hashCode(key)`, modulo the number of partitions. It is
/// not that of today's producers (murmur2).
#[derive(Debug, Clone, Copy, Default)]
pub struct ByteArrayPartitioner;

impl Partitioner for ByteArrayPartitioner {
    fn partition(&self, key: &[u8], partitions: i32) -> i32 {
        let hash = key
            .iter()
            .fold(1_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte.cast_signed())));
        // `Utils.abs`: the number that has no absolute value counts as 0.
        hash.checked_abs().unwrap_or(0) % partitions.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_hashed_as_java_hashes_arrays() {
        // java.util.Arrays.hashCode: [] 1, [1] 32, [-1] 30, "a" 128, {1, 2} 994.
        for (key, hash) in [(&b""[..], 1), (&[1], 32), (&[0xff], 30), (b"a", 128), (&[1, 2], 994)] {
            assert_eq!(ByteArrayPartitioner.partition(key, 1_000_000), hash, "{key:?}");
        }
    }

    #[test]
    fn a_partition_is_never_negative() {
        for key in 0..10_000_u32 {
            let partition = ByteArrayPartitioner.partition(&key.wrapping_mul(2_654_435_761).to_be_bytes(), 7);
            assert!((0..7).contains(&partition), "{key}: {partition}");
        }
    }
}
