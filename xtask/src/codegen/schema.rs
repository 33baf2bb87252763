//! Kafka's message schemas as they are written: JSON with `//` comments.

use std::fmt;

use anyhow::Context;
use serde::Deserialize;

/// One schema file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Schema {
    pub(super) api_key: Option<i16>,
    pub(super) r#type: String,
    pub(super) name: String,
    pub(super) valid_versions: String,
    #[serde(default)]
    pub(super) flexible_versions: Option<String>,
    #[serde(default)]
    pub(super) latest_version_unstable: bool,
    #[serde(default)]
    pub(super) fields: Vec<Field>,
    #[serde(default)]
    pub(super) common_structs: Vec<CommonStruct>,
}

/// A struct that several fields share.
#[derive(Debug, Deserialize)]
pub(super) struct CommonStruct {
    pub(super) name: String,
    pub(super) versions: String,
    pub(super) fields: Vec<Field>,
}

/// A field of a message or of a struct.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) r#type: String,
    pub(super) versions: String,
    pub(super) nullable_versions: Option<String>,
    pub(super) tagged_versions: Option<String>,
    pub(super) tag: Option<u32>,
    /// "none" for the one string that is never compact, in a header.
    pub(super) flexible_versions: Option<String>,
    pub(super) default: Option<serde_json::Value>,
    #[serde(default)]
    pub(super) ignorable: bool,
    #[serde(default)]
    pub(super) fields: Vec<Field>,
}

impl Schema {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let json: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        Ok(serde_json::from_str(&json.join("\n"))?)
    }
}

/// An inclusive range of versions; `max` may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Versions {
    pub(super) min: i16,
    pub(super) max: i16,
}

impl Versions {
    pub(super) const NONE: Self = Self { min: 0, max: -1 };

    /// Parses `3`, `3-7`, `3+` or `none`.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let number = |text: &str| text.parse::<i16>().with_context(|| format!("version {text:?}"));
        if text == "none" {
            return Ok(Self::NONE);
        }
        if let Some(min) = text.strip_suffix('+') {
            return Ok(Self { min: number(min)?, max: i16::MAX });
        }
        let (min, max) = text.split_once('-').unwrap_or((text, text));
        Ok(Self { min: number(min)?, max: number(max)? })
    }

    /// Parses what may be missing; nothing stands for no version.
    pub(super) fn parse_optional(text: Option<&String>) -> anyhow::Result<Self> {
        text.map_or(Ok(Self::NONE), |text| Self::parse(text))
    }

    pub(super) fn is_empty(self) -> bool {
        self.min > self.max
    }

    pub(super) fn contains(self, version: i16) -> bool {
        self.min <= version && version <= self.max
    }

    pub(super) fn intersect(self, other: Self) -> Self {
        let both = Self { min: self.min.max(other.min), max: self.max.min(other.max) };
        if both.is_empty() { Self::NONE } else { both }
    }

    pub(super) fn iter(self) -> impl Iterator<Item = i16> {
        self.min..=self.max
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            f.write_str("none")
        } else if self.min == self.max {
            write!(f, "{}", self.min)
        } else {
            write!(f, "{}-{}", self.min, self.max)
        }
    }
}
