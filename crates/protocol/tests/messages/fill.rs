//! Random messages: `generated` implements [`Fill`] for every struct.

/// A struct that can be filled with whatever a version of it can carry.
pub(crate) trait Fill {
    fn fill(random: &mut Random, version: i16) -> Self;
}

/// Splitmix64, and what to make of its numbers.
pub(crate) struct Random {
    state: u64,
    /// How many arrays the next value lies in: the deeper, the shorter.
    depth: u32,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed, depth: 0 }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.state;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(crate) fn bool(&mut self) -> bool {
        self.below(2) == 1
    }

    /// Small numbers, extreme ones, and any others.
    pub(crate) fn int(&mut self) -> i64 {
        match self.below(4) {
            0 => self.below(4) as i64 - 2,
            1 => i64::MAX,
            2 => i64::MIN,
            _ => self.next() as i64,
        }
    }

    pub(crate) fn bytes(&mut self) -> [u8; 16] {
        if self.below(4) == 0 {
            [0; 16]
        } else {
            (u128::from(self.next()) << 64 | u128::from(self.next())).to_be_bytes()
        }
    }

    /// Now and then long enough for a compact length of two bytes.
    pub(crate) fn string(&mut self) -> String {
        let len = if self.below(8) == 0 { 130 } else { self.below(12) };
        (0..len).map(|_| ['a', 'é', '€', '😀', '-', '7'][self.below(6) as usize]).collect()
    }

    /// Now and then long enough to become a chunk of its own.
    pub(crate) fn payload(&mut self) -> Vec<u8> {
        let len = if self.below(4) == 0 { 1_500 } else { self.below(40) };
        (0..len).map(|_| self.next() as u8).collect()
    }

    pub(crate) fn vec<T>(&mut self, mut element: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let most = 4u64.saturating_sub(self.depth.into()).max(2);
        let len = if self.depth == 0 && self.below(16) == 0 { 130 } else { self.below(most) };
        self.depth += 1;
        let values = (0..len).map(|_| element(self)).collect();
        self.depth -= 1;
        values
    }

    pub(crate) fn option<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.below(4) == 0 { None } else { Some(value(self)) }
    }
}
