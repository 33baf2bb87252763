//! Format strings as kcat's `-f`.

use std::io::{self, Write};

use super::{Consumed, unescape};

/// Tokens and the text between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    parts: Vec<Part>,
    /// What stands for a null key or payload, and nothing otherwise.
    null: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    Payload,
    PayloadLength,
    /// As 32 bits, big-endian.
    PayloadLengthBinary,
    Key,
    KeyLength,
    Topic,
    Partition,
    Offset,
    Timestamp,
    Headers,
}

impl Format {
    /// # Errors
    /// An unknown token or a broken escape; the text says which.
    pub(crate) fn parse(format: &str, null: Option<&str>) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = format;
        while let Some((text, after)) = rest.split_once('%') {
            parts.push(Part::Text(unescape(text)?));
            let mut tokens = after.chars();
            parts.push(match tokens.next() {
                Some('s') => Part::Payload,
                Some('S') => Part::PayloadLength,
                Some('R') => Part::PayloadLengthBinary,
                Some('k') => Part::Key,
                Some('K') => Part::KeyLength,
                Some('t') => Part::Topic,
                Some('p') => Part::Partition,
                Some('o') => Part::Offset,
                Some('T') => Part::Timestamp,
                Some('h') => Part::Headers,
                Some('%') => Part::Text(b"%".to_vec()),
                Some(other) => return Err(format!("`%{other}` is no token; {KNOWN}")),
                None => return Err(format!("`%` at the end: write `%%` for a percent sign; {KNOWN}")),
            });
            rest = tokens.as_str();
        }
        parts.push(Part::Text(unescape(rest)?));
        parts.retain(|part| *part != Part::Text(Vec::new()));
        Ok(Self { parts, null: null.unwrap_or_default().as_bytes().to_vec() })
    }

    /// Writes one record, byte for byte.
    ///
    /// # Errors
    /// What `out` says.
    pub(crate) fn write(&self, out: &mut impl Write, consumed: &Consumed<'_>) -> io::Result<()> {
        let record = consumed.record;
        for part in &self.parts {
            match part {
                Part::Text(text) => out.write_all(text)?,
                Part::Payload => out.write_all(record.value.as_deref().unwrap_or(&self.null))?,
                Part::PayloadLength => write!(out, "{}", length(record.value.as_deref()))?,
                Part::PayloadLengthBinary => {
                    let length = i32::try_from(length(record.value.as_deref())).unwrap_or(i32::MAX);
                    out.write_all(&length.to_be_bytes())?;
                }
                Part::Key => out.write_all(record.key.as_deref().unwrap_or(&self.null))?,
                Part::KeyLength => write!(out, "{}", length(record.key.as_deref()))?,
                Part::Topic => out.write_all(consumed.topic.as_bytes())?,
                Part::Partition => write!(out, "{}", consumed.partition)?,
                Part::Offset => write!(out, "{}", record.offset)?,
                Part::Timestamp => write!(out, "{}", record.timestamp)?,
                Part::Headers => write_headers(out, consumed)?,
            }
        }
        Ok(())
    }
}

const KNOWN: &str = "known are %s %S %R (payload, its length, in binary), %k %K (key), %t %p %o %T (topic, partition, offset, \
                     timestamp), %h (headers) and %%";

/// −1 for null, as kcat.
fn length(bytes: Option<&[u8]>) -> i64 {
    bytes.map_or(-1, |bytes| bytes.len() as i64)
}

/// `name=value,name=value`; a null value is `NULL`, as with kcat.
fn write_headers(out: &mut impl Write, consumed: &Consumed<'_>) -> io::Result<()> {
    for (index, header) in consumed.record.headers.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        out.write_all(header.key.as_bytes())?;
        out.write_all(b"=")?;
        out.write_all(header.value.as_deref().unwrap_or(b"NULL"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use milena_protocol::records::{Record, TimestampType};

    use super::*;

    fn printed(format: &str, null: Option<&str>, record: &Record) -> Vec<u8> {
        let mut out = Vec::new();
        let consumed =
            Consumed { topic: "quakes", partition: 3, timestamp_type: TimestampType::CreateTime, record };
        Format::parse(format, null).unwrap().write(&mut out, &consumed).unwrap();
        out
    }

    fn record(key: Option<&'static str>, value: Option<&'static [u8]>) -> Record {
        Record {
            offset: 41,
            timestamp: 1_517_363_399_650,
            key: key.map(Into::into),
            value: value.map(Into::into),
            headers: Default::default(),
        }
    }

    #[test]
    fn tokens() {
        let record = record(Some("us"), Some(b"mag \xff"));
        let format = r"Topic %t [%p] at %o, %T: %K %k, %S %s %h%% %R\n\x41";
        assert_eq!(
            printed(format, None, &record),
            b"Topic quakes [3] at 41, 1517363399650: 2 us, 5 mag \xff % \0\0\0\x05\nA"
        );
    }

    #[test]
    fn null_is_nothing_or_what_is_asked_for() {
        let nulls = record(None, None);
        assert_eq!(printed("[%k|%K|%s|%S]", None, &nulls), b"[|-1||-1]");
        assert_eq!(printed("[%k|%K|%s|%S]", Some("NULL"), &nulls), b"[NULL|-1|NULL|-1]");
        assert_eq!(printed("%R", None, &nulls), [0xff; 4]);
        let empty = record(Some(""), Some(b""));
        assert_eq!(printed("[%k|%K|%s|%S]", Some("NULL"), &empty), b"[|0||0]");
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(Format::parse("%z", None).unwrap_err().starts_with("`%z` is no token"));
        assert!(Format::parse("100%", None).unwrap_err().starts_with("`%` at the end"));
        assert!(Format::parse(r"%s\x", None).is_err());
    }
}
