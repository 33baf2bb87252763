//! Which partition a record goes to: the key's hash, or the sticky partition of the moment.
//!
//! Kafka's source: `BuiltInPartitioner`, `Utils.murmur2` (KIP-480, KIP-794).

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use arc_swap::ArcSwapOption;

use crate::cluster::TopicInfo;

/// The 32-bit murmur2 hash that Kafka's partitioner uses (`Utils.murmur2`), bit for bit as in Java.
pub fn murmur2(data: &[u8]) -> i32 {
    const SEED: u32 = 0x9747_b28c;
    const M: u32 = 0x5bd1_e995;
    const R: u32 = 24;
    let mut h = SEED ^ (data.len() as u32);
    let (words, rest) = data.as_chunks::<4>();
    for word in words {
        let mut k = u32::from_le_bytes(*word).wrapping_mul(M);
        k = (k ^ (k >> R)).wrapping_mul(M);
        h = h.wrapping_mul(M) ^ k;
    }
    if !rest.is_empty() {
        for (i, byte) in rest.iter().enumerate() {
            h ^= u32::from(*byte) << (8 * i);
        }
        h = h.wrapping_mul(M);
    }
    h ^= h >> 13;
    h = h.wrapping_mul(M);
    (h ^ (h >> 15)).cast_signed()
}

/// The partition of a key among `count` (`BuiltInPartitioner.partitionForKey`).
pub fn partition_for_key(key: &[u8], count: usize) -> i32 {
    let positive = murmur2(key) & 0x7fff_ffff;
    let count = i32::try_from(count).unwrap_or(i32::MAX).max(1);
    positive % count
}

/// How likely each partition is to be chosen next: the shorter its queue, the more.
///
/// Made by the Sender and swapped whole (`BuiltInPartitioner.PartitionLoadStats`).
#[derive(Debug, PartialEq, Eq)]
pub struct PartitionLoad {
    /// For each partition the sum of the weights up to its own.
    cumulative: Box<[u64]>,
    partitions: Box<[i32]>,
}

impl PartitionLoad {
    /// The weights for these partitions and their queue lengths: the longest queue has weight 1.
    ///
    /// None when there is nothing to choose by: fewer than two partitions, or all queues equal.
    pub fn new(queues: &[(i32, u64)]) -> Option<Self> {
        let longest = queues.iter().map(|(_, length)| *length).max()?;
        let shortest = queues.iter().map(|(_, length)| *length).min()?;
        if longest == shortest { None } else { Self::of_some(queues) }
    }

    /// As [`new`](Self::new), for when the topic has partitions that are not to be chosen: then equal queues count too.
    pub fn of_some(queues: &[(i32, u64)]) -> Option<Self> {
        let longest = queues.iter().map(|(_, length)| *length).max()?;
        let mut sum = 0;
        let cumulative = queues.iter().map(|(_, length)| {
            sum += longest + 1 - length;
            sum
        });
        Some(Self {
            cumulative: cumulative.collect(),
            partitions: queues.iter().map(|(id, _)| *id).collect(),
        })
    }

    fn pick(&self, random: u64) -> Option<i32> {
        let random = random % self.cumulative.last()?;
        let index = self.cumulative.partition_point(|sum| *sum <= random);
        self.partitions.get(index).copied()
    }
}

/// The sticky partition of one topic: records without a key go to it until batch.size bytes went there.
///
/// Many threads read it at each record and change it once in a batch.size: atomics, and no lock.
#[derive(Debug)]
pub struct BuiltInPartitioner {
    current: AtomicI32,
    /// A counter that is hashed: random numbers without a lock.
    random: AtomicU64,
    load: ArcSwapOption<PartitionLoad>,
}

const NO_PARTITION: i32 = -1;

