//! [`Uuid`]: the 128-bit ids of topics, directories and members, written as Kafka writes them.

use std::fmt;
use std::str::FromStr;

/// 128 bits that name a topic (KIP-516), a log directory or a member.
///
/// Its text form is url-safe base64 without padding, 22 characters, as in Kafka's `org.apache.kafka.common.Uuid`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Uuid(pub [u8; 16]);

/// The text is not a [`Uuid`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an id: 22 characters of A-Z a-z 0-9 - _ are expected")]
pub struct ParseUuidError(String);

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// 128 bits at 6 bits a character, rounded up.
const TEXT_LEN: usize = 22;

impl Uuid {
    /// All zero: no id.
    pub const ZERO: Self = Self([0; 16]);

    /// Whether this is [`Uuid::ZERO`], which stands for no id.
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Four bits of padding below the 128 make 22 whole characters: the first takes the top 6 bits.
        let value = u128::from_be_bytes(self.0);
        let mut text = String::with_capacity(TEXT_LEN);
        for index in 0..TEXT_LEN {
            let bits = match 122usize.checked_sub(index * 6) {
                Some(shift) => value >> shift,
                None => value << 4,
            };
            text.push(char::from(ALPHABET[(bits & 63) as usize]));
        }
        f.pad(&text)
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uuid({self})")
    }
}

impl FromStr for Uuid {
    type Err = ParseUuidError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || ParseUuidError(text.chars().take(64).collect());
        if text.len() != TEXT_LEN {
            return Err(invalid());
        }
        let mut value = 0u128;
        for (index, byte) in text.bytes().enumerate() {
            let bits = ALPHABET.iter().position(|&b| b == byte).ok_or_else(invalid)? as u128;
            // The last character holds only two bits of the id; Kafka's decoder ignores the others too.
            value = if index + 1 == TEXT_LEN { value << 2 | bits >> 4 } else { value << 6 | bits };
        }
        Ok(Self(value.to_be_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::Uuid;

    #[test]
    fn text_is_url_safe_base64_without_padding() {
        assert_eq!(Uuid::ZERO.to_string(), "AAAAAAAAAAAAAAAAAAAAAA");
        assert_eq!(Uuid([0xff; 16]).to_string(), "_____________________w");
        let id = Uuid([0xfb, 0xef, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(id.to_string(), "--8CAwQFBgcICQoLDA0ODw");
        for id in [Uuid::ZERO, Uuid([0xff; 16]), id] {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
    }

    #[test]
    fn other_text_is_refused() {
        for text in [
            "",
            "AAAA",
            "AAAAAAAAAAAAAAAAAAAAA=",
            "AAAAAAAAAAAAAAAAAAAAA+",
            "AAAAAAAAAAAAAAAAAAAAAAA",
            "ääääääääääa",
        ] {
            assert!(text.parse::<Uuid>().is_err(), "{text}");
        }
    }
}
