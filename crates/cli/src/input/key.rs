//! How a line becomes key and value.

use std::{borrow::Cow, fmt};

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Where a record's key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyRule {
    /// Records have no key.
    None,
    /// What stands before the first occurrence of these bytes, which are in neither key nor value. A line without them
    /// is a value without a key, as with kcat.
    Separator(Vec<u8>),
    /// This top-level field of the line, which is a JSON object; the value is the whole line.
    JsonField(String),
}

/// A line's key and value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Keyed<'a> {
    pub(crate) key: Option<Cow<'a, [u8]>>,
    pub(crate) value: &'a [u8],
}

/// Why a line has no key though it should.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    #[error("not a JSON object ({0}): fix the line, or produce without --json-key")]
    NotJson(serde_json::Error),
    #[error("no field `{0}`: fix the line, or leave such lines out (`jq -c 'select(has(\"{0}\"))'`)")]
    Missing(String),
    #[error(
        "the field `{0}` holds an object or array, which is no key: name a field that holds a string, number or boolean"
    )]
    NotScalar(String),
}

impl KeyRule {
    /// Splits a line. Without allocation, except for a JSON string with escapes.
    ///
    /// # Errors
    /// Only with [`KeyRule::JsonField`].
    pub(crate) fn split<'a>(&self, line: &'a [u8]) -> Result<Keyed<'a>, KeyError> {
        match self {
            Self::None => Ok(Keyed { key: None, value: line }),
            Self::Separator(separator) => Ok(split_at(line, separator)),
            Self::JsonField(field) => Ok(Keyed { key: json_key(line, field)?, value: line }),
        }
    }
}

fn split_at<'a>(line: &'a [u8], separator: &[u8]) -> Keyed<'a> {
    let Some(at) = memchr::memmem::find(line, separator) else { return Keyed { key: None, value: line } };
    let (key, rest) = line.split_at(at);
    let value = rest.get(separator.len()..).unwrap_or_default();
    Keyed { key: Some(Cow::Borrowed(key)), value }
}

/// A string gives its text, a number or boolean its JSON text, null no key.
fn json_key<'a>(line: &'a [u8], field: &str) -> Result<Option<Cow<'a, [u8]>>, KeyError> {
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    let found = deserializer.deserialize_map(TopLevel { field }).map_err(KeyError::NotJson)?;
    deserializer.end().map_err(KeyError::NotJson)?;
    let text = found.ok_or_else(|| KeyError::Missing(field.to_owned()))?.get();
    match text.as_bytes() {
        b"null" => Ok(None),
        [b'{' | b'[', ..] => Err(KeyError::NotScalar(field.to_owned())),
        [b'"', plain @ .., b'"'] if !plain.contains(&b'\\') => Ok(Some(Cow::Borrowed(plain))),
        [b'"', ..] => {
            let unescaped: String = serde_json::from_str(text).map_err(KeyError::NotJson)?;
            Ok(Some(Cow::Owned(unescaped.into_bytes())))
        }
        scalar => Ok(Some(Cow::Borrowed(scalar))),
    }
}

/// Finds one field of an object; the last one if it is there twice, as JSON readers commonly do.
struct TopLevel<'f> {
    field: &'f str,
}

impl<'de> Visitor<'de> for TopLevel<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(is_wanted) = map.next_key_seed(Named(self.field))? {
            if is_wanted {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Whether a field has this name.
struct Named<'f>(&'f str);

impl<'de> serde::de::DeserializeSeed<'de> for Named<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Named<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(rule: &KeyRule, line: &str) -> Result<Option<String>, String> {
        let keyed = rule.split(line.as_bytes()).map_err(|error| error.to_string())?;
        Ok(keyed.key.map(|key| String::from_utf8(key.into_owned()).unwrap()))
    }

    fn by(field: &str) -> KeyRule {
        KeyRule::JsonField(field.to_owned())
    }

    #[test]
    fn the_first_separator_splits() {
        let rule = KeyRule::Separator(b"::".to_vec());
        let split = |line: &'static [u8]| {
            let Keyed { key, value } = rule.split(line).unwrap();
            (key.map(Cow::into_owned), value)
        };
        assert_eq!(split(b"k::v::w"), (Some(b"k".to_vec()), &b"v::w"[..]));
        assert_eq!(split(b"::v"), (Some(Vec::new()), &b"v"[..]));
        assert_eq!(split(b"k::"), (Some(b"k".to_vec()), &b""[..]));
        assert_eq!(split(b"no separator: here"), (None, &b"no separator: here"[..]));
        assert_eq!(split(b""), (None, &b""[..]));
    }

    #[test]
    fn json_scalars_are_keys() {
        let line = r#"{"net": "us", "mag": 1.50, "ok": true, "none": null, "esc": "a\"\u00e9\n", "net2": {"net": "no"}}"#;
        assert_eq!(key(&by("net"), line), Ok(Some("us".to_owned())));
        assert_eq!(key(&by("mag"), line), Ok(Some("1.50".to_owned())), "a number keeps its text");
        assert_eq!(key(&by("ok"), line), Ok(Some("true".to_owned())));
        assert_eq!(key(&by("none"), line), Ok(None));
        assert_eq!(key(&by("esc"), line), Ok(Some("a\"é\n".to_owned())));
    }

    #[test]
    fn the_value_stays_the_whole_line() {
        let line = b"  {\"net\":\"us\"} \r";
        let keyed = by("net").split(line).unwrap();
        assert_eq!(keyed.value, line);
        assert!(matches!(keyed.key, Some(Cow::Borrowed(b"us"))));
    }

    #[test]
    fn the_last_of_two_fields_counts() {
        assert_eq!(key(&by("k"), r#"{"k":1,"k":"2"}"#), Ok(Some("2".to_owned())));
        assert_eq!(key(&by("é"), r#"{"\u00e9":"escaped name"}"#), Ok(Some("escaped name".to_owned())));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |field: &str, line: &str| key(&by(field), line).unwrap_err();
        assert!(error("net", r#"{"id": 7}"#).starts_with("no field `net`"));
        assert!(error("id", r#"{"id": [1]}"#).contains("object or array"));
        for line in ["", "17", "[]", "{", r#"{"id":1} x"#, r#"{"id":1}{"id":2}"#, "\"id\""] {
            assert!(error("id", line).starts_with("not a JSON object"), "{line}");
        }
        assert!(by("id").split(b"{\"id\":\"\xff\"}").is_err(), "JSON is UTF-8");
    }
}
