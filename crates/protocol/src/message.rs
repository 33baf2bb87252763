//! [`Message`] and [`Request`], the traits of all generated messages, and [`VersionRange`].

use std::fmt;

use crate::{ApiKey, DecodeError, Decoder, EncodeError, Encoder};

/// A message of the protocol, in every version that Kafka's schema calls valid.
pub trait Message: Default + Clone + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// The schema's name, such as `MetadataRequest`.
    const NAME: &'static str;
    /// The versions that can be encoded and decoded.
    const VERSIONS: VersionRange;

    /// Appends the message to `enc`, without any header.
    ///
    /// # Errors
    /// When the version is unknown, when a field is set that the version cannot express, when something is too long.
    fn encode(&self, enc: &mut Encoder, version: i16) -> Result<(), EncodeError>;

    /// Reads the message from `dec`; what follows it stays there (see [`Decoder::expect_empty`]).
    ///
    /// # Errors
    /// When the version is unknown or the bytes are not such a message.
    fn decode(dec: &mut Decoder, version: i16) -> Result<Self, DecodeError>;
}

/// A message that is sent to a broker, and the answer that belongs to it.
pub trait Request: Message {
    /// The API that the request belongs to.
    const API_KEY: ApiKey;
    /// What the broker answers, in the same version.
    type Response: Message;
}

/// An inclusive range of versions; it holds none when `min` is above `max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VersionRange {
    /// The lowest version.
    pub min: i16,
    /// The highest version.
    pub max: i16,
}

impl VersionRange {
    /// No version at all.
    pub const EMPTY: Self = Self { min: 0, max: -1 };

    /// The versions from `min` to `max`, both included.
    pub const fn new(min: i16, max: i16) -> Self {
        Self { min, max }
    }

    /// Whether the range holds `version`.
    pub const fn contains(self, version: i16) -> bool {
        self.min <= version && version <= self.max
    }

    /// Whether the range holds no version.
    pub const fn is_empty(self) -> bool {
        self.min > self.max
    }

    /// The versions in both ranges, or None when there are none: what a client and a broker can speak (KIP-35).
    pub fn intersect(self, other: Self) -> Option<Self> {
        let both = Self { min: self.min.max(other.min), max: self.max.min(other.max) };
        (!both.is_empty()).then_some(both)
    }

    pub(crate) fn check_encode(self, message: &'static str, version: i16) -> Result<(), EncodeError> {
        if self.contains(version) {
            return Ok(());
        }
        Err(EncodeError::UnsupportedVersion { message, version, supported: self })
    }

    pub(crate) fn check_decode(self, message: &'static str, version: i16) -> Result<(), DecodeError> {
        if self.contains(version) {
            return Ok(());
        }
        Err(DecodeError::UnsupportedVersion { message, version, supported: self })
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_empty(), self.min == self.max) {
            (true, _) => f.write_str("none"),
            (false, true) => write!(f, "{}", self.min),
            (false, false) => write!(f, "{}-{}", self.min, self.max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::VersionRange;

    #[test]
    fn ranges_meet_or_they_do_not() {
        let ours = VersionRange::new(3, 13);
        assert_eq!(ours.intersect(VersionRange::new(0, 8)), Some(VersionRange::new(3, 8)));
        assert_eq!(ours.intersect(VersionRange::new(13, 20)), Some(VersionRange::new(13, 13)));
        assert_eq!(ours.intersect(VersionRange::new(0, 2)), None);
        assert_eq!(ours.intersect(VersionRange::EMPTY), None);
        assert!(ours.contains(3) && ours.contains(13) && !ours.contains(2) && !ours.contains(14));
        assert_eq!(format!("{ours} {} {}", VersionRange::new(1, 1), VersionRange::EMPTY), "3-13 1 none");
    }
}
