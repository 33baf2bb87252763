//! `-X key=value`.

use std::str::FromStr;

use clap::Args;

/// A setting under its Kafka name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Property {
    pub(crate) key: String,
    pub(crate) value: String,
}

impl FromStr for Property {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Ok(Self { key: key.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => Err("expected key=value".to_owned()),
        }
    }
}

/// `-X`, as often as needed.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Properties {
    /// A client setting under its Kafka name, e.g. -X linger.ms=20; may be repeated, the last one counts
    #[arg(short = 'X', long = "property", value_name = "KEY=VALUE")]
    pub(crate) properties: Vec<Property>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties() {
        let property: Property = "a.b = c=d".parse().unwrap();
        assert_eq!((property.key.as_str(), property.value.as_str()), ("a.b", "c=d"));
        assert!("a.b".parse::<Property>().is_err());
        assert!("=c".parse::<Property>().is_err());
        assert_eq!("a=".parse::<Property>().unwrap().value, "");
    }
}