impl BuiltInPartitioner {
    /// A partitioner whose choices follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            current: AtomicI32::new(NO_PARTITION),
            random: AtomicU64::new(seed),
            load: ArcSwapOption::empty(),
        }
    }

    /// The partition for the next record without a key; none when the topic has no partitions.
    pub fn partition(&self, topic: &TopicInfo) -> Option<i32> {
        let current = self.current.load(Ordering::Relaxed);
        let usable =
            topic.partition(current).is_some_and(|p| p.leader.is_some() || topic.available.is_empty());
        if usable { Some(current) } else { self.switch(current, topic) }
    }

    /// batch.size bytes went to `from`: chooses another one, unless somebody else has.
    pub fn switch(&self, from: i32, topic: &TopicInfo) -> Option<i32> {
        let next = self.choose(topic)?;
        match self.current.compare_exchange(from, next, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Some(next),
            // Another thread was faster; what it chose may belong to another snapshot of the topic.
            Err(current) if topic.partition(current).is_some() => Some(current),
            Err(_) => Some(next),
        }
    }

    /// Chooses another partition now if the present one is not usable; there is no other if none is.
    pub fn leave_unusable(&self, topic: &TopicInfo, is_usable: impl Fn(i32) -> bool) {
        let current = self.current.load(Ordering::Relaxed);
        if current != NO_PARTITION && !is_usable(current) {
            self.switch(current, topic);
        }
    }

    /// Replaces the weights; none: all partitions with a leader are alike.
    pub fn set_load(&self, load: Option<PartitionLoad>) {
        if load.is_some() || self.load.load().is_some() {
            self.load.store(load.map(Into::into));
        }
    }

    fn choose(&self, topic: &TopicInfo) -> Option<i32> {
        let random = splitmix64(self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed));
        if let Some(load) = &*self.load.load()
            && let Some(partition) = load.pick(random)
            && topic.partition(partition).is_some_and(|p| p.leader.is_some())
        {
            return Some(partition);
        }
        if topic.available.is_empty() {
            let count = topic.partitions.len() as u64;
            return (count > 0).then(|| (random % count) as i32);
        }
        topic.available.get((random % topic.available.len() as u64) as usize).copied()
    }
}

fn splitmix64(state: u64) -> u64 {
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with `org.apache.kafka.common.utils.Utils` of kafka-clients 4.4.0: the hash, and the partitions that
    /// `toPositive` gives among 6 and among 100.
    const JAVA: [(&str, i32, i32, i32); 16] = [
        ("", 275_646_681, 3, 81),
        ("a", -1_563_381_124, 4, 24),
        ("ab", 316_155_434, 2, 34),
        ("abc", 479_470_107, 3, 7),
        ("abcd", -1_323_649_548, 2, 0),
        ("abcde", 461_995_741, 1, 41),
        ("21", -973_932_308, 0, 40),
        ("foobar", -790_332_482, 0, 66),
        ("a-little-bit-long-string", -985_981_536, 2, 12),
        ("a-little-bit-longer-string", -1_486_304_829, 5, 19),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971, 5, 77),
        ("Z\u{fc}rich", -1_551_140_815, 1, 33),
        ("us", 153_622_729, 1, 29),
        ("ci", -1_001_998_726, 4, 22),
        ("nc", 1_631_369_160, 0, 60),
        ("\0\u{ff}", -1_951_946_001, 5, 47),
    ];

    #[test]
    fn murmur2_is_that_of_java() {
        for (key, hash, of_6, of_100) in JAVA {
            assert_eq!(murmur2(key.as_bytes()), hash, "{key:?}");
            assert_eq!(partition_for_key(key.as_bytes(), 6), of_6, "{key:?}");
            assert_eq!(partition_for_key(key.as_bytes(), 100), of_100, "{key:?}");
        }
        let long: Vec<u8> = (0..1000_u32).map(|i| (i * 31) as u8).collect();
        assert_eq!(murmur2(&long), 1_556_061_414);
        assert_eq!(murmur2(&[0xff, 0x80, 0xfe]), 957_058_525);
    }

    #[test]
    fn shorter_queues_weigh_more() {
        let load = PartitionLoad::new(&[(0, 0), (2, 3), (5, 1)]).expect("unequal");
        // Weights 4, 1 and 3.
        let picks: Vec<i32> = (0..8).filter_map(|random| load.pick(random)).collect();
        assert_eq!(picks, [0, 0, 0, 0, 2, 5, 5, 5]);
        assert_eq!(PartitionLoad::new(&[(0, 2), (1, 2)]), None);
        assert_eq!(PartitionLoad::new(&[]), None);
        let some = PartitionLoad::of_some(&[(1, 2), (3, 2)]).expect("others are not to be chosen");
        assert_eq!([0, 1, 2, 3].map(|random| some.pick(random)), [Some(1), Some(3), Some(1), Some(3)]);
    }
}
