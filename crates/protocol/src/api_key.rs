//! [`ApiKey`]: the kinds of request, with the versions that this crate speaks of each.

use crate::DecodeError;
use crate::message::VersionRange;

pub use crate::messages::generated::api_key::ApiKey;

/// What the schemas say about an API.
pub(crate) struct ApiFacts {
    pub(crate) name: &'static str,
    pub(crate) valid: VersionRange,
    /// Whether the highest version may still change (`latestVersionUnstable`).
    pub(crate) latest_unstable: bool,
    /// The first flexible version of request and response (KIP-482).
    pub(crate) flexible: Option<i16>,
}

impl ApiKey {
    /// Kafka's name of the API, such as `Produce`.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// All versions that the schemas call valid: what can be encoded and decoded, when the API has messages here.
    pub fn valid_versions(self) -> VersionRange {
        self.facts().valid
    }

    /// The valid versions that will not change any more: what a broker should advertise. One version may still be
    /// unstable (`latestVersionUnstable` in its schema).
    pub fn stable_versions(self) -> VersionRange {
        let ApiFacts { valid, latest_unstable, .. } = self.facts();
        VersionRange::new(valid.min, valid.max - i16::from(latest_unstable))
    }

    /// The first flexible version (KIP-482), if there is one.
    pub fn flexible_version(self) -> Option<i16> {
        self.facts().flexible
    }

    /// The version of the header in front of a request of this version.
    pub fn request_header_version(self, version: i16) -> i16 {
        match self {
            // The one request without a client id.
            Self::ControlledShutdown if version == 0 => 0,
            _ if self.is_flexible(version) => 2,
            _ => 1,
        }
    }

    /// The version of the header in front of a response of this version.
    ///
    /// That of ApiVersions is always 0: a client must understand the answer before it knows what the broker speaks
    /// (KIP-511).
    pub fn response_header_version(self, version: i16) -> i16 {
        i16::from(self != Self::ApiVersions && self.is_flexible(version))
    }

    fn is_flexible(self, version: i16) -> bool {
        self.facts().flexible.is_some_and(|first| version >= first)
    }
}

impl TryFrom<i16> for ApiKey {
    type Error = DecodeError;

    fn try_from(key: i16) -> Result<Self, Self::Error> {
        Self::from_i16(key).ok_or(DecodeError::UnknownApiKey(key))
    }
}

impl std::fmt::Display for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::ApiKey;
    use crate::VersionRange;

    #[test]
    fn keys_and_header_versions_are_those_of_kafka() {
        assert_eq!(ApiKey::from_i16(0), Some(ApiKey::Produce));
        assert_eq!(ApiKey::from_i16(-1), None);
        for key in ApiKey::ALL {
            assert_eq!(ApiKey::try_from(*key as i16), Ok(*key));
        }
        assert_eq!(ApiKey::Produce.request_header_version(8), 1);
        assert_eq!(ApiKey::Produce.request_header_version(9), 2);
        assert_eq!(ApiKey::Produce.response_header_version(9), 1);
        assert_eq!(ApiKey::ApiVersions.request_header_version(3), 2);
        assert_eq!(ApiKey::ApiVersions.response_header_version(3), 0);
        assert_eq!(ApiKey::ControlledShutdown.request_header_version(0), 0);
        assert_eq!(ApiKey::SaslHandshake.request_header_version(1), 1);
    }

    #[test]
    fn an_unstable_version_is_valid_but_not_advertised() {
        assert_eq!(ApiKey::InitProducerId.valid_versions(), VersionRange::new(0, 6));
        assert_eq!(ApiKey::InitProducerId.stable_versions(), VersionRange::new(0, 5));
        assert_eq!(ApiKey::Produce.stable_versions(), ApiKey::Produce.valid_versions());
    }
}
