//! Which versions of each API a broker speaks, as it said on connecting (KIP-35).

use std::collections::BTreeMap;

use milena_protocol::{ApiKey, VersionRange};

/// A broker's answer to ApiVersions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeApiVersions {
    ranges: BTreeMap<i16, VersionRange>,
}

impl NodeApiVersions {
    /// From pairs of API key and versions; APIs that this client does not know are kept too.
    pub fn new(ranges: impl IntoIterator<Item = (i16, VersionRange)>) -> Self {
        Self { ranges: ranges.into_iter().collect() }
    }

    /// The versions that the broker speaks of an API; none when it does not have it.
    pub fn versions(&self, api: ApiKey) -> Option<VersionRange> {
        self.ranges.get(&(api as i16)).copied()
    }

    /// The newest version of an API that the broker speaks and `client` allows.
    pub fn latest(&self, api: ApiKey, client: VersionRange) -> Option<i16> {
        self.versions(api)?.intersect(client).map(|both| both.max)
    }

    /// All APIs by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (i16, VersionRange)> {
        self.ranges.iter().map(|(key, range)| (*key, *range))
    }
}
